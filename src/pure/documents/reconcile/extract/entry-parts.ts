import type { Direction, Entry, Inside } from '../records.ts'
import type { Amount } from './slots.ts'
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

/** Transactions that are held until their entry ends; of more than these none is told apart, and none can be taken back. */
const HELD = 10_000

/**
 * The transactions of one entry. They wait until it ends: then every row that is given has an amount, and the rows of an entry add up to it,
 * in its currency. Where they do not, no one can say which of the amounts moved: the entry is one row with what was booked, which is about
 * all of them and settles none (`unclear`), or, where they are in another currency, settles them only together. Of an entry with more
 * transactions than `HELD` they are given as they come, and the code of an error is returned when they do not add up.
 */
export class EntryParts {
  private readonly give: (entry: Entry) => void
  private booked: Booked | null = null
  private held: Part | null = null
  /** Those with an amount. */
  private priced: Entry[] = []
  /** More than can be held. */
  private given = false
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
    for (const entry of this.priced) this.give(entry)
    this.priced = []
  }

  /** One row with what was booked, about all of the transactions: what they say of amounts does not come to it. */
  private closeWhole(code: 'DETAILS_CURRENCY' | 'DETAILS_SUM', make: () => Entry | null): ReadCode | null {
    const made = this.given ? null : make()
    if (made === null) return 'DETAILS_UNCLEAR'
    const all = [...this.priced, ...this.unpriced]
    const named = this.unpriced.length === this.unpriced_count
    const unclear = code === 'DETAILS_SUM'
    this.give({
      ...made,
      ...(unclear && NOTHING_BATCHED),
      ...NO_IDS,
      detail: 0,
      instructed: null,
      charges_minor: 0n,
      returned: made.returned || all.some(({ returned }) => returned),
      ...(this.counted && !unclear && { batch_count: all.length + this.unlisted }),
      ...(named && { inside: all.map(insideOf) }),
      unclear,
    })
    return code
  }

  /** The bank counts more transactions than it lists, and this one is a part of what was booked, or nobody says which. */
  private isOneOfMany({ amount }: Part): boolean {
    const booked = this.booked?.amount
    if (this.unlisted === 0) return false
    return amount === null || (amount.currency === booked?.currency && amount.amount_minor !== booked.amount_minor)
  }

  /** The only transaction, with what was booked; an amount of its own that differs tells what was instructed. */
  private giveWhole({ entry, amount }: Part, entry_charges: bigint, own: () => Amount | null, make: () => Entry | null): ReadCode | null {
    const { booked } = this
    if (booked !== null && booked.direction !== null && entry.direction !== booked.direction && !booked.reversal) {
      this.priced = [entry]
      return this.closeWhole('DETAILS_SUM', make)
    }
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
    this.priced.push(entry)
    if (!this.given && this.priced.length < HELD) return
    this.given = true
    this.givePriced()
  }

  /** Every transaction has its amount: they must add up, or charges must be what is left, which are then a row of their own. */
  private closeSum(rest: bigint, entry_charges: bigint, make: () => Entry | null): ReadCode | null {
    const { booked, charges } = this
    // Banks differ in the direction that they write at the transactions of a reversal.
    const whole = rest === 0n || booked === null || (booked.reversal && rest === 2n * booked.amount.amount_minor)
    const explained = whole || [entry_charges, charges, entry_charges + charges].some((one) => rest === onTop(booked.direction, one))
    if (!explained) return this.closeWhole('DETAILS_SUM', make)
    this.givePriced()
    const made = whole ? null : make()
    if (made === null) return null
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

/** What the row of a whole entry says of single payments: nothing, they are inside it. */
const NO_IDS = { end_to_end_id: null, instruction_id: null, transaction_id: null, uetr: null, clearing_reference: null } as const

/** Charges belong to no payment, and to no batch of them. */
const NOTHING_BATCHED = { instructed: null, charges_minor: 0n, payment_information_id: null, message_id: null, batch_count: null } as const

function insideOf({ end_to_end_id, uetr, instruction_id, transaction_id }: Entry): Inside {
  return { end_to_end_id, uetr, instruction_id, transaction_id }
}

function common(texts: readonly (string | null)[]): string | null {
  const [first = null] = texts
  return texts.every((text) => text === first) ? first : null
}
