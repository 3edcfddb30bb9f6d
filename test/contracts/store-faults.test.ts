/** What each database can do to its driver: a lock held by others, a lost connection, a file that is no store. */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { openStore } from '../../src/adapters/store/open.ts'
import type { AllowanceRequest } from '../../src/ports/store.ts'
import { postgresDriver, sqliteDriver } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'

function ask(client: string, limit = 3): AllowanceRequest {
  return { day: 20_000, bucket: 'general', client, limit }
}

/** Asks the database, a bounded number of times, until the answer has that many rows. */
async function until(sql: FreshStore['sql'], text: string, rows: number): Promise<void> {
  for (let asked = 0; asked < 2_000; asked += 1) if ((await sql(text)).length === rows) return
  assert.fail('the database never came to the awaited state')
}

test('a target that is neither a path nor a PostgreSQL URL is refused', async () => {
  for (const target of ['', ':memory:', 'mysql://localhost/x', 'file:store.db']) {
    await assert.rejects(openStore(target), {
      code: 'STORE_UNAVAILABLE',
      message: 'A store is the path of an SQLite file or a postgres:// URL.',
    })
  }
})

test('a list of hosts is refused with what to name in its place, and without the target', async () => {
  await assert.rejects(openStore('postgres://assay:se,cret@one:5432,two:5432/assay?target_session_attrs=read-write'), {
    code: 'STORE_UNAVAILABLE',
    message:
      'A postgres:// URL names one host and one port. For several servers, name a proxy that follows the primary (docs/operating/store.md).',
  })
})

describe('SQLite', () => {
  let driver: StoreDriver
  before(async () => {
    driver = await sqliteDriver()
  })
  after(() => driver.stop())

  test('file and directory are made for their owner alone', { skip: process.platform === 'win32' }, async () => {
    const { target } = await driver.fresh()
    const store = await openStore(target)
    await store.take(ask('a'))
    const modes = await Promise.all(
      [dirname(target), target, `${target}-wal`, `${target}-shm`].map(async (path) => (await stat(path)).mode & 0o777),
    )
    await store.close()
    assert.deepEqual(modes, [0o700, 0o600, 0o600, 0o600])
  })

  test('takes wait for a lock that others hold, while the event loop goes on', async () => {
    const { target } = await driver.fresh()
    const store = await openStore(target)
    const other = new DatabaseSync(target)
    other.exec('begin immediate')
    const waiting = Promise.all([store.take(ask('a')), store.take(ask('a')), store.lease('job', 'me', 0, 1)])
    for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    other.exec(`insert into allowance (day, bucket, client, used) values (20000, 'general', 'a', 2)`)
    other.exec('commit')
    other.close()
    assert.deepEqual(await waiting, [{ granted: true, used: 3 }, { granted: false, used: 3 }, 1])
    await store.close()
  })

  test('takes are rejected when the lock is never free, and then nothing was counted', async () => {
    const { target } = await driver.fresh()
    const store = await openStore(target, { busy_attempts: 2 })
    const other = new DatabaseSync(target)
    other.exec('begin immediate')
    const answers = await Promise.allSettled(Array.from({ length: 200 }, () => store.take(ask('a'))))
    for (const answer of answers) assert.equal(answer.status === 'rejected' && answer.reason.code, 'STORE_BUSY')
    assert.equal(await store.used(ask('a')), 0)
    other.exec('rollback')
    other.close()
    assert.deepEqual(await store.take(ask('a')), { granted: true, used: 1 })
    await store.close()
  })

  test('a file that is no database is refused and left as it was', async () => {
    const { target } = await driver.fresh()
    await (await openStore(target)).close()
    await writeFile(target, 'no database, but long enough to be read as the head of one '.repeat(4))
    const found = await readFile(target)
    await assert.rejects(openStore(target), { code: 'STORE_UNAVAILABLE', message: /\(26\)/ })
    assert.deepEqual(await readFile(target), found)
  })
})

describe('PostgreSQL', () => {
  let driver: StoreDriver
  before(async () => {
    driver = await postgresDriver()
  })
  after(() => driver.stop())

  test('a lost connection rejects what waits; the next call finds its own way back', async () => {
    const { target, sql } = await driver.fresh()
    const store = await openStore(target, { batch_items: 2 })
    await store.take(ask('a'))
    const other = new pg.Client({ connectionString: target })
    await other.connect()
    await other.query('begin; lock table allowance')
    const waiting = Promise.allSettled(Array.from({ length: 7 }, () => store.take(ask('a'))))
    const mine = `from pg_stat_activity where datname = current_database() and application_name = 'assay'`
    await until(sql, `select 1 ${mine} and wait_event_type = 'Lock'`, 1)
    await sql(`select pg_terminate_backend(pid) ${mine}`)
    for (const answer of await waiting) assert.equal(answer.status === 'rejected' && answer.reason.code, 'STORE_UNAVAILABLE')
    await other.query('commit')
    await other.end()
    assert.deepEqual(await store.take(ask('a')), { granted: true, used: 2 })
    await sql(`select pg_terminate_backend(pid) ${mine}`)
    await until(sql, `select 1 ${mine}`, 0)
    assert.equal(await store.used(ask('a')), 2)
    await store.close()
  })

  test('a server that is not there is named as such, without the password', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => probe.once('listening', resolve))
    const address = probe.address()
    await new Promise((resolve) => probe.close(resolve))
    assert.ok(typeof address === 'object' && address !== null)
    const unreachable = openStore(`postgres://assay:secret-word@127.0.0.1:${address.port}/postgres`)
    await assert.rejects(unreachable, (error: Error & { code?: unknown }) => {
      assert.equal(error.code, 'STORE_UNAVAILABLE')
      assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /secret-word/)
      return true
    })
  })

  test('commits wait for the log even where the database says otherwise, and a stricter setting stays', async () => {
    for (const [given, effective] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      const { target, sql } = await driver.fresh()
      await sql(`do $$ begin execute format('alter database %I set synchronous_commit = ${given}', current_database()); end $$`)
      const store = await openStore(target)
      assert.equal((await store.settings())['synchronous_commit'], effective)
      await store.close()
    }
  })
})
