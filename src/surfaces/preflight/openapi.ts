import { documentTypes } from '../../pure/protocols/coverage.ts'
import { PROTOCOLS } from '../../pure/protocols/registry.ts'
import { PROTOCOL_IDS } from '../../pure/protocols/rule.ts'
import { ref, json, type Json } from '../../service/catalogue/openapi-parts.ts'
import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
import { modeMark, type Deployment } from '../../service/catalogue/text.ts'
import { JSON_SCHEMA_DIALECT, problemSchema } from '../../service/catalogue/wire-schemas.ts'
import { limits } from '../../service/limits.ts'
import { PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import { RULE_PARTS } from '../../service/preflight/rules.ts'

/** The version of the preflight interface, apart from that of the service. */
const INTERFACE_VERSION = '2026-09-27'

const EXAMPLE = {
  protocol: 'x402',
  document: {
    x402Version: 2,
    resource: { url: 'https://api.example.com/report', description: 'Weather report', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '10000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
        maxTimeoutSeconds: 60,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  },
}

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const texts = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description })

/** Document types of all protocols; each protocol takes its own. */
const ALL_TYPES = [...new Set(PROTOCOL_IDS.flatMap((id) => documentTypes(PROTOCOLS[id])))]

const REQUEST: JsonSchema = {
  type: 'object',
  properties: {
    protocol: text('The protocol that the document belongs to.', { enum: [...PROTOCOL_IDS] }),
    document: {
      type: 'object',
      description:
        'Redacted profile, checkout response, MCP response, decoded AP2 claim, x402 requirements, Micro-AST catalogue or agent card. ' +
        'Put [REDACTED] in the place of secrets and personal data.',
    },
    document_type: text(
      'What kind of document it is, where its shape could mean another; each protocol has its own list at /v1/protocols/rules. A type without ' +
        'rules, such as request, gets the status not_covered.',
      { enum: ALL_TYPES },
    ),
    version: text('Version of the protocol to check by, such as 2026-04-08 or 1.0. One without rules gets the status not_covered.', {
      minLength: 1,
      maxLength: limits.preflight_version_chars,
    }),
    expected_payee: text('Whom you mean to pay: an address, a merchant id or a host. It is compared with what the document says.', {
      minLength: 1,
      maxLength: limits.preflight_payee_chars,
    }),
  },
  required: ['protocol', 'document'],
  additionalProperties: false,
}

const FINDING: JsonSchema = {
  type: 'object',
  properties: {
    code: text('Stable code of the rule.'),
    severity: text('error or warning.', { enum: ['error', 'warning'] }),
    path: text('JSON pointer into the document; empty for the whole.'),
    message: text('What is wrong; never a value of the document.'),
    hint: text('What to do about it.'),
    spec: {
      type: 'object',
      description: 'Where the rule comes from.',
      properties: { url: text('The document.'), section: text('Its part.') },
      required: ['url', 'section'],
      additionalProperties: false,
    },
    expected: text('What would have been right.'),
  },
  required: ['code', 'severity', 'path', 'message', 'hint', 'spec'],
  additionalProperties: false,
}

function reportSchema(finding: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      status: text('fail with errors, warn with warnings alone, not_covered without rules for the type or version, else pass.', {
        enum: ['pass', 'warn', 'fail', 'not_covered'],
      }),
      protocol: text('As asked.', { enum: [...PROTOCOL_IDS] }),
      document_type: text('What kind of document it was read as.'),
      version: text('The version whose rules were used.'),
      version_source: text('Who said so.', { enum: ['stated', 'declared', 'inferred', 'assumed'] }),
      errors: { type: 'array', items: finding, description: 'What breaks the protocol.' },
      warnings: { type: 'array', items: finding, description: 'What is risky, unusual or could not be checked.' },
      checked: texts('Codes of the rules that were applied.'),
      not_checked: texts('What no rule looked at.'),
      truncated: { type: 'boolean', description: 'There were more findings than are shown.' },
      statement: text('What this is not.'),
    },
    required: REPORT_MEMBERS,
    additionalProperties: false,
  }
}

const VERDICT_MEMBERS = ['status', 'protocol', 'document_type', 'version', 'version_source']
const REPORT_MEMBERS = [...VERDICT_MEMBERS, 'errors', 'warnings', 'checked', 'not_checked', 'truncated', 'statement']

/** The schemas that the paths below refer to, by name. */
export function preflightSchemas(): Record<string, JsonSchema> {
  return {
    'preflight-request': REQUEST,
    'preflight-finding': FINDING,
    'preflight-report': reportSchema(ref('schemas', 'preflight-finding')),
  }
}

/** The paths of the preflight; `answers` gives the responses of some statuses. */
export function preflightPaths(answers: (statuses: readonly number[]) => Json): Json {
  const part = {
    name: 'protocol',
    in: 'query',
    description: 'One protocol, or common for what holds for all.',
    schema: { type: 'string', enum: [...RULE_PARTS] },
  }
  return {
    '/v1/protocols/check': {
      post: {
        operationId: 'protocol_preflight',
        summary: 'Check a document of an agent-commerce protocol.',
        description:
          'Selected structural checks, free of charge and without a receipt. The verdict is status, errors and warnings; the HTTP status is ' +
          'not the verdict. No conformance, no authentication of credentials, no verification of settlement. Nothing is fetched or kept.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'preflight-request'), EXAMPLE) },
        responses: {
          200: { description: 'Preflight findings.', content: json(ref('schemas', 'preflight-report')) },
          ...answers([400, 413, 415, 429]),
        },
      },
    },
    '/v1/protocols/rules': {
      get: {
        operationId: 'protocol_rules',
        summary: 'Every rule of the preflight.',
        tags: ['service'],
        parameters: [part],
        responses: {
          200: { description: 'Every rule of the preflight, as JSON or as a page.', content: json({ type: 'object' }) },
          ...answers([404]),
        },
      },
    },
  }
}

/** The preflight alone as OpenAPI 3.1.0, under the version of its interface. */
export function preflightOpenApi(deployment: Deployment & { origins: { base_url: string } }): Json {
  const mark = modeMark(deployment)
  const statuses = [400, 404, 413, 415, 429]
  const answers = (wanted: readonly number[]) => Object.fromEntries(wanted.map((status) => [status, ref('responses', `problem-${status}`)]))
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: JSON_SCHEMA_DIALECT,
    info: {
      title: 'Protocol preflight',
      description: [mark, 'Selected structural checks of agent-commerce documents, free of charge.']
        .filter((one) => one !== null)
        .join('\n\n'),
      version: INTERFACE_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: deployment.origins.base_url, ...(mark === null ? {} : { description: mark }) }],
    security: [],
    tags: [{ name: 'service', description: 'The preflight' }],
    paths: preflightPaths(answers),
    components: {
      schemas: { ...preflightSchemas(), problem: problemSchema() },
      responses: Object.fromEntries(statuses.map((status) => [`problem-${status}`, refusal(status)])),
    },
  }
}

/** Problems that the preflight can answer with, by status. */
const CODES: readonly ProblemCode[] = [
  'PARSE_ERROR',
  'NOT_UTF8',
  'CONTENT_ENCODING_REFUSED',
  'DUPLICATE_KEY',
  'LONE_SURROGATE',
  'FORBIDDEN_KEY',
  'PREFLIGHT_REQUEST_INVALID',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'JSON_TOO_DEEP',
  'JSON_TOO_MANY_NODES',
  'PREFLIGHT_BOUND_EXCEEDED',
  'PREFLIGHT_RATE_LIMITED',
]

function refusal(status: number): Json {
  const codes = CODES.filter((code) => PROBLEMS[code].status === status)
  return {
    description: codes.map((code) => `${code}: ${PROBLEMS[code].description}`).join('\n\n'),
    ...(status === 429 ? { headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } } } } : {}),
    content: { 'application/problem+json': { schema: ref('schemas', 'problem') } },
  }
}
