import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '../../src/service/limits.ts'
import { createGuard } from '../../src/surfaces/mcp/rpc-error.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { JSON_HEADERS, MCP_VERSIONS, mcpRequest, postMcp, statusForHost } from '../support/mcp.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
let app: TestApp

before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

interface RpcError {
  code: number
  message: string
  data?: Record<string, unknown>
}

async function errorOf(body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>) {
  const answer = await postMcp(app.url, body, headers)
  return { ...answer, error: answer.body['error'] as RpcError }
}

function callText(input: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"iban-check","arguments":${input}}}`
}

// attack: JSON that two parsers understand differently
test('a message that two readers could read differently is refused with the problem that REST gives', async () => {
  const bodies: [string, number, number, string][] = [
    ['{"jsonrpc":', 400, -32700, 'PARSE_ERROR'],
    ['', 400, -32700, 'PARSE_ERROR'],
    [callText('{"iban":"a","iban":"b"}'), 400, -32600, 'DUPLICATE_KEY'],
    [callText('{"iban":"a"}').replace('"id":1', '"id":1,"id":2'), 400, -32600, 'DUPLICATE_KEY'],
    [callText('{"iban":"\\ud800"}'), 400, -32600, 'LONE_SURROGATE'],
    [callText('{"__proto__":1}'), 400, -32600, 'FORBIDDEN_KEY'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":9007199254740993}}', 400, -32600, 'UNSAFE_NUMBER'],
    [callText('[').replace('}}', `${'['.repeat(80)}${']'.repeat(81)}}}`), 413, -32600, 'JSON_TOO_DEEP'],
    [callText(`[${'0,'.repeat(limits.document_nodes + 300)}0]`), 413, -32600, 'JSON_TOO_MANY_NODES'],
    [callText(`{"iban":"${'x'.repeat(limits.document_body_bytes)}"}`), 413, -32600, 'PAYLOAD_TOO_LARGE'],
  ]
  for (const [body, status, code, problem] of bodies) {
    const { status: got, body: answer, error } = await errorOf(body)
    assert.deepEqual([got, error.code, error.data?.['code'], answer['id']], [status, code, problem, null], body.slice(0, 80))
    assert.equal(error.data?.['status'], status)
    assert.equal(typeof error.data?.['request_id'], 'string')
  }
  const { status, error } = await errorOf(new Uint8Array([0x7b, 0xff, 0x7d]))
  assert.deepEqual([status, error.code, error.data?.['code']], [400, -32700, 'NOT_UTF8'])
})

test('each tool keeps its own bounds on a message, which are known once its name is read', async () => {
  const cases: [string, string][] = [
    [callText(`{"iban":"${'x'.repeat(limits.body_bytes)}"}`), 'PAYLOAD_TOO_LARGE'],
    [callText('{"iban":9007199254740993}'), 'UNSAFE_NUMBER'],
    [callText(`{"iban":[${'0,'.repeat(limits.json_nodes + 300)}0]}`), 'JSON_TOO_MANY_NODES'],
  ]
  for (const [body, problem] of cases) {
    const { status, error, body: answer } = await errorOf(body)
    assert.deepEqual([status, error.code, error.data?.['code'], answer['id']], [200, -32600, problem, 1])
  }
  // Receipts are read by a reader that keeps the literal, so that it can say what is wrong with it.
  const { body } = await errorOf(callText('{"receipt":{"ts":9007199254740993}}').replace('iban-check', 'receipt-verify'))
  assert.equal((body['result'] as Record<string, unknown>)['isError'], undefined)
})

test('input as deep and as large as REST takes it is taken here too', async () => {
  const deep = (levels: number) => callText(`{"iban":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  // REST: the body and the input are two of the levels that it counts.
  const { error, body } = await errorOf(deep(limits.json_depth - 2))
  assert.equal(error, undefined, JSON.stringify(body))
  assert.equal((await errorOf(deep(limits.json_depth - 1))).error.data?.['code'], 'JSON_TOO_DEEP')
})

test('a body beyond the unpaid bound needs some allowance, or is asked to be paid for in a header', async () => {
  const none = await startTestApp({ free_daily: 0 })
  const distill = { name: 'context-distill', arguments: { text: 'word '.repeat(20_000) } }
  const small = await restCall(none.url, 'context-distill', { text: 'word' })
  const nested = { name: 'call_tool', arguments: { tool: 'context-distill', input: distill.arguments } }
  const beyond = { ...distill, arguments: { text: 'word '.repeat(60_000) } }
  const asked = [
    // Read as far as a preflight may reach, the message names its tool itself.
    { version: '2025-11-25', params: distill, terms: true },
    { version: '2025-11-25', params: nested, terms: true, path: '/mcp/small' },
    // Further, only the header of the stateless revision does.
    { version: '2026-07-28', params: beyond, terms: true },
    { version: '2025-11-25', params: beyond, terms: false },
    { version: '2025-11-25', params: { ...distill, name: 'nothing' }, terms: false },
    { version: '2025-11-25', params: { ...distill, name: 'batch-validate' }, terms: false },
  ]
  for (const { version, params, terms, path = '/mcp' } of asked) {
    const { message, headers } = mcpRequest(version, 'tools/call', params)
    const response = await fetch(none.url + path, { method: 'POST', headers, body: JSON.stringify(message) })
    const { data } = ((await response.json()) as { error: RpcError }).error
    const { status, headers: given } = response
    assert.deepEqual([status, data?.['code']], [402, 'PAYMENT_REQUIRED'], version)
    assert.match(String(data?.['detail']), /more than 65536 bytes.*PAYMENT-SIGNATURE/)
    assert.equal(given.has('payment-required'), terms, version)
    const [offer] = (data?.['accepts'] as { maxAmountRequired: string }[] | undefined) ?? []
    const [wanted] = small.body['accepts'] as { maxAmountRequired: string }[]
    assert.equal(offer?.maxAmountRequired, terms ? wanted?.maxAmountRequired : undefined)
  }
  await none.stop()
  const { message, headers } = mcpRequest('2025-11-25', 'tools/call', {
    name: 'context-distill',
    arguments: { text: 'word '.repeat(20_000) },
  })
  const large = await postMcp(app.url, JSON.stringify(message), { ...headers, 'x-forwarded-for': '198.51.100.7' })
  assert.equal((large.body['result'] as Record<string, unknown>)['isError'], undefined)
})

test('what is no message, and batches, which no served version has, are invalid requests', async () => {
  for (const body of ['5', '"x"', 'null', '{}', '{"jsonrpc":"2.0"}', '[]', `[${callText('{}')}]`]) {
    const { status, error } = await errorOf(body)
    assert.deepEqual([status, error.code], [400, -32600], body)
  }
})

test('methods that a server of tools does not have are not found', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    for (const method of ['resources/list', 'prompts/list', 'completion/complete', 'logging/setLevel', 'no/such']) {
      const { message, headers } = mcpRequest(version, method)
      const { error } = await errorOf(JSON.stringify(message), headers)
      assert.equal(error.code, -32601, `${version} ${method}`)
    }
  }
})

test('notifications are accepted without an answer', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    const { status, text } = await postMcp(app.url, '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}', {
      ...JSON_HEADERS,
      'mcp-protocol-version': version,
    })
    assert.deepEqual([status, text], [202, ''], version)
  }
})

test('2026-07-28: headers must say what the message says', async () => {
  const { message, headers } = mcpRequest('2026-07-28', 'tools/call', { name: 'iban-check', arguments: IBAN })
  const wrong = [
    { ...headers, 'mcp-name': 'lei-check' },
    { ...headers, 'mcp-method': 'tools/list' },
    { ...headers, 'mcp-protocol-version': '2025-11-25' },
    Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'mcp-name')),
    Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'mcp-method')),
    Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'mcp-protocol-version')),
  ]
  for (const each of wrong) {
    const { status, error } = await errorOf(JSON.stringify(message), each)
    assert.deepEqual([status, error.code], [400, -32020], JSON.stringify(each))
  }
})

test('a version that is not served is refused by name of those that are', async () => {
  const { message, headers } = mcpRequest('2025-11-25', 'tools/list')
  assert.equal((await errorOf(JSON.stringify(message), { ...headers, 'mcp-protocol-version': '2024-11-05' })).status, 400)
  const start = mcpRequest('2025-11-25', 'initialize', {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  })
  const { body } = await postMcp(app.url, JSON.stringify(start.message))
  assert.equal((body['result'] as Record<string, unknown>)['protocolVersion'], '2025-11-25')
})

test('there are no sessions: GET, DELETE and the rest are not allowed', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const response = await fetch(`${app.url}/mcp`, { method, headers: { accept: 'text/event-stream' } })
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'], method)
    const { error } = (await response.json()) as { error: RpcError }
    assert.equal(error.data?.['code'], 'METHOD_NOT_ALLOWED')
  }
})

test('only JSON is read, and the answer is JSON with the common headers', async () => {
  const body = callText(JSON.stringify(IBAN))
  assert.equal((await errorOf(body, { ...JSON_HEADERS, 'content-type': 'text/plain' })).status, 415)
  assert.equal((await errorOf(body, { ...JSON_HEADERS, accept: 'text/html' })).status, 406)
  const { status, headers } = await postMcp(app.url, body, { ...JSON_HEADERS, 'x-request-id': 'mine-1' })
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/json')
  assert.equal(headers.get('x-client-request-id'), 'mine-1')
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
})

test('calls over MCP are counted like calls over REST', async () => {
  const count = async () => {
    const { calls } = (await (await fetch(`${app.url}/status`)).json()) as {
      calls: { by_tool: { tool: string; outcome: string; count: number }[] }
    }
    return calls.by_tool.find(({ tool, outcome }) => tool === 'iban-check' && outcome === 'answered')?.count ?? 0
  }
  const before_count = await count()
  await postMcp(app.url, callText(JSON.stringify(IBAN)))
  assert.equal(await count(), before_count + 1)
})

// attack: DNS rebinding to /mcp and /a2a
test('a service for this machine only refuses pages and names from elsewhere', async () => {
  const { port } = new URL(app.url)
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost'])
    assert.equal(await statusForHost(app.url, host), 200, host)
  for (const host of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`])
    assert.equal(await statusForHost(app.url, host), 403, host)
  assert.equal(await statusForHost(app.url, `localhost:${port}`, { origin: 'http://localhost:3000' }), 200)
  for (const origin of ['http://evil.example', 'null', 'file://']) {
    assert.equal(await statusForHost(app.url, `localhost:${port}`, { origin }), 403, origin)
  }
})

test('a deployment with a public origin lets every page and every proxy in', () => {
  const local = 'http://127.0.0.1:8402'
  const open = createGuard({ base_url: local, api_url: local, site_url: local, mcp_url: 'https://mcp.assay.example' })
  assert.equal(open('mcp.assay.example', 'https://agent.example'), true)
  assert.equal(open('backend:8402', null), true)
  const shut = createGuard({ base_url: local, api_url: local, site_url: local, mcp_url: 'http://127.8.9.1:8402' })
  assert.equal(shut('127.8.9.1:8402', null), true)
  assert.equal(shut('mcp.assay.example', null), false)
  assert.equal(shut('localhost', 'https://agent.example'), false)
})
