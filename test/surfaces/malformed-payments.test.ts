/** A payment that cannot be decoded is 400 on every surface, uncharged and without terms; the same request without it gets the terms. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asking, connectA2a, dataOf, taskFor } from '../support/a2a.ts'
import { call, INPUT, TOOL } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const encoded = (text: string) => Buffer.from(text).toString('base64')

/** Value of the header, and the words of its refusal. */
const UNDECODABLE: readonly [string, RegExp][] = [
  ['what?', /is not Base64/],
  ['', /is empty/],
  ['abcde', /is truncated Base64/],
  [encoded('{"x402Version":2'), /is not Base64 of strict JSON/],
  [encoded('not json'), /is not Base64 of strict JSON/],
  [encoded('[]'), /is Base64 of a JSON array/],
  [encoded('null'), /is Base64 of null/],
  [encoded('"text"'), /is Base64 of a JSON string/],
  [Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'), /is not Base64 of UTF-8/],
]

for (const name of ['x-payment', 'payment-signature']) {
  test(`${name} that cannot be decoded is 400, named with its fault`, async () => {
    for (const [value, fault] of UNDECODABLE) {
      const { status, headers, body } = await call(world.url, { [name]: value })
      assert.deepEqual(
        [status, body['code'], body['charged'], body['invalid_reason']],
        [400, 'PAYMENT_UNDECODABLE', false, 'invalid_payload'],
      )
      assert.match(String(body['detail']), new RegExp(`^${name.toUpperCase()} ${fault.source}`))
      assert.match(String(body['detail']), /same request without a payment returns the terms/)
      assert.equal(headers.get('payment-required'), null)
    }
    assert.equal((await call(world.url, {})).status, 402)
  })
}

test('a malformed payment-identifier id is 400; an object that is no payment is 402 with the terms', async () => {
  const identified = (id: unknown) => ({
    x402Version: 2,
    accepted: {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1',
      asset: `0x${'0'.repeat(40)}`,
      payTo: `0x${'0'.repeat(40)}`,
    },
    payload: {},
    extensions: { 'payment-identifier': { info: { required: false, id } } },
  })
  for (const id of ['x'.repeat(15), 'x'.repeat(129), 'sixteen chars ok', 'sixteen.chars.ok', 16]) {
    const { status, body } = await call(world.url, { 'payment-signature': encoded(JSON.stringify(identified(id))) })
    assert.deepEqual([status, body['code'], body['charged']], [400, 'PAYMENT_IDENTIFIER_INVALID', false])
    assert.match(String(body['detail']), /^extensions\.payment-identifier\.info\.id must be 16 to 128/)
  }
  const { status, body, headers } = await call(world.url, { 'x-payment': encoded('{}') })
  assert.deepEqual([status, body['code']], [402, 'MALFORMED_PAYMENT'])
  assert.notEqual(headers.get('payment-required'), null)
})

test('over MCP it is an error result with the same code, and no terms', async () => {
  for (const payment of ['what?', encoded('[]'), [], 'null', 7]) {
    const params = { name: TOOL, arguments: INPUT, _meta: { 'x402/payment': payment } }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const text = await (await fetch(`${world.url}/mcp`, { method: 'POST', headers, body })).text()
    assert.ok(text.includes('PAYMENT_UNDECODABLE') && text.includes('"isError":true') && !text.includes('accepts'), text)
  }
})

test('over A2A the task fails with the same code', async () => {
  const client = await connectA2a(world.url)
  const task = await taskFor(client, asking({ tool: TOOL, input: INPUT }, { metadata: { 'x402.payment.payload': 'what?' } }))
  const { code, charged, status } = dataOf(task)
  assert.deepEqual({ code, charged, status }, { code: 'PAYMENT_UNDECODABLE', charged: false, status: 400 })
})
