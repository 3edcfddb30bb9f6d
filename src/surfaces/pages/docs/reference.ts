import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { html } from '../html.ts'
import { TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import type { AppDeps } from '../../deps.ts'
import type { Markup } from '../layout.ts'
import { code, curl, inline, items, json, paragraphs, sample, shownTool, table, type Chapter } from './parts.ts'
import { isSchema, schemaTable, target, type Resolve } from './schema-table.ts'

type Json = Readonly<Record<string, unknown>>

/** One operation of the OpenAPI document, as much as is shown. */
export interface Operation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  tag: string
  price: { floor: string; cap: string } | null
  parameters: Json[]
  body: { schema: Json; example: unknown } | null
  responses: [status: string, response: Json][]
}

/** The document, taken apart. */
export interface Reference {
  operations: ReadonlyMap<string, Operation>
  tags: { name: string; title: string }[]
  resolve: Resolve
}

export function readReference(document: Json): Reference {
  const resolve: Resolve = (ref) => {
    const found = ref
      .split('/')
      .slice(1)
      .reduce<unknown>((value, part) => (isSchema(value) ? value[part] : undefined), document)
    return isSchema(found) ? found : null
  }
  const operations = Object.entries(document['paths'] as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(method.toUpperCase(), path, operation, resolve)),
  )
  const tags = (document['tags'] as { name: string; description: string }[]).map(({ name, description }) => ({ name, title: description }))
  return { operations: new Map(operations.map((one) => [one.id, one])), tags, resolve }
}

function readOperation(method: string, path: string, operation: Json, resolve: Resolve): Operation {
  const { operationId, summary, description, tags, parameters, requestBody, responses } = operation
  const price = operation['x-price'] as { class: string; floor_minor: string; cap_minor: string } | undefined
  const content = isSchema(requestBody) ? jsonContent(requestBody) : null
  return {
    id: String(operationId),
    method,
    path,
    summary: text(summary),
    description: text(description),
    tag: Array.isArray(tags) ? String(tags[0]) : 'service',
    price:
      price === undefined || price.class === 'free'
        ? null
        : { floor: usdcDecimal(BigInt(price.floor_minor)), cap: usdcDecimal(BigInt(price.cap_minor)) },
    parameters: (Array.isArray(parameters) ? parameters.filter(isSchema) : []).map((one) => target(one, resolve)),
    body: content,
    responses: Object.entries(isSchema(responses) ? responses : {}).map(([status, one]) => [
      status,
      isSchema(one) ? target(one, resolve) : {},
    ]),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the JSON schema and example of a request body or a response, under the first media type that it lists. */
function jsonContent(holder: Json): { schema: Json; example: unknown } | null {
  const { content } = holder
  const [first] = isSchema(content) ? Object.values(content) : []
  if (!isSchema(first) || !isSchema(first['schema'])) return null
  return { schema: first['schema'], example: first['example'] }
}

/** Every operation by its group. */
export function referenceChapters({ operations, tags }: Reference): Chapter[] {
  const groups = tags.map(({ name, title }) => ({ name, title, members: [...operations.values()].filter(({ tag }) => tag === name) }))
  return groups
    .filter(({ members }) => members.length > 0)
    .map(({ name, title, members }) => ({
      id: name,
      title,
      body: table(
        `${members.length} operations`,
        ['operation', 'address', 'what it does'],
        members.map(({ id, method, path, summary }) => [
          html`<a href="/docs/reference/${id}"><code>${id}</code></a>`,
          code(`${method} ${path}`),
          summary,
        ]),
      ),
    }))
}

/** One operation: parameters, request, answer, problems. */
export function operationChapters(deps: AppDeps, { resolve }: Reference, operation: Operation): Chapter[] {
  const { id, description, price, parameters, body } = operation
  const tool = deps.call.catalogue.tools.find((one) => one.id === id)
  const request = requestSample(deps, operation)
  const about = html`${paragraphs(
    code(`${operation.method} ${operation.path}`),
    ...description
      .split('\n\n')
      .filter((part) => part !== '')
      .map(inline),
  )}
  ${price === null ? '' : paragraphs(html`Price: ${price.floor} to ${price.cap} USDC, after the <a href="/docs/prices">free calls</a> of the day.`)}
  ${tool === undefined ? '' : paragraphs(html`<a href="/tools/${tool.id}">Try it in the browser</a>.`)}
  ${request === null ? '' : sample('request', 'shell', 'It runs unchanged', request)}`
  const bodyTable = body === null ? null : bodyMarkup(body.schema, resolve)
  return [
    { id: 'about', title: operation.summary, body: about },
    ...(parameters.length === 0 ? [] : [{ id: 'parameters', title: 'Parameters', body: parameterTable(parameters) }]),
    ...(bodyTable === null ? [] : [{ id: 'request', title: 'Request', body: bodyTable }]),
    ...answerChapter(operation, resolve),
    problemsChapter(operation),
  ]
}

/** A request with the example of the document; null where a part of its address has no value that all deployments know. */
function requestSample(deps: AppDeps, { method, path, body }: Operation): string | null {
  const known: Record<string, string> = {
    tool: shownTool(deps).id,
    payer: TEST_VECTOR.receipt.payer,
    nonce: TEST_VECTOR.receipt.nonce,
    token: '0'.repeat(64),
    ...(path.startsWith('/api/invoice/') ? { id: 'inv_000000000000' } : {}),
  }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (!names.every((name) => Object.hasOwn(known, name))) return null
  const url = deps.origins.api_url + path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '')
  if (method === 'GET') return curl(url)
  return body?.example === undefined ? null : curl(url, { body: body.example })
}

function parameterTable(parameters: readonly Json[]): Markup {
  return table(
    'Headers, parts of the address and of the query',
    ['name', 'in', 'there', 'meaning'],
    parameters.map((one) => [
      code(text(one['name'])),
      text(one['in']),
      one['required'] === true ? 'always' : 'may be absent',
      inline(text(one['description'])),
    ]),
  )
}

function bodyMarkup(schema: Json, resolve: Resolve): Markup | null {
  const forms = Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isSchema) : [schema]
  const tables = forms
    .map((form, index) => schemaTable(forms.length === 1 ? 'The body' : `Form ${index + 1} of the body`, target(form, resolve), resolve))
    .filter((made) => made !== null)
  return tables.length === 0 ? null : html`${tables}`
}

/** Documents the successful responses. For a tool call, only `result` is listed: the other members are the same for every tool. */
function answerChapter({ responses }: Operation, resolve: Resolve): Chapter[] {
  const good = responses.filter(([status]) => status.startsWith('2') && status !== '202')
  const parts = good.flatMap(([status, response]) => {
    const content = jsonContent(response)
    if (content === null) return [paragraphs(html`${code(status)} ${inline(text(response['description']))}`)]
    const whole = target(content.schema, resolve)
    const result = isSchema(whole['properties']) && isSchema(whole['properties']['result']) ? whole['properties']['result'] : null
    const shown = schemaTable(
      result === null ? `Members, status ${status}` : 'Members of result',
      target(result ?? whole, resolve),
      resolve,
    )
    const [example] = result !== null && Array.isArray(result['examples']) ? result['examples'] : []
    return [
      paragraphs(html`${code(status)} ${inline(text(response['description']))}`),
      result === null
        ? ''
        : paragraphs(
            html`Besides ${code('result')}, the answer contains <a href="/docs/rest#call">receipt, tier, settlement and allowance</a>.`,
          ),
      shown ?? '',
      example === undefined ? '' : json('answer', 'result, for the request above', example),
    ]
  })
  return parts.length === 0 ? [] : [{ id: 'answer', title: 'Answer', body: html`${parts}` }]
}

function problemsChapter({ responses }: Operation): Chapter {
  const rows = responses
    .filter(([status]) => !status.startsWith('2') || status === '202')
    .map(([status, response]) => {
      const codes = [...text(response['description']).matchAll(/^([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name)
      return [
        status,
        codes.length === 0
          ? text(response['description'])
          : html`${codes.map((name) => html`<a href="/problems/${name}"><code>${name}</code></a> `)}`,
      ]
    })
  const body = rows.length === 0 ? items('No problems specific to this operation.') : table('By status', ['status', 'codes'], rows)
  return {
    id: 'problems',
    title: 'Problems',
    body: html`${paragraphs(html`<a href="/docs/errors">Errors</a> says what each means and when to try again.`)} ${body}`,
  }
}
