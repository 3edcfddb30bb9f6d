/**
 * Journey 3: a merchant without an account subscribes a webhook, creates and signs invoices, is paid for one and voids another, and receives and verifies
 * each event, although the service is killed in the middle. Everything that is signed comes from the answers.
 */
import assert from 'node:assert/strict'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { follow, journey, type Answer, type Json } from './stranger.ts'

journey('a merchant subscribes, signs, is paid, voids and verifies each event', {}, async (given) => {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  const receiver = await startReceiver()
  try {
    const subscription = { url: receiver.url, account: address }
    const asked = await given.post('/v1/webhooks', subscription)
    assert.equal(asked.status, 403)
    const subscribed = await follow(asked.body, key, subscription)
    assert.equal(subscribed.status, 201, subscribed.text)
    receiver.secret = String(subscribed.body['secret'])

    const made = async (memo: string): Promise<Json> => {
      const created = await given.post('/api/invoice/create', { amountUsdc: '49.00', merchant: address, memo })
      assert.equal(created.status, 201, created.text)
      const signed = await follow(created.body, key)
      assert.deepEqual([signed.status, signed.body['merchant_verified']], [200, true], signed.text)
      return created.body
    }
    const [paid, other] = [await made('May'), await made('June')]
    const path = ({ invoice_id }: Json) => `/api/invoice/${String(invoice_id)}`

    // The change and its event are stored together, so the answer may be followed by a kill.
    const payment = await follow((await given.get(`${path(paid)}/pay`)).body, await given.payer())
    assert.deepEqual([payment.status, payment.body['paid_minor']], [200, '49000000'], payment.text)
    await given.crash()
    const unsigned = await given.post(`${path(other)}/void`, {})
    assert.equal(unsigned.body['code'], 'INVOICE_SIGNATURE_INVALID', unsigned.text)
    const voided: Answer = await follow(unsigned.body, key)
    assert.deepEqual([voided.status, voided.body['status']], [200, 'VOID'], voided.text)

    const received = () => new Map(receiver.accepted.map(({ id, type, data }) => [id, `${type} ${String(data['invoice_id'])}`]))
    const expected = [
      `invoice.created ${String(paid['invoice_id'])}`,
      `invoice.created ${String(other['invoice_id'])}`,
      `invoice.paid ${String(paid['invoice_id'])}`,
      `invoice.voided ${String(other['invoice_id'])}`,
    ]
    await until('all events', () => expected.every((event) => [...received().values()].includes(event)), 120_000)
    const events = [...received().values()].filter((event) => !event.startsWith('payment.settled'))
    assert.deepEqual(events.toSorted(), expected.toSorted(), 'no event under two ids')
    assert.equal((await given.get(path(paid))).body['status'], 'SETTLED')
  } finally {
    await receiver.stop()
  }
})
