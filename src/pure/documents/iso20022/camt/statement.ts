import type { Direction } from './codes.ts'
import type { Place } from '../findings.ts'

/** Credits and debits counted and added, exact, in 10^-5. */

export class Tally {
  credits = 0
  debits = 0
  credit = 0n
  debit = 0n

  add(direction: Direction, amount: bigint): void {
    if (direction === 'DBIT') {
      this.debits++
      this.debit += amount
    } else {
      this.credits++
      this.credit += amount
    }
  }

  addAll(other: Tally): void {
    this.credits += other.credits
    this.debits += other.debits
    this.credit += other.credit
    this.debit += other.debit
  }

  clear(): void {
    this.credits = 0
    this.debits = 0
    this.credit = 0n
    this.debit = 0n
  }

  /** Credits less debits. */
  net(): bigint {
    return this.credit - this.debit
  }
}

/** An amount with the sign of its direction. */
export function signed(direction: Direction, amount: bigint): bigint {
  return direction === 'DBIT' ? -amount : amount
}

/** What the rules of camt.053 remember of the statement that is open. */

export interface Balance {
  /** In 10^-5, negative for a debit. */
  amount: bigint
  currency: string
  /** Days since 1970-01-01; null when it could not be read. */
  day: number | null
  place: Place
}

export interface Page {
  /** From 1. */
  number: number
  last: boolean
  place: Place
}

/** The balances that open and close a statement, or a page of one. */
interface Balances {
  opening: Balance | null
  /** Closing balance of the period before: an opening too. */
  previous: Balance | null
  closing: Balance | null
  /** First and last of those in between, which stand at the cuts between pages. */
  interim_first: Balance | null
  interim_last: Balance | null
  /** Whether balances of these kinds stand there at all, readable or not. */
  has_opening: boolean
  has_closing: boolean
  has_interim: boolean
}

export interface Statement {
  /** Place among the statements of the message, from 1. */
  ordinal: number
  id: string
  id_place: Place | null
  page: Page | null
  /** Whether the page is that of the statement, and not of the whole message. */
  own_page: boolean
  sequence: bigint | null
  sequence_place: Place | null
  /** IBAN or other identification; '' when there is none that could be read. */
  account: string
  /** Of the account; '' when it is not stated. */
  currency: string
  /** Of all entries; '' while there are none. */
  entry_currency: string
  /** Days of the period. */
  from_day: number | null
  to_day: number | null
  readonly balances: Balances
  readonly all: Tally
  readonly booked: Tally
  /** Booked reversals, which are among the booked entries too. */
  readonly reversed: Tally
  /** An amount, a direction or a status could not be read, or entries have several currencies: sums say nothing. */
  undecided: boolean
}

function newBalances(): Balances {
  return {
    opening: null,
    previous: null,
    closing: null,
    interim_first: null,
    interim_last: null,
    has_opening: false,
    has_closing: false,
    has_interim: false,
  }
}

export function newStatement(): Statement {
  return {
    ordinal: 0,
    id: '',
    id_place: null,
    page: null,
    own_page: false,
    sequence: null,
    sequence_place: null,
    account: '',
    currency: '',
    entry_currency: '',
    from_day: null,
    to_day: null,
    balances: newBalances(),
    all: new Tally(),
    booked: new Tally(),
    reversed: new Tally(),
    undecided: false,
  }
}

/** Another statement begins. `page` is that of the message. */
export function clearStatement(statement: Statement, page: Page | null): void {
  const { balances, all, booked, reversed, ordinal } = statement
  for (const tally of [all, booked, reversed]) tally.clear()
  Object.assign(balances, newBalances())
  Object.assign(statement, { ...newStatement(), ordinal: ordinal + 1, page, balances, all, booked, reversed })
}
