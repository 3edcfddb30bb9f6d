import { cutText } from '../../cut-text.ts'
import { parseDay, usableId, parseAmount } from './values.ts'
import type { EntryDirection, BankEntry, EntryStatus, ReadFindings, StatementBook, RemittanceInformation } from './records.ts'
import { EntryTransactions, keepInstructedAmount } from './entry-transactions.ts'
import { type SlotAmount, readSlotAmount, MessageReader, SlotValues, type MessageHandler, compilePaths } from './message-reader.ts'

const STATEMENT_PATH = 'BkToCstmrStmt/Stmt'
const ENTRY_PATH = `${STATEMENT_PATH}/Ntry`
const BLOCK_PATH = `${ENTRY_PATH}/NtryDtls`
const DETAILS_PATH = `${BLOCK_PATH}/TxDtls`

/** Path of each slot of camt.053 versions 02 to 13, in the order of their groups. The status is a code up to 04 and contains one from 08. */
const SLOT_PATHS = {
  message_page: 'BkToCstmrStmt/GrpHdr/MsgPgntn/PgNb',
  statement: STATEMENT_PATH,
  statement_id: `${STATEMENT_PATH}/Id`,
  electronic_number: `${STATEMENT_PATH}/ElctrncSeqNb`,
  legal_number: `${STATEMENT_PATH}/LglSeqNb`,
  copy: `${STATEMENT_PATH}/CpyDplctInd`,
  from_time: `${STATEMENT_PATH}/FrToDt/FrDtTm`,
  to_time: `${STATEMENT_PATH}/FrToDt/ToDtTm`,
  account_iban: `${STATEMENT_PATH}/Acct/Id/IBAN`,
  account_other: `${STATEMENT_PATH}/Acct/Id/Othr/Id`,
  page: `${STATEMENT_PATH}/StmtPgntn/PgNb`,
  entry: ENTRY_PATH,
  amount: `${ENTRY_PATH}/Amt`,
  direction: `${ENTRY_PATH}/CdtDbtInd`,
  reversal: `${ENTRY_PATH}/RvslInd`,
  status: `${ENTRY_PATH}/Sts`,
  status_code: `${ENTRY_PATH}/Sts/Cd`,
  status_own: `${ENTRY_PATH}/Sts/Prtry`,
  booked_date: `${ENTRY_PATH}/BookgDt/Dt`,
  booked_time: `${ENTRY_PATH}/BookgDt/DtTm`,
  value_date: `${ENTRY_PATH}/ValDt/Dt`,
  value_time: `${ENTRY_PATH}/ValDt/DtTm`,
  servicer_reference: `${ENTRY_PATH}/AcctSvcrRef`,
  subfamily: `${ENTRY_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`,
  instructed: `${ENTRY_PATH}/AmtDtls/InstdAmt/Amt`,
  transaction_amount: `${ENTRY_PATH}/AmtDtls/TxAmt/Amt`,
  block: BLOCK_PATH,
  batch_message: `${BLOCK_PATH}/Btch/MsgId`,
  batch_payment_information: `${BLOCK_PATH}/Btch/PmtInfId`,
  batch_count: `${BLOCK_PATH}/Btch/NbOfTxs`,
  details: DETAILS_PATH,
  message_id: `${DETAILS_PATH}/Refs/MsgId`,
  detail_servicer_reference: `${DETAILS_PATH}/Refs/AcctSvcrRef`,
  payment_information_id: `${DETAILS_PATH}/Refs/PmtInfId`,
  instruction_id: `${DETAILS_PATH}/Refs/InstrId`,
  end_to_end_id: `${DETAILS_PATH}/Refs/EndToEndId`,
  transaction_id: `${DETAILS_PATH}/Refs/TxId`,
  uetr: `${DETAILS_PATH}/Refs/UETR`,
  clearing_reference: `${DETAILS_PATH}/Refs/ClrSysRef`,
  detail_amount: `${DETAILS_PATH}/Amt`,
  detail_direction: `${DETAILS_PATH}/CdtDbtInd`,
  detail_instructed: `${DETAILS_PATH}/AmtDtls/InstdAmt/Amt`,
  detail_transaction_amount: `${DETAILS_PATH}/AmtDtls/TxAmt/Amt`,
  detail_subfamily: `${DETAILS_PATH}/BkTxCd/Domn/Fmly/SubFmlyCd`,
  debtor_iban: `${DETAILS_PATH}/RltdPties/DbtrAcct/Id/IBAN`,
  creditor_iban: `${DETAILS_PATH}/RltdPties/CdtrAcct/Id/IBAN`,
  return: `${DETAILS_PATH}/RtrInf`,
  return_code: `${DETAILS_PATH}/RtrInf/Rsn/Cd`,
  return_own: `${DETAILS_PATH}/RtrInf/Rsn/Prtry`,
}

/** Below an entry or its details. Charges are a list in version 02, and a list inside one element from 04. */
const CHARGE_SLOT_PATHS = {
  charges: 'Chrgs',
  charges_total: 'Chrgs/TtlChrgsAndTaxAmt',
  charge: 'Chrgs/Amt',
  charge_direction: 'Chrgs/CdtDbtInd',
  charge_included: 'Chrgs/ChrgInclInd',
  record: 'Chrgs/Rcrd',
  record_amount: 'Chrgs/Rcrd/Amt',
  record_direction: 'Chrgs/Rcrd/CdtDbtInd',
  record_included: 'Chrgs/Rcrd/ChrgInclInd',
}

const SLOT_NAMES = [...Object.keys(SLOT_PATHS), ...Object.keys(CHARGE_SLOT_PATHS)]
const SLOT_COUNT = SLOT_NAMES.length
const STATEMENT_SLOT = Object.fromEntries(SLOT_NAMES.map((name, slot) => [name, slot])) as Record<
  keyof typeof SLOT_PATHS | keyof typeof CHARGE_SLOT_PATHS,
  number
>

const STATEMENT_SLOT_PATHS = {
  ...slotsByPath(SLOT_PATHS, ''),
  ...slotsByPath(CHARGE_SLOT_PATHS, `${ENTRY_PATH}/`),
  ...slotsByPath(CHARGE_SLOT_PATHS, `${DETAILS_PATH}/`),
}

function slotsByPath(paths: Readonly<Record<string, string>>, above: string): Record<string, number> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [above + path, SLOT_NAMES.indexOf(name)]))
}

const STATEMENT_PATHS = compilePaths(STATEMENT_SLOT_PATHS)

const REMITTANCE_SLOT = {
  entry_reference: SLOT_COUNT,
  creditor_reference: SLOT_COUNT + 1,
  unstructured: SLOT_COUNT + 2,
} as const

const REMITTANCE_SLOT_PATHS: Readonly<Record<string, number>> = {
  ...STATEMENT_SLOT_PATHS,
  [`${ENTRY_PATH}/NtryRef`]: REMITTANCE_SLOT.entry_reference,
  [`${DETAILS_PATH}/RmtInf/Strd/CdtrRefInf/Ref`]: REMITTANCE_SLOT.creditor_reference,
  [`${DETAILS_PATH}/RmtInf/Ustrd`]: REMITTANCE_SLOT.unstructured,
}

/** The same with the paths of remittance information. */
const REMITTANCE_PATHS = compilePaths(REMITTANCE_SLOT_PATHS)

/** Paths of camt.054 (debit and credit notification), whose entries are those of camt.053. */
const NOTIFICATION_PATHS = compilePaths(
  Object.fromEntries(Object.entries(REMITTANCE_SLOT_PATHS).map(([path, slot]) => [notificationPath(path), slot])),
)

function notificationPath(path: string): string {
  return path
    .replace(/^BkToCstmrStmt\/(?:Stmt(?=\/|$))?/, (start) => `BkToCstmrDbtCdtNtfctn/${start.endsWith('Stmt') ? 'Ntfctn' : ''}`)
    .replace('/StmtPgntn/', '/NtfctnPgntn/')
}

/** Maximum number of lines per transaction, and characters per line. */
const LINES = 64
const LINE_CHARS = 512

/** Collects remittance information separately, because its elements can repeat. */
class RemittanceSlots {
  private entry_reference = ''
  private creditor_references: string[] = []
  private unstructured: string[] = []

  openEntry(): void {
    this.entry_reference = ''
    this.openDetails()
  }

  openDetails(): void {
    this.creditor_references = []
    this.unstructured = []
  }

  /** Returns false if the slot is not one of remittance. */
  take(slot: number, text: string): boolean {
    if (slot < SLOT_COUNT) return false
    const lines =
      slot === REMITTANCE_SLOT.creditor_reference
        ? this.creditor_references
        : slot === REMITTANCE_SLOT.unstructured
          ? this.unstructured
          : null
    if (lines === null) this.entry_reference = shortenText(text)
    else if (lines.length < LINES) lines.push(cutText(text, LINE_CHARS, ''))
    return true
  }

  of(statement: Pick<RemittanceInformation, 'statement_id' | 'sequence' | 'page'>, slots: SlotValues): RemittanceInformation {
    const servicer_reference = shortenText(slots.get(STATEMENT_SLOT.servicer_reference) ?? '')
    const entry_reference = this.entry_reference || servicer_reference || null
    const { creditor_references, unstructured } = this
    return { ...statement, entry_reference, booked_on: bookingDate(slots), dated: entryDate(slots), creditor_references, unstructured }
  }
}

function shortenText(text: string): string {
  return cutText(text, LINE_CHARS, '').trim()
}

/** Booking date of the entry, YYYY-MM-DD; null if missing or invalid. */
function bookingDate(slots: SlotValues): string | null {
  const booked = (slots.get(STATEMENT_SLOT.booked_date) ?? slots.get(STATEMENT_SLOT.booked_time))?.trim() ?? ''
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(booked) ? booked.slice(0, 10) : null
}

/** Booking date, or, without one, the value date; as written. Null without either. */
function entryDate(slots: SlotValues): RemittanceInformation['dated'] {
  const textOf = (date: number, time: number) => (slots.get(date) ?? slots.get(time))?.trim().slice(0, DATE_CHARS) ?? null
  const booked = textOf(STATEMENT_SLOT.booked_date, STATEMENT_SLOT.booked_time)
  if (booked !== null) return { field: 'BookgDt', text: booked }
  const value = textOf(STATEMENT_SLOT.value_date, STATEMENT_SLOT.value_time)
  return value === null ? null : { field: 'ValDt', text: value }
}

/** Longer than any date and time of ISO 8601 that banks write. */
const DATE_CHARS = 40

/** Subfamily of returns and reimbursements in bank transaction codes (ISO 20022 external code list, 2026). */
const RETURN_SUBFAMILY = 'RRTN'
/** Subfamilies of charges, commissions, fees and taxes: separate entries, often under the id of the payment. */
const CHARGE_SUBFAMILIES = new Set(['CHRG', 'COME', 'COMI', 'COMM', 'COMT', 'FEES', 'TAXE'])

const PATHS: Readonly<Record<string, typeof STATEMENT_PATHS>> = { true: REMITTANCE_PATHS, notification: NOTIFICATION_PATHS }

/** Sums charges included in an amount by currency; unreadable charges are ignored. */
class ChargeSums {
  private readonly sums = new Map<string, bigint>()
  private records = 0

  clear(): void {
    if (this.sums.size > 0) this.sums.clear()
  }

  begin(): void {
    this.records = 0
  }

  of(currency: string): bigint {
    return this.sums.get(currency) ?? 0n
  }

  get any(): boolean {
    return this.sums.size > 0
  }

  record(slots: SlotValues): void {
    this.records++
    this.add(slots, STATEMENT_SLOT.record_amount, STATEMENT_SLOT.record_direction, STATEMENT_SLOT.record_included)
  }

  end(slots: SlotValues): void {
    const amount = slots.get(STATEMENT_SLOT.charge) !== null ? STATEMENT_SLOT.charge : STATEMENT_SLOT.charges_total
    if (this.records === 0) this.add(slots, amount, STATEMENT_SLOT.charge_direction, STATEMENT_SLOT.charge_included)
  }

  private add(slots: SlotValues, amount: number, direction: number, included: number): void {
    const [text, currency] = [slots.get(amount), slots.currency(amount)]
    const apart = slots.get(included)?.trim()
    if (text === null || currency === null || apart === 'false' || apart === '0') return
    const read = parseAmount(text, currency)
    if (!read.ok) return
    const signed = slots.get(direction)?.trim() === 'CRDT' ? -read.amount_minor : read.amount_minor
    this.sums.set(currency, this.of(currency) + signed)
  }
}

/**
 * Reads the entries of a camt.053 (versions 02 to 13) one by one: a transaction if details are given, otherwise a whole entry. An entry
 * with one transaction has the booked amount; a different amount of the transaction is its instructed amount.
 */
export class StatementReader implements MessageHandler {
  private readonly slots = new SlotValues(SLOT_COUNT)
  private readonly reader: MessageReader
  private readonly file: number
  private readonly findings: ReadFindings
  private readonly book: StatementBook
  private readonly take: (entry: BankEntry) => void
  private readonly entry_charges = new ChargeSums()
  private readonly detail_charges = new ChargeSums()
  private readonly remittance: RemittanceSlots | null
  private in_details = false
  private statement = -1
  private entry = 0
  private detail = 0
  private readonly parts = new EntryTransactions((entry) => this.emit(entry))
  private booked: SlotAmount | null = null
  private entry_line = 0

  /** `keep_remittance` adds remittance information to every entry, at the cost of memory; `notification` reads a camt.054 so. */
  constructor(
    file: number,
    findings: ReadFindings,
    book: StatementBook,
    take: (entry: BankEntry) => void,
    keep_remittance: boolean | 'notification' = false,
  ) {
    this.remittance = keep_remittance === false ? null : new RemittanceSlots()
    this.file = file
    this.findings = findings
    this.book = book
    this.take = take
    const kind = keep_remittance === 'notification' ? 'camt.054' : 'camt.053'
    this.reader = new MessageReader(kind, PATHS[String(keep_remittance)] ?? STATEMENT_PATHS, this, findings, file)
  }

  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean {
    return this.reader.write(chunk)
  }

  end(): boolean {
    const fine = this.reader.end()
    if (fine && this.entry === 0) this.findings.add('NOTHING_TO_READ', this.file, null)
    return fine
  }

  enter(slot: number): void {
    switch (slot) {
      case STATEMENT_SLOT.statement:
        this.statement = -1
        this.slots.clear(slot, SLOT_COUNT)
        return
      case STATEMENT_SLOT.entry:
        return this.openEntry()
      case STATEMENT_SLOT.details:
        this.in_details = true
        this.remittance?.openDetails()
        this.detail_charges.clear()
        this.slots.clear(slot, SLOT_COUNT)
        return
      case STATEMENT_SLOT.charges:
        this.charges.begin()
        this.slots.clear(slot, SLOT_COUNT)
        return
      case STATEMENT_SLOT.block:
      case STATEMENT_SLOT.record:
        this.slots.clear(slot, SLOT_COUNT)
        return
      case STATEMENT_SLOT.return:
        this.slots.set(slot, '', null, this.reader.line)
        return
    }
  }

  text(slot: number, text: string, currency: string | null): void {
    if (this.remittance?.take(slot, text) === true) return
    if (slot === STATEMENT_SLOT.message_page) this.slots.clear(0, SLOT_COUNT)
    if (!this.slots.set(slot, text, currency, this.reader.line) && slot !== STATEMENT_SLOT.return)
      this.findings.add('ELEMENT_REPEATED', this.file, this.reader.line)
  }

  leave(slot: number): void {
    switch (slot) {
      case STATEMENT_SLOT.entry:
        return this.closeEntry()
      case STATEMENT_SLOT.details:
        this.closeDetails()
        this.in_details = false
        return
      case STATEMENT_SLOT.block:
        if (this.readBooked() !== null) this.parts.endBlock(this.batchCount())
        return
      case STATEMENT_SLOT.charges:
        return this.charges.end(this.slots)
      case STATEMENT_SLOT.record:
        return this.charges.record(this.slots)
    }
  }

  private get charges(): ChargeSums {
    return this.in_details ? this.detail_charges : this.entry_charges
  }

  private openEntry(): void {
    this.slots.clear(STATEMENT_SLOT.entry, SLOT_COUNT)
    this.remittance?.openEntry()
    this.entry_charges.clear()
    this.entry++
    this.detail = 0
    this.booked = null
    this.entry_line = this.reader.line
  }

  /** Booked amount, read when the first details end or at the end of the entry. */
  private readBooked(): SlotAmount | null {
    if (this.booked !== null) return this.booked
    const { errors } = this.findings
    this.booked = readSlotAmount(this.slots, STATEMENT_SLOT.amount, this.findings, this.file)
    if (this.booked === null && this.findings.errors === errors) this.findings.add('AMOUNT_MISSING', this.file, this.entry_line)
    if (this.booked !== null)
      this.parts.open({ amount: this.booked, direction: this.direction(STATEMENT_SLOT.direction), reversal: this.reversal })
    return this.booked
  }

  private closeDetails(): void {
    const booked = this.readBooked()
    if (booked === null) return
    const own = this.read(STATEMENT_SLOT.detail_amount)
    const transaction = this.read(STATEMENT_SLOT.detail_transaction_amount)
    const amount = [own, transaction].find((one) => one?.currency === booked.currency) ?? own ?? transaction
    this.detail++
    const entry = this.buildEntry(booked, STATEMENT_SLOT.detail_instructed)
    if (entry !== null) this.parts.add({ entry, amount: amount ?? null, charges_minor: this.charges.of((amount ?? booked).currency) })
  }

  private closeEntry(): void {
    const booked = this.readBooked()
    if (booked === null) return
    if (this.detail === 0) {
      const made = this.buildEntry(booked, STATEMENT_SLOT.instructed)
      if (made !== null) this.emit(keepInstructedAmount(made, this.read(STATEMENT_SLOT.transaction_amount)))
      return
    }
    this.slots.clear(STATEMENT_SLOT.details, SLOT_COUNT)
    this.remittance?.openDetails()
    const own = () => this.read(STATEMENT_SLOT.instructed) ?? this.read(STATEMENT_SLOT.transaction_amount)
    const code = this.parts.close(this.entry_charges.of(booked.currency), own, () => this.buildEntry(booked, STATEMENT_SLOT.instructed))
    if (code !== null) this.findings.add(code, this.file, this.entry_line)
  }

  private emit(entry: BankEntry): void {
    this.book.add(entry)
    this.take(entry)
  }

  private buildEntry(booked: SlotAmount, instructed: number): BankEntry | null {
    const { slots } = this
    const direction = this.direction(STATEMENT_SLOT.detail_direction) ?? this.direction(STATEMENT_SLOT.direction)
    if (direction === null) {
      this.findings.add('DIRECTION_MISSING', this.file, this.reader.line)
      return null
    }
    const subfamily = (slots.get(STATEMENT_SLOT.detail_subfamily) ?? slots.get(STATEMENT_SLOT.subfamily))?.trim()
    return {
      source: 'camt.053',
      file: this.file,
      entry: this.entry,
      detail: this.detail,
      status: this.status(),
      aside: null,
      evidence: 'booked',
      direction,
      currency: booked.currency,
      amount_minor: booked.amount_minor,
      instructed: this.read(instructed),
      charges_minor: this.charges.of(booked.currency),
      returned: this.reversal || slots.get(STATEMENT_SLOT.return) !== null || subfamily === RETURN_SUBFAMILY,
      return_reason: slots.get(STATEMENT_SLOT.return_code) ?? slots.get(STATEMENT_SLOT.return_own),
      end_to_end_id: slots.get(STATEMENT_SLOT.end_to_end_id),
      instruction_id: slots.get(STATEMENT_SLOT.instruction_id),
      transaction_id: slots.get(STATEMENT_SLOT.transaction_id),
      uetr: slots.get(STATEMENT_SLOT.uetr),
      clearing_reference: slots.get(STATEMENT_SLOT.clearing_reference),
      payment_information_id: slots.get(STATEMENT_SLOT.payment_information_id) ?? slots.get(STATEMENT_SLOT.batch_payment_information),
      message_id: slots.get(STATEMENT_SLOT.message_id) ?? slots.get(STATEMENT_SLOT.batch_message),
      references: NO_REFERENCES,
      fixed: null,
      trace: null,
      original_trace: null,
      batch_count: this.batchCount(),
      account: slots.get(STATEMENT_SLOT.account_iban) ?? slots.get(STATEMENT_SLOT.account_other),
      counterparty_account: slots.get(direction === 'DBIT' ? STATEMENT_SLOT.creditor_iban : STATEMENT_SLOT.debtor_iban),
      statement: this.statementNumber(),
      booking: this.booking(),
      day: parseDay(bookingDate(slots) ?? slots.get(STATEMENT_SLOT.value_date) ?? slots.get(STATEMENT_SLOT.value_time)),
      ...(subfamily !== undefined && CHARGE_SUBFAMILIES.has(subfamily) && { charge: true }),
      ...(this.remittance !== null && { remittance: this.remittance.of(this.statementName(), slots) }),
    }
  }

  /** The bank's reference (ISO 20022, AcctSvcrRef) with the day, because some banks restart numbering daily. */
  private booking(): string | null {
    const { slots } = this
    const reference = usableId(slots.get(STATEMENT_SLOT.servicer_reference) ?? slots.get(STATEMENT_SLOT.detail_servicer_reference))
    const day = reference === null ? null : bookingDate(slots)
    return day === null ? null : `${day} ${reference}`
  }

  private read(slot: number): SlotAmount | null {
    return readSlotAmount(this.slots, slot, this.findings, this.file)
  }

  private get reversal(): boolean {
    const text = this.slots.get(STATEMENT_SLOT.reversal)?.trim()
    return text === 'true' || text === '1'
  }

  private direction(slot: number): EntryDirection | null {
    const text = this.slots.get(slot)?.trim()
    return text === 'DBIT' || text === 'CRDT' ? text : null
  }

  /** FUTR, of later versions, counts as pending. */
  private status(): EntryStatus {
    const code = (this.slots.get(STATEMENT_SLOT.status_code) ?? this.slots.get(STATEMENT_SLOT.status))?.trim()
    if (code === 'BOOK' || code === 'PDNG' || code === 'INFO') return code
    if (code === 'FUTR') return 'PDNG'
    if (code === undefined && this.slots.get(STATEMENT_SLOT.status_own) === null && this.detail < 2) {
      this.findings.add('STATUS_MISSING', this.file, this.entry_line)
    }
    return 'OTHER'
  }

  private batchCount(): number | null {
    const text = this.slots.get(STATEMENT_SLOT.batch_count)?.trim() ?? ''
    return /^[0-9]{1,9}$/.test(text) ? Number.parseInt(text, 10) : null
  }

  private statementNumber(): number {
    if (this.statement !== -1) return this.statement
    const { slots, file } = this
    const { statement_id: id, sequence, page } = this.statementName()
    const account = slots.get(STATEMENT_SLOT.account_iban) ?? slots.get(STATEMENT_SLOT.account_other)
    const period = { from_day: parseDay(slots.get(STATEMENT_SLOT.from_time)), to_day: parseDay(slots.get(STATEMENT_SLOT.to_time)) }
    this.statement = this.book.open({ file, account, id, sequence, page, copy: slots.get(STATEMENT_SLOT.copy) !== null, ...period })
    return this.statement
  }

  private statementName() {
    const { slots } = this
    return {
      statement_id: slots.get(STATEMENT_SLOT.statement_id),
      sequence: slots.get(STATEMENT_SLOT.electronic_number) ?? slots.get(STATEMENT_SLOT.legal_number),
      page: slots.get(STATEMENT_SLOT.page) ?? slots.get(STATEMENT_SLOT.message_page),
    }
  }
}

const NO_REFERENCES: readonly string[] = []
