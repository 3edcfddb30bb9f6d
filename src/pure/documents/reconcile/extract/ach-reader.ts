import { nachaReader, type NachaEntry, type NachaFinding } from '../../nacha/read.ts'
import type { NachaCode } from '../../nacha/rules.ts'
import { dayNumber } from '../dates.ts'
import type { Aside, Entry } from '../records.ts'
import type { StatementBook } from '../statements.ts'
import type { Findings } from './findings.ts'
import { formatOf, messageName } from './formats.ts'

/** Faults after which nobody can say what is in the file; the others are passed on as warnings. */
const BLOCKING: ReadonlySet<NachaCode> = new Set<NachaCode>([
  'N_LEN',
  'N_ORDER',
  'N_AMOUNT',
  'N_TXCODE',
  'N_B_COUNT',
  'N_B_HASH',
  'N_B_DEBIT',
  'N_B_CREDIT',
  'N_F_BATCHES',
  'N_F_COUNT',
  'N_F_HASH',
  'N_F_DEBIT',
  'N_F_CREDIT',
  'N_AFTER_CONTROL',
])

/** Width of the field with the originator's id for the receiver: 22 in customer-initiated entries (Nacha Operating Rules, 2026), else 15. */
const ID_WIDTH = { CIE: 22, other: 15 } as const

/**
 * Reads the entries of an ACH file from the view of its originator: a credit to the receiver is a debit. A forward entry is an instruction,
 * so its evidence is weak; a settlement date, which only an operator fills in, makes it stronger.
 */
export class AchReader {
  private readonly reader
  private readonly file: number
  private readonly findings: Findings
  private readonly book: StatementBook
  private readonly take: (entry: Entry) => void
  private readonly statement: number
  private readonly decoder = new TextDecoder('latin1')
  private entries = 0
  /** How the file begins. */
  private head = ''

  constructor(file: number, findings: Findings, book: StatementBook, take: (entry: Entry) => void) {
    this.file = file
    this.findings = findings
    this.book = book
    this.take = take
    this.statement = book.open({ file, account: null, id: null, sequence: null, page: null, copy: false })
    this.reader = nachaReader({ onEntry: (entry) => this.onEntry(entry) })
  }

  /** Always true: nothing stops the reader. */
  write(chunk: string | Uint8Array): boolean {
    // ACH is ASCII; whatever else is there must not stop the reader, which says so.
    const text = typeof chunk === 'string' ? chunk : this.decoder.decode(chunk, { stream: true })
    if (this.head.length < HEAD_CHARS) this.head += text.slice(0, HEAD_CHARS)
    this.reader.write(text)
    return true
  }

  end(): boolean {
    const { file, findings } = this.reader.end()
    const format = foreignFormat(this.head)
    if (format !== null) {
      this.findings.add('FORMAT_OTHER', this.file, 1, `${format}, where an ACH file (Nacha) is expected`)
      return true
    }
    for (const finding of findings)
      this.findings.put({ ...severityOf(finding), file: this.file, line: finding.line, message: finding.message })
    if (this.entries === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    if (file !== null) {
      const { immediate_origin, immediate_destination, creation_date, creation_time, modifier } = file
      this.book.name(this.statement, immediate_origin, [immediate_destination, creation_date, creation_time, modifier].join(' '))
    }
    return true
  }

  private onEntry(entry: NachaEntry): void {
    this.entries++
    if (entry.amount_minor === null) return
    const read = this.entryOf(entry, entry.amount_minor)
    this.book.add(read)
    this.take(read)
  }

  private entryOf(entry: NachaEntry, amount_minor: bigint): Entry {
    const returned = entry.kind === 'return'
    return {
      source: 'nacha',
      file: this.file,
      entry: entry.line,
      detail: 0,
      // What becomes of a return that was dishonored or contested is not in the file.
      status: returned && entry.return_kind !== 'return' ? 'OTHER' : 'BOOK',
      aside: asideOf(entry),
      evidence: entry.settlement_julian === null ? 'ach_originated' : 'ach_dated',
      direction: (entry.direction === 'credit') === returned ? 'CRDT' : 'DBIT',
      currency: 'USD',
      amount_minor,
      instructed: null,
      charges_minor: 0n,
      returned,
      return_reason: entry.return_code,
      ...NO_IDS,
      references: referencesOf(entry),
      fixed: entry.individual_id === '' ? null : { id: entry.individual_id, width: entry.sec === 'CIE' ? ID_WIDTH.CIE : ID_WIDTH.other },
      trace: returned ? null : entry.trace,
      original_trace: entry.original_trace,
      batch_count: null,
      account: null,
      counterparty_account: null,
      statement: this.statement,
      booking: null,
      // A return bears the day of its own batch or of the entry that it returns.
      day: returned ? null : dayNumber(entry.effective_date),
    }
  }
}

/** Characters of a file by which its format is told. */
const HEAD_CHARS = 4_096

/** What the file is when it is no ACH file; null where it is one, or cannot be told. */
function foreignFormat(head: string): string | null {
  if (/^\s{0,4}1/.test(head)) return null
  return /^\s*</.test(head) ? (messageName(head) ?? 'XML') : formatOf(head)
}

const NO_IDS = {
  end_to_end_id: null,
  instruction_id: null,
  transaction_id: null,
  uetr: null,
  clearing_reference: null,
  payment_information_id: null,
  message_id: null,
} as const

function severityOf({ code, severity }: NachaFinding): Pick<NachaFinding, 'code' | 'severity'> {
  return { code, severity: severity === 'error' && !BLOCKING.has(code) ? 'warning' : severity }
}

function asideOf({ kind, prenote }: NachaEntry): Aside | null {
  if (kind === 'noc') return 'notification_of_change'
  return prenote ? 'prenote' : null
}

const TELLING = ['TRN', 'RMR', 'REF'] as const

/** Ids in segments, traces of payments first, then free text as it stands. */
function referencesOf({ references, payment_infos }: NachaEntry): string[] {
  const named = TELLING.flatMap((segment) => references.filter((one) => one.segment === segment).map(({ id }) => id))
  const free = payment_infos.map((text) => text.trim()).filter((text) => text !== '' && !text.includes('*'))
  return [...new Set([...named, ...free])].slice(0, MOST_REFERENCES)
}

const MOST_REFERENCES = 100
