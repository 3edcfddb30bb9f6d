import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VerdictRow } from '../../src/pure/documents/reconcile/report-rows.ts'
import tool from '../../src/tools/messages/reconcile.ts'
import { parseDay } from '../../src/pure/documents/reconcile/values.ts'
import { back, CREDITOR, DEBTOR, entry, instruction, reconciled, statement, STRANGER } from './reconcile-records.ts'
import { booked, camt, detail, pacs, pain, transfer } from './reconcile-messages.ts'
import { only } from './reconcile-reading.ts'
import { StatementBook } from '../../src/pure/documents/reconcile/statement-book.ts'

/** Evidence against a match, evidence that is missing, and files of another kind. */

const DAY = parseDay('2026-08-01') ?? 0
const asked = (changes: Parameters<typeof instruction>[0] = {}) => instruction({ day: DAY, ...changes })
const verdict = (...entries: Parameters<typeof reconciled>[0]['entries']) => {
  const row = only(reconciled({ instructions: [asked()], entries }).verdicts)
  return [row.verdict, row.kind, row.final, row.warnings]
}

const verdictsOf = (answer: Record<string, unknown>) => answer['verdicts'] as VerdictRow[]

test('a return counts at any age, and a later payment under the id takes finality away', () => {
  const paid = entry({ day: DAY + 1 })
  for (const later of [89, 91, 121, 400]) assert.deepEqual(verdict(paid, back({ day: DAY + later })).slice(0, 2), ['UNPAID', 'returned'])
  assert.deepEqual(verdict(paid, entry({ entry: 2, day: DAY + 121 })), ['SETTLED', null, false, ['SAME_ID_OUTSIDE_WINDOW']])
  // The return belongs to the later payment, or may do so.
  const reused = verdict(paid, entry({ entry: 2, day: DAY + 121 }), back({ entry: 3, day: DAY + 125 }))
  assert.deepEqual(reused, ['SETTLED', null, false, ['SAME_ID_OUTSIDE_WINDOW']])
  // Money that came back without a mark.
  const unmarked = entry({ entry: 2, day: DAY + 121, direction: 'CRDT' })
  assert.deepEqual(verdict(paid, unmarked), ['SETTLED', null, false, ['SAME_ID_OUTSIDE_WINDOW']])
  // The same UETR is the same payment on any day.
  const uetr = 'eb6305c9-1f7f-49de-aed0-16487c27b42d'
  const same = reconciled({
    instructions: [asked({ uetr })],
    entries: [entry({ day: DAY, uetr }), entry({ entry: 2, day: DAY + 200, uetr })],
  })
  assert.equal(only(same.verdicts).verdict, 'DUPLICATE_PAYMENT')
  // An earlier month of the same id is another payment.
  assert.deepEqual(verdict(paid, entry({ entry: 2, day: DAY - 31 })), ['SETTLED', null, true, []])
  assert.deepEqual(verdict(paid, back({ day: DAY + 5, status: 'PDNG' })), ['SETTLED', null, false, ['RETURN_PENDING']])
})

test('one entry pays a payment and an interbank message only if they are the same money', () => {
  const message = instruction({ source: 'pacs.008', file: 2, payment_information_id: null })
  const of = (other: Parameters<typeof instruction>[0], ...entries: Parameters<typeof reconciled>[0]['entries']) =>
    reconciled({ instructions: [instruction(), { ...message, ...other }], entries }).verdicts.map((row) => row.verdict)
  assert.deepEqual(of({}, entry()), ['SETTLED', 'SETTLED'])
  const foreign = { debtor_account: STRANGER, creditor_account: 'NL91ABNA0417164300' }
  assert.deepEqual(of(foreign, entry()), ['SETTLED', 'UNPAID'])
  assert.deepEqual(of(foreign, entry(), entry({ entry: 2 })), ['SETTLED', 'SETTLED'])
  assert.deepEqual(of({ amount_minor: 9_900n }, entry())[1], 'UNPAID')
})

test('a return less a listed charge is a return, and charges of a batch are charges', async () => {
  const short = back({ amount_minor: 9_500n, charges_minor: 500n, instructed: { currency: 'EUR', amount_minor: 10_000n } })
  const row = only(reconciled({ instructions: [instruction()], entries: [entry(), short] }).verdicts)
  assert.deepEqual([row.verdict, row.kind, row.charges_minor], ['UNPAID', 'returned', '500'])
  const charged = (id: string) =>
    detail(id, '<Amt Ccy="EUR">50.00</Amt><Chrgs><Rcrd><Amt Ccy="EUR">1.00</Amt><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>')
  const answer = await tool.execute(
    {
      pain001_xml: pain(transfer('E1', '50.00') + transfer('E2', '50.00')),
      camt053_xml: camt(booked({ amount: '102.00', details: charged('E1') + charged('E2') })),
    },
    null,
  )
  assert.deepEqual(answer['unmatched'], [])
  assert.deepEqual(
    verdictsOf(answer).map((one) => [one.verdict, one.charges_minor]),
    [
      ['SETTLED', '100'],
      ['SETTLED', '100'],
    ],
  )
})

test('a payment that the statements would not show is not covered', () => {
  const of = (statements: Parameters<typeof statement>[0][], due: number | null = DAY) => {
    const book = new StatementBook()
    for (const one of statements) book.open(statement({ account: DEBTOR, from_day: DAY - 10, to_day: DAY + 10, ...one }))
    const coverage = book.coverage(new Set())
    return coverage.covers([DEBTOR, CREDITOR], due ?? 0, { days_before: 10, days_after: 90 })
  }
  assert.equal(of([{}]), true)
  assert.equal(of([{ account: STRANGER }]), false)
  assert.equal(of([{ account: CREDITOR }]), true)
  assert.equal(of([{ to_day: DAY - 1 }]), false)
  assert.equal(of([{ from_day: DAY + 1 }]), false)
  assert.equal(of([{ page: '1', last_page: false }]), false)
  assert.equal(
    of([
      { page: '1', last_page: false },
      { page: '2', last_page: true },
    ]),
    true,
  )
  const numbered = (...numbers: number[]) =>
    of(
      numbers.map((number, index) => ({
        id: `S${number}`,
        sequence: String(number),
        from_day: DAY - 10 + 7 * index,
        to_day: DAY - 4 + 7 * index,
      })),
    )
  assert.equal(numbered(1, 2, 3), true)
  assert.equal(numbered(1, 3), false)
  const balance = (amount_minor: bigint) => ({ currency: 'EUR', amount_minor, day: DAY })
  assert.equal(of([{ opening: balance(0n), closing: balance(-10_000n) }]), false)
  assert.equal(of([{ opening: balance(5n), closing: balance(5n) }]), true)
  assert.equal(of([{ partial: true }]), false)
  // Bank code and number of the IBAN.
  assert.equal(of([{ account: '37040044/0532013000' }]), true)
  assert.equal(of([{ account: '10020030/1234567' }]), false)
})

test('what a status message rejected is told with its reason', async () => {
  const status =
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><OrgnlPmtInfAndSts><OrgnlPmtInfId>P1</OrgnlPmtInfId>' +
    '<TxInfAndSts><OrgnlEndToEndId>E1</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>'
  const answer = await tool.execute(
    { instructions: [pain(transfer('E1', '100.00'))], statements: [status, camt(booked({ details: detail('E9') }))] },
    null,
  )
  assert.deepEqual(
    verdictsOf(answer).map((row) => [row.verdict, row.kind, row.reason]),
    [['UNPAID', 'rejected', 'AC04']],
  )
})

test('a file of another kind is refused with its name and what is read', async () => {
  const refusal = async (input: Parameters<typeof tool.execute>[0]) => tool.refuses?.(await tool.execute(input, null)) ?? null
  const payments = pain(transfer('E1', '100.00'))
  const statements = camt(booked({ details: detail('E1') }))
  for (const [text, name] of [
    ['%PDF-1.7', 'a PDF'],
    ['!Type:Bank\nD03/02/2026', 'a QIF file'],
    ['{1:F01AAAABBCCAXXX0000000000}{2:I103AAAABBCCXXXXN}{4:\n:20:X\n:32A:260301EUR1,00\n-}', 'an MT103 payment'],
    ['<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.013.001.07"><X/></Document>', 'pain.013.001.07'],
  ] as const) {
    const found = await refusal({ pain001_xml: payments, camt053_xml: text })
    assert.equal(found?.problem, 'FORMAT_UNKNOWN', name)
    assert.ok(found.message.includes(name) && found.message.includes('MT940'), found.message)
  }
  assert.equal(await refusal({ pain001_xml: statements, camt053_xml: payments }), null)
  assert.equal(await refusal({ pain001_xml: payments, pacs008_xml: pacs(), camt053_xml: statements }), null)
})
