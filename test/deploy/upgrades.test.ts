/** An instance of the release before goes on while the next one migrates the schema: the promise of docs/operating/upgrades.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { postgresDriver, sqliteDriver } from '../support/store-drivers.ts'
import { keyOf, NOW_MS, request } from '../support/store-payments.ts'
import { columnsOf } from '../support/store-rows.ts'

/** Reads and writes of many tables; the same again on a later `round`. */
async function work(store: Store, round: number): Promise<unknown[]> {
  const asked = { day: 20_000, bucket: 'general', client: 'caller', limit: 10 }
  const claim = request()
  const entry = String(round).padStart(64, '0')
  await store.payments.claim(claim)
  await store.log.queue([entry], NOW_MS)
  return [
    await store.take(asked),
    await store.used(asked),
    await store.remember('word', 'first'),
    await store.lease('job', 'old', NOW_MS + round, NOW_MS + round + 10),
    (await store.payments.find(keyOf(claim)))?.state,
    await store.log.is_waiting(entry),
  ]
}

/** What the next release may do: a table, a column with a default for every table there is, an index. */
function nextMigration(tables: readonly string[]): string[] {
  const number = (MIGRATIONS.at(-1)?.number ?? 0) + 1
  return [
    'create table of_next_release (name text primary key)',
    ...tables.map((table) => `alter table ${table} add column of_next_release integer not null default 0`),
    'create index allowance_of_next_release on allowance (of_next_release)',
    `insert into migration (number, name) values (${number}, 'of-next-release')`,
  ]
}

test('an open store goes on over a migration that only adds; a store opened later knows that it is too old', async () => {
  const [files, server] = [await sqliteDriver(), await postgresDriver()]
  const any = await server.fresh()
  await (await openStore(any.target)).close()
  const tables = [...(await columnsOf(any)).keys()]
  for (const driver of [files, server]) {
    const fresh = await driver.fresh()
    const old = await openStore(fresh.target)
    assert.deepEqual(await work(old, 1), [{ granted: true, used: 1 }, 1, 'first', 1, 'claimed', true])
    for (const statement of nextMigration(tables)) await fresh.sql(statement)
    assert.deepEqual(await work(old, 2), [{ granted: true, used: 2 }, 2, 'first', 1, 'claimed', true])
    await assert.rejects(openStore(fresh.target), { code: 'STORE_NEWER' })
    await old.close()
  }
  await files.stop()
  await server.stop()
})
