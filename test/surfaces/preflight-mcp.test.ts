import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asList, at } from '../support/documents.ts'
import { X402_CLEAN } from '../protocols/x402-clean.ts'

/** `assay/preflight` over MCP answers what REST answers, and is as free. Nobody has a free call here. */
let app: TestApp
before(async () => {
  app = await startTestApp({
    free_daily: 0,
    settings: { ASSAY_PREFLIGHT_PER_MINUTE: '100000', ASSAY_FREE_DAILY_OVERRIDES: 'iban-check=0' },
  })
})
after(() => app.stop())

interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

async function posted(path: string, body: string | ReadableStream, url = app.url): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(`${url}${path}`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}

const rest = (body: string) => posted('/v1/protocols/check', body)
const message = (params: string, method = 'assay/preflight') => `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`
const within = (inner: string) => `{"protocol":"x402","document":{"x":${inner}}}`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
/** A document of so many bytes, whose texts and arrays keep their own bounds. */
const ofBytes = (bytes: number) => `["${Array.from({ length: Math.floor(bytes / 40_003) }, () => 'a'.repeat(40_000)).join('","')}"]`

test('what REST checks, MCP checks with the same result: numbers, depth and size', async () => {
  const document = JSON.stringify(X402_CLEAN['challenge_v2']?.document)
  const bodies: Record<string, string> = {
    'a number that readers round': `{"protocol":"x402","document":${document.replace('"maxTimeoutSeconds":60', '"maxTimeoutSeconds":12345678901234567890')}}`,
    'an exponent': within('[1e400, 1.0]'),
    '64 levels': within(nested(63)),
    '20,000 values': within(`[${`[${'0,'.repeat(4_993)}0],`.repeat(3)}[${'0,'.repeat(4_992)}0]]`),
    '240 KB': within(ofBytes(240_000)),
  }
  for (const [words, body] of Object.entries(bodies)) {
    const [one, other] = [await rest(body), await posted('/mcp', message(body))]
    assert.equal(one.status, 200, words)
    assert.deepEqual([other.status, other.body], [200, { jsonrpc: '2.0', id: 7, result: one.body }], words)
  }
})

test('beyond the bounds of REST nothing is checked over MCP either', async () => {
  const beyond: [string, string, string?][] = [
    [within(nested(64)), 'JSON_TOO_DEEP'],
    // The message is not read, so it may as well be a call that somebody would pay for.
    [within(ofBytes(400_000)), 'PAYLOAD_TOO_LARGE', 'PAYMENT_REQUIRED'],
    [within(`[${'0,'.repeat(5_000)}0]`), 'PREFLIGHT_BOUND_EXCEEDED'],
    [within('{"a":1,"a":2}'), 'DUPLICATE_KEY'],
  ]
  for (const [body, code, over_mcp = code] of beyond) {
    const [one, other] = [await rest(body), await posted('/mcp', message(body))]
    assert.deepEqual([one.body['code'], at(other.body, 'error', 'data', 'code')], [code, over_mcp])
  }
})

test('a large message that is no document to check is not served for nothing', async () => {
  const call = (method: string, params: string) => posted('/mcp', message(params, method))
  const input = `{"name":"iban-check","arguments":{"iban":"${'0'.repeat(100_000)}"}}`
  for (const answer of [
    await call('tools/call', input),
    await call('tools/list', input),
    await posted('/mcp', `["${'a'.repeat(100_000)}"]`),
  ]) {
    assert.deepEqual([answer.status, at(answer.body, 'error', 'data', 'code')], [402, 'PAYMENT_REQUIRED'])
    assert.match(String(at(answer.body, 'error', 'data', 'detail')), /65536 bytes.*PAYMENT-SIGNATURE/)
  }
  // The wider bounds of the method are its own.
  const rounded = await call('tools/list', '{"n":12345678901234567890}')
  assert.equal(at(rounded.body, 'error', 'data', 'code'), 'UNSAFE_NUMBER')
})

test('a message without a length is read no further than a document may reach', async () => {
  const piece = new TextEncoder().encode('a'.repeat(65_536))
  let sent = 0
  const stream = new ReadableStream({
    pull(controller) {
      if (sent++ < 8) controller.enqueue(piece)
      else controller.close()
    },
  })
  const { status } = await posted('/mcp', stream)
  assert.equal(status, 402)
})

test('large documents are counted once, and refused with the rest of the minute', async () => {
  const own = await startTestApp({ free_daily: 0, settings: { ASSAY_PREFLIGHT_PER_MINUTE: '2' } })
  try {
    const body = message(within(ofBytes(120_000)))
    // A minute may turn between two of them: then the count starts anew, and the third after the turn is refused.
    const answers: Answer[] = []
    for (let index = 0; index < 5; index++) answers.push(await posted('/mcp', body, own.url))
    const first = answers.findIndex(({ status }) => status === 429)
    assert.ok(first >= 2, 'two are checked')
    assert.equal(at(answers[first]?.body, 'error', 'data', 'code'), 'PREFLIGHT_RATE_LIMITED')
    assert.ok(Number(answers[first]?.headers.get('retry-after')) >= 1)
  } finally {
    await own.stop()
  }
})

test('the challenge that this service sends over MCP passes its own preflight', async () => {
  const params = '{"name":"iban-check","arguments":{"iban":"GB82 WEST 1234 5698 7654 32"}}'
  const { body } = await posted('/mcp', message(params, 'tools/call'))
  assert.equal(at(body, 'result', 'isError'), true)
  const asked = JSON.parse(String(asList(at(body, 'result', 'content'))[0]?.['text'])) as { accepts: { payTo: string }[] }
  const check = async (expected_payee: string) => {
    const { body: report } = await rest(JSON.stringify({ protocol: 'mcp', document: body, expected_payee }))
    return asList(report['errors']).map(({ code }) => code)
  }
  assert.deepEqual(await check(String(asked.accepts[0]?.payTo)), [])
  assert.ok((await check('0x857b06519E91e3A54538791bDbb0E22373e36b66')).includes('X402-042'))
})
