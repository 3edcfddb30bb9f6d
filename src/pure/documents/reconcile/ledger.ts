import { Bytes, Ints, Money } from './columns.ts'
import { accountKey, hash, SEED, uetrKey, usableId } from './ids.ts'
import {
  ASIDE,
  ENTRY_SOURCES,
  ENTRY_STATUSES,
  EVIDENCE,
  INSTRUCTION_SOURCES,
  type Entry,
  type EntrySource,
  type Inside,
  type Instruction,
  type InstructionSource,
} from './records.ts'
import { TextPool } from './text-pool.ts'

/** Ids that an instruction and an entry may share, kept as numbers of the pool; 0 where there is none or a placeholder. */
class Ids {
  readonly end_to_end = new Ints()
  readonly instruction = new Ints()
  readonly transaction = new Ints()
  readonly uetr = new Ints()
  readonly clearing = new Ints()
  readonly payment_information = new Ints()
  readonly message = new Ints()

  add(pool: TextPool, row: number, from: Instruction | Entry): void {
    this.addInside(pool, row, from)
    this.clearing.set(row, pool.number(usableId(from.clearing_reference)))
    this.payment_information.set(row, pool.number(usableId(from.payment_information_id)))
    this.message.set(row, pool.number(usableId(from.message_id)))
  }

  /** Those that a transaction without an amount may have. */
  addInside(pool: TextPool, row: number, from: Inside): void {
    this.end_to_end.set(row, pool.number(usableId(from.end_to_end_id)))
    this.instruction.set(row, pool.number(usableId(from.instruction_id)))
    this.transaction.set(row, pool.number(usableId(from.transaction_id)))
    this.uetr.set(row, pool.number(uetrKey(from.uetr)))
  }

  /**
   * The same when `told` are the ids of all entries, and `inside` those of transactions in them: but for the end-to-end id, which is shown,
   * an id that none of them has can match nothing and is not kept. Of such a UETR it is kept that there is one, as -1.
   */
  addWanted(pool: TextPool, row: number, from: Instruction, told: Ids, inside: Ids): void {
    this.end_to_end.set(row, pool.number(usableId(from.end_to_end_id)))
    if (told.instruction.used || inside.instruction.used) this.instruction.set(row, pool.find(usableId(from.instruction_id)))
    if (told.transaction.used || inside.transaction.used) this.transaction.set(row, pool.find(usableId(from.transaction_id)))
    if (told.uetr.used || inside.uetr.used) this.addUetr(pool, row, uetrKey(from.uetr))
    if (told.clearing.used) this.clearing.set(row, pool.find(usableId(from.clearing_reference)))
    // Kept whole: two messages may use the same id for a block.
    if (!told.payment_information.used && !told.message.used) return
    this.payment_information.set(row, pool.number(usableId(from.payment_information_id)))
    this.message.set(row, pool.number(usableId(from.message_id)))
  }

  private addUetr(pool: TextPool, row: number, uetr: string | null): void {
    if (uetr !== null) this.uetr.set(row, pool.find(uetr) || -1)
  }
}

/** Instructions in columns. */
class InstructionTable {
  size = 0
  readonly ids = new Ids()
  readonly source = new Bytes()
  readonly file = new Bytes()
  readonly position = new Ints()
  readonly currency = new Ints()
  readonly amount = new Money()
  /** Numbers of the pool; negative for what is no IBAN. */
  readonly debtor = new Ints()
  readonly creditor = new Ints()
  /** 0 where it is not known. */
  readonly day = new Ints()
  /** The end-to-end id as it stands, where it is a placeholder. */
  readonly placeholder = new Ints()
  /** Those that there are. */
  readonly sources = new Set<InstructionSource>()
  private readonly pool: TextPool
  private readonly accounts: Accounts

  constructor(pool: TextPool) {
    this.pool = pool
    this.accounts = new Accounts(pool)
  }

  /** With `told`, all entries, ids that cannot match are not kept. */
  add(from: Instruction, told: EntryTable | null = null): number {
    const { pool } = this
    const row = this.size++
    if (told === null) this.ids.add(pool, row, from)
    else this.ids.addWanted(pool, row, from, told.ids, told.inside_ids)
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

  /** The order of their places, whatever the order in which they came. */
  byPlace(one: number, other: number): number {
    return this.file.get(one) - this.file.get(other) || this.position.get(one) - this.position.get(other)
  }

  sourceOf(row: number): InstructionSource {
    return INSTRUCTION_SOURCES[this.source.get(row)] ?? 'pain.001'
  }
}

const RETURNED = 1
const CREDIT = 2
/** Taken as charges, all of it. */
const CHARGE = 4

/** Entries in columns. Columns that most files leave empty take no memory until something is in them. */
class EntryTable {
  size = 0
  readonly ids = new Ids()
  readonly source = new Bytes()
  readonly file = new Bytes()
  readonly entry = new Ints()
  readonly detail = new Ints()
  readonly status = new Bytes()
  readonly aside = new Bytes()
  readonly evidence = new Bytes()
  readonly flags = new Bytes()
  readonly currency = new Ints()
  readonly amount = new Money()
  readonly instructed_currency = new Ints()
  readonly instructed_amount = new Money()
  readonly charges = new Money()
  readonly reason = new Ints()
  readonly fixed = new Ints()
  readonly fixed_width = new Bytes()
  readonly trace = new Ints()
  readonly original_trace = new Ints()
  /** One more than the count; 0 when there is none. */
  readonly batch_count = new Ints()
  readonly account = new Ints()
  readonly counterparty = new Ints()
  readonly statement = new Ints()
  /** The bank's name of the booking, as two hashes; the first is 0 where there is none. Names that are kept would take most of the memory. */
  readonly booking = new Ints()
  readonly booking_beside = new Ints()
  /** 0 where it is not known. */
  readonly day = new Ints()
  /** Whether there are entries of several statements. */
  several_statements = false
  readonly placeholder = new Ints()
  /** Only ACH entries have any. */
  readonly references = new Map<number, readonly number[]>()
  /** Of rows for several transactions without amounts: where their ids begin and end in `inside_ids`. */
  readonly inside = new Map<number, readonly [number, number]>()
  readonly inside_ids = new Ids()
  /** Of these, rows that their transactions contradict. */
  readonly unclear = new Set<number>()
  private inside_size = 0
  private readonly pool: TextPool
  private readonly accounts: Accounts

  constructor(pool: TextPool) {
    this.pool = pool
    this.accounts = new Accounts(pool)
  }

  add(from: Entry): number {
    const { pool } = this
    const row = this.size++
    this.ids.add(pool, row, from)
    this.source.set(row, ENTRY_SOURCES.indexOf(from.source))
    this.file.set(row, from.file)
    this.entry.set(row, from.entry)
    this.detail.set(row, from.detail)
    this.status.set(row, ENTRY_STATUSES.indexOf(from.status))
    this.aside.set(row, from.aside === null ? 0 : ASIDE.indexOf(from.aside) + 1)
    this.evidence.set(row, EVIDENCE.indexOf(from.evidence))
    const charge = from.charge === true && from.direction === 'DBIT'
    this.flags.set(row, (from.returned ? RETURNED : 0) | (from.direction === 'CRDT' ? CREDIT : 0) | (charge ? CHARGE : 0))
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
    const first = hash(name, SEED)
    this.booking.set(row, first === 0 ? 1 : first)
    this.booking_beside.set(row, hash(name, first))
  }

  private addRare(row: number, from: Entry): void {
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

  private addInside(row: number, inside: readonly Inside[]): void {
    const first = this.inside_size
    for (const one of inside) this.inside_ids.addInside(this.pool, this.inside_size++, one)
    this.inside.set(row, [first, this.inside_size])
  }

  isReturn(row: number): boolean {
    return (this.flags.get(row) & RETURNED) !== 0
  }

  isCredit(row: number): boolean {
    return (this.flags.get(row) & CREDIT) !== 0
  }

  /** Whether the bank takes all of it as charges. */
  isCharge(row: number): boolean {
    return (this.flags.get(row) & CHARGE) !== 0
  }

  isAch(row: number): boolean {
    return this.source.get(row) === ACH
  }

  /** The order of their places, whatever the order in which they came. */
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

const ACH = ENTRY_SOURCES.indexOf('nacha')

/** Accounts as numbers of the pool, negative for what is no IBAN. Few accounts stand in many rows, so the last ones are remembered. */
class Accounts {
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
    if (this.known.size >= REMEMBERED) this.known.clear()
    this.known.set(text, number)
    return number
  }
}

const REMEMBERED = 1_024

/** Both sides of a reconciliation over one pool of texts. */
export class Ledger {
  readonly pool = new TextPool()
  readonly instructions = new InstructionTable(this.pool)
  readonly entries = new EntryTable(this.pool)

  /** Adds an instruction when all entries are in: then only what can match is kept. */
  addLast(instruction: Instruction): void {
    this.instructions.add(instruction, this.entries)
  }
}
