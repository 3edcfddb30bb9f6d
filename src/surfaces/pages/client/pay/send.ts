import { isObject, type Members } from '../../../../pure/is-object.ts'
import { requestJson } from '../json-request.ts'
import { KEPT } from './record.ts'
import type { SignedPayment } from './sign.ts'

export type Sent =
  | { kind: 'paid' }
  /** Pending or not decided yet: send the same payment again after `wait_s`. */
  | { kind: 'again'; wait_s: number; sent: boolean }
  | { kind: 'refused'; problem: Members }
  /** No answer came; the payment may have been accepted. */
  | { kind: 'lost' }

/** Codes of temporary problems; every other rejection is final. */
const TEMPORARY = new Set([
  'STORE_UNAVAILABLE',
  'SETTLEMENT_UNAVAILABLE',
  'VERIFICATION_BUSY',
  'UPSTREAM_RPC_UNAVAILABLE',
  'PAYMENT_PENDING',
  'INTERNAL_ERROR',
])
const WAIT_S = 2
/** A longer wait is a daily limit and counts as a rejection. */
const WAIT_MAX_S = 60

/** Sends a signed payment to the service. Idempotent: the same payment gets the same answer. */
export async function sendPayment(path: string, { body }: SignedPayment): Promise<Sent> {
  const reply = await requestJson(path, body)
  if (reply === null || reply.body === null) return { kind: 'lost' }
  if (reply.status === 200) return { kind: 'paid' }
  const code = String(reply.body['code'])
  const wait_s = reply.retry_after_s === null ? WAIT_S : Math.max(1, reply.retry_after_s)
  const temporary = TEMPORARY.has(code) || (reply.status === 429 && wait_s <= WAIT_MAX_S)
  if (!temporary) return { kind: 'refused', problem: reply.body }
  return { kind: 'again', wait_s: Math.min(wait_s, WAIT_MAX_S), sent: code === 'PAYMENT_PENDING' }
}

/** Stores a signed payment across reloads, so that the payer does not sign twice after a lost connection. */
export function keepPayment(invoice_id: string, signed: SignedPayment | null): void {
  try {
    if (signed === null) sessionStorage.removeItem(KEPT + invoice_id)
    else sessionStorage.setItem(KEPT + invoice_id, JSON.stringify(signed))
  } catch {
    // Storage may be blocked; the payment is then kept only while the page is open.
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
  if (!isObject(value)) return false
  const { body, payer, nonce, signed_s, valid_before_s } = value
  const texts = [body, payer, nonce].every((one) => typeof one === 'string')
  return texts && typeof signed_s === 'number' && typeof valid_before_s === 'number'
}
