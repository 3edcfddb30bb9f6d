import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

const IBAN = { iban: 'GB82WEST12345698765432' }
/** Two hundred calls of one client are in flight at once here. */
const PROXY = { ASSAY_TRUSTED_PROXIES: '127.0.0.1', ASSAY_CLIENT_CALLS: '200' }
let app: TestApp

before(async () => {
  app = await startTestApp({ free_daily: 3, settings: PROXY })
})
after(() => app.stop())

const from = (address: string) => ({ 'x-forwarded-for': address })

function statuses(answers: { status: number }[]) {
  return { answered: answers.filter(({ status }) => status === 200).length, unpaid: answers.filter(({ status }) => status === 402).length }
}

test('three calls are free, the fourth is answered 402 with the problem and the reset', async () => {
  for (const remaining of [2, 1, 0]) {
    const { status, body } = await restCall(app.url, 'iban-check', IBAN, from('198.51.100.1'))
    assert.equal(status, 200)
    assert.equal((body['allowance'] as { remaining: number }).remaining, remaining)
  }
  const { status, headers, body } = await restCall(app.url, 'lei-check', { lei: '5493001KJTIIGC8Y1R12' }, from('198.51.100.1'))
  assert.equal(status, 402)
  assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.equal(body['code'], 'PAYMENT_REQUIRED')
  assert.equal(body['charged'], false)
  assert.equal(body['result'], undefined)
  assert.deepEqual(Object.keys(body['allowance'] as object).toSorted(), ['limit', 'remaining', 'resets_at'])
  // Clients that obey Retry-After would wait for the next day instead of paying.
  assert.equal(headers.get('retry-after'), null)
  const reset_s = Number(/;r=0;t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
  assert.ok(reset_s > 0 && reset_s <= 86_400, String(headers.get('ratelimit')))
})

test('another client, another network and a tool without quota are not touched by it', async () => {
  assert.equal((await restCall(app.url, 'iban-check', IBAN, from('198.51.100.2'))).status, 200)
  for (let i = 1; i <= 5; i++) await restCall(app.url, 'iban-check', IBAN, from('2001:db8:1:1::1'))
  // Addresses of one /64 share an allowance; the next /64 has its own.
  assert.equal((await restCall(app.url, 'iban-check', IBAN, from('2001:db8:1:1::2'))).status, 402)
  assert.equal((await restCall(app.url, 'iban-check', IBAN, from('2001:db8:1:2::1'))).status, 200)
  for (let i = 0; i < 5; i++) {
    assert.equal((await restCall(app.url, 'receipt-verify', { receipt: {} }, from('198.51.100.1'))).status, 200)
  }
})

test('two hundred calls of one client at once: exactly three are answered', async () => {
  const calls = Array.from({ length: 200 }, () => restCall(app.url, 'iban-check', IBAN, from('198.51.100.3')))
  assert.deepEqual(statuses(await Promise.all(calls)), { answered: 3, unpaid: 197 })
})

test('bad input, an unknown tool and a refused payment cost no free call', async () => {
  const client = from('198.51.100.4')
  for (let i = 0; i < 4; i++) {
    assert.equal((await restCall(app.url, 'iban-check', { iban: 5 }, client)).status, 400)
    assert.equal((await restCall(app.url, 'nothing', IBAN, client)).status, 404)
    assert.equal((await restCall(app.url, 'iban-check', IBAN, { ...client, 'x-payment': 'x' })).status, 400)
  }
  const { body } = await restCall(app.url, 'iban-check', IBAN, client)
  assert.equal((body['allowance'] as { remaining: number }).remaining, 2)
})

test('a batch is one call', async () => {
  const items = Array.from({ length: 50 }, () => ({ tool: 'iban-check', value: IBAN.iban }))
  const { status, body } = await restCall(app.url, 'batch-validate', { items }, from('198.51.100.5'))
  assert.equal(status, 200)
  assert.equal((body['result'] as { valid_count: number }).valid_count, 50)
  assert.equal((body['allowance'] as { remaining: number }).remaining, 2)
})

// attack: bodies larger than the endpoint reads, or without end
test('a body beyond 64 KiB is read only while free calls are left; then it is asked to be paid for, as any other', async () => {
  const client = from('198.51.100.6')
  const large = { text: 'word '.repeat(20_000) }
  for (let i = 0; i < 3; i++) assert.equal((await restCall(app.url, 'context-distill', large, client)).status, 200)
  const small = await restCall(app.url, 'context-distill', { text: 'word' }, client)
  const asked = await restCall(app.url, 'context-distill', large, client)
  assert.deepEqual([asked.status, asked.body['code']], [402, 'PAYMENT_REQUIRED'])
  assert.deepEqual([asked.body['accepts'], asked.body['allowance']], [small.body['accepts'], small.body['allowance']])
  assert.equal(asked.headers.get('payment-required'), small.headers.get('payment-required'))
  // The price of a batch depends on what was not read.
  const items = Array.from({ length: 5 }, () => ({ tool: 'context-distill', value: 'word '.repeat(4_000) }))
  const batch = await restCall(app.url, 'batch-validate', { items }, client)
  assert.deepEqual([batch.status, batch.body['code']], [413, 'PAYLOAD_TOO_LARGE'])
})

test('two services on one SQLite file together grant no fourth call, and a restart forgets nothing', async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-shared-'))
  const options = { free_daily: 3, data_dir, settings: PROXY }
  const both = [await startTestApp(options), await startTestApp(options)]
  const calls = Array.from({ length: 60 }, (_, i) => restCall(both[i % 2]?.url ?? '', 'iban-check', IBAN, from('198.51.100.8')))
  assert.deepEqual(statuses(await Promise.all(calls)), { answered: 3, unpaid: 57 })
  await Promise.all(both.map((one) => one.stop()))
  const again = await startTestApp(options)
  assert.equal((await restCall(again.url, 'iban-check', IBAN, from('198.51.100.8'))).status, 402)
  await again.stop()
  await rm(data_dir, { recursive: true })
})
