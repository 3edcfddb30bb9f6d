import type { NachaEntry } from '../nacha/entry.ts'
import type { NachaCode, NachaFinding } from '../nacha/format.ts'
import { nachaReader } from '../nacha/read.ts'
import { detectFormat, messageName } from './message-reader.ts'
import type { BankEntry, NonPaymentKind, PaymentInstruction, ReadFindings } from './records.ts'
import type { StatementBook } from './statement-book.ts'
import { parseDay } from './values.ts'

/** Faults that make the content of the file uncertain; all others become warnings. */
const BLOCKING_CODES: ReadonlySet<NachaCode> = new Set<NachaCode>([
  'N_LEN',
  'N_ORDER',
  'N_AMOUNT',
  'N_TXCODE',
  'N_NAME_ZERO',
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

/** Width of the individual identification number: 22 in customer-initiated entries (CIE), otherwise 15 (Nacha Operating Rules, 2026). */
const ID_WIDTH = { CIE: 22, other: 15 } as const

/**
 * Reads the entries of an ACH file from its originator's view: a credit to the receiver is a debit. A forward entry is an instruction and
 * weak evidence; a settlement date, which only an operator fills in, makes it stronger.
 */
export class AchReader {
  private readonly reader
  private readonly file: number
  private readonly findings: ReadFindings
  private readonly book: StatementBook
  private readonly emit: (entry: BankEntry) => void
  private readonly statement: number
  private readonly decoder = new TextDecoder('latin1')
  private readonly order: ((instruction: PaymentInstruction) => void) | null
  private entries = 0
  /** Start of the file. */
  private head = ''

  /** With `order`, the file is an order to the bank, and its forward entries are instructions. */
  constructor(
    file: number,
    findings: ReadFindings,
    book: StatementBook,
    take: (entry: BankEntry) => void,
    order: ((instruction: PaymentInstruction) => void) | null = null,
  ) {
    this.order = order
    this.file = file
    this.findings = findings
    this.book = book
    this.emit = take
    this.statement = book.open({ file, account: null, id: null, sequence: null, page: null, copy: false, partial: true })
    this.reader = nachaReader({ onEntry: (entry) => this.onEntry(entry) })
  }

  /** Always returns true: no content stops the reader. */
  write(chunk: string | Uint8Array): boolean {
    // ACH is ASCII; other bytes must reach the reader, which reports them.
    const text = typeof chunk === 'string' ? chunk : this.decoder.decode(chunk, { stream: true })
    if (this.head.length < HEAD_CHARS) this.head += text.slice(0, HEAD_CHARS)
    this.reader.write(text)
    return true
  }

  end(): boolean {
    const { file, findings } = this.reader.end()
    const format = otherFormat(this.head)
    if (format !== null) {
      this.findings.add('FORMAT_OTHER', this.file, 1, `${format}, where an ACH file (Nacha) is expected`)
      return true
    }
    for (const finding of findings)
      this.findings.put({ ...findingSeverity(finding), file: this.file, line: finding.line, message: finding.message })
    if (this.entries === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    if (file !== null) {
      const { immediate_origin, immediate_destination, creation_date, creation_time, modifier } = file
      this.book.setName(this.statement, immediate_origin, [immediate_destination, creation_date, creation_time, modifier].join(' '))
    }
    return true
  }

  private onEntry(entry: NachaEntry): void {
    this.entries++
    if (entry.amount_minor === null) return
    if (this.order !== null) {
      if (entry.kind === 'forward' && !entry.prenote) this.order(this.instructionOf(entry, entry.amount_minor))
      return
    }
    const read = this.entryOf(entry, entry.amount_minor)
    if (read.aside === 'rejected') for (const id of [...read.references, read.fixed?.id ?? null]) this.book.reject(id, REJECT_MARK)
    this.book.add(read)
    this.emit(read)
  }

  /** A credit pays the receiver, a debit collects from him. */
  private instructionOf(entry: NachaEntry, amount_minor: bigint): PaymentInstruction {
    const collects = entry.direction === 'debit'
    const account = entry.account === '' ? null : entry.account
    return {
      ...NO_ISO_IDS,
      source: collects ? 'ach_debit' : 'ach',
      file: this.file,
      position: this.entries,
      end_to_end_id: entry.individual_id === '' ? (collectReferences(entry)[0] ?? null) : entry.individual_id,
      instruction_id: entry.trace === '' ? null : entry.trace,
      currency: 'USD',
      amount_minor,
      debtor_account: collects ? account : null,
      creditor_account: collects ? null : account,
      day: parseDay(entry.effective_date),
    }
  }

  private entryOf(entry: NachaEntry, amount_minor: bigint): BankEntry {
    const returned = entry.kind === 'return'
    return {
      source: 'nacha',
      file: this.file,
      entry: entry.line,
      detail: 0,
      // The file does not say what becomes of a dishonored or contested return.
      status: returned && entry.return_kind !== 'return' ? 'OTHER' : 'BOOK',
      aside: nonPaymentKind(entry),
      evidence: entry.settlement_julian === null ? 'ach_originated' : 'ach_dated',
      direction: (entry.direction === 'credit') === returned ? 'CRDT' : 'DBIT',
      currency: 'USD',
      amount_minor,
      instructed: null,
      charges_minor: 0n,
      returned,
      return_reason: entry.return_code,
      ...NO_ISO_IDS,
      references: collectReferences(entry),
      fixed: entry.individual_id === '' ? null : { id: entry.individual_id, width: entry.sec === 'CIE' ? ID_WIDTH.CIE : ID_WIDTH.other },
      trace: returned ? null : entry.trace,
      original_trace: entry.original_trace,
      batch_count: null,
      account: null,
      counterparty_account: null,
      statement: this.statement,
      booking: null,
      ...(entry.change_code !== null && { change: { code: entry.change_code, corrected_data: entry.corrected_data ?? '' } }),
      // The date in a return is that of its batch or of the returned entry.
      day: returned ? null : parseDay(entry.effective_date),
    }
  }
}

/** Characters that suffice to detect the format. */
const HEAD_CHARS = 4_096

/** Format of the file if it is not an ACH file; null if it is one or the format is unknown. */
function otherFormat(head: string): string | null {
  if (/^\s{0,4}1/.test(head)) return null
  return /^\s*</.test(head) ? (messageName(head) ?? 'XML') : detectFormat(head)
}

const NO_ISO_IDS = {
  end_to_end_id: null,
  instruction_id: null,
  transaction_id: null,
  uetr: null,
  clearing_reference: null,
  payment_information_id: null,
  message_id: null,
} as const

function findingSeverity({ code, severity }: NachaFinding): Pick<NachaFinding, 'code' | 'severity'> {
  return { code, severity: severity === 'error' && !BLOCKING_CODES.has(code) ? 'warning' : severity }
}

/** The operator writes this in place of the originating bank in the trace number of an entry that it rejects (Nacha Operating Rules, appendix four). */
const REJECT_MARK = 'REJ'

function nonPaymentKind({ kind, prenote, trace }: NachaEntry): NonPaymentKind | null {
  if (kind === 'noc') return 'notification_of_change'
  if (trace.startsWith(REJECT_MARK)) return 'rejected'
  return prenote ? 'prenote' : null
}

const REFERENCE_SEGMENTS = ['TRN', 'RMR', 'REF'] as const

/** Ids in addenda segments, payment traces first, then verbatim free text. */
function collectReferences({ references, payment_infos }: NachaEntry): string[] {
  const named = REFERENCE_SEGMENTS.flatMap((segment) => references.filter((one) => one.segment === segment).map(({ id }) => id))
  const free = payment_infos.map((text) => text.trim()).filter((text) => text !== '' && !text.includes('*'))
  return [...new Set([...named, ...free])].slice(0, MOST_REFERENCES)
}

const MOST_REFERENCES = 100
