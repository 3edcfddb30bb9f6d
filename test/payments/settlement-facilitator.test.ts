/** Settlement through others: a real HTTP server that settles, lies, or dies; our own view of a real chain decides. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { parseSignature, serializeCompactSignature, toHex, type Hex } from 'viem'
import { httpFacilitator } from '../../src/adapters/facilitator/http.ts'
import type { Payment } from '../../src/ports/payments.ts'
import { createFacilitatorSettler, facilitatorRequest } from '../../src/service/payments/facilitated.ts'
import type { Settler } from '../../src/service/payments/settlement.ts'
import { startFacilitator, supports, type FacilitatorServer, type Reply, type SettleBody } from '../support/facilitator-server.ts'
import { startSettlement, type SettlementBench } from '../support/settlement.ts'
import { transferAsStranger } from '../support/token-acts.ts'
import { clockAt } from '../support/clock-at.ts'

const NO_TRANSACTION = `0x${'ab'.repeat(32)}`
const NETWORK = 'eip155:8453'

let bench: SettlementBench
const servers: FacilitatorServer[] = []

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))

async function serve(settle: (body: SettleBody) => Promise<Reply | null>, supported?: Reply): Promise<FacilitatorServer> {
  const server = await startFacilitator(settle, supported)
  servers.push(server)
  return server
}

function settlerOver(...urls: string[]): Settler {
  const { source, store, clock } = bench
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const terms = termsHere()
  const facilitators = urls.map((url) => httpFacilitator({ url, clock, settle_ms: 1_000 }))
  return createFacilitatorSettler({ facilitators, source, store, terms, clock, log })
}

const termsHere = () => ({
  chain_id: 8453,
  asset: bench.anvil.token,
  name: 'USD Coin',
  version: '2',
  max_timeout_s: 120,
  resourceOf: ({ subject }: Payment) => `https://assay.example/${subject}`,
})

async function paymentFor(settler: string): Promise<Payment> {
  return bench.settling(await bench.payer(), { method: 'facilitator', settler })
}

/** Sends what it was asked to settle. */
async function truly({ paymentPayload: { payload } }: SettleBody): Promise<string> {
  const row = await bench.store.payments.find({ payer: payload.authorization['from'] ?? '', nonce: payload.authorization['nonce'] ?? '' })
  assert.ok(row !== null)
  return transferAsStranger(bench.anvil, row)
}

const yes = (transaction: string): Reply => ({ body: { success: true, transaction, network: NETWORK } })
const no = (errorReason: string, transaction = ''): Reply => ({ body: { success: false, errorReason, transaction, network: NETWORK } })

test('one that settles is believed because the chain shows it; it was asked in version 2, whatever came in', async () => {
  const server = await serve(async (body) => yes(await truly(body)))
  const settler = settlerOver(server.url)
  assert.deepEqual(await settler.ready('0x1'), { ok: true, settler: server.url })
  const payment = await paymentFor(server.url)
  const result = await settler.settle(payment, 5_000)
  assert.ok(result.kind === 'settled')
  assert.equal(result.payment.state, 'settled')
  const requirements = {
    scheme: 'exact',
    network: NETWORK,
    asset: bench.anvil.token,
    amount: '10000',
    payTo: bench.pay_to,
    maxTimeoutSeconds: 120,
    extra: { name: 'USD Coin', version: '2' },
  }
  const { payer, nonce, signature, valid_before_s } = payment
  const authorization = { from: payer, to: bench.pay_to, value: '10000', validAfter: '0', validBefore: `${valid_before_s}`, nonce }
  const paymentPayload = {
    x402Version: 2,
    resource: { url: 'https://assay.example/iban-check' },
    accepted: requirements,
    payload: { signature, authorization },
  }
  assert.deepEqual(server.asked, [{ x402Version: 2, paymentPayload, paymentRequirements: requirements }])
})

test('one that settles and then breaks off, or is too slow to say so, has settled', async () => {
  for (const after_settling of [() => Promise.resolve(null), () => new Promise<null>(() => {})]) {
    const server = await serve(async (body) => {
      await truly(body)
      return after_settling()
    })
    const result = await settlerOver(server.url).settle(await paymentFor(server.url), 5_000)
    assert.equal(result.kind, 'settled')
  }
})

// attack: a settlement that never happened
// in: money and signatures
// asset: income
// attacker: facilitator
// defence: accepted only when the chain shows it
test('a settlement that never happened is not believed: pending, then unknown, and nobody else is asked', async () => {
  const liar = await serve(() => Promise.resolve(yes(NO_TRANSACTION)))
  const other = await serve(async (body) => yes(await truly(body)))
  const payment = await paymentFor(liar.url)
  const result = await settlerOver(liar.url, other.url).settle(payment, 700)
  assert.deepEqual(result, { kind: 'pending', transaction: NO_TRANSACTION })
  const row = await bench.row(payment)
  assert.deepEqual([row.state, row.reason, row.transaction], ['unknown', 'no_proof', NO_TRANSACTION])
  assert.equal(other.asked.length, 0)
})

test('a claimed transaction of somebody else proves nothing', async () => {
  const earlier = await paymentFor('https://nobody.example')
  const hash = await transferAsStranger(bench.anvil, earlier)
  const liar = await serve(() => Promise.resolve(yes(hash)))
  const payment = await paymentFor(liar.url)
  assert.equal((await settlerOver(liar.url).settle(payment, 300)).kind, 'pending')
  assert.equal((await bench.row(payment)).state, 'unknown')
})

test('a refusal stands when the chain shows the authorization unused, with its code', async () => {
  const server = await serve(() => Promise.resolve(no('invalid_exact_evm_insufficient_balance')))
  const result = await settlerOver(server.url).settle(await paymentFor(server.url), 5_000)
  assert.ok(result.kind === 'refused')
  assert.equal(result.payment.reason, 'invalid_exact_evm_insufficient_balance')
})

test('a refusal is false when the chain shows the transfer', async () => {
  const server = await serve(async (body) => {
    await truly(body)
    return no('invalid_exact_evm_nonce_already_used')
  })
  const result = await settlerOver(server.url).settle(await paymentFor(server.url), 5_000)
  assert.equal(result.kind, 'settled')
})

test('settlement_pending, gateway errors, pages, redirects and floods leave it open, and nobody else is asked', async () => {
  const other = await serve(async (body) => yes(await truly(body)))
  const replies: Reply[] = [
    no('settlement_pending', NO_TRANSACTION),
    no('invalid_exact_evm_transaction_failed', NO_TRANSACTION),
    { status: 502, body: '<html>bad gateway</html>' },
    { status: 500, body: { success: false, errorReason: 'insufficient_funds', transaction: '' } },
    { status: 307, body: '', headers: { location: 'http://127.0.0.1:1/settle' } },
    { body: `{"success":false,"pad":"${'x'.repeat(70_000)}"}` },
    { body: { success: true, transaction: '' } },
    { body: { success: 'true', transaction: NO_TRANSACTION } },
  ]
  for (const reply of replies) {
    const server = await serve(() => Promise.resolve(reply))
    const payment = await paymentFor(server.url)
    assert.equal((await settlerOver(server.url, other.url).settle(payment, 1)).kind, 'pending', JSON.stringify(reply).slice(0, 80))
    assert.equal((await bench.row(payment)).state, 'unknown')
  }
  assert.equal(other.asked.length, 0)
})

test('one that cannot be reached is passed over for the next, before and after the claim', async () => {
  const gone = await startFacilitator(() => Promise.resolve(null))
  await gone.stop()
  const good = await serve(async (body) => yes(await truly(body)))
  const settler = settlerOver(gone.url, good.url)
  assert.deepEqual(await settler.ready('0x1'), { ok: true, settler: good.url })
  assert.equal((await settler.settle(await paymentFor(gone.url), 5_000)).kind, 'settled')
  assert.equal(good.asked.length, 1)
})

test('when none can be reached nothing is taken, and what was claimed is released: nobody was asked', async () => {
  const gone = await startFacilitator(() => Promise.resolve(null))
  await gone.stop()
  const settler = settlerOver(gone.url)
  assert.deepEqual(await settler.ready('0x1'), { ok: false, detail: 'No facilitator accepts payments now.', retry_after_s: 5 })
  const payment = await paymentFor(gone.url)
  assert.deepEqual(await settler.settle(payment, 5_000), { kind: 'unsent' })
  const { state, reason } = await bench.row(payment)
  assert.deepEqual([state, reason], ['released', 'facilitator_unreachable'])
  assert.equal(await bench.store.payments.answer(payment), null, 'what was prepared was not paid for')
})

test('what reached no facilitator and was used on the chain all the same is settled', async () => {
  const gone = await startFacilitator(() => Promise.resolve(null))
  await gone.stop()
  const payment = await paymentFor(gone.url)
  await transferAsStranger(bench.anvil, payment)
  assert.equal((await settlerOver(gone.url).settle(payment, 5_000)).kind, 'settled')
})

test('one that went away is not believed for as long as it said, and is believed again when it is back', async () => {
  const leaving = await startFacilitator(() => Promise.resolve(null))
  let now_ms = 1_000
  const facilitator = httpFacilitator({ url: leaving.url, clock: clockAt(() => now_ms) })
  assert.equal(await facilitator.supports(NETWORK), true)
  await leaving.stop()
  assert.equal(await facilitator.supports(NETWORK), true, 'what it said is remembered')
  const request = facilitatorRequest(termsHere(), await paymentFor(leaving.url))
  assert.equal((await facilitator.settle(request)).kind, 'unreachable')
  assert.equal(await facilitator.supports(NETWORK), false)
  now_ms += 5_000
  assert.equal(await facilitator.supports(NETWORK), false, 'asked again, and not there')
})

test('an account is given out in 65 bytes with v of 27 or 28, whichever form it signed in; a contract wallet as it signed', async () => {
  for (let round = 0; round < 8; round++) {
    const payment = await paymentFor('https://nobody.example')
    const { r, s, yParity } = parseSignature(payment.signature as Hex)
    const forms = [
      payment.signature,
      `${r}${s.slice(2)}0${yParity}`,
      serializeCompactSignature({ r, yParityAndS: toHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 }) }),
    ]
    for (const signature of forms) {
      const signatureOf = (contract_payer: boolean) =>
        facilitatorRequest(termsHere(), { ...payment, signature, contract_payer }).paymentPayload['payload'] as { signature: string }
      assert.equal(signatureOf(false).signature, payment.signature, signature)
      assert.equal(signatureOf(true).signature, signature)
    }
  }
})

test('only one that says it settles this network is ready', async () => {
  const wrong: Reply[] = [
    supports('eip155:84532'),
    { body: { kinds: [{ x402Version: 1, scheme: 'exact', network: NETWORK }] } },
    { body: { kinds: [{ x402Version: 2, scheme: 'upto', network: NETWORK }] } },
    { status: 404, ...supports(NETWORK) },
    { body: 'kinds' },
  ]
  for (const supported of wrong) {
    const server = await serve(() => Promise.resolve(null), supported)
    assert.equal((await settlerOver(server.url).ready('0x1')).ok, false, JSON.stringify(supported))
  }
})
