import { DEFAULT_WINDOW, parseDay } from './values.ts'
import {
  ReadFindings,
  type ReadFinding,
  type BankEntry,
  type PaymentInstruction,
  StatementBook,
  type InstructionSource,
  type NonPaymentKind,
} from './records.ts'
import { StatementReader } from './statement-reader.ts'
import { Ledger } from './ledger.ts'
import { reconcileLedger, type ReconcileOptions } from './reconcile.ts'
import { TotalsCollector, isConserved, totalsJson, type ReconcileOutcome } from './outcome.ts'
import {
  ambiguousRows,
  defectRows,
  entryOrder,
  entryRow,
  instructionOrder,
  type AmbiguousRow,
  type DefectRow,
  type EntryRow,
  type VerdictRow,
  verdictRow,
} from './report-rows.ts'
import { VERDICTS, type Verdict } from './verdicts.ts'
import {
  readSlotAmount,
  compilePaths,
  MessageReader,
  SlotValues,
  type MessageHandler,
  detectFormat,
  messageName,
} from './message-reader.ts'
import type { NachaEntry } from '../nacha/entry.ts'
import type { NachaFinding, NachaCode } from '../nacha/format.ts'
import { nachaReader } from '../nacha/read.ts'

export type DocumentKind = 'pain.001' | 'pacs.008' | 'camt.053' | 'nacha'

export interface PaymentDocument {
  kind: DocumentKind
  text: string
}

export interface ReconcileReport {
  /** False if a document could not be read completely; then there are no verdicts. */
  valid: boolean
  verdicts: VerdictRow[]
  counts: Record<Verdict, number>
  unmatched: EntryRow[]
  ignored: EntryRow[]
  ambiguous: AmbiguousRow[]
  input_defects: DefectRow[]
  totals: Record<string, unknown>[]
  conserved: boolean
  findings: ReadFinding[]
  finding_count: number
}

/** Receives records as they are read. */
export interface RecordSink {
  /** Entries of statements keep their remittance information. */
  readonly keep_remittance?: boolean
  instruction(instruction: PaymentInstruction): void
  entry(entry: BankEntry): void
}

/** Incremental reader of one file. */
export interface DocumentReader {
  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean
  end(): boolean
}

export function documentReader(
  kind: DocumentKind,
  file: number,
  findings: ReadFindings,
  book: StatementBook,
  sink: RecordSink,
): DocumentReader {
  switch (kind) {
    case 'pain.001':
    case 'pacs.008':
      return new InstructionReader(kind, file, findings, (instruction) => sink.instruction(instruction))
    case 'camt.053':
      return new StatementReader(file, findings, book, (entry) => sink.entry(entry), sink.keep_remittance)
    case 'nacha':
      return new AchReader(file, findings, book, (entry) => sink.entry(entry))
  }
}

/**
 * Reconciles instructions with statements and ACH files. If a document or an amount in it cannot be read, no verdict is given: a partial
 * result would look complete.
 */
export function reconcileDocuments(
  documents: readonly PaymentDocument[],
  {
    require_settlement_evidence = false,
    window = DEFAULT_WINDOW,
  }: Partial<Pick<ReconcileOptions, 'require_settlement_evidence' | 'window'>> = {},
): ReconcileReport {
  const findings = new ReadFindings()
  const book = new StatementBook()
  const ledger = new Ledger()
  const sink: RecordSink = {
    instruction: (instruction) => void ledger.instructions.add(instruction),
    entry: (entry) => void ledger.entries.add(entry),
  }
  for (const [file, { kind, text }] of documents.entries()) {
    const reader = documentReader(kind, file, findings, book, sink)
    if (reader.write(text)) reader.end()
  }
  const { repeated, overlaps, remarks } = book.findRepeats()
  for (const { code, file } of remarks) findings.add(code, file, null)
  if (findings.errors > 0) return { ...emptyReport(), findings: findings.list, finding_count: findings.count }
  const outcome = reconcileLedger(ledger, { require_settlement_evidence, window, repeated, overlaps })
  return { ...buildReport(outcome), findings: findings.list, finding_count: findings.count }
}

function emptyReport(): Omit<ReconcileReport, 'findings' | 'finding_count'> {
  const lists = { verdicts: [], unmatched: [], ignored: [], ambiguous: [], input_defects: [], totals: [] }
  return { valid: false, counts: zeroCounts(), conserved: false, ...lists }
}

function zeroCounts(): Record<Verdict, number> {
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
}

/** Builds the report of an outcome. */
export function buildReport(outcome: ReconcileOutcome): Omit<ReconcileReport, 'findings' | 'finding_count'> {
  const verdicts = Array.from(instructionOrder(outcome), (row) => verdictRow(outcome, row))
  const counts = zeroCounts()
  for (const row of instructionOrder(outcome)) counts[outcome.verdictOf(row).verdict]++
  const unmatched: EntryRow[] = []
  const ignored: EntryRow[] = []
  for (const row of entryOrder(outcome)) {
    const fate = outcome.entryOutcome(row)
    if (fate.kind === 'unmatched') unmatched.push(entryRow(outcome, row, fate.reason))
    if (fate.kind === 'ignored') ignored.push(entryRow(outcome, row, fate.reason))
  }
  const totals = new TotalsCollector()
  totals.add(outcome)
  return {
    valid: true,
    verdicts,
    counts,
    unmatched,
    ignored,
    ambiguous: ambiguousRows(outcome),
    input_defects: defectRows(outcome),
    totals: totals.totals().map(totalsJson),
    conserved: isConserved(totals.totals()),
  }
}

/** Slots in the order of their groups: message, payment block, transfer. */
const SLOT = {
  message_id: 0,
  settled_day: 1,
  block: 2,
  payment_information_id: 3,
  block_debtor_iban: 4,
  block_debtor_other: 5,
  requested: 6,
  requested_day: 7,
  requested_time: 8,
  transfer: 9,
  instruction_id: 10,
  end_to_end_id: 11,
  transaction_id: 12,
  uetr: 13,
  clearing_reference: 14,
  own_settled_day: 15,
  amount: 16,
  equivalent: 17,
  debtor_iban: 18,
  debtor_other: 19,
  creditor_iban: 20,
  creditor_other: 21,
} as const
const SLOT_COUNT = 22

function transferPaths(at: string): Record<string, number> {
  return {
    [at]: SLOT.transfer,
    [`${at}/PmtId/InstrId`]: SLOT.instruction_id,
    [`${at}/PmtId/EndToEndId`]: SLOT.end_to_end_id,
    [`${at}/PmtId/TxId`]: SLOT.transaction_id,
    [`${at}/PmtId/UETR`]: SLOT.uetr,
    [`${at}/PmtId/ClrSysRef`]: SLOT.clearing_reference,
    [`${at}/DbtrAcct/Id/IBAN`]: SLOT.debtor_iban,
    [`${at}/DbtrAcct/Id/Othr/Id`]: SLOT.debtor_other,
    [`${at}/CdtrAcct/Id/IBAN`]: SLOT.creditor_iban,
    [`${at}/CdtrAcct/Id/Othr/Id`]: SLOT.creditor_other,
  }
}

const PAIN = 'CstmrCdtTrfInitn'
const PACS = 'FIToFICstmrCdtTrf'

const PATHS = {
  'pain.001': compilePaths({
    [`${PAIN}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${PAIN}/PmtInf`]: SLOT.block,
    [`${PAIN}/PmtInf/PmtInfId`]: SLOT.payment_information_id,
    [`${PAIN}/PmtInf/ReqdExctnDt`]: SLOT.requested,
    [`${PAIN}/PmtInf/ReqdExctnDt/Dt`]: SLOT.requested_day,
    [`${PAIN}/PmtInf/ReqdExctnDt/DtTm`]: SLOT.requested_time,
    [`${PAIN}/PmtInf/DbtrAcct/Id/IBAN`]: SLOT.block_debtor_iban,
    [`${PAIN}/PmtInf/DbtrAcct/Id/Othr/Id`]: SLOT.block_debtor_other,
    ...transferPaths(`${PAIN}/PmtInf/CdtTrfTxInf`),
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/InstdAmt`]: SLOT.amount,
    [`${PAIN}/PmtInf/CdtTrfTxInf/Amt/EqvtAmt/Amt`]: SLOT.equivalent,
  }),
  'pacs.008': compilePaths({
    [`${PACS}/GrpHdr/MsgId`]: SLOT.message_id,
    [`${PACS}/GrpHdr/IntrBkSttlmDt`]: SLOT.settled_day,
    ...transferPaths(`${PACS}/CdtTrfTxInf`),
    [`${PACS}/CdtTrfTxInf/IntrBkSttlmAmt`]: SLOT.amount,
    [`${PACS}/CdtTrfTxInf/IntrBkSttlmDt`]: SLOT.own_settled_day,
  }),
} as const satisfies Record<InstructionSource, unknown>

/**
 * Reads the transfers of a pain.001 (instructed amount, or its equivalent in the currency of the debtor's account) or a pacs.008 (interbank
 * settlement amount). The paths are the same in all versions.
 */
class InstructionReader implements MessageHandler {
  private readonly slots = new SlotValues(SLOT_COUNT)
  private readonly reader: MessageReader
  private readonly source: InstructionSource
  private readonly file: number
  private readonly findings: ReadFindings
  private readonly emit: (instruction: PaymentInstruction) => void
  private position = 0

  constructor(source: InstructionSource, file: number, findings: ReadFindings, take: (instruction: PaymentInstruction) => void) {
    this.source = source
    this.file = file
    this.findings = findings
    this.emit = take
    this.reader = new MessageReader(source, PATHS[source], this, findings, file)
  }

  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean {
    return this.reader.write(chunk)
  }

  end(): boolean {
    const fine = this.reader.end()
    if (fine && this.position === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    return fine
  }

  enter(slot: number): void {
    this.slots.clear(slot, SLOT_COUNT)
  }

  text(slot: number, text: string, currency: string | null): void {
    // Another message in the same file starts with its own id.
    if (slot === SLOT.message_id) this.slots.clear(0, SLOT_COUNT)
    if (!this.slots.set(slot, text, currency, this.reader.line)) this.findings.add('ELEMENT_REPEATED', this.file, this.reader.line)
  }

  leave(slot: number): void {
    if (slot === SLOT.transfer) this.readTransfer()
  }

  private readTransfer(): void {
    const { slots, findings, file } = this
    const { line } = this.reader
    const position = ++this.position
    const errors = findings.errors
    const amount = readSlotAmount(slots, SLOT.amount, findings, file) ?? readSlotAmount(slots, SLOT.equivalent, findings, file)
    if (amount === null) {
      if (findings.errors === errors) findings.add('AMOUNT_MISSING', file, line)
      return
    }
    const debtor = slots.get(SLOT.debtor_iban) ?? slots.get(SLOT.debtor_other)
    this.emit({
      source: this.source,
      file,
      position,
      end_to_end_id: slots.get(SLOT.end_to_end_id),
      instruction_id: slots.get(SLOT.instruction_id),
      transaction_id: slots.get(SLOT.transaction_id),
      uetr: slots.get(SLOT.uetr),
      clearing_reference: slots.get(SLOT.clearing_reference),
      payment_information_id: slots.get(SLOT.payment_information_id),
      message_id: slots.get(SLOT.message_id),
      currency: amount.currency,
      amount_minor: amount.amount_minor,
      debtor_account: debtor ?? slots.get(SLOT.block_debtor_iban) ?? slots.get(SLOT.block_debtor_other),
      creditor_account: slots.get(SLOT.creditor_iban) ?? slots.get(SLOT.creditor_other),
      day: this.day(),
    })
  }

  /** A date in early versions of pain.001, later a choice of date and date-time. */
  private day(): number | null {
    const asked = [SLOT.own_settled_day, SLOT.settled_day, SLOT.requested, SLOT.requested_day, SLOT.requested_time]
    for (const slot of asked) {
      const day = parseDay(this.slots.get(slot))
      if (day !== null) return day
    }
    return null
  }
}

/** Faults that make the content of the file uncertain; all others become warnings. */
const BLOCKING_CODES: ReadonlySet<NachaCode> = new Set<NachaCode>([
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

/** Width of the individual identification number: 22 in customer-initiated entries (CIE), otherwise 15 (Nacha Operating Rules, 2026). */
const ID_WIDTH = { CIE: 22, other: 15 } as const

/**
 * Reads the entries of an ACH file from its originator's view: a credit to the receiver is a debit. A forward entry is an instruction and
 * weak evidence; a settlement date, which only an operator fills in, makes it stronger.
 */
class AchReader {
  private readonly reader
  private readonly file: number
  private readonly findings: ReadFindings
  private readonly book: StatementBook
  private readonly emit: (entry: BankEntry) => void
  private readonly statement: number
  private readonly decoder = new TextDecoder('latin1')
  private entries = 0
  /** Start of the file. */
  private head = ''

  constructor(file: number, findings: ReadFindings, book: StatementBook, take: (entry: BankEntry) => void) {
    this.file = file
    this.findings = findings
    this.book = book
    this.emit = take
    this.statement = book.open({ file, account: null, id: null, sequence: null, page: null, copy: false })
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
    const read = this.entryOf(entry, entry.amount_minor)
    this.book.add(read)
    this.emit(read)
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

function nonPaymentKind({ kind, prenote }: NachaEntry): NonPaymentKind | null {
  if (kind === 'noc') return 'notification_of_change'
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
