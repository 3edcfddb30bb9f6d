import { endpointPaths, endpointSchemas } from './endpoint.ts'
import { ENDPOINT_GROUPS } from './endpoint-groups.ts'
import { PROBLEMS } from '../service/problems.ts'
import { acceptsUnwrappedInput } from '../service/catalogue/decode.ts'
import type { Tool } from '../service/catalogue/define.ts'
import { type JsonSchema, type SchemaList, JSON_SCHEMA_DIALECT } from '../service/catalogue/wire-schemas.ts'
import { components, json, PAYMENT_RESPONSES, RATE_LIMITS, ref, REQUEST_ID_HEADERS, type Json } from '../service/catalogue/openapi-parts.ts'
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

export interface OpenApiParts {
  deployment: Deployment
  tools: readonly Tool[]
  schemas: SchemaList
  /** Results of the tools for their own examples; a tool may be missing. */
  examples: ReadonlyMap<string, Record<string, unknown>>
}

const LENGTHS = 'Lengths of texts count UTF-16 code units, so a character beyond U+FFFF counts twice.'

/** OpenAPI 3.1 document: one path per tool, with the tool's id as operation id. */
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
      ...servicePaths(tools, deployment),
    },
    components: withEndpoints(components(tools, parts.schemas, deployment), deployment),
  }
}

/** Endpoints of this kind of deployment. */
function endpointsIn({ mode }: Pick<Deployment, 'mode'>) {
  return ENDPOINT_GROUPS.flatMap(({ endpoints }) => endpoints).filter(({ only_in }) => only_in === undefined || only_in === mode)
}

/** Shared components and those that the endpoints refer to. */
function withEndpoints(shared: Json, deployment: Deployment): Json {
  return { ...shared, schemas: { ...(shared['schemas'] as Json), ...endpointSchemas(endpointsIn(deployment)) } }
}

function callOperation(parts: OpenApiParts, tool: Tool): Json {
  return {
    operationId: tool.id,
    summary: tool.title,
    description: `${tool.description}\n\nNot checked: ${tool.scope.not_checked.join('; ')}.`,
    tags: [tool.family],
    parameters: [
      'previous-receipt',
      'detail',
      ...(tool.price === 'free'
        ? []
        : ['payment-signature', 'x-payment', 'x-answer-token', 'sign-in-with-x', 'x-credit', 'idempotency-key']),
      'client-request-id',
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
  return acceptsUnwrappedInput(tool.id) ? { anyOf: [wrapped, input] } : wrapped
}

function callAnswer(parts: OpenApiParts, tool: Tool): Json {
  const result = ref('schemas', `${tool.id}.output`)
  const example = parts.examples.get(tool.id)
  const shown = example === undefined ? result : { ...result, examples: [example] }
  const answer = ref('schemas', 'answer')
  const brief = ref('schemas', 'brief-answer')
  const forms = { anyOf: [answer, brief, ...(acceptsUnwrappedInput(tool.id) ? [bareAnswer(tool)] : [])] }
  const schema = { type: 'object', ...forms, properties: { result: shown } }
  const counted = tool.price === 'free' ? {} : { ...RATE_LIMITS, ...PAYMENT_RESPONSES }
  return {
    description: 'The result and its receipt. The verdict is in the result, not in the status.',
    headers: { ...REQUEST_ID_HEADERS, ...counted },
    content: json(schema),
  }
}

/** Response to a body with the input fields at top level. */
function bareAnswer(tool: Tool): JsonSchema {
  const description =
    'Answer to a request with the fields of the tool at top level: members of the result next to the receipt, which covers only them. A link ' +
    'to an earlier receipt is `receipt_chain`.'
  const required = [...Object.keys(tool.output.shape), 'receipt', 'tier', 'settlement', 'allowance']
  return { type: 'object', description, properties: Object.fromEntries(required.map((name) => [name, {}])), required }
}

/** Statuses that only a payment can cause. */
const PAYMENT_STATUSES = [202, 402, 409, 410, 429]

/**
 * Statuses of a call other than 200. Each tool has its own path, so 405 is excluded, and 404 appears only for tools that look up an
 * invoice.
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

function servicePaths(tools: readonly Tool[], deployment: Deployment): Json {
  const verifier = tools.find(({ id }) => id === 'receipt-verify')
  return {
    ...(verifier === undefined ? {} : { '/v1/receipt/verify': { post: verifyOperation(verifier) } }),
    ...endpointPaths(endpointsIn(deployment)),
  }
}

/** The alias of receipt-verify, which also takes a bare receipt. */
function verifyOperation(verifier: Tool): Json {
  const bare = { type: 'object', description: 'A receipt as the body.', properties: { v: {}, signature: {} }, required: ['v', 'signature'] }
  const input = ref('schemas', 'receipt-verify.input')
  const wrapped = { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
  const result = { type: 'object', allOf: [ref('schemas', 'answer')], properties: { result: ref('schemas', 'receipt-verify.output') } }
  return {
    operationId: 'verify-receipt',
    summary: 'Verify a receipt of any issuer.',
    description:
      'The same as receipt-verify. Send the receipt as the body, under `receipt`, or under `input` as for other tools. Free without limit.',
    tags: ['service'],
    requestBody: { required: true, content: json({ anyOf: [input, bare, wrapped] }, verifier.example) },
    responses: {
      200: { description: 'The verdict and a receipt for it.', content: json(result) },
      ...problemResponses(callStatuses(verifier)),
    },
  }
}
