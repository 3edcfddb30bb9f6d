import { parseDay, usableId, parseAmount } from './values.ts'
import type { EntryDirection, BankEntry, EntryStatus, ReadFindings, BankStatement } from './records.ts'
import type { StatementBook } from './statement-book.ts'
import { EntryTransactions, keepInstructedAmount } from './entry-transactions.ts'
import { type SlotAmount, readSlotAmount, MessageReader, SlotValues, type MessageHandler } from './message-reader.ts'
import {
  bookingDate,
  ChargeSums,
  RemittanceSlots,
  SLOT_COUNT,
  STATEMENT_SLOT,
  statementPaths,
  type StatementMessage,
} from './statement-slots.ts'

/** Subfamily of returns and reimbursements in bank transaction codes (ISO 20022 external code list, 2026). */
const RETURN_SUBFAMILY = 'RRTN'
/** Subfamilies of charges, commissions, fees and taxes: separate entries, often under the id of the payment. */
const CHARGE_SUBFAMILIES = new Set(['CHRG', 'COME', 'COMI', 'COMM', 'COMT', 'FEES', 'TAXE'])

/** Codes of booked balances (ISO 20022, external code list of balance types): before and after the entries. */
const BALANCE_KINDS: Readonly<Record<string, 'opening' | 'previous' | 'closing'>> = { OPBD: 'opening', PRCD: 'previous', CLBD: 'closing' }

/**
 * Reads the entries of a camt.053 (versions 02 to 13), camt.052 or camt.054 one by one: a transaction if details are given, otherwise a whole entry. An entry
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
  private balances: Pick<BankStatement, 'opening' | 'closing'> = {}
  /** An intraday report or a notification shows some entries of the account. */
  private readonly partial: boolean
  private readonly message: StatementMessage
  private statement = -1
  private entry = 0
  private detail = 0
  private readonly parts = new EntryTransactions((entry) => this.emit(entry))
  private booked: SlotAmount | null = null
  private entry_line = 0

  /** `remittance` adds remittance information to every entry, at the cost of memory. */
  constructor(
    file: number,
    findings: ReadFindings,
    book: StatementBook,
    take: (entry: BankEntry) => void,
    { message = 'camt.053', remittance = false }: { message?: StatementMessage; remittance?: boolean } = {},
  ) {
    this.partial = message !== 'camt.053'
    this.remittance = remittance ? new RemittanceSlots() : null
    this.file = file
    this.findings = findings
    this.book = book
    this.take = take
    this.message = message
    this.reader = new MessageReader(message, statementPaths(message, remittance), this, findings, file)
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
        this.balances = {}
        this.slots.clear(slot, SLOT_COUNT)
        return
      case STATEMENT_SLOT.balance:
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
      case STATEMENT_SLOT.statement:
        // A statement without entries covers its days too.
        this.statementNumber()
        return
      case STATEMENT_SLOT.balance:
        return this.readBalance()
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

  /** Opening and closing booked balances; a page begins and ends with interim ones. */
  private readBalance(): void {
    const kind = BALANCE_KINDS[this.slots.get(STATEMENT_SLOT.balance_code)?.trim() ?? '']
    const [text, currency] = [this.slots.get(STATEMENT_SLOT.balance_amount), this.slots.currency(STATEMENT_SLOT.balance_amount)]
    if (kind === undefined || text === null || currency === null) return
    const read = parseAmount(text, currency)
    const direction = this.direction(STATEMENT_SLOT.balance_direction)
    if (!read.ok || direction === null) return
    const day = parseDay(this.slots.get(STATEMENT_SLOT.balance_date) ?? this.slots.get(STATEMENT_SLOT.balance_time))
    const amount_minor = direction === 'DBIT' ? -read.amount_minor : read.amount_minor
    // The closing balance of the day before is the opening balance; its day is not covered.
    if (kind === 'previous') this.balances.opening ??= { currency, amount_minor, day: day === null ? null : day + 1 }
    else this.balances[kind] = { currency, amount_minor, day }
  }

  private closeEntry(): void {
    const booked = this.readBooked()
    if (booked === null) return
    this.countEntry(booked)
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

  private countEntry({ currency, amount_minor }: SlotAmount): void {
    const direction = this.direction(STATEMENT_SLOT.direction)
    if (direction === null) return
    const day = parseDay(bookingDate(this.slots) ?? this.slots.get(STATEMENT_SLOT.value_date) ?? this.slots.get(STATEMENT_SLOT.value_time))
    const signed = direction === 'DBIT' ? -amount_minor : amount_minor
    this.book.count(this.statementNumber(), { status: this.statusCode(), currency, amount_minor: signed, reversal: this.reversal, day })
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
      source: this.message,
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
      ...(this.remittance !== null && {
        remittance: this.remittance.of(this.statementName(), slots, { line: this.entry_line, direction }),
      }),
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
    const missing = [STATEMENT_SLOT.status_code, STATEMENT_SLOT.status, STATEMENT_SLOT.status_own].every(
      (slot) => this.slots.get(slot) === null,
    )
    if (missing && this.detail < 2) this.findings.add('STATUS_MISSING', this.file, this.entry_line)
    return this.statusCode()
  }

  private statusCode(): EntryStatus {
    const code = (this.slots.get(STATEMENT_SLOT.status_code) ?? this.slots.get(STATEMENT_SLOT.status))?.trim()
    if (code === 'BOOK' || code === 'PDNG' || code === 'INFO') return code
    return code === 'FUTR' ? 'PDNG' : 'OTHER'
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
    const own_page = slots.get(STATEMENT_SLOT.page) !== null
    const ending = slots.get(own_page ? STATEMENT_SLOT.last_page : STATEMENT_SLOT.message_last_page)?.trim()
    const stated = slots.get(STATEMENT_SLOT.stated_entries)?.trim() ?? ''
    this.statement = this.book.open({
      file,
      account,
      id,
      sequence,
      page,
      copy: slots.get(STATEMENT_SLOT.copy) !== null,
      ...period,
      ...this.balances,
      created_day: parseDay(slots.get(STATEMENT_SLOT.created)),
      last_page: ending === undefined ? null : ending === 'true' || ending === '1',
      message_page: !own_page,
      stated_entries: /^[0-9]{1,15}$/.test(stated) ? Number.parseInt(stated, 10) : null,
      ...(this.partial && { partial: true }),
    })
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
