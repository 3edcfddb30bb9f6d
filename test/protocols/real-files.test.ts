/** Documents as developers have them: of other versions, of shapes that no protocol defines, inside other documents, or misspelled. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROTOCOL_IDS, type ProtocolId } from '../../src/pure/protocols/protocol.ts'
import { A2A_CLEAN } from './a2a-clean.ts'
import { ACP_CLEAN } from './acp-clean.ts'
import { AP2_CLEAN } from './ap2-clean.ts'
import { checkText, codesOf, drop, NOW_S, set, type CleanDocument } from './harness.ts'
import { MCP_CLEAN } from './mcp-clean.ts'
import { UCP_CLEAN } from './ucp-clean.ts'
import { X402_CLEAN } from './x402-clean.ts'

const textOf = (clean: Readonly<Record<string, CleanDocument>>, name: string) => JSON.stringify(clean[name]?.document)
const check = (id: ProtocolId, document: unknown, payee: string | null = null) => checkText(id, JSON.stringify(document), payee)
const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const STRANGER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'

test('a card is judged by the version that it declares, also as major and minor, and a foreign member is a warning', () => {
  const old = textOf(A2A_CLEAN, '0.3')
  assert.equal(checkText('a2a', set('/protocolVersion', '0.3')(old)).status, 'pass')
  for (const version of ['v0.3.0', '0.3.0 ']) assert.equal(checkText('a2a', set('/protocolVersion', version)(old)).status, 'warn', version)
  const foreign = checkText('a2a', set('/supportedInterfaces', [{ type: 'REST', baseUrl: 'https://a.example/api' }])(old))
  assert.deepEqual([foreign.version, codesOf(foreign)], ['0.3', ['A2A-015 warning']])
})

test('a declared future version neither passes nor fails, and the newest rules give advice only', () => {
  const future: [ProtocolId, string, string, string][] = [
    ['ucp', set('/ucp/version', '2027-01-01')(textOf(UCP_CLEAN, 'checkout 08-25')), '/totals', '2027-01-01'],
    ['ucp', set('/ucp/version', '2026-12-01')(textOf(UCP_CLEAN, 'business 08-25')), '/ucp/services', '2026-12-01'],
    ['acp', set('/protocol/version', '2027-01-01')(textOf(ACP_CLEAN, 'discovery')), '/api_base_url', '2027-01-01'],
    ['a2a', set('/supportedInterfaces/0/protocolVersion', '2.0')(textOf(A2A_CLEAN, 'least 1.0')), '/skills', '2.0'],
    ['x402', set('/x402Version', 3)(textOf(X402_CLEAN, 'challenge_v2')), '/accepts', '3'],
    ['ap2', set('/vct', 'mandate.payment.2')(textOf(AP2_CLEAN, 'payment')), '/payee', 'mandate.payment.2'],
    ['mcp', set('/result/protocolVersion', '2027-03-01')(textOf(MCP_CLEAN, 'initialize 25-11-25')), '/result/serverInfo', '2027-03-01'],
    ['micro-ast', JSON.stringify({ micro_ast: '2.0', merchant: { id: 'm', name: 'M' }, nodes: [] }), '/merchant', '2.0'],
  ]
  for (const [id, text, pointer, version] of future) {
    for (const one of [text, drop(pointer)(text)]) {
      const report = checkText(id, one)
      const { status, errors, version_source } = report
      assert.deepEqual([status, errors, report.version, version_source], ['not_covered', [], version, 'declared'], `${id} ${pointer}`)
      assert.ok(
        report.not_checked.some((words) => words.includes(version)),
        id,
      )
    }
    const advice = checkText(id, drop(pointer)(text)).warnings.map(({ path }) => path)
    assert.ok(
      advice.some((path) => path.startsWith(pointer)),
      `${id} ${pointer} in ${advice.join(' ')}`,
    )
  }
  const stated = checkText('x402', future[4]?.[1] ?? '', null, NOW_S, { version: '2' })
  assert.deepEqual([stated.status, codesOf(stated)], ['fail', ['PRE-006 warning', 'X402-001 error']])
})

test('a future document inside a known one gives advice only', () => {
  const challenge = { ...(X402_CLEAN['challenge_v2']?.document as object), x402Version: 3, accepts: 'soon' }
  const answer = { jsonrpc: '2.0', id: 1, result: { isError: true, content: [], structuredContent: challenge } }
  const codes = checkText('mcp', JSON.stringify(answer)).errors.map(({ code }) => code)
  assert.ok(
    codes.every((code) => code.startsWith('MCP')),
    codes.join(' '),
  )
})

test('a result of MCP of unknown shape does not pass: the nearest member or the known part is named', () => {
  const result = (value: unknown) => ({ jsonrpc: '2.0', id: 1, result: value })
  const near: [unknown, RegExp][] = [
    [{ tool: [] }, /Rename tool to tools\./],
    [{ Tools: [{ name: 'a' }] }, /Rename Tools to tools\./],
    [{ resource_templates: [] }, /Rename resource_templates to resourceTemplates\./],
    [{ text: 'x' }, /./],
    [{ output: { celsius: 4 } }, /./],
  ]
  for (const [value, hint] of near) {
    for (const document of [result(value), [result({}), result(value)]]) {
      const report = check('mcp', document)
      assert.deepEqual([report.status, report.document_type, report.errors], ['not_covered', 'unknown', []], JSON.stringify(document))
      const [found] = report.warnings.filter(({ code }) => code === 'PRE-007')
      assert.equal(found?.path, Array.isArray(document) ? '/1/result' : '/result')
      assert.match(found?.hint ?? '', hint)
    }
  }
  const wrapped = check('mcp', result({ toolResult: { content: [{ type: 'text', text: 'x' }] } }))
  assert.deepEqual([wrapped.status, wrapped.warnings.map(({ path }) => path)], ['not_covered', ['/result/toolResult']])
  for (const value of [{ nextCursor: 'a' }, { ttlMs: 1, cacheScope: 'public', resultType: 'complete' }])
    assert.ok(codesOf(check('mcp', result(value))).includes('MCP-045 error'), JSON.stringify(value))
  assert.ok(codesOf(check('mcp', { ...result({ tool: [] }), jsonrpc: '1.0' })).includes('MCP-002 error'), 'the message around it is known')
  for (const value of [{}, { _meta: {} }, { tasks: [], nextCursor: 'a' }, { task: { taskId: 't', status: 'working' } }])
    assert.notEqual(check('mcp', result(value)).status, 'not_covered', JSON.stringify(value))
})

test('requests of MCP and answers of clients are no answers of a server', () => {
  const types: [object, string][] = [
    [{ method: 'tools/list' }, 'request'],
    [{ method: 'tools/call', params: { name: 'a' } }, 'request'],
    [{ result: { roots: [] } }, 'client_result'],
    [{ result: { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' } }, 'client_result'],
    [{ result: { action: 'accept', content: { city: 'Oslo' } } }, 'client_result'],
    [{ result: { action: 'cancel' } }, 'client_result'],
  ]
  for (const [members, type] of types) {
    const report = check('mcp', { jsonrpc: '2.0', id: 1, ...members })
    assert.deepEqual([report.status, report.document_type, report.errors], ['not_covered', type, []], JSON.stringify(members))
  }
  assert.equal(check('mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }).document_type, 'notification')
  const bad = { ...(X402_CLEAN['payment_v2']?.document as object), payload: 7 }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', _meta: { 'x402/payment': bad } } }
  const report = check('mcp', call)
  assert.equal(report.status, 'fail')
  assert.ok(report.errors.every(({ code, path }) => code.startsWith('X402') && path.startsWith('/params/_meta/x402~1payment')))
})

const challenge = (payTo: string, amount = '10000') => {
  const { accepts, ...rest } = JSON.parse(textOf(X402_CLEAN, 'challenge_v2')) as { accepts: object[] }
  return { ...rest, accepts: [{ ...accepts[0], payTo, amount }] }
}
const asks = (required: unknown) => ({ 'x402.payment.status': 'payment-required', 'x402.payment.required': required })
const message = (metadata: object) => ({ kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'x' }], metadata })
const task = (metadata: object) => ({ kind: 'task', id: 't', status: { state: 'input-required', message: message(metadata) } })

test('x402 over A2A is read in requests, tasks, messages and events, as a document of either protocol', () => {
  const carriers: [(metadata: object) => object, string][] = [
    [(metadata) => ({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: message(metadata) } }), '/params/message/metadata'],
    [(metadata) => ({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(metadata) } }), '/params/message/metadata'],
    [(metadata) => ({ jsonrpc: '2.0', id: 1, result: task(metadata) }), '/result/status/message/metadata'],
    [(metadata) => ({ task: task(metadata) }), '/task/status/message/metadata'],
    [(metadata) => task(metadata), '/status/message/metadata'],
    [(metadata) => message(metadata), '/metadata'],
    [
      (metadata) => ({ kind: 'status-update', taskId: 't', status: { state: 'working', message: message(metadata) } }),
      '/status/message/metadata',
    ],
    [(metadata) => ({ ...task({}), history: [message(metadata)] }), '/history/0/metadata'],
  ]
  for (const [carrier, path] of carriers) {
    const right = check('x402', carrier(asks(challenge(PAYEE))), PAYEE)
    assert.deepEqual([right.status, right.document_type, codesOf(right)], ['pass', 'a2a_message', []], path)
    const a2a = check('a2a', carrier(asks(challenge(PAYEE))), PAYEE)
    assert.deepEqual([a2a.status, codesOf(a2a)], ['not_covered', []], path)
    for (const id of ['x402', 'a2a'] as const) {
      const at = `${path}/x402.payment.required/accepts/0`
      const pays = (report: ReturnType<typeof check>) => report.errors.map(({ code, path: found }) => `${code} ${found}`)
      assert.deepEqual(pays(check(id, carrier(asks(challenge(STRANGER))), PAYEE)), [`X402-042 ${at}/payTo`], id)
      assert.deepEqual(pays(check(id, carrier(asks(challenge(PAYEE, '1.5'))))), [`X402-009 ${at}/amount`], id)
    }
  }
  const submitted = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': X402_CLEAN['payment_v2']?.document }
  const settled = { 'x402.payment.status': 'payment-completed', 'x402.payment.receipts': [{ success: 'yes' }] }
  assert.equal(check('x402', message(submitted)).status, 'pass')
  assert.ok(check('x402', task(settled)).errors.every(({ path }) => path.startsWith('/status/message/metadata/x402.payment.receipts/0')))
})

test('requests and tasks of A2A are named as such to every other protocol', () => {
  for (const id of PROTOCOL_IDS.filter((one) => one !== 'a2a' && one !== 'mcp')) {
    const report = check(id, { jsonrpc: '2.0', id: 1, result: task({}) })
    const named = report.errors.find(({ code }) => code === 'PRE-001')?.expected
    assert.ok(named === undefined || named.startsWith('Agent2Agent'), `${id} ${named}`)
  }
  const asked = check('x402', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: message({}) } })
  assert.equal(asked.errors[0]?.expected, 'Agent2Agent ("a2a")')
})

test('an expected payee that was not compared is said so, whatever the document is', () => {
  const documents: [ProtocolId, unknown][] = [
    ['a2a', task({})],
    ['ucp', { line_items: [], buyer: {} }],
    ['acp', { items: [] }],
    ['mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    ['x402', { name: 'My API', endpoints: [] }],
    ['x402', { ucp: { version: '2026-04-08' } }],
    ['mcp', { jsonrpc: '2.0', id: 1, result: { text: 'x' } }],
  ]
  for (const [id, document] of documents) {
    const words = check(id, document, PAYEE).warnings.map(({ message: text }) => text)
    assert.ok(
      words.some((text) => /payee/.test(text)),
      `${id} ${JSON.stringify(document)}`,
    )
  }
})

test('a shape that no protocol defines is no document type, and is not told which members it lacks', () => {
  const shapes: [ProtocolId, unknown][] = [
    ['x402', { name: 'Weather', version: '1.0', endpoints: [{ path: '/report', price: '$0.01' }] }],
    ['x402', { x402Version: 2, name: 'Weather', services: [{ url: 'https://a.example', price: 0.01 }] }],
    ['x402', { version: 1, items: [{ sku: 'a' }] }],
    ['x402', { wallet: PAYEE, routes: {} }],
    ['ucp', { name: 'Shop', currency: 'USD', products_url: 'https://a.example' }],
    ['ucp', { status: 200, headers: {}, body: 'x' }],
    ['acp', { merchant: 'Shop', endpoints: { checkout: '/checkout' } }],
    ['acp', { status: 200, headers: {} }],
    ['a2a', { name: 'Agent', description: 'd', author: 'me' }],
    ['a2a', { log: { version: '1.2', entries: [] } }],
    ['micro-ast', { products: [] }],
  ]
  for (const [id, document] of shapes) {
    const report = check(id, document)
    const found = [report.status, report.document_type, codesOf(report)]
    assert.deepEqual(found, ['not_covered', 'unknown', ['PRE-007 warning']], `${id} ${JSON.stringify(document)}`)
  }
  const profile = check('ucp', { ucp: '1.0', name: 'x', currency: 'USD', services: [{ id: 'a' }] })
  assert.equal(profile.document_type, 'business_profile')
  assert.ok(profile.errors.some(({ code, path }) => code === 'UCP-001' && path === '/ucp'))
  const stated = checkText('x402', JSON.stringify({ name: 'Weather' }), null, NOW_S, { document_type: 'payment_required' })
  assert.ok(
    stated.errors.some(({ path }) => path === '/accepts'),
    'a stated type is checked as such',
  )
})

test('a known document one level below is named by its pointer', () => {
  const inner: [ProtocolId, unknown, string][] = [
    ['x402', { status: 402, headers: {}, body: X402_CLEAN['challenge_v2']?.document }, '/body'],
    ['x402', [X402_CLEAN['challenge_v2']?.document], '/0'],
    ['ucp', { checkout: UCP_CLEAN['checkout 04-08']?.document }, '/checkout'],
    ['ucp', { protocol: 'ucp', document: UCP_CLEAN['business 04-08']?.document }, '/document'],
    ['a2a', { data: A2A_CLEAN['1.0']?.document }, '/data'],
    ['acp', { data: UCP_CLEAN['cart 04-08']?.document }, '/data'],
  ]
  for (const [id, document, path] of inner) {
    const report = check(id, document)
    assert.deepEqual([report.status, codesOf(report), report.warnings[0]?.path], ['not_covered', ['PRE-007 warning'], path], id)
  }
})

test('a missing member with a near name has a hint to rename it', () => {
  const renamed = (text: string, from: string, to: string) => text.replace(`"${from}":`, `"${to}":`)
  const cases: [ProtocolId, string, string, string][] = [
    ['ucp', textOf(UCP_CLEAN, 'checkout 04-08'), 'line_items', 'lineItems'],
    ['ucp', textOf(UCP_CLEAN, 'checkout 04-08'), 'totals', 'total'],
    ['acp', textOf(ACP_CLEAN, 'session_2026_04'), 'fulfillment_options', 'fulfillmentOptions'],
    ['mcp', textOf(MCP_CLEAN, 'initialize 25-11-25'), 'serverInfo', 'server_info'],
    ['x402', textOf(X402_CLEAN, 'challenge_v2'), 'maxTimeoutSeconds', 'max_timeout_seconds'],
    ['x402', textOf(X402_CLEAN, 'challenge_v2'), 'resource', 'resourse'],
  ]
  for (const [id, text, from, to] of cases) {
    const hints = checkText(id, renamed(text, from, to)).errors.map(({ hint }) => hint)
    assert.ok(
      hints.some((hint) => hint.startsWith(`Rename ${to} to ${from}`)),
      `${id} ${to}: ${hints.join(' | ')}`,
    )
  }
})

test('UCP in a text of an MCP answer is read, and requests of REST are no responses', () => {
  const checkout = UCP_CLEAN['checkout 04-08']?.document as object
  const answer = (value: unknown) => ({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } })
  assert.deepEqual(check('ucp', answer(checkout)).errors, [])
  const broken = { ...checkout, totals: 'none' }
  for (const id of ['ucp', 'mcp'] as const) {
    const codes = check(id, answer(broken)).errors.map(({ code }) => code)
    assert.ok(codes.length > 0 && codes.every((code) => code.startsWith('UCP')), `${id} ${codes.join(' ')}`)
  }
  const requests = [
    { id: 'chk_1', line_items: [{ item: { id: 'sku_1' }, quantity: 2 }] },
    { id: 'chk_1', currency: 'USD', line_items: [], buyer: { email: 'a@b.example' } },
    { id: 'cart_1', line_items: [], context: {} },
    { payment: { instruments: [] }, risk_signals: {} },
    { ids: ['sku_1'], context: {} },
    { id: 'prod_1', selected: [] },
    { query: 'shoes', pagination: { limit: 10 } },
    { cart_id: 'cart_1' },
  ]
  for (const request of requests) {
    const report = check('ucp', request)
    assert.deepEqual([report.status, report.document_type], ['not_covered', 'request'], JSON.stringify(request))
  }
})
