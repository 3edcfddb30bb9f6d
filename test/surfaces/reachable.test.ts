import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getAddress } from 'viem'
import { startTestApp, type TestApp } from '../support/app.ts'

/** What outsiders meet first: addresses, headers and terms in the forms that they use. */

let app: TestApp
before(async () => {
  app = await startTestApp({ free_daily: 2 })
})
after(() => app.stop())

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const CARD = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'none' } }

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(app.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}

test('MCP takes any Accept that allows its forms, and addresses may end with a slash', async () => {
  for (const accept of ['*/*', '*/*;q=0.8', 'application/json, text/event-stream']) {
    for (const path of ['/mcp', '/mcp/']) {
      const { status, body } = await post(path, LIST, { accept })
      assert.equal(status, 200, `${path} ${accept}`)
      assert.ok(Array.isArray((body['result'] as { tools: unknown[] }).tools))
    }
  }
  const { status, body } = await post('/a2a/', CARD)
  assert.deepEqual([status, (body['error'] as { code: number }).code], [200, -32001])
  assert.equal((await fetch(`${app.url}/mcp/`)).status, 405)
})

test('a 402 names the price, the way to pay and when free calls come back, the same for all tools', async () => {
  const call = (tool: string, input: unknown) => post(`/v1/tools/${tool}/call`, { input })
  for (const tool of ['iban-check', 'swift-bic-check'])
    assert.equal((await call(tool, tool === 'iban-check' ? { iban: 'GB82WEST12345698765432' } : { bic: 'DEUTDEFF' })).status, 200)
  for (const [tool, input] of [
    ['iban-check', { iban: 'GB82WEST12345698765432' }],
    ['lei-check', { lei: '5493001KJTIIGC8Y1R12' }],
  ] as const) {
    const { status, body } = await call(tool, input)
    assert.equal(status, 402)
    assert.match(
      String(body['detail']),
      /^You have used today's 2 free calls\. Free calls reset at 00:00 UTC \(in (?:\d+ h|(?:\d+ h )?\d+ min|1 d)\)\. This call costs 0\.0\d+ USDC, which buys one answer of [a-z-]+ with a signed receipt\. To pay, sign the USDC transfer in `accepts` \(x402, EIP-3009\) and send the same request again with it: http:.+\/docs\/payment$/,
    )
    assert.equal((await fetch(String(body['detail']).split(' ').at(-1) ?? '')).status, 200)
    const [terms] = body['accepts'] as Record<string, unknown>[]
    assert.equal(terms?.['payTo'], getAddress(String(terms?.['payTo'])))
    const schema = terms?.['outputSchema'] as { input: Record<string, unknown> }
    assert.deepEqual([schema.input['type'], schema.input['method']], ['http', 'POST'])
  }
})

test('x402.json is served under both names, and each resource carries its address as catalogues read it', async () => {
  const read = async (path: string) => (await (await fetch(app.url + path)).json()) as { resources: Record<string, unknown>[] }
  const [one, other] = [await read('/.well-known/x402.json'), await read('/.well-known/x402')]
  assert.deepEqual(one.resources.length, other.resources.length)
  for (const { url, resource } of one.resources) {
    assert.equal(resource, url)
    assert.match(String(resource), /^http:\/\/.*\/v1\/tools\/[a-z0-9-]+\/call$/)
  }
})
