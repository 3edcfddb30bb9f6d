/** The client pays: within its caps, once, whatever the network does. What was charged is read from the chain. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AssayError, createClient, type Payment } from '../../src/client/index.ts'
import { authorizationsUsed, spendElsewhere } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { startProxy, type Proxy } from './proxy.ts'
import { IMPATIENT, payingClient, spyOn, type Spy } from './wallet.ts'

/** The example of ISO 13616, and its price at the floor, as the price table has it: 0.005 USDC. */
const INPUT = { iban: 'GB82 WEST 1234 5698 7654 32' }
const FLOOR = 5_000n

let world: World
let proxy: Proxy

before(async () => {
  world = await startWorld()
  proxy = await startProxy(world.url)
})
after(async () => {
  await proxy.stop()
  await world.stop()
})

async function failure(work: Promise<unknown>): Promise<AssayError> {
  const error: unknown = await work.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AssayError, String(error))
  return error
}

const used = async ({ address }: Spy) => (await authorizationsUsed(world.chain, address)).length
const wallet = async () => spyOn(await world.payer())

test('a call within the caps is paid once, and its receipt is verified', async () => {
  const signer = await wallet()
  const client = payingClient(proxy.url, signer)
  const answer = await client.call('iban-check', INPUT)
  assert.equal(answer.result['valid'], true)
  assert.deepEqual([answer.tier, answer.verification.ok, answer.receipt.payer], ['paid', true, signer.address.toLowerCase()])
  assert.deepEqual(
    signer.signed.map(({ to, value }) => [to, value]),
    [[world.chain.pay_to, FLOOR]],
  )
  assert.equal(answer.receipt.nonce, signer.signed[0]?.nonce)
  assert.equal(await used(signer), 1)
  assert.deepEqual(client.spending(), { per_call_usdc: '0.05', session_usdc: '1', signed_usdc: '0.005', left_usdc: '0.995' })
  assert.equal((await client.verify(answer, INPUT)).ok, true)
  assert.equal((await client.verify(answer, { iban: 'GB82WEST12345698765432' })).ok, false)
})

test('above the cap of a call nothing is signed', async () => {
  const signer = await wallet()
  const client = payingClient(proxy.url, signer, { spend_cap: { per_call_usdc: '0.004999', session_usdc: '1' } })
  const { code, charged, payment } = await failure(client.call('iban-check', INPUT))
  assert.deepEqual([code, charged, payment, signer.signed], ['ABOVE_CALL_CAP', false, null, []])
  const own = await failure(payingClient(proxy.url, signer).call('iban-check', INPUT, { max_usdc: '0.001' }))
  assert.deepEqual([own.code, signer.signed], ['ABOVE_CALL_CAP', []])
})

test('concurrent calls never sign for more than the session may spend', async () => {
  const signer = await wallet()
  const client = payingClient(proxy.url, signer, { spend_cap: { per_call_usdc: '0.05', session_usdc: '0.019999' } })
  const ends = await Promise.allSettled(Array.from({ length: 12 }, () => client.call('iban-check', INPUT)))
  const refused = ends.flatMap((end) => (end.status === 'rejected' && end.reason instanceof AssayError ? [end.reason.code] : []))
  assert.deepEqual(
    refused,
    Array.from({ length: 9 }, () => 'ABOVE_SESSION_CAP'),
  )
  assert.deepEqual([signer.signed.length, await used(signer)], [3, 3])
  assert.equal(client.spending()?.left_usdc, '0.004999')
})

test('a lost answer is fetched with the same payment', async () => {
  const signer = await wallet()
  const sent = proxy.calls.length
  // The first call carries no payment: it brings the terms.
  proxy.plan({ kind: 'change', change: () => undefined }, { kind: 'lose_answer' }, { kind: 'lose_request' }, { kind: 'lose_answer' })
  const answer = await payingClient(proxy.url, signer).call('iban-check', INPUT)
  assert.equal(answer.verification.ok, true)
  const payments = proxy.calls.slice(sent)
  assert.deepEqual([payments.length, payments[0]], [5, null])
  assert.equal(new Set(payments.slice(1)).size, 1)
  assert.deepEqual([signer.signed.length, await used(signer)], [1, 1])
})

test('what is not the word of the service ends no payment', async () => {
  const signer = await wallet()
  const page = { kind: 'instead', status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' } as const
  const moved = { kind: 'instead', status: 307, headers: { location: `${world.url}/elsewhere` }, body: '' } as const
  const second_402 = { kind: 'instead', status: 402, body: '{}' } as const
  proxy.plan({ kind: 'change', change: () => undefined }, page, moved, second_402, { ...page, status: 502 }, { ...page, status: 200 })
  await payingClient(proxy.url, signer).call('iban-check', INPUT)
  assert.deepEqual([signer.signed.length, await used(signer)], [1, 1])
})

test('a payment on its way is asked for, and its kept answer fetched', async () => {
  const signer = await wallet()
  const problem = { code: 'PAYMENT_PENDING', detail: 'On its way.', retryable: true, charged: 'unknown' }
  const location = { location: `https://elsewhere.example/v1/answers/${'0'.repeat(64)}`, 'retry-after': '1' }
  proxy.plan(
    { kind: 'change', change: () => undefined },
    { kind: 'instead', status: 202, headers: location, body: JSON.stringify(problem) },
  )
  const answer = await payingClient(proxy.url, signer).call('iban-check', INPUT)
  assert.ok(proxy.others.includes(`/v1/payments/${signer.address.toLowerCase()}/${answer.receipt.nonce}`))
  // Only the service itself was asked, whatever host the answer named.
  assert.ok(proxy.others.includes(`/v1/answers/${'0'.repeat(64)}`))
  assert.deepEqual([signer.signed.length, await used(signer)], [1, 1])
})

test('when patience ends the payment is handed over, and resumed elsewhere', async () => {
  const signer = await wallet()
  const client = payingClient(proxy.url, signer, { patience_ms: 0 })
  proxy.plan({ kind: 'change', change: () => undefined }, { kind: 'lose_answer' })
  const error = await failure(client.call('iban-check', INPUT))
  assert.deepEqual([error.code, error.charged, error.retryable], ['NETWORK_ERROR', 'unknown', true])
  const kept = JSON.parse(JSON.stringify(error.payment)) as Payment
  const other = createClient({ url: proxy.url, clock: IMPATIENT })
  const answer = await other.resume(kept)
  assert.deepEqual([answer.tool, answer.tier, answer.receipt.nonce], ['iban-check', 'paid', kept.nonce])
  const again = await other.resume(kept)
  assert.deepEqual([again.receipt_hash, other.chain.entries.length], [answer.receipt_hash, 1])
  assert.deepEqual([signer.signed.length, await used(signer)], [1, 1])
})

test('the caller may end a call, and gets the payment that was signed', async () => {
  const signer = await wallet()
  const end = new AbortController()
  const signing = {
    address: signer.address,
    signTypedData: async (data: Parameters<Spy['signTypedData']>[0]) => {
      const signature = await signer.signTypedData(data)
      end.abort()
      return signature
    },
  }
  const error = await failure(payingClient(proxy.url, signing).call('iban-check', INPUT, { signal: end.signal }))
  assert.deepEqual([error.code, error.charged, error.payment?.nonce], ['ABORTED', 'unknown', signer.signed[0]?.nonce])
})

test('a refusal of the service ends the call, and no second payment is signed', async () => {
  const signer = spyOn(await world.payer(FLOOR - 1n))
  const { code, charged, payment } = await failure(payingClient(proxy.url, signer).call('iban-check', INPUT))
  assert.deepEqual([code, charged, payment?.payer], ['INSUFFICIENT_FUNDS', false, signer.address.toLowerCase()])
  assert.deepEqual([signer.signed.length, await used(signer)], [1, 0])
})

test('a payment that the chain refused ends the call at once, with the time before which no other may be signed', async () => {
  const payer = await world.payer(FLOOR)
  const signer = spyOn(payer)
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, FLOOR))
  const calls_before = proxy.calls.length
  const { code, charged, payment, problem } = await failure(payingClient(proxy.url, signer).call('iban-check', INPUT))
  assert.deepEqual([code, charged, problem?.['valid_before']], ['SETTLEMENT_FAILED', 'unknown', Number(signer.signed[0]?.validBefore)])
  assert.equal(payment?.nonce, signer.signed[0]?.nonce)
  // Asked for the price, then paid, once each.
  assert.deepEqual([signer.signed.length, proxy.calls.length - calls_before], [1, 2])
})

test('a signer that does not sign costs nothing of the session', async () => {
  const signer = { address: (await world.payer(0n)).address, signTypedData: () => Promise.reject(new Error('locked')) }
  const client = payingClient(proxy.url, signer)
  assert.equal((await failure(client.call('iban-check', INPUT))).code, 'SIGNING_FAILED')
  assert.equal(client.spending()?.signed_usdc, '0')
})

test('a dry run says what a call would cost and signs, takes and pays nothing', async () => {
  const signer = await wallet()
  const client = payingClient(proxy.url, signer)
  const run = await client.dryRun('iban-check', INPUT)
  assert.deepEqual([run.outcome, run.amount_minor, run.amount_usdc, run.pay_to], ['pay', FLOOR, '0.005', world.chain.pay_to])
  const poor = payingClient(proxy.url, signer, { spend_cap: { per_call_usdc: '0.05', session_usdc: '0.004' } })
  assert.deepEqual((await poor.dryRun('iban-check', INPUT)).reason?.code, 'ABOVE_SESSION_CAP')
  assert.equal((await createClient({ url: proxy.url }).dryRun('iban-check', INPUT)).reason?.code, 'PAYMENT_REQUIRED')
  const wrong = await client.dryRunUntyped('iban-check', { number: 1 })
  assert.deepEqual([wrong.outcome, wrong.reason?.code], ['refuse', 'INPUT_SCHEMA_INVALID'])
  // A tenth of a check for each item, as the price table says: 15 items cost 0.0075.
  const items = Array.from({ length: 15 }, (_, index) => ({ id: String(index), tool: 'iban-check' as const, value: INPUT.iban }))
  assert.equal((await client.dryRunUntyped('batch-validate', { items })).amount_minor, 7_500n)
  assert.equal((await client.price('batch-validate', { items })).amount_minor, 7_500n)
  assert.deepEqual([signer.signed, await used(signer)], [[], 0])
})
