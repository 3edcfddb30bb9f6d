import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toHex } from 'viem'
import {
  depositRisk,
  listingRisk,
  TENANCY,
  TENANCY_TABLE,
  tenancyBand,
  tenancyVerdict,
  verdictScore,
  type ListingSignals,
} from '../../src/pure/rulebooks/tenancy.ts'
import { ruleBook } from '../../src/pure/rulebooks/rule-book.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import tool from '../../src/tools/packs/rental-listing-risk.ts'
import { runs, SEED } from '../support/counts.ts'

/** The points as they were ruled, written apart from the table. */
const POINTS = [
  ['payment_irreversible', 25],
  ['landlord_abroad_cannot_meet', 20],
  ['photos_reverse_image_hit', 20],
  ['contact_moves_offplatform', 15],
  ['no_in_person_viewing', 15],
  ['urgency_pressure', 10],
  ['identity_docs_requested_upfront', 10],
] as const
const PRICES: [number | undefined, number][] = [
  [undefined, 0],
  [10, 0],
  [11, 5],
  [21, 12],
  [36, 20],
  [51, 25],
]

/** Every set of observations, as bits, with every step of the price. */
function* subsets(): Generator<{ bits: number; step: number; signals: ListingSignals; expected: number }> {
  for (const [step, [price_below_market_pct, price_points]] of PRICES.entries()) {
    for (let bits = 0; bits < 1 << POINTS.length; bits++) {
      const chosen = POINTS.filter((_, at) => (bits & (1 << at)) !== 0)
      const has = (name: string) => chosen.some(([one]) => one === name)
      const unseen = has('no_in_person_viewing')
      const together = (unseen && has('payment_irreversible') ? 10 : 0) + (unseen && has('landlord_abroad_cannot_meet') ? 5 : 0)
      const sum = chosen.reduce((total, [, points]) => total + points, price_points + together)
      yield {
        bits,
        step,
        signals: { ...Object.fromEntries(chosen.map(([name]) => [name, true])), price_below_market_pct },
        expected: Math.min(100, sum),
      }
    }
  }
}

test('a listing scores what its factors add up to, and each point has a named factor', () => {
  for (const { signals, expected } of subsets()) {
    const { score, fired, band } = listingRisk(signals)
    assert.equal(score, expected)
    const sum = fired.reduce((total, { points }) => total + points, 0)
    assert.equal(Math.min(100, sum), score)
    assert.equal(new Set(fired.map(({ factor }) => factor)).size, fired.length)
    assert.ok(fired.every(({ reason, points }) => reason !== '' && Number.isInteger(points) && points > 0))
    assert.equal(band, score < 20 ? 'low' : score < 45 ? 'elevated' : score < 70 ? 'high' : 'critical')
  }
})

test('a further observation, or a lower price, never lowers the score of a listing', () => {
  const scores = new Map([...subsets()].map(({ bits, step, signals }) => [`${step} ${bits}`, listingRisk(signals).score]))
  const scoreOf = (step: number, bits: number) => scores.get(`${step} ${bits}`) ?? Number.NaN
  assert.equal(scores.size, PRICES.length * 128)
  for (let step = 0; step < PRICES.length; step++) {
    for (let bits = 0; bits < 128; bits++) {
      for (let at = 0; at < POINTS.length; at++) assert.ok(scoreOf(step, bits | (1 << at)) >= scoreOf(step, bits))
      if (step > 0) assert.ok(scoreOf(step, bits) >= scoreOf(step - 1, bits))
    }
  }
})

const GOOD = 'GB82WEST12345698765432'
const BAD = 'GB82WEST12345698765433'

test('a deposit: all sixteen combinations, and one more factor never lowers the score', () => {
  const score = (bits: number) =>
    depositRisk({
      deposit_iban: (bits & 1) === 0 ? GOOD : BAD,
      // A property in Cuba is in another country too, so that factor never comes alone.
      property_country: (bits & 2) !== 0 ? 'CU' : (bits & 4) !== 0 ? 'FR' : 'GB',
      deposit_before_viewing: (bits & 8) !== 0,
    }).score
  for (let bits = 0; bits < 16; bits++) {
    const abroad = (bits & 6) !== 0
    const sum = ((bits & 1) !== 0 ? 40 : 0) + ((bits & 2) !== 0 ? 100 : 0) + (abroad ? 25 : 0) + ((bits & 8) !== 0 ? 30 : 0)
    assert.equal(score(bits), Math.min(100, sum), String(bits))
    for (const bit of [1, 2, 4, 8]) assert.ok(score(bits | bit) >= score(bits))
  }
})

test('the verdict: the higher score, a third of the lower, the landlord; monotone in each; whole numbers', () => {
  const score = fc.nat(100)
  const landlord = fc.subarray([
    { factor: 'landlord_lei_invalid', points: 20, reason: 'x' },
    { factor: 'landlord_company_number_malformed', points: 15, reason: 'x' },
  ])
  fc.assert(
    fc.property(score, score, landlord, score, (deposit, listing, flags, more) => {
      const extra = flags.reduce((total, { points }) => total + points, 0)
      const third = Number(BigInt(Math.min(deposit, listing)) / 3n)
      const found = verdictScore(deposit, listing, flags)
      assert.equal(found, Math.min(100, Math.max(deposit, listing) + third + extra))
      assert.ok(verdictScore(Math.max(deposit, more), listing, flags) >= found)
      assert.ok(verdictScore(deposit, Math.max(listing, more), flags) >= found)
      assert.ok(found >= verdictScore(deposit, listing, []))
    }),
    { numRuns: runs(2_000, 20_000), seed: SEED },
  )
})

test('bands and verdicts begin where they were ruled to begin', () => {
  const edges = (name: (score: number) => string) =>
    Array.from({ length: 101 }, (_, score) => score).filter((score) => score === 0 || name(score) !== name(score - 1))
  assert.deepEqual(edges(tenancyBand), [0, 20, 45, 70])
  assert.deepEqual(edges(tenancyVerdict), [0, 20, 45])
  assert.deepEqual(
    [0, 20, 45].map((score) => tenancyVerdict(score)),
    ['PROCEED', 'CAUTION', 'STOP'],
  )
})

test('a listing without any observation is refused, and one of them is asked for, not all', () => {
  const decoded = decodeInput(tool, {})
  assert.ok(!decoded.ok)
  const { detail, errors } = decoded.problem
  const fields = [...POINTS.map(([name]) => name), 'price_below_market_pct']
  assert.match(detail, /Give at least one of /)
  assert.deepEqual(errors?.map(({ pointer }) => pointer).toSorted(), fields.map((name) => `/input/${name}`).toSorted())
  for (const { code, message } of errors ?? []) {
    assert.equal(code, 'missing')
    for (const name of fields) assert.ok(message.includes(name), message)
  }
  assert.equal(decodeInput(tool, { urgency_pressure: false }).ok, true)
})

/** RFC 8785 for objects whose keys are ASCII and whose numbers are whole, written apart. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${sorted(inner)}`).join(',')}}`
}

test('the hash is that of the table, and another table has another', () => {
  assert.equal(TENANCY.policy_hash, keccak256(toHex(sorted({ standard: 'TENANCY-2', table: TENANCY_TABLE }))))
  const other = ruleBook('TENANCY-2', { ...TENANCY_TABLE, cap: 99 })
  assert.notEqual(other.policy_hash, TENANCY.policy_hash)
})

test('another table is another policy: its points are the ones that count', () => {
  const table = { ...TENANCY_TABLE, listing: { ...TENANCY_TABLE.listing, urgency_pressure: 50 } }
  assert.equal(listingRisk({ urgency_pressure: true }, ruleBook('TENANCY-2', table)).score, 50)
})
