import { z } from 'zod'
import { PROTOCOL_IDS } from '../../pure/protocols/protocol.ts'
import { once } from '../../pure/once.ts'
import { limits } from '../../service/limits.ts'
import {
  BODY_BOUNDS,
  PREFLIGHT_REQUEST,
  RULE_PARTS,
  ruleCatalogue,
  type RulePart,
  partShown,
  type PartShown,
  type RuleShown,
} from '../../service/preflight/preflight.ts'
import { problem, PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { JSON_TYPE, sendDocument, storedDocument, storedJson, type StoredDocument } from '../http/document.ts'
import { component, endpointsOf, named, problemsOf, endpointPaths, endpointSchemas, type DescribedEndpoint } from '../endpoint.ts'
import { bodyOfRequest, type BodyRead, readBody } from '../http/body.ts'
import { jsonReply, wantsPage } from '../http/reply.ts'
import type { PreflightService } from './serve.ts'
import { ref, type Json } from '../../service/catalogue/openapi-parts.ts'
import { modeMark, type Deployment } from '../../service/catalogue/text.ts'
import { JSON_SCHEMA_DIALECT, problemSchema } from '../../service/catalogue/wire-schemas.ts'
import { html } from '../pages/html.ts'
import { PREFLIGHT_STATEMENT } from '../../pure/protocols/check.ts'
import { HTML_TYPE, layout, PAGE_HEADERS, type Markup } from '../pages/layout.ts'

/** Preflight checks and their published rules. */
export interface PreflightRoom {
  desk: PreflightService
  openApi(): StoredDocument
  /** Rules by protocol part; null for all. */
  rules: ReadonlyMap<RulePart | null, RuleDocuments>
}

interface RuleDocuments {
  json(): StoredDocument
  page(): StoredDocument
}

export function preflightRoom(deps: AppDeps, desk: PreflightService): PreflightRoom {
  const openApi = once(() => storedJson(preflightOpenApi(deps, PREFLIGHT_ENDPOINTS)))
  return { desk, openApi, rules: new Map([null, ...RULE_PARTS].map((part) => [part, ruleDocuments(deps, part)])) }
}

function ruleDocuments(deps: AppDeps, part: RulePart | null): RuleDocuments {
  const vary = { vary: 'Accept' }
  return {
    json: once(() => storedDocument(JSON_TYPE, JSON.stringify(ruleCatalogue(part, deps.origins.base_url)), vary)),
    page: once(() => storedDocument(HTML_TYPE, rulesPage(deps, part), { ...PAGE_HEADERS, ...vary })),
  }
}

const defineEndpoint = endpointsOf<PreflightRoom>()

named(
  'preflight-finding',
  z.strictObject({
    code: z.string().describe('Stable code of the rule.'),
    severity: z.enum(['error', 'warning']).describe('error or warning.'),
    path: z.string().describe('JSON pointer into the document; empty for the whole.'),
    message: z.string().describe('The fault; never a value of the document.'),
    hint: z.string().describe('The fix.'),
    spec: z
      .strictObject({ url: z.string().describe('The document.'), section: z.string().describe('Its part.') })
      .describe('Source of the rule.'),
    expected: z.string().optional().describe('A value that would have been right.'),
  }),
)

const FINDINGS = z.array(component('preflight-finding'))

const REPORT = named(
  'preflight-report',
  z.strictObject({
    status: z
      .enum(['pass', 'warn', 'fail', 'not_covered'])
      .describe('fail with errors, warn with warnings alone, not_covered without rules for the type or version, else pass.'),
    protocol: z.enum(PROTOCOL_IDS).describe('As asked.'),
    document_type: z.string().describe('Kind of document as which it was read.'),
    version: z.string().describe('Version of the protocol whose rules were used.'),
    version_source: z.enum(['stated', 'declared', 'inferred', 'assumed']).describe('Source of the version.'),
    errors: FINDINGS.describe('Faults that break the protocol.'),
    warnings: FINDINGS.describe('Risky or unusual values, and those that could not be checked.'),
    checked: z.array(z.string()).describe('Codes of the rules that were applied.'),
    not_checked: z.array(z.string()).describe('Parts that no rule looked at.'),
    truncated: z.boolean().describe('There were more findings than are shown.'),
    part: z.string().optional().describe('The part of the text that was checked, where document was a text.'),
    statement: z.string().describe('Limits of the report.'),
  }),
)

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

const anyLength = () => Promise.resolve(true)

const check = defineEndpoint({
  id: 'protocol_preflight',
  method: 'post',
  path: '/v1/protocols/check',
  summary: 'Check a document of an agent-commerce protocol.',
  description:
    'Selected structural checks, free of charge and without a receipt. The verdict is status, errors and warnings; the HTTP status is ' +
    'not the verdict. No conformance, no authentication of credentials, no verification of settlement. Nothing is fetched or kept.',
  body: {
    schema: named('preflight-request', PREFLIGHT_REQUEST),
    // Long bodies are read in a thread.
    read_by_run: true,
    bounds: { ...BODY_BOUNDS, body_bytes: limits.preflight_body_bytes, unsafe_numbers: 'keep_text' },
    example: EXAMPLE,
  },
  answers: { 200: { description: 'Preflight findings.', json: REPORT } },
  problems: ['PREFLIGHT_REQUEST_INVALID', 'PREFLIGHT_BOUND_EXCEEDED', 'PREFLIGHT_RATE_LIMITED'],
  async run({ context, caller }, { desk }) {
    const refused = desk.refuse(caller)
    const body: BodyRead =
      refused === null ? await readBody(bodyOfRequest(context), limits.preflight_body_bytes, anyLength) : { ok: false, problem: refused }
    await desk.turn(caller)
    if (!body.ok) return body.problem
    const done = await desk.check(body.bytes, { address: caller, pays: false })
    return done.ok ? jsonReply(200, JSON.stringify(done.report)) : done.problem
  },
})

const readRules = defineEndpoint({
  id: 'protocol_rules',
  method: 'get',
  path: '/v1/protocols/rules',
  summary: 'Every rule of the preflight.',
  query: {
    protocol: z
      .string()
      .optional()
      .meta({ enum: [...RULE_PARTS] })
      .describe('One protocol, or common for the rules of all protocols.'),
  },
  answers: { 200: { description: 'Every rule of the preflight, as JSON or as a page.', json: z.looseObject({}), media: ['text/html'] } },
  problems: ['NOT_FOUND'],
  run({ query, context }, { rules }) {
    const part = query.protocol === undefined ? null : RULE_PARTS.find((one) => one === query.protocol)
    const documents = part === undefined ? undefined : rules.get(part)
    if (documents === undefined) return problem('NOT_FOUND', `Rules are known of ${RULE_PARTS.join(', ')}.`)
    return sendDocument(context, wantsPage(context) ? documents.page() : documents.json())
  },
})

const readOpenApi = defineEndpoint({
  id: 'protocol_openapi',
  method: 'get',
  path: '/v1/protocols/openapi.json',
  summary: 'The preflight alone as OpenAPI.',
  unlisted: true,
  answers: { 200: { description: 'The document.', json: z.looseObject({}) } },
  run: ({ context }, { openApi }) => sendDocument(context, openApi()),
})

export const PREFLIGHT_ENDPOINTS = [check, readRules, readOpenApi]

/** Version of the preflight interface, independent of the service version. */
const INTERFACE_VERSION = '2026-09-27'

/** OpenAPI 3.1 document of the preflight endpoints alone. */
function preflightOpenApi(deployment: Deployment & { origins: { base_url: string } }, endpoints: readonly DescribedEndpoint[]): Json {
  const mark = modeMark(deployment)
  const codes = [...new Set(endpoints.flatMap((endpoint) => [...problemsOf(endpoint)]))]
  const statuses = [...new Set(codes.map((code): number => PROBLEMS[code].status))]
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
    paths: endpointPaths(endpoints),
    components: {
      schemas: { ...endpointSchemas(endpoints), problem: problemSchema() },
      responses: Object.fromEntries(statuses.map((status) => [`problem-${status}`, refusal(status, codes)])),
    },
  }
}

function refusal(status: number, codes: readonly ProblemCode[]): Json {
  const described = codes.filter((code) => PROBLEMS[code].status === status).map((code) => `${code}: ${PROBLEMS[code].description}`)
  return {
    description: described.join('\n\n'),
    ...(status === 429 ? { headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } } } } : {}),
    content: { 'application/problem+json': { schema: ref('schemas', 'problem') } },
  }
}

/** `/v1/protocols/rules` for people: all protocols, or one with its rules. */
function rulesPage(deps: AppDeps, part: RulePart | null): string {
  const shown = part === null ? null : partShown(part, deps.origins.base_url)
  const title = shown === null ? 'Rules of the preflight' : `Preflight: ${shown.title}`
  const main = html`<div class="lead">
      <h1>${title}</h1>
      <p>${PREFLIGHT_STATEMENT}</p>
      <p>
        Send a document to <code>POST ${deps.origins.base_url}/v1/protocols/check</code>; it is free. Programs read
        <a href="/v1/protocols/openapi.json">its OpenAPI document</a>, and these rules as JSON.
      </p>
    </div>
    ${shown === null ? partList(deps) : ruleList(shown)}`
  return layout({ title: `${title} · assay`, mark: modeMark(deps), main })
}

function partList(deps: AppDeps): Markup {
  const parts = RULE_PARTS.map((part) => partShown(part, deps.origins.base_url))
  return html`<section>
    <dl class="links">
      ${parts.map(
        ({ id, title, versions, rules }) =>
          html`<div>
            <dt><a href="/v1/protocols/rules?protocol=${id}">${title}</a></dt>
            <dd>${rules.length} rules${versions.length === 0 ? '' : `, versions ${versions.join(', ')}`}</dd>
          </div> `,
      )}
    </dl>
  </section>`
}

function ruleList({ versions, document_types, uncovered_types, not_checked, rules }: PartShown): Markup {
  return html`<section>
      ${versions.length === 0 ? '' : html`<p>Versions: ${versions.join(', ')}. Documents: ${document_types.join(', ')}.</p>`}
      ${uncovered_types.length === 0 ? '' : html`<p>Without rules: ${uncovered_types.join(', ')}.</p>`}
      ${not_checked.length === 0 ? '' : html`<p>Not checked: ${not_checked.join('; ')}.</p>`}
      <p><a href="/v1/protocols/rules">All protocols</a></p>
    </section>
    ${rules.map(ruleSection)}`
}

const SEVERITIES = { error: 'error', warning: 'warning', both: 'error or warning' } as const

function ruleSection({ code, severity, why, hint, spec, good, bad, types, since, until }: RuleShown): Markup {
  const versions = [since === null ? null : `from ${since}`, until === null ? null : `up to ${until}`].filter((words) => words !== null)
  const about = [...versions, ...(types ?? [])].join(', ')
  return html`<section class="family" id="${code}">
    <h2><code>${code}</code> ${SEVERITIES[severity]}</h2>
    <p>${why} ${hint}</p>
    <dl>
      ${
        about === ''
          ? ''
          : html`<div>
              <dt>about</dt>
              <dd>${about}</dd>
            </div> `
      }
      <div>
        <dt>source</dt>
        <dd><a href="${spec.url}" rel="noreferrer">${spec.section}</a></dd>
      </div>
      <div>
        <dt>keeps it</dt>
        <dd><code>${JSON.stringify(good)}</code></dd>
      </div>
      <div>
        <dt>breaks it</dt>
        <dd><code>${JSON.stringify(bad)}</code></dd>
      </div>
    </dl>
  </section> `
}
