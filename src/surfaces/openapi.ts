import { creditPaths, creditSchemas } from './credits/openapi.ts'
import { logPaths } from './log/openapi.ts'
import { invoicePaths, invoiceSchemas } from './invoices/openapi.ts'
import { preflightPaths, preflightSchemas } from './preflight/openapi.ts'
import { PROBLEMS } from '../service/problems.ts'
import { insurancePaths, insuranceSchemas } from './insurance/openapi.ts'
import { takesBare } from '../service/catalogue/bare.ts'
import type { Tool } from '../service/catalogue/define.ts'
import type { JsonSchema, SchemaList } from '../service/catalogue/json-schema.ts'
import { components, json, PAYMENT_RESPONSES, RATE_LIMITS, ref, type Json } from '../service/catalogue/openapi-parts.ts'
import {
  allowanceWords,
  byFamily,
  HONEST_LIMITS,
  markedName,
  modeMark,
  paymentWords,
  priceRange,
  SUMMARY,
  type Deployment,
} from '../service/catalogue/text.ts'
import { JSON_SCHEMA_DIALECT } from '../service/catalogue/wire-schemas.ts'

export interface OpenApiParts {
  deployment: Deployment
  tools: readonly Tool[]
  schemas: SchemaList
  /** What tools answer to their own examples; a tool may be missing. */
  examples: ReadonlyMap<string, Record<string, unknown>>
}

const LENGTHS = 'Lengths of texts count UTF-16 code units, so a character beyond U+FFFF counts twice.'

/** The service as OpenAPI 3.1: one path a tool, under the tool's own id. */
export function openApiDocument(parts: OpenApiParts): Json {
  const { deployment, tools } = parts
  const mark = modeMark(deployment)
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: JSON_SCHEMA_DIALECT,
    info: {
      title: markedName(deployment),
      summary: SUMMARY,
      description: [mark, allowanceWords(deployment.free, tools), paymentWords(deployment), ...HONEST_LIMITS, LENGTHS]
        .filter((words) => words !== null)
        .join('\n\n'),
      version: deployment.version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: deployment.origins.api_url, ...(mark === null ? {} : { description: mark }) }],
    security: [],
    tags: [
      ...byFamily(tools).map(({ family, title }) => ({ name: family, description: title })),
      { name: 'service', description: 'The service itself' },
    ],
    paths: {
      ...Object.fromEntries(tools.map((tool) => [`/v1/tools/${tool.id}/call`, { post: callOperation(parts, tool) }])),
      ...servicePaths(tools),
    },
    components: withPreflight(components(tools, parts.schemas, deployment)),
  }
}

/** The shared components with those that the preflight, the records and the credits refer to. */
function withPreflight(shared: Json): Json {
  return {
    ...shared,
    schemas: { ...(shared['schemas'] as Json), ...preflightSchemas(), ...invoiceSchemas(), ...insuranceSchemas(), ...creditSchemas() },
  }
}

function callOperation(parts: OpenApiParts, tool: Tool): Json {
  return {
    operationId: tool.id,
    summary: tool.title,
    description: `${tool.description}\n\nNot checked: ${tool.scope.not_checked.join('; ')}.`,
    tags: [tool.family],
    parameters: [
      'previous-receipt',
      ...(tool.price === 'free'
        ? []
        : ['payment-signature', 'x-payment', 'x-answer-token', 'sign-in-with-x', 'x-credit', 'idempotency-key']),
      'request-id',
    ].map((name) => ref('parameters', name)),
    requestBody: {
      required: true,
      content: json(requestSchema(tool), { input: tool.example }),
    },
    responses: { 200: callAnswer(parts, tool), ...problemResponses(callStatuses(tool)) },
    'x-tool-version': tool.version,
    'x-price': priceRange(tool),
  }
}

function requestSchema(tool: Tool): JsonSchema {
  const input = ref('schemas', `${tool.id}.input`)
  const wrapped = { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
  return takesBare(tool.id) ? { anyOf: [wrapped, input] } : wrapped
}

function callAnswer(parts: OpenApiParts, tool: Tool): Json {
  const result = ref('schemas', `${tool.id}.output`)
  const example = parts.examples.get(tool.id)
  const shown = example === undefined ? result : { ...result, examples: [example] }
  const answer = ref('schemas', 'answer')
  const forms = takesBare(tool.id) ? { anyOf: [answer, bareAnswer(tool)] } : { allOf: [answer] }
  const schema = { type: 'object', ...forms, properties: { result: shown } }
  const counted = tool.price === 'free' ? {} : { ...RATE_LIMITS, ...PAYMENT_RESPONSES }
  return {
    description: 'The result and its receipt. The verdict is in the result, not in the status.',
    headers: { 'X-Request-Id': ref('headers', 'request-id'), ...counted },
    content: json(schema),
  }
}

/** What a body of bare fields is answered with. */
function bareAnswer(tool: Tool): JsonSchema {
  const description =
    'The members of the result beside the receipt, where the fields of the tool were the body itself. The receipt covers them alone. A link ' +
    'to an earlier receipt is `receipt_chain`.'
  const required = [...Object.keys(tool.output.shape), 'receipt', 'tier', 'settlement', 'allowance']
  return { type: 'object', description, properties: Object.fromEntries(required.map((name) => [name, {}])), required }
}

/** What only a payment can end with. */
const PAYMENT_STATUSES = [202, 402, 409, 410, 429]

/**
 * Every status that a call of this tool may end with, but 200. The path is written out, so 405 is not among them, and 404 only where the
 * tool looks for an invoice.
 */
function callStatuses(tool: Tool): number[] {
  const statuses = new Set(Object.values(PROBLEMS).map(({ status }): number => status))
  const unlooked = tool.sources.includes('invoices') && tool.annotations.read_only ? [] : [404]
  for (const status of [405, ...unlooked, ...(tool.price === 'free' ? PAYMENT_STATUSES : [])]) statuses.delete(status)
  return [...statuses].toSorted((a, b) => a - b)
}

function problemResponses(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, ref('responses', `problem-${status}`)]))
}

/** Fields of a body by name, with words about each; all of them are there. */
function fields(words: Record<string, string>): JsonSchema {
  const properties = Object.fromEntries(Object.entries(words).map(([name, description]) => [name, { description }]))
  return { type: 'object', properties, required: Object.keys(words) }
}

const ONE_TOOL = fields({
  id: 'Id of the tool.',
  input_schema: 'JSON Schema of the input.',
  output_schema: 'JSON Schema of the result.',
  price: 'Price now, floor and cap in minor units of USDC.',
  example: 'The body of a call that runs.',
})

const HEALTH = fields({
  ok: 'Whether the service can serve.',
  mode: 'sandbox or live.',
  sandbox: 'Where the chain of the sandbox is; null in a live deployment.',
  chain: 'The chain that payments and receipts belong to.',
  signer: 'The key that signs receipts.',
  store: 'Which store is used, and whether it answers.',
  payments: 'Whether payments are taken, and for whom.',
  free_daily: 'Free calls of a client a day, and tools with a number of their own.',
  tools: 'Each tool with its price now.',
})

const STATUS = fields({
  ok: 'True.',
  mode: 'sandbox or live.',
  version: 'Of the service.',
  uptime_s: 'Seconds since the start.',
  in_flight: 'Calls under way.',
  calls: 'Calls in all, by outcome, and by tool and outcome.',
  latency_ms: 'Bounds under which half, 95 and 99 of a hundred calls stayed (p50, p95, p99); null before the first.',
  history: 'Where the last hour and the last day are to be had.',
})

const HISTORY = fields({
  span: 'hour or day.',
  every_s: 'Seconds that one point stands for. All lists are of one length, oldest first.',
  at_s: 'Begin of each stretch, in seconds since 1970.',
  counted_s: 'Seconds of it that were counted.',
  calls: 'Calls by class of outcome.',
  latency_ms: 'Bounds p50, p95 and p99; null where there was no call.',
  prices_minor: 'Prices of the moving markets in minor units of USDC, as text.',
  sources: 'Whether each source answered; null where nobody asked.',
  settlement: 'Payments that wait, and those that wait for too long.',
  chain_head_age_s: 'Age of the newest block.',
})

const HISTORY_PARAMETERS = [
  { name: 'span', in: 'query', description: 'Which span.', schema: { type: 'string', enum: ['hour', 'day'], default: 'hour' } },
  {
    name: 'after',
    in: 'query',
    description: 'Only points that begin later, in seconds since 1970.',
    schema: { type: 'integer', minimum: 0 },
  },
]

const TOOL_ID = { name: 'tool', description: 'Id of the tool.', example: 'iban-check' }

function servicePaths(tools: readonly Tool[]): Json {
  const verifier = tools.find(({ id }) => id === 'receipt-verify')
  const described = { ...TOOL_ID, in: 'path', required: true, schema: { type: 'string' } }
  return {
    ...(verifier === undefined ? {} : { '/v1/receipt/verify': { post: verifyOperation(verifier) } }),
    '/v1/tools': read(
      'list-tools',
      'The catalogue.',
      json(fields({ count: 'Number of tools.', families: 'Families by id.', tools: 'The tools.' })),
    ),
    '/v1/tools/{tool}': read('describe-tool', 'One tool with its schemas, its price now and an example.', json(ONE_TOOL), {
      parameters: [described],
      refused: problemResponses([404]),
    }),
    '/v1/allowance': read(
      'allowance',
      'The free calls that this client has left today; asking counts none.',
      json(ref('schemas', 'allowance')),
      {
        refused: problemResponses([503]),
      },
    ),
    ...paymentPaths(),
    ...preflightPaths(problemResponses),
    ...invoicePaths(problemResponses),
    ...insurancePaths(problemResponses),
    ...creditPaths(problemResponses),
    ...logPaths(problemResponses),
    '/health': read('health', 'Whether the service can serve, and its prices now.', json(HEALTH), {
      refused: { 503: { description: 'The store does not answer; `ok` is false.', content: json(HEALTH) } },
    }),
    '/status': read('status', 'Counts and times since the start.', json(STATUS)),
    '/status/history.json': read('status-history', 'What was counted in the last hour or day.', json(HISTORY), {
      parameters: HISTORY_PARAMETERS,
    }),
    '/metrics': read('metrics', 'The same for Prometheus.', { 'text/plain': { schema: { type: 'string' } } }),
  }
}

const PAYMENT_STATUS = fields({
  state: 'unpaid, pending, settled or released.',
  charged: 'true, false, or "unknown" while it is pending.',
  valid_before: 'Second since 1970 at which the authorization runs out: before it, do not sign another for a payment that is pending.',
  transaction: 'Hash of the transaction that settled it, or of the last that was meant to; null before.',
  final: 'No reorganisation of the chain can take it away any more.',
})

/** Where the end of a payment can be learned without the connection that carried it. */
function paymentPaths(): Json {
  const part = (name: string, pattern: string, description: string) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', pattern },
  })
  const payer = part('payer', '^0x[0-9a-fA-F]{40}$', 'Address that signed the payment.')
  const nonce = part('nonce', '^0x[0-9a-fA-F]{64}$', 'Nonce of its authorization.')
  const token = part('token', '^[0-9a-f]{64}$', 'From the Location of a 202.')
  return {
    '/v1/payments/{payer}/{nonce}': read('payment-status', 'How a payment stands; never what it was for.', json(PAYMENT_STATUS), {
      parameters: [payer, nonce],
      refused: problemResponses([400, 503]),
    }),
    '/v1/answers/{token}': read('paid-answer', 'The answer of a paid call, for a day.', json(ref('schemas', 'answer')), {
      parameters: [token],
      refused: problemResponses([202, 404, 410, 503]),
    }),
  }
}

function read(operationId: string, summary: string, content: Json, more: { parameters?: Json[]; refused?: Json } = {}): Json {
  const { parameters = [], refused = {} } = more
  return { get: { operationId, summary, tags: ['service'], parameters, responses: { 200: { description: summary, content }, ...refused } } }
}

/** The alias of receipt-verify, which also takes a bare receipt. */
function verifyOperation(verifier: Tool): Json {
  const bare = { type: 'object', description: 'A receipt, bare.', properties: { v: {}, signature: {} }, required: ['v', 'signature'] }
  const input = ref('schemas', 'receipt-verify.input')
  const wrapped = { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
  const result = { type: 'object', allOf: [ref('schemas', 'answer')], properties: { result: ref('schemas', 'receipt-verify.output') } }
  return {
    operationId: 'verify-receipt',
    summary: 'Verify a receipt of any issuer.',
    description:
      'The same as receipt-verify, with the receipt under `receipt` or bare, or under `input` as at other tools. Free, without limit.',
    tags: ['service'],
    requestBody: { required: true, content: json({ anyOf: [input, bare, wrapped] }, verifier.example) },
    responses: {
      200: { description: 'The verdict, with a receipt of its own.', content: json(result) },
      ...problemResponses(callStatuses(verifier)),
    },
  }
}
