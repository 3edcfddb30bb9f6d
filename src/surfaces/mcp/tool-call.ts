import { answerText } from '../../service/calls/answer-text.ts'
import type { ServeCall } from '../../service/calls/observed.ts'
import type { CallRequest } from '../../service/calls/outcome.ts'
import { problem, problemBody, type Problem } from '../../service/problems.ts'
import { readArguments, type Message } from './message.ts'
import { isMessageFault, rpcErrorOf, type RpcError } from './rpc-error.ts'

/** A request for a call, as far as MCP cares. */
export interface McpExchange {
  readonly message: Message
  readonly request_id: string
  /** Address of the caller, proxies already seen through. */
  readonly address: string
  /** Value of a header by its lower-case name. */
  header(name: string): string | null
}

/** `params` of `tools/call`, as far as they matter here. */
export interface CallParams {
  readonly name: string
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** How a call ends in MCP: an answer or a problem, both as JSON text inside a result, or an error of the protocol. */
export type ToolReply = { kind: 'answer'; text: string } | { kind: 'problem'; text: string } | { kind: 'error'; error: RpcError }

/** Where clients put an x402 payment: the specification's key, and the one that an earlier client package uses. */
const PAYMENT_KEYS = ['x402/payment', 'x402.payment']
const PREVIOUS_KEY = 'assay/prev-receipt-hash'

export interface ToolCalls {
  serve: ServeCall
  api_url: string
  /** Told of accidents, so that they are seen. */
  onFault(error: unknown, tool: string): void
}

/** `tools/call`: translates a message into a call, and its outcome into a reply. Never throws. */
export async function callTool({ serve, api_url, onFault }: ToolCalls, params: CallParams, exchange: McpExchange): Promise<ToolReply> {
  const { request_id } = exchange
  try {
    const outcome = await serve(callRequest(params, exchange), request_id)
    return outcome.kind === 'answered'
      ? { kind: 'answer', text: answerText(outcome.answer) }
      : problemReply(outcome.problem, request_id, api_url)
  } catch (error) {
    onFault(error, params.name)
    return { kind: 'error', error: rpcErrorOf(problem('INTERNAL_ERROR', 'The fault is ours and has been noted.'), request_id, api_url) }
  }
}

function callRequest({ name, _meta: meta = {} }: CallParams, { message, address, header }: McpExchange): CallRequest {
  const previous = meta[PREVIOUS_KEY]
  return {
    tool: name,
    address,
    payment: PAYMENT_KEYS.some((key) => Object.hasOwn(meta, key)),
    // A prepaid code travels in a header whatever the surface.
    credit: header('x-credit') !== null,
    // What is no text is handed on as a text that no receipt hash equals, so that it is refused and not overlooked.
    prev_receipt_hash: previous === undefined ? null : typeof previous === 'string' ? previous : '',
    read: (bounds) => readArguments(message, bounds),
  }
}

/** A broken message is an error of JSON-RPC; everything else goes to the model, which can mend its input, wait or pay. */
function problemReply(found: Problem, request_id: string, api_url: string): ToolReply {
  const here = { ...found, errors: found.errors.map((error) => ({ ...error, pointer: pointerInMessage(error.pointer) })) }
  if (isMessageFault(found)) return { kind: 'error', error: rpcErrorOf(here, request_id, api_url) }
  return { kind: 'problem', text: JSON.stringify(problemBody(here, request_id, api_url)) }
}

/** REST holds the arguments under `input`. */
function pointerInMessage(pointer: string): string {
  return pointer.replace(/^\/input(?=\/|$)/, '/params/arguments')
}
