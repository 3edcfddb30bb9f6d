import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { startTestApp } from '../test/support/app.ts'

/** Prints the table of tokens in docs/benchmarks.md: 12 typical calls over REST and MCP, and the lists of tools (vocabulary o200k_base). */

const CALLS = (
  'iban-check swift-bic-check vat-mod97-check lei-check e164-check ofac-sdn-check vendor-onboarding-pack pre-disbursement-guard ' +
  'iso20022-validate reconcile token-contract-risk create-b2b-invoice'
).split(' ')

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const app = await startTestApp()

async function post(path: string, body: unknown, more: Record<string, string> = {}): Promise<string> {
  return (await fetch(app.url + path, { method: 'POST', headers: { ...HEADERS, ...more }, body: JSON.stringify(body) })).text()
}

async function mcp(path: string, method: string, params: object) {
  const { result } = JSON.parse(await post(path, { jsonrpc: '2.0', id: 1, method, params })) as {
    result: { tools: Record<string, unknown>[]; content: [{ text: string }] }
  }
  return result
}

for (const path of ['/mcp', '/mcp/small']) {
  const { tools } = await mcp(path, 'tools/list', {})
  const seen = tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }))
  const bytes = Buffer.byteLength(JSON.stringify(tools.map(({ outputSchema }) => outputSchema)))
  console.log(`| \`tools/list\` of ${path} | ${tools.length} | ${countTokens(JSON.stringify(seen))} | ${bytes} |`)
}
for (const id of CALLS) {
  const { example } = app.running.app.deps.call.catalogue.find(id) ?? {}
  const text = async (detail: string) =>
    (await mcp('/mcp', 'tools/call', { name: id, arguments: example, _meta: { 'assay/detail': detail } })).content[0].text
  const [brief, full] = [await text('brief'), await text('full')].map((one) => countTokens(one))
  const rest = async (level: string) => countTokens(await post(`/v1/tools/${id}/call`, { input: example }, { 'x-detail': level }))
  console.log(`| ${id} | ${brief} | ${full} | ${await rest('brief')} | ${await rest('standard')} |`)
}
await app.stop()
