/** JSON-RPC messages (MCP, A2A) beyond the unpaid limit: who may send one unread, and how its payment is asked for. */
import { isObject } from '../pure/is-object.ts'
import type { ServeCall } from '../service/calls/instrumented-call.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { rpcErrorOf, refusalResponse, rpcErrorResponse } from './mcp/rpc-error.ts'
import type { PaymentRenderer } from './payment.ts'
import { bringsReadablePayment, type CallExchange } from './rest.ts'
import { rateLimitHeaders } from './http/reply.ts'

type Sender = Pick<CallExchange, 'header' | 'address'>

/**
 * Returns why a large message of this client is not read; null for a client with free calls left, or with a payment or credit in the HTTP
 * headers. A payment inside a message is unknown before the message is read.
 */
export async function refuseLargeMessage(
  { allowance, onFault }: Pick<AppDeps['call'], 'allowance' | 'onFault'>,
  { header, address }: Sender,
  surface: 'mcp' | 'a2a',
): Promise<Problem | null> {
  if (bringsReadablePayment(header)) return null
  try {
    return (await allowance.peek(header('mcp-name') ?? '', address)).remaining > 0 ? null : TOO_LARGE_UNPAID
  } catch (error) {
    onFault(error, surface)
    return problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: limits.store_retry_s })
  }
}

const HEADERS_SENTENCE = `A message of more than ${limits.unpaid_body_bytes} bytes needs a free call, or its payment or credit also in the HTTP header (PAYMENT-SIGNATURE, X-PAYMENT or X-CREDIT), as over REST.`
const PREFLIGHT_SENTENCE = `A preflight may have up to ${limits.preflight_body_bytes} bytes without them.`
const TOO_LARGE_UNPAID = problem('PAYLOAD_TOO_LARGE', `${HEADERS_SENTENCE} ${PREFLIGHT_SENTENCE}`)

interface PaymentRequest {
  readonly serve: ServeCall
  readonly words: PaymentRenderer
  readonly deps: Pick<AppDeps, 'origins' | 'call'>
  /** Tool that the message calls; null if that is unknown, because the message was not read. */
  readonly tool: string | null
  readonly address: string
  readonly request_id: string
}

/**
 * Response to a large message that `refuseLargeMessage` refused. Where payments are taken it is the 402: with the terms of the tool, also
 * in the header PAYMENT-REQUIRED, where HTTP clients of x402 look; without terms if the tool is unknown or its price depends on the input.
 * Other problems are answered as they are.
 */
export async function largeMessageResponse(refused: Problem, asked: PaymentRequest): Promise<Response> {
  const { deps, request_id } = asked
  const { origins } = deps
  if (refused.code !== 'PAYLOAD_TOO_LARGE' || deps.call.payments === null) return refusalResponse(refused, origins, request_id)
  const outcome = asked.tool === null ? null : await askedOutcome(asked.tool, refused, asked)
  if (outcome?.kind === 'payment_required') {
    const challenge = asked.words.challenge(outcome)
    const found = { ...outcome.problem, detail: `${HEADERS_SENTENCE} ${outcome.problem.detail}` }
    const error = rpcErrorOf(found, request_id, origins.api_url)
    if (challenge !== null) {
      const terms: unknown = JSON.parse(`{${challenge.body_members_json}}`)
      const data = { ...error.data, ...(isObject(terms) ? terms : {}) }
      const headers = { ...rateLimitHeaders(outcome.allowance), 'payment-required': challenge.header }
      return rpcErrorResponse(402, { ...error, data }, headers)
    }
  }
  if (outcome?.kind === 'refused' && !UNPRICED.has(outcome.problem.code)) return refusalResponse(outcome.problem, origins, request_id)
  const detail = `${HEADERS_SENTENCE} ${PREFLIGHT_SENTENCE} The prices of all tools: ${origins.api_url}/v1/tools. How to pay: ${origins.site_url}/docs/payment`
  return refusalResponse(problem('PAYMENT_REQUIRED', detail), origins, request_id)
}

/** Refusals after which the price is still unknown. */
const UNPRICED = new Set<Problem['code']>(['PAYLOAD_TOO_LARGE', 'TOOL_NOT_FOUND'])

/** Outcome of the call without a payment and with a body that is not read. */
function askedOutcome(tool: string, refused: Problem, { serve, address, request_id }: PaymentRequest) {
  const receive = async (_bounds: unknown, mayReadLarge: () => Promise<boolean>) => {
    await mayReadLarge()
    return refused
  }
  const read = () => ({ ok: false as const, problem: refused })
  return serve({ tool, address, payments: [], credit: null, prev_receipt_hash: null, receive, read }, request_id)
}
