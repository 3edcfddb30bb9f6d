/** A2A tasks: clients of many networks fill neither the disk nor displace what others, and above all payers, have stored. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import type { TaskRecord } from '../../src/ports/tasks.ts'
import { limits, TASK_LIMITS } from '../../src/service/limits.ts'
import { unpaidTaskMs } from '../../src/service/jobs/jobs.ts'
import { levelFor } from '../../src/service/admission/storage-room.ts'
import { boundedTasks } from '../../src/surfaces/a2a/task-bounds.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

let driver: StoreDriver
let fresh: FreshStore
let store: Store
before(async () => {
  driver = await (STORE_DRIVERS[0] ?? assert.fail())()
  fresh = await driver.fresh()
  store = await openStore(fresh.target)
})
after(async () => {
  await store.close()
  await driver.stop()
})

const START_MS = 1_795_262_400_000
const BODY = 'x'.repeat(1_000)
/** A thousandth of the bounds of the service. */
const small = (bytes: number) => ({ tasks: 1_000, bytes: Math.floor(bytes / 1_000) })
const BOUNDS = {
  client: small(TASK_LIMITS.client_bytes),
  network: small(TASK_LIMITS.network_bytes),
  provider: small(TASK_LIMITS.provider_bytes),
}
const ALL_BYTES = Math.floor(TASK_LIMITS.bytes / 1_000)

// attack: A2A tasks with long messages, so that the disk fills or the tasks of others are deleted
// in: money and signatures
// asset: storage
// attacker: client with many networks
// defence: bytes and numbers by client, /24 or /48 and /16 or /32 and of all; unpaid tasks expire sooner while storage is scarce, the
//   widest provider gives way first; paid tasks stay
test('1,563 clients of a hundred providers fill no more than the bound; a payer keeps its tasks, and a client from elsewhere is served', async () => {
  let now_ms = START_MS
  const tasks = boundedTasks(store.tasks, () => now_ms, { bounds: BOUNDS, all_bytes: ALL_BYTES })
  const keep = (task_id: string, [provider, network, client]: readonly string[], paid = false) => {
    const origin = { provider: provider ?? '', network: network ?? '', client: client ?? '' }
    return tasks.keep({ task_id, ...origin, revision: 1, working: false, paid, body: BODY, updated_ms: now_ms++ })
  }
  await keep('paid', ['p', 'p.n', 'p.n.c'], true)
  await keep('unpaid', ['q', 'q.n', 'q.n.c'])
  for (let index = 0; index < 1_563; index++) {
    const provider = `p${index % 100}`
    for (let number = 0; number < 4; number++)
      await keep(`attack-${index}-${number}`, [provider, `${provider}.${index % 300}`, `c${index}`])
    if (index % 200 === 0) assert.ok((await store.tasks.total_bytes()) <= ALL_BYTES, String(index))
  }
  assert.ok((await store.tasks.total_bytes()) <= ALL_BYTES)
  assert.notEqual(await tasks.find('paid'), null)
  assert.notEqual(await tasks.find('unpaid'), null, 'the widest providers gave way, not the one with one task')
  await keep('late', ['r', 'r.n', 'r.n.c'])
  assert.notEqual(await tasks.find('late'), null)
  // One network and one client of it stay within their shares.
  for (let number = 0; number < 100; number++) await keep(`one-${number}`, ['s', 's.n', 's.n.c'])
  const [own] = (await store.tasks.unpaid_bytes(1_000)).filter(({ provider }) => provider === 's')
  assert.ok((own?.bytes ?? 0) <= BOUNDS.client.bytes)
})

test('while paid tasks alone reach the bound, unpaid ones are not stored and paid ones are', async () => {
  const record = (task_id: string, paid: boolean): TaskRecord => ({
    task_id,
    client: task_id,
    network: task_id,
    provider: task_id,
    revision: 1,
    working: false,
    paid,
    body: BODY,
    updated_ms: START_MS + 90_000_000,
  })
  await store.tasks.purge(Number.MAX_SAFE_INTEGER, 0, 0)
  const tasks = boundedTasks(store.tasks, () => START_MS, { bounds: BOUNDS, all_bytes: 10_000 })
  for (let number = 0; number < 10; number++) await tasks.keep(record(`full-${number}`, true))
  await tasks.keep(record('not-paid', false))
  await tasks.keep(record('also-paid', true))
  assert.deepEqual([await tasks.find('not-paid'), (await tasks.find('also-paid'))?.paid], [null, true])
})

test('unpaid tasks expire sooner the fuller the storage is, and never within ten minutes', () => {
  const at = (part: number) => unpaidTaskMs(part * TASK_LIMITS.bytes)
  assert.deepEqual([at(0), at(0.5), at(0.75)], [limits.a2a_task_ms, limits.a2a_task_ms, limits.a2a_task_ms / 2])
  assert.deepEqual([at(1), at(2)], [TASK_LIMITS.least_ms, TASK_LIMITS.least_ms])
})

test('the level to which providers are trimmed takes from the widest alone', () => {
  assert.equal(levelFor([100, 50, 10], 30), 70)
  assert.equal(levelFor([100, 50, 10], 60), 45)
  assert.equal(levelFor([100, 50, 10], 160), 0)
  assert.equal(levelFor([100, 50, 10], 1_000), 0)
  assert.equal(levelFor([], 10), 0)
})
