/** Short lists for models with little room: families, and two tools that stand for all others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { FAMILIES } from '../../src/service/catalogue/define.ts'
import { searchTools } from '../../src/service/catalogue/search.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'
import { fundedPayer, signTerms, type Required } from '../support/paying.ts'
import { MCP_VERSIONS, mcpRequest } from '../support/mcp.ts'

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const SMALL_BYTES = 8_192
const AJV = newAjv()

let app: TestApp
before(async () => {
  app = await startTestApp({ free_daily: 3, settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

let clients = 0

async function connect(query: string, version = '2025-11-25'): Promise<Client> {
  const { mode, known } = MCP_VERSIONS[version] ?? { mode: 'auto' as const, known: [version] }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, supportedProtocolVersions: known })
  const headers = { 'x-forwarded-for': `198.51.100.${++clients}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp${query}`), { requestInit: { headers } }))
  return client
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): Record<string, unknown> {
  const [first] = result.content
  assert.ok(first?.type === 'text')
  return asMembers(result.isError === true ? JSON.parse(first.text) : result.structuredContent)
}

async function namesFor(query: string): Promise<string[]> {
  const client = await connect(query)
  const { tools } = await client.listTools()
  await client.close()
  return tools.map(({ name }) => name)
}

test('a list of families holds their tools in the order of the whole', async () => {
  const { tools } = app.running.app.deps.call.catalogue
  const of = (...families: string[]) => tools.filter(({ family }) => families.includes(family)).map(({ id }) => id)
  assert.deepEqual(await namesFor('?family=tax,bank'), of('bank', 'tax'))
  assert.deepEqual(await namesFor('?family=%20goods%20'), of('goods'))
  assert.equal((await namesFor('')).length, tools.length)
  // Only the list is shorter: what it leaves out can be called.
  const client = await connect('?family=goods')
  const { isError } = await client.callTool({ name: 'iban-check', arguments: IBAN })
  assert.notEqual(isError, true)
  await client.close()
})

test('a family that is none is refused before the message is read', async () => {
  for (const family of ['', 'banks', 'bank,', 'bank,__proto__', 'x'.repeat(1_000)]) {
    const { headers, message } = mcpRequest('2025-11-25', 'tools/list')
    const response = await fetch(`${app.url}/mcp?family=${family}`, { method: 'POST', headers, body: JSON.stringify(message) })
    assert.equal(response.status, 404, family)
    assert.match(await response.text(), /Families are bank, company/)
  }
})

test('a form of the list that is none is refused, not overlooked', async () => {
  for (const form of ['', 'Search', 'all']) {
    const { headers, message } = mcpRequest('2025-11-25', 'tools/list')
    const response = await fetch(`${app.url}/mcp?tools=${form}`, { method: 'POST', headers, body: JSON.stringify(message) })
    assert.deepEqual([response.status, /tools must be .*search.*small.* or absent/.test(await response.text())], [404, true], form)
  }
})

test('a cursor that nobody handed out is an invalid parameter', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    for (const query of ['', '?tools=search']) {
      const { headers, message } = mcpRequest(version, 'tools/list', { cursor: 'abc' })
      const response = await fetch(`${app.url}/mcp${query}`, { method: 'POST', headers, body: JSON.stringify(message) })
      const { error } = (await response.json()) as { error?: { code: number } }
      assert.equal(error?.code, -32602, `${version} ${query}`)
    }
  }
})

for (const version of Object.keys(MCP_VERSIONS)) {
  test(`${version}: two tools find and call the others, with the receipt of the one that answered`, async () => {
    const client = await connect('?tools=search', version)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find_tools', 'call_tool'],
    )
    assert.ok(Buffer.byteLength(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })) < SMALL_BYTES)
    const found = asMembers((await client.callTool({ name: 'find_tools', arguments: { query: 'check an IBAN' } })).structuredContent)
    const [best] = found['tools'] as Record<string, unknown>[]
    assert.equal(best?.['tool'], 'iban-check')
    assert.ok(AJV.validate(asMembers(best?.['input_schema']), IBAN))
    const answer = textOf(await client.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN } }))
    const receipt = asMembers(answer['receipt'])
    assert.deepEqual([verifyReceipt(receipt).valid, receipt['tool'], receipt['tier']], [true, 'iban-check', 'free'])
    await client.close()
  })
}

test('/mcp/small lists the search, the call and the most used tools, of any revision', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    const client = await connect('/small', version)
    const names = (await client.listTools()).tools.map(({ name }) => name)
    assert.deepEqual([names.slice(0, 2), names.length], [['find_tool', 'call_tool'], 12], version)
    assert.ok(names.slice(2).every((name) => app.running.app.deps.call.catalogue.find(name) !== undefined))
    const found = await client.callTool({ name: 'find_tool', arguments: { query: 'is this supplier safe to pay?' } })
    assert.match(
      found.content[0]?.type === 'text' ? found.content[0].text : '',
      /^pre-disbursement-guard, .*USDC.*Input: recipient_iban\?: string/,
    )
    const [best] = asMembers(found.structuredContent)['tools'] as Record<string, unknown>[]
    assert.equal(best?.['tool'], 'pre-disbursement-guard')
    await client.close()
  }
})

test('the pages of the list have every tool once, and the cursor stays valid for the whole list', async () => {
  for (const version of Object.keys(MCP_VERSIONS)) {
    const page = async (cursor?: string, size = '?page=20') => {
      const { headers, message } = mcpRequest(version, 'tools/list', cursor === undefined ? {} : { cursor })
      const response = await fetch(`${app.url}/mcp${size}`, { method: 'POST', headers, body: JSON.stringify(message) })
      return (await response.json()) as { result: { tools: { name: string }[]; nextCursor?: string }; error?: { code: number } }
    }
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await page(cursor)
      assert.ok(result.tools.length > 0 && result.tools.length <= 20)
      names.push(...result.tools.map(({ name }) => name))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    assert.deepEqual(names, await namesFor(''))
    const rest = await page((await page()).result.nextCursor, '')
    assert.deepEqual(
      rest.result.tools.map(({ name }) => name),
      names.slice(20),
    )
    assert.equal(rest.result.nextCursor, undefined)
    // Base64url with padding, and a name that is no tool.
    for (const wrong of [`${Buffer.from(names[3] ?? '').toString('base64url')}=`, Buffer.from('no-tool').toString('base64url'), ''])
      assert.equal((await page(wrong)).error?.code, -32602, wrong)
  }
  for (const size of ['0', '101', '-1', '1e1', 'x', '']) {
    const { headers, message } = mcpRequest('2025-11-25', 'tools/list')
    const response = await fetch(`${app.url}/mcp?page=${size}`, { method: 'POST', headers, body: JSON.stringify(message) })
    assert.equal(response.status, 404, size)
  }
})

test('every tool is found by its id, and by its title', () => {
  const { tools } = app.running.app.deps.call.catalogue
  for (const tool of tools) {
    for (const words of [tool.id, tool.title]) {
      const found = searchTools(tools, { words, families: null }).map(({ id }) => id)
      assert.ok(found.slice(0, 5).includes(tool.id), `${words}: ${found.slice(0, 5).join(', ')}`)
    }
  }
  assert.equal(searchTools(tools, { words: 'zzzz qqqq', families: null }).length, 0)
  for (const [words, id] of [
    ['is this supplier safe to pay?', 'pre-disbursement-guard'],
    ['check a bank account number', 'iban-check'],
    ['is this address sanctioned', 'ofac-sdn-check'],
    ['validate a payment message', 'iso20022-validate'],
    ['phone number', 'e164-check'],
    ['constructor', undefined],
  ] as const)
    assert.equal(searchTools(tools, { words, families: null })[0]?.id, id, words)
  assert.equal(
    searchTools(tools, { words: '', families: new Set(['goods']) }).length,
    tools.filter(({ family }) => family === 'goods').length,
  )
})

test('what find_tools is asked wrongly, it says', async () => {
  const client = await connect('?tools=search')
  for (const [given, pointer] of [
    [{}, '/params/arguments/query'],
    [{ query: 7 }, '/params/arguments/query'],
    [{ query: 'x'.repeat(201) }, '/params/arguments/query'],
    [{ query: 'a', limit: 0 }, '/params/arguments/limit'],
    [{ query: 'a', limit: 11 }, '/params/arguments/limit'],
    [{ query: 'a', family: 'toString' }, '/params/arguments/family'],
    [{ query: 'a', more: 1 }, '/params/arguments'],
  ] as const) {
    const result = await client.callTool({ name: 'find_tools', arguments: given })
    assert.equal(result.isError, true)
    const [error] = textOf(result)['errors'] as { pointer: string }[]
    assert.equal(error?.pointer, pointer)
  }
  const within = asMembers(
    (await client.callTool({ name: 'find_tools', arguments: { query: 'number', family: 'tax', limit: 10 } })).structuredContent,
  )
  const families = (within['tools'] as { family: string }[]).map(({ family }) => family)
  assert.ok(families.length > 1 && families.every((family) => family === 'tax'))
  assert.ok(Object.keys(FAMILIES).length > 10)
  await client.close()
})

test('faults of the inner input point into it; an unknown tool is no tool', async () => {
  const client = await connect('?tools=search')
  const refused = textOf(await client.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: { ibam: 'x' } } }))
  assert.equal(refused['code'], 'INPUT_SCHEMA_INVALID')
  const pointers = (refused['errors'] as { pointer: string }[]).map(({ pointer }) => pointer)
  assert.ok(
    pointers.every((pointer) => pointer.startsWith('/params/arguments/input')),
    pointers.join(' '),
  )
  const stray = textOf(await client.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN, iban: IBAN.iban } }))
  assert.deepEqual(
    [stray['code'], (stray['errors'] as { pointer: string; code: string }[]).map(({ pointer, code }) => [pointer, code])],
    ['INPUT_SCHEMA_INVALID', [['/params/arguments', 'unknown_field']]],
  )
  for (const tool of ['nothing-here', 'call_tool', 'find_tools', 7]) {
    await assert.rejects(client.callTool({ name: 'call_tool', arguments: { tool, input: {} } }), /No such tool/)
  }
  await client.close()
  // On the whole list the pair does not exist.
  const whole = await connect('')
  await assert.rejects(whole.callTool({ name: 'find_tools', arguments: { query: 'a' } }), /No such tool/)
  await whole.close()
})

test('a call through call_tool is counted and paid as that of its tool', async () => {
  const client = await connect('?tools=search')
  const call = (meta?: Record<string, unknown>) =>
    client.callTool({ name: 'call_tool', arguments: { tool: 'iban_check', input: IBAN }, ...(meta === undefined ? {} : { _meta: meta }) })
  for (const remaining of [2, 1, 0]) assert.equal(asMembers(textOf(await call())['allowance'])['remaining'], remaining)
  const refused = textOf(await call())
  assert.equal(refused['code'], 'PAYMENT_REQUIRED')
  const terms = refused as unknown as Required
  assert.equal(terms.resource.url, 'mcp://tool/iban-check')
  const { sandbox } = app.running.app.deps
  assert.ok(sandbox !== null)
  const payer = await fundedPayer(sandbox.rpc_url, sandbox.usdc)
  const { v2 } = await signTerms(payer, terms)
  const paid = textOf(await call({ 'x402/payment': JSON.parse(Buffer.from(v2, 'base64').toString()) as unknown }))
  const receipt = asMembers(paid['receipt'])
  assert.deepEqual([receipt['tool'], receipt['tier'], receipt['payer']], ['iban-check', 'paid', payer.address.toLowerCase()])
  await client.close()
})
