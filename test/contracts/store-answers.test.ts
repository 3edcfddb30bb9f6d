/** Stored answers, over both databases: bounds of a client network, one row for a token, and what is forgotten. */
// attack: brief answers by the thousand, so that the store fills with their whole texts
// in: money and signatures
// asset: storage
// attacker: client
// defence: bounds of an answer, of a client network and day, and of all; an answer that is stored stays its day, further ones are not
//   stored

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import type { StoredAnswer } from '../../src/ports/stored-answers.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const START_MS = 1_795_262_400_000
const BOUNDS = { client_answers: 3, client_bytes: 100, provider_bytes: 1_000 }

function answer(token_hash: string, change: Partial<StoredAnswer> = {}): StoredAnswer {
  return {
    token_hash,
    client: 'ab'.repeat(16),
    provider: 'cd'.repeat(16),
    paid: false,
    bytes: 10,
    created_ms: START_MS,
    sealed: 'c2VhbGVk',
    ...change,
  }
}

for (const open of STORE_DRIVERS) {
  describe(`stored answers: ${open.name}`, () => {
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

    test('an answer is found by the hash of its token until it is purged, and nothing else finds it', async () => {
      assert.equal(await store.stored_answers.total_bytes(), 0)
      assert.equal(await store.stored_answers.keep(answer('one'), BOUNDS), true)
      assert.equal(await store.stored_answers.keep(answer('two', { created_ms: START_MS + 1, sealed: 'b3RoZXI=' }), BOUNDS), true)
      assert.deepEqual(await store.stored_answers.find('one'), { sealed: 'c2VhbGVk', created_ms: START_MS })
      assert.equal(await store.stored_answers.find('on'), null)
      assert.equal(await store.stored_answers.total_bytes(), 20)
      assert.equal(await store.stored_answers.purge(START_MS), 0)
      assert.equal(await store.stored_answers.purge(START_MS + 1), 1)
      assert.equal(await store.stored_answers.find('one'), null)
      assert.equal(await store.stored_answers.purge(START_MS + 2), 1)
    })

    test('a token has one row: a second answer under it changes nothing', async () => {
      assert.equal(await store.stored_answers.keep(answer('same', { client: '01' }), BOUNDS), true)
      const later = answer('same', { client: '02', created_ms: START_MS + 5, sealed: 'bGF0ZXI=' })
      assert.equal(await store.stored_answers.keep(later, BOUNDS), true)
      assert.deepEqual(await store.stored_answers.find('same'), { sealed: 'c2VhbGVk', created_ms: START_MS })
    })

    test('a client network has a number and a length of answers, of which others lose nothing', async () => {
      const keep = (token_hash: string, client: string, bytes: number) =>
        store.stored_answers.keep(answer(token_hash, { client, bytes }), BOUNDS)
      assert.deepEqual(await Promise.all([keep('a', 'aa', 100), keep('b', 'bb', 101)]), [true, false])
      assert.deepEqual([await keep('c', 'aa', 1), await keep('d', 'bb', 99), await keep('e', 'bb', 1)], [false, true, true])
      assert.deepEqual([await keep('f', 'bb', 1), await store.stored_answers.find('f')], [false, null])
      for (const number of [1, 2, 3, 4]) assert.equal(await keep(`n${number}`, 'cc', 0), number <= 3)
      assert.notEqual(await store.stored_answers.find('d'), null)
    })

    test('a provider has a length of answers; those of paid calls are counted apart and stay when others are trimmed', async () => {
      const { stored_answers } = store
      const bounds = { ...BOUNDS, provider_bytes: 90 }
      const keep = (token_hash: string, client: string, paid = false) =>
        stored_answers.keep(
          answer(token_hash, { client, provider: 'wide', paid, bytes: 40, created_ms: START_MS + token_hash.length }),
          bounds,
        )
      const results = [await keep('w', 'a1'), await keep('ww', 'a2'), await keep('www', 'a3'), await keep('paid', 'a1', true)]
      assert.deepEqual(results, [true, true, false, true])
      assert.deepEqual(
        (await stored_answers.unpaid_bytes(9)).find(({ provider }) => provider === 'wide'),
        { provider: 'wide', bytes: 80 },
      )
      await stored_answers.trim_provider('wide', 79)
      const found = await Promise.all(['w', 'ww', 'paid'].map(async (token) => (await stored_answers.find(token)) !== null))
      assert.deepEqual(found, [false, true, true])
    })

    test('of many that come together, only those within the bounds are stored', async () => {
      const kept = await Promise.all(
        Array.from({ length: 12 }, (_, number) => store.stored_answers.keep(answer(`t${number}`, { client: 'ee', bytes: 40 }), BOUNDS)),
      )
      assert.equal(kept.filter(Boolean).length, 2)
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      for (const change of [{ token_hash: '' }, { client: '' }, { sealed: 'a\u0000b' }, { created_ms: -1 }, { bytes: -1 }])
        await assert.rejects(store.stored_answers.keep(answer('refused', change), BOUNDS), { code: 'STORE_REFUSED' })
    })
  })
}
