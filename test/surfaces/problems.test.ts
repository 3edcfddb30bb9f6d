import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { createHeavyPool } from '../../src/adapters/heavy-work/pool.ts'
import type { HeavyWork } from '../../src/ports/heavy-work.ts'
import { call, type CallDeps } from '../../src/service/calls/call.ts'
import { catalogueOf } from '../../src/service/catalogue/load.ts'
import { defineTool, PURE, type Tool } from '../../src/service/catalogue/define.ts'
import { limits } from '../../src/service/limits.ts'
import {
  PROBLEMS,
  type ProblemCode,
  type LOG_PROBLEMS,
  type PREFLIGHT_PROBLEMS,
  type RECORD_PROBLEMS,
  type SANDBOX_PROBLEMS,
} from '../../src/service/problems.ts'
import type {
  CREDIT_PROBLEMS,
  INVOICE_PROBLEMS,
  PAYMENT_PROBLEMS,
  SETTLEMENT_PROBLEMS,
  CHANNEL_PROBLEMS,
  WEBHOOK_PROBLEMS,
} from '../../src/service/payment-problems.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

/** Those of payment, settlement and channels are met in test/paying, those of invoices in test/invoices, of the log in test/log, of the faucet in test/sandbox, those of the preflight and of records where they are raised. */
type Elsewhere = typeof PAYMENT_PROBLEMS &
  typeof SETTLEMENT_PROBLEMS &
  typeof PREFLIGHT_PROBLEMS &
  typeof RECORD_PROBLEMS &
  typeof INVOICE_PROBLEMS &
  typeof WEBHOOK_PROBLEMS &
  typeof LOG_PROBLEMS &
  typeof SANDBOX_PROBLEMS &
  typeof CREDIT_PROBLEMS &
  typeof CHANNEL_PROBLEMS
type Code = Exclude<ProblemCode, keyof Elsewhere>

let app: TestApp

before(async () => {
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

/** The code of the problem that a raw body draws. */
async function posted(
  body: string | Uint8Array<ArrayBuffer>,
  path = '/v1/tools/iban-check/call',
  headers: Record<string, string> = {},
): Promise<unknown> {
  const response = await fetch(app.url + path, { method: 'POST', body, headers })
  const found = (await response.json()) as Record<string, unknown>
  assert.equal(response.headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.equal(found['status'], response.status)
  assert.equal(found['charged'], false)
  return found['code']
}

/** The code of the problem that raw bytes on the socket draw. */
function socket(bytes: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url)
    let text = ''
    const connection = connect(Number(port), hostname, () => connection.write(bytes))
    connection.on('data', (chunk) => (text += chunk.toString()))
    connection.on('end', () => resolve((JSON.parse(text.slice(text.indexOf('{'))) as { code: string }).code))
    connection.on('error', reject)
  })
}

const wrapped = (inner: string) => `{"input":{"iban":${inner}}}`

/** A service core around one tool, for accidents that the shipped tools do not have. */
function deps(tool: Tool, more: Partial<CallDeps> = {}): CallDeps {
  const state = { limit: 3, remaining: 2, resets_at: '2026-11-22T00:00:00Z', resets_in_s: 60 }
  const { issuer: stamp, sources } = app.running.app.deps.call
  const taken = { granted: true, spent: null, state, give_back: () => Promise.resolve() }
  const allowance = { take: () => Promise.resolve(taken), peek: () => Promise.resolve(state) }
  const none = { payments: null, heavy: null, onFault: () => undefined }
  return { catalogue: catalogueOf([tool]), sources, probes: {}, allowance, issuer: stamp, ...none, ...more }
}

function broken(change: { heavy?: true } = {}): Tool {
  return defineTool({
    id: 'broken',
    title: 'Broken',
    description: 'Fails.',
    family: 'text',
    version: '1.0.0',
    price: 'check',
    annotations: PURE,
    scope: { checked: [], not_checked: [] },
    sources: ['clock'],
    ...change,
    input: z.strictObject({}),
    output: z.strictObject({}),
    example: {},
    run() {
      throw new Error('on purpose')
    },
  })
}

async function core(more: Partial<CallDeps>, tool = broken()): Promise<unknown> {
  const asked = {
    tool: 'broken',
    address: '::1',
    payments: [],
    credit: null,
    prev_receipt_hash: null,
    read: () => ({ ok: true, input: {} }) as const,
  }
  const outcome = await call(deps(tool, more), asked)
  return outcome.kind === 'answered' || outcome.kind === 'paid' ? null : outcome.problem.code
}

/** A pool whose one thread never comes to an end. */
function slowWork(queue = 1): HeavyWork {
  const module = new URL('../support/endless-worker.ts', import.meta.url)
  return createHeavyPool({
    module,
    workers: 1,
    queue,
    client_queue: 1,
    client_ended: 3,
    client_ended_ms: 600_000,
    deadline_ms: 50,
    memory_mb: 64,
  })
}

test('a free call whose input takes too much work stays counted, and one that fails by our fault does not', async () => {
  const given_back = async (more: Partial<CallDeps>, tool: Tool) => {
    const state = { limit: 3, remaining: 2, resets_at: '2026-11-22T00:00:00Z', resets_in_s: 60 }
    let units = 0
    const give_back = () => Promise.resolve(void units++)
    const allowance = {
      take: () => Promise.resolve({ granted: true, spent: null, state, give_back }),
      peek: () => Promise.resolve(state),
    }
    await core({ ...more, allowance }, tool)
    return units
  }
  assert.equal(await given_back({ heavy: slowWork() }, broken({ heavy: true })), 0)
  assert.equal(await given_back({}, broken()), 1)
})

/** How each problem is met. A code that nothing here can raise has no place in the table. */
const RAISED: Record<Code, () => Promise<unknown>> = {
  PARSE_ERROR: () => posted('{"input":'),
  NOT_UTF8: () => posted(new Uint8Array([0x7b, 0xff, 0x7d])),
  CONTENT_ENCODING_REFUSED: () => posted(new Uint8Array(gzipSync('{"input":{"iban":"a"}}')), undefined, { 'content-encoding': 'gzip' }),
  DUPLICATE_KEY: () => posted('{"input":{"iban":"a","\\u0069ban":"b"}}'),
  LONE_SURROGATE: () => posted(wrapped('"\\ud800"')),
  FORBIDDEN_KEY: () => posted('{"input":{"__proto__":{"iban":"a"}}}'),
  UNSAFE_NUMBER: () => posted(wrapped('9007199254740993')),
  JSON_TOO_DEEP: () => posted('['.repeat(65) + ']'.repeat(65)),
  JSON_TOO_MANY_NODES: () => posted(`{"input":[${'0,'.repeat(20_000)}0]}`),
  PAYLOAD_TOO_LARGE: () => posted(wrapped(`"${'a'.repeat(limits.body_bytes)}"`)),
  PROCESSING_BOUND: () => core({ heavy: slowWork() }, broken({ heavy: true })),
  INPUT_SCHEMA_INVALID: () => posted(wrapped('7')),
  MESSAGE_UNKNOWN: () =>
    posted(JSON.stringify({ input: { raw_payload: '<Document xmlns="pain.018.001.01"/>' } }), '/v1/tools/iso20022-validate/call'),
  PREV_RECEIPT_HASH_INVALID: () => posted(wrapped('"a"'), undefined, { 'x-prev-receipt-hash': 'latest' }),
  TOOL_NOT_FOUND: () => posted('{}', '/v1/tools/nothing/call'),
  NOT_FOUND: () => posted('{}', '/nowhere'),
  METHOD_NOT_ALLOWED: () => posted('{}', '/v1/tools'),
  REQUEST_MALFORMED: () => socket('this is not http\r\n\r\n'),
  HEADERS_TOO_LARGE: () => socket(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(limits.header_bytes)}\r\n\r\n`),
  REQUEST_TIMEOUT: async () => (await slowly()).code,
  NOT_CONFIGURED: () => posted('{}', '/api/credits/checkout'),
  UPSTREAM_RPC_UNAVAILABLE: () => core({ probes: { clock: () => Promise.resolve(false) } }),
  STORE_UNAVAILABLE: () =>
    core({ allowance: { take: () => Promise.reject(new Error('down')), peek: () => Promise.reject(new Error('down')) } }),
  OVERLOADED: () => overloaded(),
  CLIENT_BUSY: () => busy(),
  INTERNAL_ERROR: () => core({}),
}

for (const code of Object.keys(RAISED) as Code[]) {
  test(`${code} can be met, and its page says what it means`, async () => {
    assert.equal(await RAISED[code](), code)
    const listed = (await (await fetch(`${app.url}/.well-known/x402-errors.json`)).json()) as {
      errors: { code: string; http_status: number }[]
    }
    assert.equal(listed.errors.find((entry) => entry.code === code)?.http_status, PROBLEMS[code].status)
    const page = await fetch(`${app.url}/problems/${code}`, { headers: { accept: 'application/json' } })
    assert.equal(page.status, 200)
  })
}

/** A request whose headers never end; the server's own clock is set forward by asking it for the shortest time. */
function slowly(): Promise<{ code: unknown }> {
  const { server } = app.running
  server.headersTimeout = 1
  server.requestTimeout = 1
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url)
    let text = ''
    const connection = connect(Number(port), hostname, () => connection.write('GET / HTTP/1.1\r\nHost: x\r\n'))
    connection.on('data', (chunk) => (text += chunk.toString()))
    connection.on('end', () => {
      server.headersTimeout = limits.header_timeout_ms
      server.requestTimeout = limits.request_timeout_ms
      resolve(JSON.parse(text.slice(text.indexOf('{'))) as { code: unknown })
    })
    connection.on('error', reject)
  })
}

/** A heavy call while the only thread works for another client and nothing may wait. */
async function overloaded(): Promise<unknown> {
  const heavy = slowWork(0)
  const other = heavy.run('family', 'tool', {}, { client: 'other', paid: false }).catch(() => undefined)
  const code = await core({ heavy }, broken({ heavy: true }))
  await other
  return code
}

/** One request more than the memory for bodies of one client takes: the bodies of all others are still on their way. */
async function busy(): Promise<unknown> {
  const { hostname, port } = new URL(app.url)
  const headers = { 'content-length': String(limits.unpaid_body_bytes) }
  const held = limits.client_body_bytes / limits.unpaid_body_bytes
  const waiting = Array.from({ length: held }, () => {
    const open = request({ hostname, port, method: 'POST', path: '/v1/tools/iban-check/call', headers }).on('error', () => undefined)
    open.write('{')
    return open
  })
  const bytes = async () => Number(/^assay_request_bodies_bytes (\d+)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1])
  await until('the bodies have their memory', async () => (await bytes()) >= limits.client_body_bytes)
  try {
    return await posted(wrapped('"a"'))
  } finally {
    for (const open of waiting) open.destroy()
    await until('the memory is free again', async () => (await bytes()) === 0)
  }
}

test('a refusal says what to send instead', async () => {
  const said = async (path: string, body: string) => {
    const response = await fetch(app.url + path, { method: 'POST', body })
    const { errors } = (await response.json()) as { errors: { code: string; message: string }[] }
    return errors.map(({ code, message }) => `${code}: ${message}`)
  }
  // A description may say what a field is for; the refusal says its form, with an example and without a regular expression.
  const token = '{"input":{"address":"0x12","token_address":"usdc"}}'
  const form =
    'must be 0x and 40 hexadecimal digits, for example 0x1000000000000000000000000000000000000001. It is a string of 4 characters.'
  for (const message of await said('/v1/tools/erc20-balance/call', token)) assert.ok(message.includes(form), message)
  for (const nothing of ['', ' \n']) assert.deepEqual(await said('/v1/tools/iban-check/call', nothing), ['not_json: The body is empty.'])
})

test('a call that is sent to the address of the tool is told where calls go', async () => {
  const send = async (path: string) =>
    (await fetch(`${app.url}${path}`, { method: 'POST', body: '{"input":{}}' })).json() as Promise<{ detail: string }>
  assert.match((await send('/v1/tools/iban-check')).detail, /To call the tool, POST to \/v1\/tools\/\{tool\}\/call\.$/)
  assert.equal((await send('/v1/tools')).detail, 'This address accepts GET only.')
})
