import { PROBLEMS, problemBody, type Problem, type ProblemCode } from '../../service/problems.ts'

/** An error as JSON-RPC 2.0 tells it; `data` is the problem, as REST would have answered it. */
export interface RpcError {
  code: number
  message: string
  data?: Record<string, unknown>
}

const INTERNAL = -32603

/** Problems that are faults of the message, not outcomes of a call (JSON-RPC 2.0 §5.1; MCP, tools, error handling). */
const MESSAGE_FAULTS: Partial<Record<ProblemCode, number>> = {
  PARSE_ERROR: -32700,
  NOT_UTF8: -32700,
  CONTENT_ENCODING_REFUSED: -32700,
  DUPLICATE_KEY: -32600,
  LONE_SURROGATE: -32600,
  FORBIDDEN_KEY: -32600,
  UNSAFE_NUMBER: -32600,
  JSON_TOO_DEEP: -32600,
  JSON_TOO_MANY_NODES: -32600,
  PAYLOAD_TOO_LARGE: -32600,
  TOOL_NOT_FOUND: -32602,
  METHOD_NOT_ALLOWED: -32000,
  PREFLIGHT_REQUEST_INVALID: -32602,
  PREFLIGHT_BOUND_EXCEEDED: -32602,
  PREFLIGHT_RATE_LIMITED: -32000,
}

export function isMessageFault({ code }: Problem): boolean {
  return code in MESSAGE_FAULTS
}

export function rpcErrorOf(found: Problem, request_id: string, api_url: string): RpcError {
  const code = MESSAGE_FAULTS[found.code] ?? INTERNAL
  return { code, message: PROBLEMS[found.code].title, data: problemBody(found, request_id, api_url) }
}

/** An error about a message whose id is not known, with the HTTP status that goes with it. */
export function rpcErrorResponse(status: number, error: RpcError, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status, headers })
}
