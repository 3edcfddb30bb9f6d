/** Rows of payments that the chain shows as settled, over both databases: written once, with their answer, and only in the place of weaker ones. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { RestoreRequest } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { closing, EPOCH, NOW_MS, request, settledAt, word } from '../support/store-payments.ts'

const PAID_MS = NOW_MS - 60_000

function restored(change: Partial<RestoreRequest> = {}): RestoreRequest {
  const { balance_minor: _balance, ...claim } = request()
  return {
    ...claim,
    ...settledAt(),
    method: 'self',
    settler: 'restored',
    created_ms: PAID_MS,
    settled_ms: PAID_MS,
    reason: 'restored_by_time',
    replaces: [],
    answer: { sealed: 'restored answer', expires_ms: NOW_MS + 1_000 },
    ...change,
  }
}

for (const start of STORE_DRIVERS) {
  describe(`restored payments: ${start.name}`, () => {
    let driver: StoreDriver
    let stores: readonly [Store, Store]
    before(async () => {
      driver = await start()
      const { target } = await driver.fresh()
      stores = [await openStore(target), await openStore(target)]
    })
    after(async () => {
      await Promise.all(stores.map((store) => store.close()))
      await driver.stop()
    })

    test('the row is settled from the start, at the time of its block, and has its answer', async () => {
      const [{ payments }] = stores
      const asked = restored()
      assert.equal(await payments.restore(asked), true)
      const row = await payments.find(asked)
      assert.deepEqual(
        [row?.state, row?.created_ms, row?.settled_ms, row?.reason, row?.settler, row?.transaction, row?.block_number, row?.final],
        ['settled', PAID_MS, PAID_MS, 'restored_by_time', 'restored', asked.transaction, asked.block_number, false],
      )
      assert.deepEqual(await payments.answer(asked), asked.answer)
      const { balance_minor, ...claim } = { ...asked, balance_minor: 10_000n }
      assert.equal((await payments.claim({ ...claim, balance_minor, token_hash: word() })).kind, 'exists')
    })

    test('of forty at once over two handles one is written', async () => {
      const asked = restored()
      const written = await Promise.all(
        Array.from({ length: 40 }, (_, index) => stores[index % 2 === 0 ? 0 : 1].payments.restore({ ...asked, subject: `tool-${index}` })),
      )
      assert.equal(written.filter(Boolean).length, 1)
    })

    test('a better reason replaces a weaker one with its own request and answer, never the other way', async () => {
      const [{ payments }] = stores
      const first = restored()
      await payments.restore(first)
      const answer = { sealed: 'better answer', expires_ms: NOW_MS + 2_000 }
      const better = { ...first, subject: 'lei-check', answer, reason: 'restored', replaces: ['restored_by_time', 'restored_by_offer'] }
      assert.equal(await payments.restore({ ...better, replaces: [] }), false)
      assert.equal(await payments.restore(better), true)
      assert.equal(await payments.restore(first), false)
      assert.deepEqual([(await payments.find(first))?.subject, await payments.answer(first)], ['lei-check', answer])
    })

    test('a released row of the same request is restored; one that is held, settled or of another request is not', async () => {
      const [{ payments }] = stores
      const claim = request()
      await payments.claim(claim)
      const { balance_minor: _balance, ...same } = claim
      const asked = restored(same)
      assert.equal(await payments.restore(asked), false, 'claimed a moment ago')
      await payments.release(claim, 1, 'abandoned', NOW_MS)
      assert.equal(await payments.restore({ ...asked, subject: 'lei-check' }), false)
      assert.equal(await payments.restore(asked), true)
      assert.equal((await payments.find(claim))?.state, 'settled')
      const paid = request()
      await payments.claim(paid)
      await payments.prepare(paid, 1, { sealed: 'first answer', expires_ms: NOW_MS + 1_000 }, NOW_MS)
      await payments.begin_settling(paid, 1, { method: 'self', settler: 'wallet' }, NOW_MS)
      await payments.apply_transitions([closing(paid, 'settled')], EPOCH, NOW_MS)
      const { balance_minor: __, ...other } = paid
      assert.equal(await payments.restore(restored({ ...other, replaces: ['restored_by_time', 'restored_by_offer'] })), false)
      assert.equal((await payments.answer(paid))?.sealed, 'first answer')
    })

    test('an id that belongs to another payment stays there', async () => {
      const [{ payments }] = stores
      const [first, id] = [restored(), word().slice(2)]
      await payments.claim({ ...request({ payer: first.payer, identifier_hash: id }) })
      assert.equal(await payments.restore({ ...first, identifier_hash: id }), true)
      assert.equal((await payments.find(first))?.identifier_hash, null)
    })
  })
}
