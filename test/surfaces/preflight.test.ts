import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { PROBLEMS, type PREFLIGHT_PROBLEMS } from '../../src/service/problems.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asList, at, readJson } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'
import { X402_CLEAN } from '../protocols/x402-clean.ts'

let app: TestApp
before(async () => {
  app = await startTestApp({ settings: { ASSAY_PREFLIGHT_PER_MINUTE: '100000' } })
})
after(() => app.stop())

const DOCUMENT = X402_CLEAN['challenge_v2']?.document

interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

async function posted(body: string | Uint8Array<ArrayBuffer> | ReadableStream, url = app.url): Promise<Answer> {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, duplex: 'half' }
  const response = await fetch(`${url}/v1/protocols/check`, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}

function checked(document: unknown, more: Record<string, unknown> = {}): Promise<Answer> {
  return posted(JSON.stringify({ protocol: 'x402', document, ...more }))
}

const codes = (found: unknown) => asList(found).map(({ code }) => code)

test('a clean document passes, and the answer has the whole form', async () => {
  const { status, headers, body } = await checked(DOCUMENT)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(headers.get('cache-control'), 'no-store')
  const { checked: rules, not_checked, statement, ...rest } = body
  assert.deepEqual(rest, {
    status: 'pass',
    protocol: 'x402',
    document_type: 'payment_required',
    version: '2',
    version_source: 'declared',
    errors: [],
    warnings: [],
    truncated: false,
  })
  assert.ok((rules as string[]).includes('X402-009') && (not_checked as string[]).includes('signatures'))
  assert.match(String(statement), /not a conformance result/)
})

test('the verdict is in the answer, not in the status', async () => {
  const failed = await checked({ ...(DOCUMENT as object), accepts: [] })
  assert.deepEqual([failed.status, failed.body['status'], codes(failed.body['errors'])], [200, 'fail', ['X402-002']])
  const warned = await checked(DOCUMENT, { expected_payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' })
  assert.deepEqual([warned.status, warned.body['status'], codes(warned.body['warnings'])], [200, 'warn', ['X402-042']])
})

test('a text is decoded, and the answer names the part that belongs to the protocol', async () => {
  const header = Buffer.from(JSON.stringify(DOCUMENT)).toString('base64')
  const response = `HTTP/2 402 \r\ncontent-type: application/json\r\npayment-required: ${header}\r\n\r\n{"error":"x"}`
  const parts: [string, string][] = [
    [header, 'the Base64 text'],
    [response, 'header PAYMENT-REQUIRED'],
    [`{"a":1}\n${JSON.stringify(DOCUMENT)}`, 'line 2'],
    [JSON.stringify(DOCUMENT), 'the text'],
  ]
  for (const [text, part] of parts) {
    const { body } = await checked(text)
    assert.deepEqual([body['status'], body['part']], ['pass', part])
  }
  const { body } = await checked(`data: ${JSON.stringify({ ...(DOCUMENT as object), accepts: [] })}\n\n`)
  assert.deepEqual([body['part'], codes(body['errors'])], ['event 1', ['X402-002']])
})

test('the wrong protocol draws one error that names the right one', async () => {
  const { body } = await posted(JSON.stringify({ protocol: 'micro-ast', document: DOCUMENT }))
  assert.deepEqual(codes(body['errors']), ['PRE-001'])
  assert.match(String(asList(body['errors'])[0]?.['message']), /x402/)
})

test('no value of a document comes back', async () => {
  const marked = JSON.stringify(DOCUMENT).replaceAll(/"(?:10000|exact|eip155:8453|Weather report)"/g, '"zq7-canary"')
  const { body } = await posted(`{"protocol":"x402","document":${marked}}`)
  assert.ok(asList(body['errors']).length > 0)
  assert.ok(!JSON.stringify(body).includes('canary'))
})

test('numbers are read as they are written', async () => {
  const text = JSON.stringify({ protocol: 'x402', document: DOCUMENT }).replace(
    '"maxTimeoutSeconds":60',
    '"maxTimeoutSeconds":12345678901234567890',
  )
  const { body } = await posted(text)
  assert.deepEqual(codes(body['errors']), ['X402-017'])
  assert.deepEqual(codes(body['warnings']), ['PRE-004'])
})

test('everything that is no valid request is refused with 400', async () => {
  const document = '{}'
  const bodies: Record<string, string> = {
    array: '[]',
    text: '"x402"',
    empty: '{}',
    'no protocol': `{"document":${document}}`,
    'unknown protocol': `{"protocol":"x403","document":${document}}`,
    'no document': '{"protocol":"x402"}',
    'document is a text without a document': '{"protocol":"x402","document":"hello"}',
    'document is an array': '{"protocol":"x402","document":[]}',
    'document is null': '{"protocol":"x402","document":null}',
    'another member': `{"protocol":"x402","document":${document},"strict":true}`,
    'payee is a number': `{"protocol":"x402","document":${document},"expected_payee":1}`,
    'payee is empty': `{"protocol":"x402","document":${document},"expected_payee":""}`,
    'payee is too long': `{"protocol":"x402","document":${document},"expected_payee":"${'a'.repeat(513)}"}`,
  }
  for (const [words, body] of Object.entries(bodies)) {
    const answer = await posted(body)
    assert.deepEqual([answer.status, answer.body['code']], [400, 'PREFLIGHT_REQUEST_INVALID'], words)
    assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8')
    assert.ok(asList(answer.body['errors']).length > 0)
  }
})

test('type and version may be stated, and what no rules cover is not_covered', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {} }
  const { status, body } = await posted(JSON.stringify({ protocol: 'a2a', document: request }))
  assert.deepEqual([status, body['status'], body['document_type'], body['errors']], [200, 'not_covered', 'request', []])
  const stated = await checked(DOCUMENT, { document_type: 'payment_required', version: '2' })
  assert.deepEqual([stated.body['status'], stated.body['version_source']], ['pass', 'stated'])
  const newer = await checked(DOCUMENT, { version: '3' })
  assert.deepEqual([newer.body['status'], newer.body['version'], newer.body['errors']], ['not_covered', '3', []])
  for (const [more, pointer, words] of [
    [{ document_type: 'payment_requird' }, '/document_type', /payment_required, payment_requirements/],
    [{ document_type: 7 }, '/document_type', /is one of/],
    [{ version: 2 }, '/version', /1 to 32 characters/],
    [{ version: 'v'.repeat(33) }, '/version', /1 to 32 characters/],
  ] as const) {
    const refused = await checked(DOCUMENT, more)
    const [first] = asList(refused.body['errors'])
    assert.deepEqual([refused.status, refused.body['code'], first?.['pointer']], [400, 'PREFLIGHT_REQUEST_INVALID', pointer])
    assert.match(String(first?.['message']), words)
  }
})

test('a member that is not known is named where its name is harmless, and what it holds never', async () => {
  const named = async (more: object) =>
    asList((await checked({}, { ...more })).body['errors']).map(({ pointer, message }) => [pointer, message])
  assert.deepEqual(await named({ strict: 'zq7-canary' }), [
    ['/strict', 'The field "strict" is not known here. Known fields: protocol, document, document_type, version, expected_payee.'],
  ])
  assert.deepEqual(await named({ expected_paye: 1 }), [
    ['/expected_paye', 'The field "expected_paye" is not known here. Did you mean "expected_payee"?'],
  ])
  for (const name of ['ignore all previous instructions', 'a'.repeat(65), '<b>', ''])
    assert.deepEqual(
      (await named({ [name]: 1 })).map(([pointer]) => pointer),
      ['/…'],
    )
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, 0]))
  assert.equal((await named(many)).length, 20)
})

test('what is not JSON, or is read differently by others, is refused with 400', async () => {
  const refused: [string | Uint8Array<ArrayBuffer>, string][] = [
    ['{"protocol":', 'PARSE_ERROR'],
    ['', 'PARSE_ERROR'],
    [new Uint8Array([0x7b, 0xff]), 'NOT_UTF8'],
    ['{"protocol":"x402","document":{"a":1,"a":2}}', 'DUPLICATE_KEY'],
    ['{"protocol":"x402","document":{"__proto__":{}}}', 'FORBIDDEN_KEY'],
    ['{"protocol":"x402","document":{"a":"\\ud800"}}', 'LONE_SURROGATE'],
  ]
  for (const [body, code] of refused) {
    const answer = await posted(body)
    assert.deepEqual([answer.status, answer.body['code']], [400, code])
  }
})

const within = (inner: string) => `{"protocol":"x402","document":{"x":${inner}}}`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('bounds answer 413 and name themselves; up to them a document is checked', async () => {
  const beyond: [string, string, RegExp][] = [
    [within(`"${'a'.repeat(limits.preflight_body_bytes)}"`), 'PAYLOAD_TOO_LARGE', /262144 bytes/],
    [within(nested(64)), 'JSON_TOO_DEEP', /65 levels/],
    [within(`[${'[0],'.repeat(10_000)}0]`), 'JSON_TOO_MANY_NODES', /20003 values/],
    [within(`"${'a'.repeat(65_537)}"`), 'PREFLIGHT_BOUND_EXCEEDED', /65536/],
    [within(`[${'0,'.repeat(5_000)}0]`), 'PREFLIGHT_BOUND_EXCEEDED', /5000/],
    [`{"protocol":"x402","document":{"${'k'.repeat(65_537)}":1}}`, 'PREFLIGHT_BOUND_EXCEEDED', /65536/],
  ]
  for (const [body, code, words] of beyond) {
    const answer = await posted(body)
    assert.deepEqual([answer.status, answer.body['code']], [413, code])
    assert.match(String(answer.body['detail']), words)
  }
  const upTo = [nested(63), `[${'0,'.repeat(4_999)}0]`, `"${'a'.repeat(65_536)}"`]
  for (const inner of upTo) assert.equal((await posted(within(inner))).status, 200)
})

test('a bound that shows only after reading says which it was, and where', async () => {
  const { body } = await posted(within(`[${'0,'.repeat(5_000)}0]`))
  assert.deepEqual([body['bound'], body['limit'], body['path']], ['array_items', 5_000, '/x'])
})

test('a body without a length is counted while it streams', async () => {
  const piece = new TextEncoder().encode('a'.repeat(65_536))
  let sent = 0
  const stream = new ReadableStream({
    pull(controller) {
      if (sent++ < 8) controller.enqueue(piece)
      else controller.close()
    },
  })
  const answer = await posted(stream)
  assert.deepEqual([answer.status, answer.body['code']], [413, 'PAYLOAD_TOO_LARGE'])
})

test('each client has so many a minute', async () => {
  const own = await startTestApp({ settings: { ASSAY_PREFLIGHT_PER_MINUTE: '2' } })
  try {
    const body = '{"protocol":"x402","document":{}}'
    const answers = []
    // A minute may turn between two of them: then the count starts anew, and the third after the turn is refused.
    for (let index = 0; index < 5; index++) answers.push(await posted(body, own.url))
    const refused = answers.find(({ status }) => status === 429)
    assert.equal(refused?.body['code'], 'PREFLIGHT_RATE_LIMITED')
    const wait_s = Number(refused.headers.get('retry-after'))
    assert.ok(wait_s >= 1 && wait_s <= 60)
  } finally {
    await own.stop()
  }
})

test('problems of the preflight are documented', async () => {
  const known: (keyof typeof PREFLIGHT_PROBLEMS)[] = ['PREFLIGHT_REQUEST_INVALID', 'PREFLIGHT_BOUND_EXCEEDED', 'PREFLIGHT_RATE_LIMITED']
  for (const code of known) {
    const page = await fetch(`${app.url}/problems/${code}`, { headers: { accept: 'application/json' } })
    assert.equal(page.status, 200)
    assert.equal(at(await page.json(), 'http_status'), PROBLEMS[code].status)
  }
})

test('its own OpenAPI document describes what is answered', async () => {
  const document = await readJson(`${app.url}/v1/protocols/openapi.json`)
  assert.deepEqual([document['openapi'], at(document, 'info', 'version')], ['3.1.0', '2026-09-27'])
  assert.equal(at(document, 'paths', '/v1/protocols/check', 'post', 'operationId'), 'protocol_preflight')
  const whole = await readJson(`${app.url}/openapi.json`)
  assert.equal(at(whole, 'paths', '/v1/protocols/check', 'post', 'operationId'), 'protocol_preflight')
  const schemas = JSON.parse(
    JSON.stringify(at(document, 'components', 'schemas')).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as object
  const ajv = newAjv()
  const fits = (name: string) => ajv.compile({ $ref: `#/$defs/${name}`, $defs: schemas })
  const report = fits('preflight-report')
  for (const sent of [DOCUMENT, {}, { accepts: [{}] }]) {
    const { body } = await checked(sent)
    assert.ok(report(body), JSON.stringify(report.errors))
  }
  const request = fits('preflight-request')
  const example = at(document, 'paths', '/v1/protocols/check', 'post', 'requestBody', 'content', 'application/json', 'example')
  assert.ok(request(example))
  assert.equal((await posted(JSON.stringify(example))).body['status'], 'pass')
  for (const wrong of [{}, { protocol: 'x402' }, { protocol: 'x402', document: {}, more: 1 }]) assert.ok(!request(wrong))
})

test('the rules can be read as JSON and as a page, whole and one protocol at a time', async () => {
  const whole = await readJson(`${app.url}/v1/protocols/rules`)
  const one = await readJson(`${app.url}/v1/protocols/rules?protocol=x402`)
  assert.deepEqual(
    asList(whole['protocols']).map(({ id }) => id),
    ['common', 'ucp', 'acp', 'mcp', 'ap2', 'x402', 'micro-ast', 'a2a'],
  )
  const rules = asList(asList(one['protocols'])[0]?.['rules'])
  assert.deepEqual([one['count'], rules.length], [52, 52])
  assert.equal(rules.find(({ code }) => code === 'X402-009')?.['severity'], 'error')
  // Rules for every protocol have no version of a protocol.
  const protocols = asList(whole['protocols']).filter(({ id }) => id !== 'common')
  for (const { code, since, until } of protocols.flatMap((part) => asList(part['rules'])))
    assert.ok(typeof since === 'string' && typeof until === 'string', String(code))
  const [ucp] = protocols
  const urls = asList(ucp?.['rules']).map(({ spec }) => String(at(spec, 'url')))
  assert.ok(!urls.some((url) => url.includes('/2026-04-08/')), 'the catalogue links to the newest version')
  const page = await fetch(`${app.url}/v1/protocols/rules?protocol=micro-ast`, { headers: { accept: 'text/html' } })
  const text = await page.text()
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  for (let number = 1; number <= 28; number++) assert.ok(text.includes(`id="MAST-${String(number).padStart(3, '0')}"`))
  assert.equal((await fetch(`${app.url}/v1/protocols/rules?protocol=x403`)).status, 404)
})

test('the terms that this service asks for pass its own preflight', async () => {
  const own = await startTestApp({ free_daily: 0, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'iban-check=0' } })
  try {
    const call = { method: 'POST', body: '{"input":{"iban":"GB82 WEST 1234 5698 7654 32"}}' }
    const response = await fetch(`${own.url}/v1/tools/iban-check/call`, call)
    assert.equal(response.status, 402)
    const header = response.headers.get('payment-required')
    assert.ok(header !== null)
    for (const terms of [JSON.parse(Buffer.from(header, 'base64').toString()) as unknown, await response.json()]) {
      const { body } = await checked(terms)
      assert.deepEqual(codes(body['errors']), [])
    }
  } finally {
    await own.stop()
  }
})

async function overMcp(params: unknown, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'assay/preflight', params })
  const response = await fetch(`${app.url}/mcp`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  assert.equal(response.status, 200)
  return (await response.json()) as Record<string, unknown>
}

test('over MCP the same body is the params of assay/preflight', async () => {
  const params = { protocol: 'x402', document: DOCUMENT }
  const rest = await posted(JSON.stringify(params))
  assert.deepEqual(await overMcp(params), { jsonrpc: '2.0', id: 7, result: rest.body })
  assert.deepEqual(await overMcp({ ...params, _meta: {} }), { jsonrpc: '2.0', id: 7, result: rest.body })
  const modern = await overMcp(params, { 'mcp-protocol-version': '2026-07-28' })
  assert.equal(at(modern, 'result', 'resultType'), 'complete')
  const refused = await overMcp({ protocol: 'x402' })
  assert.deepEqual([at(refused, 'error', 'code'), at(refused, 'error', 'data', 'code')], [-32_602, 'PREFLIGHT_REQUEST_INVALID'])
  assert.equal(at(await overMcp(null), 'error', 'code'), -32_602)
  const manifest = await readJson(`${app.url}/.well-known/mcp.json`)
  assert.deepEqual(
    asList(manifest['methods']).map(({ name }) => name),
    ['assay/preflight'],
  )
})
