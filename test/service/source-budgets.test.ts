/** Free calls that read sources draw on wider budgets than the caller's own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { widerNetwork } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { createAllowance, type Allowance } from '../../src/service/payments/allowance.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

const SECRET = new Uint8Array(32).fill(7)

let driver: StoreDriver
let store: Store
let now_ms = Date.UTC(2026, 10, 21, 12)
let allowance: Allowance

before(async () => {
  driver = await sqliteDriver()
  store = await openStore((await driver.fresh()).target)
  allowance = createAllowance(store, { now_ms: () => now_ms }, SECRET, { free_daily: 3, overrides: {} })
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
