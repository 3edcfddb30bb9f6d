/** A store copied to the other kind and back: every table, every value, and all of it or nothing. PostgreSQL is a real server. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { copyStore, copiedTables } from '../../src/adapters/store/copy-store.ts'
import { MIGRATIONS } from '../../src/adapters/store/migrations.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { postgresDriver, sqliteDriver, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { columnsOf, contentsOf, insertRow, insertRows, type Column } from '../support/store-rows.ts'
import { openDesk, parsed } from './run-cli.ts'

const NOW_MS = 1_760_000_000_000
/** More than are read or written at a time, and no multiple of that. */
const MANY = 1_201

let [files, server]: StoreDriver[] = []
let tables: Map<string, Column[]>
/** An SQLite store with rows in every table; it is only read. */
let full: FreshStore

before(async () => {
  files = await sqliteDriver()
  server = await postgresDriver()
  tables = await columnsOf(await migrated('postgres'))
  full = await migrated('sqlite')
  // Tables that others refer to come first.
  const ordered = copiedTables().map(({ name }) => name)
  for (const table of ordered) for (const statement of insertRows(table, tables.get(table) ?? [])) await full.sql(statement)
  await full.sql(`with recursive counted (at) as (select 1 union all select at + 1 from counted where at < ${MANY})
    insert into log_waiting (entry, since_ms) select 'waiting ' || at, at from counted`)
})
after(async () => {
  await files?.stop()
  await server?.stop()
})

function unused(kind: StoreDriver['kind']): Promise<FreshStore> {
  return ((kind === 'sqlite' ? files : server) ?? assert.fail('not started')).fresh()
}

/** A store of the newest schema that holds nothing. */
async function migrated(kind: StoreDriver['kind']): Promise<FreshStore> {
  const store = await unused(kind)
  await (await openStore(store.target)).close()
  return store
}

const copy = (from: FreshStore, to: FreshStore) => copyStore({ from: from.target, to: to.target, now_ms: NOW_MS })

async function assertEmpty(store: FreshStore): Promise<void> {
  const held = Object.entries(await contentsOf(store, tables)).filter(([, rows]) => rows.length > 0)
  assert.deepEqual(
    held.map(([table]) => table),
    [],
  )
}

test('what is copied are the tables and columns that PostgreSQL itself names', () => {
  const copied = copiedTables().map(({ name, columns, counted }) => [name, columns.toSorted(), counted])
  const named = [...tables].map(([name, columns]) => {
    return [name, columns.map((column) => column.name).sort(), columns.find((column) => column.counted)?.name ?? null]
  })
  assert.deepEqual(copied.toSorted(byName), named.sort(byName))
})

function byName([one]: unknown[], [other]: unknown[]): number {
  return String(one) < String(other) ? -1 : 1
}

test('from SQLite to PostgreSQL and, by the command line, back: every value arrives, and counting goes on', async () => {
  const desk = await openDesk()
  const contents = await contentsOf(full, tables)
  const rows = Object.values(contents).reduce((sum, { length }) => sum + length, 0)
  for (const [table, { length }] of Object.entries(contents)) assert.ok(length > 0, `${table} has no rows in this test`)
  const [over, back] = [await unused('postgres'), await unused('sqlite')]
  const counts = await copy(full, over)
  assert.equal(
    counts.reduce((sum, one) => sum + one.rows, 0),
    rows,
  )
  assert.deepEqual(await contentsOf(over, tables), contents)

  const command = ['migrate-store', '--from', over.target, '--to', back.target]
  const done = await desk.run([...command, '--json'])
  assert.equal(done.code, 0, done.stderr)
  assert.equal(parsed(done.stdout)['copied'], rows)
  assert.deepEqual(await contentsOf(back, tables), contents)
  const again = await desk.run(command)
  assert.equal(again.code, 65)
  assert.match(again.stderr, /^assay: The target is not empty: its table \w+ has rows\.$/m)

  const counted = [...tables].filter(([, columns]) => columns.some((column) => column.counted))
  assert.ok(counted.length >= 5)
  for (const store of [over, back]) {
    for (const [table, columns] of counted) {
      const [{ most } = { most: 0 }] = await store.sql(`select max(number) as most from ${table}`)
      const others = columns.filter((column) => !column.counted)
      const [next] = await store.sql(`${insertRow(table, others, 3)} returning number`)
      assert.equal(Number(next?.['number']), Number(most) + 1, table)
    }
  }
  await desk.clear()
})

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: a source on which a service works is refused until its lease ran out`, async () => {
    const [source, target] = [await migrated(kind), await unused('sqlite')]
    await assert.rejects(copy(source, target), { code: 'STORE_REFUSED', message: /belongs to no deployment/ })
    await source.sql(`insert into identity (one, mode, chain_id, pay_to) values (1, 'live', 8453, '0x1')`)
    await source.sql(`insert into lease (name, holder, until_ms) values ('reconcile', 'somebody', ${NOW_MS + 1})`)
    await assert.rejects(copy(source, target), { code: 'STORE_REFUSED', message: /service still works on the source/ })
    await assert.rejects(copy(source, target), { message: new RegExp(`runs out at ${new Date(NOW_MS + 1).toISOString()};`) })
    await assertEmpty(target)
    // What a service that was killed had still to purge keeps nobody for hours.
    await source.sql(`insert into lease (name, holder, until_ms) values ('purge-payments', 'somebody', ${NOW_MS + 7_200_000})`)
    await copyStore({ from: source.target, to: target.target, now_ms: NOW_MS + 1 })
    assert.deepEqual(await contentsOf(target, tables), await contentsOf(source, tables))
  })

  test(`${kind}: a target that holds anything is refused and left as it is`, async () => {
    const target = await migrated(kind)
    await target.sql(`insert into credit_event (event_id, received_ms) values ('mine', 1)`)
    const held = await contentsOf(target, tables)
    await assert.rejects(copy(full, target), { code: 'STORE_REFUSED', message: /its table credit_event has rows/ })
    assert.deepEqual(await contentsOf(target, tables), held)
    await assert.rejects(copy(target, target), { code: 'STORE_REFUSED', message: /same store/ })
  })

  test(`${kind}: a target that changes, drops or refuses a single row keeps nothing at all`, async () => {
    const target = await migrated(kind)
    for (const [trigger, message] of [
      ['change', /rows of table payment differ after copying; nothing was kept/],
      ['drop', /rows of table payment differ after copying; nothing was kept/],
      ['refuse', /could not be read or written \(\w+\); nothing was kept/],
    ] as const) {
      for (const statement of TRIGGERS[kind][trigger]) await target.sql(statement)
      await assert.rejects(copy(full, target), { message })
      await assertEmpty(target)
      await target.sql(TRIGGERS[kind].undo)
    }
  })
}

/** A database that does something else with the payment of number 7 than it was told. */
const TRIGGERS: Record<StoreDriver['kind'], Record<'change' | 'drop' | 'refuse', string[]> & { undo: string }> = {
  sqlite: {
    change: ['create trigger t after insert on payment when new.number = 7 begin update payment set value_minor = 1 where number = 7; end'],
    drop: ['create trigger t after insert on payment when new.number = 7 begin delete from payment where number = 7; end'],
    refuse: [`create trigger t before insert on payment when new.number = 7 begin select raise(abort, 'no'); end`],
    undo: 'drop trigger t',
  },
  postgres: {
    change: onPayment('new.value_minor := 1;'),
    drop: onPayment('return null;'),
    refuse: onPayment(`raise exception 'no';`),
    undo: 'drop function act() cascade',
  },
}

function onPayment(act: string): string[] {
  return [
    `create function act() returns trigger language plpgsql as $$ begin if new.number = 7 then ${act} end if; return new; end $$`,
    'create trigger t before insert on payment for each row execute function act()',
  ]
}

test('a source that is not there, not a store, or newer is refused in the words of the store, and no file is made', async () => {
  const [missing, target] = [await unused('sqlite'), await unused('sqlite')]
  await assert.rejects(copy(missing, target), { code: 'STORE_REFUSED', message: /no file of the name/ })
  assert.deepEqual([existsSync(missing.target), existsSync(target.target)], [false, false])
  const other = await migrated('sqlite')
  await writeFile(other.target, 'Dear Sir or Madam, this is a letter and no database at all.'.repeat(100))
  await assert.rejects(copy(other, target), { code: 'STORE_UNAVAILABLE' })
  const newer = await migrated('postgres')
  await newer.sql(`insert into migration (number, name) values (${(MIGRATIONS.at(-1)?.number ?? 0) + 1}, 'of tomorrow')`)
  await assert.rejects(copy(newer, target), { code: 'STORE_NEWER' })
  const gone = newer.target.replace(/\w+$/, 'no_such_database')
  await assert.rejects(copyStore({ from: gone, to: target.target, now_ms: NOW_MS }), { code: 'STORE_UNAVAILABLE' })
  assert.equal(existsSync(target.target), false)
})
