import {
  callerFault,
  CHANNEL_PROBLEMS,
  CREDIT_PROBLEMS,
  INVOICE_PROBLEMS,
  WEBHOOK_PROBLEMS,
  PAYMENT_PROBLEMS,
  type ProblemKind,
  serviceFault,
  SETTLEMENT_PROBLEMS,
  sourceFault,
} from './payment-problems.ts'

/** Problems of the form of a request. */
const REQUEST_PROBLEMS = {
  PARSE_ERROR: callerFault(
    400,
    'tool',
    'The body is not valid JSON',
    'Send one JSON document. The answer names line and column of the first error.',
  ),
  NOT_UTF8: callerFault(400, 'tool', 'The body is not UTF-8', 'JSON must be encoded as UTF-8; the body has bytes that are not.'),
  CONTENT_ENCODING_REFUSED: callerFault(
    415,
    'tool',
    'The body is compressed',
    'Send the body uncompressed, without the header Content-Encoding.',
  ),
  DUPLICATE_KEY: callerFault(
    400,
    'tool',
    'A key occurs twice',
    'Parsers differ on an object that has a key twice, so it is refused. Send each key once.',
  ),
  LONE_SURROGATE: callerFault(
    400,
    'tool',
    'Half a character',
    'A string has half of a surrogate pair, which has no UTF-8 form and therefore no hash.',
  ),
  FORBIDDEN_KEY: callerFault(400, 'tool', 'A forbidden key', 'The key __proto__ is not accepted anywhere in a document.'),
  UNSAFE_NUMBER: callerFault(
    400,
    'tool',
    'A number beyond 2^53',
    'Parsers round such a number differently. Send it as a string, for example "9007199254740993".',
  ),
  JSON_TOO_DEEP: callerFault(413, 'tool', 'The JSON is nested too deeply', 'The detail states the maximum depth of arrays and objects.'),
  JSON_TOO_MANY_NODES: callerFault(413, 'tool', 'The JSON has too many values', 'The detail states the maximum number of values.'),
  PAYLOAD_TOO_LARGE: callerFault(
    413,
    'tool',
    'The body is too large',
    'The body exceeds the limit of this tool, or the smaller limit for callers without free calls or a payment.',
  ),
  PROCESSING_BOUND: callerFault(
    413,
    'tool',
    'The input takes too much work',
    'The tool was stopped at its limit of time or memory for one input. Nothing was charged, but a free call stays counted. Send a smaller input.',
  ),
  MESSAGE_UNKNOWN: callerFault(
    422,
    'tool',
    'Unknown message type or version',
    'The tool knows no message of this type and version, or the document is in another format, so it is neither valid nor invalid: `valid` ' +
      'is null, `verdict` is undetermined, `found` says what was sent, and `known_messages` lists the known types or versions. Nothing was charged.',
  ),
  INPUT_SCHEMA_INVALID: callerFault(
    400,
    'tool',
    'The input does not match the schema',
    'Each error has a JSON pointer. Nothing was counted or charged.',
  ),
  PREV_RECEIPT_HASH_INVALID: callerFault(
    400,
    'tool',
    'The previous receipt hash is malformed',
    'X-PREV-RECEIPT-HASH takes the digest of the previous receipt: 0x and 64 hexadecimal digits.',
  ),
  TOOL_NOT_FOUND: callerFault(404, 'tool', 'No such tool', 'GET /v1/tools lists all tools.'),
  NOT_FOUND: callerFault(404, 'tool', 'Not found', 'No document has this address.'),
  METHOD_NOT_ALLOWED: callerFault(
    405,
    'tool',
    'Wrong method',
    'This address does not accept this HTTP method. The Allow header lists those that it accepts.',
  ),
  REQUEST_MALFORMED: callerFault(
    400,
    'network',
    'The request is not valid HTTP',
    'The request line, the headers or the framing of the body could not be read.',
  ),
  HEADERS_TOO_LARGE: callerFault(
    431,
    'network',
    'The headers are too large',
    'The detail states the maximum size of all headers together.',
  ),
  REQUEST_TIMEOUT: callerFault(
    408,
    'network',
    'The request did not arrive in time',
    'Headers and body must arrive within the stated times. Send the request again.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of the service itself and of its capacity. */
const SERVICE_PROBLEMS = {
  NOT_CONFIGURED: serviceFault(
    503,
    'tool',
    'This deployment does not offer that',
    'The request needs something that the operator has not configured. Nothing was charged.',
  ),
  UPSTREAM_RPC_UNAVAILABLE: sourceFault(
    503,
    'network',
    'A data source is unavailable',
    'A data source of the tool does not answer. Nothing was counted or charged.',
    'retryable',
  ),
  STORE_UNAVAILABLE: serviceFault(
    503,
    'network',
    'The store does not answer',
    'The call could not be counted or stored. Nothing new was charged; `charged` states what is known of a payment sent before.',
    'retryable',
  ),
  OVERLOADED: serviceFault(
    503,
    'network',
    'Too many simultaneous calls',
    'This process has reached its maximum of calls in flight. Nothing was counted or charged.',
    'retryable',
  ),
  CLIENT_BUSY: callerFault(
    429,
    'network',
    'Too many simultaneous calls of one client',
    'One client has a maximum of calls in flight, and of large documents that wait or had to be stopped. Nothing was counted or ' +
      'charged; paid calls have a larger maximum.',
    'retryable',
  ),
  INTERNAL_ERROR: serviceFault(
    500,
    'tool',
    'The service failed',
    'This is an error in the service. The call was not charged, and a free call was returned.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems that prevent a preflight. A fault inside the document is a finding, never a problem. */
export const PREFLIGHT_PROBLEMS = {
  PREFLIGHT_REQUEST_INVALID: callerFault(
    400,
    'tool',
    'The preflight request is not valid',
    'The body is one object with protocol and document, and optionally document_type, version and expected_payee. Each error is listed.',
  ),
  PREFLIGHT_BOUND_EXCEEDED: callerFault(
    413,
    'tool',
    'The document exceeds a limit',
    'The members bound, limit and path state which limit, and where it was exceeded. The document was not checked.',
  ),
  PREFLIGHT_RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many preflights',
    'Preflights are free and limited per client and minute. Wait for the time in Retry-After.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of disputes, policies and the directory of underwriters. */
export const RECORD_PROBLEMS = {
  DISPUTE_CONFLICT: callerFault(
    409,
    'tool',
    'The dispute id is taken',
    'A dispute with this id about this receipt has other content. Choose another id, or have the payer of the receipt sign it: a signed dispute ' +
      'replaces an unsigned one. Nothing was charged.',
  ),
  INSURANCE_REQUEST_INVALID: callerFault(
    400,
    'tool',
    'The entry is not valid',
    'A field is malformed, a date has passed, or the signature is not that of the underwriter. Each error is listed.',
  ),
  POLICY_NOT_FOUND: callerFault(404, 'tool', 'No policy has this id', 'This service has registered no certificate with this id.'),
  INSURANCE_DIRECTORY_FULL: serviceFault(
    503,
    'tool',
    'The directory is full',
    'The directory has its maximum of entries, or of unproven ones. Entries leave it when they expire. A proven entry replaces an ' +
      'unproven one: put the address of the underwriter into /.well-known/assay-underwriter.json of the host of its terms.',
    'retryable',
  ),
  INSURANCE_RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many registrations',
    'Registrations are free and limited: per client and minute, per network for unproven entries, per domain for proven ones, and by the reads of ' +
      'outside sources that the service makes without a payment, for a network and for all clients together. The detail says whose limit is reached. ' +
      'Failed signatures count as failed payments do. Wait for the time in Retry-After.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of the faucet and the JSON-RPC of a sandbox. */
export const SANDBOX_PROBLEMS = {
  TEST_NETWORK_RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many requests to the test chain',
    'In a sandbox: the faucet is limited by address, client, network and UTC day, the JSON-RPC by client, network and minute. Wait for the time in ' +
      'Retry-After.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of the public log. */
export const LOG_PROBLEMS = {
  LOG_ENTRY_UNKNOWN: callerFault(
    404,
    'tool',
    'The log does not have this entry',
    'This service made no receipt with this entry, or its process ended before the entry was stored. The holder of the receipt can ' +
      'submit it at /log/entries.',
  ),
  LOG_ENTRY_WAITING: callerFault(
    404,
    'tool',
    'The entry waits to be appended',
    'The receipt was just made. It is in the log within a minute; ask again then.',
    'retryable',
  ),
  LOG_STOPPED: serviceFault(
    503,
    'tool',
    'The log is stopped',
    'The store does not continue what the log published, so nothing is appended or proved until the operator has decided. Receipts and their ' +
      'signatures are not affected; /log/history has the details.',
    'retryable',
  ),
  LOG_RECEIPT_REFUSED: callerFault(
    422,
    'tool',
    'The log does not take this receipt',
    'The log takes receipts that verify and are signed with a published key of this service, except those of tools that are free without limit.',
  ),
  LOG_RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many requests to the log',
    'Submissions to the log are free and limited per client and minute. Wait for the time in Retry-After.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/**
 * Every problem that the service can answer with. Responses, `/.well-known/x402-errors.json` and the pages about errors are derived from this
 * table; a test fails for a code that no request produces.
 */
export const PROBLEMS = {
  ...REQUEST_PROBLEMS,
  ...PAYMENT_PROBLEMS,
  ...SETTLEMENT_PROBLEMS,
  ...SERVICE_PROBLEMS,
  ...PREFLIGHT_PROBLEMS,
  ...INVOICE_PROBLEMS,
  ...CHANNEL_PROBLEMS,
  ...WEBHOOK_PROBLEMS,
  ...RECORD_PROBLEMS,
  ...CREDIT_PROBLEMS,
  ...LOG_PROBLEMS,
  ...SANDBOX_PROBLEMS,
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

/** One error inside a request. */
export interface ProblemError {
  /** JSON pointer into the body; empty for the whole body. */
  pointer: string
  code: string
  message: string
  /** Offset in characters, for an error in the text itself. */
  position?: number
  line?: number
  column?: number
}

/** A problem before it is answered to a request. */
export interface Problem {
  code: ProblemCode
  detail: string
  errors: ProblemError[]
  charged: false | true | 'unknown'
  /** Seconds after which to try the same request again. */
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
    ...withOrigins(found.extra, base_url),
  }
}

/** Puts the origin in front of the addresses of this service, because readers of an answer do not know its surface. */
function withOrigins(extra: Record<string, unknown> = {}, base_url: string): Record<string, unknown> {
  const names = ADDRESSES.filter((name) => typeof extra[name] === 'string' && extra[name].startsWith('/'))
  return names.length === 0 ? extra : { ...extra, ...Object.fromEntries(names.map((name) => [name, `${base_url}${String(extra[name])}`])) }
}

const ADDRESSES = ['status_url', 'answer_url'] as const
