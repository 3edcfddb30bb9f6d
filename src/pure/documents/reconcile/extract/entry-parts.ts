import type { Direction, Entry, Inside } from '../records.ts'
import type { Amount } from './amounts.ts'
import type { ReadCode } from './findings.ts'

/** One transaction of an entry. */
interface Part {
  /** As it counts if it is the only one: with what was booked, and with the charges in that currency. */
  entry: Entry
  /** What it says of itself; null for nothing. */
  amount: Amount | null
  /** Charges inside that amount, in its currency. */
  charges_minor: bigint
}

/** What is said of an entry before its transactions. */
interface Booked {
  amount: Amount
  direction: Direction | null
  reversal: boolean
}

/** Transactions without an amount that are held until their entry ends; of more than these none is told apart. */
const HELD = 10_000

/**
 * The transactions of one entry. The first waits until it is known whether it is the only one, and those without an amount wait for what the
 * others leave: then every row that is given has an amount, and the rows of an entry add up to it. Where they do not, the code of an error
 * is returned: nobody can say which of the amounts moved. Transactions in other currencies count as they stand, and it is said.
 */
export class EntryParts {
  private readonly give: (entry: Entry) => void
  private booked: Booked | null = null
  private held: Part | null = null
  private unpriced: Entry[] = []
  private unpriced_count = 0
  private against = false
  /** What the entry holds beyond its transactions; null when they have amounts in another currency. */
  private rest: bigint | null = 0n
  private charges = 0n
  private count = 0
  private in_block = 0
  private unlisted = 0
  private counted = false

  constructor(give: (entry: Entry) => void) {
    this.give = give
  }

  open(booked: Booked): void {
    this.booked = booked
    this.held = null
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

  add(part: Part): void {
    this.in_block++
    if (++this.count === 1) {
      this.held = part
      return
    }
    if (this.held !== null) this.release(this.held)
    this.held = null
    this.release(part)
  }

  /** A block of transactions ends: how many the bank says are in it. */
  endBlock(count: number | null): void {
    if (count !== null) {
      this.counted = true
      this.unlisted += Math.max(0, count - this.in_block)
    }
    this.in_block = 0
  }

  /**
   * The entry ends. `own` is what it says of amounts beside the one that was booked, `make` the entry without its transactions. Returns
   * what is to be said of it.
   */
  close(entry_charges: bigint, own: () => Amount | null, make: () => Entry | null): ReadCode | null {
    const { held } = this
    if (held !== null && !this.isOneOfMany(held)) return this.giveWhole(held, entry_charges, own)
    if (held !== null) this.release(held)
    const { rest } = this
    if (rest === null) return 'DETAILS_CURRENCY'
    if (this.unpriced_count === 0 && this.unlisted === 0) return this.closeSum(rest, entry_charges, make)
    if (this.against) return 'AMOUNT_MISSING'
    return rest < 0n ? 'DETAILS_SUM' : this.closeRest(rest, make)
  }

  /** The bank counts more transactions than it lists, and this one is a part of what was booked, or nobody says which. */
  private isOneOfMany({ amount }: Part): boolean {
    const booked = this.booked?.amount
    if (this.unlisted === 0) return false
    return amount === null || (amount.currency === booked?.currency && amount.amount_minor !== booked.amount_minor)
  }

  /** The only transaction, with what was booked; an amount of its own that differs tells what was instructed. */
  private giveWhole({ entry, amount }: Part, entry_charges: bigint, own: () => Amount | null): ReadCode | null {
    const { booked } = this
    if (booked !== null && booked.direction !== null && entry.direction !== booked.direction && !booked.reversal) return 'DETAILS_SUM'
    if (entry.charges_minor === 0n) entry.charges_minor = entry_charges
    wholeEntry(entry, amount)
    // Banks tell the exchange at the entry or at its one transaction.
    this.give(entry.instructed === null ? wholeEntry(entry, own()) : entry)
    if (amount === null || amount.currency !== entry.currency) return null
    const difference = entry.amount_minor - amount.amount_minor
    return difference === 0n || difference === onTop(entry.direction, entry.charges_minor) ? null : 'DETAIL_AMOUNT'
  }

  /** One of several transactions: it counts with its own amount. */
  private release({ entry, amount, charges_minor }: Part): void {
    const { booked } = this
    const along = entry.direction === booked?.direction
    this.charges += entry.charges_minor
    if (amount === null) {
      this.unpriced_count++
      if (!along && booked?.reversal !== true) this.against = true
      if (this.unpriced.length < HELD) this.unpriced.push(entry)
      return
    }
    const signed = along ? amount.amount_minor : -amount.amount_minor
    if (this.rest !== null) this.rest = amount.currency === booked?.amount.currency ? this.rest - signed : null
    // Filled in place: a copy of so many fields would cost more than reading them.
    entry.currency = amount.currency
    entry.amount_minor = amount.amount_minor
    entry.charges_minor = charges_minor
    this.give(entry)
  }

  /** Every transaction has its amount: they must add up, or charges must be what is left, which are then a row of their own. */
  private closeSum(rest: bigint, entry_charges: bigint, make: () => Entry | null): ReadCode | null {
    const { booked, charges } = this
    if (rest === 0n || booked === null) return null
    // Banks differ in the direction that they write at the transactions of a reversal.
    if (booked.reversal && rest === 2n * booked.amount.amount_minor) return null
    const explained = [entry_charges, charges, entry_charges + charges].some((one) => rest === onTop(booked.direction, one))
    const made = explained ? make() : null
    if (made === null) return 'DETAILS_SUM'
    const direction = rest > 0n ? made.direction : made.direction === 'DBIT' ? 'CRDT' : 'DBIT'
    this.give({ ...made, ...NOTHING_BATCHED, detail: 0, direction, amount_minor: rest > 0n ? rest : -rest })
    return null
  }

  /** Some transactions have no amount, or are not listed: what the others leave is theirs. */
  private closeRest(rest: bigint, make: () => Entry | null): ReadCode | null {
    if (rest === 0n) return this.unpriced_count > 0 ? 'DETAILS_WITHOUT_AMOUNT' : null
    if (this.priceAll(rest)) {
      for (const entry of this.unpriced) this.give(entry)
      return null
    }
    const made = make()
    if (made !== null) this.give(this.restOf(made, rest))
    return this.unpriced_count > 0 ? 'DETAILS_WITHOUT_AMOUNT' : 'DETAILS_MISSING'
  }

  /** Whether the amounts that are missing follow: one is the rest, several are what was instructed where that adds up to the rest. */
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

  /** One row for all transactions without an amount, with what is known of them. */
  private restOf(made: Entry, rest: bigint): Entry {
    const { unpriced, unpriced_count } = this
    const all = unpriced.length === unpriced_count
    return {
      ...made,
      detail: 0,
      amount_minor: rest,
      instructed: null,
      charges_minor: 0n,
      returned: made.returned || unpriced.some(({ returned }) => returned),
      payment_information_id: common(unpriced.map((one) => one.payment_information_id)) ?? made.payment_information_id,
      message_id: common(unpriced.map((one) => one.message_id)) ?? made.message_id,
      batch_count: this.counted ? unpriced_count + this.unlisted : null,
      ...(all && unpriced_count > 0 && { inside: unpriced.map(insideOf) }),
    }
  }
}

/** An entry that counts with what was booked, and what it says of itself beside that. */
export function wholeEntry(entry: Entry, own: Amount | null): Entry {
  const differs = own !== null && (own.currency !== entry.currency || own.amount_minor !== entry.amount_minor)
  if (differs) entry.instructed ??= own
  return entry
}

/** Charges come on top of what leaves an account and off what arrives. */
function onTop(direction: Direction | null, charges_minor: bigint): bigint {
  return direction === 'DBIT' ? charges_minor : -charges_minor
}

/** Charges belong to no payment, and to no batch of them. */
const NOTHING_BATCHED = { instructed: null, charges_minor: 0n, payment_information_id: null, message_id: null, batch_count: null } as const

function insideOf({ end_to_end_id, uetr, instruction_id, transaction_id }: Entry): Inside {
  return { end_to_end_id, uetr, instruction_id, transaction_id }
}

function common(texts: readonly (string | null)[]): string | null {
  const [first = null] = texts
  return texts.every((text) => text === first) ? first : null
}
