/** Who gets a place for a subscription when all are taken, and what ends one, over both databases. */
// attack: 20,000 subscriptions from 400 networks, so that merchants get none
// in: outgoing requests and stored data
// asset: places of webhooks
// attacker: client
// defence: bounds by owner, /24 and /16; the network with the most gives way, a paid account to none; ended with the invoice or a dead
//   receiver

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { NewInvoice } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import type { NewWebhookSubscription } from '../../src/ports/webhooks.ts'
import { openSealed, STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { ANY_EVENT, subscriptionOf, WIDE_BOUNDS } from '../support/webhooks.ts'

const NOW_MS = ANY_EVENT.at_ms
const NOW_S = Math.floor(NOW_MS / 1_000)
const DAY_MS = 86_400_000
const ALL = { state: null, before: null, limit: 100 }
const INVOICE_BOUNDS = { network_unsigned: 1_000, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: 1_000 }
const hash = () => `0x${randomBytes(32).toString('hex')}`
const address = () => `0x${randomBytes(20).toString('hex')}`

function invoiceOf(change: Partial<NewInvoice> = {}): NewInvoice {
  return {
    invoice_id: `inv_${randomBytes(6).toString('hex')}`,
    merchant: address(),
    amount_minor: 5_000_000n,
    terms: '{}',
    created_ms: NOW_MS,
    expires_s: NOW_S + 100,
    watch_until_s: NOW_S + 200,
    nonces: [hash()],
    content_hash: hash(),
    request_key: null,
    network: null,
    issue_signature: null,
    bank_reference: null,
    deposit_address: address(),
    ...change,
  }
}

for (const open of STORE_DRIVERS) {
  describe(`places of subscriptions: ${open.name}`, () => {
    let driver: StoreDriver
    before(async () => {
      driver = await open()
    })
    after(() => driver.stop())

    /** A store of its own for a test, because the bounds count all subscriptions. */
    async function opened(t: { after(end: () => Promise<void>): void }): Promise<Store> {
      const store = await openSealed((await driver.fresh()).target)
      t.after(() => store.close())
      return store
    }

    async function subscribe(store: Store, change: Partial<NewWebhookSubscription>, bounds: Partial<typeof WIDE_BOUNDS>) {
      const given = subscriptionOf(change)
      return { ...given, kind: (await store.webhooks.subscribe(given, null, { ...WIDE_BOUNDS, ...bounds })).kind }
    }

    async function paidMerchant(store: Store): Promise<string> {
      const invoice = invoiceOf()
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      const payment = {
        invoice_id: invoice.invoice_id,
        payer: address(),
        amount_minor: 5_000_000n,
        nonce: null,
        matched_by: 'transfer',
      } as const
      const block = { block_number: 7, block_hash: hash(), block_time_s: NOW_S, confirmed: true, final: false }
      assert.notEqual(await store.invoices.attribute({ ...payment, ...block, transaction: hash(), log_index: 1 }, NOW_MS), null)
      return invoice.merchant
    }

    test('a network with many subscriptions gives way to one with few; within a provider, its largest network does', async (t) => {
      const store = await opened(t)
      const bounds = { unpaid_subscriptions: 40 }
      // Four networks of one provider and four providers with one network each, five subscriptions a network.
      const networks = Array.from({ length: 8 }, (_, index) => ({ provider: `p${Math.min(index, 4)}`, network: `n${index}` }))
      for (const one of networks)
        for (let number = 0; number < 5; number++) assert.equal((await subscribe(store, one, bounds)).kind, 'created')
      const honest = await subscribe(store, { provider: 'elsewhere', network: 'honest' }, bounds)
      const neighbour = await subscribe(store, { provider: 'p4', network: 'neighbour' }, bounds)
      assert.deepEqual([honest.kind, neighbour.kind], ['created', 'created'])
      const left = await store.webhooks.subscriptions('', 100)
      assert.equal(left.length, 40)
      const networkOf = (name: string) => left.filter(({ network }) => network === name).length
      assert.deepEqual([networkOf('honest'), networkOf('neighbour')], [1, 1])
      assert.deepEqual(
        [0, 1, 2, 3].map((index) => networkOf(`n${index}`)),
        [5, 5, 5, 5],
        'smaller providers keep theirs',
      )
      // A network that has as many as the others of the largest provider gets no more.
      assert.equal((await subscribe(store, { provider: 'p4', network: 'n7' }, bounds)).kind, 'full')
    })

    test('an attacker of 400 networks cannot drive out a verified subscription of a network that has one', async (t) => {
      const store = await opened(t)
      const bounds = { unpaid_subscriptions: 800, network_subscriptions: 50 }
      const honest = await subscribe(store, { provider: 'home', network: 'home' }, bounds)
      await store.webhooks.end_challenge({ subscription_id: honest.subscription_id, rotation: 0, state: 'verified', fault: null })
      const results: string[] = []
      for (let number = 0; number < 1_200; number++) {
        const network = `n${number % 400}`
        results.push((await subscribe(store, { provider: `p${number % 16}`, network }, bounds)).kind)
      }
      assert.ok(results.includes('full'))
      assert.equal((await store.webhooks.subscription(honest.subscription_id))?.state, 'verified')
      assert.equal((await subscribe(store, { provider: 'late', network: 'late' }, bounds)).kind, 'created')
    })

    test('an account that was paid has a place beyond the bounds of networks, and gives way to no other', async (t) => {
      const store = await opened(t)
      const bounds = { network_subscriptions: 3, provider_subscriptions: 5, unpaid_subscriptions: 5, subscriptions: 8 }
      const owner = await paidMerchant(store)
      const kinds = async (change: Partial<NewWebhookSubscription>, times: number) => {
        const all: string[] = []
        for (let number = 0; number < times; number++) all.push((await subscribe(store, change, bounds)).kind)
        return all
      }
      assert.deepEqual(await kinds({ provider: 'p', network: 'n' }, 4), ['created', 'created', 'created', 'network_full'])
      assert.deepEqual(await kinds({ provider: 'p', network: 'm' }, 3), ['created', 'created', 'provider_full'])
      assert.deepEqual(await kinds({ provider: 'p', network: 'n', owner }, 4), ['created', 'created', 'created', 'created'])
      const rows = await store.webhooks.subscriptions('', 100)
      assert.deepEqual([rows.length, rows.filter(({ paid }) => paid).length], [8, 4], 'one that was never paid gave way')
      // A merchant that subscribed before its first payment keeps its place as well.
      const later = invoiceOf()
      assert.equal((await subscribe(store, { owner: later.merchant, provider: 'q', network: 'q' }, bounds)).kind, 'created')
      assert.equal((await store.webhooks.subscriptions('', 100)).filter(({ paid }) => paid).length, 4)
    })

    test('subscriptions that ended make room first, and pages list every one', async (t) => {
      const store = await opened(t)
      const bounds = { unpaid_subscriptions: 3 }
      const all = []
      for (const name of ['a', 'b', 'c']) all.push(await subscribe(store, { provider: name, network: name }, bounds))
      const [first, second, third] = all.map(({ subscription_id }) => subscription_id)
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      assert.equal((await subscribe(store, { provider: 'd', network: 'd' }, bounds)).kind, 'full')
      await store.webhooks.end(second, 'receiver_dead', NOW_MS)
      const { state, challenge_fault, challenge_until_ms } = (await store.webhooks.subscription(second)) ?? {}
      assert.deepEqual([state, challenge_fault, challenge_until_ms], ['expired', 'receiver_dead', NOW_MS])
      assert.equal((await subscribe(store, { provider: 'd', network: 'd' }, bounds)).kind, 'created')
      assert.equal(await store.webhooks.subscription(second), null)
      const page = await store.webhooks.subscriptions('', 2)
      const rest = await store.webhooks.subscriptions(page.at(-1)?.subscription_id ?? '', 2)
      assert.equal(new Set([...page, ...rest].map(({ subscription_id }) => subscription_id)).size, 3)
    })

    test('a subscription ends with its invoice, once its last event is sent, and is readable for a day', async (t) => {
      const store = await opened(t)
      const [voided, watched, unknown] = [invoiceOf(), invoiceOf(), invoiceOf()]
      for (const one of [voided, watched]) await store.invoices.keep(one, INVOICE_BOUNDS)
      const ids: string[] = []
      for (const { invoice_id } of [voided, watched, unknown]) {
        const { subscription_id } = await subscribe(store, { owner: invoice_id }, {})
        await store.webhooks.end_challenge({ subscription_id, rotation: 0, state: 'verified', fault: null })
        ids.push(subscription_id)
      }
      const account = await subscribe(store, { owner: voided.merchant }, {})
      ids.push(account.subscription_id)
      const states = async () => Promise.all(ids.map(async (id) => (await store.webhooks.subscription(id))?.state ?? null))
      await store.invoices.void(voided.invoice_id, '0xbb', NOW_MS)
      assert.equal(await store.webhooks.end_with_invoices(NOW_MS), 1)
      assert.deepEqual(await states(), ['verified', 'verified', 'expired', 'pending'], 'its last event waits')
      const [id = ''] = ids
      const [event] = await store.webhooks.due(id, NOW_MS, 10)
      assert.ok(event !== undefined)
      const sent = { attempts: 1, due_ms: NOW_MS, status: 204, fault: null, attempted_ms: NOW_MS }
      const { subscription_id, event_id } = event
      await store.webhooks.record({
        subscription_id,
        event_id,
        state: 'delivered',
        ...sent,
        failures: 0,
        failing_since_ms: null,
        paused_until_ms: 0,
      })
      assert.equal(await store.webhooks.end_with_invoices(NOW_MS), 1)
      assert.deepEqual(await states(), ['expired', 'verified', 'expired', 'pending'])
      assert.equal((await store.webhooks.subscription(id))?.challenge_fault, 'invoice_over')
      assert.equal(await store.webhooks.end_with_invoices(NOW_MS + 201_000), 1, 'an invoice that is no longer watched')
      const purge = (unverified_ms: number) => store.webhooks.purge({ pending_since_ms: 0, delivered_ms: 0, dead_ms: 0, unverified_ms })
      await purge(NOW_MS)
      assert.equal((await store.webhooks.deliveries(id, ALL)).length, 1)
      await purge(NOW_MS + 1)
      assert.deepEqual([await store.webhooks.deliveries(id, ALL), (await states())[0]], [[], null])
    })

    test('a receiver that fails for seven days is challenged once more, and events wait meanwhile', async (t) => {
      const store = await opened(t)
      const owner = address()
      const { subscription_id } = await subscribe(store, { owner }, {})
      await store.webhooks.end_challenge({ subscription_id, rotation: 0, state: 'verified', fault: null })
      await store.invoices.keep(invoiceOf({ merchant: owner, issue_signature: '0xaa' }), INVOICE_BOUNDS)
      const [event] = await store.webhooks.due(subscription_id, NOW_MS, 10)
      assert.ok(event !== undefined)
      const { event_id } = event
      const failed = { subscription_id, event_id, state: 'pending', attempts: 1, due_ms: NOW_MS, status: 500, fault: 'status_500' } as const
      await store.webhooks.record({ ...failed, attempted_ms: NOW_MS, failures: 4, failing_since_ms: NOW_MS, paused_until_ms: 0 })
      const challengeAt = (now_ms: number) =>
        store.webhooks.challenge_failing({
          failing_ms: now_ms - 7 * DAY_MS,
          dead_ms: 7 * DAY_MS,
          now_ms,
          challenge_until_ms: now_ms + 3_600_000,
        })
      const dead_ms = NOW_MS + 7 * DAY_MS
      assert.equal(await challengeAt(dead_ms - 1), 0)
      assert.equal(await challengeAt(dead_ms), 1)
      const found = await store.webhooks.subscription(subscription_id)
      assert.deepEqual([found?.state, found?.challenge_fault, found?.challenges], ['pending', 'receiver_dead', 0])
      assert.deepEqual(await store.webhooks.ready(dead_ms, 10), [])
      await store.webhooks.end_challenge({ subscription_id, rotation: 0, state: 'verified', fault: null })
      const { state, failures, failing_since_ms } = (await store.webhooks.subscription(subscription_id)) ?? {}
      assert.deepEqual([state, failures, failing_since_ms], ['verified', 0, NOW_MS])
      assert.equal((await store.webhooks.ready(dead_ms, 10)).length, 1)
      assert.equal(await challengeAt(dead_ms + 3_600_000), 0, 'not again')
      await store.webhooks.pause(subscription_id, dead_ms + 5_000)
      assert.equal((await store.webhooks.ready(dead_ms + 4_999, 10)).length, 0)
      assert.equal((await store.webhooks.ready(dead_ms + 5_000, 10)).length, 1)
    })
  })
}
