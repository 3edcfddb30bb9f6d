import { NETWORKS } from '../../pure/networks.ts'
import { GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, type SignedField, type TailField } from '../../pure/receipts/receipt.ts'
import { limits } from '../limits.ts'
import { PROBLEMS, type ProblemCode } from '../problems.ts'
import { z } from 'zod'
import type { PublishedSchemas, Tool } from './define.ts'
import type { Catalogue } from './load.ts'

/** JSON Schema 2020-12 of what every call shares: receipt, link, allowance, problem. */

export const JSON_SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const RECEIPT_WORDS: Record<SignedField | TailField, string> = {
  v: 'The format.',
  tool: 'Id of the tool.',
  tool_version: 'Semantic version of the tool.',
  input_hash: 'keccak-256 of the RFC 8785 text of the input.',
  output_hash: 'keccak-256 of the RFC 8785 text of the result.',
  payer: 'Address of the payer; the zero address when the call was not paid on chain.',
  recipient: 'Address that is paid.',
  amount: 'Minor units of USDC, six decimals; of another token its CAIP-19 id, its minor units and the price in US dollars.',
  nonce: '32 bytes: the nonce of the payment, or random.',
  ts: 'Seconds since 1970-01-01T00:00:00Z.',
  tier: 'Whether the call was free or paid.',
  successor: 'The next signer, or the digest of a receipt that replaces this one.',
  stream_state: 'State of the stream of receipts.',
}

export function receiptSchema(): JsonSchema {
  const fields = [...SIGNED_FIELDS, ...TAIL_FIELDS].map((name) => [name, receiptField(name)])
  return {
    type: 'object',
    description: 'An XDR-1 receipt. /.well-known/xdr-1.json says how to verify it offline.',
    properties: {
      ...Object.fromEntries(fields),
      signer: { type: 'string', pattern: '^0x[0-9a-f]{40}$', description: 'Address of the key that signed.' },
      signature: { type: 'string', pattern: '^0x[0-9a-f]{130}$', description: '65 bytes r, s, v; s is low, v is 27 or 28.' },
    },
    required: [...SIGNED_FIELDS, 'signer', 'signature'],
    additionalProperties: false,
  }
}

function receiptField(name: SignedField | TailField): JsonSchema {
  const description = RECEIPT_WORDS[name]
  if (name === 'ts') return { type: 'integer', minimum: 0, maximum: 999_999_999_999, description }
  return { type: 'string', pattern: GRAMMAR[name].source, description }
}

export function allowanceSchema(): JsonSchema {
  const properties = {
    limit: { type: 'integer', minimum: 0, maximum: limits.free_daily_max, description: 'Free calls of one client and UTC day.' },
    remaining: { type: 'integer', minimum: 0, maximum: limits.free_daily_max, description: 'Free calls left today.' },
    resets_at: {
      type: 'string',
      pattern: '^\\d{4}-\\d{2}-\\d{2}T00:00:00Z$',
      description: 'Time of the next reset, RFC 3339, for example 2026-11-22T00:00:00Z.',
    },
  }
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** Any problem of the service. */
export function problemSchema(): JsonSchema {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  const kinds = Object.values(PROBLEMS)
  return {
    type: 'object',
    description: 'Problem of RFC 9457, with the code by which programs should distinguish problems.',
    properties: {
      type: { type: 'string', description: 'Address of a page about the code.' },
      title: { type: 'string' },
      status: { type: 'integer', enum: [...new Set(kinds.map(({ status }) => status))] },
      detail: { type: 'string', description: 'What happened here.' },
      instance: { type: 'string', description: 'This occurrence.' },
      code: { type: 'string', enum: codes },
      phase: { type: 'string', enum: ['challenge', 'signature', 'settlement', 'tool', 'network'] },
      retryable: { type: 'boolean', description: 'The same request may succeed later.' },
      charged: { enum: [false, true, 'unknown'], description: 'Whether money moved.' },
      request_id: { type: 'string' },
      errors: { type: 'array', items: problemErrorSchema(), description: 'The faults inside the request.' },
    },
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'phase', 'retryable', 'charged', 'request_id', 'errors'],
  }
}

function problemErrorSchema(): JsonSchema {
  const place = (description: string) => ({ type: 'integer', minimum: 0, description })
  return {
    type: 'object',
    properties: {
      pointer: { type: 'string', description: 'JSON pointer into the body; empty for the whole.' },
      code: { type: 'string' },
      message: { type: 'string' },
      position: place('Offset in characters, where the text itself is at fault.'),
      line: place('Line, from 1.'),
      column: place('Column, from 1.'),
    },
    required: ['pointer', 'code', 'message'],
    additionalProperties: false,
  }
}

/**
 * The body of a 402: the problem, with the state of the allowance where a tool was called, and, where payments are taken, the terms of x402
 * version 1.
 */
export function paymentRequiredSchema({ takes_payments, mode }: { takes_payments: boolean; mode: 'sandbox' | 'live' }): JsonSchema {
  const { properties, required } = problemSchema() as { properties: Record<string, JsonSchema>; required: string[] }
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => PROBLEMS[code].status === 402)
  const terms = takes_payments ? termsSchema() : {}
  const fixed = { status: { const: 402 }, code: { type: 'string', enum: codes }, charged: { const: false } }
  const more = {
    invalid_reason: { type: 'string', description: 'The word of x402 facilitators for what is wrong with the payment.' },
    reason: {
      type: 'string',
      description: 'Why the settlement failed; of token-contract-risk the code in lower case, where none was tried.',
    },
    transaction: { type: ['string', 'null'], description: 'The transaction that failed, if one was sent.' },
    valid: { type: ['boolean', 'null'], description: 'Of token-contract-risk alone: null, since nothing was judged.' },
    credit: creditSchema(),
    test_money: { type: 'string', description: 'In a sandbox: how to get test tokens.' },
    sign: { type: 'object', description: 'Of an invoice: typed data of the payment, and the request that takes the signature.' },
  }
  return {
    type: 'object',
    description: takes_payments
      ? 'Pay on these terms, or on those of version 2 in the header PAYMENT-REQUIRED: both ask for the same.'
      : 'The free calls of the day are used up. No terms are offered, since this deployment takes no payments.',
    properties: { ...properties, ...fixed, allowance: allowanceSchema(), ...more, ...terms },
    required: [...required, ...Object.keys(terms), ...(takes_payments && mode === 'sandbox' ? ['test_money'] : [])],
    // Invoices have no free calls, and their payments are refused for the same reasons.
    anyOf: [
      { properties: { allowance: {} }, required: ['allowance'] },
      { properties: { code: { enum: codes.filter((code) => code !== 'PAYMENT_REQUIRED') } } },
    ],
    ...(takes_payments ? { allOf: [{ anyOf: TERMS_OR_REASON }] } : {}),
    additionalProperties: false,
  }
}

/** The list of terms is empty only while gas costs more than a call on every network; then `error` says so. */
const TERMS_OR_REASON = [
  { properties: { accepts: { type: 'array', minItems: 1 } } },
  { properties: { accepts: { type: 'array', maxItems: 0 }, error: { type: 'string', pattern: '^Gas for one payment ' } } },
]

/** Balance of a prepaid credit. */
function creditSchema(): JsonSchema {
  const properties = {
    unit: { type: 'string', enum: ['usdc_minor', 'calls'], description: 'Minor units of USDC, or calls.' },
    available: { type: 'string', pattern: '^\\d{1,20}$', description: 'What is left of it.' },
  }
  return {
    type: 'object',
    description: 'The credit that does not cover the call.',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** Members that x402 version 1 adds to the body. */
function termsSchema(): Record<string, JsonSchema> {
  const text = { type: 'string' }
  const entry = {
    scheme: { const: 'exact' },
    network: { enum: NETWORKS.map(({ v1_name }) => v1_name).filter((name) => name !== null) },
    maxAmountRequired: { type: 'string', pattern: '^\\d{1,20}$', description: 'Minor units of USDC.' },
    resource: text,
    description: text,
    mimeType: { const: 'application/json' },
    payTo: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'With the capitals of EIP-55.' },
    maxTimeoutSeconds: { const: limits.max_timeout_s },
    asset: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    extra: { type: 'object', properties: { name: text, version: text }, required: ['name', 'version'], additionalProperties: false },
  }
  const outputSchema = { type: 'object', description: 'How the resource is called and what it answers, for catalogues; absent over MCP.' }
  const properties = { ...entry, outputSchema }
  const accepted = { type: 'object', properties, required: Object.keys(entry), additionalProperties: false }
  return {
    x402Version: { const: 1 },
    error: text,
    accepts: { type: 'array', maxItems: 1 + limits.further_networks, items: accepted },
  }
}

export type JsonSchema = Record<string, unknown>

export interface ToolSchemas {
  input: JsonSchema
  output: JsonSchema
}

/** The schemas of tools by their ids. */
export type SchemaList = Pick<ReadonlyMap<string, ToolSchemas>, 'get'>

/** The schemas of each tool, derived when they are first asked for. */
export function schemasOf(catalogue: Catalogue): SchemaList {
  const derived = new Map<string, ToolSchemas>()
  return {
    get(id) {
      const tool = catalogue.find(id)
      if (tool === undefined) return undefined
      const schemas = derived.get(tool.id) ?? toolSchemas(tool)
      derived.set(tool.id, schemas)
      return schemas
    },
  }
}

/** The JSON Schema 2020-12 of a tool's input and output; a costly derivation. */
export function toolSchemas(tool: Tool): ToolSchemas {
  return { input: derive(tool.input, 'input'), output: derive(tool.output, 'output') }
}

function derive(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io })
}

/** The output schemas of these tools, each derived when it is first asked for. */
export function publishedSchemas(tools: () => readonly Tool[]): PublishedSchemas {
  const derived = new Map<string, JsonSchema>()
  return {
    output(id) {
      const tool = tools().find((known) => known.id === id)
      if (tool === undefined) return null
      const schema = derived.get(id) ?? toolSchemas(tool).output
      derived.set(id, schema)
      return { version: tool.version, schema }
    },
  }
}
