import { DEFAULT_WINDOW } from '../documents/reconcile/dates.ts'
import { reconcile, type Outcome, type ReconcileOptions } from '../documents/reconcile/reconcile.ts'
import { NO_OVERLAPS } from '../documents/reconcile/statements.ts'
import { Ledger } from '../documents/reconcile/ledger.ts'
import type { Entry, Instruction } from '../documents/reconcile/records.ts'
import { bankAmount, type BankBooking, type BankWord } from './bank.ts'
import { plainIban } from './links.ts'

/** Stands where an invoice has no amount in the currency of the account; no statement books in it. */
const NO_CURRENCY = 'USDC'

export interface BankCase {
  /** The creditor reference. */
  reference: string
  /** Minor units of USDC. */
  amount_minor: bigint
  bookings: readonly BankBooking[]
}

export interface BankJudgement {
  verdict: BankWord
  /** What is left of the money after returns; null when it cannot be said. */
  received_minor: bigint | null
  /** Less what was asked for; null where nothing can be compared. */
  delta_minor: bigint | null
}

/** What all bookings of each invoice come to, by the engine of reconciliation: each case is a payment to the account that was asked for. */
export function judgeBookings(cases: readonly BankCase[], account: { iban: string; currency: string }): BankJudgement[] {
  const iban = plainIban(account.iban)
  const ledger = new Ledger()
  for (const [file, one] of cases.entries()) {
    for (const booking of one.bookings) ledger.entries.add(entryOf(one.reference, booking, iban, file))
  }
  for (const [position, one] of cases.entries()) ledger.instructions.add(instructionOf(one, account.currency, iban, position))
  const outcome = reconcile(ledger, OPTIONS)
  return cases.map((one, row) => judgementOf(outcome, row, bankAmount(one.amount_minor, account.currency)))
}

function judgementOf(outcome: Outcome, row: number, asked_minor: bigint | null): BankJudgement {
  const { verdict, kind, basis, net_minor } = outcome.judgement(row)
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

function instructionOf({ reference, amount_minor }: BankCase, account_currency: string, iban: string, position: number): Instruction {
  const asked_minor = bankAmount(amount_minor, account_currency)
  return {
    ...NOTHING,
    source: 'pain.001',
    file: 0,
    position: position + 1,
    end_to_end_id: reference,
    currency: asked_minor === null ? NO_CURRENCY : account_currency,
    amount_minor: asked_minor ?? amount_minor,
    debtor_account: null,
    creditor_account: iban,
  }
}

function entryOf(reference: string, booking: BankBooking, iban: string, place: number): Entry {
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
