import { z } from 'zod'
import { missingFieldIssues } from '../../pure/checks/pack.ts'
import type { PaymentDocument, DocumentKind } from '../../pure/documents/reconcile/reconcile-documents.ts'
import { DEFAULT_WINDOW, MAX_WINDOW_DAYS } from '../../pure/documents/reconcile/values.ts'
import { EVIDENCE_GRADES } from '../../pure/documents/reconcile/records.ts'
import { VERDICTS } from '../../pure/documents/reconcile/verdicts.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** The inputs in the order of their numbers in answers. */
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
/** The required combinations in JSON Schema. Some clients reject anyOf at the top of a schema; inside of if they accept it. */
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
  end_to_end_id: z.string().nullable().describe('End-to-end ID of the instruction, at most 64 characters.'),
  source: z.string().describe('Message of the instruction: pain.001 or pacs.008.'),
  file: z.int().min(0).max(3).describe('Index in files.'),
  position: COUNT.describe('Position of the transfer in its file, from 1.'),
  verdict: z.enum(VERDICTS).describe('The verdict.'),
  basis: z.string().describe('How it was matched: exact, split, batch, folded, truncated, net_of_charges, ambiguous, none …'),
  kind: z.string().nullable().describe('Why it is not settled: not_found, pending, returned, under, over, currency …'),
  matched_by: z.string().nullable().describe('The ID by which the entries were found.'),
  currency: z.string().describe('Currency of the instruction.'),
  amount_minor: z.string().describe('Instructed amount in minor units.'),
  net_minor: z.string().nullable().describe('Paid less returned amount in minor units; null when unknown.'),
  delta_minor: z.string().nullable().describe('net_minor less amount_minor.'),
  charges_minor: z.string().describe('Charges in minor units that explain a difference.'),
  payments: COUNT.describe('Number of times the full amount was paid.'),
  evidence: z.enum(EVIDENCE_GRADES).nullable().describe('Weakest evidence used.'),
  final: z.boolean().describe('True when settled, booked in a statement, and without a warning that it may be another payment.'),
  reason: z.string().nullable().describe('Return reason of the bank.'),
  entries: z.array(z.string()).describe('Matched entries as file:entry.detail, for example 1:3.1.'),
  warnings: z.array(z.string()).describe('Warning codes.'),
})

export default defineTool({
  id: 'reconcile',
  title: 'Reconcile payments with a statement',
  description:
    'Matches the transfers of a pain.001 or pacs.008 with the entries of a camt.053 statement or an ACH file, by end-to-end id and exact ' +
    'integer amounts: SETTLED, UNPAID, AMOUNT_MISMATCH or DUPLICATE_PAYMENT for each, with unmatched entries and proof that no amount ' +
    'was lost. An ACH file alone shows origination, not settlement.',
  family: 'messages',
  version: '1.1.1',
  price: 'document',
  annotations: PURE,
  scope: {
    checked: [
      'IDs: end-to-end ID, then UETR and weaker ones when it is missing',
      'amounts to the minor unit; returns, charges, batches and repeated statements',
      'direction and account of each entry',
      'booking date within a window around the requested execution or settlement date; when one is missing, IDs alone decide',
      'transactions of an entry against its amount',
    ],
    not_checked: [
      'who wrote the messages: anyone can write a statement',
      'the messages against their schemas',
      'balances of the statement',
      'currency conversion: nothing is converted',
    ],
  },
  bounds: { body_bytes: limits.document_body_bytes },
  heavy: true,
  headline: [
    {
      when: { valid: false },
      tone: 'bad',
      word: 'NOT RECONCILED',
      sentence: 'An input could not be read completely, so no payment was checked; see findings.',
    },
    { when: { all_settled: true }, tone: 'good', word: 'ALL SETTLED', sentence: 'By the messages given: {summary}' },
    { when: { all_settled: false }, tone: 'bad', word: 'NOT ALL SETTLED', sentence: 'By the messages given: {summary}' },
  ],
  sources: [],
  input: z
    .strictObject({
      pain001_xml: DOCUMENT.describe('Instructions: a pain.001 of any version.'),
      pacs008_xml: DOCUMENT.describe('Instructions between banks: a pacs.008 of any version.'),
      camt053_xml: DOCUMENT.describe('Statement: a camt.053, versions 02 to 13.'),
      nacha_ach: DOCUMENT.describe('ACH file (Nacha) with records of 94 characters.'),
      require_settlement_evidence: z.boolean().optional().describe('If true, originated ACH entries do not count as settled.'),
      days_before: DAYS.optional().describe('Days before the due date of the payment in which an entry counts; default 10.'),
      days_after: DAYS.optional().describe('Days after the due date of the payment in which an entry counts; default 90.'),
    })
    .check(({ value, issues }) => void issues.push(...missingFieldIssues(INSTRUCTIONS, value), ...missingFieldIssues(STATEMENTS, value)))
    .meta(BOTH_GIVEN),
  output: z.strictObject({
    valid: z.boolean().describe('False when an input could not be read completely; there are no verdicts then.'),
    all_settled: z.boolean().describe('True when there is an instruction, and every one is SETTLED.'),
    summary: z.string().describe('One sentence.'),
    counts: z
      .strictObject({ SETTLED: COUNT, UNPAID: COUNT, AMOUNT_MISMATCH: COUNT, DUPLICATE_PAYMENT: COUNT })
      .describe('Instructions by verdict.'),
    verdicts: z.array(VERDICT).describe('One for each instruction, sorted by ID, then position.'),
    unmatched: DEEP.describe('Entries without an instruction, with the reason.'),
    ignored: DEEP.describe('Entries that do not count: pending, repeated statements, notices.'),
    ambiguous: DEEP.describe('Instructions and entries that could be matched in several ways; these instructions are UNPAID.'),
    input_defects: DEEP.describe('IDs that several instructions share.'),
    totals: DEEP.describe('By currency: sums of instructions by verdict, and of matched, unmatched and ignored entries.'),
    conserved: z
      .boolean()
      .describe('True when matched, unmatched and ignored entries add up to all entries; false when nothing was checked.'),
    files: z.array(z.string()).describe('Names of the inputs; the position is the file number.'),
    window: z
      .strictObject({ days_before: DAYS.describe('Days before the due date.'), days_after: DAYS.describe('Days after the due date.') })
      .describe('Window around the due date of a payment in which an entry counts.'),
    findings: DEEP.describe('Findings in the inputs: code, severity, file, line, message; at most 200.'),
    finding_count: COUNT.describe('Number of findings, including those above 200.'),
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
  async run(input) {
    const { reconcileDocuments } = await import('../../pure/documents/reconcile/reconcile-documents.ts')
    const files = NAMES.filter((name) => input[name] !== undefined)
    const documents = files.map((name): PaymentDocument => ({ kind: INPUTS[name], text: input[name] ?? '' }))
    const { require_settlement_evidence = false, days_before = DEFAULT_WINDOW.days_before, days_after = DEFAULT_WINDOW.days_after } = input
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
          `${report.unmatched.length} entries match none of them.`
        : 'An input could not be read completely, so nothing was checked; see findings.',
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
