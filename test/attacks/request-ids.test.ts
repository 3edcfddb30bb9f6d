/** Ids of requests: no caller chooses the id under which the service answers and logs, and what a caller names is bounded and kept apart. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startService, type Service } from '../support/service.ts'

let service: Service
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-ids-'))
  service = await startService({ ASSAY_DATA_DIR: folder, ASSAY_LOG_LEVEL: 'info' })
})
after(() => rm(folder, { recursive: true, force: true }))

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const IBAN = { iban: 'GB82WEST12345698765432' }
const MESSAGE = { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'data', data: { tool: 'iban-check', input: IBAN } }] }

/** Calls and refusals of each surface. */
const REQUESTS: Record<string, { path: string; body?: unknown }> = {
  'a call': { path: '/v1/tools/iban-check/call', body: { input: IBAN } },
  'a refused call': { path: '/v1/tools/iban-check/call', body: { input: {} } },
  'a call over MCP': {
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'iban-check', arguments: IBAN } },
  },
  'a refused call over MCP': {
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'no-tool', arguments: {} } },
  },
  'a call over A2A': { path: '/a2a', body: { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: MESSAGE } } },
  'an unknown address': { path: '/v1/nothing' },
  'an unknown invoice': { path: '/api/invoice/inv_zzzzzzzzzzzz' },
  'a page': { path: '/' },
}

function send({ path, body }: { path: string; body?: unknown }, headers: Record<string, string>): Promise<Response> {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  return fetch(service.url + path, body === undefined ? { headers } : { method: 'POST', body: JSON.stringify(body), headers: common })
}

for (const [what, request] of Object.entries(REQUESTS)) {
  test(`${what}: two requests with the id of one caller have two ids, neither of them the caller's`, async () => {
    const ids = new Set<string>()
    for (const name of ['x-request-id', 'x-client-request-id']) {
      const response = await send(request, { [name]: 'attacker-chosen-3' })
      const id = response.headers.get('x-request-id') ?? ''
      assert.match(id, UUID)
      ids.add(id)
      assert.equal(response.headers.get('x-client-request-id'), 'attacker-chosen-3')
      const text = await response.text()
      assert.ok(!text.includes('attacker-chosen'), text.slice(0, 300))
      const own = /"request_id":"([^"]*)"/.exec(text.replaceAll('\\"', '"'))?.[1]
      if (own !== undefined) assert.equal(own, id)
    }
    assert.equal(ids.size, 2)
  })
}

// attack: response splitting by line ends in paths and headers
test('a name that is long or not plain is neither returned nor logged; the log has the id first', async () => {
  const odd = ['x'.repeat(65), 'a b', 'a/b', '{"msg":1}', 'a,b', '%0d%0a']
  for (const name of odd) {
    const response = await send({ path: '/v1/tools/iban-check/call', body: { input: IBAN } }, { 'x-client-request-id': name })
    assert.equal(response.headers.get('x-client-request-id'), null, name)
  }
  service.process.kill('SIGTERM')
  await service.ended
  const calls = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'call')
  assert.ok(calls.every(({ request_id }) => UUID.test(String(request_id))))
  assert.equal(new Set(calls.map(({ request_id }) => request_id)).size, calls.length)
  const named = calls.filter((line) => 'client_request_id' in line)
  assert.deepEqual(new Set(named.map(({ client_request_id }) => client_request_id)), new Set(['attacker-chosen-3']))
  for (const name of odd) assert.ok(!service.log().includes(`"${name}"`), name)
})
