import type { ServeCall } from '../service/calls/observed.ts'
import type { CallRequest, InputRead, Outcome } from '../service/calls/outcome.ts'
import { answerText } from '../service/calls/answer-text.ts'
import { readBody, type BodySource } from './http/body.ts'
import { readJsonBody } from './http/json-body.ts'
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

/** From the body's JSON value to the input of the tool. */
export type Unwrap = (value: unknown) => InputRead

/** `POST /v1/tools/{tool}/call`: translates a request into a call, and its outcome into a response. */
export async function restCall(serve: ServeCall, origins: Origins, exchange: CallExchange, unwrap: Unwrap): Promise<Reply> {
  const outcome = await serve(callRequest(exchange, unwrap), exchange.request_id)
  return outcomeReply(outcome, exchange.request_id, origins)
}

function callRequest(exchange: CallExchange, unwrap: Unwrap): CallRequest {
  return {
    tool: exchange.tool,
    address: exchange.address,
    payment: exchange.header('x-payment') !== null || exchange.header('payment-signature') !== null,
    credit: exchange.header('x-credit') !== null,
    prev_receipt_hash: exchange.header('x-prev-receipt-hash'),
    read: async (bounds, mayReadLarge) => {
      const body = await readBody(exchange.body, bounds.body_bytes, mayReadLarge)
      if (!body.ok) return body
      const json = readJsonBody(body.bytes, bounds)
      return json.ok ? unwrap(json.value) : json
    },
  }
}

function outcomeReply(outcome: Outcome, request_id: string, origins: Origins): Reply {
  switch (outcome.kind) {
    case 'answered': {
      const { allowance } = outcome.answer
      return jsonReply(200, answerText(outcome.answer), allowance === null ? {} : rateLimitHeaders(allowance))
    }
    case 'payment_required':
      return problemReply(outcome.problem, request_id, origins, rateLimitHeaders(outcome.allowance))
    case 'refused':
      return problemReply(outcome.problem, request_id, origins)
  }
}

/** `POST /v1/receipt/verify`: the receipt under `receipt`, or bare. */
export function unwrapReceipt(value: unknown): InputRead {
  const wrapped = typeof value === 'object' && value !== null && Object.hasOwn(value, 'receipt')
  return { ok: true, input: wrapped ? value : { receipt: value } }
}
