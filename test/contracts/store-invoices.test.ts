/** Invoices and the transfers that pay them, over both databases. */
// attack: unsigned invoices by the thousand that name it, from one network or many

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { BankReport, InvoicePayment, NewInvoice, OtherAsset } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import { request as claimOf } from '../support/store-payments.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = () => `0x${randomBytes(32).toString('hex')}`
const address = () => `0x${randomBytes(20).toString('hex')}`
const NOW_MS = 1_795_262_400_123
const NOW_S = 1_795_262_400
const MOST_SIGNED = 2
const BOUNDS = { network_unsigned: 3, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: MOST_SIGNED }

function invoiceOf(change: Partial<NewInvoice> = {}): NewInvoice {
  const plain = { invoice_id: `inv_${randomBytes(6).toString('hex')}`, merchant: address(), amount_minor: 2n ** 60n, terms: '{"a":"ü"}' }
  const times = { created_ms: NOW_MS, expires_s: NOW_S + 100, watch_until_s: NOW_S + 200 }
  return {
    ...plain,
    ...times,
    nonces: [hash(), hash()],
    deposit_address: address(),
    content_hash: hash(),
    request_key: null,
    network: null,
    issue_signature: null,
    bank_reference: null,
    ...change,
  }
}

function reportOf(invoice_id: string): BankReport {
  return {
    statement_id: hash(),
    entry_reference: 'N1#1',
    invoice_id,
    booked_on: '2026-11-20',
    direction: 'CRDT',
    returned: false,
    currency: 'USD',
    amount_minor: 2n ** 62n,
    charges_minor: -5n,
    instructed_minor: null,
    verdict: 'PARTIAL',
    reported_ms: NOW_MS,
  }
}

function otherOf(invoice_id: string): OtherAsset {
  const place = { transaction: hash(), log_index: -1, block_number: 7, block_time_s: NOW_S }
  return { ...place, invoice_id, asset: 'eip155:8453/slip44:60', payer: address(), amount: 2n ** 200n, named_by: 'submitted' }
}

function paymentOf(invoice_id: string, change: Partial<InvoicePayment> = {}): InvoicePayment {
  const block = { block_number: 7, block_hash: hash(), block_time_s: NOW_S }
  const seen = {
    transaction: hash(),
    log_index: 3,
    payer: address(),
    amount_minor: 2n ** 60n,
    nonce: hash(),
    matched_by: 'eip3009' as const,
  }
  return { ...seen, ...block, invoice_id, confirmed: false, final: false, ...change }
}

for (const open of STORE_DRIVERS) {
  describe(`invoices: ${open.name}`, () => {
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
      const { kind } = await store.invoices.keep(invoice, BOUNDS)
      assert.equal(kind, 'created')
      return invoice
    }

    test('an invoice is found by its id and by each of its nonces', async () => {
      const asked = await kept()
      const found = await store.invoices.find(asked.invoice_id)
      assert.ok(found !== null)
      const { terms, amount_minor, merchant, closed, marks, voided_ms, updated_ms } = found
      assert.deepEqual(
        [terms, amount_minor, merchant, closed, marks, voided_ms, updated_ms],
        [asked.terms, asked.amount_minor, asked.merchant, false, '', null, NOW_MS],
      )
      for (const nonce of asked.nonces) assert.deepEqual(await store.invoices.find_by_nonce(nonce), found)
      assert.equal(await store.invoices.find_by_nonce(hash()), null)
      assert.equal(await store.invoices.find('inv_nobody'), null)
    })

    test('a merchant reads the invoices that it signed, newest first, page by page', async () => {
      const merchant = address()
      const made: string[] = []
      for (const issue_signature of ['0x01', null, '0x02', '0x03'])
        if (issue_signature === null) await kept({ merchant })
        else {
          const { invoice_id } = await kept({ merchant, issue_signature })
          // Does not count against the bound on open ones.
          await store.invoices.set_closed(invoice_id, true)
          made.unshift(invoice_id)
        }
      await kept({ issue_signature: '0x04' })
      const first = await store.invoices.signed_by(merchant, Number.MAX_SAFE_INTEGER, 2)
      const second = await store.invoices.signed_by(merchant, first.at(-1)?.number ?? 0, 2)
      assert.deepEqual(
        [first, second].map((page) => page.map(({ invoice }) => invoice.invoice_id)),
        [made.slice(0, 2), made.slice(2)],
      )
      assert.deepEqual(first[0]?.invoice, await store.invoices.find(made[0] ?? ''))
    })

    test('the same request brings the same invoice, another content a conflict, however many ask at once', async () => {
      const other = await openSealed(fresh.target)
      const request = { merchant: address(), request_key: hash(), content_hash: hash() }
      const ends = await Promise.all(
        Array.from({ length: 20 }, (_, call) => (call % 2 === 0 ? store : other).invoices.keep(invoiceOf(request), BOUNDS)),
      )
      assert.equal(ends.filter(({ kind }) => kind === 'created').length, 1)
      const ids = new Set(ends.map((end) => (end.kind === 'created' || end.kind === 'same' ? end.invoice.invoice_id : end.kind)))
      assert.equal(ids.size, 1)
      assert.equal((await store.invoices.keep(invoiceOf({ ...request, content_hash: hash() }), BOUNDS)).kind, 'conflict')
      await other.close()
    })

    const isKept = async ({ invoice_id }: NewInvoice) => (await store.invoices.find(invoice_id)) !== null

    test('a network evicts its own oldest unsigned invoices, and refuses none; other networks keep theirs', async () => {
      const [network, other] = [hash(), hash()]
      const neighbour = await kept({ network: other })
      const made: NewInvoice[] = []
      for (let more = 0; more < 5; more++) made.push(await kept({ network }))
      assert.deepEqual(await Promise.all(made.map(isKept)), [false, false, true, true, true])
      assert.equal(await isKept(neighbour), true)
      for (const nonce of made[0]?.nonces ?? []) assert.equal(await store.invoices.find_by_nonce(nonce), null)
      const ends = await Promise.all(Array.from({ length: 20 }, () => store.invoices.keep(invoiceOf({ network }), BOUNDS)))
      assert.ok(ends.every(({ kind }) => kind === 'created'))
      const left = await fresh.sql(`select count(*) as number from invoice where network = '${network}'`)
      assert.equal(Number(left[0]?.['number']), 3)
    })

    test('an invoice with a payment, a claim, a report, another asset or a signature is never evicted', async () => {
      const network = hash()
      const wide = { ...BOUNDS, network_unsigned: 9 }
      const made = Array.from({ length: 7 }, () => invoiceOf({ network }))
      for (const invoice of made) assert.equal((await store.invoices.keep(invoice, wide)).kind, 'created')
      const [paid = '', claimed = '', reported = '', noted = '', signed = '', voided = '', bare = ''] = made.map(
        ({ invoice_id }) => invoice_id,
      )
      await store.invoices.attribute(paymentOf(paid), NOW_MS)
      assert.equal((await store.payments.claim(claimOf({ purpose: 'invoice', subject: claimed }))).kind, 'claimed')
      await store.invoices.report_bank([reportOf(reported)], NOW_MS)
      await store.invoices.note_other_asset(otherOf(noted), NOW_MS)
      await store.invoices.sign(signed, '0x0a', NOW_MS, MOST_SIGNED)
      await store.invoices.void(voided, '0x0b', NOW_MS)
      for (let more = 0; more < 10; more++) await store.invoices.keep(invoiceOf({ network }), { ...BOUNDS, network_unsigned: 1 })
      assert.deepEqual(await Promise.all(made.map(isKept)), [true, true, true, true, true, true, false])
      // What was evicted takes nothing more.
      assert.equal(await store.invoices.attribute(paymentOf(bare), NOW_MS), false)
      assert.equal((await store.payments.claim(claimOf({ purpose: 'invoice', subject: bare }))).kind, 'over_due')
      assert.equal(await store.invoices.report_bank([reportOf(bare)], NOW_MS), 0)
      assert.equal(await store.invoices.note_other_asset(otherOf(bare), NOW_MS), false)
      assert.equal(await store.invoices.sign(bare, '0x0a', NOW_MS, MOST_SIGNED), 'gone')
    })

    test('claims and evictions that meet leave no claim without its invoice', async () => {
      const other = await openSealed(fresh.target)
      const network = hash()
      for (let round = 0; round < 10; round++) {
        const invoice = invoiceOf({ network })
        await store.invoices.keep(invoice, { ...BOUNDS, network_unsigned: 1 })
        const [claim] = await Promise.all([
          other.payments.claim(claimOf({ purpose: 'invoice', subject: invoice.invoice_id })),
          store.invoices.keep(invoiceOf({ network }), { ...BOUNDS, network_unsigned: 1 }),
        ])
        assert.equal(await isKept(invoice), claim.kind === 'claimed', claim.kind)
      }
      await other.close()
    })

    test('all networks together have a bound, which evicts the oldest; invoices of calls have their own', async () => {
      const empty = await driver.fresh()
      const own = await openSealed(empty.target)
      const bounds = { ...BOUNDS, all_unsigned: 4, calls_unsigned: 2 }
      const ids = async () => (await empty.sql('select invoice_id from invoice order by number')).map((row) => row['invoice_id'])
      const made: string[] = []
      for (let more = 0; more < 4; more++) {
        const [free, called] = [invoiceOf({ network: hash() }), invoiceOf({})]
        for (const invoice of [free, called]) assert.equal((await own.invoices.keep(invoice, bounds)).kind, 'created')
        made.push(free.invoice_id, called.invoice_id)
      }
      // Six are left: four of networks, and the last two of calls.
      assert.deepEqual(
        await ids(),
        [0, 2, 4, 5, 6, 7].map((at) => made[at]),
      )
      const last = invoiceOf({ network: hash() })
      await own.invoices.keep(last, bounds)
      assert.deepEqual(await ids(), [...[2, 4, 5, 6, 7].map((at) => made[at]), last.invoice_id])
      await own.close()
    })

    test('an invoice that is signed from the start counts against its merchant alone, and is there when all else is full', async () => {
      const [merchant, network] = [address(), hash()]
      const signed = { merchant, network, issue_signature: '0x0a' }
      const first = await kept(signed)
      for (let more = 0; more < 5; more++) await kept({ merchant, network })
      const second = await kept(signed)
      assert.deepEqual([await isKept(first), await isKept(second)], [true, true])
      const found = await store.invoices.plain_candidates(merchant, NOW_S, 10)
      assert.deepEqual(
        found.map(({ invoice_id }) => invoice_id),
        [first.invoice_id, second.invoice_id],
      )
      assert.equal((await store.invoices.keep(invoiceOf(signed), BOUNDS)).kind, 'merchant_full')
      await store.invoices.set_closed(first.invoice_id, true)
      await kept(signed)
    })

    test('of many that sign at once no more are kept than are taken', async () => {
      const merchant = address()
      const made = [await kept({ merchant }), await kept({ merchant }), await kept({ merchant })]
      const ends = await Promise.all(made.map(({ invoice_id }) => store.invoices.sign(invoice_id, '0x0a', NOW_MS, MOST_SIGNED)))
      assert.deepEqual(ends.toSorted(), ['full', 'kept', 'kept'])
    })

    test('one log pays one invoice, whoever attributes it first', async () => {
      const [one, two] = [await kept(), await kept()]
      const payment = paymentOf(one.invoice_id)
      const ends = await Promise.all(
        [one, two, one, two].map(({ invoice_id }) => store.invoices.attribute({ ...payment, invoice_id }, NOW_MS + 5)),
      )
      assert.equal(ends.filter(Boolean).length, 1)
      const all = [...(await store.invoices.payments(one.invoice_id)), ...(await store.invoices.payments(two.invoice_id))]
      assert.deepEqual(all, [{ ...payment, invoice_id: all[0]?.invoice_id ?? '' }])
      assert.equal(await store.invoices.attribute(paymentOf('inv_nobody'), NOW_MS), false)
    })

    test('crumbs push no real payment out of sight, and payments come in the order of the chain', async () => {
      const { invoice_id } = await kept()
      const at = (block_number: number, amount_minor: bigint) => paymentOf(invoice_id, { block_number, amount_minor })
      const crumbs = Array.from({ length: 205 }, (_, index) => at(index + 1, 2n))
      // 9 is less than 10, though not as text.
      const real = [at(3, 10n ** 18n), at(300, 9n), at(301, 10n)]
      for (const payment of [...crumbs, ...real]) assert.equal(await store.invoices.attribute(payment, NOW_MS), true)
      const found = await store.invoices.payments(invoice_id)
      const blocks = found.map(({ block_number }) => block_number)
      assert.deepEqual([found.length, blocks], [200, blocks.toSorted((one, other) => one - other)])
      for (const payment of real) assert.ok(found.some(({ transaction }) => transaction === payment.transaction))
    })

    test('a payment grows final, and one that is not is taken away by a reorganisation', async () => {
      const { invoice_id, merchant } = await kept()
      const [stays, goes] = [paymentOf(invoice_id), paymentOf(invoice_id, { nonce: null, matched_by: 'transfer', block_number: 8 })]
      for (const payment of [stays, goes]) await store.invoices.attribute(payment, NOW_MS)
      assert.deepEqual(await store.invoices.unfinal(merchant, 10), [stays, goes])
      const moved = { ...stays, block_number: 9, block_hash: hash(), confirmed: true, final: true }
      await store.invoices.settle_block(moved, NOW_MS + 1)
      await store.invoices.withdraw(goes, NOW_MS + 2)
      await store.invoices.withdraw(moved, NOW_MS + 3)
      assert.deepEqual(await store.invoices.payments(invoice_id), [moved])
      assert.deepEqual(await store.invoices.unfinal(merchant, 10), [])
      await store.invoices.add_mark(invoice_id, 'ambiguous', NOW_MS + 4)
      await store.invoices.add_mark(invoice_id, 'ambiguous', NOW_MS + 5)
      const found = await store.invoices.find(invoice_id)
      assert.deepEqual([found?.marks, found?.updated_ms], ['ambiguous,reorged', NOW_MS + 4])
    })

    test('deposits wait for a sweep once their block is final, and what was forwarded is taken off once', async () => {
      const { invoice_id, merchant, deposit_address } = await kept()
      assert.equal((await store.invoices.find_by_deposit(deposit_address ?? ''))?.invoice_id, invoice_id)
      assert.equal(await store.invoices.find_by_deposit(merchant), null)
      const ready = () => store.invoices.waiting_deposits(5n, NOW_MS, 10).then((all) => all.filter((one) => one.invoice_id === invoice_id))
      const deposit = paymentOf(invoice_id, { matched_by: 'deposit', amount_minor: 7n })
      await store.invoices.attribute(deposit, NOW_MS)
      await store.invoices.attribute(paymentOf(invoice_id, { amount_minor: 9n, final: true }), NOW_MS)
      assert.deepEqual(await ready(), [])
      const final = { ...deposit, confirmed: true, final: true }
      // Two services may see the same block become final.
      await Promise.all([store.invoices.settle_block(final, NOW_MS), store.invoices.settle_block(final, NOW_MS)])
      assert.deepEqual(await ready(), [{ invoice_id, merchant, waiting_minor: 7n }])
      await store.invoices.attribute(paymentOf(invoice_id, { matched_by: 'deposit', amount_minor: 4n, final: true }), NOW_MS)
      assert.deepEqual(await ready(), [{ invoice_id, merchant, waiting_minor: 11n }])
      await store.invoices.try_sweep([invoice_id], NOW_MS, 100)
      await store.invoices.try_sweep([invoice_id], NOW_MS, 100)
      assert.deepEqual(await ready(), [])
      const later = await store.invoices.waiting_deposits(5n, NOW_MS + 200, 1_000)
      assert.ok(later.some((one) => one.invoice_id === invoice_id))
      assert.ok(!(await store.invoices.waiting_deposits(5n, NOW_MS + 199, 1_000)).some((one) => one.invoice_id === invoice_id))
      const forward = { transaction: hash(), log_index: 3, invoice_id, amount_minor: 5n, block_number: 9, block_time_s: NOW_S }
      const stored = await Promise.all([store.invoices.note_forward(forward, NOW_MS), store.invoices.note_forward(forward, NOW_MS)])
      assert.equal(stored.filter(Boolean).length, 1)
      assert.deepEqual(await store.invoices.forwards(invoice_id), [forward])
      const left = await store.invoices.waiting_deposits(6n, NOW_MS + 200, 1_000)
      assert.deepEqual(
        left.filter((one) => one.invoice_id === invoice_id).map(({ waiting_minor }) => waiting_minor),
        [6n],
      )
      await store.invoices.note_forward({ ...forward, transaction: hash(), amount_minor: 100n }, NOW_MS)
      assert.ok(
        !(await store.invoices.waiting_deposits(0n, NOW_MS + 200, 1_000)).some(
          (one) => one.waiting_minor !== 0n && one.invoice_id === invoice_id,
        ),
      )
    })

    test('deposit addresses of a merchant are read in pages: those of open invoices, and all others that are watched', async () => {
      const merchant = address()
      const [first, second, third] = [await kept({ merchant }), await kept({ merchant }), await kept({ merchant })] as const
      await kept({ merchant, watch_until_s: NOW_S - 1 })
      const addresses = async (which: 'open' | 'late', at_s: number) =>
        (await store.invoices.deposits_of(merchant, which, at_s, 0, 10)).map(({ deposit_address }) => deposit_address)
      const page = await store.invoices.deposits_of(merchant, 'open', NOW_S, 0, 2)
      assert.deepEqual(
        page.map(({ deposit_address }) => deposit_address),
        [first.deposit_address, second.deposit_address],
      )
      const rest = await store.invoices.deposits_of(merchant, 'open', NOW_S, page.at(-1)?.number ?? 0, 2)
      assert.deepEqual(
        rest.map(({ deposit_address }) => deposit_address),
        [third.deposit_address],
      )
      await store.invoices.set_closed(second.invoice_id, true)
      assert.deepEqual(await addresses('open', NOW_S), [first.deposit_address, third.deposit_address])
      assert.deepEqual(await addresses('late', NOW_S), [second.deposit_address])
      // All of them expire at NOW_S + 100.
      assert.deepEqual([await addresses('open', NOW_S + 101), (await addresses('late', NOW_S + 101)).length], [[], 3])
    })

    test('the first signature stays; what was paid is not voided', async () => {
      const { invoice_id, merchant } = await kept()
      assert.deepEqual(await store.invoices.plain_candidates(merchant, NOW_S, 10), [])
      // Contract wallets sign as long as they like.
      const long = `0x${'0a'.repeat(4_096)}`
      await store.invoices.sign(invoice_id, long, NOW_MS, MOST_SIGNED)
      await store.invoices.sign(invoice_id, '0x0b', NOW_MS, MOST_SIGNED)
      const [candidate] = await store.invoices.plain_candidates(merchant, NOW_S + 100, 10)
      assert.equal(candidate?.issue_signature, long)
      assert.deepEqual(await store.invoices.plain_candidates(merchant, NOW_S + 101, 10), [])
      await store.invoices.attribute(paymentOf(invoice_id), NOW_MS)
      assert.equal(await store.invoices.void(invoice_id, '0x01', NOW_MS), false)
      const unpaid = await kept()
      assert.equal(await store.invoices.void(unpaid.invoice_id, '0x01', NOW_MS + 9), true)
      assert.equal(await store.invoices.void(unpaid.invoice_id, '0x02', NOW_MS + 10), false)
      const found = await store.invoices.find(unpaid.invoice_id)
      assert.deepEqual([found?.voided_ms, found?.void_signature, found?.closed], [NOW_MS + 9, '0x01', true])
    })

    test('what a statement reports is kept once, and only its verdict changes', async () => {
      const { invoice_id, merchant } = await kept()
      const report = reportOf(invoice_id)
      const other: BankReport = {
        ...report,
        entry_reference: 'N1#2',
        booked_on: null,
        direction: 'DBIT',
        returned: true,
        instructed_minor: 7n,
      }
      assert.equal(await store.invoices.report_bank([report, other], NOW_MS + 1), 2)
      assert.equal(await store.invoices.report_bank([{ ...report, reported_ms: NOW_MS + 9 }, other], NOW_MS + 2), 0)
      assert.equal((await store.invoices.find(invoice_id))?.updated_ms, NOW_MS + 1)
      assert.equal(await store.invoices.report_bank([{ ...report, verdict: 'SETTLED', amount_minor: 1n }], NOW_MS + 3), 1)
      const found = await store.invoices.bank_reports(invoice_id)
      const byReference = found.toSorted((one, two) => (one.entry_reference < two.entry_reference ? -1 : 1))
      assert.deepEqual(byReference, [{ ...report, verdict: 'SETTLED' }, other])
      assert.equal(await store.invoices.report_bank([{ ...report, statement_id: hash(), invoice_id: 'inv_nobody' }], NOW_MS), 0)
      const [page] = await store.invoices.page_of(merchant, NOW_S + 200, 0, 10)
      assert.deepEqual(await store.invoices.page_of(merchant, NOW_S + 200, page?.number ?? 0, 10), [])
      assert.deepEqual([page?.invoice.invoice_id, await store.invoices.page_of(merchant, NOW_S + 201, 0, 10)], [invoice_id, []])
    })

    test('another asset is noted once, for one invoice, and marks it', async () => {
      const [one, two] = [await kept(), await kept()]
      const seen = otherOf(one.invoice_id)
      assert.equal(await store.invoices.note_other_asset(seen, NOW_MS + 1), true)
      assert.equal(await store.invoices.note_other_asset({ ...seen, invoice_id: two.invoice_id }, NOW_MS + 2), false)
      assert.deepEqual(await store.invoices.other_assets(one.invoice_id), [seen])
      const marks = await Promise.all([one, two].map(async ({ invoice_id }) => (await store.invoices.find(invoice_id))?.marks))
      assert.deepEqual(marks, ['wrong_asset', ''])
    })

    test('what was submitted for an unsigned invoice yields to a signed one, and to the invoice that the payer named', async () => {
      const [foreign, signed, named] = [await kept(), await kept({ issue_signature: '0x0a' }), await kept()]
      const seen = otherOf(foreign.invoice_id)
      const note = ({ invoice_id }: NewInvoice, named_by: OtherAsset['named_by']) =>
        store.invoices.note_other_asset({ ...seen, invoice_id, named_by }, NOW_MS)
      const ends = [await note(foreign, 'submitted'), await note(signed, 'submitted'), await note(foreign, 'submitted')]
      ends.push(await note(named, 'nonce'), await note(signed, 'submitted'), await note(foreign, 'nonce'))
      assert.deepEqual(ends, [true, true, false, true, false, false])
      assert.deepEqual(await store.invoices.other_assets(named.invoice_id), [{ ...seen, invoice_id: named.invoice_id, named_by: 'nonce' }])
    })

    test('what one of the databases cannot hold is refused by both', async () => {
      const wrong: Partial<NewInvoice>[] = [{ terms: 'a\u0000' }, { amount_minor: 2n ** 63n }, { created_ms: 1.5 }, { content_hash: '' }]
      for (const change of wrong) await assert.rejects(store.invoices.keep(invoiceOf(change), BOUNDS), { code: 'STORE_REFUSED' })
    })

    test('invoices and payments outlast the service', async () => {
      const { invoice_id } = await kept()
      const payment = paymentOf(invoice_id)
      await store.invoices.attribute(payment, NOW_MS)
      await store.close()
      store = await openSealed(fresh.target)
      assert.deepEqual(await store.invoices.payments(invoice_id), [payment])
    })
  })
}
