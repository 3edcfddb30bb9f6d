import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { digestText, TEST_VECTOR } from '../../src/pure/receipts/receipt.ts'
import {
  quoteAssured,
  type AssuredRequest,
  type AssuredOffer,
  assuredId,
  assuredState,
  disputeWindowEnds,
  checkBindable,
} from '../../src/pure/rulebooks/assured.ts'
import tool from '../../src/tools/trust/assured-create.ts'
import { runs, SEED } from '../support/counts.ts'
import { signerOne } from '../receipts/example.ts'
import { fixedSources } from '../support/sources.ts'

const USD = 1_000_000n
const CAPS_USD = { T1: 10_000n, T2: 100_000n, T3: 1_000_000n }
const EARNED = ['T1', 'T2', 'T3'] as const

const amount = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.bigInt({ min: 1n, max: 10n ** 30n - 1n }))
const asked: fc.Arbitrary<AssuredRequest> = fc.record(
  {
    notional_minor: amount.map(String),
    rail: fc.constantFrom('crypto' as const, 'fiat' as const),
    counterparty_tier: fc.constantFrom(...EARNED, undefined),
    annual_volume_minor: fc.option(amount.map(String), { nil: undefined }),
    pod_required: fc.option(fc.boolean(), { nil: undefined }),
  },
  { requiredKeys: ['notional_minor', 'rail'] },
)

function offer(given: AssuredRequest): AssuredOffer {
  const quote = quoteAssured(given)
  assert.ok(quote.kind === 'offered')
  return quote
}

test('the premium is never below the exact basis points, less than a millionth above, within 25 and 25,000 dollars', () => {
  const property = fc.property(asked, (given) => {
    const { premium_minor, unbounded_premium_minor, total_bps, bound } = offer(given)
    const exact_times_10_000 = BigInt(given.notional_minor) * BigInt(total_bps)
    const over = unbounded_premium_minor * 10_000n - exact_times_10_000
    assert.ok(over >= 0n && over < 10_000n)
    assert.ok(premium_minor >= 25n * USD && premium_minor <= 25_000n * USD)
    if (bound === 'none') assert.equal(premium_minor, unbounded_premium_minor)
    else assert.equal(premium_minor, bound === 'minimum' ? 25n * USD : 25_000n * USD)
    if (bound !== 'cap') assert.ok(premium_minor * 10_000n >= exact_times_10_000)
  })
  fc.assert(property, { numRuns: runs(1_000, 50_000), seed: SEED })
})

test('more at stake never costs less, more volume and less proof never cost more', () => {
  const property = fc.property(asked, amount, (given, other) => {
    const { premium_minor } = offer(given)
    const [less, more] = [BigInt(given.notional_minor), BigInt(given.notional_minor) + other]
    assert.ok(less < more && offer({ ...given, notional_minor: String(more) }).premium_minor >= premium_minor)
    const volume = BigInt(given.annual_volume_minor ?? '0') + other
    assert.ok(offer({ ...given, annual_volume_minor: String(volume) }).premium_minor <= premium_minor)
    assert.ok(offer({ ...given, pod_required: false }).premium_minor <= offer({ ...given, pod_required: true }).premium_minor)
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
})

test('above the cap of the tier, and only there, the lane escalates with its five basis points', () => {
  for (const tier of EARNED) {
    const plain = { rail: 'crypto', counterparty_tier: tier } as const
    const [at, above] = [0n, 1n].map((more) => offer({ ...plain, notional_minor: String(CAPS_USD[tier] * USD + more) }))
    assert.deepEqual([at?.escalation, at?.pod_required, at?.insurance_referral, at?.total_bps], [null, false, false, 20])
    assert.deepEqual([above?.escalation, above?.pod_required, above?.insurance_referral], ['above_advisory_cap', true, true])
    assert.equal(above?.total_bps, 25)
  }
  assert.equal(offer({ notional_minor: '1', rail: 'fiat' }).escalation, 'tier_unassessed')
  assert.deepEqual(quoteAssured({ notional_minor: '1', rail: 'fiat', counterparty_tier: 'T0' }), { kind: 'refused' })
})

test('where the bounds bite: below 12,500 dollars at 20 basis points, above ten millions at 25', () => {
  const bound = (usd: bigint, change: bigint) =>
    offer({ notional_minor: String(usd * USD + change), rail: 'crypto', counterparty_tier: 'T3', pod_required: false })
  assert.deepEqual([bound(12_500n, -1n).bound, bound(12_500n, -1n).premium_minor], ['none', 25n * USD])
  assert.equal(bound(12_499n, 0n).bound, 'minimum')
  assert.equal(bound(12_500n, 1n).premium_minor, 25n * USD + 1n)
  // At T3 so much escalates, and 25 bps reach the cap at ten millions.
  assert.deepEqual([bound(10_000_000n, 0n).bound, bound(10_000_000n, 1n).bound], ['none', 'cap'])
})

test('the dispute window is seven days, its last second included; a dispute outlasts it', () => {
  const ends = disputeWindowEnds(1_000)
  assert.equal(ends, 1_000 + 604_800)
  assert.deepEqual([assuredState('OPEN', ends, ends), assuredState('OPEN', ends, ends + 1)], ['OPEN', 'WINDOW_CLOSED'])
  for (const mark of ['DISPUTED', 'ADJUDICATED'] as const) assert.equal(assuredState(mark, ends, ends + 1), mark)
})

test('the name of a record follows from the receipt alone', () => {
  assert.match(assuredId(TEST_VECTOR.digest), /^asr_[0-9a-f]{32}$/)
  const judged = checkBindable(TEST_VECTOR.receipt, TEST_VECTOR.receipt.ts)
  assert.ok(judged.ok)
  assert.equal(judged.receipt.receipt_hash, TEST_VECTOR.digest)
})

test('a payer whom another issuer writes with capitals is a payer all the same', () => {
  const payer = `0x${'aB'.repeat(20)}`
  const receipt = { ...TEST_VECTOR.receipt, payer, signer: signerOne.address }
  const signature = signerOne.sign(nobleCrypto.keccak256(digestText(receipt)))
  const judged = checkBindable({ ...receipt, signature }, receipt.ts)
  assert.ok(judged.ok, judged.ok ? '' : judged.refusal)
  assert.deepEqual([judged.receipt.payer, judged.receipt.warnings.map(({ field }) => field)], [payer, ['payer']])
})

test('whatever is no receipt is refused, never thrown', () => {
  const property = fc.property(fc.anything(), (value) => {
    const judged = checkBindable(value, 0)
    return !judged.ok && judged.refusal === 'receipt_invalid'
  })
  fc.assert(property, { numRuns: runs(300, 5_000), seed: SEED })
})

const input = { notional_minor: '50000000000', rail: 'crypto', counterparty_tier: 'T2', receipt: TEST_VECTOR.receipt }

test('nothing is stored for what is refused, and a record tells what disputes did to it', async () => {
  const sources = fixedSources([tool])
  const { digest } = TEST_VECTOR
  const run = async (change: object = {}) => tool.execute({ ...input, ...change }, sources)
  assert.equal((await run({ counterparty_tier: 'T0' }))['status'], 'REFUSED')
  assert.equal((await run({ receipt: { ...TEST_VECTOR.receipt, amount: '1' } }))['status'], 'REFUSED')
  assert.equal(await sources.assured.find(digest), null)
  assert.equal((await run())['created'], true)
  const states: unknown[] = []
  for (const mark of [null, 'DISPUTED', 'ADJUDICATED'] as const) {
    if (mark !== null) assert.equal(await sources.assured.mark(digest, mark), true)
    states.push(((await run())['record'] as Record<string, unknown>)['state'])
  }
  assert.deepEqual(states, ['WINDOW_CLOSED', 'DISPUTED', 'ADJUDICATED'])
})
