import { isMembers, type Members } from '../shapes.ts'
import type { SignedPayment } from './sign.ts'

export type Sent =
  | { kind: 'paid' }
  /** On its way, or the service cannot tell now: the same payment is to be sent again after so many seconds. */
  | { kind: 'again'; wait_s: number; sent: boolean }
  | { kind: 'refused'; problem: Members }
  /** No answer came. The payment may have been taken. */
  | { kind: 'lost' }

/** What cannot be decided now but may be soon; every other refusal is for good. */
const PASSING = new Set([
  'STORE_UNAVAILABLE',
  'SETTLEMENT_UNAVAILABLE',
  'VERIFICATION_BUSY',
  'UPSTREAM_RPC_UNAVAILABLE',
  'PAYMENT_PENDING',
  'INTERNAL_ERROR',
])
const WAIT_S = 2
/** Whoever must wait longer is refused: a bound of the day, not of the moment. */
const WAIT_MAX_S = 60

/** Hands a signed payment to the service, which answers the same payment alike however often it comes. */
export async function sendPayment(path: string, { body }: SignedPayment): Promise<Sent> {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body, cache: 'no-store' })
    const answer: unknown = await response.json()
    if (response.status === 200) return { kind: 'paid' }
    if (!isMembers(answer)) return { kind: 'lost' }
    const code = String(answer['code'])
    const wait_s = waitOf(response.headers.get('retry-after'))
    const passing = PASSING.has(code) || (response.status === 429 && wait_s <= WAIT_MAX_S)
    if (!passing) return { kind: 'refused', problem: answer }
    return { kind: 'again', wait_s: Math.min(wait_s, WAIT_MAX_S), sent: code === 'PAYMENT_PENDING' }
  } catch {
    return { kind: 'lost' }
  }
}

function waitOf(header: string | null): number {
  return header !== null && /^\d{1,6}$/.test(header) ? Math.max(1, Number(header)) : WAIT_S
}

const KEPT = 'assay payment of '

/** A signed payment outlives a reload of its page, so that nobody signs twice because of a lost line. */
export function keepPayment(invoice_id: string, signed: SignedPayment | null): void {
  try {
    if (signed === null) sessionStorage.removeItem(KEPT + invoice_id)
    else sessionStorage.setItem(KEPT + invoice_id, JSON.stringify(signed))
  } catch {
    // Storage may be forbidden; the payment then lives as long as the page.
  }
}

export function keptPayment(invoice_id: string): SignedPayment | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEPT + invoice_id) ?? 'null')
    return isSigned(kept) ? kept : null
  } catch {
    return null
  }
}

function isSigned(value: unknown): value is SignedPayment {
  if (!isMembers(value)) return false
  const { body, payer, nonce, signed_s, valid_before_s } = value
  const texts = [body, payer, nonce].every((one) => typeof one === 'string')
  return texts && typeof signed_s === 'number' && typeof valid_before_s === 'number'
}
