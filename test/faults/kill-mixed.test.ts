/** The service dies again and again while all rails pay at the same time: every payment is answered once, and ledger, invoices and chain agree. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { repeats, runs, SEED } from '../support/counts.ts'
import { chainAhead } from '../support/faults-live.ts'
import { killLeft } from '../support/faults-process.ts'
import { assertNothingLost } from '../support/mixed-audit.ts'
import { startMixed } from '../support/mixed-deployment.ts'
import { mixedFigures, startMixedLoad } from '../support/mixed-load.ts'
import { openPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** TEST_REPEATS=50 for a long run. */
const KILLS = repeats() === 1 ? runs(2, 4) : repeats()
const ACTORS = { exact: 6, channels: 2, relays: 1, transfers: 1, banks: 1 }
/** A kill comes after up to so many requests more than the first answer of a new process. */
const REQUESTS_MAX = 60
const WAIT_MS = 120_000
const AHEAD_MS = 61_000

let postgres: Awaited<ReturnType<typeof openPostgres>>
before(async () => {
  postgres = await openPostgres()
})
after(async () => {
  killLeft()
  await postgres.stop()
})

/** Numbers that are the same in each run (Numerical Recipes, a linear congruential generator). */
function numbers(): () => number {
  let state = SEED
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(
    `killed under exact calls, channels, deposits, invoices and bank statements, on ${kind}`,
    { timeout: 240_000 + KILLS * 20_000 },
    async (t) => {
      const store = kind === 'postgres' ? { store: await postgres.createDatabase('mixed') } : {}
      const deployment = await startMixed({ ...store, services: 1 })
      t.after(() => deployment.stop())
      await chainAhead(deployment.anvil, AHEAD_MS)
      const load = startMixedLoad(deployment, ACTORS)
      t.after(() => load.abandon())
      await load.progress(1)
      const next = numbers()
      for (let kill = 0; kill < KILLS; kill++) {
        const [answers, requests] = [load.answered(), load.asking.begun + (next() % REQUESTS_MAX)]
        await until('the service answers payments', () => load.answered() > answers && load.asking.begun >= requests, WAIT_MS)
        await deployment.kill(0)
        await deployment.begin(0)
      }
      // A claim that a dead process left behind is held for a minute; the last process lives in a time when that minute is over.
      await deployment.kill(0)
      await deployment.begin(0, { ahead_ms: AHEAD_MS })
      await load.stop()
      t.diagnostic(`${KILLS} kills on ${kind}: ${mixedFigures(load)}`)
      t.diagnostic(await assertNothingLost(deployment, load))
      assert.equal(deployment.services[0]?.process.exitCode, null, 'the service runs')
    },
  )
}
