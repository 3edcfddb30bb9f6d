import type { Remittance } from './extract/remittance.ts'

/**
 * What reconciliation works on: plain records, whatever file they were read from. Amounts are integers in the minor unit of their currency
 * (see `minorUnits`). A text that was absent is null. Ids are as they stand in the file; what counts as an id is decided in `ids.ts`.
 */

export const INSTRUCTION_SOURCES = ['pain.001', 'pacs.008'] as const
export type InstructionSource = (typeof INSTRUCTION_SOURCES)[number]

export const ENTRY_SOURCES = ['camt.053', 'nacha'] as const
export type EntrySource = (typeof ENTRY_SOURCES)[number]

/** One credit transfer that was asked for. */
export interface Instruction {
  source: InstructionSource
  /** Which of the files given, from 0. */
  file: number
  /** Its place among the transfers of that file, from 1. */
  position: number
  end_to_end_id: string | null
  instruction_id: string | null
  transaction_id: string | null
  uetr: string | null
  clearing_reference: string | null
  payment_information_id: string | null
  message_id: string | null
  currency: string
  amount_minor: bigint
  debtor_account: string | null
  creditor_account: string | null
  /** Requested execution or interbank settlement, as `dayNumber`; null where the message names none. */
  day: number | null
}

/** How far an entry is booked. Only BOOK is money that moved; OTHER is a code of the bank's own. */
export const ENTRY_STATUSES = ['BOOK', 'PDNG', 'INFO', 'OTHER'] as const
export type EntryStatus = (typeof ENTRY_STATUSES)[number]

/**
 * What an entry proves, strongest first. `ach_dated`: an ACH entry whose batch carries the settlement date that only an operator fills in;
 * it may still be returned. `ach_originated`: a forward ACH entry, which is an instruction and no settlement.
 */
export const EVIDENCE = ['booked', 'ach_dated', 'ach_originated'] as const
export type Evidence = (typeof EVIDENCE)[number]

/** From the view of the account of the statement; of an ACH entry, from the view of its originator. */
export type Direction = 'DBIT' | 'CRDT'

/** Why an entry takes no part, whatever else it says. */
export const ASIDE = ['notification_of_change', 'prenote'] as const
export type Aside = (typeof ASIDE)[number]

/** What is known of a transaction that has no amount of its own. */
export interface Inside {
  end_to_end_id: string | null
  uetr: string | null
  instruction_id: string | null
  transaction_id: string | null
}

/** One movement of a statement or an ACH file: a transaction where details are given, else a whole entry. */
export interface Entry {
  source: EntrySource
  file: number
  /** Its place among the entries of that file, from 1; of an ACH entry its line. */
  entry: number
  /** Which detail of that entry, from 1; 0 when it has none. */
  detail: number
  status: EntryStatus
  aside: Aside | null
  evidence: Evidence
  direction: Direction
  currency: string
  amount_minor: bigint
  /** What the transaction was before exchange and charges, where the bank says so. */
  instructed: { currency: string; amount_minor: bigint } | null
  /** Charges in the currency of the entry that the bank says are inside its amount; 0 for none. */
  charges_minor: bigint
  /** The bank marks it as money that goes back: a reversal, a return, addenda 99. */
  returned: boolean
  return_reason: string | null
  end_to_end_id: string | null
  instruction_id: string | null
  transaction_id: string | null
  uetr: string | null
  clearing_reference: string | null
  payment_information_id: string | null
  message_id: string | null
  /** Ids that an ACH entry carries in its addenda, the most telling first. */
  references: readonly string[]
  /** The id in a field of fixed width, which cuts what is longer. */
  fixed: { id: string; width: number } | null
  /** The number that an ACH entry has, and the one that a return names. */
  trace: string | null
  original_trace: string | null
  /** How many transactions the bank says are inside an entry without details. */
  batch_count: number | null
  account: string | null
  /** The other side's account: of the creditor for a debit, of the debtor for a credit. */
  counterparty_account: string | null
  /** What `StatementBook.open` returned for the statement that it stands in. */
  statement: number
  /** The bank's name of the booking and its day; null where one of them is missing. */
  booking: string | null
  /** Booking date, else value date, as `dayNumber`; null where there is none. */
  day: number | null
  /** The bank's code says that all of it is charges. */
  charge?: boolean
  /** Of a row for several transactions without amounts: what they say of themselves, all of them or nothing. */
  inside?: readonly Inside[]
  /** What the transactions say does not come to what was booked: the row is about those inside, and settles none of them. */
  unclear?: boolean
  /** Kept where the reader was asked to: what the money is for. */
  remittance?: Remittance
}

/** One statement or file that entries stand in. */
export interface Statement {
  file: number
  account: string | null
  id: string | null
  sequence: string | null
  page: string | null
  /** The bank marks it as a copy or duplicate. */
  copy: boolean
  /** First and last day of its period, as `dayNumber`; null where it names none. */
  from_day?: number | null
  to_day?: number | null
}
