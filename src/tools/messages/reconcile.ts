import { z } from 'zod'
import { missing } from '../../pure/checks/pack.ts'
import type { Document, DocumentKind } from '../../pure/documents/reconcile/report.ts'
import { DEFAULT_WINDOW, MAX_WINDOW_DAYS } from '../../pure/documents/reconcile/dates.ts'
import { EVIDENCE } from '../../pure/documents/reconcile/records.ts'
import { VERDICTS } from '../../pure/documents/reconcile/verdicts.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** The inputs in the order in which answers number them. */
const INPUTS = {
  pain001_xml: 'pain.001',
  pacs008_xml: 'pacs.008',
  camt053_xml: 'camt.053',
  nacha_ach: 'nacha',
} as const satisfies Record<string, DocumentKind>

type InputName = keyof typeof INPUTS
const NAMES = Object.keys(INPUTS) as InputName[]
const INSTRUCTIONS = ['pain001_xml', 'pacs008_xml']
const STATEMENTS = ['camt053_xml', 'nacha_ach']
/** The same in words of JSON Schema. Some clients refuse anyOf at the top of a schema; inside of if it is fine. */
const BOTH_GIVEN = {
  if: { anyOf: INSTRUCTIONS.flatMap((one) => STATEMENTS.map((other) => both(one, other))) },
  else: false,
}

function both(one: string, other: string) {
  const text = { type: 'string', maxLength: limits.document_body_bytes, description: 'Given.' }
  return { properties: { [one]: text, [other]: text }, required: [one, other] }
}

const DOCUMENT = z.string().min(1).max(limits.document_body_bytes).optional()
const DAYS = z.int().min(0).max(MAX_WINDOW_DAYS)
const COUNT = z.int().min(0).max(1_000_000).describe('A count.')
const DEEP = z.array(z.record(z.string(), z.unknown()))

const VERDICT = z.strictObject({
  end_to_end_id: z.string().nullable().describe('As instructed, at most 64 characters.'),
  source: z.string().describe('pain.001 or pacs.008.'),
  file: z.int().min(0).max(3).describe('Index in files.'),
  position: COUNT.describe('Place of the transfer in its file, from 1.'),
  verdict: z.enum(VERDICTS).describe('The verdict.'),
  basis: z.string().describe('How: exact, split, batch, folded, truncated, net_of_charges, ambiguous, none …'),
  kind: z.string().nullable().describe('Why not settled: not_found, pending, returned, under, over, currency …'),
  matched_by: z.string().nullable().describe('The id that led to the entries.'),
  currency: z.string().describe('Currency of the instruction.'),
  amount_minor: z.string().describe('Instructed, in minor units.'),
  net_minor: z.string().nullable().describe('Paid less returned; null when it cannot be said.'),
  delta_minor: z.string().nullable().describe('net_minor less amount_minor.'),
  charges_minor: z.string().describe('Charges that explain a difference.'),
  payments: COUNT.describe('How often the full amount was paid.'),
  evidence: z.enum(EVIDENCE).nullable().describe('Weakest evidence used.'),
  final: z.boolean().describe('Settled, booked in a statement, and no warning that it may be another payment.'),
  reason: z.string().nullable().describe('Return reason of the bank.'),
  entries: z.array(z.string()).describe('Entries as file:entry.detail.'),
  warnings: z.array(z.string()).describe('Remarks, by code.'),
})

/** Payment messages against what the bank says of them. */
export default defineTool({
  id: 'reconcile',
  title: 'Reconcile payments with a statement',
  description:
    'Matches the transfers of a pain.001 or pacs.008 with the entries of a camt.053 statement or an ACH file, by end-to-end id and exact ' +
    'integer amounts: SETTLED, UNPAID, AMOUNT_MISMATCH or DUPLICATE_PAYMENT for each, with unmatched entries and proof that no amount ' +
    'was lost. An ACH file alone shows origination, not settlement.',
  family: 'messages',
  version: '1.1.0',
  price: 'document',
  annotations: PURE,
  scope: {
    checked: [
      'ids: end-to-end id, then UETR and weaker ones where there is none',
      'amounts to the minor unit; returns, charges, batches and repeated statements',
      'direction and account of each entry',
      'booking date within a window around the requested execution or settlement date; where one is missing, ids alone decide',
      'transactions of an entry against its amount',
    ],
    not_checked: ['the messages against their schemas', 'balances of the statement', 'currency conversion: nothing is converted'],
  },
  bounds: { body_bytes: limits.document_body_bytes },
  heavy: true,
  headline: [
    {
      when: { valid: false },
      tone: 'bad',
      word: 'NOT RECONCILED',
      sentence: 'An input could not be read whole, so no payment was judged; the findings say why.',
    },
    { when: { all_settled: true }, tone: 'good', word: 'ALL SETTLED', sentence: '{summary}' },
    { when: { all_settled: false }, tone: 'bad', word: 'NOT ALL SETTLED', sentence: '{summary}' },
  ],
  sources: [],
  input: z
    .strictObject({
      pain001_xml: DOCUMENT.describe('Instructions: a pain.001 of any version.'),
      pacs008_xml: DOCUMENT.describe('Instructions between banks: a pacs.008 of any version.'),
      camt053_xml: DOCUMENT.describe('Statement: a camt.053, versions 02 to 13.'),
      nacha_ach: DOCUMENT.describe('ACH file of 94-character records.'),
      require_settlement_evidence: z.boolean().optional().describe('A freshly originated ACH entry then settles nothing.'),
      days_before: DAYS.optional().describe('Entries booked up to so many days before the payment was due count; 10 if left out.'),
      days_after: DAYS.optional().describe('Entries booked up to so many days after it count; 90 if left out.'),
    })
    .check(({ value, issues }) => void issues.push(...missing(INSTRUCTIONS, value), ...missing(STATEMENTS, value)))
    .meta(BOTH_GIVEN),
  output: z.strictObject({
    valid: z.boolean().describe('False when an input could not be read whole; then there are no verdicts.'),
    all_settled: z.boolean().describe('Every instruction is SETTLED, and there is one.'),
    summary: z.string().describe('One sentence.'),
    counts: z
      .strictObject({ SETTLED: COUNT, UNPAID: COUNT, AMOUNT_MISMATCH: COUNT, DUPLICATE_PAYMENT: COUNT })
      .describe('Instructions by verdict.'),
    verdicts: z.array(VERDICT).describe('One for each instruction, by id, then place.'),
    unmatched: DEEP.describe('Entries that stand for no instruction, with the reason.'),
    ignored: DEEP.describe('Entries that do not count: pending, repeated statements, notices.'),
    ambiguous: DEEP.describe('Instructions and entries that cannot be told apart; those are UNPAID.'),
    input_defects: DEEP.describe('Ids that several instructions share.'),
    totals: DEEP.describe('By currency: sums of instructions by verdict, of entries by fate.'),
    conserved: z.boolean().describe('Matched, unmatched and ignored add up to all entries; false when nothing was judged.'),
    files: z.array(z.string()).describe('The inputs, as numbered.'),
    window: z
      .strictObject({ days_before: DAYS.describe('Before it was due.'), days_after: DAYS.describe('After it was due.') })
      .describe('Days around the due date of a payment in which an entry counts.'),
    findings: DEEP.describe('Remarks on the inputs: code, severity, file, line, message; at most 200.'),
    finding_count: COUNT.describe('All of them.'),
  }),
  example: {
    pain001_xml:
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr><PmtInf>' +
      '<PmtInfId>P1</PmtInfId><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><CdtTrfTxInf><PmtId>' +
      '<EndToEndId>INV-1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">100.00</InstdAmt></Amt></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn>' +
      '</Document>',
    camt053_xml:
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S1</Id><Acct><Id>' +
      '<IBAN>DE89370400440532013000</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">100.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>' +
      '<NtryDtls><TxDtls><Refs><EndToEndId>INV-1</EndToEndId></Refs></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>',
  },
  async run(asked) {
    const { reconcileDocuments } = await import('../../pure/documents/reconcile/report.ts')
    const files = NAMES.filter((name) => asked[name] !== undefined)
    const documents = files.map((name): Document => ({ kind: INPUTS[name], text: asked[name] ?? '' }))
    const { require_settlement_evidence = false, days_before = DEFAULT_WINDOW.days_before, days_after = DEFAULT_WINDOW.days_after } = asked
    const window = { days_before, days_after }
    const report = reconcileDocuments(documents, { require_settlement_evidence, window })
    const { SETTLED: settled, UNPAID: unpaid, AMOUNT_MISMATCH: differing, DUPLICATE_PAYMENT: duplicate } = report.counts
    const all = report.verdicts.length
    const rows = (list: readonly object[]) => list.map((row) => ({ ...row }))
    return {
      ...report,
      all_settled: all > 0 && settled === all,
      summary: report.valid
        ? `Of ${all} instructions ${settled} are settled, ${unpaid} unpaid, ${differing} differ in amount and ${duplicate} were paid twice; ` +
          `${report.unmatched.length} entries stand for none of them.`
        : 'An input could not be read whole, so nothing was judged; findings say where.',
      unmatched: rows(report.unmatched),
      ignored: rows(report.ignored),
      ambiguous: rows(report.ambiguous),
      input_defects: rows(report.input_defects),
      findings: rows(report.findings),
      files,
      window,
    }
  },
})
