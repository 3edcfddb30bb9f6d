/** What the service publishes about itself is read by its own preflight over HTTP, and passes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

async function checked(protocol: string, document: unknown) {
  const response = await fetch(`${app.url}/v1/protocols/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ protocol, document }),
  })
  const body = (await response.json()) as { errors?: unknown[] }
  assert.equal(response.status, 200, JSON.stringify(body).slice(0, 600))
  return body
}

const DOCUMENTS = {
  '/.well-known/x402.json': 'x402',
  '/.well-known/x402': 'x402',
  '/.well-known/agent-card.json': 'a2a',
} as const

for (const [path, protocol] of Object.entries(DOCUMENTS)) {
  test(`${path} passes the preflight`, async () => {
    const { errors } = await checked(protocol, await (await fetch(app.url + path)).json())
    assert.deepEqual(errors, [])
  })
}

test('the whole list of tools passes the preflight', async () => {
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  const text = await response.text()
  const list: unknown = JSON.parse(text.startsWith('{') ? text : (text.split('data: ')[1] ?? ''))
  assert.deepEqual((await checked('mcp', list)).errors, [])
})
