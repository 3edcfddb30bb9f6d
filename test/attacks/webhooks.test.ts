/** Attacks through webhooks: on servers of others, and on the places of honest merchants. */
// attack: events or streams of requests to a server that did not ask for them

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import { createWebhookSender } from '../../src/adapters/public-https/webhook-sender.ts'
import { createNonceSource } from '../../src/adapters/random/system.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import type { Store } from '../../src/ports/store.ts'
import { WEBHOOK_RULES } from '../../src/service/limits.ts'
import { createReceiverRate } from '../../src/service/webhooks/receiver-rate.ts'
import { secretContext } from '../../src/service/webhooks/secret-context.ts'
import { createWebhookChallenger } from '../../src/service/webhooks/webhook-challenges.ts'
import { createWebhookDeliveries } from '../../src/service/webhooks/webhook-deliveries.ts'
import { startTestApp } from '../support/app.ts'
import { clockAt } from '../support/clock-at.ts'
import { newMerchant, send } from '../support/invoicing.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { openSealed, sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'
import { subscriptionOf, WIDE_BOUNDS } from '../support/webhooks.ts'

// row: webhook_receivers, webhook_deliveries

const { rate: RATE } = WEBHOOK_RULES
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const secret_key = randomBytes(32)
let driver: StoreDriver
before(async () => {
  driver = await sqliteDriver()
})
after(() => driver.stop())

/** Deliveries and challenges over a real store, with a clock that the test moves. */
async function opened(t: { after(end: () => Promise<void>): void }) {
  const store = await openSealed((await driver.fresh()).target)
  let now_ms = Date.now()
  const clock = clockAt(() => now_ms)
  const rate = createReceiverRate(clock)
  const resolve = () => Promise.reject(new Error('no name is asked here'))
  const shared = {
    store: store.webhooks,
    rate,
    sender: createWebhookSender({ loopback: true, resolve, rate }),
    sealer: createSealer(secret_key),
    clock,
    log: { info: () => undefined, warn: () => undefined, error: (_: unknown, message: string) => assert.fail(message) },
  }
  const challenger = createWebhookChallenger({
    ...shared,
    budgets: store,
    derive: createDerivation(secret_key),
    random: createNonceSource(),
  })
  const deliveries = createWebhookDeliveries({ ...shared, invoices: store.invoices, challenges: challenger })
  t.after(async () => {
    await deliveries.stop()
    await challenger.stop()
    await store.close()
  })
  const [round] = deliveries.jobs
  return {
    store,
    now_ms: () => now_ms,
    /** Runs the jobs of so many seconds, each turn and challenge to its end. */
    async pass(seconds: number): Promise<void> {
      for (const end_ms = now_ms + seconds * 1_000; now_ms < end_ms; now_ms += WEBHOOK_RULES.every_ms) {
        await round?.run(now_ms)
        const idle = async () =>
          (await store.webhooks.ready(now_ms, 1)).length === 0 && (await store.webhooks.challenges_due(now_ms, 1)).length === 0
        await until('nothing is due', async () => {
          if (await idle()) return true
          await round?.run(now_ms)
          return idle()
        })
      }
    },
  }
}

async function subscribed(store: Store, url: string, created_ms: number): Promise<string> {
  const given = subscriptionOf({ url, created_ms, challenge_until_ms: created_ms + WEBHOOK_RULES.challenge.expires_ms })
  const secret = createSealer(secret_key).seal(SECRET, secretContext(given.subscription_id))
  assert.equal((await store.webhooks.subscribe({ ...given, secret }, null, WIDE_BOUNDS)).kind, 'created')
  return given.owner
}

async function receiverOf(t: { after(end: () => Promise<void>): void }, ...behaviour: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...behaviour)
  receiver.secret = SECRET
  t.after(() => receiver.stop())
  return receiver
}

test('a server that did not agree gets few requests a minute, however many subscriptions name it', async (t) => {
  const { store, now_ms, pass } = await opened(t)
  const third_party = await receiverOf(t, undefined, () => ({ status: 404, body: 'not here' }))
  for (let number = 0; number < 120; number++) await subscribed(store, `${third_party.url}/${number}`, now_ms())
  let seen = 0
  for (let minute = 0; minute < 5; minute++) {
    await pass(60)
    const more = third_party.requests() - seen
    // A full bucket at the beginning, and what flows in.
    assert.ok(more <= (minute === 0 ? 2 : 1) * RATE.host.unaccepted, `${more} requests in minute ${minute}`)
    seen = third_party.requests()
  }
  assert.ok(seen >= 3 * RATE.host.unaccepted, 'each still gets its turn')
})

test('a server that agreed once and then refuses events gets few of them, and does not delay another receiver', async (t) => {
  const { store, now_ms, pass } = await opened(t)
  const [turned, honest] = [await receiverOf(t, () => 500), await receiverOf(t)]
  const owners: string[] = []
  for (let number = 0; number < 60; number++) owners.push(await subscribed(store, `${turned.url}/${number}`, now_ms()))
  const merchant = await subscribed(store, honest.url, now_ms())
  await pass(120)
  assert.equal(turned.challenges.length, 60)
  const before_events = turned.requests()
  for (const owner of [...owners, merchant]) {
    for (let number = 0; number < 3; number++) await bound(store, owner, `${owner}|${number}`, now_ms())
  }
  await pass(60)
  assert.equal(honest.accepted.length, 3)
  const events = turned.requests() - before_events
  assert.ok(events > 0 && events <= 4 * RATE.host.unaccepted, `${events} events refused in a minute`)
})

test('a receiver that accepts gets a high rate, of which a share is kept for accounts that were paid', async () => {
  let now_ms = 0
  const rate = createReceiverRate(clockAt(() => now_ms))
  const url = 'https://hooks.example.com/a'
  const sent = (sender: { healthy: boolean; paid: boolean }) => {
    const taken = rate.takeHost(url, sender)
    taken?.accepted()
    return taken !== null
  }
  const kept = RATE.host.all * RATE.share_of_paid
  const unpaid = Array.from({ length: RATE.host.all }, () => sent({ healthy: true, paid: false }))
  assert.equal(unpaid.filter(Boolean).length, RATE.host.all - kept)
  const paid = Array.from({ length: RATE.host.all }, () => sent({ healthy: true, paid: true }))
  assert.equal(paid.filter(Boolean).length, kept)
  // Another host below the same name shares the rate of the domain, not that of the host.
  assert.ok(rate.takeHost('https://other.example.com/a', { healthy: true, paid: false }) !== null)
  const waits = Array.from({ length: 100 }, () => rate.wait_ms(url, { healthy: true, paid: false }))
  assert.ok(
    waits.every((wait_ms, index) => index === 0 || wait_ms > (waits[index - 1] ?? 0)),
    'those that wait come back one after the other',
  )
  assert.ok(waits.every((wait_ms) => wait_ms <= RATE.wait_max_ms))
  now_ms = 60_000
  assert.equal(sent({ healthy: true, paid: false }), true)
})

test('hosts of one domain and names that lead to one address share a rate', () => {
  const rate = createReceiverRate(clockAt(() => 0))
  const other = { healthy: false, paid: false }
  const hosts = Array.from({ length: 10 * RATE.domain.unaccepted }, (_, index) => `https://h${index}.example.com/`)
  assert.equal(hosts.filter((url) => rate.takeHost(url, other) !== null).length, RATE.domain.unaccepted)
  const addresses = Array.from({ length: 10 * RATE.address.unaccepted }, () => rate.takeAddress('203.0.113.7', other))
  assert.equal(addresses.filter((taken) => taken !== null).length, RATE.address.unaccepted)
  // What others get refused at the address does not delay a receiver that accepted its last request.
  assert.notEqual(rate.takeAddress('203.0.113.7', { healthy: true, paid: false }), null)
  // Customers of a platform are not one domain.
  for (let number = 0; number < RATE.domain.unaccepted; number++) rate.takeHost(`https://a${number}.x.github.io/`, other)
  assert.notEqual(rate.takeHost('https://honest.github.io/', other), null)
})

test('who subscribes learns whose limit is reached, and sees its own subscriptions', async (t) => {
  const app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
  t.after(() => app.stop())
  const from = (client: string) => ({ 'x-forwarded-for': client })
  const made = await send(`${app.url}/api/invoice/create`, { amountUsdc: 49, merchant: newMerchant().address }, from('10.9.0.1'))
  const { invoice_id, webhook_token } = made.body as { invoice_id: string; webhook_token: string }
  const subscribe = (number: number) =>
    send(`${app.url}/v1/webhooks`, { url: `https://example.com/${number}`, invoice_id, invoice_token: webhook_token }, from('10.9.0.1'))
  const ids: unknown[] = []
  for (let number = 0; number < WEBHOOK_RULES.owner_subscriptions; number++) {
    const { status, body } = await subscribe(number)
    assert.equal(status, 201)
    ids.push((body['subscription'] as Record<string, unknown>)['subscription_id'])
  }
  const { status, body } = await subscribe(100)
  assert.deepEqual([status, body['code']], [429, 'WEBHOOK_LIMIT'])
  const listed = body['subscriptions'] as Record<string, unknown>[]
  assert.deepEqual(new Set(listed.map((one) => one['subscription_id'])), new Set(ids))
})

async function bound(store: Store, owner: string, key: string, at_ms: number): Promise<void> {
  const policy_id = `pol_${Buffer.from(key).toString('hex').slice(-32)}`
  await store.insurance.bind({ policy_id, underwriter: owner, certificate: '{}' })
  const signature = { underwriter_signature: '0xaa', underwriter_attestation: null }
  await store.insurance.countersign(policy_id, signature, { type: 'policy.bound', key: policy_id, owners: [owner], at_ms, data: {} })
}
