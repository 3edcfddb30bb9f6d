/** What had begun to settle and was given to nobody goes back, on both databases: only so, and only by the claim that began it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { PAYMENT_STATES } from '../../src/pure/payments/states.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { closing, EPOCH, found, move, NOW_MS, paymentIn, word } from '../support/store-payments.ts'

for (const start of STORE_DRIVERS) {
  describe(`payments taken back: ${start.name}`, () => {
    let driver: StoreDriver
    let store: Store

    before(async () => {
      driver = await start()
      store = await openStore((await driver.fresh()).target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    test('from settling under its own number alone, once; then the same request claims it under the next', async () => {
      const asked = await paymentIn(store, 'settling')
      const stood = await found(store, asked)
      for (const fence of [0, 2]) assert.equal(await store.payments.take_back(asked, fence, 'unreached', NOW_MS + 1), false)
      assert.deepEqual(await found(store, asked), stood)
      assert.equal(await store.payments.take_back(asked, 1, 'unreached', NOW_MS + 1), true)
      assert.deepEqual(await found(store, asked), { ...stood, state: 'released', reason: 'unreached', updated_ms: NOW_MS + 1 })
      assert.equal(await store.payments.answer(asked), null, 'what was prepared was never paid for')
      assert.equal(await store.payments.take_back(asked, 1, 'unreached', NOW_MS + 2), false)
      assert.deepEqual(await store.payments.claim({ ...asked, token_hash: word() }), { kind: 'claimed', fence: 2 })
      assert.equal(await store.payments.take_back(asked, 1, 'unreached', NOW_MS + 2), false)
    })

    test('from no other state', async () => {
      for (const state of PAYMENT_STATES.filter((one) => one !== 'settling')) {
        const asked = await paymentIn(store, state)
        const stood = await found(store, asked)
        assert.equal(await store.payments.take_back(asked, 1, 'unreached', NOW_MS + 1), false, state)
        assert.deepEqual(await found(store, asked), stood)
      }
    })

    test('time alone takes nothing back that has begun to settle, nor does the claim by giving up', async () => {
      const asked = await paymentIn(store, 'settling', { claim_until_ms: NOW_MS + 1 })
      const late = { ...asked, now_ms: NOW_MS + 10 ** 6, claim_until_ms: NOW_MS + 10 ** 7, token_hash: word() }
      assert.equal((await store.payments.claim(late)).kind, 'exists')
      await store.payments.release_abandoned(NOW_MS + 10 ** 6)
      assert.equal(await move(store, asked, 1, 'released'), false)
      assert.equal((await found(store, asked)).state, 'settling')
      assert.deepEqual(await store.payments.apply_transitions([closing(asked, 'settled')], EPOCH, NOW_MS), [true])
    })
  })
}
