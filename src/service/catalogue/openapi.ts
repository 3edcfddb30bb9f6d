import { PROBLEMS, type ProblemCode } from '../problems.ts'
import type { PriceNow } from '../payments/price.ts'
import type { Tool } from './define.ts'
import type { JsonSchema, ToolSchemas } from './json-schema.ts'
import { allowanceWords, byFamily, HONEST_LIMITS, modeMark, NO_PAYMENTS, SUMMARY, type Deployment } from './text.ts'
import { allowanceSchema, chainSchema, JSON_SCHEMA_DIALECT, paymentRequiredSchema, problemSchema, receiptSchema } from './wire-schemas.ts'

export interface OpenApiParts {
  deployment: Deployment
  tools: readonly Tool[]
  schemas: ReadonlyMap<string, ToolSchemas>
  /** What tools answer to their own examples; a tool may be missing. */
  examples: ReadonlyMap<string, Record<string, unknown>>
  priceOf(tool: Tool): PriceNow
}

type Json = Record<string, unknown>

/** The service as OpenAPI 3.1: one path a tool, under the tool's own id. */
export function openApiDocument(parts: OpenApiParts): Json {
  const { deployment, tools } = parts
  const mark = modeMark(deployment)
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: JSON_SCHEMA_DIALECT,
    info: {
      title: mark === null ? 'assay' : `assay (${mark.split(':')[0]})`,
      summary: SUMMARY,
      description: [mark, allowanceWords(deployment.free, tools), NO_PAYMENTS, ...HONEST_LIMITS].filter((words) => words !== null).join('\n\n'),
      version: deployment.version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: deployment.origins.api_url, ...(mark === null ? {} : { description: mark }) }],
    security: [],
    tags: [...byFamily(tools).map(({ family, title }) => ({ name: family, description: title })), { name: 'service', description: 'The service itself' }],
    paths: {
      ...Object.fromEntries(tools.map((tool) => [`/v1/tools/${tool.id}/call`, { post: callOperation(parts, tool) }])),
      ...servicePaths(tools),
    },
    components: components(parts),
  }
}

const ref = (section: string, name: string): Json => ({ $ref: `#/components/${section}/${name}` })

function callOperation(parts: OpenApiParts, tool: Tool): Json {
  const { class: price_class, floor_minor, cap_minor, formula } = parts.priceOf(tool)
  return {
    operationId: tool.id,
    summary: tool.title,
    description: `${tool.description}\n\nNot checked: ${tool.scope.not_checked.join('; ')}.`,
    tags: [tool.family],
    parameters: [ref('parameters', 'previous-receipt'), ref('parameters', 'request-id')],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: requestSchema(tool), example: { input: tool.example } } },
    },
    responses: { 200: callAnswer(parts, tool), ...problemResponses(callStatuses(tool)) },
    'x-tool-version': tool.version,
    'x-price': { class: price_class, currency: 'USDC', floor_minor: `${floor_minor}`, cap_minor: `${cap_minor}`, formula },
  }
}

function requestSchema(tool: Tool): JsonSchema {
  return { type: 'object', properties: { input: ref('schemas', `${tool.id}.input`) }, required: ['input'], additionalProperties: false }
}

function callAnswer(parts: OpenApiParts, tool: Tool): Json {
  const result = ref('schemas', `${tool.id}.output`)
  const example = parts.examples.get(tool.id)
  const schema = {
    allOf: [ref('schemas', 'answer')],
    properties: { result: example === undefined ? result : { ...result, examples: [example] } },
    required: ['result'],
  }
  const counted = tool.price === 'free' ? {} : { RateLimit: ref('headers', 'rate-limit'), 'RateLimit-Policy': ref('headers', 'rate-limit-policy') }
  return {
    description: 'The result and its receipt. The verdict is in the result, not in the status.',
    headers: { 'X-Request-Id': ref('headers', 'request-id'), ...counted },
    content: { 'application/json': { schema } },
  }
}

/** Every status that a call of this tool may end with, but 200. The path is written out, so 404 and 405 are not among them. */
function callStatuses(tool: Tool): number[] {
  const statuses = new Set(Object.values(PROBLEMS).map(({ status }): number => status))
  for (const status of [404, 405, ...(tool.price === 'free' ? [402] : [])]) statuses.delete(status)
  return [...statuses].toSorted((a, b) => a - b)
}

function problemResponses(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, ref('responses', `problem-${status}`)]))
}

function servicePaths(tools: readonly Tool[]): Json {
  const json = (schema: JsonSchema) => ({ 'application/json': { schema } })
  const read = (operationId: string, summary: string, content: Json, more: Json = {}, others: number[] = []) => ({
    get: { operationId, summary, tags: ['service'], ...more, responses: { 200: { description: summary, content }, ...problemResponses(others) } },
  })
  const open = (...required: string[]) => json({ type: 'object', required })
  return {
    ...(tools.some(({ id }) => id === 'receipt-verify') ? { '/v1/receipt/verify': { post: verifyOperation(tools) } } : {}),
    '/v1/tools': read('list-tools', 'The catalogue.', open('count', 'families', 'tools')),
    '/v1/tools/{tool}': read(
      'describe-tool',
      'One tool with its schemas, its price now and an example.',
      open('id', 'input_schema', 'output_schema', 'example', 'price'),
      { parameters: [{ name: 'tool', in: 'path', required: true, description: 'Id of the tool.', schema: { type: 'string' } }] },
      [404],
    ),
    '/health': {
      get: {
        operationId: 'health',
        summary: 'Whether the service can serve, and its prices now.',
        tags: ['service'],
        responses: {
          200: { description: 'It can.', content: open('ok', 'mode', 'chain', 'signer', 'tools') },
          503: { description: 'The store does not answer; `ok` is false.', content: open('ok') },
        },
      },
    },
    '/status': read('status', 'Counts and times since the start.', open('ok', 'uptime_s', 'calls', 'latency_ms')),
    '/metrics': read('metrics', 'The same for Prometheus.', { 'text/plain': { schema: { type: 'string' } } }),
  }
}

/** The alias of receipt-verify, which also takes a bare receipt. */
function verifyOperation(tools: readonly Tool[]): Json {
  const tool = tools.find(({ id }) => id === 'receipt-verify')
  const schema = { anyOf: [ref('schemas', 'receipt-verify.input'), { type: 'object', description: 'A receipt, bare.', required: ['v', 'signature'] }] }
  return {
    operationId: 'verify-receipt',
    summary: 'Verify a receipt of any issuer.',
    description: 'The same as receipt-verify, with the receipt under `receipt` or bare. Free, without limit.',
    tags: ['service'],
    requestBody: { required: true, content: { 'application/json': { schema, example: tool?.example } } },
    responses: {
      200: {
        description: 'The verdict and its own receipt.',
        content: { 'application/json': { schema: { allOf: [ref('schemas', 'answer')], properties: { result: ref('schemas', 'receipt-verify.output') } } } },
      },
      ...(tool === undefined ? {} : problemResponses(callStatuses(tool))),
    },
  }
}

function components(parts: OpenApiParts): Json {
  const statuses = [...new Set(Object.values(PROBLEMS).map(({ status }) => status))]
  return {
    schemas: {
      ...Object.fromEntries(parts.tools.flatMap((tool) => toolComponents(tool, parts.schemas.get(tool.id)))),
      answer: answerSchema(),
      receipt: receiptSchema(),
      chain: chainSchema(),
      allowance: allowanceSchema('answer'),
      problem: problemSchema(),
      'payment-required': paymentRequiredSchema(),
    },
    responses: Object.fromEntries(statuses.map((status) => [`problem-${status}`, problemResponse(status)])),
    parameters: PARAMETERS,
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
      settlement: { type: 'null', description: 'Null on free calls.' },
      allowance: { anyOf: [ref('schemas', 'allowance'), { type: 'null' }], description: 'Null for tools that are free without limit.' },
      embeddable_badge: { type: 'string', description: 'A Markdown image that links to the receipt.' },
      proof_summary_markdown: { type: 'string', description: 'The check in a few lines of Markdown.' },
    },
    required: ['result', 'receipt', 'tier', 'settlement', 'allowance', 'embeddable_badge', 'proof_summary_markdown'],
  }
}

function problemResponse(status: number): Json {
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => PROBLEMS[code].status === status)
  const schema = ref('schemas', status === 402 ? 'payment-required' : 'problem')
  const retry = status === 402 || status === 503 ? { 'Retry-After': ref('headers', 'retry-after') } : {}
  return {
    description: codes.map((code) => `${code}: ${PROBLEMS[code].description}`).join('\n\n'),
    headers: { 'X-Request-Id': ref('headers', 'request-id'), ...retry },
    content: { 'application/problem+json': { schema } },
  }
}

const text = (description: string, more: JsonSchema = {}) => ({ description, schema: { type: 'string', ...more } })

const PARAMETERS = {
  'previous-receipt': {
    name: 'X-PREV-RECEIPT-HASH',
    in: 'header',
    ...text('Digest of the receipt that went before; the answer then carries `chain`.', { pattern: '^0x[0-9a-fA-F]{64}$' }),
  },
  'request-id': {
    name: 'X-Request-Id',
    in: 'header',
    ...text('A name of your own for this request; it comes back.', { pattern: '^[\\w-]+$', maxLength: 64 }),
  },
}

const HEADERS = {
  'request-id': text('Names this request in our log.'),
  'rate-limit': text('Free calls left and seconds until they start anew: "daily";r=2;t=3600.'),
  'rate-limit-policy': text('Free calls a day: "daily";q=3;w=86400.'),
  'retry-after': { description: 'Seconds after which the same request is worth another try.', schema: { type: 'integer', minimum: 0 } },
}
