/** Tokens that language models pay for discovery and answers, counted by gpt-tokenizer with the vocabulary o200k_base. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { startTestApp, type TestApp } from '../support/app.ts'
import { newAjv } from '../support/json-schema.ts'
import { asMembers } from '../support/documents.ts'
import { mcpRequest } from '../support/mcp.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

type Listed = Record<'name' | 'title' | 'description', string> & Record<'inputSchema' | 'outputSchema', Record<string, unknown>>

async function list(path: string): Promise<Listed[]> {
  const { headers, message } = mcpRequest('2025-11-25', 'tools/list')
  const response = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(message) })
  const result = asMembers(asMembers(await response.json())['result'])
  return result['tools'] as Listed[]
}

/** Hosts show models names, titles, descriptions and input schemas. */
function seenBy(tools: Listed[]): string {
  return JSON.stringify(tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema })))
}

test('the whole list costs a model at most 8,000 tokens, and its output schemas 100,000 bytes', async () => {
  const tools = await list('/mcp')
  assert.equal(tools.length, app.running.app.deps.call.catalogue.tools.length)
  const tokens = countTokens(seenBy(tools))
  assert.ok(tokens <= 8_000, `${tokens} tokens`)
  const bytes = Buffer.byteLength(JSON.stringify(tools.map(({ outputSchema }) => outputSchema)))
  assert.ok(bytes <= 100_000, `${bytes} bytes of output schemas`)
  for (const { name, title, description } of tools) assert.ok(!`${title}${description}`.includes('\n') && description.length > 15, name)
})

test('the small list costs a model at most 2,000 tokens', async () => {
  const tokens = countTokens(seenBy(await list('/mcp/small')))
  assert.ok(tokens <= 2_000, `${tokens} tokens`)
})

interface Called {
  content: [{ text: string }]
  structuredContent: Record<string, unknown>
  isError?: true
}

async function callOver(path: string, name: string, input: unknown): Promise<Called> {
  const { headers, message } = mcpRequest('2025-11-25', 'tools/call', { name, arguments: input })
  const response = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(message) })
  return asMembers(await response.json())['result'] as Called
}

test('the text of an answer costs a model at most 250 tokens, whatever the tool', async () => {
  for (const { id, example } of app.running.app.deps.call.catalogue.tools) {
    const { content, isError } = await callOver('/mcp', id, example)
    assert.notEqual(isError, true, id)
    const tokens = countTokens(content[0].text)
    assert.ok(tokens <= 250, `${id}: ${tokens} tokens\n${content[0].text}`)
  }
})

test('"is this supplier safe to pay?" is answered with the small list in three calls and 3,000 tokens', async () => {
  const input = { recipient_iban: 'GB82WEST12345698765432', vendor_domain: 'example.com', invoice_amount_usd: 12_000 }
  const spent: string[] = [seenBy(await list('/mcp/small'))]
  const ask = async (name: string, given: object) => {
    const { content, structuredContent, isError } = await callOver('/mcp/small', name, given)
    assert.notEqual(isError, true)
    spent.push(JSON.stringify({ name, arguments: given }), content[0].text)
    return structuredContent
  }
  const { tools } = (await ask('find_tool', { query: 'is this supplier safe to pay?', limit: 3 })) as { tools: { tool: string }[] }
  const tool = tools[0]?.tool
  const { result } = await ask('call_tool', { tool, input })
  assert.match(String(asMembers(result)['decision']), /^(CLEAR|REVIEW|BLOCK)$/)
  assert.match(spent.at(-1) ?? '', /^(CLEAR|REVIEW|BLOCK): /)
  await ask('call_tool', { tool: 'iban-check', input: { iban: input.recipient_iban } })
  const tokens = spent.reduce((sum, text) => sum + countTokens(text), 0)
  assert.ok(tokens <= 3_000, `${tokens} tokens`)
})

test('a brief answer over REST costs a model at most 450 tokens, whatever the tool', async () => {
  for (const { id, example } of app.running.app.deps.call.catalogue.tools) {
    const body = JSON.stringify({ input: example })
    const response = await fetch(`${app.url}/v1/tools/${id}/call`, { method: 'POST', headers: { 'x-detail': 'brief' }, body })
    const tokens = countTokens(await response.text())
    assert.ok(response.status === 200 && tokens <= 450, `${id}: ${tokens} tokens`)
  }
})

test('listed schemas accept the examples, name every field once and refuse values of another type', async () => {
  for (const { name, inputSchema } of await list('/mcp')) {
    const tool = app.running.app.deps.call.catalogue.find(name)
    const accepts = newAjv().compile(inputSchema)
    assert.ok(accepts(tool?.example), `${name}: ${JSON.stringify(accepts.errors)}`)
    const fields = Object.keys(asMembers(inputSchema['properties']))
    const full = Object.keys(asMembers(app.running.app.deps.schemas.get(name)?.input['properties']))
    assert.deepEqual(
      fields,
      full.filter((field) => fields.includes(field)),
      name,
    )
    assert.ok(
      Object.keys(tool?.example ?? {}).every((field) => fields.includes(field)),
      name,
    )
    for (const field of Array.isArray(inputSchema['required']) ? inputSchema['required'] : [])
      assert.equal(accepts({ ...tool?.example, [String(field)]: undefined, [`${field}_`]: 1 }), false, `${name}: ${field}`)
  }
  const currency = (await list('/mcp')).find(({ name }) => name === 'calculate-fx-savings')?.inputSchema
  const choices = asMembers(asMembers(currency?.['properties'])['currency'])['examples'] as string[]
  assert.deepEqual([choices.length, choices.every((one) => /^[A-Z]{3}$/.test(one))], [14, true])
})

test('listed schemas accept every choice in every spelling that the service accepts, so that no host refuses what it would answer', async () => {
  let spellings = 0
  for (const { name, inputSchema } of await list('/mcp')) {
    const tool = app.running.app.deps.call.catalogue.find(name)
    const accepts = newAjv().compile(inputSchema)
    const listed = Object.keys(asMembers(inputSchema['properties']))
    const full = asMembers(app.running.app.deps.schemas.get(name)?.input['properties'])
    for (const field of listed) {
      const choices = asMembers(full[field])['enum']
      for (const choice of Array.isArray(choices) ? choices : []) {
        spellings += 1
        assert.ok(accepts({ ...tool?.example, [field]: choice as unknown }), `${name} ${field}: ${String(choice)}`)
      }
    }
  }
  assert.ok(spellings > 100, String(spellings))
  const { isError, structuredContent } = await callOver('/mcp', 'calculate-fx-savings', {
    ...app.running.app.deps.call.catalogue.find('calculate-fx-savings')?.example,
    currency: 'eur',
  })
  assert.deepEqual([isError, asMembers(structuredContent['result'])['valid'] ?? null], [undefined, null])
})
