/** Daily counts of calls and the list of leases, over both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { postgresDriver, sqliteDriver, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const DAY = 20_500

for (const open of [sqliteDriver, postgresDriver]) {
  describe(`call counts: ${open.name}`, () => {
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

    test('counts of many writers add up, in whatever order they come', async () => {
      const one = [
        { day: DAY, tool: 'iban-check', outcome: 'answered', calls: 3 },
        { day: DAY, tool: 'lei-check', outcome: 'paid', calls: 1 },
      ]
      await Promise.all(Array.from({ length: 8 }, (_, writer) => store.call_counts.add(writer % 2 === 0 ? one : one.toReversed())))
      await store.call_counts.add([{ day: DAY + 1, tool: 'iban-check', outcome: 'answered', calls: 5 }])
      await store.call_counts.add([])
      assert.deepEqual(await store.call_counts.since(DAY), [
        { day: DAY, tool: 'iban-check', outcome: 'answered', calls: 24 },
        { day: DAY, tool: 'lei-check', outcome: 'paid', calls: 8 },
        { day: DAY + 1, tool: 'iban-check', outcome: 'answered', calls: 5 },
      ])
      assert.deepEqual(
        (await store.call_counts.since(DAY + 1)).map(({ day }) => day),
        [DAY + 1],
      )
    })

    test('a count that the store refuses leaves none of its group', async () => {
      const group = [
        { day: DAY + 2, tool: 'iban-check', outcome: 'answered', calls: 1 },
        { day: DAY + 2, tool: '', outcome: 'answered', calls: 1 },
      ]
      await assert.rejects(store.call_counts.add(group), { code: 'STORE_REFUSED' })
      assert.deepEqual(await store.call_counts.since(DAY + 2), [])
    })

    test('old days are purged, and an open store keeps them', async () => {
      assert.equal(await store.call_counts.purge(DAY + 1), 2)
      await store.close()
      store = await openStore(fresh.target)
      assert.deepEqual(await store.call_counts.since(0), [{ day: DAY + 1, tool: 'iban-check', outcome: 'answered', calls: 5 }])
    })

    test('leases that have not expired are listed with their holders', async () => {
      await store.lease('reconcile', 'process-a', 1_000, 9_000)
      await store.lease('invoices', 'process-b', 1_000, 5_000)
      assert.deepEqual(await store.leases(4_000), [
        { name: 'invoices', holder: 'process-b', until_ms: 5_000 },
        { name: 'reconcile', holder: 'process-a', until_ms: 9_000 },
      ])
      assert.deepEqual(
        (await store.leases(5_000)).map(({ name }) => name),
        ['reconcile'],
      )
    })
  })
}
