/**
 * Two services over three real PostgreSQL servers under Patroni and etcd, while all rails pay. The primary dies three times by SIGKILL. With a
 * synchronous standby nothing is lost. With standbys that lag, rows are lost: then no payer may be charged twice, no answer may be untrue, and the
 * receipts log may not fork. Runs only where the packages of Debian are installed.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { clusterPrograms } from '../../scripts/support/cluster-programs.ts'
import { startFailoverCluster } from '../support/failover-cluster.ts'
import { shiftableClock } from '../support/fault-clock.ts'
import { mirrorLog } from '../support/fault-log.ts'
import { chainAhead } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import type { ExactOrder } from '../support/mixed-actors.ts'
import { assertChargedOnce, assertNothingLost, assertTrueSentences, claimed } from '../support/mixed-audit.ts'
import { startMixed } from '../support/mixed-deployment.ts'
import { mixedFigures, startMixedLoad, type MixedActors, type MixedLoad } from '../support/mixed-load.ts'
import { query } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const programs = clusterPrograms()
const skip = typeof programs === 'string' ? programs : false
const ACTORS: MixedActors = { exact: 2, channels: 2, relays: 1, transfers: 1, banks: 1 }
const KILLS = 3
/** So many more answers show that payments go on. */
const ANSWERS = 10
/** A claim that an outage left behind is held for a minute; the test ends in a time when that minute is over. */
const AHEAD_MS = 61_000
const WAIT_MS = 90_000

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-failover-clocks-'))
})
after(async () => {
  killLeft()
  await rm(folder, { recursive: true, force: true })
})

/** Two services over a cluster, and everything that ends with the test. */
async function started(t: TestContext, mode: 'synchronous' | 'asynchronous', settings: Record<string, string> = {}) {
  const cluster = await startFailoverCluster(mode)
  t.after(() => cluster.stop())
  const clocks = [0, 1].map((which) => shiftableClock(join(folder, `${mode}-${which}`)))
  const deployment = await startMixed({ store: cluster.url, services: 2, settings, each: (which) => clocks[which]?.settings ?? {} })
  t.after(() => deployment.stop())
  await chainAhead(deployment.anvil, AHEAD_MS)
  const log = mirrorLog(deployment.urls)
  t.after(() => log.stop())
  const ahead = async () => {
    for (const [which, { process }] of deployment.services.entries()) await clocks[which]?.shift(process, AHEAD_MS)
  }
  return { cluster, deployment, log, ahead }
}

test(
  'synchronous: the primary dies three times, and nothing is lost, charged twice, untrue or forked',
  { skip, timeout: 400_000 },
  async (t) => {
    const { cluster, deployment, log, ahead } = await started(t, 'synchronous')
    const load = startMixedLoad(deployment, ACTORS)
    t.after(() => load.abandon())
    await load.progress(1)
    let logged = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const begun_ms = performance.now()
      const dead = await cluster.kill()
      const primary = await cluster.primary()
      assert.notEqual(primary, dead)
      const promoted_ms = performance.now() - begun_ms
      // Not on every rail: the claim of a request that died with its service is held for a minute.
      logged = log.size()
      const before_count = load.answered()
      await until('payments are answered', () => load.answered() >= before_count + ANSWERS, WAIT_MS)
      const answered_ms = performance.now() - begun_ms
      await cluster.rejoin()
      t.diagnostic(
        `${dead} died, ${primary} took writes after ${Math.round(promoted_ms)} ms, ${ANSWERS} payments were answered after ${Math.round(answered_ms)} ms`,
      )
    }
    await ahead()
    await load.stop()
    t.diagnostic(mixedFigures(load))
    t.diagnostic(await assertNothingLost(deployment, load))
    await until('the log holds receipts of the time after the last failover', () => log.size() > logged, WAIT_MS)
    assert.deepEqual(log.forks(), [])
    t.diagnostic(`${log.heads()} heads of the log seen, all of one history of ${log.size()} receipts`)
    for (const { process } of deployment.services) assert.equal(process.exitCode, null, 'the service runs')
  },
)

test(
  'asynchronous: rows are lost with the primary, and no payer is charged twice or told an untruth, and the log never forks',
  { skip, timeout: 400_000 },
  async (t) => {
    const { cluster, deployment, log, ahead } = await started(t, 'asynchronous', { ASSAY_ASYNC_STANDBY: 'accept' })
    const refused = { ...deployment.settingsOf(0), ASSAY_ASYNC_STANDBY: '', ASSAY_DATA_DIR: join(folder, 'refused') }
    await assert.rejects(
      startFaulty(refused).then((service) => service.stop()),
      /ASSAY_ASYNC_STANDBY=accept/,
      'a start without the setting is refused',
    )
    const load = startMixedLoad(deployment, ACTORS, { lossy: true })
    t.after(() => load.abandon())
    await load.progress(1)
    await cluster.lag()
    const [published, answered] = [log.size(), exactAnswers(load).length]
    const only_on_primary = () => log.size() > published && exactAnswers(load).length >= answered + 4
    await until('payments are answered, and a head is published, that no standby has', () => (load.answered(), only_on_primary()), WAIT_MS)
    const given = exactAnswers(load)
    const dead = await cluster.kill()
    assert.notEqual(await cluster.primary(), dead)
    const kept = new Set((await query(cluster.url, 'select nonce from payment')).map(({ nonce }) => nonce))
    const lost = given.filter(({ nonces }) => !kept.has(nonces.at(-1)))
    t.diagnostic(`${lost.length} of ${given.length} payments that were answered have no row any more`)
    assert.ok(lost.length > 0, 'rows are lost, or this test shows nothing')
    await ahead()
    await until('payments are answered again', () => (load.answered(), exactAnswers(load).length >= given.length + 4), WAIT_MS)
    await load.stop()
    t.diagnostic(mixedFigures(load))
    for (const order of load.books.exact) await assertAnsweredAgain(load, order)
    await assertTrueSentences(load)
    const paid = await assertChargedOnce(load)
    assert.equal(paid, load.books.exact.length)
    for (const { channel, charged_minor } of load.books.channels)
      assert.ok((await claimed(deployment.anvil, channel.id)) <= charged_minor, 'a channel is claimed for answered calls only')
    assert.deepEqual(log.forks(), [])
    t.diagnostic(`${log.heads()} heads of the log seen, all of one history of ${log.size()} receipts`)
    for (const { process } of deployment.services) assert.equal(process.exitCode, null, 'the service runs')
  },
)

function exactAnswers({ books }: MixedLoad): ExactOrder[] {
  return books.exact.filter(({ answer }) => answer !== null)
}

/** A payer that lost its answer gets it by the same request, whether or not the row is still there. */
async function assertAnsweredAgain({ asking }: MixedLoad, { payer, nonces, request, answer }: ExactOrder): Promise<void> {
  const again = await asking.pay(request, { payer, nonce: nonces.at(-1) ?? null }, 'exact')
  assert.equal(again.status, 200, `a payment that was answered is sent again: ${again.status} ${JSON.stringify(again.body)}`)
  assert.deepEqual(again.body['result'], answer?.body['result'])
}
