import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LatencyBucket, TelemetrySnapshot } from '../../src/ports/telemetry.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import {
  createHistory,
  bucketsBetween,
  bucketsTogether,
  outcomeClass,
  quantiles,
  type Standing,
  standingNow,
  type OperatorStatusParts,
} from '../../src/service/telemetry/history.ts'
import { runs, SEED } from '../support/counts.ts'

const STANDS: Standing = {
  sources: { store: true, chain: true, prices: null },
  prices: { check: 5_000n, chain: 5_000n, contract: 20_000n, document: 10_000n },
  waiting: 0,
  overdue: 0,
  open: { claimed: 0, prepared: 0, settling: 0, unknown: 0 },
  head_age_s: 2,
}

/** Counters that a test adds to, a clock that it moves, and the history of both. */
function watched() {
  const clock = { now_s: 1_700_000_000, now_ms: () => clock.now_s * 1_000 }
  const counts = new Map<string, number>()
  const times = [0, 0, 0]
  let stands = STANDS
  const snapshot = (): Promise<TelemetrySnapshot> =>
    Promise.resolve({
      calls: [...counts].map(([outcome, count]) => ({ tool: 'iban-check', outcome, count })),
      latency: [1, 10, null].map((le_ms, index) => ({ le_ms, count: times.slice(0, index + 1).reduce((sum, one) => sum + one, 0) })),
    })
  const history = createHistory({ telemetry: { snapshot }, clock, standing: () => Promise.resolve(stands) })
  return {
    history,
    clock,
    call(outcome: string, bucket: 0 | 1 | 2, count = 1) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + count)
      times[bucket] = (times[bucket] ?? 0) + count
    },
    stand: (change: Partial<Standing>) => (stands = { ...stands, ...change }),
    async pass(seconds: number) {
      clock.now_s += seconds
      await history.record()
    },
  }
}

test('each point holds what was counted since the one before', async () => {
  const { history, call, pass } = watched()
  await pass(10)
  call('answered', 0, 3)
  call('paid', 1)
  call('PAYMENT_REQUIRED', 0, 2)
  await pass(10)
  call('PARSE_ERROR', 0)
  call('INTERNAL_ERROR', 2)
  await pass(10)
  const { at_s, counted_s, calls, latency_ms, every_s } = history.view('hour')
  assert.deepEqual([at_s, counted_s, every_s], [[1_700_000_000, 1_700_000_010, 1_700_000_020], [10, 10, 10], 10])
  assert.deepEqual(calls, { answered: [0, 4, 0], payment_required: [0, 2, 0], refused: [0, 0, 1], failed: [0, 0, 1] })
  // Of six calls five took at most 1 ms, of the last two one took longer than the largest bound.
  assert.deepEqual(latency_ms, { p50: [null, 1, 1], p95: [null, 10, null], p99: [null, 10, null] })
})

test('an hour and a day are kept, and no more', async () => {
  const { history, call, pass } = watched()
  for (let step = 0; step < 400; step++) {
    call('answered', 0)
    await pass(10)
  }
  const [hour, day] = [history.view('hour'), history.view('day')]
  assert.equal(hour.at_s.length, 360)
  assert.equal(
    hour.calls.answered.reduce((sum, count) => sum + count, 0),
    360,
  )
  // Five minutes a point: 4,000 s that begin on the 200th second of one span 14 of them.
  assert.equal(day.at_s.length, 14)
  assert.equal(
    day.calls.answered.reduce((sum, count) => sum + count, 0),
    400,
  )
  assert.equal(
    day.counted_s.reduce((sum, seconds) => sum + seconds, 0),
    4_000,
  )
  assert.ok(day.at_s.every((at_s) => at_s % 300 === 0))
  for (let step = 0; step < 400; step++) await pass(300)
  assert.equal(history.view('day').at_s.length, 288)
})

test('a later part is asked for by its time, and a stretch that goes on is told anew', async () => {
  const { history, call, pass } = watched()
  for (let step = 0; step < 5; step++) await pass(10)
  const { at_s } = history.view('hour')
  assert.deepEqual(history.view('hour', at_s[3]).at_s, at_s.slice(4))
  assert.deepEqual(history.view('hour', at_s[4]).at_s, [])
  const before = history.view('day').at_s.length
  call('answered', 0)
  await pass(10)
  assert.equal(history.view('day').at_s.length, before)
  assert.equal(history.view('day').calls.answered.at(-1), 1)
})

test('of a longer stretch the worst is shown, and the last price', async () => {
  const { history, stand, pass } = watched()
  await pass(10)
  stand({ sources: { store: true, chain: false, prices: null }, waiting: 9, overdue: 2, head_age_s: 70 })
  await pass(10)
  stand({ ...STANDS, prices: { check: 6_000n, chain: 5_000n, contract: 20_000n, document: 10_000n } })
  await pass(10)
  const { sources, settlement, prices_minor, chain_head_age_s } = history.view('day')
  assert.deepEqual(sources, { store: [true], chain: [false], prices: [null] })
  assert.deepEqual([settlement, chain_head_age_s], [{ waiting: [9], overdue: [2] }, [70]])
  assert.deepEqual(prices_minor.check, ['6000'])
  assert.deepEqual(history.view('hour').sources.chain, [true, false, true])
})

test('two that record at once are one', async () => {
  const { history, clock } = watched()
  clock.now_s += 10
  await Promise.all([history.record(), history.record(), history.record()])
  assert.deepEqual(history.view('hour').counted_s, [10])
})

test('every problem has a class, and nothing else is called the fault of a caller', () => {
  const classes = Object.keys(PROBLEMS).map((code) => [code, outcomeClass(code)] as const)
  const of = (name: string) => classes.filter(([, found]) => found === name).map(([code]) => code)
  assert.deepEqual([of('answered'), of('payment_required')], [['PAYMENT_PENDING'], ['PAYMENT_REQUIRED']])
  assert.ok(of('refused').includes('NONCE_BOUND') && of('failed').includes('STORE_UNAVAILABLE'))
  assert.deepEqual(['answered', 'paid', 'constructor', 'new word'].map(outcomeClass), ['answered', 'answered', 'failed', 'failed'])
})

test('a bound is never below the share that it stands for, and spans add up', () => {
  const cumulative = fc.array(fc.nat({ max: 9 }), { minLength: 4, maxLength: 4 }).map((counts) => {
    let sum = 0
    return counts.map((count, index): LatencyBucket => ({ le_ms: index === 3 ? null : 10 ** index, count: (sum += count) }))
  })
  fc.assert(
    fc.property(cumulative, cumulative, (one, other) => {
      const together = bucketsTogether(one, other)
      assert.deepEqual(bucketsBetween(together, other), one)
      const { p50, p95, p99 } = quantiles(together)
      const under = (bound: number | null) => together.find(({ le_ms }) => le_ms === bound)?.count ?? 0
      const total = together.at(-1)?.count ?? 0
      for (const [bound, share] of [
        [p50, 0.5],
        [p95, 0.95],
        [p99, 0.99],
      ] as const)
        if (bound !== null) assert.ok(under(bound) >= total * share)
      if (total === 0) assert.deepEqual([p50, p95, p99], [null, null, null])
    }),
    { numRuns: runs(200, 20_000), seed: SEED },
  )
  assert.deepEqual(quantiles([]), { p50: null, p95: null, p99: null })
})

test('what cannot be told is null, and a probe that breaks says down', async () => {
  const gone = () => Promise.reject(new Error('gone'))
  const parts: OperatorStatusParts = {
    clock: { now_ms: () => 1_000_000_000 },
    store: { ping: gone, payments: { in_states: gone } },
    prices: { prices: gone },
    probes: { chain: gone },
    takes_payments: true,
    chain_head: () => ({ number: 7n, timestamp_s: 999_990 }),
  }
  assert.deepEqual(await standingNow(parts), {
    sources: { store: false, chain: false, prices: null },
    prices: null,
    waiting: null,
    overdue: null,
    open: null,
    head_age_s: 10,
  })
  const none = await standingNow({ ...parts, takes_payments: false, chain_head: () => null })
  assert.deepEqual([none.waiting, none.head_age_s], [null, null])
})
