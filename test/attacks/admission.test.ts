/** Few connections take the capacity of a service that reserves it before it is paid for; the attacks in full are in test/full/attacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createVictim, heldMb, type Measured, type Target } from '../support/hostile.ts'
import { heldBodies, heldCalls } from '../support/hostile-attacks.ts'

const FREE_PER_S = 20
const SENT_BYTES_MAX = 2 ** 28
/** The budget of bodies, and as much again for connections and calls that are under way. */
const HELD_MAX_MB = (2 * limits.bodies_bytes) / 1_048_576

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

// attack: thousands of connections with garbage or unfunded payments and unfinished bodies
test('two clients that send text for a payment, and no body, keep no free call of another out', async () => {
  await withApp(async (_, target) => {
    const attack = await heldCalls(target.port, { networks: 2, each: 512 }, { claim: 'garbage' })
    const { statuses } = await freeCalls(target, 1)
    await attack.stop()
    assert.deepEqual(statuses, { 200: FREE_PER_S })
  })
})

// attack: large bodies on every endpoint, finished or not
test('forty unfinished messages of 5 MB are not kept in memory', async () => {
  await withApp(async (_, target) => {
    await freeCalls(target, 1)
    const before_mb = heldMb()
    const attack = await heldBodies(target.port, { networks: 4, each: 10 }, ['mcp'], SENT_BYTES_MAX)
    const { statuses } = await freeCalls(target, 2)
    const grown_mb = heldMb() - before_mb
    await attack.stop()
    // The resident memory of release 0.5.0 grew by 246 MB.

    assert.ok(grown_mb < HELD_MAX_MB, `held ${grown_mb} MB`)
    assert.deepEqual(statuses, { 200: 2 * FREE_PER_S })
  })
})
