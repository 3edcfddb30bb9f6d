import type { EntryDirection, BankEntry, EnclosedTransaction, ReadCode } from './records.ts'
import type { SlotAmount } from './message-reader.ts'

/** One transaction of an entry. */
interface EntryTransaction {
  /** The row if this is the only transaction: with the booked amount and the charges in that currency. */
  entry: BankEntry
  /** The transaction's own amount, if any. */
  amount: SlotAmount | null
  /** Charges included in that amount, in its currency. */
  charges_minor: bigint
}

/** The booked entry without its transactions. */
interface BookedEntry {
  amount: SlotAmount
  direction: EntryDirection | null
  reversal: boolean
}

/** Maximum number of transactions held until the entry ends. Rows of larger entries are emitted as they come and cannot be withdrawn. */
const HELD_TRANSACTIONS = 10_000

/**
 * Collects the transactions of one entry until it ends, so that every emitted row has an amount and the rows add up to the entry in its
 * currency. If they do not add up, the amounts are uncertain: the entry becomes one row with the booked amount that concerns all
 * transactions and settles none (`unclear`); if they are in another currency, it settles them only together. Transactions beyond
 * `HELD_TRANSACTIONS` are emitted as they come, and `close` returns an error code if they do not add up.
 */
export class EntryTransactions {
  private readonly emit: (entry: BankEntry) => void
  private booked: BookedEntry | null = null
  private held: EntryTransaction | null = null
  /** Transactions with an amount. */
  private priced: BankEntry[] = []
  /** More transactions than can be held; rows were emitted. */
  private given = false
  private unpriced: BankEntry[] = []
  private unpriced_count = 0
  private against = false
  /** Booked amount minus the transactions; null if they are in another currency. */
  private rest: bigint | null = 0n
  private charges = 0n
  private count = 0
  private in_block = 0
  private unlisted = 0
  private counted = false

  constructor(give: (entry: BankEntry) => void) {
    this.emit = give
  }

  open(booked: BookedEntry): void {
    this.booked = booked
    this.held = null
    this.priced = []
    this.given = false
    if (this.unpriced_count > 0) this.unpriced = []
    this.unpriced_count = 0
    this.against = false
    this.rest = booked.amount.amount_minor
    this.charges = 0n
    this.count = 0
    this.in_block = 0
    this.unlisted = 0
    this.counted = false
  }

  add(part: EntryTransaction): void {
    this.in_block++
    if (++this.count === 1) {
      this.held = part
      return
    }
    if (this.held !== null) this.release(this.held)
    this.held = null
    this.release(part)
  }

  /** Ends a block of transactions; `count` is the number the bank states for it. */
  endBlock(count: number | null): void {
    if (count !== null) {
      this.counted = true
      this.unlisted += Math.max(0, count - this.in_block)
    }
    this.in_block = 0
  }

  /**
   * Ends the entry. `own` reads further amounts of the entry, `make` builds its row without transactions. Returns the code of a finding, if
   * any.
   */
  close(entry_charges: bigint, own: () => SlotAmount | null, make: () => BankEntry | null): ReadCode | null {
    const { held } = this
    if (held !== null && !this.isOneOfMany(held)) return this.giveWhole(held, entry_charges, own, make)
    if (held !== null) this.release(held)
    const { rest } = this
    if (rest === null) return this.closeWhole('DETAILS_CURRENCY', make)
    if (this.unpriced_count === 0 && this.unlisted === 0) return this.closeSum(rest, entry_charges, make)
    if (this.against || rest < 0n) return this.closeWhole('DETAILS_SUM', make)
    this.givePriced()
    return this.closeRest(rest, make)
  }

  private givePriced(): void {
    for (const entry of this.priced) this.emit(entry)
    this.priced = []
  }

  /** Emits one row with the booked amount for all transactions, because their amounts do not add up to it. */
  private closeWhole(code: 'DETAILS_CURRENCY' | 'DETAILS_SUM', make: () => BankEntry | null): ReadCode | null {
    const made = this.given ? null : make()
    if (made === null) return 'DETAILS_UNCLEAR'
    const all = [...this.priced, ...this.unpriced]
    const named = this.unpriced.length === this.unpriced_count
    const unclear = code === 'DETAILS_SUM'
    this.emit({
      ...made,
      ...(unclear && NO_BATCH),
      ...NO_PAYMENT_IDS,
      detail: 0,
      instructed: null,
      charges_minor: 0n,
      returned: made.returned || all.some(({ returned }) => returned),
      ...(this.counted && !unclear && { batch_count: all.length + this.unlisted }),
      ...(named && { inside: all.map(enclosedTransaction) }),
      unclear,
    })
    return code
  }

  /** The bank states more transactions than it lists, and this one may be only part of the booked amount. */
  private isOneOfMany({ amount }: EntryTransaction): boolean {
    const booked = this.booked?.amount
    if (this.unlisted === 0) return false
    return amount === null || (amount.currency === booked?.currency && amount.amount_minor !== booked.amount_minor)
  }

  /** Emits the only transaction with the booked amount; its own amount, if different, is the instructed amount. */
  private giveWhole(
    { entry, amount }: EntryTransaction,
    entry_charges: bigint,
    own: () => SlotAmount | null,
    make: () => BankEntry | null,
  ): ReadCode | null {
    const { booked } = this
    if (booked !== null && booked.direction !== null && entry.direction !== booked.direction && !booked.reversal) {
      this.priced = [entry]
      return this.closeWhole('DETAILS_SUM', make)
    }
    if (entry.charges_minor === 0n) entry.charges_minor = entry_charges
    keepInstructedAmount(entry, amount)
    // Banks state the exchange at the entry or at its only transaction.
    this.emit(entry.instructed === null ? keepInstructedAmount(entry, own()) : entry)
    if (amount === null || amount.currency !== entry.currency) return null
    const difference = entry.amount_minor - amount.amount_minor
    return difference === 0n || difference === chargesOnTop(entry.direction, entry.charges_minor) ? null : 'DETAIL_AMOUNT'
  }

  /** Adds one of several transactions with its own amount. */
  private release({ entry, amount, charges_minor }: EntryTransaction): void {
    const { booked } = this
    const along = entry.direction === booked?.direction
    this.charges += entry.charges_minor
    if (amount === null) {
      this.unpriced_count++
      if (!along && booked?.reversal !== true) this.against = true
      if (this.unpriced.length < HELD_TRANSACTIONS) this.unpriced.push(entry)
      return
    }
    const signed = along ? amount.amount_minor : -amount.amount_minor
    if (this.rest !== null) this.rest = amount.currency === booked?.amount.currency ? this.rest - signed : null
    // Changed in place: copying so many fields would cost more than reading them.
    entry.currency = amount.currency
    entry.amount_minor = amount.amount_minor
    entry.charges_minor = charges_minor
    this.priced.push(entry)
    if (!this.given && this.priced.length < HELD_TRANSACTIONS) return
    this.given = true
    this.givePriced()
  }

  /** Every transaction has an amount: they must add up, or charges must explain the rest, which becomes a row. */
  private closeSum(rest: bigint, entry_charges: bigint, make: () => BankEntry | null): ReadCode | null {
    const { booked, charges } = this
    // Banks differ in the direction of the transactions of a reversal.
    const whole = rest === 0n || booked === null || (booked.reversal && rest === 2n * booked.amount.amount_minor)
    const explained = whole || [entry_charges, charges, entry_charges + charges].some((one) => rest === chargesOnTop(booked.direction, one))
    if (!explained) return this.closeWhole('DETAILS_SUM', make)
    this.givePriced()
    const made = whole ? null : make()
    if (made === null) return null
    const direction = rest > 0n ? made.direction : made.direction === 'DBIT' ? 'CRDT' : 'DBIT'
    this.emit({ ...made, ...NO_BATCH, detail: 0, direction, amount_minor: rest > 0n ? rest : -rest })
    return null
  }

  /** The rest belongs to transactions without amount or not listed. */
  private closeRest(rest: bigint, make: () => BankEntry | null): ReadCode | null {
    if (rest === 0n) return this.unpriced_count > 0 ? 'DETAILS_WITHOUT_AMOUNT' : null
    if (this.priceAll(rest)) {
      for (const entry of this.unpriced) this.emit(entry)
      return null
    }
    const made = make()
    if (made !== null) this.emit(this.restOf(made, rest))
    return this.unpriced_count > 0 ? 'DETAILS_WITHOUT_AMOUNT' : 'DETAILS_MISSING'
  }

  /** Derives missing amounts: a single one is the rest; several are the instructed amounts if these add up to the rest. */
  private priceAll(rest: bigint): boolean {
    const { unpriced, booked } = this
    const [only] = unpriced
    if (only === undefined || this.unlisted > 0 || unpriced.length < this.unpriced_count) return false
    if (unpriced.length === 1) {
      only.amount_minor = rest
      return true
    }
    const instructed = unpriced.map((entry) => (entry.instructed?.currency === booked?.amount.currency ? entry.instructed : null))
    if (instructed.reduce((sum, one) => sum + (one?.amount_minor ?? 0n), 0n) !== rest || instructed.includes(null)) return false
    for (const entry of unpriced) entry.amount_minor = entry.instructed?.amount_minor ?? 0n
    return true
  }

  /** One row for all transactions without an amount. */
  private restOf(made: BankEntry, rest: bigint): BankEntry {
    const { unpriced, unpriced_count } = this
    const all = unpriced.length === unpriced_count
    return {
      ...made,
      detail: 0,
      amount_minor: rest,
      instructed: null,
      charges_minor: 0n,
      returned: made.returned || unpriced.some(({ returned }) => returned),
      payment_information_id: commonText(unpriced.map((one) => one.payment_information_id)) ?? made.payment_information_id,
      message_id: commonText(unpriced.map((one) => one.message_id)) ?? made.message_id,
      batch_count: this.counted ? unpriced_count + this.unlisted : null,
      ...(all && unpriced_count > 0 && { inside: unpriced.map(enclosedTransaction) }),
    }
  }
}

/** Keeps an own amount that differs from the booked one as the instructed amount. */
export function keepInstructedAmount(entry: BankEntry, own: SlotAmount | null): BankEntry {
  const differs = own !== null && (own.currency !== entry.currency || own.amount_minor !== entry.amount_minor)
  if (differs) entry.instructed ??= own
  return entry
}

/** Charges increase a debit and reduce a credit. */
function chargesOnTop(direction: EntryDirection | null, charges_minor: bigint): bigint {
  return direction === 'DBIT' ? charges_minor : -charges_minor
}

/** A row for several payments has no payment ids. */
const NO_PAYMENT_IDS = { end_to_end_id: null, instruction_id: null, transaction_id: null, uetr: null, clearing_reference: null } as const

/** Charges belong to no payment and no batch. */
const NO_BATCH = { instructed: null, charges_minor: 0n, payment_information_id: null, message_id: null, batch_count: null } as const

function enclosedTransaction({ end_to_end_id, uetr, instruction_id, transaction_id }: BankEntry): EnclosedTransaction {
  return { end_to_end_id, uetr, instruction_id, transaction_id }
}

function commonText(texts: readonly (string | null)[]): string | null {
  const [first = null] = texts
  return texts.every((text) => text === first) ? first : null
}
