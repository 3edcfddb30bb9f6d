import { isObject } from '../pure/is-object.ts'
import type { HeavyWork } from '../ports/heavy-work.ts'
import type { ServeCall } from '../service/calls/instrumented-call.ts'
import type { CallRequest, InputRead, Outcome } from '../service/calls/outcome.ts'
import type { RenderAnswer } from '../service/calls/answer-detail.ts'
import { type Detail, DETAILS } from '../service/catalogue/brief.ts'
import { withVerdict } from '../service/catalogue/decode.ts'
import { readBody, type BodySource, readJsonBody, unwrapInput } from './http/body.ts'
import { isLarge, readInThread } from './http/read-in-thread.ts'
import type { CreditCredential } from '../service/credits/credit-service.ts'
import { readPayment, type PaymentCredential } from '../service/payments/payment-header.ts'
import type { ResendSecrets } from '../service/payments/resends.ts'
import { problem, type Problem } from '../service/problems.ts'
import type { PaymentRenderer } from './payment.ts'
import { jsonReply, problemReply, rateLimitHeaders, type Origins, type Reply } from './http/reply.ts'
import { clientRequestId } from './http/request-ids.ts'

/** Request for a call, independent of its transport. */
export interface CallExchange {
  tool: string
  request_id: string
  /** Address of the client behind trusted proxies. */
  address: string
  /** Returns a header value by its lower-case name. */
  header(name: string): string | null
  /** Level of detail in the address. */
  detail?: string | undefined
  body: BodySource
}

/** Extracts the input of the tool from the JSON body. */
export type UnwrapInput = (value: unknown, tool: string) => InputRead

/** Dependencies of REST calls. */
export interface RestCalls {
  serve: ServeCall
  origins: Origins
  words: PaymentRenderer
  /** Returns true if the signature of one of these payments recovers to its payer. */
  isSigned(payments: readonly PaymentCredential[]): boolean
  render: RenderAnswer
  /** Reads long bodies in threads; null reads them on this thread. */
  heavy: HeavyWork | null
}

/** `POST /v1/tools/{tool}/call`: converts a request to a call and the outcome to a response. */
export async function restCall(calls: RestCalls, exchange: CallExchange, unwrap: UnwrapInput): Promise<Reply> {
  const detail = detailIn(exchange, 'standard')
  const outcome = await calls.serve(callRequest(calls, exchange, unwrap, detail), exchange.request_id)
  return outcomeReply(calls, outcome, exchange, detail ?? 'standard')
}

function callRequest({ heavy, isSigned }: RestCalls, exchange: CallExchange, unwrap: UnwrapInput, detail: Detail | null): CallRequest {
  const payments = paymentsIn(exchange.header)
  let bytes: Uint8Array = NO_BYTES
  return {
    tool: exchange.tool,
    address: exchange.address,
    payments,
    credit: creditIn(exchange.header),
    secrets: resendSecretsIn(exchange.header),
    prev_receipt_hash: exchange.header('x-prev-receipt-hash'),
    traceparent: exchange.header('traceparent'),
    client_request_id: clientRequestId(exchange.header),
    receive: async (bounds, mayReadLarge) => {
      if (detail === null) return unknownDetail('')
      const body = await readBody({ ...exchange.body, pays: () => isSigned(payments) }, bounds.body_bytes, mayReadLarge)
      if (!body.ok) return body.problem
      bytes = body.bytes
      return null
    },
    read: (bounds) => {
      if (heavy !== null && unwrap === unwrapInput && isLarge(bytes)) {
        const sender = { address: exchange.address, pays: isSigned(payments) }
        return readInThread(heavy, { kind: 'rest', tool: exchange.tool, bytes }, sender)
      }
      const json = readJsonBody(bytes, bounds)
      return json.ok ? unwrap(json.value, exchange.tool) : json
    },
  }
}

const NO_BYTES = new Uint8Array()

/** Member of `_meta` (MCP) or of the metadata of a message (A2A) that names the level of detail. */
export const DETAIL_KEY = 'assay/detail'

/** Level of detail that a request names in its message, its header or its address, in this order; null for an unknown one. */
export function detailIn(
  { meta = {}, header, detail }: { meta?: Metadata; header: CallExchange['header']; detail?: string | undefined },
  usual: Detail,
): Detail | null {
  const asked = Object.hasOwn(meta, DETAIL_KEY) ? meta[DETAIL_KEY] : (header('x-detail') ?? detail ?? usual)
  return DETAILS.find((one) => one === asked) ?? null
}

/** Refuses an unknown level before anything is counted. `pointer` is the place in the body; empty for a header. */
export function unknownDetail(pointer: string): Problem {
  const message = `Expected one of: ${DETAILS.join(', ')}.`
  const detail = `The level of detail is unknown. Send X-Detail, ?detail= or "${DETAIL_KEY}" as one of: ${DETAILS.join(', ')}.`
  return problem('INPUT_SCHEMA_INVALID', detail, { errors: [{ pointer, code: 'not_allowed', message }] })
}

/** Returns the payments in the two headers that clients use. */
export function paymentsIn(header: CallExchange['header']): PaymentCredential[] {
  const found: PaymentCredential[] = []
  for (const name of ['payment-signature', 'x-payment'] as const) {
    const text = header(name)
    if (text !== null) found.push({ kind: 'header', name, text })
  }
  return found
}

/** Returns true for a readable payment or a credit; it is verified later. */
export function bringsReadablePayment(header: CallExchange['header']): boolean {
  return creditIn(header) !== null || paymentsIn(header).some((given) => readPayment(given).ok)
}

/** `_meta` of an MCP message, or the metadata of an A2A message. */
type Metadata = Readonly<Record<string, unknown>>

/** Returns the secrets that open the stored answer of an earlier payment; a message takes precedence over the headers. */
export function resendSecretsIn(header: CallExchange['header'], meta: Metadata = {}): ResendSecrets {
  return {
    answer_token: textIn(meta, 'assay/answer-token') ?? header('x-answer-token'),
    sign_in: textIn(meta, 'x402/sign-in-with-x') ?? header('sign-in-with-x'),
  }
}

/** Returns the prepaid credit and its idempotency key; a message takes precedence over the headers. */
export function creditIn(header: CallExchange['header'], meta: Metadata = {}): CreditCredential | null {
  const code = textIn(meta, 'assay/credit') ?? header('x-credit')
  return code === null ? null : { code, key: textIn(meta, 'assay/idempotency-key') ?? header('idempotency-key') }
}

/** A value that is not text becomes an empty text, which is refused later instead of being ignored. */
function textIn(meta: Metadata, name: string): string | null {
  const value = meta[name]
  return value === undefined ? null : typeof value === 'string' ? value : ''
}

async function outcomeReply(
  { origins, words, render }: RestCalls,
  outcome: Outcome,
  exchange: CallExchange,
  detail: Detail,
): Promise<Reply> {
  const { request_id, address } = exchange
  const told = (found: Problem) => withVerdict(outcome.tool, found)
  switch (outcome.kind) {
    case 'answered': {
      const { allowance } = outcome.answer
      return jsonReply(200, await render(outcome, detail, address), allowance === null ? {} : rateLimitHeaders(allowance))
    }
    case 'paid':
      return jsonReply(200, await render(outcome, detail, address), {
        'cache-control': 'private, no-store',
        ...words.responseHeaders(outcome.settlement),
      })
    case 'pending':
      return problemReply(told(outcome.problem), request_id, origins, {
        location: `${origins.api_url}/v1/answers/${outcome.pending.token}`,
      })
    case 'payment_required': {
      const challenge = words.challenge(outcome)
      const headers = { ...rateLimitHeaders(outcome.allowance), ...words.failureHeaders(outcome) }
      if (challenge === null) return problemReply(told(outcome.problem), request_id, origins, headers)
      const reply = problemReply(told(outcome.problem), request_id, origins, { ...headers, 'payment-required': challenge.header })
      return { ...reply, body: `${reply.body.slice(0, -1)},${challenge.body_members_json}}` }
    }
    case 'refused':
      return problemReply(told(outcome.problem), request_id, origins)
  }
}

/** `POST /v1/receipt/verify`: accepts `{"receipt": …}`, the bare receipt, or either one under `input`. */
export function unwrapReceipt(value: unknown): InputRead {
  const given = isObject(value) && Object.keys(value).join() === 'input' ? value['input'] : value
  return { ok: true, input: isObject(given) && Object.hasOwn(given, 'receipt') ? given : { receipt: given } }
}
