/** The decision of a tool leads on every surface; a BLOCK was once headed "answered". */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asking, connectA2a, taskFor } from '../support/a2a.ts'
import { asMembers } from '../support/documents.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { connectMcp } from '../support/mcp.ts'

/** A payee in a country under comprehensive sanctions, with an account and an LEI whose check digits are wrong. */
const PAYEE = { declared_country: 'IR', recipient_iban: 'GB83 WEST 1234 5698 7654 32', lei: '5493001KJTIIGC8Y1R13' }
const TOOL = 'pre-disbursement-guard'
let app: TestApp

before(async () => {
  app = await startTestApp({ free_daily: 20 })
})
after(() => app.stop())

test('REST: summary and badge lead with BLOCK, and the badge is drawn in the colour of a bad end', async () => {
  const { body } = await restCall(app.url, TOOL, PAYEE)
  assert.equal((body['result'] as Record<string, unknown>)['decision'], 'BLOCK')
  assert.match(String(body['proof_summary_markdown']), /^\*\*BLOCK\*\*: Do not pay/)
  const [, alt, address = ''] = /^\[!\[([^\]]+)\]\((\S+?)\)\]/.exec(String(body['embeddable_badge'])) ?? []
  assert.equal(alt, `assay ${TOOL}: BLOCK`)
  const svg = await (await fetch(address)).text()
  assert.match(svg, /#A3261B">BLOCK<\/text>/)
  assert.equal((await fetch(address.replace('/block/', '/perfect/'))).status, 404)
  // Badges of release 0.5.0 are drawn still, and no longer say that a decision was "answered".
  const old = await (await fetch(address.replace('/block/', '/done/'))).text()
  assert.match(old, /see receipt/)
  assert.doesNotMatch(old, /answered/)
})

test('MCP: the text begins with the decision; the structured content has summary and badge', async () => {
  const client = await connectMcp(app.url, '2025-11-25')
  const { content, structuredContent } = await client.callTool({ name: TOOL, arguments: PAYEE })
  const [first] = content
  assert.ok(first?.type === 'text')
  assert.match(first.text, /^BLOCK: /)
  assert.match(String(asMembers(structuredContent)['proof_summary_markdown']), /^\*\*BLOCK\*\*/)
  await client.close()
})

test('A2A: the status message says the decision in words', async () => {
  const client = await connectA2a(app.url, '1.0')
  const task = await taskFor(client, asking({ tool: TOOL, input: PAYEE }))
  const [part] = task.status?.message?.parts ?? []
  assert.match(JSON.stringify(part), /pre-disbursement-guard: BLOCK\. Do not pay/)
  // A bare answer has the members of its result at top level.
  const bare = await taskFor(client, asking({ tool: 'receipt-verify', input: { receipt: 'x' } }))
  assert.match(JSON.stringify(bare.status?.message?.parts[0]), /receipt-verify: invalid\./)
})
