/**
 * Every problem that the service can answer with, once. Responses, `/.well-known/x402-errors.json` and the pages about
 * errors are derived from this table; a test fails when a code is never raised.
 */

type Phase = 'challenge' | 'signature' | 'settlement' | 'tool' | 'network'

interface ProblemKind {
  status: number
  title: string
  phase: Phase
  /** The same request may succeed later. */
  retryable: boolean
  /** Who can mend it. */
  fault: 'caller' | 'service' | 'source'
  description: string
}

export const PROBLEMS = {
  PARSE_ERROR: {
    status: 400,
    title: 'The body is not JSON',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The body could not be read as one JSON document. The position of the first fault is given.',
  },
  NOT_UTF8: {
    status: 400,
    title: 'The body is not UTF-8',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'JSON travels as UTF-8; the bytes of the body are not.',
  },
  DUPLICATE_KEY: {
    status: 400,
    title: 'A key occurs twice',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'Two readers could take different values from an object that names a key twice, so it is refused.',
  },
  LONE_SURROGATE: {
    status: 400,
    title: 'Half a character',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'A text holds half of a surrogate pair, which has no UTF-8 form and so no hash.',
  },
  FORBIDDEN_KEY: {
    status: 400,
    title: 'A forbidden key',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The key __proto__ is refused everywhere.',
  },
  UNSAFE_NUMBER: {
    status: 400,
    title: 'A number beyond 2^53',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'Readers round such a number differently. Send it as text.',
  },
  JSON_TOO_DEEP: {
    status: 413,
    title: 'The JSON is nested too deep',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'Arrays and objects may nest to the stated depth.',
  },
  JSON_TOO_MANY_NODES: {
    status: 413,
    title: 'The JSON has too many values',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'A document may hold the stated number of values.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The body is larger than this tool reads, or larger than is read for a caller without allowance or payment.',
  },
  INPUT_SCHEMA_INVALID: {
    status: 400,
    title: 'The input does not fit the schema',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'Each fault is listed with a JSON pointer. Nothing was counted or charged.',
  },
  PREV_RECEIPT_HASH_INVALID: {
    status: 400,
    title: 'The previous receipt hash is malformed',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'X-PREV-RECEIPT-HASH takes 0x and 64 hexadecimal digits: the digest of the receipt that went before.',
  },
  TOOL_NOT_FOUND: {
    status: 404,
    title: 'No such tool',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The catalogue at /v1/tools lists the tools.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Nothing is here',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'No document has this address.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This address takes another method',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The Allow header names the methods that it takes.',
  },
  REQUEST_MALFORMED: {
    status: 400,
    title: 'The request is not HTTP',
    phase: 'network',
    retryable: false,
    fault: 'caller',
    description: 'The request line, the headers or the framing of the body could not be read.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    phase: 'network',
    retryable: false,
    fault: 'caller',
    description: 'All headers together may have the stated size.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not arrive in time',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description: 'Headers and body must arrive within the stated times.',
  },
  PAYMENT_REQUIRED: {
    status: 402,
    title: 'The free calls of today are used up',
    phase: 'challenge',
    retryable: true,
    fault: 'caller',
    description: 'The free allowance starts anew at the stated time; a paid call needs no waiting.',
  },
  SETTLEMENT_NOT_CONFIGURED: {
    status: 503,
    title: 'This deployment takes no payments',
    phase: 'settlement',
    retryable: false,
    fault: 'service',
    description: 'The request carried a payment, but no settlement is set up here. The payment was not used.',
  },
  NOT_CONFIGURED: {
    status: 503,
    title: 'This deployment does not offer that',
    phase: 'tool',
    retryable: false,
    fault: 'service',
    description: 'The request asked for something that the operator has not set up. Nothing was charged.',
  },
  UPSTREAM_RPC_UNAVAILABLE: {
    status: 503,
    title: 'A data source is unavailable',
    phase: 'network',
    retryable: true,
    fault: 'source',
    description: 'The tool reads a source that does not answer now. Nothing was counted or charged.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    title: 'The store does not answer',
    phase: 'network',
    retryable: true,
    fault: 'service',
    description: 'The call could not be counted, so it was not run. Nothing was charged.',
  },
  OVERLOADED: {
    status: 503,
    title: 'Too many calls at once',
    phase: 'network',
    retryable: true,
    fault: 'service',
    description: 'More calls are in flight than this process takes. Nothing was counted or charged.',
  },
  INTERNAL_ERROR: {
    status: 500,
    title: 'The service failed',
    phase: 'tool',
    retryable: true,
    fault: 'service',
    description: 'The fault is ours. The call was not charged, and a free call was given back.',
  },
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

/** One fault inside a request. */
export interface ProblemError {
  /** JSON pointer into the body; empty for the whole. */
  pointer: string
  code: string
  message: string
  /** Offset in characters, where the text itself is at fault. */
  position?: number
  line?: number
  column?: number
}

/** A problem before it meets a request: what happened, in our own words. */
export interface Problem {
  code: ProblemCode
  detail: string
  errors: ProblemError[]
  charged: false | true | 'unknown'
  /** Seconds after which the same request is worth another try. */
  retry_after_s?: number
  /** Further members of the body, such as the allowance. */
  extra?: Record<string, unknown>
}

export function problem(code: ProblemCode, detail: string, more: Partial<Omit<Problem, 'code' | 'detail'>> = {}): Problem {
  return { code, detail, errors: [], charged: false, ...more }
}

/** The RFC 9457 body of a problem. */
export function problemBody(found: Problem, request_id: string, base_url: string): Record<string, unknown> {
  const kind: ProblemKind = PROBLEMS[found.code]
  return {
    type: `${base_url}/problems/${found.code}`,
    title: kind.title,
    status: kind.status,
    detail: found.detail,
    instance: `urn:assay:request:${request_id}`,
    code: found.code,
    phase: kind.phase,
    retryable: kind.retryable,
    charged: found.charged,
    request_id,
    errors: found.errors,
    ...found.extra,
  }
}
