/** Tasks of the agent protocol, over both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { TaskRecord, TaskStore } from '../../src/ports/tasks.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { tasksInMemory } from '../support/task-memory.ts'

const START_MS = 1_795_262_400_000

function task(task_id: string, change: Partial<TaskRecord> = {}): TaskRecord {
  return { task_id, client: 'c'.repeat(64), revision: 1, working: false, body: '{"ü":"\\u0000"}', updated_ms: START_MS, ...change }
}

/** What every store of tasks promises; each part has clients of its own. */
async function promises(store: TaskStore): Promise<void> {
  await keepsTheNewest(store)
  await letsOneIn(store)
  await forgets(store)
}

async function keepsTheNewest(store: TaskStore): Promise<void> {
  const of = (client: string, number: number, working = false) =>
    task(`${client}-${number}`, { client, updated_ms: START_MS + number, working })
  for (const number of [1, 2, 3]) await store.keep(of('many', number, number === 1), 2)
  await store.keep(of('few', 1), 2)
  assert.deepEqual(await store.find('many-3'), of('many', 3))
  assert.deepEqual(await store.find('many-2'), of('many', 2))
  // Somebody works on the oldest.
  assert.deepEqual(await store.find('many-1'), of('many', 1, true))
  await store.keep(of('many', 4), 2)
  assert.equal(await store.find('many-2'), null)
  assert.deepEqual(await store.find('few-1'), of('few', 1))
  assert.equal(await store.find('many-9'), null)
}

async function letsOneIn(store: TaskStore): Promise<void> {
  await store.keep(task('taken', { client: 'one' }), 9)
  const writes = Array.from({ length: 8 }, (_, number) => store.change(task('taken', { client: 'one', revision: 2, body: `${number}` })))
  const written = (await Promise.all(writes)).flatMap((one, number) => (one ? [number] : []))
  assert.equal(written.length, 1)
  assert.equal((await store.find('taken'))?.body, `${written[0]}`)
  assert.equal(await store.change(task('taken', { revision: 2 })), false)
  assert.equal(await store.change(task('nobody', { revision: 2 })), false)
  assert.equal(await store.change(task('taken', { client: 'one', revision: 3, working: true, updated_ms: START_MS + 9 })), true)
  assert.deepEqual(await store.find('taken'), task('taken', { client: 'one', revision: 3, working: true, updated_ms: START_MS + 9 }))
}

async function forgets(store: TaskStore): Promise<void> {
  for (const number of [1, 2, 3, 4]) await store.keep(task(`old-${number}`, { client: 'old', updated_ms: START_MS + 1_000 + number }), 9)
  // Older are the first of these, and all that the parts before left: many-1, many-3, many-4, few-1 and taken.
  assert.equal(await store.purge(START_MS + 1_002, 9), 6)
  assert.equal(await store.find('old-1'), null)
  assert.equal(await store.purge(0, 2), 1)
  assert.equal(await store.find('old-2'), null)
  assert.deepEqual(await store.find('old-3'), task('old-3', { client: 'old', updated_ms: START_MS + 1_003 }))
}

test('the memory of the tests keeps what the databases keep', () => promises(tasksInMemory()))

for (const open of STORE_DRIVERS) {
  describe(`tasks: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('the newest of a client stay, one writer is let in, the old are forgotten', () => promises(store.tasks))

    test('what one of the databases cannot hold is refused by both', async () => {
      for (const change of [{ task_id: '' }, { client: '' }, { body: 'a\u0000b' }, { updated_ms: -1 }])
        await assert.rejects(store.tasks.keep(task('refused', change), 9), { code: 'STORE_REFUSED' })
    })
  })
}
