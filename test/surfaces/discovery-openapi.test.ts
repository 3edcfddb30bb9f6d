import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { ENDPOINT_GROUPS } from '../../src/surfaces/endpoint-groups.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asList, asMembers, at, readJson } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'

let app: TestApp
let document: Record<string, unknown>
before(async () => {
  app = await startTestApp()
  document = await readJson(`${app.url}/openapi.json`)
})
after(() => app.stop())

interface Operation {
  path: string
  method: string
  operation: Record<string, unknown>
}

function operations(): Operation[] {
  return Object.entries(asMembers(document['paths'])).flatMap(([path, item]) =>
    Object.entries(asMembers(item)).map(([method, operation]) => ({ path, method, operation: asMembers(operation) })),
  )
}

/** What a local reference points to; the value itself when it is none. */
function resolved(value: unknown): Record<string, unknown> {
  const members = asMembers(value)
  const reference = members['$ref']
  if (typeof reference !== 'string') return members
  assert.match(reference, /^#\/components\/[a-z]+\/[A-Za-z0-9._-]+$/, 'a reference leaves the components')
  return asMembers(at(document, ...reference.slice(2).split('/')))
}

/** Every member of that name, wherever it stands outside of examples. */
function everywhere(name: string, value: unknown = document): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'example' || key === 'examples' || key === 'enum') return []
    return key === name ? [inner] : everywhere(name, inner)
  })
}

const COMPONENTS = 'https://assay.invalid/components'
const ajv = newAjv()

/** A schema as ajv finds its references: it has no notion of the document around them. */
function rehomed(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', `${COMPONENTS}#/$defs/`)) as object
}

/** Compiles a schema of the document, whose components it may refer to. */
function compiled(schema: unknown): ValidateFunction {
  if (ajv.getSchema(COMPONENTS) === undefined) ajv.addSchema({ $id: COMPONENTS, $defs: rehomed(at(document, 'components', 'schemas')) })
  const text = JSON.stringify(schema)
  const known = validators.get(text)
  if (known !== undefined) return known
  const validate = ajv.compile(rehomed(schema))
  validators.set(text, validate)
  return validate
}

/** The same schema stands in many places. */
const validators = new Map<string, ValidateFunction>()

function schemaOf(answer: unknown, type: string): unknown {
  return at(resolved(answer), 'content', type, 'schema')
}

function assertFits(validate: ValidateFunction, value: unknown, words: string): void {
  assert.ok(validate(value), `${words}: ${JSON.stringify(validate.errors)}`)
}

test('it is OpenAPI 3.1.0 in the dialect of JSON Schema 2020-12, and says SANDBOX', () => {
  assert.equal(document['openapi'], '3.1.0')
  assert.equal(document['jsonSchemaDialect'], 'https://json-schema.org/draft/2020-12/schema')
  assert.deepEqual(document['servers'], [{ url: app.url, description: asList(document['servers'])[0]?.['description'] }])
  assert.match(String(at(document, 'info', 'title')), /SANDBOX/)
  assert.match(String(at(document, 'info', 'description')), /^SANDBOX: /)
})

test('every reference resolves and every schema compiles', async () => {
  const references = everywhere('$ref')
  assert.ok(references.length > 50)
  for (const $ref of references) resolved({ $ref })
  const schemas = [...everywhere('schema'), ...Object.values(asMembers(at(document, 'components', 'schemas')))]
  assert.ok(schemas.length > 50)
  for (const schema of schemas) {
    compiled(schema)
    // The service lives in this process, and its connections must not look dead.
    await new Promise((resolve) => setImmediate(resolve))
  }
})

test('operations have a name of their own, a summary, known tags, and all parameters of their path', () => {
  const all = operations()
  assert.equal(new Set(all.map(({ operation }) => operation['operationId'])).size, all.length)
  const tags = asList(document['tags']).map(({ name }) => name)
  for (const { path, operation } of all) {
    assert.ok(typeof operation['summary'] === 'string' && operation['summary'] !== '', path)
    for (const tag of operation['tags'] as unknown[]) assert.ok(tags.includes(tag), `${path} has the unknown tag ${String(tag)}`)
    const declared = ((operation['parameters'] ?? []) as unknown[]).map(resolved).filter((one) => one['in'] === 'path')
    assert.deepEqual(
      declared.map(({ name }) => name),
      [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name),
      path,
    )
  }
})

test('there is one path a tool, under its own id', async () => {
  const tools = asList(at(await readJson(`${app.url}/v1/tools`), 'tools'))
  const calls = operations().filter(({ path }) => path.endsWith('/call'))
  assert.deepEqual(
    calls.map(({ path, operation }) => [path, operation['operationId'], operation['x-tool-version']]),
    tools.map(({ id, version }) => [`/v1/tools/${String(id)}/call`, id, version]),
  )
})

function timeless(answer: Record<string, unknown>): Record<string, unknown> {
  const { evaluated_at: _, ...result } = answer
  return result
}

test('examples run: the answers are the ones shown, and fit their schema to the last member', async () => {
  for (const { path, operation } of operations().filter((one) => one.path.endsWith('/call'))) {
    const body = asMembers(operation['requestBody'])
    const request = asMembers(at(body, 'content', 'application/json', 'example'))
    assertFits(compiled(schemaOf(body, 'application/json')), request, path)
    const headers = { 'x-client-request-id': 'mine' }
    const answer = await restCall(app.url, String(operation['operationId']), request['input'], headers)
    assert.equal(answer.status, 200, path)
    const schema = schemaOf(at(operation, 'responses', '200'), 'application/json')
    const shown = asMembers(at(schema, 'properties', 'result'))['examples']
    // What a tool would find outside is not shown before it is asked, and what depends on the time was true when it was shown.
    if (shown !== undefined) assert.deepEqual(asList(shown).map(timeless), [timeless(asMembers(answer.body['result']))], path)
    assertFits(compiled({ ...asMembers(schema), unevaluatedProperties: false }), answer.body, path)
    const named = Object.keys(asMembers(at(operation, 'responses', '200', 'headers'))).filter((name) => !name.endsWith('PAYMENT-RESPONSE'))
    for (const name of named) assert.ok(answer.headers.has(name), `${path} ${name}`)
  }
})

test('an answer with a link to an earlier receipt fits too', async () => {
  const headers = { 'x-prev-receipt-hash': `0x${'ab'.repeat(32)}` }
  const answer = await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' }, headers)
  const schema = schemaOf(at(document, 'paths', '/v1/tools/iban-check/call', 'post', 'responses', '200'), 'application/json')
  assert.ok(Object.hasOwn(answer.body, 'chain'))
  assertFits(compiled({ ...asMembers(schema), unevaluatedProperties: false }), answer.body, 'with a link')
})

test('refused calls answer with a status and a body that the document has', async () => {
  const responses = asMembers(at(document, 'paths', '/v1/tools/iban-check/call', 'post', 'responses'))
  const refused = [
    await restCall(app.url, 'iban-check', {}),
    await restCall(app.url, 'iban-check', { iban: 'x', other: 1 }),
    await restCall(app.url, 'iban-check', { iban: 'x' }, { 'x-prev-receipt-hash': '0x12' }),
    await restCall(app.url, 'iban-check', { iban: 'x' }, { 'x-payment': 'e30=' }),
  ]
  assert.deepEqual(
    refused.map(({ status }) => status),
    [400, 400, 400, 402],
  )
  for (const { status, body } of refused) {
    const schema = schemaOf(responses[String(status)], 'application/problem+json')
    assertFits(compiled({ ...resolved(schema), unevaluatedProperties: false }), body, String(status))
  }
})

/** Parts of paths: those of a tool, of a payment that nobody has made, the specimen of an invoice, and what no log has yet. */
const PARTS: Record<string, string> = {
  '{kind}': 'pol-1-entry',
  '{tool}': 'iban-check',
  '{payer}': `0x${'ab'.repeat(20)}`,
  '{nonce}': `0x${'cd'.repeat(32)}`,
  '{id}': 'inv_000000000000',
  '{path}': '0/x999/999',
  '{entry}': 'ef'.repeat(32),
  '{size}': '0',
  '{sha256}': 'ab'.repeat(32),
  '{policy}': `pol_${'0'.repeat(32)}`,
}

/** A stream of events goes on for minutes: its first piece is enough. */
async function textOf(response: Response, type: string): Promise<string> {
  if (type !== 'text/event-stream') return response.text()
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return Buffer.from(value ?? []).toString()
}

/** What only somebody's signature or code opens is shown refused, and so is what is not there. */
const REFUSED: Record<string, number> = {
  'post /api/insurance/register': 400,
  'post /api/insurance/countersign': 400,
  'get /api/insurance/policies/{policy}': 404,
  'get /api/credits/balance': 403,
  // No cards are taken here.
  'post /api/credits/checkout': 503,
  'post /api/credits/code': 400,
  // The specimen is void.
  'get /api/invoice/{id}/pay': 409,
  'post /api/invoice/{id}/pay': 409,
  'get /api/invoice/{id}/qr.svg': 404,
  'post /api/invoice/list': 400,
  'post /api/invoice/statement': 400,
  'post /api/invoice/{id}/sign': 403,
  'post /api/invoice/{id}/void': 403,
  'post /api/invoice/{id}/credit': 404,
  'get /v1/channels/refund': 402,
  'get /v1/datasets/{sha256}': 404,
  'post /v1/webhooks': 400,
  'get /v1/webhooks/{id}': 404,
  'post /v1/webhooks/{id}/verify': 404,
  'get /v1/webhooks/{id}/deliveries': 404,
  'post /v1/webhooks/{id}/redeliver': 400,
  'post /v1/webhooks/{id}/delete': 404,
  'get /log/tile/{path}': 404,
  'get /log/proof/{entry}': 404,
  'post /log/entries': 422,
  'post /log/add-checkpoint': 400,
}

test('every other address answers as it is described', async () => {
  for (const { path, method, operation } of operations().filter((one) => !/\/call$|^\/v1\/answers/.test(one.path))) {
    const refused = REFUSED[`${method} ${path}`]
    const example =
      method !== 'post' ? undefined : refused === undefined ? at(operation, 'requestBody', 'content', 'application/json', 'example') : {}
    const address = `${app.url}${path.replace(/\{\w+\}/g, (part) => PARTS[part] ?? part)}`
    const response = await fetch(address, { method, ...(example === undefined ? {} : { body: JSON.stringify(example) }) })
    // What makes something new says so.
    assert.equal(response.status, refused ?? (path.endsWith('/create') ? 201 : 200), path)
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    const schema = schemaOf(at(operation, 'responses', String(response.status)), type)
    assertFits(compiled(schema), type.endsWith('json') ? await response.json() : await textOf(response, type), path)
  }
})

test('what describes the running service is described to the last member', async () => {
  for (const path of ['/health', '/status', '/status/history.json']) {
    const schema = schemaOf(at(document, 'paths', path, 'get', 'responses', '200'), 'application/json')
    const body = await readJson(`${app.url}${path}`)
    assert.deepEqual(Object.keys(asMembers(resolved(schema)['properties'])).toSorted(), Object.keys(body).toSorted(), path)
  }
})

/** Served without an endpoint: calls of tools, and the alias of one. */
const WITHOUT_ENDPOINT = ['post /v1/tools/:tool/call', 'post /v1/receipt/verify']

test('every address of the interface is an endpoint, and every endpoint is in the document', () => {
  const folder = new URL('../../src/surfaces/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const direct = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/\.(get|post)\(\s*'(\/(?:api|v1|log|health|status|metrics)\b[^']*)'/g)].map(
      ([, method = '', path = '']) => `${method} ${path}`,
    ),
  )
  assert.deepEqual(direct, WITHOUT_ENDPOINT)
  const described = new Set(operations().map(({ path, method }) => `${method} ${path}`))
  const endpoints = ENDPOINT_GROUPS.flatMap((room) => room.endpoints)
  assert.ok(endpoints.length > 40)
  for (const { method, path, unlisted } of endpoints) {
    if (unlisted !== true) assert.ok(described.has(`${method} ${path}`), path)
  }
})

test('an invoice that is not there, and a key that stands for another one, are answered as the document has it', async () => {
  const lost = await restCall(app.url, 'get-b2b-invoice', { invoice_id: 'inv_zzzzzzzzzzzz' })
  const make = (amountUsdc: number) =>
    fetch(`${app.url}/api/invoice/create`, {
      method: 'POST',
      headers: { 'idempotency-key': 'once' },
      body: JSON.stringify({ amountUsdc, merchant: `0x${'12'.repeat(20)}` }),
    })
  const made = [await make(1), await make(1), await make(2)]
  assert.deepEqual([lost.status, ...made.map(({ status }) => status)], [404, 201, 200, 409])
  const fits = (path: string, status: number, body: unknown) => {
    const responses = asMembers(at(document, 'paths', path, 'post', 'responses'))
    assertFits(compiled(schemaOf(responses[String(status)], 'application/problem+json')), body, path)
  }
  fits('/v1/tools/get-b2b-invoice/call', 404, lost.body)
  fits('/api/invoice/create', 409, await made[2]?.json())
  const parameters = at(document, 'paths', '/api/invoice/create', 'post', 'parameters')
  assert.deepEqual(
    asList(parameters).map((one) => [one['name'], one['in']]),
    [['Idempotency-Key', 'header']],
  )
  const looking = operations().filter(({ path, operation }) => path.endsWith('/call') && '404' in asMembers(operation['responses']))
  assert.deepEqual(
    looking.map(({ path }) => path),
    ['/v1/tools/get-b2b-invoice/call'],
  )
})

test('a compressed body is refused as the document has it', async () => {
  for (const { path, operation } of operations().filter(({ method }) => method === 'post')) {
    const address = `${app.url}${path.replace(/\{\w+\}/g, (part) => PARTS[part] ?? part)}`
    const { status } = await fetch(address, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: '{"a":1}' })
    assert.ok(status === 415 || status === 503, `${path}: ${status}`)
    assert.ok(String(status) in asMembers(operation['responses']), `${path}: ${status}`)
  }
})
