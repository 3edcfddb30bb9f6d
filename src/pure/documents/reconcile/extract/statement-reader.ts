import { dayNumber } from '../dates.ts'
import { usableId } from '../ids.ts'
import type { Direction, Entry, EntryStatus } from '../records.ts'
import type { StatementBook } from '../statements.ts'
import { type Amount, amountIn, Charges, SLOT, Slots, SLOTS, STATEMENT_PATHS } from './slots.ts'
import { EntryParts, wholeEntry } from './entry-parts.ts'
import type { Findings } from './findings.ts'
import { MessageReader, type Told } from './message-reader.ts'
import { bookedOn, REMITTANCE_PATHS, RemittanceSlots } from './remittance.ts'

/** A return or reimbursement among the sub-families of bank transaction codes (ISO 20022 external code list, 2026). */
const RETURN_SUBFAMILY = 'RRTN'
/** Charges, commissions, fees and taxes among them: entries of their own, often under the id of the payment. */
const CHARGE_SUBFAMILIES = new Set(['CHRG', 'COME', 'COMI', 'COMM', 'COMT', 'FEES', 'TAXE'])

/**
 * Reads the entries of a camt.053, versions 02 to 13, one by one: a transaction where details are given, else a whole entry. The amount of
 * an entry with one transaction is what was booked; what the transaction says beside it is kept as the instructed amount. Of the
 * transactions that have amounts no more than one is held at a time.
 */
export class StatementReader implements Told {
  private readonly slots = new Slots(SLOTS)
  private readonly reader: MessageReader
  private readonly file: number
  private readonly findings: Findings
  private readonly book: StatementBook
  private readonly take: (entry: Entry) => void
  private readonly entry_charges = new Charges()
  private readonly detail_charges = new Charges()
  private readonly remittance: RemittanceSlots | null
  private in_details = false
  private statement = -1
  private entry = 0
  private detail = 0
  private readonly parts = new EntryParts((entry) => this.give(entry))
  private booked: Amount | null = null
  private entry_line = 0

  /** With `keep_remittance` every entry carries what it is for; others are spared the memory. */
  constructor(file: number, findings: Findings, book: StatementBook, take: (entry: Entry) => void, keep_remittance = false) {
    this.remittance = keep_remittance ? new RemittanceSlots() : null
    this.file = file
    this.findings = findings
    this.book = book
    this.take = take
    this.reader = new MessageReader('camt.053', keep_remittance ? REMITTANCE_PATHS : STATEMENT_PATHS, this, findings, file)
  }

  /** False when nothing more of the file can be read. */
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
      case SLOT.statement:
        this.statement = -1
        this.slots.clear(slot, SLOTS)
        return
      case SLOT.entry:
        return this.openEntry()
      case SLOT.details:
        this.in_details = true
        this.remittance?.openDetails()
        this.detail_charges.clear()
        this.slots.clear(slot, SLOTS)
        return
      case SLOT.charges:
        this.charges.begin()
        this.slots.clear(slot, SLOTS)
        return
      case SLOT.block:
      case SLOT.record:
        this.slots.clear(slot, SLOTS)
        return
      case SLOT.return:
        this.slots.set(slot, '', null, this.reader.line)
        return
    }
  }

  text(slot: number, text: string, currency: string | null): void {
    if (this.remittance?.take(slot, text) === true) return
    if (slot === SLOT.message_page) this.slots.clear(0, SLOTS)
    if (!this.slots.set(slot, text, currency, this.reader.line) && slot !== SLOT.return)
      this.findings.add('ELEMENT_REPEATED', this.file, this.reader.line)
  }

  leave(slot: number): void {
    switch (slot) {
      case SLOT.entry:
        return this.closeEntry()
      case SLOT.details:
        this.closeDetails()
        this.in_details = false
        return
      case SLOT.block:
        if (this.readBooked() !== null) this.parts.endBlock(this.batchCount())
        return
      case SLOT.charges:
        return this.charges.end(this.slots)
      case SLOT.record:
        return this.charges.record(this.slots)
    }
  }

  private get charges(): Charges {
    return this.in_details ? this.detail_charges : this.entry_charges
  }

  private openEntry(): void {
    this.slots.clear(SLOT.entry, SLOTS)
    this.remittance?.openEntry()
    this.entry_charges.clear()
    this.entry++
    this.detail = 0
    this.booked = null
    this.entry_line = this.reader.line
  }

  /** The amount that was booked, read when the first of its details ends or at the end of the entry. */
  private readBooked(): Amount | null {
    if (this.booked !== null) return this.booked
    const { errors } = this.findings
    this.booked = amountIn(this.slots, SLOT.amount, this.findings, this.file)
    if (this.booked === null && this.findings.errors === errors) this.findings.add('AMOUNT_MISSING', this.file, this.entry_line)
    if (this.booked !== null) this.parts.open({ amount: this.booked, direction: this.direction(SLOT.direction), reversal: this.reversal })
    return this.booked
  }

  private closeDetails(): void {
    const booked = this.readBooked()
    if (booked === null) return
    const own = this.read(SLOT.detail_amount)
    const transaction = this.read(SLOT.detail_transaction_amount)
    const amount = [own, transaction].find((one) => one?.currency === booked.currency) ?? own ?? transaction
    this.detail++
    const entry = this.make(booked, SLOT.detail_instructed)
    if (entry !== null) this.parts.add({ entry, amount: amount ?? null, charges_minor: this.charges.of((amount ?? booked).currency) })
  }

  private closeEntry(): void {
    const booked = this.readBooked()
    if (booked === null) return
    if (this.detail === 0) {
      const made = this.make(booked, SLOT.instructed)
      if (made !== null) this.give(wholeEntry(made, this.read(SLOT.transaction_amount)))
      return
    }
    this.slots.clear(SLOT.details, SLOTS)
    this.remittance?.openDetails()
    const own = () => this.read(SLOT.instructed) ?? this.read(SLOT.transaction_amount)
    const code = this.parts.close(this.entry_charges.of(booked.currency), own, () => this.make(booked, SLOT.instructed))
    if (code !== null) this.findings.add(code, this.file, this.entry_line)
  }

  private give(entry: Entry): void {
    this.book.add(entry)
    this.take(entry)
  }

  private make(booked: Amount, instructed: number): Entry | null {
    const { slots } = this
    const direction = this.direction(SLOT.detail_direction) ?? this.direction(SLOT.direction)
    if (direction === null) {
      this.findings.add('DIRECTION_MISSING', this.file, this.reader.line)
      return null
    }
    const subfamily = (slots.get(SLOT.detail_subfamily) ?? slots.get(SLOT.subfamily))?.trim()
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
      returned: this.reversal || slots.get(SLOT.return) !== null || subfamily === RETURN_SUBFAMILY,
      return_reason: slots.get(SLOT.return_code) ?? slots.get(SLOT.return_own),
      end_to_end_id: slots.get(SLOT.end_to_end_id),
      instruction_id: slots.get(SLOT.instruction_id),
      transaction_id: slots.get(SLOT.transaction_id),
      uetr: slots.get(SLOT.uetr),
      clearing_reference: slots.get(SLOT.clearing_reference),
      payment_information_id: slots.get(SLOT.payment_information_id) ?? slots.get(SLOT.batch_payment_information),
      message_id: slots.get(SLOT.message_id) ?? slots.get(SLOT.batch_message),
      references: NONE,
      fixed: null,
      trace: null,
      original_trace: null,
      batch_count: this.batchCount(),
      account: slots.get(SLOT.account_iban) ?? slots.get(SLOT.account_other),
      counterparty_account: slots.get(direction === 'DBIT' ? SLOT.creditor_iban : SLOT.debtor_iban),
      statement: this.statementNumber(),
      booking: this.booking(),
      day: dayNumber(bookedOn(slots) ?? slots.get(SLOT.value_date) ?? slots.get(SLOT.value_time)),
      ...(subfamily !== undefined && CHARGE_SUBFAMILIES.has(subfamily) && { charge: true }),
      ...(this.remittance !== null && { remittance: this.remittance.of(this.statementName(), slots) }),
    }
  }

  /** The bank's reference names one booking (ISO 20022, AcctSvcrRef); with the day, in case that it counts anew each day. */
  private booking(): string | null {
    const { slots } = this
    const reference = usableId(slots.get(SLOT.servicer_reference) ?? slots.get(SLOT.detail_servicer_reference))
    const day = reference === null ? null : bookedOn(slots)
    return day === null ? null : `${day} ${reference}`
  }

  private read(slot: number): Amount | null {
    return amountIn(this.slots, slot, this.findings, this.file)
  }

  private get reversal(): boolean {
    const text = this.slots.get(SLOT.reversal)?.trim()
    return text === 'true' || text === '1'
  }

  private direction(slot: number): Direction | null {
    const text = this.slots.get(slot)?.trim()
    return text === 'DBIT' || text === 'CRDT' ? text : null
  }

  /** FUTR, of later versions, is as good as pending. */
  private status(): EntryStatus {
    const code = (this.slots.get(SLOT.status_code) ?? this.slots.get(SLOT.status))?.trim()
    if (code === 'BOOK' || code === 'PDNG' || code === 'INFO') return code
    if (code === 'FUTR') return 'PDNG'
    if (code === undefined && this.slots.get(SLOT.status_own) === null && this.detail < 2) {
      this.findings.add('STATUS_MISSING', this.file, this.entry_line)
    }
    return 'OTHER'
  }

  private batchCount(): number | null {
    const text = this.slots.get(SLOT.batch_count)?.trim() ?? ''
    return /^[0-9]{1,9}$/.test(text) ? Number.parseInt(text, 10) : null
  }

  private statementNumber(): number {
    if (this.statement !== -1) return this.statement
    const { slots, file } = this
    const { statement_id: id, sequence, page } = this.statementName()
    const account = slots.get(SLOT.account_iban) ?? slots.get(SLOT.account_other)
    const period = { from_day: dayNumber(slots.get(SLOT.from_time)), to_day: dayNumber(slots.get(SLOT.to_time)) }
    this.statement = this.book.open({ file, account, id, sequence, page, copy: slots.get(SLOT.copy) !== null, ...period })
    return this.statement
  }

  private statementName() {
    const { slots } = this
    return {
      statement_id: slots.get(SLOT.statement_id),
      sequence: slots.get(SLOT.electronic_number) ?? slots.get(SLOT.legal_number),
      page: slots.get(SLOT.page) ?? slots.get(SLOT.message_page),
    }
  }
}

const NONE: readonly string[] = []
