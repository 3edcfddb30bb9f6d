/** One of two services is killed again and again under paid load: the other takes over, nothing is lost, and the receipts log never forks. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runs } from '../support/counts.ts'
import { assertNothingLost, figuresOf } from '../support/fault-audit.ts'
import { watchLeases, type LeaseWatch } from '../support/fault-leases.ts'
import { ANSWERED_MS, startLoad, type Load } from '../support/fault-load.ts'
import { watchLog } from '../support/fault-log.ts'
import { startPair, type Pair } from '../support/fault-pair.ts'
import { until } from '../support/until.ts'

/** Rounds go on for so long; each kills the one that writes, and the same once more each time that it is back, until the other has taken over. */
const LASTS_MS = runs(1, 60_000)
const KILLS_LEAST = 2
/** What the design promises of a single writer: 9 s, and one for the looks of this test and a busy machine. */
const TAKEOVER_MS = 10_000
const WAIT_MS = 40_000
/** Work that one process does at a time; those of an hour or more wait longer. */
const SINGLE = ['settlement:', 'reconcile', 'invoices', 'receipts-log'] as const

let pair: Pair
before(async () => {
  pair = await startPair()
})
after(() => pair.stop())

test('the writer is killed again and again', { timeout: 300_000 }, async (t) => {
  const leases = await watchLeases(pair.store)
  const log = watchLog(pair.urls)
  t.after(() => Promise.all([leases.stop(), log.stop()]))
  const load = await startLoad(pair, { payers: runs(4, 8), free_callers: 1 })
  t.after(() => load.abandon())
  await until('payments are answered', () => load.paid.length > 4, WAIT_MS)
  await until('every lease has a holder', () => SINGLE.every((name) => leases.renewed(name)), WAIT_MS)
  const end_ms = performance.now() + LASTS_MS
  let kills = 0
  let victim: 0 | 1 = 0
  do {
    kills += await killUntilFollowed(victim, leases)
    victim = victim === 0 ? 1 : 0
    await progress(load)
  } while (performance.now() < end_ms)
  await load.stop()
  await until('the log has grown', () => log.kept() >= 2, WAIT_MS)
  const gaps = leases.takeovers.filter(({ lease }) => SINGLE.some((name) => lease.startsWith(name)))
  t.diagnostic(`${kills} kills; ${figuresOf(load)}`)
  for (const name of SINGLE) {
    const mine = gaps.filter(({ lease }) => lease.startsWith(name)).map(({ gap_ms }) => gap_ms)
    t.diagnostic(`${name} was taken over ${mine.length} times, ${Math.min(...mine)} to ${Math.max(...mine)} ms after the last write`)
    assert.ok(mine.length > 0, `${name} was never taken over`)
    assert.deepEqual(
      mine.filter((gap_ms) => gap_ms > TAKEOVER_MS),
      [],
      name,
    )
  }
  await assertNothingLost(pair, load)
  const size = await log.assertNeverForked(pair.urls()[0] ?? '')
  t.diagnostic(`${log.kept()} checkpoints kept, all of one log; it holds ${size} receipts`)
})

/** Kills the service, and again each time that it is back, until each lease has been written by somebody who came after the first death. Returns how often. */
async function killUntilFollowed(victim: 0 | 1, leases: LeaseWatch): Promise<number> {
  await pair.kill(victim)
  const death_ms = await leases.now_ms()
  await pair.begin(victim)
  let kills = 1
  while (kills < KILLS_LEAST || !SINGLE.every((name) => leases.writtenAfter(name, death_ms))) {
    await pair.kill(victim)
    kills++
    await pair.begin(victim)
  }
  return kills
}

async function progress(load: Load): Promise<void> {
  const before_count = load.paid.length
  await until('payments go on', () => load.paid.length > before_count + load.payers.length, ANSWERED_MS)
}
