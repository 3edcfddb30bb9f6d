import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ACI_TABLE, gradeAci, nextTier, type AciFigures } from '../../src/pure/rulebooks/aci1.ts'
import { lowerBoundBp, upperBoundBp } from '../../src/pure/rulebooks/aci1.ts'
import { runs, SEED } from '../support/counts.ts'

const { z_milli } = ACI_TABLE.interval
const lower = (share: number, calls: number) => lowerBoundBp(share, calls, z_milli)
const upper = (share: number, calls: number) => upperBoundBp(share, calls, z_milli)

test('the bounds are those that R. G. Newcombe printed in 1998 (Statistics in Medicine 17, method 3)', () => {
  const printed: [events: number, calls: number, lower: number, upper: number][] = [
    [81, 263, 2553, 3662],
    [15, 148, 624, 1605],
    [0, 20, 0, 1611],
    [1, 29, 61, 1718],
  ]
  for (const [events, calls, low, high] of printed) {
    // Printed values are rounded to the nearest, ours against the agent.
    assert.ok([0, 1].includes(low - lower(events / calls, calls)), `${events} of ${calls}: ${lower(events / calls, calls)}`)
    assert.ok([0, 1].includes(upper(events / calls, calls) - high), `${events} of ${calls}: ${upper(events / calls, calls)}`)
  }
})

test('the bounds agree with the closed formula, rounded against the agent', () => {
  const share = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1, 0.5, 0.999, 0.001))
  const calls = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1_000_000_000 }))
  const property = fc.property(share, calls, (p, n) => {
    const z2 = 1.96 ** 2
    const [middle, whole] = [p + z2 / (2 * n), 1 + z2 / n]
    const half = 1.96 * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n))
    const [low, high] = [(10_000 * (middle - half)) / whole, (10_000 * (middle + half)) / whole]
    // Doubles lose some digits and the share is read to nine decimals: a bound may lie on the other side of a whole number.
    const near = 1e-4
    return lower(p, n) <= low + near && lower(p, n) > low - 1 - near && upper(p, n) >= high - near && upper(p, n) < high + 1 + near
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
})

test('without calls nothing is known, and one call proves little', () => {
  for (const share of [0, 0.5, 1]) assert.deepEqual([lower(share, 0), upper(share, 0)], [0, 10_000])
  // n / (n + z²) = 1 / 4.8416
  assert.deepEqual([lower(1, 1), upper(1, 1)], [2065, 10_000])
  assert.deepEqual([lower(0, 1), upper(0, 1)], [0, 7935])
})

const figures = (calls: number, success: number, disputes: number, days: number): AciFigures => ({
  settled_calls_90d: calls,
  settlement_success_rate: success,
  dispute_loss_rate: disputes,
  first_seen_days: days,
})

test('the worked examples of the table', () => {
  const worked: [Parameters<typeof figures>, sponsors: number, score: number, tier: string, exposure_usd: bigint][] = [
    [[25, 1, 0, 14], 0, 1550, 'T1', 155n],
    [[200, 1, 0, 60], 0, 5250, 'T2', 13_125n],
    [[1000, 1, 0, 180], 0, 8100, 'T3', 202_500n],
    [[5000, 0.999, 0.02, 365], 5, 7900, 'T2', 19_750n],
    [[10, 1, 0, 14], 0, 950, 'T0', 0n],
  ]
  for (const [given, sponsors, score, tier, exposure_usd] of worked) {
    const grade = gradeAci(figures(...given), sponsors)
    assert.deepEqual([grade.score_bp, grade.tier, grade.exposure_minor], [score, tier, exposure_usd * 1_000_000n])
  }
})

const CALLS = [0, 1, 9, 10, 24, 25, 49, 50, 199, 200, 249, 250, 999, 1_000, 4_999, 5_000, 1_000_000_000]
const SUCCESS = [0, 0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1]
const DISPUTES = [1, 0.5, 0.15, 0.05, 0.03, 0.02, 0.01, 0.005, 0.001, 0.0001, 0]
const DAYS = [0, 6.9, 7, 13, 14, 29, 30, 59, 60, 89, 90, 179, 180, 364, 365, 100_000]
const SPONSORS = [0, 1, 2, 3, 4, 5, 6, 32]
const AXES = [CALLS, SUCCESS, DISPUTES, DAYS, SPONSORS] as const
const TIERS = ['T0', 'T1', 'T2', 'T3']

/** Score, tier and exposure at a place of the grid. */
function at(place: readonly number[]): [number, number, bigint] {
  const [calls = 0, success = 0, disputes = 1, days = 0, sponsors = 0] = AXES.map((axis, dimension) => axis[place[dimension] ?? 0])
  const grade = gradeAci(figures(calls, success, disputes, days), sponsors)
  return [grade.score_bp, TIERS.indexOf(grade.tier), grade.exposure_minor]
}

test('one step for the better in one figure never lowers score, tier or exposure', () => {
  const place = fc.tuple(...AXES.map((axis) => fc.nat({ max: axis.length - 1 })))
  const step = fc.nat({ max: AXES.length - 1 })
  const property = fc.property(place, step, (from, dimension) => {
    const to = from.map((index, other) => (other === dimension ? Math.min(index + 1, (AXES[other]?.length ?? 1) - 1) : index))
    const [before, after] = [at(from), at(to)]
    return after[0] >= before[0] && after[1] >= before[1] && after[2] >= before[2]
  })
  fc.assert(property, { numRuns: runs(3_000, 50_000), seed: SEED })
})

test('any better figures never lower score or tier', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const calls = fc.integer({ min: 0, max: 20_000 })
  const days = fc.double({ min: 0, max: 500, noNaN: true })
  const property = fc.property(calls, calls, share, share, share, share, days, days, (n, m, s, t, d, e, a, b) => {
    const worse = gradeAci(figures(Math.min(n, m), Math.min(s, t), Math.max(d, e), Math.min(a, b)), 0)
    const better = gradeAci(figures(Math.max(n, m), Math.max(s, t), Math.min(d, e), Math.max(a, b)), 0)
    return better.score_bp >= worse.score_bp && TIERS.indexOf(better.tier) >= TIERS.indexOf(worse.tier)
  })
  fc.assert(property, { numRuns: runs(1_000, 50_000), seed: SEED })
})

test('sponsors never lift to T3, and a missing figure counts as the worst', () => {
  const short = figures(1_000, 1, 0, 180)
  assert.equal(gradeAci({ ...short, first_seen_days: 90 }, 32).tier, 'T2')
  // 7,600 points of its own: below T3, and above it with the thousand of the sponsors.
  const close = gradeAci(figures(1_000, 1, 0.001, 180), 32)
  assert.deepEqual([close.tier, close.gates_failed.map(({ tier, gate }) => `${tier} ${gate}`)], ['T2', ['T3 score_bp']])
  for (const name of Object.keys(short) as (keyof AciFigures)[]) assert.equal(gradeAci({ ...short, [name]: undefined }, 32).tier, 'T0')
})

test('the gates that failed are those between the tier and the highest', () => {
  const property = fc.property(fc.tuple(...AXES.map((axis) => fc.nat({ max: axis.length - 1 }))), (place) => {
    const [calls = 0, success = 0, disputes = 1, days = 0, sponsors = 0] = AXES.map((axis, dimension) => axis[place[dimension] ?? 0])
    const { tier, gates_failed } = gradeAci(figures(calls, success, disputes, days), sponsors)
    const above = TIERS.slice(TIERS.indexOf(tier) + 1)
    assert.deepEqual([...new Set(gates_failed.map((gate) => gate.tier))], above)
    assert.equal(nextTier(tier), above[0] ?? null)
    for (const { gate, needed, have } of gates_failed) assert.ok(gate === 'dispute_upper_bp' ? have > needed : have < needed)
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
})
