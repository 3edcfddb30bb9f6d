import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ProtocolError, type CallToolResult, type Client } from '@modelcontextprotocol/client'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { verifyLink } from '../../src/pure/receipts/chain.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { limits } from '../../src/service/limits.ts'
import { answerSchema } from '../../src/surfaces/mcp/tool-list.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { runs } from '../support/counts.ts'
import { newAjv } from '../support/json-schema.ts'
import { connectMcp, mcpRequest, MCP_VERSIONS } from '../support/mcp.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const NEWEST = Object.keys(MCP_VERSIONS).at(-1)
const AJV = newAjv()
let app: TestApp

before(async () => {
  app = await startTestApp({ free_daily: 200, settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

/** A client with an allowance of its own. */
let clients = 0
const connect = (version = '2025-11-25') => connectMcp(app.url, version, { 'x-forwarded-for': `198.51.100.${++clients}` })

type Answer = Record<string, unknown> & {
  receipt: Record<string, unknown>
  result: Record<string, unknown>
  allowance: Record<string, unknown> | null
}

/** The structured answer; the brief text names its receipt. */
function answerOf(result: CallToolResult): Answer {
  assert.notEqual(result.isError, true, JSON.stringify(result.content))
  const [first] = result.content
  assert.ok(first?.type === 'text' && result.content.length === 1)
  const answer = result.structuredContent as Answer
  const digest = String(verifyReceipt(answer.receipt).digest)
  assert.ok(first.text.endsWith(`\nReceipt ${digest}, output_hash ${String(answer.receipt['output_hash'])}`), first.text)
  return answer
}

function schemaOf(schema: unknown): Record<string, unknown> {
  assert.ok(typeof schema === 'object' && schema !== null)
  return schema as Record<string, unknown>
}

/** The problem inside a result that is an error. */
function problemOf(result: CallToolResult): Record<string, unknown> {
  assert.equal(result.isError, true)
  const [first] = result.content
  assert.ok(first?.type === 'text')
  const problem = JSON.parse(first.text) as Record<string, unknown>
  // x402 transports-v2/mcp.md: terms stand in structuredContent and, the same, in the text; other problems in the text alone.
  assert.deepEqual(result.structuredContent, 'accepts' in problem ? problem : undefined)
  return problem
}

async function examples(): Promise<{ id: string; input: Record<string, unknown> }[]> {
  const { tools } = (await (await fetch(`${app.url}/v1/tools`)).json()) as { tools: { id: string }[] }
  const inputs = tools.map(async ({ id }) => {
    const { example } = (await (await fetch(`${app.url}/v1/tools/${id}`)).json()) as { example: { input: Record<string, unknown> } }
    return { id, input: example.input }
  })
  return Promise.all(inputs)
}

for (const version of Object.keys(MCP_VERSIONS)) {
  test(`${version}: the official client connects, lists and calls every tool by its example`, async () => {
    const client = await connect(version)
    assert.equal(client.getNegotiatedProtocolVersion(), version)
    assert.deepEqual(client.getServerCapabilities(), { tools: {} })
    assert.equal(client.getServerVersion()?.name, 'assay')
    assert.match(client.getInstructions() ?? '', /SANDBOX/)
    const { tools } = await client.listTools()
    const wanted = await examples()
    assert.deepEqual(
      tools.map(({ name }) => name),
      wanted.map(({ id }) => id),
    )
    // In the everyday suite the older versions call one tool of four.
    const called = wanted.filter((_one, index) => index % (version === NEWEST ? 1 : runs(4, 1)) === 0)
    for (const { id, input } of called) {
      // The client holds the structured answer against the listed output schema by itself.
      const answer = answerOf(await client.callTool({ name: id, arguments: input }))
      const listed = tools.find(({ name }) => name === id)
      assert.ok(AJV.validate(schemaOf(listed?.outputSchema), answer), id)
      assert.ok(AJV.validate(schemaOf(listed?.inputSchema), input), id)
      checkReceipt(answer, id)
    }
    await client.close()
  })
}

/** The receipt is signed, names the tool and covers the result as it came over the wire. */
function checkReceipt(answer: Answer, id: string): void {
  const { receipt, result } = answer
  const verdict = verifyReceipt(receipt)
  assert.equal(verdict.valid, true, id)
  assert.equal(receipt['tool'], id)
  // Keys arrive in RFC 8785 order, so the text of the result as received is its canonical text.
  assert.equal(receipt['output_hash'], nobleCrypto.keccak256Hex(JSON.stringify(result)))
  assert.equal(result['tool'], id)
  assert.ok(String(answer['embeddable_badge']).includes(String(verdict.digest)))
  assert.ok(String(answer['proof_summary_markdown']).includes(String(verdict.digest)))
}

/** By the specification: what reads the chain, a market or a registry, and what leaves a record behind. */
const OUTSIDE = new Set([
  'get-b2b-invoice',
  'settlement-history-check',
  'balance-check',
  'erc20-balance',
  'tx-activity',
  'block-info',
  'token-contract-risk',
  'crypto-ticker',
  'fx-spot-price-oracle',
  'calculate-fx-savings',
  'pre-disbursement-guard',
  'list-approved-insurers',
  'quote-3rd-party-insurance',
  'bind-insurance-policy',
])
const WRITES = new Set(['assured-create', 'dip-file-dispute', 'bind-insurance-policy', 'create-b2b-invoice', 'create-ap2-pilot'])
/** Each call makes another one. */
const REPEATS = new Set(['create-b2b-invoice', 'create-ap2-pilot'])

test('the list is complete, honest in its hints and within its bytes', async () => {
  const client = await connect()
  const { tools } = await client.listTools()
  assert.ok(Buffer.byteLength(JSON.stringify(tools)) < limits.mcp_list_bytes)
  for (const tool of tools) {
    assert.match(tool.name, /^[a-z0-9-]{1,64}$/)
    assert.ok((tool.title ?? '') !== '' && (tool.description ?? '') !== '', tool.name)
    // Without $schema, 2020-12 is meant (MCP 2025-11-25, basic, JSON Schema usage).
    for (const schema of [tool.inputSchema, tool.outputSchema]) assert.doesNotThrow(() => AJV.compile(schemaOf(schema)), tool.name)
    assert.equal(schemaOf(tool.outputSchema)['$schema'], 'https://json-schema.org/draft/2020-12/schema', tool.name)
    const hints = tool.annotations ?? {}
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      assert.equal(typeof hints[hint], 'boolean', tool.name)
    const readOnlyHint = !WRITES.has(tool.name)
    const expected = {
      readOnlyHint,
      destructiveHint: false,
      idempotentHint: !REPEATS.has(tool.name),
      openWorldHint: OUTSIDE.has(tool.name),
    }
    assert.deepEqual(hints, expected, tool.name)
  }
  await client.close()
})

test('the text of an answer has the level of detail of message, header or address, in this order', async () => {
  const textFor = async (detail: Record<string, unknown>, header: Record<string, string> = {}, query = '') => {
    const { headers, message } = mcpRequest('2025-11-25', 'tools/call', { name: 'iban-check', arguments: IBAN, _meta: detail })
    const response = await fetch(`${app.url}/mcp${query}`, {
      method: 'POST',
      headers: { ...headers, ...header },
      body: JSON.stringify(message),
    })
    const { result } = (await response.json()) as { result: CallToolResult }
    const [first] = result.content
    assert.ok(first?.type === 'text')
    return { text: first.text, whole: JSON.stringify(result.structuredContent), is_error: result.isError === true }
  }
  const levels = [
    [{}, {}, '', 'brief'],
    [{ 'assay/detail': 'brief' }, { 'x-detail': 'full' }, '', 'brief'],
    [{}, { 'x-detail': 'standard' }, '?detail=brief', 'full'],
    [{}, {}, '?detail=full', 'full'],
  ] as const
  for (const [detail, header, query, expected] of levels) {
    const { text, whole } = await textFor(detail, header, query)
    assert.equal(text === whole, expected === 'full', text)
    if (expected === 'brief')
      assert.match(text, /^valid: .*\nValue: GB82WEST12345698765432\n.*\nNot checked: .*\nPrice: free; \d+ of \d+ free calls left today\n/)
  }
  for (const wrong of ['', 'Full', 7, null, { level: 'full' }]) {
    const { text, is_error } = await textFor({ 'assay/detail': wrong })
    const { code, errors } = JSON.parse(text) as { code: string; errors: { pointer: string }[] }
    assert.deepEqual([is_error, code, errors[0]?.pointer], [true, 'INPUT_SCHEMA_INVALID', '/params/_meta/assay~1detail'])
  }
})

test('underscores are read as hyphens, and the receipt carries the hyphen id', async () => {
  const client = await connect()
  const answer = answerOf(await client.callTool({ name: 'iban_check', arguments: IBAN }))
  assert.equal(answer.receipt['tool'], 'iban-check')
  await client.close()
})

test('input that does not fit is told to the model, in a result, and costs nothing', async () => {
  const client = await connect()
  const left = async () => Number(answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN })).allowance?.['remaining'])
  const left_before = await left()
  const problem = problemOf(await client.callTool({ name: 'iban-check', arguments: { ibam: 'GB82' } }))
  assert.equal(problem['code'], 'INPUT_SCHEMA_INVALID')
  assert.equal(problem['charged'], false)
  const errors = problem['errors'] as { pointer: string; code: string }[]
  assert.ok(errors.some(({ pointer, code }) => pointer === '/params/arguments/iban' && code === 'missing'))
  assert.ok(errors.some(({ pointer, code }) => pointer === '/params/arguments/ibam' && code === 'unknown_field'))
  assert.equal(await left(), left_before - 1)
  await client.close()
})

test('an unknown tool is an error of the protocol and carries the problem', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    const client = await connect(version)
    await assert.rejects(client.callTool({ name: 'iban-chek', arguments: IBAN }), (error: unknown) => {
      assert.ok(error instanceof ProtocolError)
      assert.equal(error.code, -32602)
      assert.equal((error.data as Record<string, unknown>)['code'], 'TOOL_NOT_FOUND')
      assert.ok(!error.message.includes('chek'), 'what the caller wrote does not come back')
      return true
    })
    await client.close()
  }
})

test('a previous receipt gives a signed link; what is no digest is refused before anything is counted', async () => {
  const client = await connect()
  const first = answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN }))
  assert.ok(!('chain' in first))
  const digest = String(verifyReceipt(first.receipt).digest)
  const second = answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN, _meta: { 'assay/prev-receipt-hash': digest } }))
  assert.equal((second['chain'] as Record<string, unknown>)['prev_receipt_hash'], digest)
  assert.equal(verifyLink(second['chain'], String(verifyReceipt(second.receipt).digest), String(second.receipt['signer'])).valid, true)
  for (const wrong of ['0x12', '', 7, null, {}]) {
    const problem = problemOf(await client.callTool({ name: 'iban-check', arguments: IBAN, _meta: { 'assay/prev-receipt-hash': wrong } }))
    assert.equal(problem['code'], 'PREV_RECEIPT_HASH_INVALID')
  }
  await client.close()
})

test('a call that brings a payment that cannot be read, or a credit, is refused and uses no allowance', async () => {
  const count = async (client: Client) =>
    Number(answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN })).allowance?.['remaining'])
  const client = await connect()
  const left_before = await count(client)
  for (const key of ['x402/payment', 'x402.payment']) {
    const problem = problemOf(await client.callTool({ name: 'iban-check', arguments: IBAN, _meta: { [key]: { x402Version: 2 } } }))
    assert.equal(problem['code'], 'MALFORMED_PAYMENT')
  }
  assert.equal(await count(client), left_before - 1)
  const credited = await connectMcp(app.url, '2025-11-25', { 'x-credit': 'code', 'x-forwarded-for': '198.51.100.250' })
  assert.equal(problemOf(await credited.callTool({ name: 'iban-check', arguments: IBAN }))['code'], 'CREDIT_KEY_INVALID')
  await Promise.all([client.close(), credited.close()])
})

test('REST and MCP draw on one allowance; when it is used up the result is the 402 as a problem', async () => {
  const few = await startTestApp({ free_daily: 3 })
  const client = await connectMcp(few.url, '2026-07-28')
  const left = async () => answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN })).allowance?.['remaining']
  assert.equal(await left(), 2)
  assert.equal((await restCall(few.url, 'iban-check', IBAN)).status, 200)
  assert.equal(await left(), 0)
  await client.listTools()
  const problem = problemOf(await client.callTool({ name: 'iban-check', arguments: IBAN }))
  assert.equal(problem['code'], 'PAYMENT_REQUIRED')
  assert.equal(problem['status'], 402)
  assert.equal((problem['allowance'] as Record<string, unknown>)['remaining'], 0)
  await client.close()
  await few.stop()
})

test('the output schema of a tool takes its answers, and the terms of an unpaid call, which older clients hold against it', () => {
  const validate = newAjv().compile(answerSchema({ type: 'object', properties: { valid: { type: 'boolean' } } }))
  const answer = { receipt: {}, tier: 'free', settlement: null, allowance: null, embeddable_badge: '', proof_summary_markdown: '' }
  const cases: [boolean, object][] = [
    [true, { x402Version: 2, accepts: [], error: 'PAYMENT-SIGNATURE header is required', allowance: null }],
    [true, { result: { valid: true }, ...answer }],
    [false, { result: { valid: 'yes' }, ...answer }],
    [false, { result: { valid: true } }],
  ]
  for (const [isRight, value] of cases) assert.equal(validate(value), isRight, JSON.stringify(value))
})
