/** PostgreSQL is killed, restarted, stalled and out of reach while two services take paid and free calls: nothing is lost, and both go on by themselves. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as lasting } from 'node:timers/promises'
import { runs } from '../support/counts.ts'
import { assertNothingLost, figuresOf } from '../support/fault-audit.ts'
import { shiftableClock, type ShiftableClock } from '../support/fault-clock.ts'
import { ANSWERED_MS, startLoad, type Load } from '../support/fault-load.ts'
import { startPair, type Pair } from '../support/fault-pair.ts'
import { chainAhead } from '../support/faults-live.ts'
import { until } from '../support/until.ts'

/** How long a fault lasts: in the full run longer than every lease and every wait for the database. */
const LASTS_MS = runs(800, 14_000)
/** The short run knows the first of each kind. */
const QUICK_FAULTS = 4
/** From the end of a fault until each service says that it is well: the longest wait for an answer, then the longest pause, then a call. */
const RECOVERY_MS = 30_000

/** A claim that an outage left behind is held for a minute; the short run ends in a time when that minute is over. */
const AHEAD_MS = runs(61_000, 0)

let folder: string
let clocks: ShiftableClock[]
let pair: Pair
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-lost-'))
  clocks = ['one', 'other'].map((name) => shiftableClock(join(folder, name)))
  pair = await startPair({ settings: [clocks[0]?.settings ?? {}, clocks[1]?.settings ?? {}] })
  await chainAhead(pair.anvil, AHEAD_MS)
})
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Breaks something, lasts, mends it; the end of `mend` is when recovery begins. */
interface Fault {
  name: string
  break(): Promise<unknown> | void
  mend(): Promise<unknown> | void
}

const links = (state: 'open' | 'cut' | 'lost', which: readonly (0 | 1)[] = [0, 1]) => {
  for (const one of which) pair.links[one].become(state)
}

const faults: Fault[] = [
  { name: 'killed', break: () => pair.postgres.kill(), mend: () => pair.postgres.begin() },
  { name: 'stalled', break: () => pair.postgres.stall(), mend: () => pair.postgres.resume() },
  { name: 'cut off from both', break: () => links('cut'), mend: () => links('open') },
  { name: 'lost to one', break: () => links('lost', [0]), mend: () => links('open') },
  { name: 'lost to both', break: () => links('lost'), mend: () => links('open') },
  { name: 'restarted', break: () => pair.postgres.end(), mend: () => pair.postgres.begin() },
  { name: 'lost to the other', break: () => links('lost', [1]), mend: () => links('open') },
]

test('paid and free calls over two services while the database fails in every way', { timeout: 800_000 }, async (t) => {
  const load = await startLoad(pair, { payers: runs(4, 8), free_callers: 2 })
  t.after(() => load.abandon())
  await answered(load, 4)
  for (const fault of faults.slice(0, runs(QUICK_FAULTS, faults.length))) {
    await fault.break()
    await lasting(LASTS_MS)
    await fault.mend()
    await recovered(t, fault.name, load)
  }
  const stopped_ms = performance.now()
  for (const [index, { process }] of pair.services.entries()) await clocks[index]?.shift(process, AHEAD_MS)
  await load.stop()
  t.diagnostic(`${figuresOf(load)}; the last after ${Math.round(performance.now() - stopped_ms)} ms`)
  for (const service of pair.services) assert.equal(service.process.exitCode, null, 'no service has died')
  await assertNothingLost(pair, load)
  t.diagnostic(`${Math.round(performance.now() - stopped_ms)} ms from the end of the load to the end of the audit`)
})

function answered(load: Load, more: number): Promise<void> {
  const before_count = load.paid.length
  return until(`${more} payments are answered`, () => load.paid.length >= before_count + more, ANSWERED_MS)
}

/** Each service says by itself that it is well, and payments go through again. */
async function recovered(t: TestContext, name: string, load: Load): Promise<void> {
  const begun_ms = performance.now()
  const healthy = async (url: string) => (await fetch(`${url}/health`)).status === 200
  await Promise.all(pair.urls().map((url) => until(`${url} is well again`, () => healthy(url), RECOVERY_MS)))
  await answered(load, load.payers.length + 1)
  t.diagnostic(`${name}: recovered ${Math.round(performance.now() - begun_ms)} ms after its end`)
}
