/** Webhooks over HTTP: who may subscribe, what arrives, and the list of deliveries. Real receivers verify with the package `standardwebhooks`. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { WEBHOOK_RULES } from '../../src/service/limits.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import { startTestApp } from '../support/app.ts'
import { newMerchant, send, signAsMerchant, type InvoiceShown } from '../support/invoicing.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const settings = { ASSAY_WEBHOOK_LOOPBACK: 'on', ASSAY_TRUSTED_PROXIES: '127.0.0.1' }
const app = await startTestApp({ settings })
const CHAIN = { chain_id: 84_532, token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' } as const
const receivers: Receiver[] = []
after(async () => {
  await app.stop()
  for (const receiver of receivers) await receiver.stop()
})

async function receiverOf(...behaviour: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...behaviour)
  receivers.push(receiver)
  return receiver
}

type Merchant = ReturnType<typeof newMerchant>

interface TypedData {
  domain: Record<string, unknown>
  types: Record<string, { name: string; type: string }[]>
  primaryType: string
  message: { issued_at: string } & Record<string, unknown>
}

/** Asks without a signature, signs the typed data of the answer, and asks again. */
async function signedRequest(merchant: Merchant, url: string, more: Record<string, unknown> = {}) {
  const request = { url, account: merchant.address, ...more }
  const asked = await send(`${app.url}/v1/webhooks`, request)
  assert.equal(asked.body['code'], 'WEBHOOK_NOT_AUTHORISED', asked.text)
  const { typed_data } = asked.body['sign'] as { typed_data: TypedData }
  const signature = await merchant.signTypedData(typed_data)
  return { ...request, issued_at: typed_data.message.issued_at, signature }
}

async function subscribed(merchant: Merchant, receiver: Receiver, more: Record<string, unknown> = {}) {
  const made = await send(`${app.url}/v1/webhooks`, await signedRequest(merchant, receiver.url, more))
  assert.equal(made.status, 201, made.text)
  const { subscription, secret, token } = made.body as { subscription: { subscription_id: string }; secret: string; token: string }
  receiver.secret = secret
  return { url: `${app.url}/v1/webhooks/${subscription.subscription_id}`, headers: { authorization: `Bearer ${token}` } }
}

async function created(merchant: Merchant): Promise<InvoiceShown & { webhook_token: string }> {
  const made = await send(`${app.url}/api/invoice/create`, { amountUsdc: 49, merchant: merchant.address })
  assert.equal(made.status, 201, made.text)
  return made.body as InvoiceShown & { webhook_token: string }
}

async function act(merchant: Merchant, invoice: InvoiceShown, name: 'Issue' | 'Void'): Promise<void> {
  const signature = await signAsMerchant(CHAIN, merchant, invoice, name)
  const path = name === 'Issue' ? 'sign' : 'void'
  const done = await send(`${app.url}/api/invoice/${invoice.invoice_id}/${path}`, { signature })
  assert.equal(done.status, 200, done.text)
}

async function createdSigned(merchant: Merchant): Promise<InvoiceShown> {
  const invoice = await created(merchant)
  await act(merchant, invoice, 'Issue')
  return invoice
}

test('a merchant that signed its subscription receives the events of its invoices, signed', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  const { url, headers } = await subscribed(merchant, receiver)
  const invoice = await created(merchant)
  await act(merchant, invoice, 'Issue')
  await act(merchant, invoice, 'Void')
  await until('two events', () => receiver.accepted.length === 2)
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => [type, data['invoice_id'], data['status']]),
    [['invoice.created', invoice.invoice_id, 'VOID'].with(2, 'ISSUED'), ['invoice.voided', invoice.invoice_id, 'VOID']],
  )
  const listed = await send(`${url}/deliveries?state=delivered`, undefined, headers)
  const deliveries = listed.body['deliveries'] as { event_id: string; last_status: number }[]
  assert.deepEqual(
    deliveries.map(({ event_id }) => event_id).toReversed(),
    receiver.accepted.map(({ id }) => id),
  )
  assert.ok(deliveries.every(({ last_status }) => last_status === 204))
  const metrics = await (await fetch(`${app.url}/metrics`)).text()
  assert.match(metrics, /^assay_webhook_attempts_total\{result="delivered"\} [1-9]/m)
})

test('the creator of an unsigned invoice subscribes with its token, and learns of that invoice alone', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  const [invoice, other] = [await created(merchant), await created(merchant)]
  const request = { url: receiver.url, invoice_id: invoice.invoice_id, invoice_token: invoice.webhook_token }
  const made = await send(`${app.url}/v1/webhooks`, request)
  assert.equal(made.status, 201, made.text)
  receiver.secret = made.body['secret'] as string
  for (const one of [other, invoice]) await act(merchant, one, 'Void')
  await until('an event', () => receiver.accepted.length === 1)
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => [type, data['invoice_id']]),
    [['invoice.voided', invoice.invoice_id]],
  )
  const read = await send(`${app.url}/api/invoice/${invoice.invoice_id}`)
  assert.equal(read.body['webhook_token'], undefined)
  const wrong = await send(`${app.url}/v1/webhooks`, { ...request, invoice_token: other.webhook_token })
  assert.deepEqual([wrong.status, wrong.body['code']], [403, 'WEBHOOK_NOT_AUTHORISED'])
})

test('a failed attempt is repeated with the same id, and a delivered event can be sent again', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf((_, attempt) => (attempt === 1 ? 500 : 204))]
  const { url, headers } = await subscribed(merchant, receiver, { events: ['invoice.voided'] })
  await act(merchant, await createdSigned(merchant), 'Void')
  await until('the second attempt', () => receiver.accepted.length === 1)
  const [first] = receiver.accepted
  await until('the result is stored', async () =>
    (await send(`${url}/deliveries?state=delivered`, undefined, headers)).text.includes('204'),
  )
  const again = await send(`${url}/redeliver`, { event_id: first?.id }, headers)
  assert.deepEqual([again.status, again.body], [200, { queued: true }])
  await until('the manual redelivery', () => receiver.accepted.length === 2)
  assert.deepEqual(receiver.accepted[1], first)
})

test('a receiver that never answers does not delay another one', async () => {
  const [merchant, hanging, quick] = [newMerchant(), await receiverOf(() => 'hang'), await receiverOf()]
  await subscribed(merchant, hanging)
  await subscribed(merchant, quick)
  await createdSigned(merchant)
  await until('the quick receiver has it', () => quick.accepted.length === 1, WEBHOOK_RULES.send_ms - 1_000)
  assert.equal(hanging.accepted.length, 0)
})

test('a subscription is read, and deleted, with its token alone', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  const { url, headers } = await subscribed(merchant, receiver, { events: ['invoice.paid'] })
  const read = await send(url, undefined, headers)
  const { owner, events, secret } = read.body
  assert.deepEqual({ owner, events, secret }, { owner: merchant.address.toLowerCase(), events: ['invoice.paid'], secret: undefined })
  for (const given of [{}, { authorization: `Bearer wht_${'0'.repeat(64)}` }, { authorization: 'Basic x' }])
    assert.equal((await send(url, undefined, given)).body['code'], 'WEBHOOK_NOT_FOUND')
  assert.deepEqual((await send(`${url}/delete`, {}, headers)).body, { deleted: true })
  assert.equal((await send(url, undefined, headers)).body['code'], 'WEBHOOK_NOT_FOUND')
})

test('a signature subscribes once, in time, for its account and its address', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  const request = await signedRequest(merchant, receiver.url)
  const codeOf = async (change: Record<string, unknown>) => {
    const answer = await send(`${app.url}/v1/webhooks`, { ...request, ...change })
    return answer.body['code']
  }
  assert.equal(await codeOf({ url: `${receiver.url}/other` }), 'WEBHOOK_NOT_AUTHORISED')
  assert.equal(await codeOf({ account: newMerchant().address }), 'WEBHOOK_NOT_AUTHORISED')
  assert.equal(await codeOf({ issued_at: String(Number(request.issued_at) - 1_000) }), 'WEBHOOK_NOT_AUTHORISED')
  assert.equal((await send(`${app.url}/v1/webhooks`, request)).status, 201)
  assert.equal(await codeOf({}), 'WEBHOOK_EXISTS')
})

test('subscriptions of one account are bounded, and so are requests of one client', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  for (let number = 0; number < WEBHOOK_RULES.owner_subscriptions; number++)
    await subscribed(merchant, receiver, { url: `${receiver.url}/${number}` })
  const full = await send(`${app.url}/v1/webhooks`, await signedRequest(merchant, receiver.url))
  assert.deepEqual([full.status, full.body['code']], [PROBLEMS.WEBHOOK_LIMIT.status, 'WEBHOOK_LIMIT'])
  const from = { 'x-forwarded-for': '192.0.2.77' }
  const codes = new Set<unknown>()
  for (let number = 0; number <= WEBHOOK_RULES.per_minute; number++)
    codes.add((await send(`${app.url}/v1/webhooks/whs_1`, undefined, from)).body['code'])
  assert.deepEqual([...codes], ['WEBHOOK_NOT_FOUND', 'WEBHOOK_RATE_LIMITED'])
})

test('an address without https, with a port, a user or a fragment is refused', async () => {
  for (const url of ['ftp://example.com/', 'https://user@example.com/', 'https://example.com/#x', 'example.com']) {
    const refused = await send(`${app.url}/v1/webhooks`, { url, account: newMerchant().address })
    assert.deepEqual([refused.status, refused.body['code']], [400, 'INPUT_SCHEMA_INVALID'], url)
  }
})
