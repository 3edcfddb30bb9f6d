import type { Answer } from './answer.ts'
import type { Payment } from './payment.ts'

/** What this library itself finds wrong. Every other code is the service's own, as `/.well-known/x402-errors.json` lists them. */
export type LocalErrorCode =
  /** An option is missing or contradicts another. */
  | 'BAD_OPTIONS'
  /** The input holds something that is not JSON. */
  | 'INPUT_NOT_JSON'
  /** No answer came: the connection broke, or the time was up. */
  | 'NETWORK_ERROR'
  /** The caller's own signal ended the call. */
  | 'ABORTED'
  /** The address answers with a redirect, which is not followed. */
  | 'REDIRECTED'
  /** What came back is not what this service sends. */
  | 'BAD_RESPONSE'
  /** The terms of the 402 are not those of the service and the call that were asked for; nothing was signed. */
  | 'TERMS_REFUSED'
  /** The price is above the cap of one call; nothing was signed. */
  | 'ABOVE_CALL_CAP'
  /** The price is more than the session may still spend; nothing was signed. */
  | 'ABOVE_SESSION_CAP'
  /** The signer did not sign. */
  | 'SIGNING_FAILED'
  /** The list of receipt keys cannot be read, so no answer could be verified. */
  | 'KEYS_UNAVAILABLE'
  /** An answer came, and its receipt does not prove it. The answer is attached, not trusted. */
  | 'RECEIPT_INVALID'

/** What money may have moved: `unknown` until the payment is resumed, or its status is asked. */
export type Charged = false | true | 'unknown'

interface ErrorParts {
  retryable?: boolean
  charged?: Charged
  status?: number | null
  payment?: Payment | null
  answer?: Answer | null
  problem?: Readonly<Record<string, unknown>> | null
  cause?: unknown
}

/**
 * The one class that calls are rejected with. With a `payment`, hand that to `resume` instead of calling again: a new call would sign, and
 * so might pay, a second time.
 */
export class AssayError extends Error {
  override name = 'AssayError'
  /** A word for programs: of the service, or one of `LocalErrorCode`. */
  readonly code: string
  /** One or two sentences for people. */
  readonly detail: string
  /** The same may succeed later: by `resume` where there is a payment, else by the same call. */
  readonly retryable: boolean
  readonly charged: Charged
  /** HTTP status; null when there was no response. */
  readonly status: number | null
  /** The payment that was signed for this call; null when none was. It can be written as JSON and resumed by another process. */
  readonly payment: Payment | null
  /** The answer whose verification failed. */
  readonly answer: Answer | null
  /** The whole problem document (RFC 9457) that the service sent. */
  readonly problem: Readonly<Record<string, unknown>> | null

  constructor(code: string, detail: string, parts: ErrorParts = {}) {
    super(`${code}: ${detail}`, parts.cause === undefined ? {} : { cause: parts.cause })
    this.code = code
    this.detail = detail
    this.retryable = parts.retryable ?? false
    this.charged = parts.charged ?? false
    this.status = parts.status ?? null
    this.payment = parts.payment ?? null
    this.answer = parts.answer ?? null
    this.problem = parts.problem ?? null
  }
}

/** An error of this library, whose codes are closed. */
export function localError(code: LocalErrorCode, detail: string, parts: ErrorParts = {}): AssayError {
  return new AssayError(code, detail, parts)
}
