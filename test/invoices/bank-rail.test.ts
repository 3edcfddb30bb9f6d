/** Statements against invoices: which entries are about which invoice, and what they come to. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { BankReport, InvoiceStore, StoredInvoice } from '../../src/ports/invoices.ts'
import { ReadFindings, StatementBook } from '../../src/pure/documents/reconcile/records.ts'
import { documentReader } from '../../src/pure/documents/reconcile/reconcile-documents.ts'
import { bankAmount } from '../../src/pure/invoices/bank-statements.ts'
import { creditorReferencesIn, readCreditorReference, creditorReference } from '../../src/pure/invoices/links.ts'
import { runs, SEED } from '../support/counts.ts'
import { IBAN, statementOf, type Booking, today } from '../support/invoice-statements.ts'
import { invoicesInMemory } from '../support/invoices-memory.ts'
import { bankInvoices, BankRail, type RailResult } from '../../src/service/invoices/bank-rail.ts'
import { specimen } from '../../src/service/invoices/invoice-service.ts'

const ID = 'inv_0123456789abcdefghjkmnpqrs'
const OTHER = 'inv_zzzzzzzzzzzzzzzzzzzzzzzzzz'
const MERCHANT = `0x${'a'.repeat(40)}`
const NOW_MS = Date.now()

const invoiceOf = (invoice_id: string, amount_minor: bigint): StoredInvoice => ({
  ...specimen(84_532, `0x${'b'.repeat(40)}`),
  invoice_id,
  merchant: MERCHANT,
  amount_minor,
  created_ms: NOW_MS,
  voided_ms: null,
  closed: false,
})

/** Invoices of 100 and of 7.50. */
const INVOICES = [invoiceOf(ID, 100_000_000n), invoiceOf(OTHER, 7_500_000n)]
const [REF, OTHER_REF] = [creditorReference(ID), creditorReference(OTHER)]

function storeOf(before: readonly BankReport[] = []): InvoiceStore {
  return {
    ...invoicesInMemory(),
    page_of: (merchant, _at, after, limit) =>
      Promise.resolve(
        merchant === MERCHANT
          ? INVOICES.map((invoice, index) => ({ number: index + 1, invoice }))
              .filter(({ number }) => number > after)
              .slice(0, limit)
          : [],
      ),
    bank_reports: (id) => Promise.resolve(before.filter(({ invoice_id }) => invoice_id === id)),
  }
}

interface Options {
  before?: readonly BankReport[]
  currency?: string
  iban?: string
}

async function ran(
  texts: readonly string[],
  { before = [], currency = 'USD', iban = 'DE33 1002 0500 0001 1947 00' }: Options = {},
): Promise<RailResult> {
  const store = storeOf(before)
  const account = { account_name: 'Example', iban, bic: null, bank_name: null, country: 'DE', currency }
  const rail = new BankRail(account, await bankInvoices(store, [MERCHANT], 0), NOW_MS)
  const [findings, book] = [new ReadFindings(), new StatementBook()]
  const sink = {
    keep_remittance: true,
    instruction: () => undefined,
    entry: (entry: Parameters<BankRail['entry']>[0]) => rail.entry(entry),
  }
  for (const [file, text] of texts.entries()) {
    const reader = documentReader('camt.053', file, findings, book, sink)
    for (let at = 0; at < text.length; at += 50) reader.write(text.slice(at, at + 50))
    reader.end()
  }
  assert.deepEqual(findings.list, [])
  return rail.finish(store, book.findRepeats().repeated)
}

const verdicts = ({ invoices }: RailResult) =>
  invoices.map(({ invoice, judgement: { verdict, received_minor, delta_minor } }) => [
    invoice.invoice_id,
    verdict,
    received_minor,
    delta_minor,
  ])
const counted = ({ counts }: RailResult) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
const one = async (...bookings: Booking[]) => ran([statementOf(bookings)])

describe('creditor references', () => {
  test('those of the standard are read in any spelling, others are not', () => {
    // ISO 11649 and the European Payments Council print the first.
    assert.equal(readCreditorReference('RF18539007547034'), 'RF18539007547034')
    assert.equal(readCreditorReference(' rf18 5390 0754 7034 '), 'RF18539007547034')
    for (const wrong of ['RF19539007547034', 'RF18', 'RF185390075470341234567890', 'XX18539007547034', 'RF18-539007547034', '']) {
      assert.equal(readCreditorReference(wrong), null, wrong)
    }
  })

  test('one in free text is found whatever stands around it and however it is spaced', () => {
    const spaced = (text: string, gaps: readonly number[]) =>
      gaps.reduce((found, gap) => `${found.slice(0, gap)} ${found.slice(gap)}`, text)
    const words = fc.stringMatching(/^[a-zA-Z0-9 .:/-]{0,40}$/).filter((text) => !/rf/i.test(text.replace(/ /g, '')))
    const gaps = fc.array(fc.integer({ min: 1, max: 24 }), { maxLength: 6 })
    fc.assert(
      fc.property(words, words, gaps, fc.boolean(), (before, after, at, small) => {
        const written = spaced(small ? REF.toLowerCase() : REF, at)
        const safe = before.replace(/[rR]\s*$/, '')
        assert.deepEqual(creditorReferencesIn([`${safe}${written}`, after]), [REF])
      }),
      { seed: SEED, numRuns: runs(100, 2_000) },
    )
  })

  test('a digit or letter that is wrong is found out', () => {
    for (let at = 2; at < REF.length; at++) {
      const wrong = `${REF.slice(0, at)}${REF[at] === '7' ? '8' : '7'}${REF.slice(at + 1)}`
      assert.equal(readCreditorReference(wrong), null, wrong)
    }
  })
})

test('an invoice asks for its face in dollars at the bank, in whole cents, and for nothing in any other currency', () => {
  assert.deepEqual([bankAmount(12_500_000n, 'USD'), bankAmount(12_500_001n, 'USD'), bankAmount(12_500_000n, 'EUR')], [1_250n, null, null])
})

test('the exact amount under a structured reference, or one in free text, is SETTLED', async () => {
  for (const named of [
    { reference: REF },
    { text: [`Invoice ${REF.slice(0, 9)} ${REF.slice(9)} thanks`] },
    { text: [REF.slice(0, 20), REF.slice(20)] },
  ]) {
    const found = await one({ amount: '100.00', name: 'N7', ...named })
    assert.deepEqual(verdicts(found), [[ID, 'SETTLED', 10_000n, 0n]])
    const [report] = found.invoices[0]?.reports ?? []
    assert.deepEqual(
      [report?.statement_id, report?.entry_reference, report?.booked_on, report?.amount_minor, report?.verdict],
      ['S1', 'N7#1.1', today(), 10_000n, 'SETTLED'],
    )
  }
})

test('an account that the settings name with the word before it is the same account', async () => {
  for (const iban of ['IBAN DE33 1002 0500 0001 1947 00', 'DE３３100205000001194700']) {
    const found = await ran([statementOf([{ amount: '100.00', reference: REF }])], { iban })
    assert.deepEqual([verdicts(found), counted(found)], [[[ID, 'SETTLED', 10_000n, 0n]], {}], iban)
  }
})

test('less is PARTIAL, more is OVER, the same twice is DUPLICATE_PAYMENT, two parts are SETTLED', async () => {
  assert.deepEqual(verdicts(await one({ amount: '40.00', reference: REF })), [[ID, 'PARTIAL', 4_000n, -6_000n]])
  assert.deepEqual(verdicts(await one({ amount: '100.01', reference: REF })), [[ID, 'OVER', 10_001n, 1n]])
  const twice = [
    { amount: '100.00', reference: REF },
    { amount: '100.00', reference: REF },
  ]
  assert.deepEqual(verdicts(await one(...twice)), [[ID, 'DUPLICATE_PAYMENT', 20_000n, 10_000n]])
  assert.deepEqual(verdicts(await one({ amount: '40.00', reference: REF }, { amount: '60', text: [REF] })), [[ID, 'SETTLED', 10_000n, 0n]])
})

test('pending money is no receipt, and a reversal takes a receipt back', async () => {
  const pending = await one({ amount: '100.00', reference: REF, status: 'PDNG' })
  assert.deepEqual([verdicts(pending), counted(pending)], [[], { not_booked: 1 }])
  const back: Booking = { amount: '100.00', reference: REF, direction: 'DBIT', reversal: true }
  assert.deepEqual(verdicts(await one({ amount: '100.00', reference: REF }, back)), [[ID, 'RETURNED', 0n, -10_000n]])
  const part = { ...back, amount: '30.00' }
  assert.deepEqual(verdicts(await one({ amount: '100.00', reference: REF }, part)), [[ID, 'PARTIAL', 7_000n, -3_000n]])
})

test('several transactions of one entry go each to its invoice', async () => {
  const details = [
    { amount: '100.00', reference: REF },
    { amount: '7.50', reference: OTHER_REF },
  ]
  const found = await one({ amount: '107.50', name: 'B1', details })
  assert.deepEqual(verdicts(found), [
    [ID, 'SETTLED', 10_000n, 0n],
    [OTHER, 'SETTLED', 750n, 0n],
  ])
  assert.deepEqual(
    found.invoices.map(({ reports }) => reports[0]?.entry_reference),
    ['B1#1.1', 'B1#1.2'],
  )
})

test('another currency is never converted, on either side', async () => {
  assert.deepEqual(verdicts(await one({ amount: '100.00', reference: REF, currency: 'EUR' })), [[ID, 'OTHER_CURRENCY', null, null]])
  const euro = await ran([statementOf([{ amount: '100.00', reference: REF, currency: 'EUR' }])], { currency: 'EUR' })
  assert.deepEqual([verdicts(euro), euro.invoices[0]?.asked_minor], [[[ID, 'OTHER_CURRENCY', null, null]], null])
})

test('what is about no invoice, about two, or on another account is said and not counted', async () => {
  const unknown = creditorReference('inv_99999999999999999999999999')
  const found = await one(
    { amount: '1.00', reference: unknown },
    { amount: '2.00', text: [`${REF} ${OTHER_REF}`] },
    { amount: '3.00', text: ['salary'] },
    { amount: '4.00', reference: 'RF19539007547034' },
  )
  assert.deepEqual([verdicts(found), counted(found)], [[], { no_invoice: 1, several_invoices: 1, no_reference: 2 }])
  assert.deepEqual(
    found.unmatched.map(({ reason, reference, entry }) => [reason, reference, entry]),
    [
      ['no_invoice', unknown, 1],
      ['several_invoices', REF, 2],
    ],
  )
  const elsewhere = await ran([statementOf([{ amount: '100.00', reference: REF }], { iban: 'DE89370400440532013000' })])
  assert.deepEqual(counted(elsewhere), { other_account: 1 })
})

test('a statement that came before changes nothing; a later one is judged with what was kept', async () => {
  const first = statementOf([{ amount: '40.00', reference: REF }])
  const { invoices } = await ran([first])
  const before = invoices.flatMap(({ reports }) => reports)
  const again = await ran([first, first], { before })
  assert.deepEqual([again.invoices.map(({ fresh }) => fresh), counted(again)], [[0], { repeated: 2 }])
  const later = await ran([statementOf([{ amount: '60.00', reference: REF }], { id: 'S2' })], { before })
  assert.deepEqual(verdicts(later), [[ID, 'SETTLED', 10_000n, 0n]])
  assert.deepEqual(
    later.invoices[0]?.reports.map(({ statement_id, verdict }) => [statement_id, verdict]),
    [
      ['S1', 'SETTLED'],
      ['S2', 'SETTLED'],
    ],
  )
  assert.equal(IBAN.length, 22)
})

test('an entry of another time than the life of the invoice is listed with its reason, and never a report on it', async () => {
  for (const booked of ['2025-01-02', '2100-01-01']) {
    const { invoices, unmatched, counts } = await ran([statementOf([{ amount: '100.00', reference: REF, booked }])])
    assert.deepEqual([invoices, unmatched.map(({ reason }) => reason), counts.date_outside], [[], ['date_outside'], 1], booked)
  }
})
