/** Transactions of gas wallets, and writes that only the holder of a lease may make. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { ClaimRequest, PaymentTransition, LeaseGuard, WalletSending, SendingAttempt } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { STORE_DRIVERS } from '../support/store-drivers.ts'
import type { StoreDriver } from '../support/store-drivers.ts'
import { address, closing, EPOCH, found, keyOf, move, NOW_MS, paymentIn, WALLET, word } from '../support/store-payments.ts'

const LEASE = `writer ${WALLET}`
const WEI_MAX = 2n ** 256n - 1n

function sendingOf(account_nonce: number, changes: Partial<WalletSending> = {}): Omit<WalletSending, 'state' | 'attempts'> {
  return { wallet: WALLET, account_nonce, kind: 'batch', to: address(), data: '0x12', gas: 50_000n, created_ms: NOW_MS, ...changes }
}

function attempt(changes: Partial<SendingAttempt> = {}): SendingAttempt {
  return { hash: word(), raw: '0x02', max_fee_wei: 10n ** 19n, priority_fee_wei: 1n, stored_ms: NOW_MS, ...changes }
}

for (const start of STORE_DRIVERS) {
  describe(`sendings: ${start.name}`, () => {
    let driver: StoreDriver
    let store: Store
    let guard: LeaseGuard

    before(async () => {
      driver = await start()
    })
    beforeEach(async () => {
      await store?.close()
      store = await openStore((await driver.fresh()).target)
      const fence = await store.lease(LEASE, 'me', NOW_MS, NOW_MS + 100)
      assert.ok(fence !== null)
      guard = { lease: LEASE, fence }
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    /** Three payments that wait, in the order in which they came to wait. */
    async function line(): Promise<ClaimRequest[]> {
      const waiting = []
      for (const wait_ms of [0, 1, 2]) waiting.push(await paymentIn(store, 'settling', { now_ms: NOW_MS + wait_ms }))
      return waiting
    }

    async function waitingNonces(limit = 10): Promise<string[]> {
      return (await store.payments.waiting(WALLET, limit)).map((payment) => payment.nonce)
    }

    test('payments wait in line for their settler until a transaction carries them', async () => {
      const { payments } = store
      const [first, second, third] = await line()
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      await paymentIn(store, 'prepared')
      assert.deepEqual(await waitingNonces(), [first.nonce, second.nonce, third.nonce])
      assert.deepEqual(await waitingNonces(2), [first.nonce, second.nonce])
      assert.deepEqual(await payments.waiting(address(), 10), [])

      const sending = sendingOf(7, { gas: 2n ** 63n - 1n, data: '0xabcd'.repeat(20_000) })
      const sent = attempt({ max_fee_wei: WEI_MAX, priority_fee_wei: 0n })
      assert.equal(await payments.add_sending(sending, sent, [third, first], guard), true)
      assert.deepEqual(await waitingNonces(), [second.nonce])
      assert.deepEqual(await payments.open_sendings(WALLET), [{ ...sending, state: 'open', attempts: [sent] }])
      assert.deepEqual(await payments.open_sendings(address()), [])
      const carried = await payments.carried_by(WALLET, 7)
      assert.deepEqual(
        carried.map(({ nonce, account_nonce, transaction, state }) => [nonce, account_nonce, transaction, state]),
        [third, first].map(({ nonce }) => [nonce, 7, sent.hash, 'settling']),
      )
      assert.deepEqual(await payments.carried_by(WALLET, 8), [])
      assert.equal(await payments.last_account_nonce(WALLET), 7)
      assert.equal(await payments.last_account_nonce(address()), null)
    })

    test('a sending is stored whole or not at all', async () => {
      const { payments } = store
      const [first, second, third] = await line()
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      assert.equal(await payments.add_sending(sendingOf(1), attempt(), [second], guard), true)
      const settled = await paymentIn(store, 'settled')
      const prepared = await paymentIn(store, 'prepared')
      const elsewhere = await paymentIn(store, 'prepared')
      await payments.begin_settling(elsewhere, 1, { method: 'self', settler: address() }, NOW_MS)
      const nobody = { payer: address(), nonce: word() }
      const before_it = await found(store, first)
      for (const spoiled of [second, settled, prepared, elsewhere, nobody, first]) {
        assert.equal(await payments.add_sending(sendingOf(2), attempt(), [first, spoiled, third], guard), false)
      }
      assert.equal(await payments.add_sending(sendingOf(1), attempt(), [first], guard), false, 'the account nonce is taken')
      assert.equal(await payments.add_sending(sendingOf(2), attempt(), [first], { ...guard, fence: guard.fence + 1 }), false)
      assert.deepEqual(await found(store, first), before_it)
      assert.equal((await payments.open_sendings(WALLET)).length, 1)
      assert.equal(await payments.last_account_nonce(WALLET), 1)
      // Beside neighbours in the same turn, of which one is refused by the store itself.
      const answers = await Promise.allSettled([
        payments.add_sending(sendingOf(2), attempt(), [first, nobody], guard),
        payments.add_sending(sendingOf(3), attempt({ max_fee_wei: WEI_MAX + 1n }), [third], guard),
        payments.add_sending(sendingOf(4), attempt(), [third], guard),
      ])
      assert.deepEqual(
        answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.code)),
        [false, 'STORE_REFUSED', true],
      )
      assert.deepEqual(await waitingNonces(), [first.nonce])
      assert.equal(await payments.add_sending(sendingOf(5, { kind: 'deploy' }), attempt(), [], guard), true)
    })

    test('replacements stand behind the first attempt; a cancel changes what is sent, not what was tied', async () => {
      const { payments } = store
      const [first, second] = await line()
      assert.ok(first !== undefined && second !== undefined)
      const sending = sendingOf(3)
      const [one, two, three] = [attempt(), attempt(), attempt({ stored_ms: NOW_MS - 5 })]
      await payments.add_sending(sending, one, [first, second], guard)
      await payments.apply_transitions([closing(second, 'unknown')], EPOCH, NOW_MS)
      assert.equal(await payments.add_attempt(WALLET, 3, two, null, guard), true)
      assert.equal(await payments.add_attempt(WALLET, 3, two, null, guard), true, 'the same once more')
      assert.deepEqual(
        (await payments.carried_by(WALLET, 3)).map(({ transaction }) => transaction),
        [two.hash, two.hash],
      )
      const cancel = { kind: 'cancel', to: WALLET, data: '0x', gas: 21_000n } as const
      assert.equal(await payments.add_attempt(WALLET, 3, three, cancel, guard), true)
      assert.deepEqual(await payments.open_sendings(WALLET), [{ ...sending, ...cancel, state: 'open', attempts: [one, two, three] }])
      assert.equal((await found(store, first)).transaction, two.hash)
      assert.equal(await payments.add_attempt(WALLET, 4, attempt(), null, guard), false, 'no such sending')
      assert.equal(await payments.finish_sending(WALLET, 3, guard), true)
      assert.equal(await payments.add_attempt(WALLET, 3, attempt(), null, guard), false, 'it is done')
    })

    test('a sending is finished and opened anew, and its payments go back in line', async () => {
      const { payments } = store
      const [first, second, third] = await line()
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      for (const [account_nonce, payment] of [first, second].entries()) {
        await payments.add_sending(sendingOf(account_nonce), attempt(), [payment], guard)
      }
      assert.equal(await payments.finish_sending(WALLET, 0, guard), true)
      assert.deepEqual(
        (await payments.open_sendings(WALLET)).map((sending) => sending.account_nonce),
        [1],
      )
      assert.equal(await payments.reopen_sending(WALLET, 0, guard), true)
      assert.deepEqual(
        (await payments.open_sendings(WALLET)).map((sending) => sending.account_nonce),
        [0, 1],
      )
      assert.equal(await payments.finish_sending(WALLET, 2, guard), false)
      assert.equal(await payments.reopen_sending(WALLET, 2, guard), false)
      await move(store, second, 1, 'settled')
      assert.equal(await payments.requeue([first, second], guard), true)
      assert.deepEqual(await waitingNonces(), [first.nonce, third.nonce], 'where it stood before')
      const { account_nonce, transaction } = await found(store, first)
      assert.deepEqual([account_nonce, transaction], [null, null])
      assert.equal((await found(store, second)).account_nonce, 1, 'settled by then')
    })

    test('nothing is written under a lease that has changed hands', async () => {
      const { payments } = store
      const [first, second, third] = await line()
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      await payments.add_sending(sendingOf(0), attempt(), [first], guard)
      assert.equal(await store.lease(LEASE, 'other', NOW_MS + 100, NOW_MS + 300), guard.fence + 1)
      const before_it = [await found(store, first), await found(store, second), await payments.open_sendings(WALLET)]
      for (const stale of [guard, { lease: 'another', fence: guard.fence + 1 }, { ...guard, fence: guard.fence + 2 }]) {
        assert.equal(await payments.add_sending(sendingOf(1), attempt(), [second], stale), false)
        assert.equal(await payments.add_attempt(WALLET, 0, attempt(), null, stale), false)
        assert.equal(await payments.finish_sending(WALLET, 0, stale), false)
        assert.equal(await payments.reopen_sending(WALLET, 0, stale), false)
        assert.equal(await payments.requeue([first], stale), false)
        const closings: PaymentTransition[] = [closing(first, 'settled'), closing(second, 'refused')]
        assert.deepEqual(await payments.apply_transitions(closings, EPOCH, NOW_MS + 100, stale), [false, false])
      }
      assert.deepEqual([await found(store, first), await found(store, second), await payments.open_sendings(WALLET)], before_it)
      assert.deepEqual(await payments.sales(0), [])
      const held = { ...guard, fence: guard.fence + 1 }
      assert.deepEqual(await payments.apply_transitions([closing(first, 'settled')], EPOCH, NOW_MS + 300, held), [false], 'run out by then')
      assert.deepEqual(await payments.apply_transitions([closing(first, 'settled')], EPOCH, NOW_MS + 299, held), [true])
      assert.equal(await payments.finish_sending(WALLET, 0, held), true)
    })

    test('payments are closed together, each as its own state allows', async () => {
      const { payments } = store
      const [first, second, third] = await line()
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      const released = await paymentIn(store, 'released')
      const closings = [
        closing(third, 'settled'),
        closing(released, 'settled'),
        closing(first, 'unknown'),
        closing(first, 'settled'),
        closing({ payer: address(), nonce: word() }, 'refused'),
        closing(second, 'lost'),
        closing(third, 'settled'),
      ]
      assert.deepEqual(await payments.apply_transitions(closings, EPOCH, NOW_MS), [true, false, true, true, false, false, false])
      const states = await Promise.all([first, second, third, released].map(async (key) => (await found(store, keyOf(key))).state))
      assert.deepEqual(states, ['settled', 'settling', 'settled', 'released'])
      assert.deepEqual(await payments.apply_transitions([], EPOCH, NOW_MS), [])
    })

    test('gas spent adds up by wallet and day, also in many calls at once', async () => {
      const spend = (wallet: string, day: number, wei: bigint): Promise<bigint> => store.payments.spend_gas(wallet, day, wei)
      const sums = await Promise.all(Array.from({ length: 20 }, () => spend(WALLET, 20_000, 10n ** 18n)))
      assert.deepEqual(
        sums.toSorted((one, other) => Number(one - other)),
        Array.from({ length: 20 }, (_, index) => BigInt(index + 1) * 10n ** 18n),
      )
      assert.equal(await spend(WALLET, 20_001, 5n), 5n)
      assert.equal(await spend(address(), 20_000, WEI_MAX), WEI_MAX)
      assert.equal(await spend(WALLET, 20_000, 0n), 20n * 10n ** 18n)
      const spent = [WALLET, address()].map((account) => store.payments.gas_spent(account, 20_000))
      assert.deepEqual(await Promise.all(spent), [20n * 10n ** 18n, 0n])
    })
  })
}
