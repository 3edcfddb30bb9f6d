import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUri } from '../../src/pure/protocols/kit/url.ts'
import { isUriTemplate } from '../../src/pure/protocols/mcp/rules-results.ts'
import { ACP_CLEAN } from './acp-clean.ts'
import { all, checkText, codesOf, drop, literally, protocolSuite, set } from './harness.ts'
import { MCP_CASES } from './mcp-cases.ts'
import { MCP_CLEAN } from './mcp-clean.ts'
import { UCP_CLEAN } from './ucp-clean.ts'

protocolSuite('mcp', { clean: MCP_CLEAN, cases: MCP_CASES })

/** An answer of a tool that repeats its structured content as it should. */
const answer = (structuredContent: unknown, more: object = {}) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent, ...more },
  })

test('mcp: checkouts inside an answer are checked by the rules of their own protocol', () => {
  const checkout = UCP_CLEAN['checkout 04-08']?.document as Record<string, unknown>
  assert.deepEqual(checkText('mcp', answer(checkout)).errors, [])
  assert.deepEqual(checkText('mcp', answer({ checkout })).errors, [])
  const broken = checkText('mcp', answer({ checkout: { ...checkout, currency: 'US$' } }))
  assert.deepEqual(
    broken.errors.map(({ code, path }) => [code, path]),
    [['UCP-029', '/result/structuredContent/checkout/currency']],
  )
  const session = Object.values(ACP_CLEAN).find(({ type, version }) => type === 'checkout_session' && version === '2026-04-17')
  assert.deepEqual(checkText('mcp', answer(session?.document)).errors, [])
  const bad = checkText('mcp', answer({ ...(session?.document as object), currency: 7 }))
  assert.ok(bad.errors.length > 0 && bad.errors.every(({ code }) => code.startsWith('ACP-')))
})

test('mcp: what a library puts into an object as result is repeated by texts without it', () => {
  const result = (inner: unknown, ...texts: string[]) => ({
    jsonrpc: '2.0',
    id: 1,
    result: { content: texts.map((text) => ({ type: 'text', text })), structuredContent: { result: inner }, isError: false },
  })
  // As the official SDK for Python answers for tools that return a list, a number, a text and nothing.
  const right = [
    result([{ city: 'Oslo' }, { city: 'Rome' }], '{\n  "city": "Oslo"\n}', '{\n  "city": "Rome"\n}'),
    result([['a', 1], ['b']], 'a', '1', 'b'),
    result(5, '5'),
    result('hello', 'hello'),
    result(null),
    result([]),
  ]
  for (const one of right) assert.deepEqual(codesOf(checkText('mcp', JSON.stringify(one))), [], JSON.stringify(one))
  const wrong = [result([{ city: 'Oslo' }], '{"city":"Rome"}'), result([{ city: 'Oslo' }, { city: 'Rome' }], '{"city":"Oslo"}')]
  for (const one of wrong) assert.deepEqual(codesOf(checkText('mcp', JSON.stringify(one))), ['MCP-035 error'], JSON.stringify(one))
  assert.deepEqual(codesOf(checkText('mcp', JSON.stringify(result(5, '6')))), ['MCP-035 warning'])
})

test('mcp: the payee comes from the document inside', () => {
  const checkout = UCP_CLEAN['checkout 08-25']?.document
  assert.deepEqual(codesOf(checkText('mcp', answer(checkout), 'other.example.net')), ['UCP-045 warning'])
  assert.deepEqual(codesOf(checkText('mcp', answer(checkout), 'shop.example.com')), [])
  const payment = JSON.stringify(MCP_CLEAN['payment']?.document)
  assert.deepEqual(codesOf(checkText('mcp', payment, '0x857b06519E91e3A54538791bDbb0E22373e36b66')), ['X402-042 error'])
})

test('mcp: a challenge is checked by the rules of x402, also in an error, and so is a receipt', () => {
  const payment = JSON.stringify(MCP_CLEAN['payment']?.document)
  const offer = '/result/structuredContent/accepts/0'
  const changed = all(set(`${offer}/amount`, '1.5'), literally('\\"10000\\"', '\\"1.5\\"'))(payment)
  assert.deepEqual(codesOf(checkText('mcp', changed)), ['X402-009 error'])
  const error = { code: 402, message: 'Payment required', data: { x402Version: 2, accepts: [] } }
  const { errors } = checkText('mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
  assert.ok(errors.some(({ code, path }) => code.startsWith('X402-') && path.startsWith('/error/data')))
  const receipt = { _meta: { 'x402/payment-response': { success: true, network: 'eip155:8453' } } }
  const { checked } = checkText('mcp', answer({ celsius: 4 }, receipt))
  assert.ok(checked.includes('MCP-043'))
})

const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const OTHER = '0x857b06519E91e3A54538791bDbb0E22373e36b66'
interface Terms {
  x402Version: number
  accepts: [Record<string, unknown>]
}
const payment = MCP_CLEAN['payment']?.document as { result: { structuredContent: Terms } }
const CHALLENGE = payment.result.structuredContent
const message = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const rpcError = (data: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 402, message: 'Payment required', data } })
const textOf = (value: unknown) => [{ type: 'text', text: JSON.stringify(value) }]

/** Every place where servers put a challenge, and the pointer of what is found in its first offer. */
const PLACES: readonly [string, (challenge: unknown) => string, string][] = [
  ['structured', (one) => message({ isError: true, structuredContent: one, content: textOf(one) }), '/result/structuredContent/accepts/0/'],
  ['text', (one) => message({ isError: true, content: textOf(one) }), '/result/content/0/text'],
  [
    '_meta',
    (one) => message({ isError: true, content: textOf('Pay'), _meta: { 'x402/error': one } }),
    '/result/_meta/x402~1error/accepts/0/',
  ],
  ['error data', (one) => rpcError(one as object), '/error/data/accepts/0/'],
  ['error data, by name', (one) => rpcError({ x402: one }), '/error/data/x402/accepts/0/'],
  ['extension', (one) => message({ resultType: 'payment_required', paymentRequired: one }), '/result/paymentRequired/accepts/0/'],
]

test('mcp: a challenge is checked wherever servers put it, and its payee compared', () => {
  const broken = { ...CHALLENGE, accepts: [{ ...CHALLENGE.accepts[0], amount: '0.01' }] }
  for (const [name, wrap, pointer] of PLACES) {
    const own = (text: string, payee: string) => checkText('mcp', text, payee).errors.map(({ code, path }) => [code, path])
    assert.deepEqual(own(wrap(CHALLENGE), PAYEE.toLowerCase()), [], name)
    const at = (member: string) => (pointer.endsWith('/') ? `${pointer}${member}` : pointer)
    assert.deepEqual(own(wrap(CHALLENGE), OTHER), [['X402-042', at('payTo')]], name)
    assert.deepEqual(own(wrap(broken), PAYEE), [['X402-009', at('amount')]], name)
    assert.ok(!codesOf(checkText('mcp', wrap(CHALLENGE), OTHER)).includes('MCP-044 warning'), name)
  }
})

test('mcp: a challenge that is not said to be an error is checked as well', () => {
  for (const isError of [undefined, false]) {
    const structured = message({ isError, structuredContent: CHALLENGE, content: textOf(CHALLENGE) })
    assert.deepEqual(codesOf(checkText('mcp', structured, OTHER)), ['MCP-043 error', 'X402-042 error'])
    assert.deepEqual(codesOf(checkText('mcp', message({ isError, content: textOf(CHALLENGE) }), PAYEE)), ['MCP-043 error'])
  }
})

test('mcp: a challenge without its version is one all the same', () => {
  const { x402Version: _, ...nameless } = CHALLENGE
  for (const [name, wrap] of PLACES) {
    const codes = checkText('mcp', wrap(nameless), OTHER).errors.map(({ code }) => code)
    assert.deepEqual(codes.toSorted(), ['X402-001', 'X402-042'], name)
  }
})

test('mcp: numbers in a text are read as they are written, and no value of it comes back', () => {
  const text = JSON.stringify(CHALLENGE).replace('"10000"', '10000.0').replace('Weather', 'zq7-canary')
  const report = checkText('mcp', message({ isError: true, content: [{ type: 'text', text }] }))
  assert.deepEqual(
    report.errors.map(({ code, path }) => [code, path]),
    [['X402-009', '/result/content/0/text']],
  )
  assert.ok(!JSON.stringify(report).includes('canary'))
})

test('mcp: what stands under the key of a receipt is checked as a receipt, whatever it looks like', () => {
  const right = { success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453' }
  const under = (key: string, receipt: unknown) => answer({ celsius: 4 }, { _meta: { [key]: receipt } })
  for (const key of ['x402/payment-response', 'x402.payment-response']) {
    const codes = (receipt: unknown, payee: string | null = null) => codesOf(checkText('mcp', under(key, receipt), payee))
    assert.deepEqual(codes(right), [])
    assert.deepEqual(codes(right, PAYEE), ['X402-042 warning'])
    const broken: object[] = [{ success: true }, { success: 'yes', transaction: 5 }, { transaction: right.transaction }]
    for (const receipt of broken) {
      const found = new Set(codes(receipt))
      assert.deepEqual([...found], ['X402-039 error'], JSON.stringify(receipt))
    }
  }
})

test('mcp: an answer that speaks of x402 is no challenge', () => {
  const answers = [{ x402Version: 2 }, { kinds: [{ x402Version: 2 }] }, { accepts: ['text/plain'] }, { accepts: [{ network: 'base' }] }]
  for (const one of answers) assert.deepEqual(codesOf(checkText('mcp', answer(one))), [], JSON.stringify(one))
})

test('mcp: dates of changes have a time and its offset', () => {
  const dated = (lastModified: string) => message({ content: [{ type: 'text', text: 'x', annotations: { lastModified } }] })
  for (const time of ['2025-01-12T15:00:58Z', '2025-01-12T15:00:58.25+01:00'])
    assert.deepEqual(codesOf(checkText('mcp', dated(time))), [], time)
})

test('mcp: what cannot be held against a schema is said not to be checked', () => {
  const alone = checkText('mcp', answer({ celsius: 4 }))
  assert.ok(alone.not_checked.includes('structured content against its outputSchema'))
  const both = checkText('mcp', JSON.stringify(MCP_CLEAN['tool and answer']?.document))
  assert.ok(!both.not_checked.includes('structured content against its outputSchema'))
  const hidden = set(
    '/result/tools/0/inputSchema/properties/city/type',
    '[REDACTED]',
  )(JSON.stringify(MCP_CLEAN['tools 26-07-28']?.document))
  assert.ok(checkText('mcp', hidden).not_checked.includes('schemas with redacted parts'))
  const ahead = set('/result/tools/0/inputSchema/properties/city/pattern', '(?=a)b')(JSON.stringify(MCP_CLEAN['tools 26-07-28']?.document))
  assert.deepEqual(codesOf(checkText('mcp', ahead)), [])
})

test('mcp: a bare result reads like one in a message', () => {
  for (const name of ['tools 26-07-28', 'call 25-11-25', 'initialize 25-06-18', 'discover', 'completion 24-11-05']) {
    const { document, version, type } = MCP_CLEAN[name] ?? {}
    const { result } = document as { result: object }
    const report = checkText('mcp', JSON.stringify(result))
    assert.deepEqual([codesOf(report), report.version, report.document_type], [['MCP-002 warning'], version, type], name)
  }
})

test('mcp: a message of another version than its members is read by the version it says', () => {
  const text = JSON.stringify(MCP_CLEAN['tools 26-07-28']?.document)
  const old = all(drop('/result/resultType'), drop('/result/ttlMs'), drop('/result/cacheScope'))(text)
  assert.deepEqual(codesOf(checkText('mcp', old)), [])
  assert.equal(checkText('mcp', old).version, '2025-11-25')
})

test('URIs and templates (RFC 3986, 3; RFC 6570, 1.2 and 2)', () => {
  for (const uri of ['file:///a', 'https://example.com/?q=1#a', 'urn:isbn:0451450523', 'db:1', 'mcp://tool/x', 'ui://ä'])
    assert.ok(isUri(uri), uri)
  for (const text of ['', 'a', '/a', '1a:b', 'a b:c', 'a:b c', 'a:<b>', 'a:']) assert.ok(!isUri(text), text)
  const templates = [
    'http://e.com/~{u}/',
    '{+path}/here',
    '{#x,hello,y}',
    'X{.list*}',
    '{/var:1,var}',
    '{;x,y,empty}',
    '{?x,y}',
    '{&x}',
    'a%20b',
    '{a.b_c%41}',
  ]
  for (const template of templates) assert.ok(isUriTemplate(template), template)
  for (const text of ['', '{', '}', '{}', '{a', '{a}}', '{{a}}', '{a b}', '{|a}', '{a:}', '{a:01}', '{a**}', '{.}', '{a..b}', 'a b'])
    assert.ok(!isUriTemplate(text), text)
})
