import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Outcome } from '../../src/service/calls/outcome.ts'
import { problem, PROBLEMS, type ProblemCode } from '../../src/service/problems.ts'
import { mcpPaymentRenderer } from '../../src/surfaces/payment.ts'
import { createPlainCalls, createProtocol } from '../../src/surfaces/mcp/routes.ts'
import { callTool, type McpExchange } from '../../src/surfaces/mcp/tool-call.ts'
import { runs, SEED } from '../support/counts.ts'
import { MCP_VERSIONS, mcpRequest, words } from '../support/mcp.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { clockAt } from '../support/clock-at.ts'
import { openJsonBody } from '../../src/surfaces/http/body.ts'

/** The two ways in which `tools/call` is answered, over one core that always answers the same. */

const TOKEN = { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' }
const PLACE = { pay_to: `0x${'12'.repeat(20)}`, token: TOKEN, chain_id: 84_532, network: 'base-sepolia' }
const WORDS = mcpPaymentRenderer({
  call: {
    catalogue: { tools: [], find: () => undefined },
    issuer: { signer: nobleSigner(new Uint8Array(32).fill(1)), crypto: nobleCrypto, clock: clockAt(() => 1_800_000_000_000) },
  },
  origins: { base_url: 'http://127.0.0.1:1', api_url: 'http://127.0.0.1:1', mcp_url: 'http://127.0.0.1:1', site_url: 'http://127.0.0.1:1' },
  terms: PLACE,
  schemas: new Map(),
})

const IDENTITY = { name: 'assay', title: 'assay', version: '1.2.3', websiteUrl: 'http://127.0.0.1:1' }

function answered(result: Record<string, unknown>): Outcome {
  const receipt_text = '{"v":"XDR-1","tool":"iban-check","signature":"0x00"}'
  const allowance = { limit: 3, remaining: 2, resets_at: '2026-11-22T00:00:00Z', resets_in_s: 5 }
  const markdown = { embeddable_badge: '[![a](b)](c)', proof_summary_markdown: 'line\n"quoted" \\ é\u2028 😀' }
  const answer = {
    result,
    result_text: JSON.stringify(result),
    receipt_text,
    chain: null,
    tier: 'free',
    allowance,
    ...markdown,
  }
  return { kind: 'answered', tool: 'iban-check', answer } as unknown as Outcome
}

function pathsFor(outcome: Outcome) {
  const calls = {
    catalogue: { find: () => undefined },
    schemas: new Map(),
    serve: () => Promise.resolve(outcome),
    api_url: 'http://127.0.0.1:1',
    words: WORDS,
    onFault: assert.fail,
  }
  const readPlain = createPlainCalls(IDENTITY)
  return {
    official: createProtocol({ identity: IDENTITY, instructions: 'none', tools: [], calls }),
    plain: async (exchange: McpExchange) => {
      const found = readPlain(exchange)
      return found === null ? null : found.response(await callTool(calls, found.params, exchange))
    },
  }
}

function exchangeOf(message: unknown, headers: Record<string, string>): { request: Request; exchange: McpExchange } {
  const text = JSON.stringify(message)
  const request = new Request('http://127.0.0.1:1/mcp', { method: 'POST', headers, body: text })
  const bounds = { depth: 65, nodes: 20_256, unsafe_numbers: 'refuse' } as const
  const bytes = new TextEncoder().encode(text)
  const read = { kind: 'whole', value: message, body_bytes: bytes.length, json: openJsonBody(bytes, [bounds]) } as const
  return { request, exchange: { message: read, request_id: 'r-1', address: '198.51.100.1', header: (name) => request.headers.get(name) } }
}

async function shown(response: Response) {
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** Whether the plain way took it; if so, both ways must have given the same bytes. */
async function sameBytes(outcome: Outcome, message: unknown, headers: Record<string, string>): Promise<boolean> {
  const { official, plain } = pathsFor(outcome)
  const { request, exchange } = exchangeOf(message, headers)
  const short = await plain(exchange)
  if (short === null) return false
  assert.deepEqual(await shown(short), await shown(await official(request, exchange)))
  return true
}

const PAYMENTS: Outcome[] = [
  {
    kind: 'paid',
    tool: 'iban-check',
    text: '{"result":{"valid":true},"tier":"paid"}',
    settlement: {
      network: 'eip155:84532',
      transaction: '0xaa',
      payer: '0xbb',
      amount_minor: '5000',
      method: 'self',
      sold: { tool: 'iban-check', settled_s: 1_800_000_000 },
    },
  },
  {
    kind: 'payment_required',
    tool: 'iban-check',
    problem: problem('PAYMENT_REQUIRED', 'Why "so".'),
    allowance: { limit: 3, remaining: 0, resets_at: '2026-11-22T00:00:00Z', resets_in_s: 5 },
    amount_minor: 5_000n,
    x402_reason: null,
  },
]

const ANSWERS = [answered({ valid: true, facts: { a: [1, 2.5, null], é: '"' } }), answered({ a: {} })]
const PROBLEM_OUTCOMES: Outcome[] = (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => ({
  kind: 'refused',
  tool: 'iban-check',
  problem: problem(code, 'Why.', { errors: [{ pointer: '/input/iban', code: 'missing', message: 'It is missing.' }] }),
}))

for (const version of Object.keys(MCP_VERSIONS)) {
  test(`${version}: a plain call is answered as the official package answers it, whatever the outcome`, async () => {
    for (const outcome of [...ANSWERS, ...PAYMENTS, ...PROBLEM_OUTCOMES]) {
      for (const id of [0, -7, 'a"b']) {
        const { message, headers } = mcpRequest(version, 'tools/call', { name: 'iban-check', arguments: { iban: 'x' } }, id)
        assert.equal(await sameBytes(outcome, message, headers), true)
      }
    }
  })
}

const VALUES = [
  null,
  true,
  0,
  1.5,
  '',
  'x',
  '2025-11-25',
  '2026-07-28',
  'tools/call',
  'iban-check',
  [],
  {},
  { form: 1 },
  { elicitation: {} },
]

const KEYS = words(
  'jsonrpc id method params name arguments _meta task requestState extra progressToken traceparent',
  'io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/related-task',
  'io.modelcontextprotocol/logLevel x402/payment',
)
const HEADERS = ['accept', 'mcp-name', 'mcp-method', 'mcp-protocol-version']

/** One place in a message or its headers, and what stands there instead; undefined is nothing at all. */
interface Change {
  place: 'message' | 'params' | 'meta' | 'headers'
  key: string
  value: unknown
}

const VALUE = fc.option(fc.constantFrom(...VALUES), { nil: undefined })
const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ place: fc.constantFrom('message', 'params', 'meta'), key: fc.constantFrom(...KEYS), value: VALUE }),
  fc.record({ place: fc.constant('headers'), key: fc.constantFrom(...HEADERS), value: VALUE }),
)

function changed(version: string, changes: readonly Change[]) {
  const made = mcpRequest(version, 'tools/call', { name: 'iban-check', arguments: { iban: 'x' }, _meta: { 'a/b': 1 } })
  const message: Record<string, unknown> = structuredClone(made.message)
  const headers: Record<string, unknown> = { ...made.headers }
  const params = message['params'] as Record<string, unknown>
  const places = { message, params, meta: params['_meta'] as Record<string, unknown>, headers }
  for (const { place, key, value } of changes) {
    if (value === undefined || (place === 'headers' && typeof value !== 'string')) delete places[place][key]
    else places[place][key] = value
  }
  return { message, headers: headers as Record<string, string> }
}

test('a call that is unusual in any way is left to the official package, or answered just as it does', async () => {
  let taken = 0
  const version = fc.constantFrom(...Object.keys(MCP_VERSIONS))
  const changes = fc.array(CHANGE, { minLength: 1, maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(version, changes, fc.constantFrom(...ANSWERS, ...PAYMENTS, ...PROBLEM_OUTCOMES), async (spoken, some, outcome) => {
      const { message, headers } = changed(spoken, some)
      if (await sameBytes(outcome, message, headers)) taken++
    }),
    { numRuns: runs(400, 20_000), seed: SEED },
  )
  assert.ok(taken > runs(400, 20_000) / 10, `only ${taken} calls took the plain way`)
})
