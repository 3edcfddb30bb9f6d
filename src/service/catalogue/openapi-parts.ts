import { PROBLEMS, type ProblemCode } from '../problems.ts'
import { briefSchema, DETAILS } from './brief.ts'
import type { Tool } from './define.ts'
import {
  type JsonSchema,
  type SchemaList,
  type ToolSchemas,
  allowanceSchema,
  paymentRequiredSchema,
  problemSchema,
  receiptSchema,
} from './wire-schemas.ts'
import { limits } from '../limits.ts'
import type { Deployment } from './text.ts'

const HASH = '^0x[0-9a-f]{64}$'
const ADDRESS = '^0x[0-9a-f]{40}$'

function chainSchema(): JsonSchema {
  return {
    type: 'object',
    description: 'The signed link to the receipt that X-PREV-RECEIPT-HASH named; absent without that header.',
    properties: {
      prev_receipt_hash: { type: 'string', pattern: HASH, description: 'Digest of the earlier receipt.' },
      link_digest: { type: 'string', pattern: HASH, description: 'keccak-256 of "XDR-1-LINK|{receipt digest}|{prev_receipt_hash}".' },
      link_signature: { type: 'string', pattern: '^0x[0-9a-f]{130}$', description: 'Signature of link_digest by the key of the receipt.' },
    },
    required: ['prev_receipt_hash', 'link_digest', 'link_signature'],
    additionalProperties: false,
  }
}

/** The payment of a call. */
function settlementSchema(): JsonSchema {
  const properties = {
    network: { type: ['string', 'null'], pattern: '^eip155:\\d+$', description: 'CAIP-2; null for a credit, which moves nothing.' },
    transaction: { type: ['string', 'null'], pattern: HASH, description: 'Hash of the transaction; null for a credit and for a voucher.' },
    payer: { type: 'string', pattern: ADDRESS, description: 'The zero address for a credit.' },
    amount_minor: { type: 'string', pattern: '^\\d{1,20}$', description: 'Minor units of USDC, or of asset.' },
    method: { type: 'string', enum: ['self', 'facilitator', 'channel', 'credit'] },
  }
  const asset = { type: 'string', pattern: '^eip155:\\d+/erc20:0x[0-9a-f]{40}$', description: 'CAIP-19 id of the token; absent for USDC.' }
  return { type: 'object', properties: { ...properties, asset }, required: Object.keys(properties), additionalProperties: false }
}

export type Json = Record<string, unknown>

/** A reference to a component. */
export function ref(section: 'schemas' | 'responses' | 'parameters' | 'headers', name: string): Json {
  return { $ref: `#/components/${section}/${name}` }
}

/** A JSON body. */
export function json(schema: JsonSchema, example?: unknown): Json {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
}

/** The headers of a counted call. */
export const RATE_LIMITS = { RateLimit: ref('headers', 'rate-limit'), 'RateLimit-Policy': ref('headers', 'rate-limit-policy') }

/** The headers of a paid call. */
export const PAYMENT_RESPONSES = {
  'PAYMENT-RESPONSE': ref('headers', 'payment-response'),
  'X-PAYMENT-RESPONSE': ref('headers', 'payment-response'),
}

/** Components shared by the paths of the OpenAPI document. */
export function components(tools: readonly Tool[], derived: SchemaList, deployment: Deployment): Json {
  const statuses = [...new Set(Object.values(PROBLEMS).map(({ status }) => status))]
  return {
    schemas: {
      ...Object.fromEntries(tools.flatMap((tool) => toolComponents(tool, derived.get(tool.id)))),
      answer: answerSchema(),
      'brief-answer': briefSchema(ref('schemas', 'allowance')),
      receipt: receiptSchema(),
      chain: chainSchema(),
      allowance: allowanceSchema(),
      problem: problemSchema(),
      'payment-required': paymentRequiredSchema(deployment),
      settlement: settlementSchema(),
    },
    responses: Object.fromEntries(statuses.map((status) => [`problem-${status}`, problemResponse(status)])),
    parameters: { ...PARAMETERS, ...CREDIT_PARAMETERS },
    headers: HEADERS,
  }
}

/** A document has one dialect; the schemas inside it need not name theirs. */
function toolComponents(tool: Tool, schemas: ToolSchemas | undefined): [string, JsonSchema][] {
  if (schemas === undefined) throw new Error(`no schemas were derived for ${tool.id}`)
  return (['input', 'output'] as const).map((side) => {
    const { $schema: _, ...schema } = schemas[side]
    return [`${tool.id}.${side}`, schema]
  })
}

function answerSchema(): JsonSchema {
  return {
    type: 'object',
    properties: {
      result: { type: 'object', description: "The tool's own object." },
      receipt: ref('schemas', 'receipt'),
      chain: ref('schemas', 'chain'),
      tier: { type: 'string', enum: ['free', 'paid'] },
      settlement: { anyOf: [ref('schemas', 'settlement'), { type: 'null' }], description: 'The payment; null on free calls.' },
      allowance: { anyOf: [ref('schemas', 'allowance'), { type: 'null' }], description: 'Null for tools that are free without limit.' },
      embeddable_badge: { type: 'string', description: 'A Markdown image that links to the receipt.' },
      proof_summary_markdown: {
        type: 'string',
        description: 'The decision first, then tool, receipt and signer, in a few lines of Markdown.',
      },
    },
    required: ['result', 'receipt', 'tier', 'settlement', 'allowance', 'embeddable_badge', 'proof_summary_markdown'],
  }
}

export const REQUEST_ID_HEADERS: Json = {
  'X-Request-Id': ref('headers', 'request-id'),
  'X-Client-Request-Id': ref('headers', 'client-request-id'),
}

function problemResponse(status: number): Json {
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => PROBLEMS[code].status === status)
  const schema = ref('schemas', status === 402 ? 'payment-required' : 'problem')
  const retry = [202, 402, 429, 503].includes(status) ? { 'Retry-After': ref('headers', 'retry-after') } : {}
  const unpaid = { ...RATE_LIMITS, 'PAYMENT-REQUIRED': ref('headers', 'payment-required'), ...PAYMENT_RESPONSES }
  const counted = status === 402 ? unpaid : {}
  const place = status === 202 ? { Location: ref('headers', 'answer-location') } : {}
  return {
    description: codes.map((code) => `${code}: ${PROBLEMS[code].description}`).join('\n\n'),
    headers: { ...REQUEST_ID_HEADERS, ...retry, ...counted, ...place },
    content: { 'application/problem+json': { schema } },
  }
}

const text = (description: string, more: JsonSchema = {}) => ({ description, schema: { type: 'string', ...more } })

const PARAMETERS = {
  'payment-signature': {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    ...text('A payment of x402 version 2, Base64.', { maxLength: limits.payment_header_chars }),
  },
  'x-payment': {
    name: 'X-PAYMENT',
    in: 'header',
    ...text('A payment of x402 version 1, Base64. Send one of the two.', { maxLength: limits.payment_header_chars }),
  },
  'x-answer-token': {
    name: 'X-ANSWER-TOKEN',
    in: 'header',
    ...text('Answer token of an earlier 202: opens the answer of the same payment from anywhere.', { pattern: '^[0-9a-f]{64}$' }),
  },
  'sign-in-with-x': {
    name: 'SIGN-IN-WITH-X',
    in: 'header',
    ...text(
      'Proof of the payer over the challenge of PAYMENT_ALREADY_USED, or of CHANNEL_MISMATCH or CHANNEL_PRESENCE, Base64: opens the answer of the same payment, or the channel, from anywhere.',
      {
        maxLength: limits.payment_header_chars,
      },
    ),
  },
  'previous-receipt': {
    name: 'X-PREV-RECEIPT-HASH',
    in: 'header',
    ...text('Digest of the receipt that went before; the answer then carries `chain`.', { pattern: '^0x[0-9a-fA-F]{64}$' }),
  },
  detail: {
    name: 'X-Detail',
    in: 'header',
    ...text(
      'Level of detail of the answer: `brief` is its short form; `standard` and `full` are the whole answer. `?detail=` is the same.',
      {
        enum: DETAILS,
        default: 'standard',
      },
    ),
  },
  'client-request-id': {
    name: 'X-Client-Request-Id',
    in: 'header',
    ...text(
      'Your own name of this request; it is returned in the same header and logged. `X-Request-Id` of a request is read where this is absent.',
      { pattern: '^[\\w-]+$', maxLength: 64 },
    ),
  },
}

const HEADERS = {
  'payment-required': text('The terms: Base64 of a PaymentRequired object of x402 version 2. The body holds the same for version 1.'),
  'payment-response': text(
    'How the payment ended: Base64 of a SettlementResponse of x402, version 2 and version 1. With paid answers, and with a 402 where a settlement was tried.',
  ),
  'answer-location': text('Where the answer can be fetched as soon as the payment is settled.'),
  'request-id': text('Name of this request in the log of the service; each request has a new one.'),
  'client-request-id': text('The name that the request had in X-Client-Request-Id or X-Request-Id.'),
  'rate-limit': text('Free calls left and seconds until they reset: "daily";r=2;t=3600. With free answers and 402, not with paid answers.'),
  'rate-limit-policy': text('Free calls a day: "daily";q=3;w=86400. Where RateLimit is.'),
  'retry-after': { description: 'Seconds after which the same request is worth another try.', schema: { type: 'integer', minimum: 0 } },
}

/** The headers by which a call is paid from a credit. */
const CREDIT_PARAMETERS = {
  'x-credit': {
    name: 'X-CREDIT',
    in: 'header',
    description: 'The code of a prepaid credit, in place of a payment.',
    schema: { type: 'string', maxLength: 64 },
  },
  'idempotency-key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Names a call that a credit pays; a retry sends the same one.',
    schema: { type: 'string', maxLength: 128 },
  },
}
