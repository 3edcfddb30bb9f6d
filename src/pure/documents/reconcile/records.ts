import { errorRule, infoRule, type NachaCode, type RuleText, warningRule } from '../nacha/format.ts'
import type { XmlFaultCode } from '../xml/parser.ts'
import { accountKey, textHash, HASH_SEED } from './values.ts'

/**
 * Input of reconciliation, independent of file formats. Amounts are integers in the minor unit of their currency (see `currencyDigits`);
 * absent texts are null. Ids are verbatim; `usableId` decides what counts as an id.
 */

export const INSTRUCTION_SOURCES = ['pain.001', 'pacs.008'] as const
export type InstructionSource = (typeof INSTRUCTION_SOURCES)[number]

export const ENTRY_SOURCES = ['camt.053', 'nacha'] as const
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
export const NON_PAYMENT_KINDS = ['notification_of_change', 'prenote'] as const
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
  /** Ids of the transactions of a row for several without amounts; absent if not all are known. */
  inside?: readonly EnclosedTransaction[]
  /** The transactions do not add up to the booked amount: the row concerns those inside and settles none of them. */
  unclear?: boolean
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
  NOTHING_TO_READ: warningRule('The file contains no instructions or entries.'),
  STATEMENT_REPEATED: warningRule('The statement was supplied twice; the second one does not count.'),
  STATEMENT_ID_REUSED: warningRule('Two statements have the same account, id and number but different entries; both count.'),
  STATEMENT_OVERLAP: warningRule(
    'Two statements of one account show the same entries for a day, without bank references; they count once, and verdicts that rest on them are not final.',
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

/** Order-independent digest of entries: different sets collide only by chance. */
interface EntryDigest {
  entries: number
  digest: number
  digest_check: number
}

interface StatementInstance extends BankStatement, EntryDigest {
  number: number
  /** Booked entries without a bank reference, by day: only their digest can show that another statement repeats them. */
  unnamed: Map<number, EntryDigest>
}

/** Days, by statement number, on which another statement of the account shows the same entries without references. */
export interface StatementOverlaps {
  /** Days whose entries do not count. */
  repeating: ReadonlyMap<number, ReadonlySet<number>>
  /** Days whose entries count instead. */
  counting: ReadonlyMap<number, ReadonlySet<number>>
}

/** Finding on statements that share account, id, sequence and page, or overlap. */
interface StatementRemark {
  code: 'STATEMENT_REPEATED' | 'STATEMENT_ID_REUSED' | 'STATEMENT_OVERLAP' | 'STATEMENT_COPY'
  statement: number
  file: number
  id: string
}

/**
 * Finds statements that were supplied twice: same account, id, sequence and page, and the same entries in any order. If only their entries
 * differ, both count and a finding says so, because dropping money would be worse. A statement without an id is never taken for a repeat.
 */
export class StatementBook {
  private readonly instances: StatementInstance[] = []

  /** Returns the number for its entries. */
  open(statement: BankStatement): number {
    const number = this.instances.length
    this.instances.push({ ...statement, number, entries: 0, digest: 0, digest_check: 0, unnamed: new Map() })
    return number
  }

  /** Some files state their identity only at the end. */
  setName(number: number, account: string, id: string): void {
    const instance = this.instances[number]
    if (instance === undefined) return
    instance.account = account
    instance.id = id
  }

  add(entry: BankEntry): void {
    const instance = this.instances[entry.statement]
    if (instance === undefined) return
    const mixed = entryDigest(entry)
    addToDigest(instance, mixed)
    if (entry.booking !== null || entry.day === null || entry.status !== 'BOOK') return
    let unnamed = instance.unnamed.get(entry.day)
    if (unnamed === undefined) instance.unnamed.set(entry.day, (unnamed = { entries: 0, digest: 0, digest_check: 0 }))
    addToDigest(unnamed, mixed)
  }

  /**
   * Returns the statements whose entries must not count again, overlapping days and findings. The original is the one not marked as a copy,
   * otherwise the first.
   */
  findRepeats(): { repeated: ReadonlySet<number>; overlaps: StatementOverlaps; remarks: StatementRemark[] } {
    const repeated = new Set<number>()
    const remarks: StatementRemark[] = []
    const named = this.instances.filter(({ id }) => id !== null)
    for (const same of Map.groupBy(named, statementKey).values()) {
      const [original, ...others] = same.toSorted((one, other) => Number(one.copy) - Number(other.copy) || one.number - other.number)
      if (original === undefined) continue
      if (original.copy) remarks.push(statementRemark('STATEMENT_COPY', original))
      for (const other of others) {
        const repeats =
          other.entries === original.entries && other.digest === original.digest && other.digest_check === original.digest_check
        if (repeats) repeated.add(other.number)
        remarks.push(statementRemark(repeats ? 'STATEMENT_REPEATED' : 'STATEMENT_ID_REUSED', other))
      }
    }
    const overlaps = findOverlaps(this.instances.filter(({ number }) => !repeated.has(number)))
    for (const number of overlaps.repeating.keys()) {
      const instance = this.instances[number]
      if (instance !== undefined) remarks.push(statementRemark('STATEMENT_OVERLAP', instance))
    }
    return { repeated, overlaps, remarks: remarks.toSorted((one, other) => one.statement - other.statement) }
  }
}

function entryDigest(entry: BankEntry): { mixed: number; text: number } {
  let text = textHash(entry.end_to_end_id ?? '', HASH_SEED)
  text = textHash(entry.uetr ?? entry.instruction_id ?? entry.trace ?? entry.payment_information_id ?? '', text)
  text = textHash(entry.currency, text ^ (entry.direction === 'DBIT' ? 1 : 2))
  text = textHash(entry.status, text)
  if (entry.booking !== null) text = textHash(entry.booking, text)
  const { amount_minor: units } = entry
  const value = Number(BigInt.asUintN(53, units ^ (units >> 53n)))
  return { mixed: Math.imul(text ^ value, 0x2c1b3c6d) ^ Math.floor(value / 2 ** 32), text }
}

/** Addition makes the digest independent of order. */
function addToDigest(digest: EntryDigest, { mixed, text }: { mixed: number; text: number }): void {
  digest.entries++
  digest.digest = (digest.digest + mixed) | 0
  digest.digest_check = (digest.digest_check + Math.imul(mixed ^ (mixed >>> 15), text | 1)) | 0
}

/**
 * Days on which two statements of one account show the same entries without bank references. Pages of one statement, and statements with
 * separate periods, do not overlap. If a bank splits a day over statements and two of them contain the same payments, one counts too few;
 * therefore nothing that rests on an overlap is final.
 */
function findOverlaps(instances: readonly StatementInstance[]): StatementOverlaps {
  const repeating = new Map<number, Set<number>>()
  const counting = new Map<number, Set<number>>()
  const known = instances.filter(({ account, unnamed }) => account !== null && unnamed.size > 0)
  for (const same of Map.groupBy(known, ({ account }) => accountKey(account)?.text ?? '').values()) {
    const days = new Map<string, StatementInstance[]>()
    for (const instance of same) {
      for (const [day, digest] of instance.unnamed) {
        const name = [day, digest.entries, digest.digest, digest.digest_check].join(' ')
        const before = days.get(name) ?? []
        // Usually few statements show the same day; with many copies, comparing the first ones is enough.
        const original = before.slice(0, COMPARED_STATEMENTS).find((one) => mayOverlap(one, instance))
        if (original === undefined) days.set(name, [...before.slice(0, COMPARED_STATEMENTS), instance])
        else {
          addDay(repeating, instance.number, day)
          addDay(counting, original.number, day)
        }
      }
    }
  }
  return { repeating, counting }
}

/** Maximum number of statements compared per day. */
const COMPARED_STATEMENTS = 16

function mayOverlap(one: StatementInstance, other: StatementInstance): boolean {
  const pages = one.file === other.file && one.id === other.id && one.page !== other.page
  return !pages && !endsBefore(one, other) && !endsBefore(other, one)
}

function endsBefore({ to_day }: StatementInstance, { from_day }: StatementInstance): boolean {
  return typeof to_day === 'number' && typeof from_day === 'number' && to_day < from_day
}

function addDay(days: Map<number, Set<number>>, statement: number, day: number): void {
  const known = days.get(statement)
  if (known === undefined) days.set(statement, new Set([day]))
  else known.add(day)
}

function statementRemark(code: StatementRemark['code'], { number, file, id }: StatementInstance): StatementRemark {
  return { code, statement: number, file, id: id ?? '' }
}

function statementKey({ account, id, sequence, page }: BankStatement): string {
  return JSON.stringify([accountKey(account)?.text ?? null, id, sequence, page])
}
