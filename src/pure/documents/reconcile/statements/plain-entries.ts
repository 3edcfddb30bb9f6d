import type { BankEntry, BankStatement, EntryDirection, EntrySource, EntryStatus, ReadFindings } from '../records.ts'
import type { StatementBook } from '../statement-book.ts'
import { parseAmount, printableText } from '../values.ts'

/** One booking of a statement in a text format. */
export interface PlainEntry {
  line: number
  direction: EntryDirection
  currency: string
  amount_minor: bigint
  status?: EntryStatus
  /** Booking day, as `parseDay`. */
  day: number | null
  booked_on?: string | null
  value_date?: string | null
  returned?: boolean
  reason?: string | null
  charge?: boolean
  end_to_end_id?: string | null
  instruction_id?: string | null
  uetr?: string | null
  payment_information_id?: string | null
  message_id?: string | null
  counterparty_account?: string | null
  counterparty_name?: string | null
  /** The bank's reference of the booking. */
  servicer_reference?: string | null
  creditor_references?: string[]
  texts?: string[]
}

/** Receiver of the entries and findings of a text format. */
export interface PlainTarget {
  file: number
  findings: ReadFindings
  book: StatementBook
  take(entry: BankEntry): void
  keep_remittance: boolean
}

/** Lines of remittance kept of an entry. */
const TEXTS = 64

/** Writes bookings of text formats as entries of a statement. */
export class PlainStatements {
  readonly target: PlainTarget
  private readonly source: EntrySource
  private statement: BankStatement | null = null
  private number = -1
  entries = 0

  constructor(source: EntrySource, target: PlainTarget) {
    this.source = source
    this.target = target
  }

  open(statement: Omit<BankStatement, 'file' | 'copy'>): void {
    this.statement = { ...statement, file: this.target.file, copy: false }
    this.number = this.target.book.open(this.statement)
  }

  /** States what comes after the entries. */
  update(changes: Partial<BankStatement>): void {
    this.target.book.update(this.number, changes)
  }

  add(entry: PlainEntry): void {
    const { target } = this
    if (this.statement === null) this.open({ account: null, id: null, sequence: null, page: null })
    const { status = 'BOOK', direction, currency, amount_minor, day, servicer_reference = null } = entry
    const signed = direction === 'DBIT' ? -amount_minor : amount_minor
    target.book.count(this.number, { status, currency, amount_minor: signed, reversal: false, day })
    const written = this.entryOf(entry, status)
    if (servicer_reference !== null && entry.booked_on !== undefined && entry.booked_on !== null)
      written.booking = `${entry.booked_on} ${servicer_reference}`
    target.book.add(written)
    target.take(written)
  }

  private entryOf(entry: PlainEntry, status: EntryStatus): BankEntry {
    const { end_to_end_id = null, instruction_id = null, uetr = null, payment_information_id = null, message_id = null } = entry
    return {
      source: this.source,
      file: this.target.file,
      entry: ++this.entries,
      detail: 0,
      status,
      aside: null,
      evidence: 'booked',
      direction: entry.direction,
      currency: entry.currency,
      amount_minor: entry.amount_minor,
      instructed: null,
      charges_minor: 0n,
      returned: entry.returned ?? false,
      return_reason: entry.reason ?? null,
      end_to_end_id,
      instruction_id,
      transaction_id: null,
      uetr,
      clearing_reference: null,
      payment_information_id,
      message_id,
      references: [],
      fixed: null,
      trace: null,
      original_trace: null,
      batch_count: null,
      account: this.statement?.account ?? null,
      counterparty_account: entry.counterparty_account ?? null,
      statement: this.number,
      booking: null,
      day: entry.day,
      ...(entry.charge === true && { charge: true }),
      ...(this.target.keep_remittance && { remittance: this.remittanceOf(entry) }),
    }
  }

  private remittanceOf(entry: PlainEntry): NonNullable<BankEntry['remittance']> {
    const { id = null, sequence = null, page = null } = this.statement ?? {}
    return {
      statement_id: id,
      sequence,
      page,
      entry_reference: entry.servicer_reference ?? null,
      servicer_reference: entry.servicer_reference ?? null,
      booked_on: entry.booked_on ?? null,
      value_date: entry.value_date ?? null,
      dated: null,
      creditor_references: entry.creditor_references ?? [],
      unstructured: (entry.texts ?? []).slice(0, TEXTS),
      additional: [],
      counterparty_name: entry.counterparty_name ?? null,
      line: entry.line,
    }
  }
}

/** Reads a decimal amount with a comma or a point; faults become findings. Returns null then. */
export function plainAmount(
  text: string,
  currency: string,
  line: number,
  { findings, file }: Pick<PlainTarget, 'findings' | 'file'>,
): bigint | null {
  const read = parseAmount(text.replace(',', '.').replace(/^[+-]/, ''), currency)
  if (read.ok) return read.amount_minor
  const code = { lexical: 'AMOUNT_UNREADABLE', fraction: 'AMOUNT_FRACTION', range: 'AMOUNT_RANGE' } as const
  findings.add(code[read.fault], file, line, `${JSON.stringify(printableText(text.slice(0, 64)))} ${printableText(currency.slice(0, 8))}`)
  return null
}

const DAY_MS = 86_400_000

/** Day of a date as `parseDay` counts; null if it does not exist. */
export function dayOf(year: number, month: number, day: number): number | null {
  const time_ms = Date.UTC(year, month - 1, day)
  const real = new Date(time_ms)
  return real.getUTCMonth() === month - 1 && real.getUTCDate() === day && time_ms > 0 ? time_ms / DAY_MS : null
}

export function isoDay(day: number | null): string | null {
  return day === null ? null : new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Day of YYMMDD; years from 80 are of the last century. */
export function shortDay(text: string): number | null {
  if (!/^[0-9]{6}$/.test(text)) return null
  const [year = 0, month = 0, day = 0] = [text.slice(0, 2), text.slice(2, 4), text.slice(4, 6)].map(Number)
  return dayOf(year < 80 ? 2_000 + year : 1_900 + year, month, day)
}
