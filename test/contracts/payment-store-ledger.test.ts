/** What is read of payments together: lists, sums, sales, prices; and what is forgotten. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { ClaimRequest, LedgerQuery, LedgerSum, Payment } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import type { PaymentState } from '../../src/pure/payments/states.ts'
import { STORE_DRIVERS } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'
import { address, closing, EPOCH, found, keyOf, NOW_MS, paymentIn, request } from '../support/store-payments.ts'

const DAY_MS = 86_400_000
/** 2025-10-09T00:00:00Z by the calendar: 20,370 days after 1970. */
const MIDNIGHT_MS = 20_370 * DAY_MS
const HUGE = 2n ** 62n

function nonces(payments: readonly { nonce: string }[]): string[] {
  return payments.map((payment) => payment.nonce)
}

for (const start of STORE_DRIVERS) {
  describe(`ledger: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await start()
    })
    beforeEach(async () => {
      await store?.close()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    /** Payments around a midnight, several in the same millisecond. */
    async function books(): Promise<Payment[]> {
      const states: PaymentState[] = ['settled', 'released', 'settled', 'unknown', 'refused']
      const made: ClaimRequest[] = []
      for (let call = 0; call < 30; call += 1) {
        const invoice = call % 7 === 0
        // A payment of an invoice that is not kept is refused.
        if (invoice)
          await fresh.sql(
            `insert into invoice (invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, updated_ms)
               values ('inv-${call}', '${address()}', ${2n * HUGE - 1n}, '{}', 0, 0, 0, 'hash-${call}', 0)`,
          )
        made.push(
          await paymentIn(store, states[call % 5] ?? 'claimed', {
            now_ms: MIDNIGHT_MS - 5 + Math.floor(call / 3),
            purpose: invoice ? 'invoice' : 'call',
            subject: invoice ? `inv-${call}` : (['iban-check', 'lei-check'][call % 2] ?? ''),
            value_minor: HUGE + BigInt(call),
            balance_minor: HUGE * 2n,
          }),
        )
      }
      return Promise.all(made.map((asked) => found(store, asked)))
    }

    function inOrder(payments: readonly Payment[]): Payment[] {
      const name = ({ payer, nonce }: Payment): string => payer + nonce
      return payments.toSorted((one, other) => one.created_ms - other.created_ms || (name(one) < name(other) ? -1 : 1))
    }

    function toolOf(payment: Payment): string {
      return payment.purpose === 'call' ? payment.subject : 'invoice'
    }

    test('pages follow each other without a gap, in the order of creation', async () => {
      const all = inOrder(await books())
      const pages: Payment[] = []
      let after_it: LedgerQuery['after']
      for (;;) {
        const page = await store.payments.ledger({ limit: 4, ...(after_it === undefined ? {} : { after: after_it }) })
        pages.push(...page)
        const last = page.at(-1)
        if (last === undefined) break
        after_it = { created_ms: last.created_ms, payer: last.payer, nonce: last.nonce }
      }
      assert.deepEqual(pages, all)
      assert.deepEqual(await store.payments.ledger({ limit: 0 }), [])
    })

    test('each filter keeps what it names: from is included, to is not', async () => {
      const all = inOrder(await books())
      const filters: [Omit<LedgerQuery, 'limit'>, (payment: Payment) => boolean][] = [
        [{ from_ms: MIDNIGHT_MS }, ({ created_ms }) => created_ms >= MIDNIGHT_MS],
        [{ to_ms: MIDNIGHT_MS }, ({ created_ms }) => created_ms < MIDNIGHT_MS],
        [{ tool: 'lei-check' }, (payment) => toolOf(payment) === 'lei-check'],
        [{ tool: 'invoice' }, ({ purpose }) => purpose === 'invoice'],
        [{ state: 'settled' }, ({ state }) => state === 'settled'],
        [
          { from_ms: MIDNIGHT_MS - 2, to_ms: MIDNIGHT_MS + 2, tool: 'iban-check', state: 'unknown' },
          (payment) =>
            payment.created_ms >= MIDNIGHT_MS - 2 &&
            payment.created_ms < MIDNIGHT_MS + 2 &&
            toolOf(payment) === 'iban-check' &&
            payment.state === 'unknown',
        ],
        [{ tool: `' or 1 = 1 --` }, () => false],
      ]
      for (const [filter, keeps] of filters) {
        assert.deepEqual(nonces(await store.payments.ledger({ ...filter, limit: 100 })), nonces(all.filter(keeps)), JSON.stringify(filter))
        assert.deepEqual(await store.payments.ledger_sums(filter), sumsOf(all.filter(keeps)), JSON.stringify(filter))
      }
    })

    /** Summed here one by one, in any size. */
    function sumsOf(payments: readonly Payment[]): LedgerSum[] {
      const sums = new Map<string, LedgerSum>()
      for (const payment of payments) {
        const day = payment.created_ms < MIDNIGHT_MS ? '2025-10-08' : '2025-10-09'
        const key = `${day} ${toolOf(payment)} ${payment.state}`
        const sum = sums.get(key) ?? { day, tool: toolOf(payment), state: payment.state, asset: null, count: 0, value_minor: 0n }
        sums.set(key, { ...sum, count: sum.count + 1, value_minor: sum.value_minor + payment.value_minor })
      }
      return [...sums.keys()].toSorted().flatMap((key) => sums.get(key) ?? [])
    }

    test('payments are listed by state, oldest update first, final or not', async () => {
      const { payments } = store
      const made: ClaimRequest[] = []
      const states: PaymentState[] = ['settled', 'unknown', 'settled', 'settling', 'unknown']
      for (const [index, state] of states.entries()) made.push(await paymentIn(store, state, { now_ms: NOW_MS + index }))
      const [first] = made
      assert.ok(first !== undefined)
      const listed = async (
        asked: PaymentState[],
        final: boolean | null,
        updated_before_ms = NOW_MS + 100,
        limit = 10,
      ): Promise<number[]> => {
        const rows = await payments.in_states(asked, { final, updated_before_ms, limit })
        return nonces(rows).map((nonce) => nonces(made).indexOf(nonce))
      }
      assert.deepEqual(await listed(['unknown', 'settling', 'unknown'], null), [1, 3, 4])
      assert.deepEqual(await listed(['settled'], false), [0, 2])
      assert.deepEqual(await listed(['settled', 'unknown'], false, NOW_MS + 4), [0, 1, 2])
      assert.deepEqual(await listed(['settled', 'unknown'], false, NOW_MS + 4, 2), [0, 1])
      await payments.finalize([first], NOW_MS + 50)
      assert.deepEqual(await listed(['settled'], false), [2])
      assert.deepEqual(await listed(['settled'], true), [0])
      assert.deepEqual(await listed(['settled'], null), [2, 0])
      assert.deepEqual(await listed([], null), [])
    })

    test('refusals that the payer brought about are counted by payer, from a moment on', async () => {
      const payer = address()
      const refuse = async (wait_ms: number, changes: Partial<ClaimRequest> = {}) => {
        const asked = await paymentIn(store, 'settling', { payer, now_ms: NOW_MS + wait_ms, ...changes })
        const refusal = { ...keyOf(asked), to: 'refused' as const, reason: 'authorization_cancelled', transaction: null }
        assert.deepEqual(await store.payments.apply_transitions([refusal], EPOCH, NOW_MS + wait_ms), [true])
      }
      for (const wait_ms of [0, 10, 20]) await refuse(wait_ms)
      await refuse(10, { payer: address() })
      await paymentIn(store, 'released', { payer })
      const counts = [0, NOW_MS, NOW_MS + 10, NOW_MS + 11, NOW_MS + 21].map((since_ms) => store.payments.refused_since(payer, since_ms))
      assert.deepEqual(await Promise.all(counts), [3, 3, 2, 1, 0])
      assert.equal(await store.payments.refused_since(address(), 0), 0)
    })

    test('a sale is counted once a payer, class and epoch, and only for what settled', async () => {
      const { payments } = store
      const payer = address()
      const settle = async (epoch: number, changes: Partial<ClaimRequest>): Promise<void> => {
        const asked = await paymentIn(store, 'settling', changes)
        await payments.apply_transitions([closing(asked, 'settled')], epoch, NOW_MS)
      }
      await settle(EPOCH, { payer })
      await settle(EPOCH, { payer })
      await settle(EPOCH, {})
      await settle(EPOCH, { payer, price_class: 'risk' })
      await settle(EPOCH + 1, { payer })
      for (const to of ['refused', 'unknown'] as const) {
        await payments.apply_transitions([closing(await paymentIn(store, 'settling'), to)], EPOCH, NOW_MS)
      }
      const later = { price_class: 'check', epoch: EPOCH + 1, payers: 1 }
      const sales = [{ price_class: 'check', epoch: EPOCH, payers: 2 }, { price_class: 'risk', epoch: EPOCH, payers: 1 }, later]
      assert.deepEqual(await payments.sales(EPOCH), sales)
      assert.deepEqual(await payments.sales(EPOCH + 1), [later])
    })

    test('the newest mark at or before an epoch holds, and the first writer of a mark wins', async () => {
      const { payments } = store
      const mark = (price_class: string, epoch: number, amount_minor: bigint) => ({ price_class, epoch, amount_minor })
      await payments.mark_prices([mark('risk', 5, 1n), mark('check', 10, 2n ** 63n - 1n), mark('check', 7, 3n)])
      await payments.mark_prices([mark('check', 7, 99n), mark('check', 12, 4n)])
      assert.deepEqual(await payments.price_marks(4), [])
      assert.deepEqual(await payments.price_marks(9), [mark('check', 7, 3n), mark('risk', 5, 1n)])
      assert.deepEqual(await payments.price_marks(11), [mark('check', 10, 2n ** 63n - 1n), mark('risk', 5, 1n)])
      // Two instances write the same marks in different orders.
      const other = await openStore(fresh.target)
      const both = ['a', 'b', 'c', 'd'].map((name) => mark(name, 20, 1n))
      await Promise.all(
        Array.from({ length: 10 }, (_, turn) =>
          (turn % 2 === 0 ? store : other).payments.mark_prices(turn % 2 === 0 ? both : both.toReversed()),
        ),
      )
      await other.close()
      assert.equal((await payments.price_marks(20)).length, 6)
      await assert.rejects(payments.mark_prices([mark('x', 1, 2n ** 63n)]), { code: 'STORE_REFUSED' })
      assert.equal(await payments.purge_payments(0, 11), 1, 'what holds at epoch 11 stays')
      assert.deepEqual(
        (await payments.price_marks(11)).map(({ epoch }) => epoch),
        [10, 5],
      )
      assert.deepEqual(await payments.price_marks(9), [mark('risk', 5, 1n)])
    })

    test('a purge forgets answers and sales past their time, never a binding, never what may still be paid', async () => {
      const { payments } = store
      // An answer expires a day after it was made.
      const old = await paymentIn(store, 'settled')
      const fresher = await paymentIn(store, 'settled', { now_ms: NOW_MS + 1 })
      const flying = await Promise.all((['prepared', 'settling', 'unknown'] as const).map((state) => paymentIn(store, state)))
      const released = await paymentIn(store, 'released')
      const bindings = await fresh.sql('select payer, nonce, purpose, subject, input_hash from payment order by number')
      assert.equal(await payments.purge_payments(NOW_MS + DAY_MS - 1, EPOCH), 0)
      assert.equal(await payments.purge_payments(NOW_MS + DAY_MS, EPOCH), 1)
      assert.equal(await payments.answer(old), null)
      assert.notEqual(await payments.answer(fresher), null)
      assert.equal(await payments.purge_payments(NOW_MS + 10 * DAY_MS, EPOCH + 1), 3, 'an answer and two sales')
      for (const asked of flying) assert.notEqual(await payments.answer(asked), null)
      assert.deepEqual(await fresh.sql('select payer, nonce, purpose, subject, input_hash from payment order by number'), bindings)
      assert.equal((await payments.claim({ ...old, now_ms: NOW_MS + 10 * DAY_MS, token_hash: request().token_hash })).kind, 'exists')
      assert.equal((await found(store, released)).state, 'released')
    })
  })
}
