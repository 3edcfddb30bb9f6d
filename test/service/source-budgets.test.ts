/** Free calls that read sources draw on wider budgets than the caller's own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { AllowanceRequest, Store } from '../../src/ports/store.ts'
import { clientHasher, networkHasher, widerNetwork } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { createAllowance, type Allowance } from '../../src/service/payments/allowance.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'
import { clockAt } from '../support/clock-at.ts'

const SECRET = new Uint8Array(32).fill(7)

let driver: StoreDriver
let store: Store
let now_ms = Date.UTC(2026, 10, 21, 12)
let allowance: Allowance

before(async () => {
  driver = await sqliteDriver()
  store = await openStore((await driver.fresh()).target)
  allowance = createAllowance(
    store,
    clockAt(() => now_ms),
    SECRET,
    { free_daily: 3, overrides: {} },
  )
})
after(async () => {
  await store.close()
  await driver.stop()
})

const host = (index: number) => `2001:db8:7:${index.toString(16)}::1`

test('a /48 shares one budget of source reads; other tools and other networks go on', async () => {
  for (let index = 0; index < limits.source_reads_daily_network / 3; index += 1) {
    for (let times = 0; times < 3; times += 1) {
      assert.equal((await allowance.take('balance-check', host(index), true)).granted, true)
    }
  }
  const refused = await allowance.take('balance-check', host(5_000), true)
  assert.deepEqual([refused.granted, refused.spent, refused.state.remaining], [false, 'network', 3])
  assert.equal((await allowance.take('iban-check', host(5_000))).granted, true)
  assert.equal((await allowance.take('balance-check', '2001:db8:8::1', true)).granted, true)
})

test('what is given back is given back to all budgets', async () => {
  now_ms += 86_400_000
  for (let index = 0; index < limits.source_reads_daily_network; index += 1) {
    const taken = await allowance.take('balance-check', host(index), true)
    assert.equal(taken.granted, true)
    await taken.give_back()
  }
  assert.equal((await allowance.take('balance-check', host(9_000), true)).granted, true)
})

test('a caller whose own calls are used up takes nothing from the others', async () => {
  now_ms += 86_400_000
  for (let times = 0; times < 3; times += 1) await allowance.take('balance-check', host(1), true)
  const { spent } = await allowance.take('balance-check', host(1), true)
  assert.equal(spent, 'own')
})

test('all callers together have a budget, by the store', async () => {
  now_ms += 86_400_000
  const day = Math.floor(now_ms / 86_400_000)
  const all = { day, bucket: 'sources', client: 'all', limit: limits.source_reads_daily }
  await Promise.all(Array.from({ length: limits.source_reads_daily }, () => store.take(all)))
  const refused = await allowance.take('balance-check', '198.51.100.7', true)
  assert.deepEqual([refused.granted, refused.spent], [false, 'all'])
  assert.equal((await allowance.take('iban-check', '198.51.100.7')).granted, true)
})

test('the wider network of an address', () => {
  assert.equal(widerNetwork('198.51.100.7'), '198.51.100')
  assert.equal(widerNetwork('2001:db8:7:1::1'), widerNetwork('2001:DB8:7:ffff::9'))
  assert.notEqual(widerNetwork('2001:db8:7::1'), widerNetwork('2001:db8:8::1'))
})

/** The store, except that taking the named client's unit fails as it does when the database is gone. */
function failingAt(client: (request: AllowanceRequest) => boolean): Pick<Store, 'take' | 'give_back' | 'used'> {
  return {
    take: (request) => (client(request) ? Promise.reject(new Error('the store is gone')) : store.take(request)),
    give_back: (request) => store.give_back(request),
    used: (request) => store.used(request),
  }
}

const ADDRESS = '203.0.113.9'

async function usedBy(address: string): Promise<number[]> {
  const day = Math.floor(now_ms / 86_400_000)
  const clients = [
    { bucket: 'general', client: clientHasher(SECRET)(day, address) },
    { bucket: 'sources', client: networkHasher(SECRET)(day, address) },
    { bucket: 'sources', client: 'all' },
  ]
  return Promise.all(clients.map((client) => store.used({ day, limit: 1, ...client })))
}

// attack: calls refused by one budget that use up the others
// in: requests
// asset: free calls, shared budgets
// attacker: client
// defence: units of earlier budgets are returned on a refusal and on a store error
test('a refusal of the last budget returns the units of the two before it', async () => {
  now_ms += 86_400_000
  const none_left = createAllowance(
    store,
    clockAt(() => now_ms),
    SECRET,
    { free_daily: 3, overrides: {} },
    { network: 300, all: 0 },
  )
  const refused = await none_left.take('balance-check', ADDRESS, true)
  assert.deepEqual([refused.granted, refused.spent, refused.state.remaining], [false, 'all', 3])
  assert.deepEqual(await usedBy(ADDRESS), [0, 0, 0])
})

// attack: calls refused by one budget that use up the others
test('a store error at the second or third budget returns the units of those before it', async () => {
  now_ms += 86_400_000
  const rules = { free_daily: 3, overrides: {} }
  const wide: [string, (request: AllowanceRequest) => boolean][] = [
    ['network', ({ bucket, client }) => bucket === 'sources' && client !== 'all'],
    ['all', ({ client }) => client === 'all'],
  ]
  for (const [name, fails] of wide) {
    const broken = createAllowance(
      failingAt(fails),
      clockAt(() => now_ms),
      SECRET,
      rules,
    )
    await assert.rejects(broken.take('balance-check', ADDRESS, true), /the store is gone/, name)
    assert.deepEqual(await usedBy(ADDRESS), [0, 0, 0], name)
  }
  assert.equal((await allowance.take('balance-check', ADDRESS, true)).granted, true)
})

test('giving back twice returns one unit', async () => {
  now_ms += 86_400_000
  await allowance.take('balance-check', ADDRESS, true)
  const second = await allowance.take('balance-check', ADDRESS, true)
  await second.give_back()
  await second.give_back()
  assert.deepEqual(await usedBy(ADDRESS), [1, 1, 1])
})

test('a spent wide budget is remembered for a second, so that a flood of refused reads writes nothing', async () => {
  now_ms += 86_400_000
  const written: AllowanceRequest[] = []
  const counting: Pick<Store, 'take' | 'give_back' | 'used'> = {
    take: (request) => (written.push(request), store.take(request)),
    give_back: (request) => (written.push(request), store.give_back(request)),
    used: (request) => store.used(request),
  }
  const rules = { free_daily: 3, overrides: {} }
  const none_left = createAllowance(
    counting,
    clockAt(() => now_ms),
    SECRET,
    rules,
    { network: 300, all: 0 },
  )
  await none_left.take('balance-check', ADDRESS, true)
  const first = written.length
  for (let index = 0; index < 50; index += 1) {
    const refused = await none_left.take('balance-check', host(index), true)
    assert.deepEqual([refused.spent, refused.state.remaining], ['all', 3])
  }
  assert.equal(written.length, first)
})
