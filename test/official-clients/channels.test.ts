/** The official client of the scheme batch-settlement, unmodified, pays a sandbox: a deposit once, then a voucher for each call. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BatchSettlementEvmScheme, computeChannelId } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { decodePaymentRequiredHeader, decodePaymentSignatureHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import {
  extractOffersFromPaymentRequired,
  findAcceptsObjectFromSignedOffer,
  isEIP712SignedOffer,
  verifyOfferSignatureEIP712,
} from '@x402/extensions/offer-receipt'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { checkText } from '../protocols/harness.ts'
import { ACTIVATE, answerOf, asking, connectA2a, metadataOf, saying, taskFor } from '../support/a2a.ts'
import { CHANNEL_ABI, channelEntry, channelId, configFor, depositAsStranger, type DepositPayload, SETTLEMENT } from '../support/channels.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { connectMcp } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { held } from '../support/paying.ts'
import { chainOf, NETWORKS, openShop, recorder, seenOnChain, type Shop } from './shop.ts'

const PRICE_MINOR = 5_000n
const TOOL = 'iban-check'
/** Claims as soon as they are searched, instead of within an hour. */
const RULES = { channels: { claim_every_ms: 0 } }

let shop: Shop
before(async () => {
  shop = await openShop(NETWORKS[0], { settings: { ASSAY_BATCH_SETTLEMENT: 'on' }, start: { rules: RULES } })
})
after(() => shop.stop())

function clientOf(payer: PrivateKeyAccount, fetching: typeof fetch = fetch) {
  const chain = chainOf(shop)
  const signer = {
    address: payer.address,
    signTypedData: (message: Parameters<PrivateKeyAccount['signTypedData']>[0]) => payer.signTypedData(message),
    readContract: (args: Parameters<typeof chain.readContract>[0]) => chain.readContract(args),
  }
  const scheme = new BatchSettlementEvmScheme(signer)
  const client = new x402Client().register('eip155:*', scheme)
  return { scheme, client, fetch: wrapFetchWithPayment(fetching, client) }
}

let calls = 0
/** Another input each time, so that no answer is an earlier one's. */
function post(): RequestInit {
  const input = { iban: `GB82 WEST 1234 5698 7654 ${++calls}` }
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input }) }
}

async function paid(client: { fetch: typeof fetch }): Promise<Record<string, unknown>> {
  const response = await client.fetch(shop.callUrl(TOOL), post())
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { settlement, receipt } = JSON.parse(text) as Record<string, Record<string, unknown>>
  assert.partialDeepStrictEqual(settlement, { transaction: null, amount_minor: String(PRICE_MINOR), method: 'channel' })
  assert.equal(receipt?.['amount'], String(PRICE_MINOR))
  return { ...decodePaymentResponseHeader(response.headers.get('payment-response') ?? '') }
}

async function idOf(payer: PrivateKeyAccount): Promise<`0x${string}`> {
  const { headers } = await fetch(shop.callUrl(TOOL), post())
  const config = configFor(payer.address, channelEntry(headers.get('payment-required')))
  const id = channelId(config, NETWORKS[0].chain.id)
  assert.equal(computeChannelId(config, NETWORKS[0].chain.id), id)
  return id
}

async function onChain(id: `0x${string}`): Promise<readonly [balance: bigint, claimed: bigint]> {
  return chainOf(shop).readContract({ address: SETTLEMENT, abi: CHANNEL_ABI, functionName: 'channels', args: [id] })
}

test('a deposit pays the first call, vouchers the next ones, and what was charged is claimed and paid out', async () => {
  const payer = await shop.payer()
  const client = clientOf(payer)
  const id = await idOf(payer)
  const before_minor = await held(shop.rpc_url, shop.token, shop.pay_to)
  const first = await paid(client)
  const { transfers } = await seenOnChain(shop, payer.address)
  assert.equal(transfers.length, 1)
  // The client deposits what the terms propose: ten calls.
  assert.partialDeepStrictEqual(first, { success: true, transaction: transfers[0]?.transaction, amount: '50000' })
  assert.partialDeepStrictEqual(first['extra'], { chargedAmount: '5000', channelState: { channelId: id, balance: '50000' } })
  for (const total of [10_000, 15_000, 20_000]) {
    const next = await paid(client)
    assert.partialDeepStrictEqual(next, { success: true, transaction: '', amount: '' })
    assert.partialDeepStrictEqual(next['extra'], { chargedAmount: '5000', channelState: { chargedCumulativeAmount: String(total) } })
  }
  assert.deepEqual((await seenOnChain(shop, payer.address)).transfers, transfers)
  await until('the claim', async () => (await onChain(id))[1] === 20_000n)
  await until('the payout', async () => (await held(shop.rpc_url, shop.token, shop.pay_to)) === before_minor + 20_000n)
  assert.deepEqual(await onChain(id), [50_000n, 20_000n])
  // A voucher after a claim is one over the whole total.
  assert.partialDeepStrictEqual((await paid(client))['extra'], { channelState: { chargedCumulativeAmount: '25000' } })
  await until('the next claim', async () => (await onChain(id))[1] === 25_000n)
})

test('a channel that is used up is deposited into again', async () => {
  const payer = await shop.payer()
  const client = clientOf(payer)
  for (let call = 0; call < 11; call++) await paid(client)
  const { transfers } = await seenOnChain(shop, payer.address)
  assert.deepEqual(
    transfers.map(({ value }) => value),
    [50_000n, 50_000n],
  )
  assert.equal((await onChain(await idOf(payer)))[0], 100_000n)
})

test('a client that lost its state is corrected, and pays what it owes and no more', async () => {
  const payer = await shop.payer()
  const client = clientOf(payer)
  for (let call = 0; call < 3; call++) await paid(client)
  const id = await idOf(payer)
  await until('the claim', async () => (await onChain(id))[1] === 15_000n)
  await paid(client)
  const seen = recorder()
  const forgetful = clientOf(payer, seen.fetch)
  const end = await paid(forgetful)
  assert.partialDeepStrictEqual(end['extra'], { channelState: { chargedCumulativeAmount: '25000' } })
  const [, first, second] = seen.responses
  assert.deepEqual([first?.status, second?.status], first?.status === 402 ? [402, 200] : [200, undefined])
  const { transfers } = await seenOnChain(shop, payer.address)
  assert.equal(transfers.length, 1)
})

test('the rest of a channel goes back to its payer', async () => {
  const payer = await shop.payer()
  const client = clientOf(payer)
  for (let call = 0; call < 2; call++) await paid(client)
  // The client asks by GET at the address where it paid; /v1/channels/refund answers the same.
  const url = shop.callUrl(TOOL)
  const part = await client.scheme.refund(`${shop.url}/v1/channels/refund`, { amount: '15000' })
  assert.partialDeepStrictEqual(part, { success: true, amount: '15000', payer: payer.address.toLowerCase() })
  assert.equal(await held(shop.rpc_url, shop.token, payer.address), 1_000_000n - 50_000n + 15_000n)
  await paid(client)
  const all = await client.scheme.refund(url)
  assert.partialDeepStrictEqual(all, { success: true, amount: '20000' })
  const receipt = await chainOf(shop).getTransactionReceipt({ hash: all.transaction as `0x${string}` })
  assert.equal(receipt.status, 'success')
  // 1 USDC less three calls.
  assert.equal(await held(shop.rpc_url, shop.token, payer.address), 1_000_000n - 15_000n)
  assert.deepEqual(await onChain(await idOf(payer)), [15_000n, 15_000n])
  await assert.rejects(() => client.scheme.refund(url), /no remaining balance|refund_no_balance/)
  // The channel lives on: the next call deposits again.
  await paid(client)
})

test('a refund after a partial claim goes to the payer, also from a client that lost its state', async () => {
  const payer = await shop.payer()
  const client = clientOf(payer)
  const id = await idOf(payer)
  for (let call = 0; call < 2; call++) await paid(client)
  await until('the claim', async () => (await onChain(id))[1] === 10_000n)
  // Charged, and not claimed yet: the client that lost its state asks with the claimed voucher, which is public, and is corrected.
  const claimed = await forgetfulScheme(payer).refund(shop.callUrl(TOOL), { amount: '5000' })
  assert.partialDeepStrictEqual(claimed, { success: true, amount: '5000' })
  await paid(client)
  const rest = await forgetfulScheme(payer).refund(shop.callUrl(TOOL))
  assert.partialDeepStrictEqual(rest, { success: true, amount: '30000' })
  assert.equal(await held(shop.rpc_url, shop.token, payer.address), 1_000_000n - 15_000n)
})

/** The client of this payer without any state of its own. */
const forgetfulScheme = (payer: PrivateKeyAccount) => clientOf(payer).scheme

test('a deposit that a stranger sends first counts: the client pays with vouchers, and never deposits again', async () => {
  const payer = await shop.payer()
  const sent: string[] = []
  const client = clientOf(payer, async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get('payment-signature')
    const payload = header === null ? {} : decodePaymentSignatureHeader(header).payload
    if (header !== null) sent.push(String(payload['type']))
    if (payload['type'] === 'deposit') await depositAsStranger(shop.rpc_url, payload as unknown as DepositPayload)
    return fetch(request)
  })
  for (let call = 0; call < 10; call++) await paid(client)
  assert.deepEqual(sent, ['deposit', ...Array.from({ length: 9 }, () => 'voucher')])
  assert.equal((await seenOnChain(shop, payer.address)).transfers.length, 1)
  assert.equal(await held(shop.rpc_url, shop.token, payer.address), 950_000n)
})

test('a GET at the address of a call names the terms of a refund, and takes no other payment', async () => {
  const unpaid = await fetch(shop.callUrl(TOOL))
  const { required } = await termsOf(unpaid)
  assert.equal(required.resource?.url, shop.callUrl(TOOL))
  assert.deepEqual(
    required.accepts.map(({ scheme, amount }) => [scheme, amount]),
    [['batch-settlement', '0']],
  )
  const payer = await shop.payer()
  const exact = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
  const { required: of_call } = await termsOf(await fetch(shop.callUrl(TOOL), post()))
  const header = encodePaymentSignatureHeader(await exact.createPaymentPayload(of_call))
  const refused = await fetch(shop.callUrl(TOOL), { headers: { 'payment-signature': header } })
  assert.equal((await termsOf(refused)).required.error, 'invalid_batch_settlement_evm_refund_payload')
  assert.equal((await fetch(shop.callUrl('no-such-tool'))).status, 404)
  assert.equal(await held(shop.rpc_url, shop.token, payer.address), 1_000_000n)
})

async function termsOf(response: Response) {
  assert.equal(response.status, 402, await response.text())
  return { required: decodePaymentRequiredHeader(response.headers.get('payment-required') ?? '') }
}

test('the preflight finds nothing wrong with terms, offers and payments of channels', async () => {
  const seen = recorder()
  const payer = await shop.payer()
  const client = clientOf(payer, seen.fetch)
  for (let call = 0; call < 2; call++) await paid(client)
  const headers = seen.responses.flatMap((response) => [response.headers.get('payment-required'), response.headers.get('payment-response')])
  const payments = seen.requests.map((sent) => sent.get('payment-signature'))
  const documents = [...headers, ...payments].filter((header) => header !== null).map((header) => Buffer.from(header, 'base64').toString())
  assert.ok(documents.length > 5)
  for (const document of documents) {
    const { errors, not_checked } = checkText('x402', document, shop.pay_to, Math.floor(systemClock.now_ms() / 1_000))
    assert.deepEqual(errors, [], document)
    assert.ok(!not_checked.includes('what the signed transaction pays'))
  }
})

test('each way to pay has a signed offer', async () => {
  const { required } = await termsOf(await fetch(shop.callUrl(TOOL), post()))
  const offers = extractOffersFromPaymentRequired(required)
  assert.deepEqual(
    required.accepts.map(({ scheme }) => scheme),
    ['exact', 'batch-settlement'],
  )
  assert.equal(offers.length, required.accepts.length)
  const signing_address = String((await readJson(`${shop.url}/.well-known/xdr-1.json`))['signing_address'])
  for (const [index, offer] of offers.entries()) {
    assert.ok(isEIP712SignedOffer(offer))
    assert.equal((await verifyOfferSignatureEIP712(offer)).signer.toLowerCase(), signing_address)
    assert.equal(findAcceptsObjectFromSignedOffer(offer, required.accepts), required.accepts[index])
  }
})

test('a client of both schemes pays with the one that it registered first in the terms', async () => {
  const payer = await shop.payer()
  const fetching = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(payer)))
  const response = await fetching(shop.callUrl(TOOL), post())
  assert.equal(response.status, 200)
  assert.equal(asMembers(asMembers(await response.json())['settlement'])['method'], 'self')
})

/** The payment that the official client makes of these terms. */
async function payloadFor(client: x402Client, required: unknown): Promise<unknown> {
  return JSON.parse(JSON.stringify(await client.createPaymentPayload(required as Parameters<x402Client['createPaymentPayload']>[0])))
}

function schemeClient(payer: PrivateKeyAccount): x402Client {
  return clientOf(payer).client
}

test('over MCP a deposit and a voucher pay, from the terms in the result of the tool', async () => {
  const payer = await shop.payer()
  const client = schemeClient(payer)
  const mcp = await connectMcp(shop.url, '2025-11-25')
  const call = (meta: Record<string, unknown>) =>
    mcp.callTool({ name: TOOL, arguments: { iban: `GB82 WEST 1234 5698 7654 ${++calls}` }, _meta: { ...meta, 'assay/detail': 'full' } })
  for (const total of ['5000', '10000']) {
    const unpaid = await call({})
    const payment = asMembers(await payloadFor(client, unpaid.structuredContent))
    assert.equal(asMembers(payment['payload'])['type'], total === '5000' ? 'deposit' : 'voucher')
    const { isError = false, content, _meta: meta } = await call({ 'x402/payment': payment })
    assert.equal(isError, false, JSON.stringify(content))
    const response = asMembers(asMembers(meta)['x402/payment-response'])
    assert.partialDeepStrictEqual(response, { success: true, extra: { channelState: { chargedCumulativeAmount: total } } })
    await settled(client, payment, response)
  }
  await mcp.close()
})

test('over A2A a deposit and a voucher pay, from the terms in the task', async () => {
  const payer = await shop.payer()
  const client = schemeClient(payer)
  const a2a = await connectA2a(shop.url, '1.0')
  for (const total of ['5000', '10000']) {
    const asked = await taskFor(a2a, asking({ tool: TOOL, input: { iban: `GB82 WEST 1234 5698 7654 ${++calls}` } }), ACTIVATE)
    const payment = asMembers(await payloadFor(client, metadataOf(asked)['x402.payment.required']))
    const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment }
    const paid_task = await taskFor(a2a, saying('Here is the voucher.', { taskId: asked.id, metadata }), ACTIVATE)
    assert.equal(asMembers(answerOf(paid_task)['settlement'])['method'], 'channel', JSON.stringify(paid_task.status))
    const [receipt] = metadataOf(paid_task)['x402.payment.receipts'] as Record<string, unknown>[]
    assert.partialDeepStrictEqual(receipt, { success: true, extra: { channelState: { chargedCumulativeAmount: total } } })
    await settled(client, payment, receipt ?? {})
  }
})

/** Tells the client how its payment ended, as its transports do. */
async function settled(client: x402Client, payment: Record<string, unknown>, response: Record<string, unknown>): Promise<void> {
  const header = Buffer.from(JSON.stringify(response)).toString('base64')
  const http_client = new x402HTTPClient(client)
  await http_client.processPaymentResult(payment as never, (name) => (name === 'PAYMENT-RESPONSE' ? header : null), 200)
}
