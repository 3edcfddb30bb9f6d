import { errorRule, infoRule, type NachaCode, type RuleText, warningRule } from '../nacha/format.ts'
import type { XmlFaultCode } from '../xml/parser.ts'

/**
 * Input of reconciliation, independent of file formats. Amounts are integers in the minor unit of their currency (see `currencyDigits`);
 * absent texts are null. Ids are verbatim; `usableId` decides what counts as an id.
 */

export const INSTRUCTION_SOURCES = ['pain.001', 'pacs.008', 'pain.008', 'pacs.003', 'mt101', 'mt103', 'ach', 'ach_debit'] as const
export type InstructionSource = (typeof INSTRUCTION_SOURCES)[number]

/** Messages between banks: they settle over accounts that the message does not name. */
export function isInterbank(source: InstructionSource): boolean {
  return source === 'pacs.008' || source === 'pacs.003' || source === 'mt103'
}

/** Direct debits: the money comes to the account of the creditor, who orders them. */
export function isCollection(source: InstructionSource): boolean {
  return source === 'pain.008' || source === 'pacs.003' || source === 'ach_debit'
}

export const ENTRY_SOURCES = ['camt.053', 'nacha', 'camt.052', 'camt.054', 'mt940', 'mt942', 'bai2', 'ofx', 'csv'] as const
export type EntrySource = (typeof ENTRY_SOURCES)[number]

/** Ids of a transaction without its own amount. */
export interface EnclosedTransaction {
  end_to_end_id: string | null
  uetr: string | null
  instruction_id: string | null
  transaction_id: string | null
}

/** Ids that instructions and entries can share. */
interface PaymentIds extends EnclosedTransaction {
  clearing_reference: string | null
  payment_information_id: string | null
  message_id: string | null
}

/** One credit transfer that was ordered. */
export interface PaymentInstruction extends PaymentIds {
  source: InstructionSource
  /** Index of the input file, from 0. */
  file: number
  /** Position among the transfers of that file, from 1. */
  position: number
  currency: string
  amount_minor: bigint
  debtor_account: string | null
  creditor_account: string | null
  /** Requested execution or interbank settlement day, as `parseDay`; null if not stated. */
  day: number | null
  /** The first structured creditor reference. */
  creditor_reference?: string | null
}

/** Booking status. Only BOOK is money that moved; OTHER is a proprietary code of the bank. */
export const ENTRY_STATUSES = ['BOOK', 'PDNG', 'INFO', 'OTHER'] as const
export type EntryStatus = (typeof ENTRY_STATUSES)[number]

/**
 * Strength of evidence, strongest first. `ach_dated`: an ACH entry whose batch has a settlement date, which only an operator fills in; it
 * may still be returned. `ach_originated`: a forward ACH entry, an instruction without settlement.
 */
export const EVIDENCE_GRADES = ['booked', 'ach_dated', 'ach_originated'] as const
export type EvidenceGrade = (typeof EVIDENCE_GRADES)[number]

/** Seen from the account of the statement; for an ACH entry from its originator. */
export type EntryDirection = 'DBIT' | 'CRDT'

/** Kinds of entries that are never payments. */
export const NON_PAYMENT_KINDS = ['notification_of_change', 'prenote', 'rejected'] as const
export type NonPaymentKind = (typeof NON_PAYMENT_KINDS)[number]

/** One movement of a statement or ACH file: a transaction if details are given, otherwise a whole entry. */
export interface BankEntry extends PaymentIds {
  source: EntrySource
  file: number
  /** Position among the entries of the file, from 1; the line number of an ACH entry. */
  entry: number
  /** Position among the entry's details, from 1; 0 if it has none. */
  detail: number
  status: EntryStatus
  aside: NonPaymentKind | null
  evidence: EvidenceGrade
  direction: EntryDirection
  currency: string
  amount_minor: bigint
  /** Amount before exchange and charges, if the bank states it. */
  instructed: { currency: string; amount_minor: bigint } | null
  /** Charges in the entry's currency that are included in its amount; 0 if none. */
  charges_minor: bigint
  /** Marked by the bank as money going back: reversal, return, addenda 99. */
  returned: boolean
  return_reason: string | null
  /** Ids in the addenda of an ACH entry, the most specific first. */
  references: readonly string[]
  /** Id in a fixed-width field, which cuts longer ids. */
  fixed: { id: string; width: number } | null
  /** Trace number of an ACH entry, and the trace number that a return refers to. */
  trace: string | null
  original_trace: string | null
  /** Number of transactions in an entry without details, as stated by the bank. */
  batch_count: number | null
  account: string | null
  /** The other side's account: the creditor's for a debit, the debtor's for a credit. */
  counterparty_account: string | null
  /** Statement number from `StatementBook.open`. */
  statement: number
  /** The bank's reference of the booking with its day; null if one is missing. */
  booking: string | null
  /** Booking date, otherwise value date, as `parseDay`; null if there is none. */
  day: number | null
  /** The bank's transaction code marks the whole amount as charges. */
  charge?: boolean
  /** Charges of a batch that the bank booked in one entry with its transactions; no payment and no part of one. */
  batch_charge?: boolean
  /** This payment's share of such charges, as far as the bank lists it. */
  share_minor?: bigint
  /** Ids of the transactions of a row for several without amounts; absent if not all are known. */
  inside?: readonly EnclosedTransaction[]
  /** The transactions do not add up to the booked amount: the row concerns those inside and settles none of them. */
  unclear?: boolean
  /** Code and corrected data of a notice of change. */
  change?: { code: string; corrected_data: string }
  /** Set if the reader was asked to keep remittance information. */
  remittance?: RemittanceInformation
}

/** A statement or file that contains entries. */
export interface BankStatement {
  file: number
  account: string | null
  id: string | null
  sequence: string | null
  page: string | null
  /** Marked by the bank as a copy or duplicate. */
  copy: boolean
  /** First and last day of the period, as `parseDay`; null if not stated. */
  from_day?: number | null
  to_day?: number | null
  /** Day on which the statement was made. */
  created_day?: number | null
  /** Booked balances before and after the entries, as far as stated. */
  opening?: StatementBalance
  closing?: StatementBalance
  /** The bank marks the page as the last one; null if it does not say. */
  last_page?: boolean | null
  /** The page number counts the messages, which may have different statements. */
  message_page?: boolean
  /** Number of entries that the statement says it has. */
  stated_entries?: number | null
  /** Part that is missing according to a control total of the file. */
  incomplete?: string
  /** Intraday report, notification or payment file: it shows some entries of the account, not all. */
  partial?: boolean
}

export interface StatementBalance {
  currency: string
  /** Negative for a debit balance. */
  amount_minor: bigint
  day: number | null
}

/** Details of a statement entry that only invoice reconciliation needs: remittance, the bank's reference, and the booking date. */
export interface RemittanceInformation {
  /** The bank's id of the statement. */
  statement_id: string | null
  /** Electronic or legal sequence number, and page number. */
  sequence: string | null
  page: string | null
  /** The bank's id of the entry (NtryRef, otherwise AcctSvcrRef). */
  entry_reference: string | null
  /** Booking date, YYYY-MM-DD; null if missing or invalid. */
  booked_on: string | null
  /** Booking date (BookgDt), or the value date (ValDt) of an entry without one, as written; null without either. */
  dated: { field: 'BookgDt' | 'ValDt'; text: string } | null
  /** Structured creditor references (CdtrRefInf), verbatim. */
  creditor_references: string[]
  /** Unstructured lines (Ustrd). */
  unstructured: string[]
  /** Further texts of the bank about the entry (AddtlNtryInf, AddtlTxInf, Refs/Prtry). */
  additional: string[]
  /** The bank's reference of the booking (AcctSvcrRef). */
  servicer_reference: string | null
  /** Value date, YYYY-MM-DD. */
  value_date: string | null
  counterparty_name: string | null
  /** Line of the file on which the entry begins. */
  line: number
}

/** Findings that matter to reconciliation; validating messages is the job of other tools. */
const READ_FINDINGS = {
  MESSAGE_MISSING: errorRule('The file contains no message of the expected kind.'),
  MESSAGE_OTHER: errorRule('The message is not of the kind that this input takes.'),
  FORMAT_OTHER: errorRule('The file is not in the format that this input takes.'),
  ELEMENT_REPEATED: errorRule('An element that may occur once occurs twice, so programs would read different values; remove one.'),
  VALUE_SPLIT: errorRule('A comment or processing instruction is inside a value, so programs would read different values; remove it.'),
  AMOUNT_MISSING: errorRule('An amount or its currency is missing; expected for example 604.00 with Ccy="EUR".'),
  AMOUNT_UNREADABLE: errorRule('An amount is not a decimal number; write digits and a decimal point, for example 604.00.'),
  AMOUNT_FRACTION: errorRule('An amount has more decimal places than its currency (EUR has 2, JPY has 0).'),
  AMOUNT_RANGE: errorRule('An amount is larger than 9223372036854775807 minor units.'),
  DIRECTION_MISSING: errorRule('An entry is neither credit nor debit; expected CRDT or DBIT in CdtDbtInd.'),
  STATUS_MISSING: warningRule('An entry has no status (Sts) and does not count; a booked entry has BOOK.'),
  DETAILS_WITHOUT_AMOUNT: warningRule('Transactions of an entry have no amounts; what the others leave counts as one row.'),
  DETAILS_MISSING: warningRule('An entry lists fewer transactions than it states; the rest of its amount counts as one row.'),
  DETAILS_CURRENCY: warningRule(
    'The transactions are in another currency than their entry; the entry counts as one row with the booked amount.',
  ),
  DETAILS_SUM: warningRule(
    'The transactions of an entry do not add up to its amount and no charges explain the difference; the entry settles none of them.',
  ),
  DETAILS_UNCLEAR: errorRule(
    'The transactions of an entry do not add up to its amount, and there are too many of them (10,000 or more) to set the entry aside.',
  ),
  DETAIL_AMOUNT: warningRule(
    'The only transaction of an entry has another amount than was booked and no charges explain the difference; the booked amount counts.',
  ),
  CSV_COLUMNS: errorRule('The columns of the CSV file are not known; name at least the columns of the booking date and the amount.'),
  CSV_DATES: errorRule('The dates can be read as day and month or as month and day; write them as YYYY-MM-DD.'),
  CSV_AMOUNTS: errorRule('It is not certain whether the amounts have a decimal point or comma; write them with two decimal places.'),
  CSV_ROWS: errorRule('The CSV file has more than 500,000 rows; split it.'),
  ENTRY_UNREADABLE: errorRule('An entry is not in the form of its format, so its amount or direction is not certain.'),
  CURRENCY_MISSING: warningRule('The statement names no currency; its entries count in XXX and match no payment.'),
  CONTROL_TOTAL: warningRule('A control total of the file is not the sum of its amounts; lines may be missing.'),
  ENCODING_IGNORED: infoRule('The text was already decoded, so the encoding that its XML declaration names is ignored.'),
  SIDE_MISSING: errorRule('Both payments and statements are needed; no file of one side was given.'),
  SIDE_SWAPPED: infoRule('The file was given on the other side; it was read as what it is.'),
  NOTHING_TO_READ: warningRule('The file contains no instructions or entries.'),
  STATEMENT_REPEATED: warningRule('The statement was supplied twice; the second one does not count.'),
  STATEMENT_ID_REUSED: warningRule('Two statements have the same account, id and number but different entries; both count.'),
  STATEMENT_OVERLAP: warningRule(
    'Two statements of one account show the same entries for a day, without bank references; they count once, and verdicts that rest on them are not final.',
  ),
  STATEMENT_INCOMPLETE: warningRule(
    'An entry that is not shown may have been booked, so payments without an entry there are not covered instead of unpaid; add what is missing.',
  ),
  STATEMENT_COPY: infoRule('The statement is marked as a copy and its original was not supplied; it counts.'),
} as const satisfies Record<string, RuleText>

export type ReadCode = keyof typeof READ_FINDINGS

/** A finding on a file. With an error no verdict is given at all: a partial result would look complete. */
export interface ReadFinding {
  code: ReadCode | XmlFaultCode | NachaCode
  severity: RuleText['severity']
  /** Index of the input file, from 0. */
  file: number
  line: number | null
  message: string
}

const LISTED_FINDINGS = 200

/** Findings in the order they were made: all counted, the first 200 kept. */
export class ReadFindings {
  readonly list: ReadFinding[] = []
  errors = 0
  count = 0

  /** `found` is the offending text from the file, which precedes the message. */
  add(code: ReadCode, file: number, line: number | null, found: string | null = null): void {
    const { severity, message } = READ_FINDINGS[code]
    this.put({ code, severity, file, line, message: found === null ? message : `Found ${found}. ${message}` })
  }

  /** Adds what the statements do not cover. */
  addIncomplete(missing: readonly { file: number; missing: string }[]): void {
    const { severity, message } = READ_FINDINGS.STATEMENT_INCOMPLETE
    for (const { file, missing: text } of missing)
      this.put({ code: 'STATEMENT_INCOMPLETE', severity, file, line: null, message: `Missing: ${text}. ${message}` })
  }

  /** Clears everything before the files are read again. */
  clear(): void {
    this.list.length = 0
    this.errors = 0
    this.count = 0
  }

  put(finding: ReadFinding): void {
    this.count++
    if (finding.severity === 'error') this.errors++
    if (this.list.length < LISTED_FINDINGS) this.list.push(finding)
    // An error replaces the last kept finding, because it matters more than a warning.
    else if (finding.severity === 'error' && this.errors === 1) this.list[LISTED_FINDINGS - 1] = finding
  }
}
