import { DEFAULT_WINDOW, type BookingWindow } from '../../src/pure/documents/reconcile/values.ts'
import { Ledger } from '../../src/pure/documents/reconcile/ledger.ts'
import { reconcileLedger } from '../../src/pure/documents/reconcile/reconcile.ts'
import { type BankEntry, type PaymentInstruction, type BankStatement, StatementBook } from '../../src/pure/documents/reconcile/records.ts'
import { buildReport } from '../../src/pure/documents/reconcile/reconcile-documents.ts'

/** Accounts of the examples: the registry's own (SWIFT IBAN registry). */
export const DEBTOR = 'DE89370400440532013000'
export const CREDITOR = 'FR1420041010050500013M02606'
export const STRANGER = 'GB29NWBK60161331926819'

/** An instruction of 100.00 EUR under the id E1, but for what is given. */
export function instruction(changes: Partial<PaymentInstruction> = {}): PaymentInstruction {
  return {
    source: 'pain.001',
    file: 0,
    position: 1,
    end_to_end_id: 'E1',
    instruction_id: null,
    transaction_id: null,
    uetr: null,
    clearing_reference: null,
    payment_information_id: 'P1',
    message_id: 'M1',
    currency: 'EUR',
    amount_minor: 10_000n,
    debtor_account: DEBTOR,
    creditor_account: CREDITOR,
    day: null,
    ...changes,
  }
}

/** A booked debit of 100.00 EUR under the id E1 on the debtor's account, but for what is given. */
export function entry(changes: Partial<BankEntry> = {}): BankEntry {
  return {
    source: 'camt.053',
    file: 1,
    entry: 1,
    detail: 0,
    status: 'BOOK',
    aside: null,
    evidence: 'booked',
    direction: 'DBIT',
    currency: 'EUR',
    amount_minor: 10_000n,
    instructed: null,
    charges_minor: 0n,
    returned: false,
    return_reason: null,
    end_to_end_id: 'E1',
    instruction_id: null,
    transaction_id: null,
    uetr: null,
    clearing_reference: null,
    payment_information_id: null,
    message_id: null,
    references: [],
    fixed: null,
    trace: null,
    original_trace: null,
    batch_count: null,
    account: DEBTOR,
    counterparty_account: null,
    statement: 0,
    booking: null,
    day: null,
    ...changes,
  }
}

/** A forward ACH entry that names E1 in its addenda. */
export function ach(changes: Partial<BankEntry> = {}): BankEntry {
  return entry({ source: 'nacha', evidence: 'ach_originated', end_to_end_id: null, references: ['E1'], account: null, ...changes })
}

/** An entry that takes the money back. */
export function back(changes: Partial<BankEntry> = {}): BankEntry {
  return entry({ direction: 'CRDT', returned: true, return_reason: 'AC04', entry: 2, ...changes })
}

export function statement(changes: Partial<BankStatement> = {}): BankStatement {
  return { file: 1, account: DEBTOR, id: 'S1', sequence: '1', page: null, copy: false, ...changes }
}

export interface Given {
  instructions: readonly PaymentInstruction[]
  entries: readonly BankEntry[]
  statements?: readonly BankStatement[]
  require_settlement_evidence?: boolean
  window?: BookingWindow
}

export function outcomeOf({ instructions, entries, statements = [], require_settlement_evidence = false, window = DEFAULT_WINDOW }: Given) {
  const ledger = new Ledger()
  const book = new StatementBook()
  for (const one of statements) book.open(one)
  for (const one of instructions) ledger.instructions.add(one)
  for (const one of entries) {
    ledger.entries.add(one)
    book.add(one)
  }
  const { repeated, overlaps } = book.findRepeats()
  return reconcileLedger(ledger, { require_settlement_evidence, window, repeated, overlaps })
}

/** Reconciles records and reports. */
export function reconciled(given: Given) {
  return buildReport(outcomeOf(given))
}
