import type { Hono } from 'hono'
import type { ComponentProps } from 'preact'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import { TEST_VECTOR } from '../../pure/receipts/receipt.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { runExamples } from '../discovery/documents.ts'
import { sendDocument, type StoredDocument } from '../http/document.ts'
import type { Env } from '../http/reply.ts'
import { openApiDocument } from '../openapi.ts'
import { TryRequest } from './components/try-request.ts'
import { code, curl, inline, items, json, paragraphs, sample, shownTool, table, type Chapter } from './docs/parts.ts'
import { GROUPS, REFERENCE } from './docs/guides.ts'
import { html, Island } from './html.ts'
import { HTML_TYPE, layout, PAGE_HEADERS, type Markup } from './layout.ts'
import { storedPage } from './priced.ts'

const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }

/** `/docs`, `/docs/{topic}` and `/docs/reference/{operation}`: each made once, when it is first asked for. */
export function docsRoutes(app: Hono<Env>, deps: AppDeps): void {
  const kept = keeper<StoredDocument>()
  const known = keeper<Reference>()
  const reference = () => known('', () => referenceOf(deps))
  const page = (id: string, make: () => Promise<string>) => kept(id, async () => storedPage(await make()))
  for (const topic of GROUPS.flatMap(({ topics }) => topics)) {
    const make = () => Promise.resolve(docsPage(deps, topic, topic.chapters(deps)))
    app.get(topic.path, async (context) => sendDocument(context, await page(topic.id, make)))
  }
  app.get('/docs/reference', async (context) => {
    const chosen = context.req.query('operation')
    if (chosen !== undefined && (await reference()).operations.has(chosen)) return context.redirect(`/docs/reference/${chosen}#try`, 303)
    return sendDocument(context, await page(REFERENCE.id, async () => docsPage(deps, REFERENCE, referenceChapters(await reference()))))
  })
  app.get('/docs/reference/:operation', async (context) => {
    const id = context.req.param('operation')
    const found = await reference()
    const operation = found.operations.get(id)
    if (operation === undefined) return context.body(unknownPage(deps), 404, { ...HEADERS, 'content-type': HTML_TYPE })
    const topic = { id: `reference/${id}`, title: id, words: '' }
    return sendDocument(
      context,
      await page(topic.id, () => Promise.resolve(docsPage(deps, topic, operationChapters(deps, found, operation)))),
    )
  })
  app.get('/docs/:topic', (context) => context.body(unknownPage(deps), 404, { ...HEADERS, 'content-type': HTML_TYPE }))
}

/** Cache of promises by name. A rejected promise is removed, so that the next request retries. */
function keeper<Value>(): (name: string, make: () => Promise<Value>) => Promise<Value> {
  const made = new Map<string, Promise<Value>>()
  return (name, make) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const fresh = make()
    made.set(name, fresh)
    fresh.catch(() => made.delete(name))
    return fresh
  }
}

async function referenceOf(deps: AppDeps): Promise<Reference> {
  const { tools } = deps.call.catalogue
  const examples = await runExamples(tools, deps.call.sources)
  return readReference(openApiDocument({ deployment: deps, tools, schemas: deps.schemas, examples }))
}

type Named = Omit<typeof REFERENCE, 'path'>

function docsPage(deps: AppDeps, topic: Named, chapters: readonly Chapter[]): string {
  const inside = topic.id.startsWith('reference/')
  const main = html`<div class="docs">
    ${contents(topic)}
    <article class="doc-page">
      <div class="lead">
        ${crumb(topic, inside)}
        <h1>${inside ? html`<code>${topic.title}</code>` : topic.title}</h1>
        ${topic.words === '' ? '' : html`<p>${topic.words}</p>`}
      </div>
      ${chapters.length > 2 ? pageContents(chapters) : ''}
      ${chapters.map(
        ({ id, title, body }) =>
          html`<section id="${id}" aria-labelledby="${id}-title">
            <h2 id="${id}-title"><a class="anchor" href="#${id}">${title}</a></h2>
            ${body}
          </section>`,
      )}
    </article>
  </div>`
  const page = { title: `${topic.title} · assay docs`, mark: modeMark(deps), main, styles: ['styles/docs.css'] }
  return layout(inside ? { ...page, script: 'docs' } : page)
}

function crumb({ id }: Named, inside: boolean): Markup | string {
  if (id === '') return ''
  return html`<p class="crumb"><a href="/docs">Docs</a>${inside ? html` · <a href="/docs/reference">API reference</a>` : ''}</p>`
}

/** The rail of topics; a narrow screen has them folded above the text instead. */
function contents(topic: Named): Markup {
  return html`<nav class="rail" aria-label="Documentation">${topicLists(topic)}</nav>
    <details class="folded">
      <summary>Contents</summary>
      <nav aria-label="Documentation, folded">${topicLists(topic)}</nav>
    </details>`
}

function topicLists(topic: Named): Markup {
  const link = ({ id, path, title }: Pick<typeof REFERENCE, 'id' | 'path' | 'title'>) => {
    const above = id === REFERENCE.id && topic.id.startsWith('reference/')
    return html`<li>
      <a href="${path}" aria-current=${id === topic.id ? 'page' : above ? 'true' : undefined}>${title}</a>
    </li>`
  }
  return html`${[...GROUPS, { title: 'Look up', topics: [REFERENCE] }].map(
    (group) =>
      html`<p class="rail-title">${group.title}</p>
        <ul>
          ${group.topics.map(link)}
        </ul>`,
  )}`
}

function pageContents(chapters: readonly Chapter[]): Markup {
  return html`<nav class="on-page" aria-label="On this page">
    <ul>
      ${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`
}

function unknownPage(deps: AppDeps): string {
  const main = html`<div class="lead">
    <h1>No such page</h1>
    <p>
      The <a href="/docs">documentation</a> has its contents on the left; the <a href="/docs/reference">API reference</a> has every
      operation.
    </p>
  </div>`
  return layout({ title: 'No such page · assay docs', mark: modeMark(deps), main })
}

type Json = Readonly<Record<string, unknown>>

/** One operation of the OpenAPI document, as much as is shown. */
interface Operation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  tag: string
  price: { floor: string; cap: string } | null
  parameters: Json[]
  body: { schema: Json; example: unknown; media_type: string } | null
  responses: [status: string, response: Json][]
}

/** The document, taken apart. */
interface Reference {
  operations: ReadonlyMap<string, Operation>
  tags: { name: string; title: string }[]
  resolve: Resolve
}

function readReference(document: Json): Reference {
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
function jsonContent(holder: Json): Operation['body'] {
  const { content } = holder
  const [[media_type, first] = ['', null]] = isSchema(content) ? Object.entries(content) : []
  if (!isSchema(first) || !isSchema(first['schema'])) return null
  return { schema: first['schema'], example: first['example'], media_type }
}

/** A form that leads to an operation, then every operation by its group. */
function referenceChapters({ operations, tags }: Reference): Chapter[] {
  const groups = tags.map(({ name, title }) => ({ name, title, members: [...operations.values()].filter(({ tag }) => tag === name) }))
  const used = groups.filter(({ members }) => members.length > 0)
  const chooser = html`<form class="request" action="/docs/reference" method="get">
    <div class="field">
      <label for="operation">Operation</label>
      <select id="operation" name="operation">
        ${used.map(
          ({ title, members }) =>
            html`<optgroup label=${title}>
              ${members.map(({ id, summary }) => html`<option value=${id}>${id}: ${summary}</option>`)}
            </optgroup>`,
        )}
      </select>
    </div>
    <p class="send"><button type="submit">Try it</button></p>
  </form>`
  const chapters = used.map(({ name, title, members }) => ({
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
  return [{ id: 'try', title: 'Try an operation', body: chooser }, ...chapters]
}

/** One operation: parameters, request, answer, problems. */
function operationChapters(deps: AppDeps, { resolve }: Reference, operation: Operation): Chapter[] {
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
  ${tool === undefined ? '' : paragraphs(html`<a href="/tools/${tool.id}">The page of the tool</a> has a form for each field.`)}
  ${request === null ? '' : sample('request', 'shell', 'It runs unchanged', request)}`
  const bodyTable = body === null ? null : bodyMarkup(body.schema, resolve)
  return [
    { id: 'about', title: operation.summary, body: about },
    { id: 'try', title: 'Try it', body: tryIt(deps, operation) },
    ...(parameters.length === 0 ? [] : [{ id: 'parameters', title: 'Parameters', body: parameterTable(parameters) }]),
    ...(bodyTable === null ? [] : [{ id: 'request', title: 'Request', body: bodyTable }]),
    ...answerChapter(operation, resolve),
    problemsChapter(operation),
  ]
}

/** Form that sends the operation, filled with the example of the document. */
function tryIt(deps: AppDeps, operation: Operation): Markup {
  const { id, method, path, parameters, body, price } = operation
  const values = knownValues(deps, path)
  const places = ['path', 'query', 'header'] as const
  const props: ComponentProps<typeof TryRequest> = {
    method,
    path,
    parameters: places.flatMap((where) =>
      parameters
        .filter((one) => one['in'] === where)
        .map((one) => ({ name: text(one['name']), where, required: one['required'] === true, value: values[text(one['name'])] ?? '' })),
    ),
    body: body && { media_type: body.media_type, example: body.example === undefined ? '' : JSON.stringify(body.example, null, 2) },
    tool: deps.call.catalogue.tools.some((tool) => tool.id === id) ? { id, paid: price !== null } : null,
  }
  const words = deps.mode === 'sandbox' ? 'a sandbox, whose payments are worthless' : 'the live service'
  return html`${paragraphs(`The form sends a real request to this service: ${words}.`)}
    <${Island} id="try-request" component=${TryRequest} props=${props} />`
}

/** Values of parts of an address that all deployments know. */
function knownValues(deps: AppDeps, path: string): Record<string, string> {
  return {
    tool: shownTool(deps).id,
    payer: TEST_VECTOR.receipt.payer,
    nonce: TEST_VECTOR.receipt.nonce,
    token: '0'.repeat(64),
    ...(path.startsWith('/api/invoice/') ? { id: 'inv_000000000000' } : {}),
  }
}

/** A request with the example of the document; null where a part of its address has no value that all deployments know. */
function requestSample(deps: AppDeps, { method, path, body }: Operation): string | null {
  const known = knownValues(deps, path)
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
          : html`<span class="codes">${codes.map((name) => html`<a href="/problems/${name}"><code>${name}</code></a> `)}</span>`,
      ]
    })
  const body = rows.length === 0 ? items('No problems specific to this operation.') : table('By status', ['status', 'codes'], rows)
  return {
    id: 'problems',
    title: 'Problems',
    body: html`${paragraphs(html`<a href="/docs/errors">Errors</a> says what each means and when to try again.`)} ${body}`,
  }
}

/** Finds what a `$ref` points at; null when nothing is there. */
type Resolve = (ref: string) => Json | null

/** Members deeper than this are left to the document itself. */
const DEPTH = 4
const ROWS = 250

interface SchemaRow {
  path: string
  type: string
  required: boolean
  words: string
}

/** The members of an object schema as a table; null when it has none. */
function schemaTable(caption: string, schema: Json, resolve: Resolve): Markup | null {
  const rows = membersOf(schema, '', DEPTH, resolve).slice(0, ROWS)
  if (rows.length === 0) return null
  return table(
    caption,
    ['member', 'type', 'there', 'meaning'],
    rows.map(({ path, type, required, words }) => [
      code(path),
      html`<span class="type">${type}</span>`,
      required ? 'always' : 'may be absent',
      inline(words),
    ]),
  )
}

function membersOf(schema: Json, above: string, depth: number, resolve: Resolve): SchemaRow[] {
  const { properties, required } = flat(schema, resolve)
  return Object.entries(properties).flatMap(([name, member]): SchemaRow[] => {
    const path = above === '' ? name : `${above}.${name}`
    const own = target(member, resolve)
    const row = { path, type: typeText(own, resolve), required: required.has(name), words: wordsOf(member, own) }
    return [row, ...(depth <= 1 ? [] : below(own, path, depth - 1, resolve))]
  })
}

/** Members of what a member holds: of an object, of the items of a list, of each form that it may have. */
function below(schema: Json, path: string, depth: number, resolve: Resolve): SchemaRow[] {
  const forms = formsOf(schema)
  if (forms.length > 0) return forms.flatMap((form) => below(target(form, resolve), path, depth, resolve))
  if (isSchema(schema['items'])) return below(target(schema['items'], resolve), `${path}[]`, depth, resolve)
  return membersOf(schema, path, depth, resolve)
}

/** The members that an object has by itself and by all that it must also be. */
function flat(schema: Json, resolve: Resolve): { properties: Record<string, Json>; required: Set<string> } {
  const parts = [...(Array.isArray(schema['allOf']) ? schema['allOf'].filter(isSchema).map((part) => target(part, resolve)) : []), schema]
  const properties = Object.assign({}, ...parts.map((part) => (isSchema(part['properties']) ? part['properties'] : {}))) as Record<
    string,
    Json
  >
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'].map(String) : []))
  return { properties, required: new Set(required) }
}

function target(schema: Json, resolve: Resolve): Json {
  const ref = schema['$ref']
  return typeof ref === 'string' ? (resolve(ref) ?? {}) : schema
}

function formsOf(schema: Json): Json[] {
  const forms = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(forms) ? forms.filter(isSchema) : []
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const CHOICES = 24

/** Type and bounds in words. */
function typeText(schema: Json, resolve: Resolve): string {
  const forms = formsOf(schema)
  if (forms.length > 0) return [...new Set(forms.map((form) => typeText(target(form, resolve), resolve)))].join(', or ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  const choices = schema['enum']
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, CHOICES).map((choice) => JSON.stringify(choice))
    return `one of ${shown.join(', ')}${choices.length > CHOICES ? ` and ${choices.length - CHOICES} more` : ''}`
  }
  const { type } = schema
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
  const item_type = isSchema(schema['items']) ? ` of ${typeText(target(schema['items'], resolve), resolve)}` : ''
  return [`${name}${item_type}`, ...boundsOf(schema)].join(', ')
}

const BOUNDS = [
  ['minLength', (bound: string) => `at least ${bound} characters`],
  ['maxLength', (bound: string) => `at most ${bound} characters`],
  ['minimum', (bound: string) => `at least ${bound}`],
  ['maximum', (bound: string) => `at most ${bound}`],
  ['minItems', (bound: string) => `at least ${bound}`],
  ['maxItems', (bound: string) => `at most ${bound}`],
] as const

const PATTERN_CHARS = 80

function boundsOf(schema: Json): string[] {
  const bounds = BOUNDS.flatMap(([name, words]) => (typeof schema[name] === 'number' ? [words(String(schema[name]))] : []))
  const { pattern } = schema
  return typeof pattern === 'string' && pattern.length <= PATTERN_CHARS ? [...bounds, `matching ${pattern}`] : bounds
}

/** Returns the description next to a reference if there is one, else the description of the schema that it refers to. */
function wordsOf(member: Json, own: Json): string {
  const words = member['description'] ?? own['description']
  return typeof words === 'string' ? words : ''
}
