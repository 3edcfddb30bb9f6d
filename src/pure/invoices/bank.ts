import { decimalText, minorUnits } from '../documents/reconcile/minor-units.ts'

/**
 * The second rail: what bank statements say of invoices. A statement is the bank's word, given to the operator; it is reported and never mixed
 * into what was seen on the chain.
 */

/** A verdict of reconciliation in one word. */
export type BankWord = 'SETTLED' | 'PARTIAL' | 'OVER' | 'DUPLICATE_PAYMENT' | 'RETURNED' | 'OTHER_CURRENCY' | 'UNCLEAR'

const FACE_CURRENCY = 'USD'
/** A hundredth of a dollar in minor units of USDC. */
const CENT_MINOR = 10_000n

/**
 * What an invoice asks for at the bank, in minor units of the account's currency: its face in US dollars, to the cent. Null for an account in
 * any other currency, since no rate is promised, and for an amount that has no whole cents.
 */
export function bankAmount(amount_minor: bigint, currency: string): bigint | null {
  return currency === FACE_CURRENCY && amount_minor % CENT_MINOR === 0n ? amount_minor / CENT_MINOR : null
}

/** Decimal text of an amount of a statement. */
export function bankText(amount_minor: bigint, currency: string): string {
  return decimalText(amount_minor, minorUnits(currency))
}

/** One booked entry about the invoice. */
export interface BankBooking {
  direction: 'CRDT' | 'DBIT'
  returned: boolean
  currency: string
  amount_minor: bigint
  charges_minor: bigint
  instructed_minor: bigint | null
}
