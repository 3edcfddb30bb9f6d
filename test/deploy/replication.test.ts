/** Replication of the database: a live service does not start over a standby that may lose payments, and says what it found. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { checkSettings } from '../../src/cli/doctor-checks.ts'
import { judgeReplication } from '../../src/service/replication.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { start } from '../../src/assembly/start.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { liveDeployment, type Live } from '../support/faults-live.ts'
import { query } from '../support/postgres.ts'
import { startReplicatedPostgres, type ReplicatedPostgres } from '../support/postgres-standby.ts'

let anvil: Anvil
let postgres: ReplicatedPostgres
let live: Live
before(async () => {
  ;[anvil, postgres] = await Promise.all([startAnvil(), startReplicatedPostgres()])
  live = await liveDeployment(anvil)
  const key = join(live.folder, 'secret')
  await writeFile(key, randomBytes(32).toString('hex'), { mode: 0o600 })
  const store = { ASSAY_STORE: postgres.primary, ASSAY_SECRET_FILE: key, ASSAY_RECEIPT_KEY_FILE: join(live.folder, 'receipt-keys.json') }
  live = { ...live, settings: { ...live.settings, ...store } }
})
after(async () => {
  await postgres.stop()
  await Promise.all([anvil.stop(), live.remove()])
})

function settingsWith(change: Record<string, string>) {
  const read = readSettings({ ...live.settings, ...change })
  return read.ok ? read.settings : assert.fail(read.message)
}

async function doctor(change: Record<string, string> = {}) {
  const checks = await checkSettings(settingsWith(change))
  return checks.find(({ name }) => name === 'replication') ?? assert.fail('no check of replication')
}

async function started(change: Record<string, string> = {}) {
  const running = await start(settingsWith(change))
  try {
    const health = (await (await fetch(`${running.url}/health`)).json()) as { ok: boolean; store: { replication: string } }
    const metrics = await (await fetch(`${running.url}/metrics`)).text()
    const state = /^assay_store_replication\{state="(\w+)"\} 1$/m.exec(metrics)?.[1]
    return { ok: health.ok, health: health.store.replication, metric: state }
  } finally {
    await running.stop()
  }
}

test('an asynchronous standby refuses a live start in one sentence that names both settings', async () => {
  await postgres.setSynchronous(false)
  await assert.rejects(start(settingsWith({})), (error: Error) => {
    assert.match(error.message, /^1 standby is attached to PostgreSQL and none is synchronous \(synchronous_standby_names is empty\): /)
    assert.match(error.message, /ASSAY_ASYNC_STANDBY=accept/)
    return true
  })
  assert.deepEqual(await query(postgres.primary, 'select 1 from identity'), [], 'the store was not bound to the deployment')
  const found = await doctor()
  assert.equal(found.state, 'failed')
})

test('the operator can accept it, which doctor, health and metrics show', async () => {
  await postgres.setSynchronous(false)
  const change = { ASSAY_ASYNC_STANDBY: 'accept' }
  assert.deepEqual(await started(change), { ok: true, health: 'asynchronous', metric: 'asynchronous' })
  const { state, words } = await doctor(change)
  assert.deepEqual([state, words.endsWith('It is accepted.')], ['warning', true])
})

test('with a synchronous standby it starts', async () => {
  await postgres.setSynchronous(true)
  assert.deepEqual(await started(), { ok: true, health: 'synchronous', metric: 'synchronous' })
  assert.equal((await doctor()).state, 'ok')
})

test('a user without the right to see the standbys is told so, and nothing is guessed', async () => {
  await postgres.setSynchronous(false)
  await query(postgres.primary, `create role plain login password 'plain'`)
  const url = new URL(postgres.primary)
  url.username = 'plain'
  url.password = 'plain'
  await query(postgres.primary, 'create database plain owner plain')
  url.pathname = '/plain'
  const find = async () => {
    const store = await openStore(url.href)
    const found = judgeReplication(await store.replication())
    await store.close()
    return found
  }
  // An empty setting proves it without the rights.
  assert.equal((await find()).state, 'asynchronous')
  assert.equal((await doctor({ ASSAY_STORE: url.href })).state, 'failed')
  await postgres.setSynchronous(true)
  const found = await find()
  assert.equal(found.state, 'unknown')
  assert.match(found.words, /grant pg_read_all_stats/)
  assert.equal((await doctor({ ASSAY_STORE: url.href })).state, 'warning')
})

test('a server without standbys is a single machine: the start goes on, and doctor warns', async () => {
  await postgres.setSynchronous(false)
  await postgres.stopReceiving()
  assert.deepEqual(await started(), { ok: true, health: 'none', metric: 'none' })
  const { state, words } = await doctor()
  assert.equal(state, 'warning')
  assert.match(words, /No standby is attached/)
})

test('every state of replication has its finding', () => {
  const found = (standby_names: string, standbys: string[] | null, synchronous_commit = 'on') =>
    judgeReplication({ standby_names, standbys, synchronous_commit }).state
  const rows: [string, string][] = [
    [judgeReplication(null).state, 'none'],
    [found('', []), 'none'],
    [found('*', []), 'waiting'],
    [found('other', ['async']), 'waiting'],
    [found('', ['async', 'async']), 'asynchronous'],
    [found('', ['potential']), 'asynchronous'],
    [found('*', ['sync', 'potential']), 'synchronous'],
    [found('ANY 1 (a, b)', ['quorum', 'quorum']), 'synchronous'],
    [found('*', ['sync'], 'off'), 'asynchronous'],
    [found('*', ['sync'], 'local'), 'asynchronous'],
    [found('*', ['sync'], 'remote_write'), 'synchronous'],
    [found('*', ['sync'], 'remote_apply'), 'synchronous'],
    [found('', null), 'asynchronous'],
    [found('*', null, 'local'), 'asynchronous'],
    [found('*', null), 'unknown'],
  ]
  assert.deepEqual(
    rows.map(([state]) => state),
    rows.map(([, expected]) => expected),
  )
})
