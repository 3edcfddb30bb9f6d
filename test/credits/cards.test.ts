/** Buying: checkouts by Stripe's own library over HTTP, and notices signed by its own test helper. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import type { PROBLEMS } from '../../src/service/problems.ts'
import { CREDIT_PROBLEMS } from '../../src/service/payment-problems.ts'
import { CREDIT_RULES } from '../../src/service/limits.ts'
import { start } from '../../src/assembly/start.ts'
import * as credits from '../support/credits.ts'
import { ask, balance, boughtCode, dispute, event, notify, post, refund, session, signedHeaders } from '../support/credits.ts'

let stripe: credits.FakeStripe
let app: credits.CreditApp
const SECRET = 's'.repeat(64)
const CLAIM = nobleCrypto.keccak256Hex(SECRET)

before(async () => {
  stripe = await credits.startFakeStripe()
  app = await credits.startCreditApp('none', { stripe_at: stripe.at })
})
after(async () => {
  await app.stop()
  await stripe.stop()
})

const checkout = (pack: unknown, claim_hash: unknown = CLAIM) => post(`${app.url}/api/credits/checkout`, { pack, claim_hash })
const code = (session_id: string, secret: string, more = {}) => post(`${app.url}/api/credits/code`, { session_id, secret, ...more })

test('a checkout asks Stripe for a payment of the pack, once for one secret', async () => {
  const opened = await checkout(20)
  assert.equal(opened.status, 200)
  assert.equal(opened.body['url'], 'https://checkout.stripe.com/c/pay/cs_test_1')
  assert.deepEqual((await checkout(20)).body, opened.body)
  assert.notEqual((await checkout(5)).body['url'], opened.body['url'])
  const [asked] = stripe.asked
  assert.ok(asked !== undefined)
  assert.equal(asked.path, '/v1/checkout/sessions')
  assert.equal(asked.authorization, 'Bearer sk_test_of_the_tests')
  assert.ok((asked.idempotency_key ?? '').includes(CLAIM))
  // Names and values of the API reference of Stripe, Create a Checkout Session.
  assert.deepEqual(
    [...asked.form].filter(([name]) => !name.includes('product_data')),
    [
      ['mode', 'payment'],
      ['line_items[0][quantity]', '1'],
      ['line_items[0][price_data][currency]', 'usd'],
      ['line_items[0][price_data][unit_amount]', '2000'],
      ['success_url', `${app.url}/credits/done?session_id={CHECKOUT_SESSION_ID}`],
      ['cancel_url', `${app.url}/credits`],
      ['client_reference_id', CLAIM],
      ['metadata[assay_claim]', CLAIM],
      ['payment_intent_data[metadata][assay_claim]', CLAIM],
      ['adaptive_pricing[enabled]', 'false'],
    ],
  )
})

test('only packs that are sold, and only with a hash', async () => {
  for (const [pack, hash] of [
    [7, CLAIM],
    ['20', CLAIM],
    [undefined, CLAIM],
    [20, 'secret'],
    [20, null],
  ]) {
    const refused = await checkout(pack, hash)
    assert.deepEqual([refused.status, refused.body['code']], [400, 'INPUT_SCHEMA_INVALID'])
  }
})

test('Stripe out of order: 503, and nothing is known of its words', async () => {
  stripe.fail(402)
  const down = await checkout(20, nobleCrypto.keccak256Hex('another'))
  stripe.fail(undefined)
  assert.deepEqual([down.status, down.body['code'], down.body['charged']], [503, 'CARDS_UNAVAILABLE', false])
  assert.ok(!down.text.includes('on purpose'))
})

test('the code is handed to whoever holds the secret, until it is kept; it is worth what was paid', async () => {
  assert.deepEqual((await code('cs_test_hand', SECRET)).body, { status: 'waiting' })
  assert.equal((await notify(app.url, event('checkout.session.completed', session('hand', 2_000, CLAIM)))).status, 200)
  assert.deepEqual((await code('cs_test_hand', SECRET.replace('s', 't'))).body, { status: 'waiting' })
  const ready = await code('cs_test_hand', SECRET)
  assert.deepEqual([ready.body['status'], ready.body['amount_minor']], ['ready', '20000000'])
  assert.match(String(ready.body['code']), /^ac_[0-9a-hjkmnp-tv-z]{33}$/)
  // The answer may have been lost on its way.
  assert.deepEqual((await code('cs_test_hand', SECRET)).body, ready.body)
  assert.deepEqual((await code('cs_test_hand', SECRET, { seen: true })).body, { status: 'shown', amount_minor: '20000000' })
  assert.deepEqual((await code('cs_test_hand', SECRET)).body, { status: 'shown', amount_minor: '20000000' })
  const { body } = await balance(app.url, String(ready.body['code']))
  assert.deepEqual([body['unit'], body['available'], body['granted'], body['spent']], ['usdc_minor', '20000000', '20000000', '0'])
  assert.deepEqual(body['entries'], [])
})

test('notices that come twice, in another order, or under another name credit once', async () => {
  const done = event('checkout.session.completed', session('twice', 500, CLAIM))
  const late = event('checkout.session.async_payment_succeeded', session('twice', 500, CLAIM))
  for (const one of [done, done, late, done]) assert.equal((await notify(app.url, one)).status, 200)
  const bought = String((await code('cs_test_twice', SECRET)).body['code'])
  assert.equal((await balance(app.url, bought)).body['granted'], '5000000')
})

test('a session that is completed but unpaid credits when the payment succeeds', async () => {
  await notify(app.url, event('checkout.session.completed', session('slow', 500, CLAIM, { payment_status: 'unpaid' })))
  assert.deepEqual((await code('cs_test_slow', SECRET)).body, { status: 'waiting' })
  await notify(app.url, event('checkout.session.async_payment_succeeded', session('slow', 500, CLAIM)))
  assert.equal((await code('cs_test_slow', SECRET)).body['status'], 'ready')
})

test('payments of others on the same account, other currencies and other events credit nobody', async () => {
  const others = [
    session('other', 500, CLAIM, { metadata: {} }),
    session('other', 500, CLAIM, { metadata: null }),
    session('other', 500, CLAIM, { currency: 'jpy' }),
    session('other', 0, CLAIM),
  ]
  for (const other of others) assert.equal((await notify(app.url, event('checkout.session.completed', other))).status, 200)
  assert.equal((await notify(app.url, event('customer.created', { id: 'cus_1', object: 'customer' }))).status, 200)
  assert.deepEqual((await code('cs_test_other', SECRET)).body, { status: 'waiting' })
})

test('what Stripe did not sign, signed too early or too late, or means for the other mode is refused and changes nothing', async () => {
  const payload = JSON.stringify(event('checkout.session.completed', session('forged', 500, CLAIM)))
  const now_s = Math.floor(Date.now() / 1_000)
  const sent = (headers: Record<string, string>, body = payload) => ask(`${app.url}/api/credits/webhook`, { method: 'POST', body, headers })
  const live = JSON.stringify({ ...(JSON.parse(payload) as object), livemode: true })
  for (const refused of [
    await sent({}),
    await sent({ 'stripe-signature': 't=1,v1=00' }),
    await sent(signedHeaders(payload, { secret: 'whsec_of_somebody' })),
    await sent(signedHeaders(payload, { timestamp: now_s - CREDIT_RULES.notice_tolerance_s - 5 })),
    await sent(signedHeaders(payload, { timestamp: now_s + CREDIT_RULES.notice_tolerance_s + 20 })),
    await sent(signedHeaders(payload, { timestamp: now_s + 86_400 })),
    // One byte more than what was signed.
    await sent(signedHeaders(payload), `${payload} `),
    await sent(signedHeaders(live), live),
  ]) {
    assert.deepEqual([refused.status, refused.body['code']], [400, 'CARD_NOTICE_INVALID'])
  }
  assert.deepEqual((await code('cs_test_forged', SECRET)).body, { status: 'waiting' })
  assert.equal((await sent(signedHeaders(payload, { timestamp: now_s - CREDIT_RULES.notice_tolerance_s + 20 }))).status, 200)
  assert.equal((await sent(signedHeaders(payload, { timestamp: now_s + CREDIT_RULES.notice_tolerance_s - 20 }))).status, 200)
})

test('an amount that no payment of Stripe has is refused with its field, for every kind of event', async () => {
  const { n } = await boughtCode(app.url, 500)
  for (const cents of [1e15, 1e12, 12.5]) {
    for (const [of, pointer] of [
      [event('checkout.session.completed', session('huge', cents, CLAIM)), '/data/object/amount_total'],
      [event('charge.refunded', refund(n, cents)), '/data/object/amount_refunded'],
      [event('charge.dispute.created', dispute(n, cents, 'needs_response')), '/data/object/amount'],
    ] as const) {
      const refused = await notify(app.url, of)
      const [error] = refused.body['errors'] as { pointer: string; message: string }[]
      assert.deepEqual([refused.status, refused.body['code'], error?.pointer], [400, 'CARD_NOTICE_INVALID', pointer], refused.text)
      assert.ok(error?.message.includes(String(cents)), error?.message)
    }
  }
  const highest = session('highest', 999_999_999_999, CLAIM)
  assert.equal((await notify(app.url, event('checkout.session.completed', highest))).status, 200)
})

test('refunds and disputes take back what is left, and a dispute that is won gives it back', async () => {
  const { code: bought, n } = await boughtCode(app.url, 500)
  const left = async () => (await balance(app.url, bought)).body['available']
  await notify(app.url, event('charge.refunded', refund(n, 100)))
  assert.equal(await left(), '4000000')
  await notify(app.url, event('charge.dispute.created', dispute(n, 400, 'needs_response')))
  assert.equal(await left(), '0')
  await notify(app.url, event('charge.dispute.closed', dispute(n, 400, 'won')))
  assert.equal(await left(), '4000000')
  await notify(app.url, event('charge.refunded', refund(n, 500)))
  const { body } = await balance(app.url, bought)
  assert.deepEqual([body['available'], body['reversed'], body['shortfall']], ['0', '5000000', '0'])
  const entries = body['entries'] as { kind: string; amount: string; standing: string }[]
  assert.deepEqual(
    new Set(entries.map(({ kind, amount, standing }) => `${kind} ${amount} ${standing}`)),
    new Set(['reversal 4000000 won', 'reversal 5000000 lost']),
  )
})

test('a refund that is told before the payment is remembered', async () => {
  await notify(app.url, event('charge.refunded', refund('early', 200)))
  await notify(app.url, event('checkout.session.completed', session('early', 500, CLAIM)))
  const bought = String((await code('cs_test_early', SECRET)).body['code'])
  assert.equal((await balance(app.url, bought)).body['available'], '3000000')
})

// attack: trying codes
test('wrong codes are counted: ten a minute, then 429', async () => {
  const wrong = (client: string) =>
    ask(`${app.url}/api/credits/balance`, { headers: { 'x-credit': 'ac_nothing', 'x-forwarded-for': client } })
  const seen: unknown[] = []
  // The minute of the clock may turn once in between.
  while (!seen.includes('CREDIT_RATE_LIMITED') && seen.length <= 2 * CREDIT_RULES.wrong_codes_per_minute)
    seen.push((await wrong('192.0.2.9')).body['code'])
  assert.equal(seen.at(-1), 'CREDIT_RATE_LIMITED')
  assert.ok(seen.length > CREDIT_RULES.wrong_codes_per_minute)
  assert.deepEqual((await wrong('192.0.2.10')).body['code'], 'CREDIT_UNKNOWN')
})

test('every problem of credits has its page', async () => {
  const { errors } = (await ask(`${app.url}/.well-known/x402-errors.json`)).body as {
    errors: { code: keyof typeof PROBLEMS; http_status: number }[]
  }
  for (const name of Object.keys(CREDIT_PROBLEMS) as (keyof typeof CREDIT_PROBLEMS)[]) {
    assert.equal(errors.find((entry) => entry.code === name)?.http_status, CREDIT_PROBLEMS[name].status)
  }
})

test('keys that do not fit stop the start with a sentence that names the setting, and never the key', async () => {
  const { settings, data_dir } = await credits.creditSettings('none')
  const refusal = async (name: string, text: string) => {
    const file = join(data_dir, `bad-${name}`)
    await writeFile(file, text, { mode: 0o600 })
    const read = readSettings({ ...settings, [name]: file })
    assert.ok(read.ok)
    const error: unknown = await start(read.settings).then(
      () => null,
      (failure: unknown) => failure,
    )
    assert.ok(error instanceof Error && error.message.includes(name) && !error.message.includes(text))
  }
  await refusal('ASSAY_STRIPE_SECRET_KEY_FILE', 'sk_live_where_no_money_moves')
  await refusal('ASSAY_STRIPE_SECRET_KEY_FILE', 'pk_test_published')
  await refusal('ASSAY_STRIPE_WEBHOOK_SECRET_FILE', 'not one')
  const half = readSettings({ ...settings, ASSAY_STRIPE_WEBHOOK_SECRET_FILE: '' })
  assert.ok(!half.ok && half.message.includes('together'))
  assert.ok(!readSettings({ ...settings, ASSAY_CREDIT_PACKS: '5,0' }).ok)
})
