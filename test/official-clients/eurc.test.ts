/** One deployment that takes EURC as well: official clients pay in it, at a rate that moves, and no signature for one token pays in the other. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { extractOffersFromPaymentRequired } from '@x402/extensions/offer-receipt'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { base as baseChain } from 'viem/chains'
import { createSigner, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { decodeReceipt, encodeReceipt } from '../../src/pure/receipts/compact.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { startAnvil, EURC, type Anvil } from '../support/anvil.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { heartbeat, ledgerOf, liveDeployment, startLive, witnessOf, type Live } from '../support/faults-live.ts'
import { base64, fund, readRequired, type Required } from '../support/paying.ts'
import { euroPrices } from '../support/sources.ts'
import { until } from '../support/until.ts'
import type { Running } from '../../src/assembly/start.ts'
import { openDesk, parsed } from '../cli/run-cli.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const HOME = 'eip155:8453'
const EURO = EURC[8453] ?? '0x'
const ASSET = `eip155:8453/erc20:${EURO.toLowerCase()}`

/** US dollars for one EURC; undefined: no price source answers. */
let rate: string | undefined = '1.25'
let anvil: Anvil
let live: Live
let running: Running
let stopHeart: () => Promise<void>

before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
  live = await liveDeployment(anvil, { ASSAY_ASSETS: 'usdc,eurc', ASSAY_ADMIN_PORT: 'off' })
  running = await startLive(live, { prices: euroPrices(() => rate), rules: { euro_every_ms: 50 } })
  await until('EURC to be offered', async () => (await euroTerms()) !== undefined)
})
after(async () => {
  await running.stop()
  await stopHeart()
  await anvil.stop()
  await live.remove()
})

const url = (tool = 'iban-check') => `${running.url}/v1/tools/${tool}/call`

function post(input: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ input }) }
}

async function terms(): Promise<Required> {
  const response = await fetch(url(), post(IBAN))
  assert.equal(response.status, 402)
  return readRequired(response.headers.get('payment-required') ?? '')
}

async function euroTerms() {
  const { accepts } = await terms()
  return (accepts as readonly Required['accepts'][0][]).find(({ asset }) => asset === EURO)
}

async function holder(amount_minor = 1_000_000n): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await fund(anvil.rpc_url, EURO, payer.address, amount_minor)
  return payer
}

/** An official client that prefers EURC: by default it pays in USDC alone, so the application allows the token with a limit, and selects it. */
function euroClient(payer: PrivateKeyAccount): x402Client {
  const select = (_version: number, accepts: PaymentRequired['accepts']) => accepts.find(({ asset }) => asset === EURO) ?? assert.fail()
  const client = new x402Client(select).register(HOME, new ExactEvmScheme(payer))
  client.setSpendControls({ allowedAssets: [{ network: HOME, asset: EURO, maxAmountPerPayment: '1000000' }] })
  return client
}

/** A payment of one entry of the terms, signed by the official client; the amount can be changed after the terms were read. */
async function signedEntry(payer: PrivateKeyAccount, of: string, change: { amount?: string } = {}) {
  const required = await terms()
  const entry = (required.accepts as readonly Required['accepts'][0][]).find(({ asset }) => asset === of) ?? assert.fail()
  const accepts = [{ ...entry, ...change }]
  const client = new x402Client().register(HOME, new ExactEvmScheme(payer))
  client.setSpendControls(false)
  return client.createPaymentPayload({ ...required, accepts } as unknown as PaymentRequired)
}

const signedEuro = (payer: PrivateKeyAccount, change?: { amount?: string }) => signedEntry(payer, EURO, change)

const send = (payment: unknown) => fetch(url(), post(IBAN, { 'payment-signature': base64(payment) }))

async function moved(payer: PrivateKeyAccount): Promise<bigint[]> {
  const transfers = await witnessOf({ rpc_url: anvil.rpc_url, token: EURO }).transfers(payer.address, live.pay_to)
  return transfers.map(({ value }) => value)
}

test('EURC is offered last, at the price over the rate; version 1 and a deployment without the setting name only USDC', async () => {
  const response = await fetch(url(), post(IBAN))
  const required = readRequired(response.headers.get('payment-required') ?? '')
  const { accepts } = required
  assert.deepEqual(
    (accepts as readonly Required['accepts'][0][]).map(({ network, asset, amount, extra }) => ({ network, asset, amount, extra })),
    [
      { network: HOME, asset: anvil.token, amount: '5000', extra: { name: 'USD Coin', version: '2' } },
      { network: HOME, asset: EURO, amount: '4000', extra: { name: 'EURC', version: '2' } },
    ],
  )
  // Clients send all signed offers back, so only USDC has them.
  const offers = extractOffersFromPaymentRequired(required as unknown as PaymentRequired)
  assert.deepEqual(
    offers.map(({ acceptIndex }) => acceptIndex),
    [0],
  )
  const first = asMembers(await response.json())['accepts'] as { asset: string }[]
  assert.deepEqual(
    first.map(({ asset }) => asset),
    [anvil.token],
  )
})

test('@x402/fetch pays in EURC; answer, receipt, status and both settlement headers name it, and the chain moved it', async () => {
  const payer = await holder()
  const response = await wrapFetchWithPayment(fetch, euroClient(payer))(url(), post(IBAN))
  const answer = asMembers(await response.json())
  assert.equal(response.status, 200, JSON.stringify(answer))
  const settlement = asMembers(answer['settlement'])
  const { transaction } = settlement
  assert.deepEqual(settlement, {
    network: HOME,
    transaction,
    payer: payer.address.toLowerCase(),
    amount_minor: '4000',
    method: 'self',
    asset: ASSET,
  })
  const told = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  assert.deepEqual([told.success, told.network, told.transaction, told.amount], [true, HOME, transaction, '4000'])
  assert.deepEqual(await moved(payer), [4_000n])

  const receipt = asMembers(answer['receipt'])
  assert.equal(receipt['amount'], `${ASSET} 4000 for 0.005 USD`)
  const verdict = verifyReceipt(receipt)
  assert.deepEqual([verdict.valid, verdict.warnings], [true, []])
  const compact = encodeReceipt(receipt)
  assert.ok(compact.ok)
  assert.deepEqual(decodeReceipt(compact.text), { ok: true, receipt })

  const status = asMembers(await readJson(`${running.url}/v1/payments/${payer.address}/${String(receipt['nonce'])}`))
  assert.deepEqual([status['state'], status['amount_minor'], status['asset'], status['network']], ['settled', '4000', ASSET, HOME])
})

test('clients that choose nothing pay in USDC, in both versions', async () => {
  const key = generatePrivateKey()
  const payer = privateKeyToAccount(key)
  await fund(anvil.rpc_url, anvil.token, payer.address, 1_000_000n)
  const client = new x402Client().register(HOME, new ExactEvmScheme(payer))
  const second = await wrapFetchWithPayment(fetch, client)(url(), post(IBAN))
  const first = await wrapFetchV1(fetch, await createSigner(baseChain.name.toLowerCase(), key))(url(), post(IBAN))
  for (const response of [second, first]) {
    const { receipt, settlement } = asMembers(await response.json())
    assert.equal(asMembers(receipt)['amount'], '5000')
    assert.deepEqual(Object.keys(asMembers(settlement)), ['network', 'transaction', 'payer', 'amount_minor', 'method'])
  }
})

test('a signature over the domain of USDC does not pay in EURC, nor the other way round, and nothing moves', async () => {
  const payer = await holder()
  await fund(anvil.rpc_url, anvil.token, payer.address, 1_000_000n)
  const usdc = await signedEntry(payer, anvil.token, { amount: '4000' })
  const as_euro = await send({ ...usdc, accepted: await euroTerms() })
  assert.deepEqual([as_euro.status, asMembers(await as_euro.json())['code']], [402, 'BAD_SIGNATURE'])
  const euro = await signedEuro(payer)
  const required = await terms()
  const as_usdc = await send({ ...euro, accepted: { ...required.accepts[0], amount: '4000' } })
  assert.deepEqual([as_usdc.status, asMembers(await as_usdc.json())['code']], [402, 'PRICE_MISMATCH'])
  assert.deepEqual(await moved(payer), [])
})

test('after the rate moved, an earlier offer is paid as it was made; an amount that no rate gave is refused uncharged', async () => {
  const [early, other] = await Promise.all([holder(), holder()])
  const payment = await signedEuro(early)
  rate = '1.1'
  await until('the new rate', async () => (await euroTerms())?.amount === '4546')
  const paid = await send(payment)
  assert.equal(paid.status, 200)
  assert.equal(asMembers(asMembers(await paid.json())['receipt'])['amount'], `${ASSET} 4000 for 0.005 USD`)
  assert.deepEqual(await moved(early), [4_000n])

  const low = await send(await signedEuro(other, { amount: '3900' }))
  const refused = asMembers(await low.json())
  assert.deepEqual([low.status, refused['code'], refused['charged']], [402, 'PRICE_MISMATCH', false])
  assert.deepEqual(await moved(other), [])
})

test('without a usable rate EURC leaves the terms and nothing else changes; what was offered before can be paid', async () => {
  rate = '1.25'
  await until('the rate', async () => (await euroTerms())?.amount === '4000')
  const payer = await holder()
  const payment = await signedEuro(payer)
  // Outside the bounds of 0.8 to 1.5.
  rate = '1.6'
  await until('EURC to leave the terms', async () => (await euroTerms()) === undefined)
  const { accepts } = await terms()
  assert.deepEqual(
    (accepts as readonly Required['accepts'][0][]).map(({ asset }) => asset),
    [anvil.token],
  )
  const health = asMembers(asMembers(await readJson(`${running.url}/health`))['payments'])
  await until('health to say so', async () => {
    const networks = asMembers(asMembers(await readJson(`${running.url}/health`))['payments'])['networks'] as Record<string, unknown>[]
    return networks.some(
      ({ asset, ready, detail }) => asset === ASSET && ready === false && detail === 'EURC has no rate that may be used.',
    )
  })
  assert.equal(health['ready'], true)
  const paid = await send(payment)
  assert.equal(paid.status, 200)
  rate = '1.25'
  await until('EURC to return', async () => (await euroTerms()) !== undefined)
})

test('the ledger adds no EURC to USDC, and each is proved against its own token', async () => {
  await running.stop()
  const desk = await openDesk()
  const run = async (...words: string[]) => desk.run(['ledger', ...words], { settings: live.settings })
  const { code, stdout } = await run('prove', '--format', 'json')
  const proof = parsed(stdout) as {
    proved: boolean
    settled: { count: number; amount_usdc: string }
    networks: { asset: string; proved: boolean; settled: Record<string, unknown> }[]
  }
  assert.deepEqual([code, proof.proved, proof.settled], [0, true, { count: 2, amount_usdc: '0.01', amount_minor: '10000' }], stdout)
  assert.deepEqual(
    proof.networks.map(({ asset, proved, settled }) => ({ asset, proved, settled })),
    [{ asset: ASSET, proved: true, settled: { count: 3, amount_eurc: '0.012', amount_minor: '12000' } }],
  )
  assert.match((await run('prove', '--format', 'table')).stdout, /eip155:8453 EURC[^]*0\.012 EURC/)
  const sums = (parsed((await run('sums', '--format', 'json')).stdout) as { totals: unknown[] }).totals
  assert.deepEqual(sums, [
    { state: 'settled', count: 2, amount_usdc: '0.01', amount_minor: '10000', currency: 'USDC' },
    { state: 'settled', count: 3, amount_usdc: null, amount_minor: '12000', currency: 'EURC' },
  ])
  await desk.clear()
  assert.equal(ledgerOf(live).length, 5)
})
