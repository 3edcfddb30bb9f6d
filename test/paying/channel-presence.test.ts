/**
 * Calldata is public: a claimed voucher and the signature of a deposit. Neither gives a stranger the state, the answers or the
 * money of a channel, and a stranger who sends a deposit takes nothing from its payer.
 */
// attack: a claimed voucher sent as a refund or as a call, a deposit sent before its payer
// in: money and signatures
// asset: payment channels
// attacker: reader of the chain
// defence: refunds and the last voucher for the network of the last charge or an off-chain secret; a deposit by any sender counts

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, hashTypedData, keccak256, parseAbi, parseSignature, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import type { FaultPoint } from '../../src/service/payments/settlement.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import {
  CHANNEL_TYPES,
  channelDomain,
  channelEntry,
  channelFor,
  depositAsStranger,
  type PayingChannel,
  SETTLEMENT,
  settlementIn,
} from '../support/channels.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { base64, fundedPayer, held } from '../support/paying.ts'
import { type Challenge, signIn } from '../support/sign-in.ts'
import { until } from '../support/until.ts'

const TOOL = 'iban-check'
const PREFIX = 'invalid_batch_settlement_evm_'
const PRICE_MINOR = 5_000n

let app: TestApp
let rpc_url: string
let token: Hex
/** Runs once at this point of the next payment. */
let interruption: { at: FaultPoint; act: () => Promise<void> } | null = null

before(async () => {
  app = await startTestApp({
    free_daily: 0,
    settings: { ASSAY_BATCH_SETTLEMENT: 'on', ASSAY_TRUSTED_PROXIES: '127.0.0.1' },
    start: {
      reach: async (point) => {
        if (interruption?.at !== point) return
        const { act } = interruption
        interruption = null
        await act()
      },
    },
  })
  const sandbox = asMembers((await readJson(`${app.url}/health`))['sandbox'])
  rpc_url = String(sandbox['rpc_url'])
  token = sandbox['usdc'] as Hex
})
after(() => app.stop())

let made = 0
const newInput = () => ({ iban: `GB82WEST1234569876${String(++made).padStart(4, '0')}` })
/** A client network that no other test uses. */
const newNetwork = () => `10.${Math.floor(++made / 250)}.${made % 250}`

interface Sent {
  client: string
  input?: object
  headers?: Record<string, string>
}

function call(header: string, { client, input = newInput(), headers = {} }: Sent) {
  return restCall(app.url, TOOL, input, { 'payment-signature': header, 'x-forwarded-for': client, ...headers })
}

async function paid(header: string, sent: Sent) {
  const answer = await call(header, sent)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer
}

const REFUND_PATHS = ['/v1/channels/refund', `/v1/tools/${TOOL}/call`]

async function refund(header: string, { client, headers = {} }: Omit<Sent, 'input'>, path = '/v1/channels/refund') {
  const response = await fetch(app.url + path, { headers: { 'payment-signature': header, 'x-forwarded-for': client, ...headers } })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}

async function refunded(header: string, sent: Omit<Sent, 'input'>, amount_minor: bigint): Promise<void> {
  const answer = await refund(header, sent)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.partialDeepStrictEqual(settlementIn(answer.headers), { success: true, amount: String(amount_minor) })
}

async function newChannel(balance_minor = 1_000_000n): Promise<PayingChannel> {
  return channelFor(app.url, TOOL, newInput(), await fundedPayer(rpc_url, token, balance_minor))
}

/** A channel with 500,000 in it that was charged twice, and once more after these two were claimed by a refund of 1,000. */
async function claimedChannel(home: string): Promise<PayingChannel> {
  const channel = await newChannel()
  await paid(await channel.deposit(500_000n, PRICE_MINOR), { client: `${home}.1` })
  await paid(await channel.voucher(2n * PRICE_MINOR), { client: `${home}.2` })
  await refunded(await channel.refund(2n * PRICE_MINOR, 1_000n), { client: `${home}.3` }, 1_000n)
  assert.deepEqual(await onChain(channel), ['499000', '10000'])
  await paid(await channel.voucher(3n * PRICE_MINOR), { client: `${home}.4` })
  return channel
}

/** Balance and claimed total of the channel. */
async function onChain({ id }: PayingChannel): Promise<string[]> {
  const found = String(await rpcRequest(rpc_url)('eth_call', [{ to: SETTLEMENT, data: `0x7a7ebd7b${id.slice(2)}` }, 'latest']))
  return [found.slice(2, 66), found.slice(66)].map((half) => String(BigInt(`0x${half}`)))
}

type Answered = Awaited<ReturnType<typeof call>>

function stateIn({ headers }: Pick<Answered, 'headers'>) {
  const { channelState, voucherState } = channelEntry(headers.get('payment-required')).extra
  return { charged: channelState?.['chargedCumulativeAmount'], claimed: channelState?.['totalClaimed'], voucher: voucherState }
}

function challengeIn({ headers }: Pick<Answered, 'headers'>): Challenge['info'] {
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as Record<string, unknown>
  return (required['extensions'] as { 'sign-in-with-x': Challenge })['sign-in-with-x'].info
}

/** Header of this payment with the id of the extension payment-identifier. */
function withIdentifier(header: string, id: string): string {
  const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as object
  return base64({ ...payment, extensions: { 'payment-identifier': { info: { required: false, id } } } })
}

/** Answer token of the charge of this total. */
async function tokenOf({ id, chain_id, payer }: PayingChannel, total_minor: bigint): Promise<string> {
  const secret = Buffer.from((await readFile(join(app.data_dir, 'secret.key'), 'utf8')).trim(), 'hex')
  const message = { channelId: id, maxClaimableAmount: total_minor }
  const nonce = hashTypedData({ domain: channelDomain(chain_id), types: CHANNEL_TYPES, primaryType: 'Voucher', message })
  return createSealer(secret).token(`${payer.address.toLowerCase()}:${nonce}`)
}

test('a claimed voucher gives a stranger no refund, no charged total and no newer voucher', async () => {
  const home = newNetwork()
  const channel = await claimedChannel(home)
  const client = `${newNetwork()}.1`
  for (const total of [PRICE_MINOR, 2n * PRICE_MINOR]) {
    const called = await call(await channel.voucher(total), { client })
    assert.deepEqual([called.status, called.body['invalid_reason']], [402, `${PREFIX}cumulative_amount_mismatch`])
    assert.deepEqual(stateIn(called), { charged: undefined, claimed: '10000', voucher: undefined })
    for (const path of REFUND_PATHS) {
      for (const header of [await channel.refund(total), await channel.refund(total, 1n)]) {
        const asked = await refund(header, { client }, path)
        assert.equal(asked.status, 402, JSON.stringify(asked.body))
        assert.deepEqual(stateIn(asked), { charged: undefined, claimed: '10000', voucher: undefined })
      }
    }
  }
  assert.deepEqual(await onChain(channel), ['499000', '10000'])
  await paid(await channel.voucher(4n * PRICE_MINOR), { client: `${home}.5` })
})

test('the voucher of everything that was claimed and charged refunds to the payer’s network alone', async () => {
  const home = newNetwork()
  const channel = await claimedChannel(home)
  await refunded(await channel.refund(3n * PRICE_MINOR, 1_000n), { client: `${home}.1` }, 1_000n)
  assert.deepEqual(await onChain(channel), ['498000', '15000'])
  for (const path of REFUND_PATHS) {
    const asked = await refund(await channel.refund(3n * PRICE_MINOR), { client: `${newNetwork()}.1` }, path)
    assert.deepEqual([asked.status, asked.body['code']], [402, 'CHANNEL_PRESENCE'], JSON.stringify(asked.body))
  }
  assert.deepEqual(await onChain(channel), ['498000', '15000'])
  await refunded(await channel.refund(3n * PRICE_MINOR), { client: `${home}.250` }, 483_000n)
})

test('the network of the last charge is known after the day for which those of payments are kept', async () => {
  const home = newNetwork()
  const channel = await claimedChannel(home)
  const database = new DatabaseSync(join(app.data_dir, 'assay.sqlite'), { timeout: 5_000 })
  database.exec(`update payment set network_hash = null, created_ms = created_ms - 172800000 where settler = '${channel.id}'`)
  database.close()
  assert.equal(stateIn(await call(await channel.voucher(PRICE_MINOR), { client: `${home}.9` })).voucher?.signedMaxClaimable, '15000')
  assert.equal((await refund(await channel.refund(3n * PRICE_MINOR), { client: `${newNetwork()}.1` })).status, 402)
  await refunded(await channel.refund(3n * PRICE_MINOR), { client: `${home}.9` }, 484_000n)
})

test('the last voucher is shown to the network of the last charge, and not to that of an earlier one', async () => {
  const [home, next] = [newNetwork(), newNetwork()]
  const channel = await claimedChannel(home)
  await paid(await channel.voucher(4n * PRICE_MINOR), { client: `${next}.1` })
  const seen = async (client: string) => stateIn(await call(await channel.voucher(2n * PRICE_MINOR), { client })).voucher
  assert.equal((await seen(`${next}.9`))?.signedMaxClaimable, '20000')
  assert.equal(await seen(`${home}.9`), undefined)
})

test('SIGN-IN-WITH-X of the payer or of its signer shows presence from anywhere, once; that of another account does not', async () => {
  const payer = await fundedPayer(rpc_url, token, 1_000_000n)
  const signer = privateKeyToAccount(generatePrivateKey())
  const channel = await channelFor(app.url, TOOL, newInput(), payer)
  const own = await channelFor(app.url, TOOL, newInput(), signer)
  Object.assign(channel.config, { payerAuthorizer: signer.address })
  channel.rehashed()
  own.config.payer = payer.address
  own.config.payerAuthorizer = signer.address
  own.rehashed()
  assert.equal(own.id, channel.id)
  // The deposit is signed by the payer, each voucher by its signer.
  const { deposit } = await channel.depositPayload(500_000n, PRICE_MINOR)
  const first = { ...(await own.depositPayload(500_000n, PRICE_MINOR)), deposit }
  await paid(own.header(first), { client: `${newNetwork()}.1` })
  await paid(await own.voucher(2n * PRICE_MINOR), { client: `${newNetwork()}.1` })
  const old = await own.voucher(PRICE_MINOR)
  const client = `${newNetwork()}.1`
  const asking = async (account: PrivateKeyAccount) => {
    const proof = await signIn(account, challengeIn(await call(old, { client })))
    return { proof, answer: await call(old, { client, headers: { 'sign-in-with-x': proof } }) }
  }
  for (const account of [payer, signer]) {
    const { proof, answer } = await asking(account)
    assert.equal(stateIn(answer).voucher?.signedMaxClaimable, '10000')
    assert.equal(stateIn(await call(old, { client, headers: { 'sign-in-with-x': proof } })).voucher, undefined)
  }
  assert.equal(stateIn((await asking(privateKeyToAccount(generatePrivateKey()))).answer).voucher, undefined)
  const rest = await own.refund(2n * PRICE_MINOR)
  const proof = await signIn(signer, challengeIn(await refund(rest, { client })))
  await refunded(rest, { client, headers: { 'sign-in-with-x': proof } }, 490_000n)
})

test('over MCP the refusal of a stranger is one JSON object, with the challenge beside the other extensions', async () => {
  const channel = await claimedChannel(newNetwork())
  const payment = JSON.parse(Buffer.from(await channel.voucher(PRICE_MINOR), 'base64').toString()) as unknown
  const params = { name: TOOL, arguments: newInput(), _meta: { 'x402/payment': payment } }
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      'x-forwarded-for': `${newNetwork()}.1`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await response.text()
  const { structuredContent } = asMembers(asMembers(JSON.parse(text))['result'])
  const { code, extensions } = asMembers(structuredContent)
  assert.equal(code, 'CHANNEL_MISMATCH', text)
  assert.deepEqual(Object.keys(asMembers(extensions)), ['payment-identifier', 'bazaar', 'offer-receipt', 'sign-in-with-x'])
  assert.ok(!text.includes('voucherState'), text)
})

test('SIGN-IN-WITH-X opens the answer of a voucher, and never that of a channel of another account', async () => {
  const channel = await claimedChannel(newNetwork())
  const input = newInput()
  const header = await channel.voucher(4n * PRICE_MINOR)
  const first = await paid(header, { client: `${newNetwork()}.1`, input })
  const client = `${newNetwork()}.1`
  const proof = await signIn(channel.payer, challengeIn(await call(header, { client, input })))
  assert.deepEqual((await paid(header, { client, input, headers: { 'sign-in-with-x': proof } })).body, first.body)
  // The id of the channel with a config of one's own, signed by one's own key.
  const thief = privateKeyToAccount(generatePrivateKey())
  const stolen = await channelFor(app.url, TOOL, newInput(), thief)
  Object.assign(stolen.config, { payer: channel.payer.address })
  stolen.id = channel.id
  const taken = await stolen.voucher(4n * PRICE_MINOR)
  const forged = await call(taken, { client, input })
  assert.deepEqual([forged.status, forged.body['invalid_reason']], [402, `${PREFIX}channel_id_mismatch`])
})

test('the payment-identifier id and the answer token of the last charge show presence; those of an earlier one do not', async () => {
  const channel = await claimedChannel(newNetwork())
  const [earlier, id] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
  await paid(withIdentifier(await channel.voucher(4n * PRICE_MINOR), earlier), { client: `${newNetwork()}.1` })
  await paid(withIdentifier(await channel.voucher(5n * PRICE_MINOR), id), { client: `${newNetwork()}.1` })
  const old = await channel.voucher(PRICE_MINOR)
  const client = () => `${newNetwork()}.1`
  const shown = async (header: string, headers = {}) =>
    stateIn(await call(header, { client: client(), headers })).voucher?.signedMaxClaimable
  assert.equal(await shown(withIdentifier(old, id)), '25000')
  assert.equal(await shown(withIdentifier(old, earlier)), undefined)
  assert.equal(await shown(old, { 'x-answer-token': await tokenOf(channel, 5n * PRICE_MINOR) }), '25000')
  assert.equal(await shown(old, { 'x-answer-token': await tokenOf(channel, 4n * PRICE_MINOR) }), undefined)
  const rest = await channel.refund(5n * PRICE_MINOR, 1_000n)
  assert.equal((await refund(withIdentifier(rest, earlier), { client: client() })).status, 402)
  await refunded(withIdentifier(rest, id), { client: client() }, 1_000n)
  const headers = { 'x-answer-token': await tokenOf(channel, 5n * PRICE_MINOR) }
  await refunded(await channel.refund(5n * PRICE_MINOR), { client: client(), headers }, 473_000n)
})

test('before the first charge a refund is for the network of the deposit', async () => {
  const [channel, home] = [await newChannel(), newNetwork()]
  interruption = { at: 'before_charge', act: () => Promise.reject(new Error('the call ends before its charge')) }
  const header = await channel.deposit(50_000n, PRICE_MINOR)
  assert.equal((await call(header, { client: `${home}.1` })).status, 500)
  assert.deepEqual(await onChain(channel), ['50000', '0'])
  const elsewhere = await refund(await channel.refund(0n), { client: `${newNetwork()}.1` })
  assert.deepEqual([elsewhere.status, elsewhere.body['code']], [402, 'CHANNEL_PRESENCE'])
  await refunded(await channel.refund(0n), { client: `${home}.77` }, 50_000n)
  assert.equal(await held(rpc_url, token, channel.payer.address), 1_000_000n)
})

test('a channel that was never used here is refunded for a proof of its payer', async () => {
  const channel = await newChannel()
  await depositAsStranger(rpc_url, await channel.depositPayload(50_000n, PRICE_MINOR))
  const [rest, client] = [await channel.refund(0n), `${newNetwork()}.1`]
  const refused = await refund(rest, { client })
  assert.deepEqual([refused.status, refused.body['code']], [402, 'CHANNEL_PRESENCE'])
  const proof = await signIn(channel.payer, challengeIn(refused))
  await refunded(rest, { client, headers: { 'sign-in-with-x': proof } }, 50_000n)
})

test('a deposit that a stranger sent first counts: the voucher is charged, and the money is not asked for again', async () => {
  const rounds: [name: string, balance_minor: bigint, valid_s: number][] = [
    ['some balance is left', 1_000_000n, 900],
    // Then nothing is left that the deposit could be taken from.
    ['the deposit was all', 50_000n, 900],
    // Too little time is left to send it.
    ['it expires soon', 1_000_000n, 20],
  ]
  for (const [name, balance_minor, valid_s] of rounds) {
    const [channel, client, input] = [await newChannel(balance_minor), `${newNetwork()}.1`, newInput()]
    const payload = await channel.depositPayload(50_000n, PRICE_MINOR, valid_s)
    await depositAsStranger(rpc_url, payload)
    const header = channel.header(payload)
    const answer = await paid(header, { client, input })
    assert.partialDeepStrictEqual(settlementIn(answer.headers)['extra'], {
      chargedAmount: '5000',
      channelState: { chargedCumulativeAmount: '5000', balance: '50000' },
    })
    assert.deepEqual((await paid(header, { client, input })).body, answer.body, name)
    await paid(await channel.voucher(2n * PRICE_MINOR), { client })
    assert.equal(await held(rpc_url, token, channel.payer.address), balance_minor - 50_000n)
  }
})

test('a stranger sends a second deposit first, or one that is being sent: each counts once', async () => {
  const [channel, client] = [await newChannel(), `${newNetwork()}.1`]
  await paid(await channel.deposit(15_000n, PRICE_MINOR), { client })
  const second = await channel.depositPayload(20_000n, 2n * PRICE_MINOR)
  await depositAsStranger(rpc_url, second)
  await paid(channel.header(second), { client })
  assert.deepEqual(await onChain(channel), ['35000', '0'])
  for (const at of ['after_claim', 'after_prepare', 'before_send'] as const) {
    const balance_minor = BigInt((await onChain(channel))[0] ?? 0)
    const charged = stateIn(await call(await channel.voucher(PRICE_MINOR), { client })).charged
    const next = await channel.depositPayload(15_000n, BigInt(charged ?? 0) + PRICE_MINOR)
    interruption = { at, act: () => depositAsStranger(rpc_url, next) }
    await paid(channel.header(next), { client })
    assert.deepEqual(await onChain(channel), [String(balance_minor + 15_000n), '0'])
  }
})

test('a deposit whose authorization the payer has cancelled is refused, and nothing is charged', async () => {
  const [channel, client] = [await newChannel(), `${newNetwork()}.1`]
  const payload = await channel.depositPayload(50_000n, PRICE_MINOR)
  await cancel(channel, payload.deposit.authorization.erc3009Authorization.salt)
  const { status, body } = await call(channel.header(payload), { client })
  assert.deepEqual([status, body['charged']], [402, false], JSON.stringify(body))
  assert.deepEqual(await onChain(channel), ['0', '0'])
})

/** The payer withdraws the signature of a deposit (EIP-3009 cancelAuthorization), by a transaction of any account. */
async function cancel({ payer, id, entry, chain_id }: PayingChannel, salt: Hex): Promise<void> {
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, BigInt(salt)]))
  const { name, version } = entry.extra
  const signature = await payer.signTypedData({
    domain: { name, version, chainId: chain_id, verifyingContract: token },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  })
  const { r, s, v } = parseSignature(signature)
  const data = encodeFunctionData({
    abi: parseAbi(['function cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)']),
    args: [payer.address, nonce, Number(v), r, s],
  })
  const rpc = rpcRequest(rpc_url)
  await rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  await rpc('anvil_impersonateAccount', [payer.address])
  const hash = await rpc('eth_sendTransaction', [{ from: payer.address, to: token, data, gas: '0x30d40' }])
  const receiptNow = async () => (await rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null
  await until('the cancellation to be in a block', async () => (await receiptNow()) !== null)
  assert.equal((await receiptNow())?.status, '0x1')
}
