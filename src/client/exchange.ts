/**
 * Sends calls without a payment, and one signed payment until its outcome is known. The same bytes are sent again; no code here can sign. A broken connection, a proxy's
 * page or a redirect is not an outcome.
 */
import { type ClientOptions, type Clock, type Fetch, systemClock } from './options.ts'
import { type AnswerForm, localError, WHOLE, type Payment, AssayError, type Charged, readAllowance, type Allowance } from './answer.ts'
import { isObject } from '../pure/is-object.ts'

/** Connection to one service. */
interface ServiceLink {
  /** Without a final slash. */
  url: string
  fetch: Fetch
  request_ms: number
  patience_ms: number
  clock: Clock
}

const REQUEST_MS = 30_000
const PATIENCE_MS = 90_000

function linkOf({
  url,
  fetch: given,
  request_ms = REQUEST_MS,
  patience_ms = PATIENCE_MS,
  clock = systemClock,
}: ClientOptions): ServiceLink {
  const base = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (base === null || !/^https?:$/.test(base.protocol) || base.username !== '' || base.search !== '' || base.hash !== '') {
    throw localError('BAD_OPTIONS', 'url must be the http or https address of a service, such as https://assay.example.')
  }
  // Read for each request, because a platform may replace its fetch.
  const platform: ServiceLink['fetch'] = (address, init) => globalThis.fetch(address, init)
  return { url: base.href.replace(/\/+$/, ''), fetch: given ?? platform, request_ms, patience_ms, clock }
}

/** Maximum length of a response body in bytes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

export interface ServiceReply {
  kind: 'reply'
  status: number
  header(name: string): string | null
  /** Body as JSON; undefined if it is not JSON. */
  body: unknown
}

/** Result of a request. For `lost` and `redirected`, it is unknown what the service did. */
type SendResult = ServiceReply | { kind: 'lost'; reason: string; cause: unknown } | { kind: 'redirected' }

interface Asking {
  method: 'GET' | 'POST'
  /** Path from /v1. */
  path: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal | null
}

/** Requests to one service, each sent again only as far as nothing can be paid twice by it. */
export class Exchange {
  readonly #link: ServiceLink

  /** Throws BAD_OPTIONS for an address that is none. Sends nothing. */
  constructor(options: ClientOptions) {
    this.#link = linkOf(options)
  }

  get clock(): Clock {
    return this.#link.clock
  }

  /** Sends one request. Never throws. Does not follow redirects, so that a payment is sent only to the given address. */
  async #send({ method, path, headers = {}, body, signal }: Asking): Promise<SendResult> {
    const late = AbortSignal.timeout(this.#link.request_ms)
    try {
      const response = await this.#link.fetch(`${this.#link.url}${path}`, {
        method,
        headers,
        redirect: 'manual',
        signal: signal === null ? late : AbortSignal.any([signal, late]),
        ...(body === undefined ? {} : { body }),
      })
      // Browsers report an unfollowed redirect as status 0.
      if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) return { kind: 'redirected' }
      const text = await readText(response)
      if (text === null) return { kind: 'lost', reason: 'the answer is too long', cause: null }
      return { kind: 'reply', status: response.status, header: (name) => response.headers.get(name), body: parsed(text) }
    } catch (error) {
      return { kind: 'lost', reason: 'no answer came', cause: error }
    }
  }

  /** Reads a JSON document of the service; throws if there is none. */
  async json(path: string): Promise<unknown> {
    const sent = await this.#send({ method: 'GET', path, signal: null })
    if (sent.kind === 'lost') {
      throw localError('NETWORK_ERROR', `${path}: ${sent.reason}.`, { retryable: true, cause: sent.cause })
    }
    if (sent.kind === 'redirected') throw localError('REDIRECTED', `${path} answers with a redirect, which is not followed.`)
    if (sent.status !== 200 || sent.body === undefined) {
      throw localError('BAD_RESPONSE', `${path} answered with status ${sent.status} and no document.`, { status: sent.status })
    }
    return sent.body
  }

  /** Returns the reply to a GET; throws if there is none. */
  async get(path: string, signal: AbortSignal | null): Promise<ServiceReply> {
    return replyIn(await this.#send({ method: 'GET', path, signal }))
  }

  /** Sends a call without a payment. Requests that the service could not process and did not count are repeated a few times. */
  async unpaid(
    { tool, input_text, previous_receipt }: Pick<Payment, 'tool' | 'input_text' | 'previous_receipt'>,
    signal: AbortSignal | null,
    form: AnswerForm<unknown>,
  ): Promise<ServiceReply> {
    const asking = {
      method: 'POST',
      path: callPath(tool),
      headers: callHeaders(previous_receipt, form.detail),
      body: callBody(input_text),
      signal,
    } as const
    for (let sent = 1; ; sent++) {
      const reply = await this.#send(asking)
      if (signal?.aborted === true) throw localError('ABORTED', 'The caller ended the call. Nothing was signed.')
      if (reply.kind === 'lost') {
        // Not repeated: the tool may have run, and not every tool may run twice.
        const detail = `The service gave no answer: ${reply.reason}. Nothing was signed.`
        throw localError('NETWORK_ERROR', detail, { retryable: true, cause: reply.cause })
      }
      if (reply.kind === 'redirected') throw localError('REDIRECTED', 'The service answers with a redirect, which is not followed.')
      const wait_ms = retryAfterMs(reply) ?? UNPAID_WAIT_MS_MAX
      const passing = reply.status === 503 && problemError(reply, null)?.retryable === true
      if (!passing || sent === UNPAID_REQUESTS_MAX || wait_ms > UNPAID_WAIT_MS_MAX) return reply
      await this.#link.clock.wait(wait_ms, signal)
    }
  }

  /**
   * Sends the call with an invalid payment. The service validates the input, refuses the payment and returns the terms; such a request uses
   * no free call, runs no tool and charges nothing.
   */
  async probe(tool: string, input_text: string, signal: AbortSignal | null): Promise<{ reply: ServiceReply; allowance: Allowance | null }> {
    const headers = { ...callHeaders(null, null), 'payment-signature': NO_PAYMENT }
    const sent = await this.#send({ method: 'POST', path: callPath(tool), headers, body: callBody(input_text), signal })
    const reply = replyIn(sent)
    const known = reply.status === 200 || problemError(reply, null) !== null
    if (!known)
      throw localError('BAD_RESPONSE', `Status ${reply.status} came from something that is not this service.`, { status: reply.status })
    return { reply, allowance: readAllowance(isObject(reply.body) ? reply.body['allowance'] : null) }
  }

  /** Resolves with the answer. Rejects if the service refused the payment finally or the time is over; the payment may then be resumed. */
  async deliver<Body>(payment: Payment, signal: AbortSignal | null, form: AnswerForm<Body>): Promise<Body> {
    const give_up_ms = this.#link.clock.now_ms() + this.#link.patience_ms
    let wait_ms = FIRST_WAIT_MS
    let last: AssayError | null = null
    for (let sent = 0; sent < REQUESTS_MAX; sent++) {
      if (signal?.aborted === true) throw aborted(payment, last)
      const end = endOf(await this.#send(callAsking(payment, signal, form)), payment, form)
      if (end.kind === 'answered') return end.body
      if (end.kind === 'over') throw end.error
      last = end.error
      // If the service asks for a longer pause than the time that is left, no further request is sent.
      const pause = Math.max(end.retry_after_ms ?? 0, wait_ms)
      if (this.#link.clock.now_ms() + pause > give_up_ms) break
      await this.#link.clock.wait(pause, signal)
      wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)
      const found = end.pending === null ? null : await this.#poll(payment, { pending: end.pending, signal, form })
      if (found !== null) return found
    }
    if (signal?.aborted === true) throw aborted(payment, last)
    throw last ?? unknownEnd(payment, 'the payment was not sent', null)
  }

  /**
   * Polls a pending payment: returns the answer after settlement, or null if the call must be sent again. Stored answers are whole, so a brief
   * one is never found here.
   */
  async #poll<Body>(
    { payer, nonce }: Payment,
    { pending, signal, form }: { pending: ServiceReply; signal: AbortSignal | null; form: AnswerForm<Body> },
  ): Promise<Body | null> {
    const status = await this.#send({ method: 'GET', path: `/v1/payments/${payer}/${nonce}`, signal })
    if (status.kind !== 'reply' || !isObject(status.body) || status.body['state'] !== 'settled') return null
    const { header, body } = pending
    const path = answerPath(header('location') ?? (isObject(body) ? body['answer_url'] : null))
    if (path === null) return null
    const stored = await this.#send({ method: 'GET', path, signal })
    return stored.kind === 'reply' && stored.status === 200 ? form.read(stored.body) : null
  }
}

/** Body as text; null if it is too long. */
async function readText(response: Response): Promise<string | null> {
  const reader = response.body?.getReader()
  if (reader === undefined) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.length
    if (length > BODY_BYTES_MAX) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: true })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 8_000
/** Maximum number of requests per payment. */
const REQUESTS_MAX = 64

/** Meaning of a response for the payment. */
type DeliveryState<Body> =
  | { kind: 'answered'; body: Body }
  | { kind: 'over'; error: AssayError }
  /** Outcome not known yet. */
  | { kind: 'open'; retry_after_ms: number | null; pending: ServiceReply | null; error: AssayError }

/** Request with the payment; the same bytes each time. */
function callAsking(payment: Payment, signal: AbortSignal | null, { detail }: AnswerForm<unknown>) {
  const headers = { ...callHeaders(payment.previous_receipt, detail), 'payment-signature': payment.header }
  return { method: 'POST', path: callPath(payment.tool), headers, body: callBody(payment.input_text), signal } as const
}

function callPath(tool: string): string {
  return `/v1/tools/${encodeURIComponent(tool)}/call`
}

/** Body with exactly the text that was hashed. */
function callBody(input_text: string): string {
  return `{"input":${input_text}}`
}

function callHeaders(previous_receipt: string | null, detail: 'brief' | null): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(previous_receipt === null ? {} : { 'x-prev-receipt-hash': previous_receipt }),
    ...(detail === null ? {} : { 'x-detail': detail }),
  }
}

/** Path of a stored answer; only this service is queried, for any origin in the address. */
export function answerPath(address: unknown): string | null {
  return typeof address === 'string' ? (/\/v1\/answers\/[0-9a-f]{64}$/.exec(address)?.[0] ?? null) : null
}

function endOf<Body>(sent: SendResult, payment: Payment, form: AnswerForm<Body>): DeliveryState<Body> {
  switch (sent.kind) {
    case 'lost':
      return open(unknownEnd(payment, sent.reason, sent.cause))
    case 'redirected':
      return open(
        localError('REDIRECTED', 'The service answers with a redirect, which no payment follows.', { charged: 'unknown', payment }),
      )
    case 'reply':
      return endOfReply(sent, payment, form)
  }
}

function endOfReply<Body>(reply: ServiceReply, payment: Payment, form: AnswerForm<Body>): DeliveryState<Body> {
  if (reply.status === 200) {
    const body = form.read(reply.body)
    if (body !== null) return { kind: 'answered', body }
    if (WHOLE.read(reply.body) === null) return open(notOurs(reply, payment))
    const detail = 'The service sends no brief answers. Resume the payment to get the whole answer.'
    return { kind: 'over', error: localError('BAD_RESPONSE', detail, { status: 200, charged: 'unknown', payment }) }
  }
  const error = problemError(reply, payment)
  if (error === null) return open(notOurs(reply, payment))
  if (error.code === 'PAYMENT_PENDING') return { kind: 'open', retry_after_ms: retryAfterMs(reply), pending: reply, error }
  // The service will not retry this transfer. The error states that another party may execute it until valid_before.
  if (error.code === 'SETTLEMENT_FAILED') return { kind: 'over', error }
  // An unknown outcome and a request to wait are not final.
  const passing = error.charged === 'unknown' || (error.retryable && (reply.status >= 500 || WAITS.has(reply.status)))
  return passing ? { kind: 'open', retry_after_ms: retryAfterMs(reply), pending: null, error } : { kind: 'over', error }
}

/** Request Timeout, Too Early, Too Many Requests. */
const WAITS: ReadonlySet<number> = new Set([408, 425, 429])

function open(error: AssayError): DeliveryState<never> {
  return { kind: 'open', retry_after_ms: null, pending: null, error }
}

/** Converts a problem of the service (RFC 9457) to an error; null for other responses. */
function problemError({ status, body }: ServiceReply, payment: Payment | null): AssayError | null {
  if (!isObject(body)) return null
  const { code, detail, retryable, charged } = body
  if (typeof code !== 'string' || !/^[A-Z][A-Z0-9_]{2,63}$/.test(code) || !isCharged(charged)) return null
  const words = typeof detail === 'string' ? detail.slice(0, 2_000) : code
  return new AssayError(code, words, { status, charged, payment, problem: body, retryable: retryable === true })
}

function isCharged(value: unknown): value is Charged {
  return value === true || value === false || value === 'unknown'
}

/** Retry-After in milliseconds; null if absent or invalid. */
function retryAfterMs({ header }: ServiceReply): number | null {
  const text = header('retry-after') ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) * 1_000 : null
}

function unknownEnd(payment: Payment, reason: string, cause: unknown): AssayError {
  const detail = `Of the paid call nothing is known: ${reason}. Resume the payment; a new call would sign another one.`
  return localError('NETWORK_ERROR', detail, { retryable: true, charged: 'unknown', payment, cause })
}

function notOurs({ status }: ServiceReply, payment: Payment): AssayError {
  const detail = `The paid call was answered with status ${status} by something that is not this service. Resume the payment.`
  return localError('BAD_RESPONSE', detail, { status, retryable: true, charged: 'unknown', payment })
}

function aborted(payment: Payment, cause: AssayError | null): AssayError {
  const detail = 'The caller ended the call after its payment was signed. Resume the payment to learn its end.'
  return localError('ABORTED', detail, { retryable: true, charged: 'unknown', payment, cause })
}

/** Predicted outcome of a call. */
export interface DryRun {
  tool: string
  input_hash: string
  /** free: uses a free call or the tool is free. pay: needs a payment. refuse: fails with `reason`, and nothing is signed. */
  outcome: 'free' | 'pay' | 'refuse'
  /** Code and text of the predicted error; null if there is none. */
  reason: { code: string; detail: string } | null
  /** Price in minor units of USDC if it must be paid; null if payments are not possible. */
  amount_minor: bigint | null
  amount_usdc: string | null
  /** CAIP-2. */
  network: string | null
  pay_to: string | null
  /** Remaining free calls; null if the service does not report them. */
  allowance: Allowance | null
}

/** Base64 of `{}`: a payment without content, which is refused with the terms. What cannot be decoded would be refused without them. */
const NO_PAYMENT = 'e30='

/** Returns the reply of a request without payment; throws if there is none. */
function replyIn(sent: SendResult): ServiceReply {
  if (sent.kind === 'reply') return sent
  if (sent.kind === 'redirected') throw localError('REDIRECTED', 'The service answers with a redirect, which is not followed.')
  throw localError('NETWORK_ERROR', `The service gave no answer: ${sent.reason}.`, { retryable: true, cause: sent.cause })
}

/** Maximum number of requests for an unpaid call that the service asks to repeat. */
const UNPAID_REQUESTS_MAX = 3
const UNPAID_WAIT_MS_MAX = 5_000

export function refusal(reply: ServiceReply): AssayError {
  const { status } = reply
  return (
    problemError(reply, null) ??
    localError('BAD_RESPONSE', `Status ${status} came from something that is not this service.`, { status, retryable: status >= 500 })
  )
}
