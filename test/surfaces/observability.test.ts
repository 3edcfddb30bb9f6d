import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PROBLEMS, type ProblemCode } from '../../src/service/problems.ts'
import type { ProblemKind } from '../../src/service/payment-problems.ts'
import { restCall } from '../support/app.ts'
import { startService, type Service } from '../support/service.ts'

/** What the service tells of itself, and what it keeps to itself. */

let service: Service
let folder: string
let metrics = ''

/** What must stand in no log and in no metric: addresses, what was asked, how it was paid. */
const SECRETS = {
  address: '203.0.113.77',
  input: 'GB82WEST12345698765432',
  lei: '5493001KJTIIGC8Y1R12',
  payment: Buffer.from('{"x402Version":2,"payload":"of a payment"}').toString('base64'),
  credit: 'ac_0123456789abcdefghjkmnpqrstvwxyz0',
  key: 'an-idempotency-key',
  payer: '0x1111111111111111111111111111111111111111',
  tool: 'what-a-stranger-calls',
  receipt_hash: `0x${'ab'.repeat(32)}`,
  broken: 'broken-json-of-a-stranger',
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-observed-'))
  service = await startService({
    ASSAY_DATA_DIR: folder,
    ASSAY_LOG_LEVEL: 'info',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_FREE_DAILY: '3',
    ASSAY_FREE_DAILY_OVERRIDES: 'token-contract-risk=5,lei-check=1',
    ASSAY_REGISTERS: 'gleif',
    // The discard port: no register answers there.
    ASSAY_REGISTER_URLS: 'gleif=http://127.0.0.1:9/',
  })
  await mixedRun()
  metrics = await (await fetch(`${service.operator_url}/metrics`)).text()
  service.process.kill('SIGTERM')
  await service.ended
})
after(() => rm(folder, { recursive: true, force: true }))

async function mixedRun(): Promise<void> {
  const { url } = service
  const from = { 'x-forwarded-for': SECRETS.address }
  const call = (tool: string, input: unknown, headers: Record<string, string> = {}) => restCall(url, tool, input, { ...from, ...headers })
  const post = (path: string, body: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...from },
      body,
    })
  for (let count = 0; count < 4; count++) await call('iban-check', { iban: SECRETS.input }, { 'x-prev-receipt-hash': SECRETS.receipt_hash })
  await call('iban-check', { iban: SECRETS.input, [SECRETS.input]: 1 })
  await call('iban-check', { iban: SECRETS.input }, { 'payment-signature': SECRETS.payment })
  await call('iban-check', { iban: SECRETS.input }, { 'x-credit': SECRETS.credit, 'idempotency-key': SECRETS.key })
  await call('lei-check', { lei: SECRETS.lei, register: true })
  await call(SECRETS.tool, { iban: SECRETS.input })
  await call('isbn-check', { isbn: '9780306406157' }, { 'x-client-request-id': 'order-77' })
  await call('isbn-check', { isbn: '9780306406157' }, { 'x-request-id': 'not a plain "name"' })
  await call('token-contract-risk', { address: SECRETS.payer })
  await post('/v1/tools/iban-check/call', `{"${SECRETS.broken}`)
  const params = { name: 'iban-check', arguments: { iban: SECRETS.input } }
  await post('/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  await post('/mcp', `{"${SECRETS.broken}`)
  await post(
    '/a2a',
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          kind: 'message',
          messageId: 'm',
          role: 'user',
          parts: [{ kind: 'data', data: { tool: 'iban-check', input: { iban: SECRETS.input } } }],
        },
      },
    }),
  )
  await post(`/${SECRETS.broken}`, SECRETS.input)
}

test('the log has one line for each call, and in none of them who called, with what, or how it was paid', () => {
  const lines = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const calls = lines.filter(({ msg }) => msg === 'call')
  assert.equal(calls.length, 15)
  const named = calls.filter((line) => 'client_request_id' in line)
  for (const line of calls.filter((one) => !named.includes(one)))
    assert.deepEqual(Object.keys(line), ['level', 'time', 'request_id', 'tool', 'outcome', 'duration_ms', 'msg'])
  assert.deepEqual(
    named.map(({ client_request_id, tool }) => [client_request_id, tool]),
    [['order-77', 'isbn-check']],
  )
  for (const { request_id } of calls) assert.match(String(request_id), /^[0-9a-f-]{36}$/)
  for (const [what, text] of Object.entries(SECRETS)) {
    assert.ok(!service.log().includes(text), `the log holds ${what}`)
    assert.ok(!metrics.includes(text), `the metrics hold ${what}`)
  }
  assert.doesNotMatch(metrics, /="(?:0x|\d+\.\d+\.\d+|127|::)/)
})

test('calls are counted by tool, outcome, who was to pay, and the interface', () => {
  const counted = (labels: string) => Number(new RegExp(`^assay_calls_total\\{${labels}\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
  assert.equal(counted('tool="iban-check",outcome="PAYMENT_REQUIRED",tier="free",surface="rest"'), 1)
  assert.equal(counted('tool="iban-check",outcome="PAYMENT_REQUIRED",tier="free",surface="mcp"'), 1)
  assert.equal(counted('tool="unknown",outcome="TOOL_NOT_FOUND",tier="free",surface="rest"'), 1)
  assert.match(metrics, /^assay_register_answers_total\{register="gleif",outcome="not_reached"\} 1$/m)
  assert.match(metrics, /^assay_calls_total\{tool="iban-check",outcome="\w+",tier="paid",surface="rest"\} 1$/m)
})

test('every metric that alerts and dashboard name is there', async () => {
  const known = new Set(Array.from(metrics.matchAll(/^# TYPE (\w+) /gm), ([, name]) => name))
  const alerts = await readFile(new URL('../../docs/operating/alerts.yml', import.meta.url), 'utf8')
  const dashboard = await readFile(new URL('../../docs/operating/dashboard.md', import.meta.url), 'utf8')
  const rules = alerts.split(/^ {6}- alert: /m).slice(1)
  assert.ok(rules.length > 10)
  for (const rule of rules) assert.match(rule, /^Assay\w+\n {8}expr: .*severity: (?:page|ticket) .*summary: .*action: /s)
  const grafana = await readFile(new URL('../../deploy/grafana/assay.json', import.meta.url), 'utf8')
  const { panels } = JSON.parse(grafana) as { panels: { type: string; title: string; targets?: { expr: string }[] }[] }
  for (const { type, title, targets } of panels) assert.ok(title !== '' && (type === 'row' || (targets?.length ?? 0) > 0), title)
  const named = [alerts, dashboard, grafana].flatMap((text) => Array.from(text.matchAll(/\bassay_\w+/g), ([name]) => name))
  const missing = named.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, '')))
  assert.deepEqual(missing, [])
})

test('no metric has a label that a scrape sets itself, and the rules ask for labels and values that are there', async () => {
  // Prometheus, scrape configuration: with honor_labels false, labels of the target win and those of the metric become exported_….
  assert.doesNotMatch(metrics, /[{,](?:job|instance)="/)
  const alerts = await readFile(new URL('../../docs/operating/alerts.yml', import.meta.url), 'utf8')
  const asked = [...alerts.matchAll(/(assay_\w+)\{(\w+)="([^"]+)"\}/g)]
  assert.ok(asked.length > 2)
  const absent = asked.filter(([, name, label, value]) => !new RegExp(`^${name}\\{[^}\\n]*\\b${label}="${value}"`, 'm').test(metrics))
  assert.deepEqual(
    absent.map(([selector]) => selector),
    [],
  )
})

test('what the objective of availability counts as failed is the fault of the service or its sources', async () => {
  const alerts = await readFile(new URL('../../docs/operating/alerts.yml', import.meta.url), 'utf8')
  const codes = /outcome=~"([A-Z_|]+)"/.exec(alerts)?.[1]?.split('|') ?? []
  assert.ok(codes.length > 3)
  for (const code of codes) {
    const kind: ProblemKind | undefined = PROBLEMS[code as ProblemCode]
    assert.ok(kind !== undefined && kind.fault !== 'caller', code)
  }
})
