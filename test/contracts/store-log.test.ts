/** What is kept of the receipts log, over both databases: it grows by whole steps, in one order, and never twice from one size. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { LogGrowth } from '../../src/ports/receipts-log.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const entry = (number: number) => createHash('sha256').update(String(number)).digest('hex')
const list = (count: number, from = 0) => Array.from({ length: count }, (_, at) => entry(from + at))

function growth(from_size: number, entries: string[], root = entry(1_000_000)): LogGrowth {
  const head = { size: from_size + entries.length, root, checkpoint: `log\n${from_size + entries.length}\n`, signed_ms: 5 }
  return { from_size, entries, tiles: [{ level: 0, index: 0, hashes: entries.join('') }], head }
}

for (const open of STORE_DRIVERS) {
  describe(`receipts log: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
    })
    beforeEach(async () => {
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
    })
    after(() => driver.stop())

    test('entries wait in the order in which they came, each once', async () => {
      assert.deepEqual([await store.log.head(), await store.log.waiting_since()], [null, null])
      await store.log.queue([entry(1)], 100)
      await store.log.queue([entry(2)], 200)
      await store.log.queue([entry(1), entry(3)], 300)
      assert.deepEqual(new Set(await store.log.waiting(10)), new Set([entry(1), entry(2), entry(3)]))
      assert.deepEqual(await store.log.waiting(2), [entry(1), entry(2)])
      assert.deepEqual([await store.log.waiting_since(), await store.log.is_waiting(entry(2))], [100, true])
      await store.log.forget([entry(1), entry(2)])
      assert.deepEqual([await store.log.waiting(10), await store.log.is_waiting(entry(2))], [[entry(3)], false])
      await store.close()
    })

    test('appending moves entries from the queue to their positions, tiles and head along with them', async () => {
      const entries = list(150)
      await store.log.queue(entries, 1)
      assert.equal(await store.log.append(growth(0, entries)), true)
      assert.deepEqual([await store.log.waiting(1), (await store.log.head())?.size], [[], 150])
      const found = await store.log.positions([entry(0), entry(149), entry(150), ...list(70, 10)])
      assert.deepEqual([found.get(entry(0)), found.get(entry(149)), found.has(entry(150)), found.size], [0, 149, false, 72])
      assert.deepEqual(await store.log.entries(100, 3), list(3, 100))
      assert.equal(await store.log.tile(0, 0), entries.join(''))
      assert.equal(await store.log.tile(1, 0), null)
      await store.close()
    })

    test('of several processes that append to one size, one succeeds and the others leave nothing behind', async () => {
      const others = await Promise.all([1, 2, 3].map(() => openStore(fresh.target)))
      const attempts = [store, ...others].map((one, at) => one.log.append(growth(0, list(70, at * 1_000), entry(at))))
      const ends = await Promise.all(attempts)
      assert.equal(ends.filter(Boolean).length, 1)
      const winner = ends.indexOf(true)
      assert.deepEqual([(await store.log.head())?.root, await store.log.entries(0, 100)], [entry(winner), list(70, winner * 1_000)])
      assert.equal(await store.log.append(growth(0, list(1, 9_000))), false)
      assert.equal(await store.log.append(growth(70, list(1, 9_000))), true)
      await Promise.all([store, ...others].map((one) => one.close()))
    })

    test('what cannot be appended whole is not appended at all', async () => {
      assert.equal(await store.log.append(growth(0, list(2))), true)
      // The second entry is in the log already: its place is refused by the database, and with it the whole step.
      await assert.rejects(store.log.append(growth(2, [entry(5), entry(1)])))
      assert.deepEqual([(await store.log.head())?.size, await store.log.entries(0, 10)], [2, list(2)])
      await assert.rejects(store.log.append({ ...growth(2, list(1, 7)), from_size: 3 }), { code: 'STORE_REFUSED' })
      await assert.rejects(store.log.queue(['0xab'], 1), { code: 'STORE_REFUSED' })
      await store.close()
    })

    test('lines of witnesses belong to one size and give way to later ones', async () => {
      await store.log.cosign(5, 'one', 'first')
      await store.log.cosign(5, 'two', 'second')
      await store.log.cosign(5, 'one', 'third')
      assert.deepEqual(await store.log.cosignatures(5), ['third', 'second'])
      await store.log.cosign(6, 'one', 'fourth')
      assert.deepEqual([await store.log.cosignatures(5), await store.log.cosignatures(6)], [[], ['fourth']])
      await store.close()
    })

    test('the witnessed head of another log moves from exactly what was seen', async () => {
      const head = (size: number) => ({ origin: 'log.example', size, root: entry(size) })
      assert.equal(await store.log.witnessed('log.example'), null)
      assert.deepEqual(
        await Promise.all([store.log.witness(null, head(3)), store.log.witness(null, head(4))]).then((ends) => ends.filter(Boolean).length),
        1,
      )
      const seen = (await store.log.witnessed('log.example')) ?? assert.fail('nothing was kept')
      assert.equal(await store.log.witness(seen, head(9)), true)
      assert.equal(await store.log.witness(seen, head(10)), false)
      assert.deepEqual(await store.log.witnessed('log.example'), head(9))
      await store.close()
    })
  })
}
