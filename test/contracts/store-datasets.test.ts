/** Snapshots of datasets, the active one of each, and the state of feeds, over both databases. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { postgresDriver, sqliteDriver, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const TEXT = JSON.stringify({ rows: ['Zürich', '名前', '\u0000 is allowed in a compressed text'] })
const SHA256 = createHash('sha256').update(TEXT, 'utf8').digest('hex')
const DESCRIBED = { dataset: 'ofac_addresses', published_at: '2026-11-20', rows: 3, added_ms: 1_000 }

for (const open of [sqliteDriver, postgresDriver]) {
  describe(`datasets: ${open.name}`, () => {
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

    test('a snapshot is stored once under its SHA-256 and read back as it was', async () => {
      assert.equal(await store.datasets.text(SHA256), null)
      assert.equal(await store.datasets.add(DESCRIBED, TEXT), SHA256)
      assert.equal(await store.datasets.add({ ...DESCRIBED, added_ms: 2_000 }, TEXT), SHA256)
      assert.equal(await store.datasets.text(SHA256), TEXT)
      assert.deepEqual(await store.datasets.snapshots(10), [{ ...DESCRIBED, sha256: SHA256 }])
    })

    test('a snapshot that was changed in the database is refused', async () => {
      const other = await store.datasets.add({ ...DESCRIBED, added_ms: 3_000 }, `${TEXT} `)
      await fresh.sql(
        `update dataset_snapshot set packed = (select packed from dataset_snapshot where sha256 = '${SHA256}') where sha256 = '${other}'`,
      )
      await assert.rejects(store.datasets.text(other), { code: 'STORE_REFUSED' })
    })

    test('a feed does not replace what a person pinned', async () => {
      const next = await store.datasets.add({ ...DESCRIBED, published_at: '2026-11-21' }, `${TEXT}\n`)
      assert.equal(await store.datasets.activate_unpinned({ dataset: 'ofac_addresses', sha256: SHA256, activated_ms: 1 }), true)
      assert.equal(await store.datasets.activate_unpinned({ dataset: 'ofac_addresses', sha256: next, activated_ms: 2 }), true)
      await store.datasets.activate({ dataset: 'ofac_addresses', sha256: SHA256, pinned: true, activated_ms: 3 })
      assert.equal(await store.datasets.activate_unpinned({ dataset: 'ofac_addresses', sha256: next, activated_ms: 4 }), false)
      assert.deepEqual(await store.datasets.active(), [{ dataset: 'ofac_addresses', sha256: SHA256, pinned: true, activated_ms: 3 }])
      await store.datasets.activate({ dataset: 'ofac_addresses', sha256: next, pinned: false, activated_ms: 5 })
      assert.equal((await store.datasets.active())[0]?.sha256, next)
    })

    test('only a stored snapshot becomes active', async () => {
      const active = { dataset: 'other', sha256: 'a'.repeat(64), pinned: false, activated_ms: 1 }
      await assert.rejects(store.datasets.activate(active), { code: 'STORE_REFUSED' })
      assert.equal((await store.datasets.active()).length, 1)
    })

    test('the state of a feed is replaced', async () => {
      const state = { feed: 'ofac_sdn', etag: null, outcome: 'failed', detail: 'The server answers 503.', read_ms: 1 } as const
      await store.datasets.save_feed(state)
      const later = { ...state, etag: '"a"', outcome: 'updated', detail: 'Updated.', read_ms: 2 } as const
      await store.datasets.save_feed(later)
      assert.deepEqual(await store.datasets.feeds(), [later])
    })
  })
}
