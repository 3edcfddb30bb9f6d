import { ByteColumn, IntColumn, MoneyColumn, TextPool } from './columns.ts'
import { accountKey, textHash, HASH_SEED, usableId, cutId, foldId } from './values.ts'
import {
  NON_PAYMENT_KINDS,
  ENTRY_SOURCES,
  ENTRY_STATUSES,
  EVIDENCE_GRADES,
  INSTRUCTION_SOURCES,
  type BankEntry,
  type EntrySource,
  type EnclosedTransaction,
  type PaymentInstruction,
  type InstructionSource,
} from './records.ts'

/** Ids that instructions and entries can share, as pool numbers; 0 for none or a placeholder. */
class IdColumns {
  readonly end_to_end = new IntColumn()
  readonly instruction = new IntColumn()
  readonly transaction = new IntColumn()
  readonly uetr = new IntColumn()
  readonly clearing = new IntColumn()
  readonly payment_information = new IntColumn()
  readonly message = new IntColumn()

  add(pool: TextPool, row: number, from: PaymentInstruction | BankEntry): void {
    this.addInside(pool, row, from)
    this.clearing.set(row, pool.number(usableId(from.clearing_reference)))
    this.payment_information.set(row, pool.number(usableId(from.payment_information_id)))
    this.message.set(row, pool.number(usableId(from.message_id)))
  }

  /** Ids of a transaction without its own amount. */
  addInside(pool: TextPool, row: number, from: EnclosedTransaction): void {
    this.end_to_end.set(row, pool.number(usableId(from.end_to_end_id)))
    this.instruction.set(row, pool.number(usableId(from.instruction_id)))
    this.transaction.set(row, pool.number(usableId(from.transaction_id)))
    this.uetr.set(row, pool.number(uetrKey(from.uetr)))
  }

  /**
   * Adds only ids that some entry (`entry_ids`) or enclosed transaction (`inside`) also has, as others cannot match. The end-to-end id is always
   * stored for the report. -1 marks a UETR without a match.
   */
  addWanted(pool: TextPool, row: number, from: PaymentInstruction, entry_ids: IdColumns, inside: IdColumns): void {
    this.end_to_end.set(row, pool.number(usableId(from.end_to_end_id)))
    if (entry_ids.instruction.used || inside.instruction.used) this.instruction.set(row, pool.find(usableId(from.instruction_id)))
    if (entry_ids.transaction.used || inside.transaction.used) this.transaction.set(row, pool.find(usableId(from.transaction_id)))
    if (entry_ids.uetr.used || inside.uetr.used) this.addUetr(pool, row, uetrKey(from.uetr))
    if (entry_ids.clearing.used) this.clearing.set(row, pool.find(usableId(from.clearing_reference)))
    // Both are stored: two messages may use the same payment block id.
    if (!entry_ids.payment_information.used && !entry_ids.message.used) return
    this.payment_information.set(row, pool.number(usableId(from.payment_information_id)))
    this.message.set(row, pool.number(usableId(from.message_id)))
  }

  private addUetr(pool: TextPool, row: number, uetr: string | null): void {
    if (uetr !== null) this.uetr.set(row, pool.find(uetr) || -1)
  }
}

/** UETR as a key. A UETR is a UUID, written in lower case and read in either case (RFC 9562, section 4). */
function uetrKey(text: string | null): string | null {
  return usableId(text === null ? null : text.trim().toLowerCase())
}

class InstructionTable {
  size = 0
  readonly ids = new IdColumns()
  readonly source = new ByteColumn()
  readonly file = new ByteColumn()
  readonly position = new IntColumn()
  readonly currency = new IntColumn()
  readonly amount = new MoneyColumn()
  /** Pool numbers; negative if the account is not an IBAN. */
  readonly debtor = new IntColumn()
  readonly creditor = new IntColumn()
  /** 0 if unknown. */
  readonly day = new IntColumn()
  /** The verbatim end-to-end id if it is a placeholder. */
  readonly placeholder = new IntColumn()
  /** Sources that occur. */
  readonly sources = new Set<InstructionSource>()
  private readonly pool: TextPool
  private readonly accounts: AccountNumbers

  constructor(pool: TextPool) {
    this.pool = pool
    this.accounts = new AccountNumbers(pool)
  }

  /** With `entries`, the complete entries, ids that cannot match are skipped. */
  add(from: PaymentInstruction, entries: EntryTable | null = null): number {
    const { pool } = this
    const row = this.size++
    if (entries === null) this.ids.add(pool, row, from)
    else this.ids.addWanted(pool, row, from, entries.ids, entries.inside_ids)
    this.source.set(row, INSTRUCTION_SOURCES.indexOf(from.source))
    this.sources.add(from.source)
    this.file.set(row, from.file)
    this.position.set(row, from.position)
    this.currency.set(row, pool.number(from.currency))
    this.amount.set(row, from.amount_minor)
    this.debtor.set(row, this.accounts.number(from.debtor_account))
    this.creditor.set(row, this.accounts.number(from.creditor_account))
    this.day.set(row, from.day ?? 0)
    if (this.ids.end_to_end.get(row) === 0) this.placeholder.set(row, pool.number(from.end_to_end_id))
    return row
  }

  /** Orders by file and position, independent of reading order. */
  byPlace(one: number, other: number): number {
    return this.file.get(one) - this.file.get(other) || this.position.get(one) - this.position.get(other)
  }

  sourceOf(row: number): InstructionSource {
    return INSTRUCTION_SOURCES[this.source.get(row)] ?? 'pain.001'
  }
}

const RETURNED_FLAG = 1
const CREDIT_FLAG = 2
/** The whole amount is charges. */
const CHARGE_FLAG = 4

/** Entries in columns. A column takes no memory until a value is set. */
class EntryTable {
  size = 0
  readonly ids = new IdColumns()
  readonly source = new ByteColumn()
  readonly file = new ByteColumn()
  readonly entry = new IntColumn()
  readonly detail = new IntColumn()
  readonly status = new ByteColumn()
  readonly aside = new ByteColumn()
  readonly evidence = new ByteColumn()
  readonly flags = new ByteColumn()
  readonly currency = new IntColumn()
  readonly amount = new MoneyColumn()
  readonly instructed_currency = new IntColumn()
  readonly instructed_amount = new MoneyColumn()
  readonly charges = new MoneyColumn()
  readonly reason = new IntColumn()
  readonly fixed = new IntColumn()
  readonly fixed_width = new ByteColumn()
  readonly trace = new IntColumn()
  readonly original_trace = new IntColumn()
  /** The count plus one; 0 if unknown. */
  readonly batch_count = new IntColumn()
  readonly account = new IntColumn()
  readonly counterparty = new IntColumn()
  readonly statement = new IntColumn()
  /** The bank's booking reference as two hashes, because the texts would take most of the memory; the first is 0 if there is none. */
  readonly booking = new IntColumn()
  readonly booking_check = new IntColumn()
  /** 0 if unknown. */
  readonly day = new IntColumn()
  /** Entries of more than one statement exist. */
  several_statements = false
  readonly placeholder = new IntColumn()
  /** ACH entries only. */
  readonly references = new Map<number, readonly number[]>()
  /** By row for several transactions without amounts: range of their ids in `inside_ids`. */
  readonly inside = new Map<number, readonly [number, number]>()
  readonly inside_ids = new IdColumns()
  /** Rows of these whose transactions do not add up. */
  readonly unclear = new Set<number>()
  private inside_size = 0
  private readonly pool: TextPool
  private readonly accounts: AccountNumbers

  constructor(pool: TextPool) {
    this.pool = pool
    this.accounts = new AccountNumbers(pool)
  }

  add(from: BankEntry): number {
    const { pool } = this
    const row = this.size++
    this.ids.add(pool, row, from)
    this.source.set(row, ENTRY_SOURCES.indexOf(from.source))
    this.file.set(row, from.file)
    this.entry.set(row, from.entry)
    this.detail.set(row, from.detail)
    this.status.set(row, ENTRY_STATUSES.indexOf(from.status))
    this.aside.set(row, from.aside === null ? 0 : NON_PAYMENT_KINDS.indexOf(from.aside) + 1)
    this.evidence.set(row, EVIDENCE_GRADES.indexOf(from.evidence))
    const charge = from.charge === true && from.direction === 'DBIT'
    this.flags.set(row, (from.returned ? RETURNED_FLAG : 0) | (from.direction === 'CRDT' ? CREDIT_FLAG : 0) | (charge ? CHARGE_FLAG : 0))
    this.currency.set(row, pool.number(from.currency))
    this.amount.set(row, from.amount_minor)
    this.charges.set(row, charge ? from.amount_minor : from.charges_minor)
    this.account.set(row, this.accounts.number(from.account))
    this.counterparty.set(row, this.accounts.number(from.counterparty_account))
    this.statement.set(row, from.statement)
    if (from.statement !== this.statement.get(0)) this.several_statements = true
    if (from.booking !== null) this.addBooking(row, from.booking)
    this.day.set(row, from.day ?? 0)
    if (this.ids.end_to_end.get(row) === 0) this.placeholder.set(row, pool.number(from.end_to_end_id))
    this.addRare(row, from)
    return row
  }

  private addBooking(row: number, name: string): void {
    const first = textHash(name, HASH_SEED)
    this.booking.set(row, first === 0 ? 1 : first)
    this.booking_check.set(row, textHash(name, first))
  }

  private addRare(row: number, from: BankEntry): void {
    const { pool } = this
    if (from.instructed !== null) {
      this.instructed_currency.set(row, pool.number(from.instructed.currency))
      this.instructed_amount.set(row, from.instructed.amount_minor)
    }
    this.reason.set(row, pool.number(from.return_reason))
    this.trace.set(row, pool.number(from.trace))
    this.original_trace.set(row, pool.number(from.original_trace))
    if (from.batch_count !== null) this.batch_count.set(row, from.batch_count + 1)
    if (from.fixed !== null) {
      this.fixed.set(row, pool.number(usableId(from.fixed.id)))
      this.fixed_width.set(row, from.fixed.width)
    }
    const references = from.references.map((id) => pool.number(usableId(id))).filter((number) => number !== 0)
    if (references.length > 0) this.references.set(row, references)
    if (from.inside !== undefined) this.addInside(row, from.inside)
    if (from.unclear === true) this.unclear.add(row)
  }

  private addInside(row: number, inside: readonly EnclosedTransaction[]): void {
    const first = this.inside_size
    for (const one of inside) this.inside_ids.addInside(this.pool, this.inside_size++, one)
    this.inside.set(row, [first, this.inside_size])
  }

  isReturn(row: number): boolean {
    return (this.flags.get(row) & RETURNED_FLAG) !== 0
  }

  isCredit(row: number): boolean {
    return (this.flags.get(row) & CREDIT_FLAG) !== 0
  }

  /** The bank books the whole amount as charges. */
  isCharge(row: number): boolean {
    return (this.flags.get(row) & CHARGE_FLAG) !== 0
  }

  isAch(row: number): boolean {
    return this.source.get(row) === ACH_SOURCE
  }

  /** Orders by file, entry and detail, independent of reading order. */
  byPlace(one: number, other: number): number {
    return (
      this.file.get(one) - this.file.get(other) ||
      this.entry.get(one) - this.entry.get(other) ||
      this.detail.get(one) - this.detail.get(other)
    )
  }

  sourceOf(row: number): EntrySource {
    return ENTRY_SOURCES[this.source.get(row)] ?? 'camt.053'
  }
}

const ACH_SOURCE = ENTRY_SOURCES.indexOf('nacha')

/** Accounts as pool numbers, negative if not an IBAN. Few accounts occur in many rows, so recent ones are cached. */
class AccountNumbers {
  private readonly pool: TextPool
  private readonly known = new Map<string, number>()

  constructor(pool: TextPool) {
    this.pool = pool
  }

  number(text: string | null): number {
    if (text === null) return 0
    const known = this.known.get(text)
    if (known !== undefined) return known
    const account = accountKey(text)
    if (account === null) return 0
    const number = account.iban ? this.pool.number(account.text) : -this.pool.number(account.text)
    if (this.known.size >= REMEMBERED_ACCOUNTS) this.known.clear()
    this.known.set(text, number)
    return number
  }
}

const REMEMBERED_ACCOUNTS = 1_024

/** Both sides of a reconciliation with a shared text pool. */
export class Ledger {
  readonly pool = new TextPool()
  readonly instructions = new InstructionTable(this.pool)
  readonly entries = new EntryTable(this.pool)

  /** Adds an instruction after all entries, so that only ids that can match are stored. */
  addInstructionLast(instruction: PaymentInstruction): void {
    this.instructions.add(instruction, this.entries)
  }
}

/**
 * Keys by which an entry without a match on its end-to-end id (a loose entry) may still belong to an instruction. When reconciliation runs
 * in partitions by folded end-to-end id, instructions that share such a key are decided together with all loose entries, along with
 * everything of their folded id.
 */
export class LooseKeys {
  private readonly keys = new Set<string>()
  private readonly widths = new Set<number>()

  /** Registers a loose entry. */
  add(entry: BankEntry): void {
    for (const [kind, id] of unalteredIds(entry)) this.put(kind, id)
    for (const id of [entry.end_to_end_id, ...entry.references]) this.put('folded', foldedId(id))
    for (const one of entry.inside ?? []) {
      this.put('folded', foldedId(one.end_to_end_id))
      for (const [kind, id] of unalteredIds(one)) this.put(kind, id)
    }
    if (usableId(entry.end_to_end_id) === null) {
      this.put('block', entry.payment_information_id)
      this.put('message', entry.message_id)
    }
    if (entry.fixed === null) return
    const { id, width } = entry.fixed
    this.widths.add(width)
    this.put('folded', foldedId(id))
    this.put(`cut ${width}`, usableId(id) === null ? null : cutId(id, width))
  }

  /** A loose entry may belong to the instruction. */
  mayConcern(instruction: PaymentInstruction): boolean {
    const id = usableId(instruction.end_to_end_id)
    if (this.has('folded', foldedId(id)) || this.has('block', instruction.payment_information_id)) return true
    if (this.has('message', instruction.message_id)) return true
    if (unalteredIds(instruction).some(([kind, text]) => this.has(kind, text))) return true
    return id !== null && [...this.widths].some((width) => this.has(`cut ${width}`, cutId(id, width)))
  }

  private put(kind: string, text: string | null): void {
    const id = usableId(text)
    if (id !== null) this.keys.add(`${kind} ${id}`)
  }

  private has(kind: string, text: string | null): boolean {
    const id = usableId(text)
    return id !== null && this.keys.has(`${kind} ${id}`)
  }
}

function foldedId(text: string | null): string | null {
  const id = usableId(text)
  return id === null ? null : foldId(id)
}

function unalteredIds(from: PaymentInstruction | BankEntry | EnclosedTransaction): [string, string | null][] {
  return [
    ['uetr', uetrKey(from.uetr)],
    ['instruction', from.instruction_id],
    ['transaction', from.transaction_id],
    ['clearing', 'clearing_reference' in from ? from.clearing_reference : null],
  ]
}
