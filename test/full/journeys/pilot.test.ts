/** Journey 10: a pilot is bought and its 50,000 calls are redeemed, over two crashes of the service. */
import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { follow, journey } from './stranger.ts'

journey('a buyer pays a pilot, redeems its calls and sees the balance', { ASSAY_PILOT_CREDIT: 'on' }, async (given) => {
  const key = await given.payer()
  const pilot = await given.result('create-ap2-pilot', { client_name: 'Example Ltd' })
  assert.match(String(pilot['redemption_text']), /^Release the calls of invoice inv_/)
  await given.crash()
  const invoice = `/api/invoice/${String(pilot['invoice_id'])}`
  const terms = await given.get(`${invoice}/pay`)
  assert.deepEqual([terms.status, terms.body['code']], [402, 'INVOICE_PAYMENT_REQUIRED'], terms.text)
  const unpaid = await given.post(`${invoice}/credit`, {})
  assert.equal(unpaid.body['code'], 'CREDIT_NOT_DUE', unpaid.text)
  const paid = await follow(terms.body, key)
  assert.deepEqual([paid.status, paid.body['paid_minor']], [200, '49000000'], paid.text)
  await given.crash()
  const isSettled = async () => (await given.get(invoice)).body['status'] === 'SETTLED'
  await until('the invoice is settled', isSettled, 90_000)
  const asked = await given.post(`${invoice}/credit`, {})
  assert.equal(asked.body['code'], 'CREDIT_RELEASE_INVALID', asked.text)
  const released = await follow(asked.body, key)
  assert.deepEqual([released.status, released.body['calls']], [200, 50_000], released.text)
  const credit = { 'X-CREDIT': String(released.body['code']) }
  const once = { ...credit, 'Idempotency-Key': 'order-1' }
  const call = await given.post('/v1/tools/iban-check/call', { input: { iban: 'GB82 WEST 1234 5698 7654 32' } }, once)
  assert.equal(call.status, 200, call.text)
  const balance = await fetch(`${given.url()}/api/credits/balance`, { headers: credit })
  const { unit, granted, available } = (await balance.json()) as Record<string, string>
  assert.deepEqual({ unit, granted, available }, { unit: 'calls', granted: '50000', available: '49999' })
  assert.deepEqual((await follow(asked.body, key)).body['code'], released.body['code'])
})
