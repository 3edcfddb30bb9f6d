/** Webhooks over HTTP: who may subscribe, what arrives, and the list of deliveries. Real receivers verify with the package `standardwebhooks`. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { WEBHOOK_RULES } from '../../src/service/limits.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import { startTestApp } from '../support/app.ts'
import { newMerchant, send, signAsMerchant, type InvoiceShown } from '../support/invoicing.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const settings = { ASSAY_TRUSTED_PROXIES: '127.0.0.1' }
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

// attack: an input that chooses an address
test('an address without https, with a port, a user or a fragment is refused', async () => {
  for (const url of ['ftp://example.com/', 'https://user@example.com/', 'https://example.com/#x', 'example.com']) {
    const refused = await send(`${app.url}/v1/webhooks`, { url, account: newMerchant().address })
    assert.deepEqual([refused.status, refused.body['code']], [400, 'INPUT_SCHEMA_INVALID'], url)
  }
})

/** Addresses that lead to this machine or to a private network, in the spellings that URLs allow, and what the refusal names. */
const PRIVATE: readonly [string, string][] = [
  ['https://127.0.0.1/hooks', '127.0.0.1'],
  ['https://127.1/hooks', '127.0.0.1'],
  ['https://127.0.0.1./hooks', '127.0.0.1'],
  ['https://0x7f000001/hooks', '127.0.0.1'],
  ['https://2130706433/hooks', '127.0.0.1'],
  ['https://017700000001/hooks', '127.0.0.1'],
  ['https://0177.0.0.0x1/hooks', '127.0.0.1'],
  ['https://%31%32%37.0.0.1/hooks', '127.0.0.1'],
  ['https://１２７.０.０.１/hooks', '127.0.0.1'],
  ['https://0/hooks', '0.0.0.0'],
  ['https://10.1.2.3/hooks', '10.1.2.3'],
  ['https://192.168.1.1/hooks', '192.168.1.1'],
  ['https://172.16.0.1/hooks', '172.16.0.1'],
  ['https://100.64.0.1/hooks', '100.64.0.1'],
  ['https://169.254.169.254/latest/meta-data', '169.254.169.254'],
  ['https://[::1]/hooks', '::1'],
  ['https://[::]/hooks', '::'],
  ['https://[::ffff:127.0.0.1]/hooks', '::ffff:7f00:1'],
  ['https://[64:ff9b::7f00:1]/hooks', '64:ff9b::7f00:1'],
  ['https://[fe80::1]/hooks', 'fe80::1'],
  ['https://[fd00::1]/hooks', 'fd00::1'],
  ['https://localhost/hooks', 'localhost'],
  ['https://LOCALHOST/hooks', 'localhost'],
  ['https://localhost./hooks', 'ends with a dot'],
  ['https://shop.localhost/hooks', 'shop.localhost'],
  ['https://example.com./hooks', 'ends with a dot'],
  ['https://metadata.google.internal/hooks', 'local networks'],
  ['https://printer.local/hooks', 'local networks'],
  ['https://nas.home.arpa/hooks', 'local networks'],
  ['https://intranet/hooks', 'local networks'],
  ['https://shop/hooks', 'full domain name'],
  ['http://127.0.0.1:8080/hooks', '127.0.0.1'],
  ['http://localhost:8080/hooks', 'localhost'],
  ['http://example.com/hooks', 'scheme http'],
  ['https://example.com:8443/hooks', 'port 8443'],
]

// attack: events or streams of requests to a server that did not ask for them
test('an address that no public server has is refused at the subscription, with what was found and what is expected', async () => {
  const strict = await startTestApp({ settings: { ...settings, ASSAY_WEBHOOK_LOOPBACK: 'off' } })
  try {
    for (const [url, found] of PRIVATE) {
      const { status, body } = await send(`${strict.url}/v1/webhooks`, { url, account: newMerchant().address })
      const [error] = body['errors'] as { pointer: string; code: string; message: string }[]
      assert.deepEqual([status, body['code'], error?.pointer], [400, 'INPUT_SCHEMA_INVALID', '/url'], url)
      for (const text of [String(body['detail']), error?.message ?? ''])
        assert.ok(text.includes(found) && text.includes('expected an https address on port 443 of a public host'), `${url}: ${text}`)
    }
    for (const url of [
      'https://example.com/hooks',
      'https://1.1.1.1/hooks',
      'https://internal.example.com/',
      'https://localhost.example.com/',
    ])
      assert.equal(
        (await send(`${strict.url}/v1/webhooks`, { url, account: newMerchant().address })).body['code'],
        'WEBHOOK_NOT_AUTHORISED',
        url,
      )
  } finally {
    await strict.stop()
  }
})

test('a sandbox takes loopback addresses over http, in any spelling, and no other private ones', async () => {
  const codeOf = async (url: string) => (await send(`${app.url}/v1/webhooks`, { url, account: newMerchant().address })).body['code']
  for (const url of ['http://127.0.0.1:8080/', 'http://localhost:3000/hooks', 'http://[::1]:8080/', 'http://0x7f000001:8080/'])
    assert.equal(await codeOf(url), 'WEBHOOK_NOT_AUTHORISED', url)
  for (const url of [
    'http://127.0.0.2:8080/',
    'http://10.0.0.1:8080/',
    'http://shop.localhost:8080/',
    'http://example.com/',
    'https://10.0.0.1/',
  ])
    assert.equal(await codeOf(url), 'INPUT_SCHEMA_INVALID', url)
})

test('events wait until the receiver returns the text of a challenge, which its owner can ask for', async () => {
  const merchant = newMerchant()
  const receiver = await receiverOf(
    () => 204,
    (text, attempt) =>
      attempt < 3 ? { body: attempt === 1 ? 'ok' : `{"data":{"challenge":"${text}"}}` } : { body: `{"challenge":"${text}"}` },
  )
  const { url, headers } = await subscribed(merchant, receiver)
  const invoice = await createdSigned(merchant)
  const read = async () =>
    (await send(url, undefined, headers)).body as { state: string; challenge: { attempts: number; last_fault: string } | null }
  await until('a wrong answer', async () => (await read()).challenge?.last_fault === 'wrong_answer')
  assert.equal((await read()).state, 'pending')
  const listed = await send(`${url}/deliveries`, undefined, headers)
  assert.deepEqual(
    (listed.body['deliveries'] as { state: string; attempts: number }[]).map(({ state, attempts }) => [state, attempts]),
    [['pending', 0]],
  )
  assert.deepEqual((await send(`${url}/verify`, {})).body['code'], 'WEBHOOK_NOT_FOUND')
  await until(
    'a right answer',
    async () => {
      const asked = await send(`${url}/verify`, {}, headers)
      assert.equal(asked.status, 200, asked.text)
      return asked.body['state'] === 'verified'
    },
    30_000,
  )
  assert.equal((await read()).challenge, null)
  await until('the event that waited', () => receiver.accepted.length === 1)
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => [type, data['invoice_id']]),
    [['invoice.created', invoice.invoice_id]],
  )
  assert.equal(receiver.challenges.length, 3)
  const ids = new Set(receiver.challenges.map(({ id, data }) => `${id} ${String(data['challenge'])}`))
  assert.equal(ids.size, 3, 'each challenge has its own text and id')
})

test('a second subscription of an owner and address is refused with the first one, whose lost secret a later signature replaces', async () => {
  const [merchant, receiver] = [newMerchant(), await receiverOf()]
  const first = await subscribed(merchant, receiver)
  await until('the receiver is verified', async () => (await send(first.url, undefined, first.headers)).body['state'] === 'verified')
  const { url } = receiver
  const asked = await signedRequest(merchant, url.replace('127.0.0.1', '0x7f.1'))
  const second = await send(`${app.url}/v1/webhooks`, asked)
  assert.deepEqual([second.status, second.body['code']], [409, 'WEBHOOK_EXISTS'])
  const { subscription_id, url: stored } = second.body['subscription'] as { subscription_id: string; url: string }
  assert.deepEqual([first.url.endsWith(subscription_id), stored], [true, url])
  assert.equal(second.text.includes('whsec_'), false)

  const { typed_data, submit } = second.body['sign'] as { typed_data: TypedData; submit: { body: Record<string, unknown> } }
  const signature = await merchant.signTypedData(typed_data)
  const later = { ...asked, ...submit.body, signature }
  const replaced = await send(`${app.url}/v1/webhooks`, later)
  assert.equal(replaced.status, 201, replaced.text)
  const { subscription, secret, token } = replaced.body as {
    subscription: { subscription_id: string; state: string }
    secret: string
    token: string
  }
  assert.deepEqual([subscription.subscription_id, subscription.state], [subscription_id, 'verified'])
  assert.notEqual(secret, receiver.secret)
  receiver.secret = secret
  assert.equal((await send(first.url, undefined, first.headers)).body['code'], 'WEBHOOK_NOT_FOUND', 'the old token is void')
  assert.equal((await send(first.url, undefined, { authorization: `Bearer ${token}` })).status, 200)
  // Signatures that were used give no secret, also with the id of the subscription.
  for (const used of [later, { ...asked, replaces: subscription_id }])
    assert.equal((await send(`${app.url}/v1/webhooks`, used)).body['code'], 'WEBHOOK_EXISTS')
  await createdSigned(merchant)
  await until('an event under the new secret', () => receiver.accepted.length === 1)
})

test('the creator of an invoice replaces the secret of its subscription with the token of the invoice', async () => {
  const receiver = await receiverOf()
  const invoice = await created(newMerchant())
  const request = { url: receiver.url, invoice_id: invoice.invoice_id, invoice_token: invoice.webhook_token }
  const first = await send(`${app.url}/v1/webhooks`, request)
  assert.equal(first.status, 201, first.text)
  const second = await send(`${app.url}/v1/webhooks`, request)
  assert.deepEqual([second.status, second.body['sign']], [409, undefined])
  const { subscription_id } = second.body['subscription'] as { subscription_id: string }
  const replaced = await send(`${app.url}/v1/webhooks`, { ...request, replaces: subscription_id })
  assert.equal(replaced.status, 201, replaced.text)
  assert.notEqual(replaced.body['token'], first.body['token'])
  const unknown = await send(`${app.url}/v1/webhooks`, { ...request, replaces: `whs_${'0'.repeat(32)}` })
  assert.equal(unknown.body['code'], 'WEBHOOK_NOT_FOUND')
})
