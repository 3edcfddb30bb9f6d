/** What is known of blocks that are final, over both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'

for (const open of STORE_DRIVERS) {
  describe(`closed stretches: ${open.name}`, () => {
    let driver: StoreDriver
    let store: Store

    before(async () => {
      driver = await open()
      store = await openStore((await driver.fresh()).target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('closed stretches are kept once, read from a block on, and forgotten with age', async () => {
      const hash = `0x${'ab'.repeat(32)}`
      const moved = { from: '0xa', to: '0xb', amount_minor: 2n ** 200n, block_number: 10_005n, transaction_hash: hash, log_index: 3 }
      const stretch = { chain_id: 8453, token: '0xt', account: '0xa', from_block: 10_000n, blocks: 10_000, transfers: [moved] }
      const later = { ...stretch, from_block: 20_000n, transfers: [] }
      await store.finalized_ranges.keep_stretches([stretch, later], 1_000)
      await store.finalized_ranges.keep_stretches([{ ...stretch, transfers: [] }], 2_000)
      assert.deepEqual(await store.finalized_ranges.stretches(8453, '0xt', '0xa', 10_000n), [stretch, later])
      assert.deepEqual(await store.finalized_ranges.stretches(8453, '0xt', '0xa', 10_001n), [later])
      for (const [chain_id, token, account] of [
        [84532, '0xt', '0xa'],
        [8453, '0xu', '0xa'],
        [8453, '0xt', '0xb'],
      ] as const) {
        assert.deepEqual(await store.finalized_ranges.stretches(chain_id, token, account, 0n), [])
      }
      assert.equal(await store.finalized_ranges.purge_stretches(1_000), 0)
      assert.equal(await store.finalized_ranges.purge_stretches(1_001), 2)
      assert.deepEqual(await store.finalized_ranges.stretches(8453, '0xt', '0xa', 0n), [])
    })
  })
}
