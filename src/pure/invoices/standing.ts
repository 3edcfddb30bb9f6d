/**
 * Status of an invoice: a function of its terms, the payments that were seen, a bank transfer that its merchant confirmed, and the time. A payment that a reorganisation removes
 * therefore leaves the invoice as it was before.
 */
export type InvoiceState = 'ISSUED' | 'PROCESSING' | 'PARTIALLY_PAID' | 'SETTLED' | 'EXPIRED' | 'VOID'
export const INVOICE_STATES = ['ISSUED', 'PROCESSING', 'PARTIALLY_PAID', 'SETTLED', 'EXPIRED', 'VOID'] as const satisfies InvoiceState[]

export const INVOICE_EXCEPTIONS = [
  'paid_late',
  'overpaid',
  'underpaid',
  'duplicate_payment',
  'wrong_asset',
  'reorged',
  'ambiguous',
] as const
type InvoiceException = (typeof INVOICE_EXCEPTIONS)[number]

/** Flags that cannot be derived from the current payments and are stored with the invoice. */
export type InvoiceMark = 'wrong_asset' | 'reorged' | 'ambiguous'

/** A transfer to the merchant that is attributed to the invoice. */
export interface SeenPayment {
  transaction: string
  log_index: number
  payer: string
  amount_minor: bigint
  block_number: number
  /** Time of the block. */
  block_time_s: number
  /** Deep enough in the chain for its size. */
  confirmed: boolean
}

export interface Standing {
  status: InvoiceState
  /** In the order of INVOICE_EXCEPTIONS. */
  exceptions: InvoiceException[]
  paid_minor: bigint
  confirmed_minor: bigint
  due_minor: bigint
  overpaid_minor: bigint
  /** The payment with which the confirmed ones reached the amount. */
  settled_by: SeenPayment | null
  first_seen_s: number | null
}

export interface StandingAsked {
  amount_minor: bigint
  expires_s: number
  voided: boolean
  /** The merchant confirmed a bank transfer of the whole amount: nothing is due on the chain. */
  bank_paid: boolean
  marks: readonly InvoiceMark[]
}

/** The payments may come in any order. */
export function standingOf(asked: StandingAsked, payments: readonly SeenPayment[], now_s: number): Standing {
  const ordered = payments.toSorted((one, other) => one.block_number - other.block_number || one.log_index - other.log_index)
  const paid_minor = sum(ordered)
  const confirmed = ordered.filter((payment) => payment.confirmed)
  const confirmed_minor = sum(confirmed)
  const settled_by = asked.bank_paid ? null : reaching(confirmed, asked.amount_minor)
  const payable_minor = asked.bank_paid ? 0n : asked.amount_minor
  const status = statusOf(asked, { paid_minor, confirmed_minor }, now_s)
  const found = exceptionsOf(asked, ordered, status, settled_by)
  return {
    status,
    exceptions: INVOICE_EXCEPTIONS.filter((name) => found.has(name)),
    paid_minor,
    confirmed_minor,
    due_minor: paid_minor < payable_minor ? payable_minor - paid_minor : 0n,
    overpaid_minor: paid_minor > payable_minor ? paid_minor - payable_minor : 0n,
    settled_by: status === 'SETTLED' ? settled_by : null,
    first_seen_s: ordered[0]?.block_time_s ?? null,
  }
}

/** A payment in progress delays expiry, since it may have been in time. Voiding is final, even when a payment arrives afterwards. */
function statusOf(
  { amount_minor, expires_s, voided, bank_paid }: StandingAsked,
  { paid_minor, confirmed_minor }: { paid_minor: bigint; confirmed_minor: bigint },
  now_s: number,
): InvoiceState {
  if (voided) return 'VOID'
  if (bank_paid || confirmed_minor >= amount_minor) return 'SETTLED'
  if (paid_minor > confirmed_minor) return 'PROCESSING'
  if (now_s > expires_s) return 'EXPIRED'
  return paid_minor > 0n ? 'PARTIALLY_PAID' : 'ISSUED'
}

function exceptionsOf(
  { amount_minor, expires_s, voided, bank_paid, marks }: StandingAsked,
  ordered: readonly SeenPayment[],
  status: InvoiceState,
  settled_by: SeenPayment | null,
): Set<InvoiceException> {
  const found = new Set<InvoiceException>(marks)
  const paid_minor = sum(ordered)
  const late = status === 'SETTLED' ? (settled_by?.block_time_s ?? 0) > expires_s : ordered.some((one) => one.block_time_s > expires_s)
  if (late || (voided && ordered.length > 0)) found.add('paid_late')
  if (paid_minor > (bank_paid ? 0n : amount_minor)) found.add('overpaid')
  if (status === 'EXPIRED' && paid_minor > 0n) found.add('underpaid')
  // Settled or not, a second payment of the whole is most likely a payer who paid twice.
  const first = bank_paid ? null : reaching(ordered, amount_minor)
  const after = ordered.slice(ordered.findIndex((one) => one === first) + 1)
  if ((bank_paid || paid_minor > amount_minor) && after.some((one) => one.amount_minor === amount_minor)) found.add('duplicate_payment')
  return found
}

/** The payment at which the sum reaches the amount. */
function reaching(ordered: readonly SeenPayment[], amount_minor: bigint): SeenPayment | null {
  let total = 0n
  for (const payment of ordered) {
    total += payment.amount_minor
    if (total >= amount_minor) return payment
  }
  return null
}

function sum(payments: readonly SeenPayment[]): bigint {
  return payments.reduce((total, { amount_minor }) => total + amount_minor, 0n)
}

/** Up to here two blocks are deep enough; beyond it the block must be final. 1,000 USDC. */
export const LARGE_MINOR = 1_000_000_000n
const SMALL_CONFIRMATIONS = 2n

/** Returns true when the block of a payment is deep enough for its amount. Head and blocks are heights. */
export function isConfirmed(amount_minor: bigint, block: bigint, head: bigint, final: bigint | null): boolean {
  if (final !== null && block <= final) return true
  return amount_minor <= LARGE_MINOR && head - block + 1n >= SMALL_CONFIRMATIONS
}
