import { isObject } from '../pure/is-object.ts'
import type { HeavyWork } from '../ports/heavy-work.ts'
import type { ServeCall } from '../service/calls/observed.ts'
import type { CallRequest, InputRead, Outcome } from '../service/calls/outcome.ts'
import { answerText } from '../service/calls/answer-text.ts'
import { withVerdict } from '../service/catalogue/bare.ts'
import { readBody, type BodySource } from './http/body.ts'
import { readJsonBody, unwrapInput } from './http/json-body.ts'
import { isLarge, readInThread } from './http/read-in-thread.ts'
import type { CreditGiven } from '../service/credits/given.ts'
import { readPayment, type PaymentGiven } from '../service/payments/payment-header.ts'
import type { ResendSecrets } from '../service/payments/resends.ts'
import type { Problem } from '../service/problems.ts'
import type { PaymentWords } from './payment.ts'
import { jsonReply, problemReply, rateLimitHeaders, type Origins, type Reply } from './http/reply.ts'

/** A request for a call, as far as REST cares, whatever carried it. */
export interface CallExchange {
  tool: string
  request_id: string
  /** Address of the caller, proxies already seen through. */
  address: string
  /** Value of a header by its lower-case name. */
  header(name: string): string | null
  body: BodySource
}

/** From the body's JSON value to the input of the tool, as the caller names it. */
export type Unwrap = (value: unknown, tool: string) => InputRead

/** What REST needs to serve calls. */
export interface RestCalls {
  serve: ServeCall
  origins: Origins
  words: PaymentWords
  /** Whether the signature of one of these payments recovers to its payer. */
  isSigned(payments: readonly PaymentGiven[]): boolean
  /** Reads long bodies; null reads them here. */
  heavy: HeavyWork | null
}

/** `POST /v1/tools/{tool}/call`: translates a request into a call, and its outcome into a response. */
export async function restCall(calls: RestCalls, exchange: CallExchange, unwrap: Unwrap): Promise<Reply> {
  const outcome = await calls.serve(callRequest(calls, exchange, unwrap), exchange.request_id)
  return outcomeReply(calls, outcome, exchange.request_id)
}

function callRequest({ heavy, isSigned }: RestCalls, exchange: CallExchange, unwrap: Unwrap): CallRequest {
  const payments = paymentsIn(exchange.header)
  let bytes: Uint8Array = NOTHING
  return {
    tool: exchange.tool,
    address: exchange.address,
    payments,
    credit: creditIn(exchange.header),
    secrets: resendSecretsIn(exchange.header),
    prev_receipt_hash: exchange.header('x-prev-receipt-hash'),
    traceparent: exchange.header('traceparent'),
    receive: async (bounds, mayReadLarge) => {
      const body = await readBody(exchange.body, bounds.body_bytes, mayReadLarge)
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

const NOTHING = new Uint8Array()

/** The payments in the headers of a request: one in each of the two places where clients put them, if they do. */
export function paymentsIn(header: CallExchange['header']): PaymentGiven[] {
  const found: PaymentGiven[] = []
  for (const name of ['payment-signature', 'x-payment'] as const) {
    const text = header(name)
    if (text !== null) found.push({ kind: 'header', name, text })
  }
  return found
}

/** Whether the headers bring a payment that can be read, or a credit; whether it is good is found out later. */
export function bringsReadablePayment(header: CallExchange['header']): boolean {
  return creditIn(header) !== null || paymentsIn(header).some((given) => readPayment(given).ok)
}

/** Secrets in the headers of a request that open the answer of a payment sent before. */
export function resendSecretsIn(header: CallExchange['header']): ResendSecrets {
  return { answer_token: header('x-answer-token'), sign_in: header('sign-in-with-x') }
}

/** The prepaid credit in the headers of a request. */
export function creditIn(header: CallExchange['header']): CreditGiven | null {
  const code = header('x-credit')
  return code === null ? null : { code, key: header('idempotency-key') }
}

function outcomeReply({ origins, words }: RestCalls, outcome: Outcome, request_id: string): Reply {
  const told = (found: Problem) => withVerdict(outcome.tool, found)
  switch (outcome.kind) {
    case 'answered': {
      const { allowance } = outcome.answer
      return jsonReply(200, answerText(outcome.answer), allowance === null ? {} : rateLimitHeaders(allowance))
    }
    case 'paid':
      return jsonReply(200, outcome.text, { 'cache-control': 'private, no-store', ...words.responseHeaders(outcome.settlement) })
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

/** `POST /v1/receipt/verify`: the receipt under `receipt`, or bare, or either of them under `input` as tools have it. */
export function unwrapReceipt(value: unknown): InputRead {
  const given = isObject(value) && Object.keys(value).join() === 'input' ? value['input'] : value
  return { ok: true, input: isObject(given) && Object.hasOwn(given, 'receipt') ? given : { receipt: given } }
}
