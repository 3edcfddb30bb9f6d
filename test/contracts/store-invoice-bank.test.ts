/** Bank transfers that close invoices, and what else meets them, over both databases. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { InvoicePayment, NewInvoice } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import { request as claimOf } from '../support/store-payments.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = () => `0x${randomBytes(32).toString('hex')}`
const address = () => `0x${randomBytes(20).toString('hex')}`
const NOW_MS = 1_795_262_400_123
const NOW_S = 1_795_262_400
const MOST_SIGNED = 9
const BOUNDS = { network_unsigned: 9, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: MOST_SIGNED }

function invoiceOf(change: Partial<NewInvoice> = {}): NewInvoice {
  const plain = { invoice_id: `inv_${randomBytes(6).toString('hex')}`, merchant: address(), amount_minor: 5_000n, terms: '{}' }
  const times = { created_ms: NOW_MS, expires_s: NOW_S + 100, watch_until_s: NOW_S + 200 }
  const origin = { content_hash: hash(), request_key: null, network: null, issue_signature: '0x01', bank_reference: null }
  return { ...plain, ...times, ...origin, nonces: [hash()], deposit_address: address(), ...change }
}

function paymentOf(invoice_id: string, change: Partial<InvoicePayment> = {}): InvoicePayment {
  const block = { block_number: 7, block_hash: hash(), block_time_s: NOW_S, confirmed: true, final: false }
  const seen = { transaction: hash(), log_index: 3, payer: address(), amount_minor: 5_000n, nonce: hash(), matched_by: 'eip3009' as const }
  return { ...seen, ...block, invoice_id, ...change }
}

const closing = (invoice: Pick<NewInvoice, 'invoice_id' | 'merchant'>, bank_entry = hash()) => {
  const { invoice_id, merchant } = invoice
  return { invoice_id, merchant, bank_entry, bank_payment: '{"amount":"45.00"}' }
}

for (const open of STORE_DRIVERS) {
  describe(`bank transfers of invoices: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openSealed(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    const kept = async (change: Partial<NewInvoice> = {}) => {
      const invoice = invoiceOf(change)
      assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'created')
      return invoice
    }

    test('a bank transfer closes an invoice once, by one entry, and what is closed is not voided, claimed or closed again', async () => {
      const [paid, second] = [await kept(), await kept()]
      const by = closing(paid)
      assert.equal(await store.invoices.close_by_bank(by, NOW_MS + 5), 'closed')
      const found = await store.invoices.find(paid.invoice_id)
      assert.deepEqual(
        [found?.bank_paid_ms, found?.bank_payment, found?.closed, found?.updated_ms],
        [NOW_MS + 5, by.bank_payment, true, NOW_MS + 5],
      )
      assert.equal(await store.invoices.close_by_bank(by, NOW_MS + 6), 'same')
      assert.equal(await store.invoices.close_by_bank(closing(paid), NOW_MS + 6), 'paid')
      assert.equal(await store.invoices.close_by_bank(closing(second, by.bank_entry), NOW_MS + 6), 'entry_used')
      assert.equal(await store.invoices.close_by_bank(closing({ ...paid, invoice_id: 'inv_nobody' }), NOW_MS), 'gone')
      assert.equal(await store.invoices.void(paid.invoice_id, '0x01', NOW_MS), false)
      assert.equal((await store.payments.claim(claimOf({ purpose: 'invoice', subject: paid.invoice_id }))).kind, 'over_due')
      assert.deepEqual(await store.invoices.find(paid.invoice_id), found)
    })

    test('a bank transfer closes no invoice that its merchant has not signed', async () => {
      const invoice = await kept({ issue_signature: null })
      assert.equal(await store.invoices.close_by_bank(closing(invoice), NOW_MS), 'unsigned')
      assert.equal((await store.invoices.find(invoice.invoice_id))?.bank_paid_ms, null)
    })

    test('invoices that a creator closed in an earlier release are open again, and keep the report', async () => {
      const old = await driver.fresh()
      await old.createSchema(27)
      const merchant = address()
      const insert = (id: string, by: string) =>
        old.sql(
          `insert into invoice (invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, updated_ms,
             issue_signature, bank_paid_ms, bank_entry, bank_payment, closed)
           values ('${id}', '${merchant}', '5000', '{}', ${NOW_MS}, ${NOW_S + 100}, ${NOW_S + 200}, '${hash()}', ${NOW_MS}, '0x01', ${NOW_MS},
             'entry ${id}', '{"amount":"45.00","confirmed_by":"${by}"}', 1)`,
        )
      await insert('inv_creator', 'creator')
      await insert('inv_merchant', 'merchant')
      const upgraded = await openSealed(old.target)
      const [reopened, confirmed] = [await upgraded.invoices.find('inv_creator'), await upgraded.invoices.find('inv_merchant')]
      assert.deepEqual(
        [reopened?.bank_paid_ms, reopened?.closed, reopened?.bank_payment],
        [null, false, '{"amount":"45.00","confirmed_by":"creator"}'],
      )
      assert.deepEqual([confirmed?.bank_paid_ms, confirmed?.closed], [NOW_MS, true])
      const again = { invoice_id: 'inv_creator', merchant, bank_entry: 'entry inv_creator', bank_payment: '{"confirmed_by":"merchant"}' }
      assert.equal(await upgraded.invoices.close_by_bank(again, NOW_MS + 5), 'closed')
      await upgraded.close()
    })

    test('what is void, paid on the chain or on its way there is not closed by a bank transfer', async () => {
      const [voided, part, paid, claimed] = [await kept(), await kept(), await kept(), await kept()]
      await store.invoices.void(voided.invoice_id, '0x01', NOW_MS)
      await store.invoices.attribute(paymentOf(part.invoice_id, { amount_minor: 1n }), NOW_MS)
      await store.invoices.attribute(paymentOf(paid.invoice_id), NOW_MS)
      await store.payments.claim(claimOf({ purpose: 'invoice', subject: claimed.invoice_id }))
      const ends: string[] = []
      for (const invoice of [voided, part, paid, claimed]) ends.push(await store.invoices.close_by_bank(closing(invoice), NOW_MS))
      // A tiny transfer does not keep a bank transfer from counting.
      assert.deepEqual(ends, ['void', 'closed', 'on_chain', 'under_way'])
    })

    test('of a void, a claim and two bank entries that meet, one changes the invoice', async () => {
      const other = await openSealed(fresh.target)
      for (let round = 0; round < 20; round++) {
        const [invoice, sibling] = [await kept(), await kept()]
        const twin = { ...sibling, merchant: invoice.merchant }
        const by = closing(invoice)
        const [voided, claim, ...closed] = await Promise.all([
          other.invoices.void(invoice.invoice_id, '0x01', NOW_MS),
          store.payments.claim(claimOf({ purpose: 'invoice', subject: invoice.invoice_id })),
          other.invoices.close_by_bank(by, NOW_MS),
          store.invoices.close_by_bank(closing(invoice), NOW_MS),
          store.invoices.close_by_bank(closing(twin, by.bank_entry), NOW_MS),
        ])
        const changes = [voided, claim.kind === 'claimed', closed[0] === 'closed', closed[1] === 'closed']
        assert.equal(changes.filter(Boolean).length, 1, JSON.stringify([voided, claim.kind, closed]))
        // The entry pays one of two invoices.
        assert.equal(Number(closed[0] === 'closed') + Number(closed[2] === 'closed'), 1, JSON.stringify(closed))
      }
      await other.close()
    })

    test('a merchant was paid once an invoice that it signed has a payment on the chain; a bank transfer that it confirms itself does not count', async () => {
      const [on_chain, at_bank, unsigned, unpaid] = [await kept(), await kept(), await kept({ issue_signature: null }), await kept()]
      await store.invoices.attribute(paymentOf(on_chain.invoice_id), NOW_MS)
      await store.invoices.attribute(paymentOf(unsigned.invoice_id), NOW_MS)
      await store.invoices.close_by_bank(closing(at_bank), NOW_MS)
      const ends: boolean[] = []
      for (const { merchant } of [on_chain, at_bank, unsigned, unpaid]) ends.push(await store.invoices.was_paid(merchant))
      assert.deepEqual(ends, [true, false, false, false])
    })

    test('invoices are found by the reference of their bank details: signed ones of the merchant that are not void', async () => {
      const merchant = address()
      const bank_reference = 'RF18539007547034'
      const [unsigned, signed, voided, other] = [
        await kept({ merchant, bank_reference, issue_signature: null }),
        await kept({ merchant, bank_reference, issue_signature: '0x0a' }),
        await kept({ merchant, bank_reference, issue_signature: '0x0b' }),
        await kept({ bank_reference, issue_signature: '0x0c' }),
      ]
      await store.invoices.void(voided.invoice_id, '0x01', NOW_MS)
      const ids = async (of: string) => (await store.invoices.signed_by_reference(of, bank_reference)).map(({ invoice_id }) => invoice_id)
      assert.deepEqual([await ids(merchant), await ids(other.merchant)], [[signed.invoice_id], [other.invoice_id]])
      await store.invoices.sign(unsigned.invoice_id, '0x0d', NOW_MS, MOST_SIGNED)
      assert.deepEqual(
        await ids(merchant),
        [unsigned.invoice_id, signed.invoice_id].toSorted((one) => (one === unsigned.invoice_id ? 1 : -1)),
      )
      assert.deepEqual(await store.invoices.signed_by_reference(merchant, 'RF712348231'), [])
    })
  })
}
