import { z } from 'zod'
import { missingFieldIssues } from '../../pure/checks/pack.ts'
import type { DocumentKind } from '../../pure/documents/reconcile/document-kinds.ts'
import type { PaymentDocument } from '../../pure/documents/reconcile/reconcile-documents.ts'
import { DEFAULT_WINDOW, MAX_WINDOW_DAYS } from '../../pure/documents/reconcile/values.ts'
import { EVIDENCE_GRADES } from '../../pure/documents/reconcile/records.ts'
import { VERDICTS } from '../../pure/documents/reconcile/verdicts.ts'
import { READ_FORMATS } from '../../pure/documents/reconcile/document-kinds.ts'
import { CSV_COLUMNS, type CsvColumn, type CsvColumns } from '../../pure/documents/reconcile/statements/csv.ts'
import { defineTool, PURE, Refusal } from '../../service/catalogue/define.ts'
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
const INSTRUCTIONS = ['pain001_xml', 'pacs008_xml', 'instructions']
const STATEMENTS = ['camt053_xml', 'nacha_ach', 'statements']
/** Files of one side: two months of daily files. */
const FILES_MAX = 62
/** The required combinations in JSON Schema. Some clients reject anyOf at the top of a schema; inside of if they accept it. */
const BOTH_GIVEN = {
  if: { anyOf: INSTRUCTIONS.flatMap((one) => STATEMENTS.map((other) => both(one, other))) },
  else: false,
}

function both(one: string, other: string) {
  return { properties: { [one]: presentSchema(one), [other]: presentSchema(other) }, required: [one, other] }
}

function presentSchema(name: string) {
  const text = { type: 'string', maxLength: limits.document_body_bytes, description: 'Given.' }
  return name in INPUTS ? text : { type: 'array', maxItems: FILES_MAX, items: text, description: 'Given.' }
}

const DOCUMENT = z.string().min(1).max(limits.document_body_bytes).optional()
const FILES = z.array(z.string().min(1).max(limits.document_body_bytes)).min(1).max(FILES_MAX).optional()
const HEADER = z.string().max(100).optional().describe('Header of the column.')
const DAYS = z.int().min(0).max(MAX_WINDOW_DAYS)
const COUNT = z.int().min(0).max(1_000_000).describe('A count.')
const DEEP = z.array(z.record(z.string(), z.unknown()))

const VERDICT = z.strictObject({
  end_to_end_id: z.string().nullable().describe('End-to-end ID of the instruction, at most 64 characters.'),
  source: z.string().describe('Format of the instruction: pain.001, pacs.008, mt101, ach …'),
  file: z
    .int()
    .min(0)
    .max(2 * FILES_MAX + 3)
    .describe('Index in files.'),
  position: COUNT.describe('Position of the transfer in its file, from 1.'),
  verdict: z.enum(VERDICTS).describe('The verdict.'),
  basis: z.string().describe('How it was matched: exact, split, batch, folded, truncated, net_of_charges, ambiguous, none …'),
  kind: z
    .string()
    .nullable()
    .describe(
      'Why it is not settled: not_found, not_covered (do not pay again: the statements would not show it), rejected, returned, under, over …',
    ),
  matched_by: z.string().nullable().describe('The ID by which the entries were found.'),
  currency: z.string().describe('Currency of the instruction.'),
  amount_minor: z.string().describe('Instructed amount in minor units.'),
  net_minor: z.string().nullable().describe('Paid less returned amount in minor units; null when unknown.'),
  delta_minor: z.string().nullable().describe('net_minor less amount_minor.'),
  charges_minor: z.string().describe('Charges in minor units that explain a difference or were booked next to the payment.'),
  payments: COUNT.describe('Number of times the full amount was paid.'),
  evidence: z.enum(EVIDENCE_GRADES).nullable().describe('Weakest evidence used.'),
  final: z.boolean().describe('True when settled, booked in a statement, and nothing speaks against it.'),
  reason: z.string().nullable().describe('Return reason of the bank.'),
  entries: z.array(z.string()).describe('Matched entries as file:entry.detail, for example 1:3.1.'),
  warnings: z.array(z.string()).describe('Warning codes.'),
  candidates: z
    .array(
      z.strictObject({
        entry: z.string().describe('The entry, as file:entry.detail.'),
        score: z.int().min(0).max(100).describe('Strength, to sort by.'),
        why: z.array(z.string()).describe('same_id, id_in_text, creditor_reference, id_altered, counterparty_account, close_date.'),
      }),
    )
    .describe('Unmatched entries that may be an open payment: same account, amount and direction. Nothing is settled by them.'),
})

export default defineTool({
  id: 'reconcile',
  title: 'Reconcile payments with a statement',
  description:
    'Matches payments (pain.001, pain.008, pacs.008, MT101, ACH) with bank statements (camt.052-054, MT940, BAI2, OFX, CSV) or ACH files, ' +
    'by end-to-end id and exact integer amounts: SETTLED, UNPAID, AMOUNT_MISMATCH or DUPLICATE_PAYMENT for each, with unmatched entries, ' +
    'candidates for open payments, and proof that no amount was lost.',
  family: 'messages',
  version: '2.0.0',
  price: 'document',
  annotations: PURE,
  scope: {
    checked: [
      'IDs: end-to-end ID, then UETR and weaker ones when it is missing',
      'amounts to the minor unit; returns, charges, batches and repeated statements',
      'direction and account of each entry',
      'booking date within a window around the requested execution or settlement date; when one is missing, IDs alone decide',
      'transactions of an entry against its amount',
      'whether the statements cover account and days: numbers, pages, balances and control totals; where not, a payment without an entry is not_covered',
      'a payment and the interbank message that carries it out: one entry pays both only when they are the same money',
    ],
    not_checked: [
      'who wrote the messages: anyone can write a statement',
      'the messages against their schemas',
      'balances for anything but missing entries',
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
      instructions: FILES.describe(`Payment files: ${READ_FORMATS.instructions}; each is recognized by its content.`),
      statements: FILES.describe(
        `Statement files: ${READ_FORMATS.statement}; also the status messages pain.002, pacs.002, pain.007 and pacs.004.`,
      ),
      csv_columns: z
        .strictObject(Object.fromEntries(CSV_COLUMNS.map((name) => [name, HEADER])) as Record<CsvColumn, typeof HEADER>)
        .optional()
        .describe('Headers of a CSV statement whose columns are not recognized.'),
      require_settlement_evidence: z.boolean().optional().describe('If true, originated ACH entries do not count as settled.'),
      days_before: DAYS.optional().describe('Days before the due date of the payment in which an entry counts; default 10.'),
      days_after: DAYS.optional().describe('Days after the due date of the payment in which an entry counts; default 90.'),
    })
    .check(({ value, issues }) => void issues.push(...missingFieldIssues(INSTRUCTIONS, value), ...missingFieldIssues(STATEMENTS, value)))
    .meta(BOTH_GIVEN),
  output: z.strictObject({
    valid: z.boolean().describe('False when an input could not be read completely; there are no verdicts then.'),
    all_settled: z.boolean().describe('True when there is an instruction, and every one is final.'),
    summary: z.string().describe('Counts in one sentence, then at most five payments that need action.'),
    concerns: z
      .strictObject({
        all: COUNT.describe('Payments.'),
        settled: COUNT.describe('SETTLED.'),
        final: COUNT.describe('Settled and final.'),
        to_other_account: COUNT.describe('Paid to another account than instructed.'),
        not_covered: COUNT.describe('UNPAID of kind not_covered: the statements do not cover them.'),
        rejected: COUNT.describe('Rejected by a bank or operator.'),
        returned: COUNT.describe('Returned.'),
        unpaid: COUNT.describe('UNPAID.'),
        differing: COUNT.describe('AMOUNT_MISMATCH.'),
        duplicate: COUNT.describe('DUPLICATE_PAYMENT.'),
      })
      .nullable()
      .describe('Payments by what a desk must know of them; one can count in several. Null when nothing was checked.'),
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
    formats: z.array(z.string()).describe('Format as which each input was read, or what it is.'),
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
  refuses(result) {
    const codes = (result['findings'] as { code?: unknown }[]).map(({ code }) => String(code))
    if (result['valid'] === true || !codes.some((code) => WRONG_KINDS.has(code))) return null
    // Problems never quote the input, so only the name of the format is stated.
    const found = (result['formats'] as string[]).join(', ')
    const sentence =
      `A file is not of a kind that is read, so nothing was reconciled or charged. Found ${found}. Payments are read as ` +
      `${READ_FORMATS.instructions}; statements as ${READ_FORMATS.statement}.`
    return new Refusal('FORMAT_UNKNOWN', sentence, { extra: { found: result['formats'], read: READ_FORMATS } })
  },
  async run(input) {
    const { reconcileDocuments } = await import('../../pure/documents/reconcile/reconcile-documents.ts')
    const named = NAMES.flatMap((name) => (input[name] === undefined ? [] : [{ name, kind: INPUTS[name], text: input[name] }]))
    const listed = (name: 'instructions' | 'statements', kind: DocumentKind) =>
      (input[name] ?? []).map((text, index) => ({ name: `${name}/${index}`, kind, text }))
    const given = [...named, ...listed('instructions', 'pain.001'), ...listed('statements', 'camt.053')]
    const documents = given.map(({ kind, text }): PaymentDocument => ({ kind, text }))
    const { require_settlement_evidence = false, days_before = DEFAULT_WINDOW.days_before, days_after = DEFAULT_WINDOW.days_after } = input
    const window = { days_before, days_after }
    const columns = Object.entries(input.csv_columns ?? {}).filter(([, header]) => header !== undefined)
    const csv_columns = Object.fromEntries(columns) as CsvColumns
    const report = reconcileDocuments(documents, { require_settlement_evidence, window, csv_columns })
    const rows = (list: readonly object[]) => list.map((row) => ({ ...row }))
    return {
      ...report,
      unmatched: rows(report.unmatched),
      ignored: rows(report.ignored),
      ambiguous: rows(report.ambiguous),
      input_defects: rows(report.input_defects),
      findings: rows(report.findings),
      files: given.map(({ name }) => name),
      window,
    }
  },
})

/** Findings that mean that a file is of another kind than its side takes. */
const WRONG_KINDS: ReadonlySet<string> = new Set(['FORMAT_OTHER', 'MESSAGE_OTHER', 'MESSAGE_MISSING', 'SIDE_MISSING', 'CSV_COLUMNS'])
