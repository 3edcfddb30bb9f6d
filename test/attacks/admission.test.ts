/** Few connections take the capacity of a service that reserves it before it is paid for; the attacks in full are in test/full/attacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createVictim, watchMemory, type Measured, type Target } from '../support/hostile.ts'
import { heldBodies, heldCalls } from '../support/hostile-attacks.ts'

const FREE_PER_S = 20
const SENT_BYTES_MAX = 2 ** 28

async function withApp(work: (app: TestApp, target: Target) => Promise<void>): Promise<void> {
  const app = await startTestApp({ free_daily: 1_000_000 })
  try {
    await work(app, { port: Number(new URL(app.url).port), pid: process.pid, data_dir: app.data_dir })
  } finally {
    await app.stop()
  }
}

async function freeCalls(target: Target, seconds: number): Promise<Measured> {
  return (await (await createVictim(target, 0)).measure({ free: FREE_PER_S }, seconds)).free
}

test('two clients that send text for a payment, and no body, keep no free call of another out', async () => {
  await withApp(async (_, target) => {
    const attack = await heldCalls(target.port, { networks: 2, each: 512 }, { claim: 'garbage' })
    const { statuses } = await freeCalls(target, 1)
    await attack.stop()
    assert.deepEqual(statuses, { 200: FREE_PER_S })
  })
})

test('forty unfinished messages of 5 MB are not kept in memory', async () => {
  await withApp(async (_, target) => {
    await freeCalls(target, 1)
    const memory = watchMemory(target.pid)
    const attack = await heldBodies(target.port, { networks: 4, each: 10 }, ['mcp'], SENT_BYTES_MAX)
    const { statuses } = await freeCalls(target, 2)
    await attack.stop()
    const { before_mb, peak_mb } = memory.stop()
    // Release 0.5.0 grew by 246 MB.
    assert.ok(peak_mb - before_mb < 200, `grew by ${peak_mb - before_mb} MB`)
    assert.deepEqual(statuses, { 200: 2 * FREE_PER_S })
  })
})
