/** What bounds a claim beside its key: what the payer holds, and what an invoice still takes. On both databases. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import type { Store } from '../../src/ports/store.ts'
import { openSealed, STORE_DRIVERS, postgresDriver } from '../support/store-drivers.ts'
import type { FreshStore, StoreDriver } from '../support/store-drivers.ts'
import { address, closing, EPOCH, keptInvoice, keyOf, NOW_MS, paymentIn, request, word } from '../support/store-payments.ts'
import { until } from '../support/until.ts'

for (const start of STORE_DRIVERS) {
  describe(`bounds of claims: ${start.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store
    let other: Store

    before(async () => {
      driver = await start()
      fresh = await driver.fresh()
      store = await openSealed(fresh.target)
      other = await openSealed(fresh.target)
    })
    after(async () => {
      await store.close()
      await other.close()
      await driver.stop()
    })

    const invoiceOf = (amount_minor: bigint) => keptInvoice(store, amount_minor)
    const paying = (subject: string, value_minor: bigint) => ({ purpose: 'invoice' as const, subject, value_minor })

    test('of a payer’s payments in flight those that have left its balance do not count', async () => {
      const payer = address()
      const one = await paymentIn(store, 'settling', { payer })
      const two = await paymentIn(store, 'unknown', { payer })
      assert.deepEqual(new Set(await store.payments.nonces_in_flight(payer, null, 9)), new Set([one.nonce, two.nonce]))
      assert.equal((await store.payments.nonces_in_flight(payer, null, 1)).length, 1)
      const more = request({ payer, balance_minor: 10_000n })
      assert.equal((await store.payments.claim(more)).kind, 'over_reserved')
      assert.equal((await store.payments.claim({ ...more, spent: [word()] })).kind, 'over_reserved')
      assert.equal((await store.payments.claim({ ...more, balance_minor: 9_999n, spent: [one.nonce] })).kind, 'over_reserved')
      assert.equal((await store.payments.claim({ ...more, spent: [one.nonce, word()] })).kind, 'claimed')
      const settled = await paymentIn(store, 'settled', { payer: address() })
      assert.deepEqual(await store.payments.nonces_in_flight(settled.payer, null, 9), [])
    })

    test('payments in another token or on another network neither use a balance nor stand in the way of a query', async () => {
      const payer = address()
      const asset = `eip155:137/erc20:${address()}`
      const home = await paymentIn(store, 'unknown', { payer, balance_minor: 5_000n })
      const there = await paymentIn(store, 'unknown', { payer, asset, balance_minor: 5_000n })
      assert.equal((await store.payments.find(there))?.asset, asset)
      assert.equal((await store.payments.claim(request({ payer, asset, balance_minor: 9_999n }))).kind, 'over_reserved')
      assert.equal((await store.payments.claim(request({ payer, asset: `${asset}0`, balance_minor: 5_000n }))).kind, 'claimed')
      assert.deepEqual(await store.payments.nonces_in_flight(payer, null, 9), [home.nonce])
      assert.deepEqual(await store.payments.nonces_in_flight(payer, asset, 9), [there.nonce])
      const options = { final: null, updated_before_ms: NOW_MS + 1_000, limit: 1_000 }
      const nonces = async (of?: string | null) => {
        const rows = await store.payments.in_states(['unknown'], of === undefined ? options : { ...options, asset: of })
        return rows.filter((row) => row.payer === payer).map(({ nonce }) => nonce)
      }
      assert.deepEqual([await nonces(asset), await nonces(null)], [[there.nonce], [home.nonce]])
      assert.deepEqual((await nonces()).toSorted(), [home.nonce, there.nonce].toSorted())
      const listed = await store.payments.ledger({ asset, limit: 10 })
      assert.deepEqual(
        listed.map(({ nonce }) => nonce),
        [there.nonce],
      )
      assert.deepEqual(
        (await store.payments.ledger_sums({ asset })).map(({ state, count, value_minor }) => [state, count, value_minor]),
        [['unknown', 1, 5_000n]],
      )
      // The same nonce for another network is another payment: it finds the row, and never takes it over.
      const again = await store.payments.claim(request({ ...keyOf(home), asset, balance_minor: 20_000n }))
      assert.deepEqual([again.kind, again.kind === 'exists' && again.payment.asset], ['exists', null])
    })

    test('payments of an invoice never exceed it, however many come at once', async () => {
      const subject = await invoiceOf(12_000n)
      const claims = Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? store : other).payments.claim(request(paying(subject, 5_000n))))
      const kinds = (await Promise.all(claims)).map(({ kind }) => kind)
      assert.deepEqual([kinds.filter((kind) => kind === 'claimed').length, kinds.filter((kind) => kind === 'over_due').length], [2, 28])
      assert.equal(await store.payments.under_way(subject), 10_000n)
      assert.equal((await store.payments.claim(request(paying(subject, 2_001n)))).kind, 'over_due')
      assert.equal((await store.payments.claim(request(paying(subject, 2_000n)))).kind, 'claimed')
      assert.equal(await store.payments.under_way(await invoiceOf(1n)), 0n)
    })

    test('what was released makes room; what was settled takes room until it is attributed, and then once', async () => {
      const subject = await invoiceOf(10_000n)
      const first = await paymentIn(store, 'claimed', paying(subject, 10_000n))
      assert.equal((await store.payments.claim(request(paying(subject, 1n)))).kind, 'over_due')
      assert.equal((await store.payments.claim({ ...first, token_hash: word() })).kind, 'exists')
      assert.deepEqual([await store.payments.under_way(subject), await store.payments.under_way(subject, first)], [10_000n, 0n])
      assert.equal(await store.payments.release(keyOf(first), 1, 'tool_failed', NOW_MS), true)
      assert.equal(await store.payments.under_way(subject), 0n)

      const second = await paymentIn(store, 'settling', paying(subject, 6_000n))
      await store.payments.apply_transitions([closing(second, 'settled')], EPOCH, NOW_MS)
      assert.equal(await store.payments.under_way(subject), 6_000n)
      const seen = { transaction: word(), log_index: 1, payer: second.payer, nonce: second.nonce, amount_minor: 6_000n }
      const block = { block_number: 1, block_hash: word(), block_time_s: 1, confirmed: false, final: false }
      assert.equal(await store.invoices.attribute({ ...seen, ...block, invoice_id: subject, matched_by: 'x402' }, NOW_MS), true)
      assert.equal(await store.payments.under_way(subject), 0n)
      assert.equal((await store.payments.claim(request(paying(subject, 4_001n)))).kind, 'over_due')
      // The one that was released may come again, though not for more than is left.
      assert.equal((await store.payments.claim({ ...first, token_hash: word() })).kind, 'over_due')
      assert.equal((await store.payments.claim(request(paying(subject, 4_000n)))).kind, 'claimed')
    })

    test('only what the payer did is held against the payer: no delay, outage, paused token or word of a facilitator', async () => {
      const payer = address()
      const refuse = async (reason: string) => {
        const asked = await paymentIn(store, 'prepared', { payer })
        await store.payments.begin_settling(asked, 1, { method: 'facilitator', settler: 'https://facilitator.example' }, NOW_MS)
        await store.payments.apply_transitions([{ ...keyOf(asked), to: 'refused', reason, transaction: null }], EPOCH, NOW_MS)
        return store.payments.refused_since(payer, 0)
      }
      const counted: [string, number][] = [
        ['insufficient_gas', 0],
        ['no_reason_given', 0],
        ['facilitator_unreachable', 0],
        ['authorization_expired', 0],
        ['out_of_time', 0],
        ['expired_unused', 0],
        ['token_paused', 0],
        ['payer_blocked', 0],
        ['transfer_refused', 0],
        ['authorization_used_before', 0],
        ['payment_expired', 0],
        ['invalid_exact_evm_transaction_failed', 0],
        ['invalid_exact_evm_transaction_simulation_failed', 0],
        ['invalid_exact_evm_insufficient_balance', 1],
        ['authorization_cancelled', 2],
        ['insufficient_balance', 3],
        ['signature_withdrawn', 4],
      ]
      for (const [reason, count] of counted) assert.equal(await refuse(reason), count, reason)
    })

    test('a void invoice takes nothing, and one that is being paid is not voided', async () => {
      const [open, paid] = [await invoiceOf(10_000n), await invoiceOf(10_000n)]
      await paymentIn(store, 'claimed', paying(paid, 1_000n))
      assert.deepEqual([await store.invoices.void(open, '0x', NOW_MS), await store.invoices.void(paid, '0x', NOW_MS)], [true, false])
      assert.equal((await store.payments.claim(request(paying(open, 1n)))).kind, 'over_due')
    })

    // SQLite lets in one writer at a time, so that nobody waits there.
    if (start === postgresDriver) {
      test('a void that waited for a claim sees it', async () => {
        const subject = await invoiceOf(10_000n)
        const paid = await paymentIn(store, 'claimed', paying(subject, 1_000n))
        await store.payments.release(keyOf(paid), 1, 'tool_failed', NOW_MS)
        const claimer = new pg.Client(fresh.target)
        await claimer.connect()
        try {
          await claimer.query('begin')
          await claimer.query('select 1 from invoice where invoice_id = $1 for update', [subject])
          const voided = store.invoices.void(subject, '0x', NOW_MS)
          const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
          await until('the void to wait', async () => ((await claimer.query(waiting)).rowCount ?? 0) > 0)
          await claimer.query(`update payment set state = 'claimed' where payer = $1 and nonce = $2`, [paid.payer, paid.nonce])
          await claimer.query('commit')
          assert.equal(await voided, false)
        } finally {
          await claimer.end()
        }
      })
    }
  })
}
