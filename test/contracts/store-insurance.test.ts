/** The directory of underwriters and their policies, over both databases and in the memory of the tests. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { InsuranceStore, UnderwriterRow } from '../../src/ports/insurance.ts'
import type { Store } from '../../src/ports/store.ts'
import { insuranceInMemory } from '../support/insurance-memory.ts'
import { postgresDriver, sqliteDriver, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const address = (number: number) => `0x${String(number).padStart(40, '0')}`

function row(number: number, change: Partial<UnderwriterRow> = {}): UnderwriterRow {
  const entry_hash = `0x${String(number).padStart(64, '0')}`
  return { address: address(number), entry_hash, entry: `{"n":${number},"ü":1}`, issued_s: 100, valid_until_s: 1_000, ...change }
}

async function keepsTheDirectory(store: InsuranceStore): Promise<void> {
  const most = 3
  const register = (given: UnderwriterRow, now_s = 500) => store.register(given, most, now_s)
  assert.deepEqual(await store.underwriters(0), [])
  assert.equal(await store.underwriter(address(1)), null)
  assert.equal(await register(row(2)), 'registered')
  assert.equal(await register(row(2)), 'unchanged')
  assert.equal(await register(row(1, { valid_until_s: 600 })), 'registered')
  assert.deepEqual(await store.underwriters(599), [row(1, { valid_until_s: 600 }), row(2)])
  // An entry holds until, not at, its last second.
  assert.deepEqual(await store.underwriters(600), [row(2)])
  assert.equal(await register(row(2, { entry_hash: row(9).entry_hash, issued_s: 100 })), 'older')
  const later = row(2, { entry_hash: row(9).entry_hash, issued_s: 101, entry: '{}' })
  assert.equal(await register(later), 'registered')
  assert.deepEqual(await store.underwriter(address(2)), later)
  assert.equal(await register(row(3)), 'registered')
  assert.equal(await register(row(4)), 'full')
  // Whoever is in may renew although it is full; what has expired makes room.
  assert.equal(await register(row(3, { entry_hash: row(8).entry_hash, issued_s: 200 })), 'registered')
  assert.equal(await register(row(4), 600), 'registered')
  assert.equal(await store.underwriter(address(1)), null)
}

async function keepsPolicies(store: InsuranceStore): Promise<void> {
  const given = { policy_id: 'pol_1', underwriter: address(1), certificate: '{"a":1}' }
  const kept = { ...given, underwriter_signature: null }
  assert.equal(await store.policy('pol_1'), null)
  assert.equal(await store.countersign('pol_1', '0xaa'), null)
  assert.deepEqual(await store.bind(given), { created: true, policy: kept })
  assert.deepEqual(await store.bind({ ...given, certificate: '{}' }), { created: false, policy: kept })
  assert.deepEqual(await store.countersign('pol_1', '0xaa'), { ...kept, underwriter_signature: '0xaa' })
  assert.deepEqual(await store.countersign('pol_1', '0xbb'), { ...kept, underwriter_signature: '0xaa' })
  assert.deepEqual(await store.policy('pol_1'), { ...kept, underwriter_signature: '0xaa' })
}

test('the memory of the tests keeps what the databases keep', async () => {
  await keepsTheDirectory(insuranceInMemory())
  await keepsPolicies(insuranceInMemory())
})

for (const open of [sqliteDriver, postgresDriver]) {
  describe(`insurance: ${open.name}`, () => {
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

    test('one entry an address, the one issued last, within the bound', () => keepsTheDirectory(store.insurance))

    test('a policy is made out once and countersigned once', () => keepsPolicies(store.insurance))

    test('many at once, over two connections, do not outgrow the bound', async () => {
      const other = await openStore(fresh.target)
      const most = 10
      const ends = await Promise.all(
        Array.from({ length: 30 }, (_, call) => (call % 2 === 0 ? store : other).insurance.register(row(100 + call), most, 500)),
      )
      assert.equal((await store.insurance.underwriters(500)).length, most)
      assert.equal(ends.filter((end) => end === 'full').length, 30 - (most - 3))
      await other.close()
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      for (const change of [{ address: '' }, { entry: 'a\u0000b' }, { issued_s: -1 }, { valid_until_s: 0.5 }])
        await assert.rejects(store.insurance.register(row(7, change), 1_000, 1), { code: 'STORE_REFUSED' })
    })
  })
}
