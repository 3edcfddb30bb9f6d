/** The order in which merchants are looked at, and the deletion of invoices that were never paid, over both databases. */
// attack: invoices that random keys sign, by the thousand, from one network or from 400

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { WATCH_MARGIN_S, type InvoicePayment, type MerchantLook, type NewInvoice } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import { request as claimOf } from '../support/store-payments.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = () => `0x${randomBytes(32).toString('hex')}`
const address = () => `0x${randomBytes(20).toString('hex')}`
const NOW_MS = 1_795_262_400_123
const NOW_S = 1_795_262_400
/** A look at the transfers after the watch. */
const READ = { looked_ms: NOW_MS + WATCH_MARGIN_S * 1_000 }
const BOUNDS = { network_unsigned: 1_000, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: 1_000 }

function invoiceOf(change: Partial<NewInvoice>): NewInvoice {
  return {
    invoice_id: `inv_${randomBytes(6).toString('hex')}`,
    merchant: address(),
    amount_minor: 2n ** 60n,
    terms: '{}',
    created_ms: NOW_MS,
    expires_s: NOW_S + 100,
    watch_until_s: NOW_S + 200,
    nonces: [hash()],
    deposit_address: address(),
    content_hash: hash(),
    request_key: null,
    network: null,
    issue_signature: null,
    bank_reference: null,
    ...change,
  }
}

function paymentOf(invoice_id: string): InvoicePayment {
  const seen = { transaction: hash(), log_index: 3, payer: address(), amount_minor: 5n, nonce: null, matched_by: 'deposit' as const }
  return { ...seen, block_number: 7, block_hash: hash(), block_time_s: NOW_S, invoice_id, confirmed: true, final: false }
}

for (const open of STORE_DRIVERS) {
  describe(`watch of invoices: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
    })
    after(() => driver.stop())

    /** Runs with a store of its own, since all merchants of a store share one order. */
    const inFresh = (name: string, run: () => Promise<void>) =>
      void test(name, async () => {
        fresh = await driver.fresh()
        store = await openSealed(fresh.target)
        await run()
        await store.close()
      })

    const kept = async (change: Partial<NewInvoice> = {}) => {
      const invoice = invoiceOf(change)
      assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'created')
      return invoice
    }
    const names = (rows: readonly { merchant: string }[]) => rows.map(({ merchant }) => merchant)
    const due = async (proven: boolean, now_ms: number) => names(await store.invoices.due_merchants(proven, now_ms, 10))
    const look = async (merchant: string, change: Partial<MerchantLook>) => {
      const read = await store.invoices.watch_of(merchant)
      assert.ok(read !== null)
      await store.invoices.record_looks([{ ...read, next_block: 12, was_due_ms: read.due_ms, ...change }])
    }

    inFresh(
      'merchants are due from their first invoice on, in the order of their ranks, until their last invoice is no longer watched',
      async () => {
        const [one, two] = [await kept(), await kept({ created_ms: NOW_MS + 50 })]
        assert.deepEqual(await due(false, NOW_MS), [one.merchant])
        assert.deepEqual(await due(false, NOW_MS + 50), [one.merchant, two.merchant])
        assert.equal((await store.invoices.watch_of(one.merchant))?.next_block, null)
        await look(one.merchant, { looked_ms: NOW_MS, due_ms: NOW_MS + 60, wait_ms: 1_000, rank_ms: NOW_MS + 1_060 })
        await look(two.merchant, { looked_ms: NOW_MS, due_ms: NOW_MS + 70, wait_ms: 10, rank_ms: NOW_MS + 80 })
        assert.deepEqual(await due(false, NOW_MS + 60), [one.merchant])
        // One that has waited shorter comes first.
        assert.deepEqual(await due(false, NOW_MS + 70), [two.merchant, one.merchant])
        assert.deepEqual(names(await store.invoices.next_merchants(NOW_MS + 60, 10)), [two.merchant])
        assert.equal((await store.invoices.watch_of(one.merchant))?.next_block, 12)
        // Due until its transfers were read after the watch of its last invoice, however late that is.
        assert.deepEqual(await due(false, 9_000_000_000_000), [two.merchant, one.merchant])
        await look(one.merchant, { looked_ms: (NOW_S + 200 + WATCH_MARGIN_S) * 1_000 + 1 })
        assert.deepEqual(await due(false, 9_000_000_000_000), [two.merchant])
        assert.equal(await store.invoices.watch_of(address()), null)
      },
    )

    inFresh('a merchant that was paid is in an order of its own', async () => {
      const [one, two] = [await kept(), await kept()]
      await look(one.merchant, { proven: true })
      assert.deepEqual([await due(true, NOW_MS), await due(false, NOW_MS)], [[one.merchant], [two.merchant]])
    })

    inFresh('what becomes due during a look stays due: a new invoice, and one that is read', async () => {
      const one = await kept()
      const read = await store.invoices.watch_of(one.merchant)
      await kept({ merchant: one.merchant, created_ms: NOW_MS + 5, watch_until_s: NOW_S + 900 })
      const late = { due_ms: NOW_MS + 9_000, wait_ms: 9_000, rank_ms: NOW_MS + 18_000 }
      await look(one.merchant, { ...late, was_due_ms: read?.due_ms ?? 0, looked_ms: NOW_MS + 7 })
      const read_again = await store.invoices.watch_of(one.merchant)
      assert.deepEqual(
        [read_again?.due_ms, read_again?.wait_ms, read_again?.looked_ms, read_again?.until_s],
        [NOW_MS + 5, 0, NOW_MS + 7, NOW_S + 900],
      )
      await look(one.merchant, late)
      assert.deepEqual(await due(false, NOW_MS + 100), [])
      await store.invoices.wake(one.merchant, NOW_MS + 100)
      assert.deepEqual(await due(false, NOW_MS + 100), [one.merchant])
      // One that is due already is not put back.
      await store.invoices.wake(one.merchant, NOW_MS + 200)
      assert.equal((await store.invoices.watch_of(one.merchant))?.due_ms, NOW_MS + 100)
    })

    inFresh('a merchant whose last invoice is evicted is no longer watched, and one with another invoice is', async () => {
      const network = hash()
      const [first, both] = [await kept({ network }), await kept({ network })]
      const stays = await kept({ merchant: both.merchant, issue_signature: '0x01' })
      await store.invoices.keep(invoiceOf({ network }), { ...BOUNDS, network_unsigned: 1 })
      assert.deepEqual([await store.invoices.find(first.invoice_id), await store.invoices.find(both.invoice_id)], [null, null])
      assert.equal(await store.invoices.watch_of(first.merchant), null)
      assert.notEqual(await store.invoices.watch_of(stays.merchant), null)
    })

    inFresh('creations that evict each other’s invoices leave every merchant with an invoice watched', async () => {
      const other = await openSealed(fresh.target)
      const merchants = Array.from({ length: 3 }, address)
      for (let round = 0; round < 20; round++) {
        const pairs = [store, other].flatMap((one) => merchants.map((merchant) => ({ one, merchant, network: hash() })))
        await Promise.all(
          pairs.map(({ one, merchant, network }) => one.invoices.keep(invoiceOf({ merchant, network }), { ...BOUNDS, all_unsigned: 1 })),
        )
        const rows = await fresh.sql('select distinct merchant from invoice where merchant not in (select merchant from merchant_watch)')
        assert.deepEqual(rows, [])
      }
      await other.close()
    })

    inFresh('merchants with payments in blocks that are not final, and the number of invoices that were paid', async () => {
      const [one, two] = [await kept(), await kept()]
      const more = await kept({ merchant: one.merchant })
      for (const { invoice_id } of [one, one, more]) await store.invoices.attribute(paymentOf(invoice_id), NOW_MS)
      assert.deepEqual(names(await store.invoices.unsettled_merchants(10)), [one.merchant])
      const counts = [await store.invoices.paid_invoices(one.merchant, 10), await store.invoices.paid_invoices(one.merchant, 1)]
      assert.deepEqual([...counts, await store.invoices.paid_invoices(two.merchant, 10)], [2, 1, 0])
      assert.equal(await store.invoices.watched_since(one.merchant, NOW_S), NOW_MS)
      assert.equal(await store.invoices.watched_since(address(), NOW_S), null)
    })

    inFresh('deposit addresses of many merchants come together', async () => {
      const made = await Promise.all(Array.from({ length: 130 }, () => kept()))
      const late = await kept({ merchant: made[0]?.merchant ?? '', expires_s: NOW_S - 1 })
      const merchants = names(made)
      const found = async (which: 'open' | 'late') =>
        (await store.invoices.deposits_among(merchants, which, NOW_S, 1_000)).map(({ deposit_address }) => deposit_address ?? '').toSorted()
      assert.deepEqual(await found('open'), made.map(({ deposit_address }) => deposit_address).toSorted())
      assert.deepEqual(await found('late'), [late.deposit_address])
    })

    inFresh(
      'unpaid invoices are deleted when their watch is over, with what names them; their merchant and expiry stay readable for a time',
      async () => {
        const over = { expires_s: NOW_S - 60, watch_until_s: NOW_S - 1 }
        const [bare, signed, voided] = [
          await kept(over),
          await kept({ ...over, issue_signature: '0x01' }),
          await kept({ ...over, issue_signature: '0x01' }),
        ]
        assert.equal(await store.invoices.void(voided.invoice_id, '0x02', NOW_MS), true)
        const watched = await kept({ expires_s: NOW_S - 60, watch_until_s: NOW_S })
        // Transfers that came while they were watched may not be read yet, as after an outage.
        assert.equal(await store.invoices.purge_unpaid(NOW_MS, 0, 10), 0)
        for (const { merchant } of [bare, signed, voided, watched]) await look(merchant, READ)
        assert.equal(await store.invoices.purge_unpaid(NOW_MS, 0, 2), 2)
        assert.equal(await store.invoices.purge_unpaid(NOW_MS, 0, 10), 1)
        for (const { invoice_id, merchant, expires_s, nonces, deposit_address } of [bare, signed, voided]) {
          assert.equal(await store.invoices.find(invoice_id), null)
          assert.equal(await store.invoices.find_by_nonce(nonces[0] ?? ''), null)
          assert.equal(await store.invoices.find_by_deposit(deposit_address), null)
          assert.deepEqual(await store.invoices.purged(invoice_id), { invoice_id, merchant, expires_s })
          assert.equal(await store.invoices.watch_of(merchant), null)
        }
        assert.notEqual(await store.invoices.find(watched.invoice_id), null)
        assert.equal(await store.invoices.purged(watched.invoice_id), null)
        assert.equal(await store.invoices.purge_unpaid(NOW_MS, NOW_MS + 1, 10), 0)
        assert.equal(await store.invoices.purged(bare.invoice_id), null)
      },
    )

    inFresh('an invoice with a payment, a claim, a bank transfer, a report, another asset or a mark is never deleted', async () => {
      const over = { expires_s: NOW_S - 60, watch_until_s: NOW_S - 1, issue_signature: '0x01' }
      const made = await Promise.all(Array.from({ length: 7 }, () => kept(over)))
      const [paid = '', claimed = '', banked = '', reported = '', noted = '', marked = '', settled = ''] = made.map(
        ({ invoice_id }) => invoice_id,
      )
      await store.invoices.attribute(paymentOf(paid), NOW_MS)
      assert.equal((await store.payments.claim(claimOf({ purpose: 'invoice', subject: claimed }))).kind, 'claimed')
      const closing = { invoice_id: banked, merchant: made[2]?.merchant ?? '', bank_entry: hash(), bank_payment: '{}' }
      assert.equal(await store.invoices.close_by_bank(closing, NOW_MS), 'closed')
      const entry = {
        statement_id: hash(),
        entry_reference: '1',
        booked_on: null,
        direction: 'CRDT' as const,
        returned: false,
        currency: 'USD',
      }
      const amounts = { amount_minor: 5n, charges_minor: 0n, instructed_minor: null, verdict: 'UNCLEAR' as const, reported_ms: NOW_MS }
      await store.invoices.report_bank([{ ...entry, ...amounts, invoice_id: reported }], NOW_MS)
      const other = { transaction: hash(), log_index: 1, asset: 'eip155:8453/slip44:60', payer: address(), amount: 5n, block_number: 7 }
      await store.invoices.note_other_asset({ ...other, block_time_s: NOW_S, named_by: 'submitted', invoice_id: noted }, NOW_MS)
      await store.invoices.add_mark(marked, 'ambiguous', NOW_MS)
      await store.invoices.set_closed(settled, true)
      for (const { merchant } of made) await look(merchant, READ)
      assert.equal(await store.invoices.purge_unpaid(NOW_MS, 0, 100), 0)
      for (const { invoice_id } of made) assert.notEqual(await store.invoices.find(invoice_id), null)
    })
  })
}
