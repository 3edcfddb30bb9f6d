/** A database that is out of reach: the first operations wait for it, and then all are rejected immediately until it answers again. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openStore } from '../../src/adapters/store/open.ts'
import type { AllowanceRequest, Store } from '../../src/ports/store.ts'
import { limits } from '../../src/service/limits.ts'
import { startLink, type Link } from '../support/fault-link.ts'
import { postgresDriver, sqliteDriver, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'

const ask = (client: string): AllowanceRequest => ({ day: 20_000, bucket: 'general', client, limit: 1_000 })

async function codeOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => 'resolved',
    (error: { code: string }) => error.code,
  )
}

/** The result of an operation that ends within this turn of the event loop, before anything can arrive from outside. */
function inThisTurn(operation: Promise<unknown>): Promise<string> {
  return Promise.race([codeOf(operation), setImmediate('waits')])
}

/** One operation of each way to the database. */
const OPERATIONS: Record<string, (store: Store) => Promise<unknown>> = {
  'a free call': (store) => store.take(ask('x')),
  'a read': (store) => store.used(ask('x')),
  'a write': (store) => store.lease('job', 'me', 0, 1),
  'a transaction': (store) => store.log.queue(['ab'.repeat(32)], 1),
  'the clock': (store) => store.now_ms(),
  'a ping': (store) => store.ping(),
}

describe('PostgreSQL', () => {
  let driver: StoreDriver
  before(async () => {
    driver = await postgresDriver()
  })
  after(() => driver.stop())

  async function linked(t: TestContext): Promise<{ fresh: FreshStore; link: Link; store: Store }> {
    const fresh = await driver.fresh()
    const link = await startLink(fresh.target)
    const store = await openStore(link.through(fresh.target))
    t.after(async () => {
      link.become('open')
      await store.close()
      await link.stop()
    })
    return { fresh, link, store }
  }

  test('connections that are refused open the breaker; it closes by itself when the server answers again', async (t) => {
    const { link, store } = await linked(t)
    await store.take(ask('a'))
    link.become('cut')
    // The first one loses its connection, which says nothing about the server; the next ones find no server.
    for (let failure = 0; failure <= limits.store_breaker.failures; failure++) {
      assert.equal(await codeOf(store.take(ask('a'))), 'STORE_UNAVAILABLE')
    }
    assert.equal(store.breaker_open(), true)
    for (const [name, operation] of Object.entries(OPERATIONS)) assert.equal(await inThisTurn(operation(store)), 'STORE_UNAVAILABLE', name)
    link.become('open')
    await until('the breaker is closed', () => !store.breaker_open())
    for (const [name, operation] of Object.entries(OPERATIONS)) assert.equal(await codeOf(operation(store)), 'resolved', name)
    assert.deepEqual(await store.take(ask('a')), { granted: true, used: 2 })
  })

  test('a server that never answers opens the breaker, and those that wait for a connection are rejected with it', async (t) => {
    const { link, store } = await linked(t)
    await store.take(ask('a'))
    // Every connection of the pool is open.
    await Promise.all(Array.from({ length: 7 }, () => store.used(ask('a'))))
    link.become('lost')
    const order: string[] = []
    const held = Array.from({ length: 7 }, () => codeOf(store.used(ask('a'))).then(() => order.push('sent')))
    const placeless = Array.from({ length: 3 }, () => codeOf(store.used(ask('a'))).then((code) => order.push(code)))
    assert.equal(await inThisTurn(store.used(ask('a'))), 'waits')
    await Promise.all(placeless)
    assert.equal(store.breaker_open(), true)
    assert.ok(order.filter((one) => one === 'sent').length <= limits.store_breaker.failures, order.join())
    assert.equal(await inThisTurn(store.take(ask('a'))), 'STORE_UNAVAILABLE')
    await Promise.all(held)
    link.become('open')
    await until('the breaker is closed', () => !store.breaker_open(), 20_000)
    assert.deepEqual(await store.take(ask('a')), { granted: true, used: 2 })
  })

  test('errors of single statements and lost connections do not open it', async (t) => {
    const { fresh, store } = await linked(t)
    const log = store.log
    const entry = '0c'.repeat(32)
    const head = { size: 1, root: entry, checkpoint: 'x', signed_ms: 1 }
    await log.append({ from_size: 0, entries: [entry], tiles: [], head })
    for (let time = 0; time < 3 * limits.store_breaker.failures; time++) {
      const again = { from_size: 1, entries: [entry], tiles: [], head: { ...head, size: 2 } }
      assert.equal(await codeOf(log.append(again)), 'STORE_REFUSED')
      assert.equal(await codeOf(log.queue(['no hash'], 1)), 'STORE_REFUSED')
      await fresh.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'assay'`,
      )
      await codeOf(store.used(ask('a')))
      assert.equal(store.breaker_open(), false)
    }
    assert.equal((await log.head())?.size, 1)
  })
})

describe('SQLite', () => {
  let driver: StoreDriver
  before(async () => {
    driver = await sqliteDriver()
  })
  after(() => driver.stop())

  test('after one batch has waited in vain for the lock, the next ones try it once, until they get it', async () => {
    const { target } = await driver.fresh()
    const store = await openStore(target, { busy_attempts: 50 })
    const other = new DatabaseSync(target)
    other.exec('begin immediate')
    const first = store.take(ask('a'))
    assert.equal(await inThisTurn(first), 'waits')
    assert.equal(await codeOf(first), 'STORE_BUSY')
    assert.equal(store.breaker_open(), true)
    const second = codeOf(store.take(ask('a')))
    // The batch is written in the next turn, and rejected in it.
    await setImmediate()
    assert.equal(await Promise.race([second, setImmediate('waits')]), 'STORE_BUSY')
    assert.equal(await store.used(ask('a')), 0, 'reads need no lock')
    other.exec('rollback')
    other.close()
    assert.deepEqual(await store.take(ask('a')), { granted: true, used: 1 })
    assert.equal(store.breaker_open(), false)
    await store.close()
  })
})
