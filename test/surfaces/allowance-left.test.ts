import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { StoreUnavailableError } from '../../src/adapters/store/errors.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await startTestApp({ free_daily: 3, settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => app.stop())

const left = async (address: string) => {
  const response = await fetch(`${app.url}/v1/allowance`, { headers: { 'x-forwarded-for': address } })
  return { response, body: (await response.json()) as Record<string, unknown> }
}

test('a client can ask what it has left, and asking counts nothing', async () => {
  const from = { 'x-forwarded-for': '198.51.100.7' }
  for (let asked = 0; asked < 5; asked++) {
    const { response, body } = await left('198.51.100.7')
    assert.equal(response.status, 200)
    assert.deepEqual([body['limit'], body['remaining']], [3, 3])
    assert.match(String(body['resets_at']), /^\d{4}-\d\d-\d\dT00:00:00Z$/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('ratelimit') ?? '', /^"daily";r=3;t=\d+$/)
  }
  await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' }, from)
  assert.equal((await left('198.51.100.7')).body['remaining'], 2)
  assert.equal((await left('198.51.100.8')).body['remaining'], 3)
})

test('where the store does not answer, the question is refused in words', async () => {
  const broken = await startTestApp()
  const { call } = broken.running.app.deps
  const peek = call.allowance.peek
  call.allowance.peek = () => Promise.reject(new StoreUnavailableError('the store is gone'))
  const response = await fetch(`${broken.url}/v1/allowance`)
  assert.equal(response.status, 503)
  assert.equal(((await response.json()) as { code: string }).code, 'STORE_UNAVAILABLE')
  call.allowance.peek = peek
  await broken.stop()
})
