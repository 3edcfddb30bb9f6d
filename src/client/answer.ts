import { isObject } from '../pure/is-object.ts'
import type { ChainLink } from '../pure/receipts/chain.ts'
import type { Receipt } from '../pure/receipts/receipt.ts'
import type { ReceiptVerdict } from '../pure/receipts/verify.ts'

/** Free calls of the UTC day. */
export interface Allowance {
  limit: number
  remaining: number
  /** RFC 3339. */
  resets_at: string
}

/** Payment of a call, as reported by the service. */
export interface Settlement {
  /** CAIP-2, such as eip155:8453; null for a prepaid credit. */
  network: string | null
  /** Null for a prepaid credit. */
  transaction: string | null
  payer: string
  /** Minor units of USDC, six decimals, as decimal text. */
  amount_minor: string
  method: string
}

/** Answer of the service before verification. */
export interface AnswerBody<Output = Readonly<Record<string, unknown>>> {
  result: Output
  receipt: Receipt
  /** Link to the earlier receipt, signed by the receipt key; null if no earlier receipt was named. */
  chain: ChainLink | null
  tier: 'free' | 'paid'
  /** Null for a free call. */
  settlement: Settlement | null
  /** Null for tools that are free without limit. */
  allowance: Allowance | null
  embeddable_badge: string
  proof_summary_markdown: string
}

/** Verified answer: its receipt covers the sent input, the received result and the payment. */
export interface Answer<Output = Readonly<Record<string, unknown>>> extends AnswerBody<Output> {
  /** Id of the tool, with hyphens. */
  tool: string
  /** keccak-256 of the RFC 8785 text of the input as it was sent. */
  input_hash: string
  /** Digest of the receipt; send it as `previous_receipt` to link the next one. */
  receipt_hash: string
  /** Payment that this library signed; null for a free call. */
  payment: Payment | null
  verification: Verification
}

/** Brief answer as the service sends it. */
export interface BriefBody<Id extends string = string> {
  detail: 'brief'
  /** Id of the tool, with hyphens. */
  tool: Id
  /** The decision: word and tone, and why in one sentence, which may be empty. */
  headline: { word: string; tone: 'good' | 'bad' | 'caution' | 'neutral'; sentence: string }
  /** For programs; null where the tool states none. */
  reason_code: string | null
  /** Checked value in its normal form; null where the tool checks no single value. */
  value: string | null
  /** Repair that would pass. Ask before you use it for a payment. */
  suggestion?: string
  remarks?: readonly string[]
  /** Checks that the tool made itself, or items of a batch. */
  checks?: readonly { name: string; result: string }[]
  /** Recommended next step. */
  next?: string
  /** Key facts by name of the field. */
  facts: Readonly<Record<string, unknown>>
  not_checked: string
  /** Minor units of USDC; the method is null for a free call. */
  price: { tier: 'free' | 'paid'; amount_minor: string; method: string | null }
  allowance: Allowance | null
  /** Stated digest of the receipt. */
  receipt_digest: string
  /** Stated keccak-256 of the RFC 8785 text of the whole result. */
  output_hash: string
  /** Address of the whole answer, for 24 hours; null where it is not stored. */
  answer_url: string | null
}

/**
 * Brief answer. It contains no receipt, so tool and price alone were compared: `client.whole` fetches the whole answer and verifies it. It is
 * not part of the client's chain until then.
 */
export interface BriefAnswer<Id extends string = string> extends BriefBody<Id> {
  /** keccak-256 of the RFC 8785 text of the input as it was sent. */
  input_hash: string
  /** Receipt that the call asked to link to; null for none. */
  previous_receipt: string | null
  /** Payment that this library signed; null for a free call. */
  payment: Payment | null
}

/** Form in which an answer is requested. */
export interface AnswerForm<Body> {
  /** Value of the header X-Detail; null without it. */
  detail: 'brief' | null
  /** Validates a 200 body; null if it does not have this form. */
  read(body: unknown): Body | null
}

export const WHOLE: AnswerForm<AnswerBody> = { detail: null, read: readAnswer }
export const BRIEF: AnswerForm<BriefBody> = { detail: 'brief', read: readBrief }

/** Validates the form of a 200 body; null if it is not a brief answer. */
function readBrief(body: unknown): BriefBody | null {
  if (!isObject(body) || body['detail'] !== 'brief') return null
  const { tool, headline, facts, not_checked, price, allowance = null, receipt_digest, output_hash, answer_url } = body
  if (!isObject(headline) || !['word', 'tone', 'sentence'].every((name) => typeof headline[name] === 'string')) return null
  if (!isObject(price) || (price['tier'] !== 'free' && price['tier'] !== 'paid') || typeof price['amount_minor'] !== 'string') return null
  const hashes = [receipt_digest, output_hash].every((hash) => typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash))
  const texts = [tool, not_checked].every((text) => typeof text === 'string') && (answer_url === null || typeof answer_url === 'string')
  if (!hashes || !texts || !isObject(facts)) return null
  return { ...(body as unknown as BriefBody), allowance: readAllowance(allowance) }
}

/** Validates the form of a 200 body; null if it is not an answer. The receipt is verified separately. */
function readAnswer(body: unknown): AnswerBody | null {
  if (!isObject(body)) return null
  const { result, receipt, chain = null, tier, settlement = null, allowance = null, embeddable_badge, proof_summary_markdown } = body
  if (!isObject(result) || !isObject(receipt) || (tier !== 'free' && tier !== 'paid')) return null
  if (chain !== null && !isObject(chain)) return null
  if (settlement !== null && !isSettlement(settlement)) return null
  return {
    result,
    receipt: receipt as unknown as Receipt,
    chain: chain as ChainLink | null,
    tier,
    settlement,
    allowance: readAllowance(allowance),
    embeddable_badge: textOr(embeddable_badge),
    proof_summary_markdown: textOr(proof_summary_markdown),
  }
}

/** Null if the value is not an allowance. */
export function readAllowance(value: unknown): Allowance | null {
  if (!isObject(value)) return null
  const { limit, remaining, resets_at } = value
  return typeof limit === 'number' && typeof remaining === 'number' && typeof resets_at === 'string'
    ? { limit, remaining, resets_at }
    : null
}

function isSettlement(value: unknown): value is Settlement {
  if (!isObject(value)) return false
  const { network, transaction } = value
  const onChain = typeof network === 'string' && typeof transaction === 'string'
  // A prepaid credit has no on-chain settlement.
  const placed = onChain || (network === null && transaction === null)
  return placed && ['payer', 'amount_minor', 'method'].every((name) => typeof value[name] === 'string')
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Payment signed for one call, as plain JSON: it can be stored and resumed by another process. Its holder can only deliver it, because
 * amount, recipient and single use are signed.
 */
export interface Payment {
  v: 1
  tool: string
  /** RFC 8785 text of the input; the payment is valid for this input only. */
  input_text: string
  /** Digest of the receipt that the answer must link to. */
  previous_receipt: string | null
  payer: string
  pay_to: string
  /** 32 bytes, 0x-prefixed. */
  nonce: string
  /** Minor units of USDC, as decimal text. */
  amount_minor: string
  chain_id: number
  /** Address of the token. */
  asset: string
  /** Seconds since 1970; the transfer cannot be executed later. */
  valid_before_s: number
  /** Value of PAYMENT-SIGNATURE. */
  header: string
}

/** One verified property of an answer. */
export interface Check {
  name: 'signature' | 'key' | 'tool' | 'input' | 'result' | 'payment' | 'settlement' | 'link'
  ok: boolean
  /** One sentence. */
  words: string
}

export interface Verification {
  ok: boolean
  checks: Check[]
  /** Result for the receipt alone. */
  receipt: ReceiptVerdict
}

/** Error codes of this library. All other codes come from the service (`/.well-known/x402-errors.json`). */
export type LocalErrorCode =
  /** An option is missing or contradicts another. */
  | 'BAD_OPTIONS'
  /** The input contains a value that is not JSON. */
  | 'INPUT_NOT_JSON'
  /** No response: the connection broke or timed out. */
  | 'NETWORK_ERROR'
  /** The caller's signal ended the call. */
  | 'ABORTED'
  /** The service answered with a redirect, which is not followed. */
  | 'REDIRECTED'
  /** The response does not have the format of this service. */
  | 'BAD_RESPONSE'
  /** The payment terms do not match the service and the call; nothing was signed. */
  | 'TERMS_REFUSED'
  /** The price exceeds the cap per call; nothing was signed. */
  | 'ABOVE_CALL_CAP'
  /** The price exceeds the rest of the session cap; nothing was signed. */
  | 'ABOVE_SESSION_CAP'
  /** The signer did not sign. */
  | 'SIGNING_FAILED'
  /** The whole of a brief answer is not stored. A free call may be repeated with `standard`. */
  | 'NOT_STORED'
  /** The receipt keys cannot be read, so no answer can be verified. */
  | 'KEYS_UNAVAILABLE'
  /** The receipt does not prove the answer. The answer is attached but must not be trusted. */
  | 'RECEIPT_INVALID'

/** Charge state of a failed call; `unknown` until the payment is resumed or its status is read. */
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
 * Error of every rejected call. If it has a `payment`, pass that to `resume` instead of calling again: a new call would sign a second
 * payment.
 */
export class AssayError extends Error {
  override name = 'AssayError'
  /** Code of the service or a `LocalErrorCode`. */
  readonly code: string
  readonly detail: string
  /** A retry may succeed: with `resume` if there is a payment, otherwise the same call. */
  readonly retryable: boolean
  readonly charged: Charged
  /** HTTP status; null without a response. */
  readonly status: number | null
  /** Payment signed for this call; null if there is none. Store it as JSON to resume it in another process. */
  readonly payment: Payment | null
  /** Answer whose verification failed. */
  readonly answer: Answer | null
  /** Problem document (RFC 9457) of the service. */
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

export function localError(code: LocalErrorCode, detail: string, parts: ErrorParts = {}): AssayError {
  return new AssayError(code, detail, parts)
}
