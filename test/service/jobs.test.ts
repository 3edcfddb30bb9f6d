/** Jobs beside the calls: one holder at a time, followed soon after its death, at the pace that the job names. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { runJobs, type Job } from '../../src/service/jobs/jobs.ts'

/** Leases as the store keeps them. */
function leases() {
  const held = new Map<string, { holder: string; until_ms: number; fence: number }>()
  return {
    held,
    lease: (name: string, holder: string, now_ms: number, until_ms: number) => {
      const before = held.get(name)
      if (before !== undefined && before.holder !== holder && before.until_ms > now_ms) return Promise.resolve(null)
      const fence = before === undefined ? 1 : before.holder === holder ? before.fence : before.fence + 1
      held.set(name, { holder, until_ms, fence })
      return Promise.resolve(fence)
    },
  }
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }
let now_ms = 0
const clock = { now_ms: () => now_ms }

beforeEach(() => {
  now_ms = 1_800_000_000_000
  mock.timers.enable({ apis: ['setInterval'] })
  mock.method(performance, 'now', () => now_ms)
})
afterEach(() => {
  mock.timers.reset()
  mock.restoreAll()
})

/** Lets time pass in steps of a quarter of a second, with what follows from each. */
async function pass(duration_ms: number): Promise<void> {
  for (let passed = 0; passed < duration_ms; passed += 250) {
    now_ms += 250
    mock.timers.tick(250)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
}

function counted(name: string, every_ms: number, runs: number[]): Job {
  return { name, every_ms, run: (at) => Promise.resolve(void runs.push(at)) }
}

test('a job runs at once and then at its own pace', async () => {
  const runs: number[] = []
  const start = now_ms
  const jobs = runJobs([counted('slow', 10_000, runs)], leases(), clock, SILENT)
  await pass(31_000)
  assert.deepEqual(
    runs.map((at) => Math.round((at - start) / 2_000) * 2),
    [0, 10, 20, 30],
  )
  await jobs.stop()
})

test('of two processes one works, and the other follows within ten seconds of its death', async () => {
  const store = leases()
  for (const every_ms of [2_000, 4_000, 10_000, 30_000]) {
    const [first, second]: [number[], number[]] = [[], []]
    // The first process dies: its loop is never asked again, and gives nothing up.
    let dead = false
    const dying = { lease: (...args: Parameters<typeof store.lease>) => (dead ? new Promise<null>(() => undefined) : store.lease(...args)) }
    runJobs([counted(`job ${every_ms}`, every_ms, first)], dying, clock, SILENT)
    await pass(500)
    const other = runJobs([counted(`job ${every_ms}`, every_ms, second)], store, clock, SILENT)
    await pass(41_250)
    assert.ok(first.length > 1 && second.length === 0)
    dead = true
    const died = now_ms
    await pass(10_000)
    assert.ok(second.length > 0 && (second[0] ?? 0) - died <= 10_000, `${every_ms}: ${String(second[0])}`)
    await other.stop()
  }
})

test('a long run keeps its lease, and no second one begins beside it', async () => {
  const store = leases()
  let running = 0
  let most = 0
  let finish: () => void = () => undefined
  const job: Job = {
    name: 'long',
    every_ms: 4_000,
    run: async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => (finish = resolve))
      running--
    },
  }
  const one = runJobs([job], store, clock, SILENT)
  const two = runJobs([job], store, clock, SILENT)
  await pass(60_000)
  assert.deepEqual([running, most, store.held.get('long')?.fence], [1, 1, 1])
  finish()
  const stopping = Promise.all([one.stop(), two.stop()])
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  finish()
  await stopping
})

test('a job that fails is tried again, and says so', async () => {
  const errors: string[] = []
  let tries = 0
  const job: Job = { name: 'failing', every_ms: 2_000, run: () => Promise.reject(new Error(`no ${++tries}`)) }
  const jobs = runJobs([job], leases(), clock, { ...SILENT, error: (_fields: object, words: string) => errors.push(words) })
  await pass(6_500)
  assert.ok(tries >= 3 && errors.length === tries)
  await jobs.stop()
})
