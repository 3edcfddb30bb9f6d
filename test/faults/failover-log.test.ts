/** An asynchronous standby that lacks published entries takes over while calls arrive: the log stops before it shows a second history. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isSignedBy, readCheckpoint, readNote, readVerifierKey } from '../../src/pure/log/checkpoint.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { start, type Running } from '../../src/assembly/start.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { startLink, type Link } from '../support/fault-link.ts'
import { liveDeployment, type Live } from '../support/faults-live.ts'
import { query } from '../support/postgres.ts'
import { startReplicatedPostgres, type ReplicatedPostgres } from '../support/postgres-standby.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let postgres: ReplicatedPostgres
let live: Live
let link: Link
let services: Running[]
before(async () => {
  ;[anvil, postgres] = await Promise.all([startAnvil(), startReplicatedPostgres()])
  link = await startLink(postgres.primary)
  live = await liveDeployment(anvil, { ASSAY_FREE_DAILY: '1000', ASSAY_ASYNC_STANDBY: 'accept', ASSAY_API_URL: 'http://assay.example' })
  const secret = async (name: string) => {
    const path = join(live.folder, name)
    await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600 })
    return path
  }
  const shared = {
    ASSAY_STORE: link.through(postgres.primary),
    ASSAY_SECRET_FILE: await secret('secret'),
    ASSAY_LOG_KEY_FILE: await secret('log.key'),
    ASSAY_RECEIPT_KEY_FILE: join(live.folder, 'receipt-keys.json'),
  }
  services = []
  for (const name of ['one', 'other']) {
    const read = readSettings({ ...live.settings, ...shared, ASSAY_DATA_DIR: join(live.folder, name) })
    services.push(await start(read.ok ? read.settings : assert.fail(read.message)))
  }
})
after(async () => {
  for (const service of services) await service.stop()
  await link.stop()
  await postgres.stop()
  await Promise.all([anvil.stop(), live.remove()])
})

const called = async (service: Running) => (await restCall(service.url, 'iban-check', { iban: 'GB82WEST12345698765432' })).status
const textOf = async (service: Running, path: string) => (await fetch(service.url + path)).text()
const healthOf = async (service: Running) =>
  JSON.parse(await textOf(service, '/health')) as { ok: boolean; log: { state: string; reason?: string } }

async function checkpointOf(service: Running) {
  const text = await textOf(service, '/log/checkpoint')
  const note = readNote(text)
  const read = note === null ? null : readCheckpoint(note.text)
  return note === null || read === null ? null : { note, text, ...read }
}

test('two services over a primary that is lost with what the standby lacks', { timeout: 240_000 }, async (t) => {
  const [one, other] = services as [Running, Running]
  const key = readVerifierKey((await textOf(one, '/log/key')).trim()) ?? assert.fail('no key')
  const both = [one, other]
  const reach = (size: number) =>
    Promise.all(both.map((service) => until(`a checkpoint of ${size}`, async () => ((await checkpointOf(service))?.size ?? 0) >= size)))
  for (let call = 0; call < 20; call++) assert.equal(await called(both[call % 2] ?? one), 200)
  await reach(20)
  await postgres.stopReceiving()
  for (let call = 0; call < 20; call++) assert.equal(await called(both[call % 2] ?? one), 200)
  await reach(40)
  const published = (await checkpointOf(one)) ?? assert.fail('no checkpoint')

  link.become('cut')
  await postgres.promote()
  link.leadTo(postgres.standby)
  link.become('open')
  const begun_ms = performance.now()
  const seen = new Map<string, NonNullable<Awaited<ReturnType<typeof checkpointOf>>>>()
  await until(
    'both services have stopped their log and answer calls',
    async () => {
      for (const service of both) {
        await called(service).catch(() => 0)
        const found = await checkpointOf(service)
        if (found !== null) seen.set(found.text, found)
      }
      const states = await Promise.all(both.map(healthOf))
      return states.every(({ ok, log }) => ok && log.state === 'stopped')
    },
    60_000,
  )
  t.diagnostic(`both stopped ${Math.round(performance.now() - begun_ms)} ms after the standby took over`)
  for (const service of both) assert.equal(await called(service), 200, 'calls go on')
  // Every checkpoint that was shown since is signed, and not one of them contradicts what was published.
  for (const { note, size, root } of seen.values()) {
    assert.ok(isSignedBy(note, key))
    assert.deepEqual([size, Buffer.from(root).toString('hex')], [published.size, Buffer.from(published.root).toString('hex')])
  }
  const [head] = await query(postgres.standby, 'select size, signed_ms from log_head')
  assert.ok(Number(head?.['size']) < published.size, 'the standby lacks entries, or the test shows nothing')
  const waiting = async () => (await query(postgres.standby, 'select 1 from log_waiting')).length
  const before_count = await waiting()
  for (let call = 0; call < 5; call++) assert.equal(await called(one), 200)
  await until('the entries of new receipts wait', async () => (await waiting()) >= before_count + 5)
  const [later] = await query(postgres.standby, 'select size, signed_ms from log_head')
  assert.deepEqual(later, head, 'no new head was signed')
})
