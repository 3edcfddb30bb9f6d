/** Tasks of the agent protocol, over both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { TaskBounds, TaskRecord, TaskStore } from '../../src/ports/tasks.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { tasksInMemory } from '../support/task-memory.ts'

const START_MS = 1_795_262_400_000

function task(task_id: string, change: Partial<TaskRecord> = {}): TaskRecord {
  const origin = { client: 'c'.repeat(64), network: 'n'.repeat(64), provider: 'p'.repeat(64) }
  return { task_id, ...origin, revision: 1, working: false, paid: false, body: '{"ü":"\\u0000"}', updated_ms: START_MS, ...change }
}

const WIDE = { tasks: 1_000, bytes: 1_000_000 }

function clientBounds(tasks: number): TaskBounds {
  return { client: { tasks, bytes: 1_000_000 }, network: WIDE, provider: WIDE }
}

/** What every store of tasks promises; each part has clients of its own. */
async function promises(store: TaskStore): Promise<void> {
  await keepsTheNewest(store)
  await letsOneIn(store)
  await forgets(store)
  await boundsBytes(store)
}

async function keepsTheNewest(store: TaskStore): Promise<void> {
  const of = (client: string, number: number, working = false) =>
    task(`${client}-${number}`, { client, updated_ms: START_MS + number, working })
  for (const number of [1, 2, 3]) await store.keep(of('many', number, number === 1), clientBounds(2))
  await store.keep(of('few', 1), clientBounds(2))
  assert.deepEqual(await store.find('many-3'), of('many', 3))
  assert.deepEqual(await store.find('many-2'), of('many', 2))
  // Somebody works on the oldest.
  assert.deepEqual(await store.find('many-1'), of('many', 1, true))
  await store.keep(of('many', 4), clientBounds(2))
  assert.equal(await store.find('many-2'), null)
  assert.deepEqual(await store.find('few-1'), of('few', 1))
  assert.equal(await store.find('many-9'), null)
}

async function letsOneIn(store: TaskStore): Promise<void> {
  await store.keep(task('taken', { client: 'one' }), clientBounds(9))
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
  for (const number of [1, 2, 3, 4])
    await store.keep(task(`old-${number}`, { client: 'old', updated_ms: START_MS + 1_000 + number }), clientBounds(9))
  // Older are the first of these, and all that the parts before left: many-1, many-3, many-4, few-1 and taken.
  assert.equal(await store.purge(START_MS + 1_002, 0, 9), 6)
  assert.equal(await store.find('old-1'), null)
  assert.equal(await store.purge(0, 0, 2), 1)
  assert.equal(await store.find('old-2'), null)
  assert.deepEqual(await store.find('old-3'), task('old-3', { client: 'old', updated_ms: START_MS + 1_003 }))
}

/** Bodies of ten bytes: clients, networks and providers lose their oldest tasks, and paid ones only to paid ones. */
async function boundsBytes(store: TaskStore): Promise<void> {
  await store.purge(Number.MAX_SAFE_INTEGER, 0, 0)
  const share = (bytes: number) => ({ tasks: 100, bytes })
  const bounds = { client: share(30), network: share(50), provider: share(100) }
  let made_ms = START_MS
  const keep = async (task_id: string, change: Partial<TaskRecord>) => {
    await store.keep(task(task_id, { body: '0123456789', updated_ms: made_ms++, ...change }), bounds)
    return task_id
  }
  const stored = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map(async (id) => ((await store.find(id)) === null ? [] : [id])))
    return found.flat()
  }
  const own: string[] = []
  own.push(await keep('paid-1', { client: 'a', paid: true }))
  for (const number of [1, 2, 3, 4]) own.push(await keep(`a-${number}`, { client: 'a' }))
  assert.deepEqual(await stored(own), ['paid-1', 'a-2', 'a-3', 'a-4'])
  // The network has 50 bytes of unpaid tasks; trimmed, it keeps 45.
  for (const number of [1, 2, 3]) own.push(await keep(`b-${number}`, { client: 'b' }))
  assert.deepEqual(await stored(own), ['paid-1', 'a-4', 'b-1', 'b-2', 'b-3'])
  for (const network of ['x', 'y', 'z'])
    for (const number of [1, 2, 3]) own.push(await keep(`${network}-${number}`, { client: network, network }))
  // The provider has 100 bytes; trimmed, it keeps 90.
  assert.deepEqual(await stored(own), ['paid-1', 'x-1', 'x-2', 'x-3', 'y-1', 'y-2', 'y-3', 'z-1', 'z-2', 'z-3'])
  for (const number of [2, 3, 4]) own.push(await keep(`paid-${number}`, { client: 'a', paid: true }))
  assert.deepEqual(
    (await stored(own)).filter((id) => id.startsWith('paid')),
    ['paid-2', 'paid-3', 'paid-4'],
  )
  assert.equal(await store.total_bytes(), 120)
  await keep('q-1', { client: 'q', network: 'q', provider: 'q' })
  assert.deepEqual(await store.unpaid_bytes(1), [{ provider: 'p'.repeat(64), bytes: 90 }])
  await store.trim_provider('p'.repeat(64), 25)
  assert.deepEqual(await stored(own), ['z-2', 'z-3', 'paid-2', 'paid-3', 'paid-4'])
  assert.equal(
    await store.change(task('q-1', { client: 'q', revision: 2, body: '01234567890123456789', paid: true, updated_ms: made_ms })),
    true,
  )
  assert.equal(await store.total_bytes(), 70)
  assert.deepEqual((await store.find('q-1'))?.provider, 'q', 'a change leaves the networks')
  // Unpaid tasks expire sooner.
  assert.equal(await store.purge(0, made_ms, 100), 2)
  assert.deepEqual(await stored([...own, 'q-1']), ['paid-2', 'paid-3', 'paid-4', 'q-1'])
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
        await assert.rejects(store.tasks.keep(task('refused', change), clientBounds(9)), { code: 'STORE_REFUSED' })
    })
  })
}
