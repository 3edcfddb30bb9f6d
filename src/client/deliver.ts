/**
 * Brings one signed payment to its end. The same bytes are sent again until the service says how it ended; nothing here can sign. What is
 * not a definite word of the service, such as a broken connection, a proxy's page or a redirect, decides nothing.
 */
import { isObject } from '../pure/is-object.ts'
import { readAnswer, type AnswerBody } from './answer.ts'
import { AssayError, localError, type Charged } from './error.ts'
import { send, type Link, type Reply, type Sent } from './exchange.ts'
import type { Payment } from './payment.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 8_000
/** Requests for one payment, however short the waits. */
const REQUESTS_MAX = 64

/** What a response means to the payment that it answers. */
type End =
  | { kind: 'answered'; body: AnswerBody }
  | { kind: 'over'; error: AssayError }
  /** Nobody can tell yet. */
  | { kind: 'open'; retry_after_ms: number | null; pending: Reply | null; error: AssayError }

/** Resolves with the answer. Rejects when the service refused the payment for good, or when patience ended: then it may be resumed. */
export async function deliver(link: Link, payment: Payment, signal: AbortSignal | null): Promise<AnswerBody> {
  const give_up_ms = link.clock.now_ms() + link.patience_ms
  let wait_ms = FIRST_WAIT_MS
  let last: AssayError | null = null
  for (let sent = 0; sent < REQUESTS_MAX; sent++) {
    if (signal?.aborted === true) throw aborted(payment, last)
    const end = await attempt(link, payment, signal)
    if (end.kind === 'answered') return end.body
    if (end.kind === 'over') throw end.error
    last = end.error
    // Whoever asks for a longer pause than there is patience gets no further request.
    const pause = Math.max(end.retry_after_ms ?? 0, wait_ms)
    if (link.clock.now_ms() + pause > give_up_ms) break
    await link.clock.wait(pause, signal)
    wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)
    const found = end.pending === null ? null : await look(link, payment, end.pending, signal)
    if (found !== null) return found
  }
  if (signal?.aborted === true) throw aborted(payment, last)
  throw last ?? unknownEnd(payment, 'the payment was not sent', null)
}

async function attempt(link: Link, payment: Payment, signal: AbortSignal | null): Promise<End> {
  return endOf(await send(link, callAsking(payment, signal)), payment)
}

/** The call itself, with its payment; the same bytes each time. */
function callAsking(payment: Payment, signal: AbortSignal | null) {
  return { method: 'POST', path: callPath(payment.tool), headers: headersOf(payment), body: bodyOf(payment.input_text), signal } as const
}

export function callPath(tool: string): string {
  return `/v1/tools/${encodeURIComponent(tool)}/call`
}

/** The input goes out as the very text that was hashed. */
export function bodyOf(input_text: string): string {
  return `{"input":${input_text}}`
}

function headersOf({ header, previous_receipt }: Payment): Record<string, string> {
  return { ...callHeaders(previous_receipt), 'payment-signature': header }
}

export function callHeaders(previous_receipt: string | null): Record<string, string> {
  const type = { 'content-type': 'application/json' }
  return previous_receipt === null ? type : { ...type, 'x-prev-receipt-hash': previous_receipt }
}

/** While a payment is on its way: the answer, once the service says that it settled. Null means: send the call again. */
async function look(link: Link, { payer, nonce }: Payment, pending: Reply, signal: AbortSignal | null): Promise<AnswerBody | null> {
  const status = await send(link, { method: 'GET', path: `/v1/payments/${payer}/${nonce}`, signal })
  if (status.kind !== 'reply' || !isObject(status.body) || status.body['state'] !== 'settled') return null
  const token = tokenIn(pending)
  if (token === null) return null
  const kept = await send(link, { method: 'GET', path: `/v1/answers/${token}`, signal })
  return kept.kind === 'reply' && kept.status === 200 ? readAnswer(kept.body) : null
}

/** The answer's address, as far as it lies at this service: whatever origin is named, only this one is asked. */
function tokenIn({ header, body }: Reply): string | null {
  const told = header('location') ?? (isObject(body) ? body['answer_url'] : null)
  return typeof told === 'string' ? (/\/v1\/answers\/([0-9a-f]{64})$/.exec(told)?.[1] ?? null) : null
}

function endOf(sent: Sent, payment: Payment): End {
  switch (sent.kind) {
    case 'lost':
      return open(unknownEnd(payment, sent.reason, sent.cause))
    case 'redirected':
      return open(
        localError('REDIRECTED', 'The service answers with a redirect, which no payment follows.', { charged: 'unknown', payment }),
      )
    case 'reply':
      return endOfReply(sent, payment)
  }
}

function endOfReply(reply: Reply, payment: Payment): End {
  if (reply.status === 200) {
    const body = readAnswer(reply.body)
    return body === null ? open(notOurs(reply, payment)) : { kind: 'answered', body }
  }
  const error = problemError(reply, payment)
  if (error === null) return open(notOurs(reply, payment))
  if (error.code === 'PAYMENT_PENDING') return { kind: 'open', retry_after_ms: retryAfterMs(reply), pending: reply, error }
  // The service will not try this transfer again; that somebody else may execute it until valid_before is in the error.
  if (error.code === 'SETTLEMENT_FAILED') return { kind: 'over', error }
  // Not being able to tell is no end, and neither is being asked to wait.
  const passing = error.charged === 'unknown' || (error.retryable && (reply.status >= 500 || WAITS.has(reply.status)))
  return passing ? { kind: 'open', retry_after_ms: retryAfterMs(reply), pending: null, error } : { kind: 'over', error }
}

/** Request timeout, too early, too many requests. */
const WAITS: ReadonlySet<number> = new Set([408, 425, 429])

function open(error: AssayError): End {
  return { kind: 'open', retry_after_ms: null, pending: null, error }
}

/** A problem of the service (RFC 9457 with our members) as an error; null for what somebody else answered. */
export function problemError({ status, body }: Reply, payment: Payment | null): AssayError | null {
  if (!isObject(body)) return null
  const { code, detail, retryable, charged } = body
  if (typeof code !== 'string' || !/^[A-Z][A-Z0-9_]{2,63}$/.test(code) || !isCharged(charged)) return null
  const words = typeof detail === 'string' ? detail.slice(0, 2_000) : code
  return new AssayError(code, words, { status, charged, payment, problem: body, retryable: retryable === true })
}

function isCharged(value: unknown): value is Charged {
  return value === true || value === false || value === 'unknown'
}

/** Retry-After in seconds; null when it says nothing of the kind. */
export function retryAfterMs({ header }: Reply): number | null {
  const text = header('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) * 1_000 : null
}

function unknownEnd(payment: Payment, reason: string, cause: unknown): AssayError {
  const detail = `Of the paid call nothing is known: ${reason}. Resume the payment; a new call would sign another one.`
  return localError('NETWORK_ERROR', detail, { retryable: true, charged: 'unknown', payment, cause })
}

function notOurs({ status }: Reply, payment: Payment): AssayError {
  const detail = `The paid call was answered with status ${status} by something that is not this service. Resume the payment.`
  return localError('BAD_RESPONSE', detail, { status, retryable: true, charged: 'unknown', payment })
}

function aborted(payment: Payment, cause: AssayError | null): AssayError {
  const detail = 'The caller ended the call after its payment was signed. Resume the payment to learn its end.'
  return localError('ABORTED', detail, { retryable: true, charged: 'unknown', payment, cause })
}
