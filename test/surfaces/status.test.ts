import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const get = (path: string, accept?: string) => fetch(`${app.url}${path}`, { headers: accept === undefined ? {} : { accept } })

test('status is JSON for programs and a page for browsers', async () => {
  for (const accept of [undefined, '*/*', 'application/json', 'text/plain']) {
    const response = await get('/status', accept)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/, accept)
    assert.match(response.headers.get('vary') ?? '', /Accept/, accept)
    assert.equal(response.headers.get('cache-control'), 'no-store')
  }
  const page = await get('/status', 'text/html,application/xhtml+xml,*/*;q=0.8')
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  assert.match(await page.text(), /Every monitored dependency responds\./)
})

test('calls are counted by outcome, with bounds of their times', async () => {
  const earlier = asMembers(await (await get('/status')).json())
  const counted = (body: Record<string, unknown>) => asMembers(asMembers(body['calls'])['by_outcome'])
  await restCall(app.url, 'iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' })
  await restCall(app.url, 'iban-check', {})
  await restCall(app.url, 'no-such-tool', {})
  const body = asMembers(await (await get('/status')).json())
  const [then, now] = [counted(earlier), counted(body)]
  assert.equal(Number(now['answered']) - Number(then['answered']), 1)
  assert.equal(Number(now['refused']) - Number(then['refused']), 2)
  assert.deepEqual([now['payment_required'], now['failed']], [0, 0])
  assert.equal(body['history'], `${app.url}/status/history.json`)
  for (const share of ['p50', 'p95', 'p99']) assert.equal(typeof asMembers(body['latency_ms'])[share], 'number')
})

test('the history names sources, prices and settlement, and no caller, tool or input', async () => {
  const { history } = app.running.app.deps
  await restCall(app.url, 'iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' }, { 'x-forwarded-for': '203.0.113.9' })
  await history.record()
  const text = await (await get('/status/history.json')).text()
  const view = asMembers(JSON.parse(text))
  assert.deepEqual([view['span'], view['every_s']], ['hour', 10])
  const rows = Object.values(asMembers(view['prices_minor'])) as (string | null)[][]
  assert.ok(rows.length === 4 && rows.every((row) => /^\d+$/.test(row.at(-1) ?? '')))
  assert.deepEqual((asMembers(view['sources'])['store'] as unknown[]).at(-1), true)
  assert.doesNotMatch(text, /iban|GB82|203\.0|127\.0\.0\.1|payer/)
  const day = asMembers(await (await get('/status/history.json?span=day')).json())
  assert.deepEqual([day['span'], day['every_s']], ['day', 300])
  const later = asMembers(await (await get('/status/history.json?span=nonsense&after=999999999999')).json())
  assert.deepEqual([later['span'], later['at_s']], ['hour', []])
})

test('the metrics have the same counters under their old names', async () => {
  const text = await (await get('/metrics')).text()
  assert.match(text, /assay_calls_total\{tool="iban-check",outcome="answered",tier="free",surface="rest"\} \d+/)
  assert.match(text, /assay_call_duration_ms_bucket\{[^}]*le="60000"[^}]*\} \d+/)
})
