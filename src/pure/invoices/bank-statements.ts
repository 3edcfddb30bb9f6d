import { DEFAULT_WINDOW, formatMinorUnits, currencyDigits } from '../documents/reconcile/values.ts'
import { reconcileLedger, type ReconcileOptions } from '../documents/reconcile/reconcile.ts'
import type { ReconcileOutcome } from '../documents/reconcile/outcome.ts'
import type { BankEntry, PaymentInstruction, StatementOverlaps } from '../documents/reconcile/records.ts'
import { Ledger } from '../documents/reconcile/ledger.ts'
import { plainIban } from './links.ts'

/** Currency of a case whose invoice has no amount in the currency of the account; no statement uses it, so nothing can match. */
const NO_CURRENCY = 'USDC'

export interface BankCase {
  /** The creditor reference. */
  reference: string
  /** Amount due in the minor unit of the account's currency; null where the invoice has none. */
  asked_minor: bigint | null
  bookings: readonly BankBooking[]
}

export interface BankJudgement {
  verdict: BankWord
  /** Money received less returns; null when it cannot be determined. */
  received_minor: bigint | null
  /** Less what was asked for; null where nothing can be compared. */
  delta_minor: bigint | null
}

/**
 * Totals of all bookings of each invoice, computed by the reconciliation engine: each case is an expected payment to the requested account.
 */
export function judgeBookings(cases: readonly BankCase[], account: { iban: string; currency: string }): BankJudgement[] {
  const iban = plainIban(account.iban)
  const ledger = new Ledger()
  for (const [file, one] of cases.entries()) {
    for (const booking of one.bookings) ledger.entries.add(entryOf(one.reference, booking, iban, file))
  }
  for (const [position, one] of cases.entries()) ledger.instructions.add(instructionOf(one, account.currency, iban, position))
  const outcome = reconcileLedger(ledger, OPTIONS)
  return cases.map((one, row) => judgementOf(outcome, row, one.asked_minor))
}

function judgementOf(outcome: ReconcileOutcome, row: number, asked_minor: bigint | null): BankJudgement {
  const { verdict, kind, basis, net_minor } = outcome.verdictOf(row)
  const delta_minor = net_minor === null || asked_minor === null ? null : net_minor - asked_minor
  const said = { received_minor: net_minor, delta_minor }
  if (basis === 'ambiguous') return { ...said, verdict: 'UNCLEAR' }
  switch (verdict) {
    case 'SETTLED':
      return { ...said, verdict: 'SETTLED' }
    case 'DUPLICATE_PAYMENT':
      return { ...said, verdict: 'DUPLICATE_PAYMENT' }
    case 'UNPAID':
      return { ...said, verdict: kind === 'returned' ? 'RETURNED' : 'UNCLEAR' }
    case 'AMOUNT_MISMATCH':
      if (kind === 'currency') return { verdict: 'OTHER_CURRENCY', received_minor: null, delta_minor: null }
      return { ...said, verdict: kind === 'over' ? 'OVER' : 'PARTIAL' }
  }
}

const NO_OVERLAPS: StatementOverlaps = { repeating: new Map(), counting: new Map() }

/** References of invoices are never used again, so that days decide nothing. */
const OPTIONS: ReconcileOptions = {
  require_settlement_evidence: false,
  window: DEFAULT_WINDOW,
  overlaps: NO_OVERLAPS,
  repeated: new Set(),
}

const NOTHING = {
  instruction_id: null,
  transaction_id: null,
  uetr: null,
  clearing_reference: null,
  payment_information_id: null,
  message_id: null,
  day: null,
} as const

function instructionOf({ reference, asked_minor }: BankCase, account_currency: string, iban: string, position: number): PaymentInstruction {
  return {
    ...NOTHING,
    source: 'pain.001',
    file: 0,
    position: position + 1,
    end_to_end_id: reference,
    currency: asked_minor === null ? NO_CURRENCY : account_currency,
    amount_minor: asked_minor ?? 1n,
    debtor_account: null,
    creditor_account: iban,
  }
}

function entryOf(reference: string, booking: BankBooking, iban: string, place: number): BankEntry {
  const { direction, returned, currency, amount_minor, charges_minor, instructed_minor } = booking
  return {
    ...NOTHING,
    source: 'camt.053',
    file: 0,
    entry: place + 1,
    detail: 0,
    status: 'BOOK',
    aside: null,
    evidence: 'booked',
    direction,
    currency,
    amount_minor,
    instructed: instructed_minor === null ? null : { currency, amount_minor: instructed_minor },
    charges_minor,
    returned,
    return_reason: null,
    end_to_end_id: reference,
    references: [],
    fixed: null,
    trace: null,
    original_trace: null,
    batch_count: null,
    account: iban,
    counterparty_account: null,
    statement: 0,
    booking: null,
  }
}

/**
 * The second rail: what bank statements say of invoices. A statement is the bank's word, given to the operator; it is reported and never mixed
 * into what was seen on the chain.
 */

/** A verdict of reconciliation in one word. */
type BankWord = 'SETTLED' | 'PARTIAL' | 'OVER' | 'DUPLICATE_PAYMENT' | 'RETURNED' | 'OTHER_CURRENCY' | 'UNCLEAR'

const FACE_CURRENCY = 'USD'
/** A hundredth of a dollar in minor units of USDC. */
const CENT_MINOR = 10_000n

/**
 * Amount due at the bank in minor units of the account's currency: the face amount in US dollars, to the cent. Null for an account in
 * another currency, since no exchange rate is promised, and for an amount with a fraction of a cent.
 */
export function bankAmount(amount_minor: bigint, currency: string): bigint | null {
  return currency === FACE_CURRENCY && amount_minor % CENT_MINOR === 0n ? amount_minor / CENT_MINOR : null
}

/** Decimal text of an amount of a statement. */
export function bankText(amount_minor: bigint, currency: string): string {
  return formatMinorUnits(amount_minor, currencyDigits(currency))
}

/** One booked entry about the invoice. */
interface BankBooking {
  direction: 'CRDT' | 'DBIT'
  returned: boolean
  currency: string
  amount_minor: bigint
  charges_minor: bigint
  instructed_minor: bigint | null
}

/** Report of a bank statement on one booked entry. */
export interface ShownReport extends BankBooking {
  statement_id: string
  entry_reference: string
  booked_on: string | null
  verdict: BankWord
  reported_ms: number
}
