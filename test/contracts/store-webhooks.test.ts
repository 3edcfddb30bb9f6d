/** Subscriptions, and the queue that is written together with the changes of invoices, over both databases. */
// attack: an unsigned invoice for the shop with the number of an order of it, paid with a cent

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { InvoicePayment, NewInvoice } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import { type AttemptRecord, type NewWebhookSubscription, type SubscriptionState, type WebhookDelivery } from '../../src/ports/webhooks.ts'
import { subscriptionOf, WIDE_BOUNDS } from '../support/webhooks.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const NOW_MS = 1_795_262_400_123
const NOW_S = 1_795_262_400
const BOUNDS = { ...WIDE_BOUNDS, owner_subscriptions: 2, network_subscriptions: 3 }
const INVOICE_BOUNDS = { network_unsigned: 1_000, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: 1_000 }
const ALL = { state: null, before: null, limit: 100 }
type Json = Record<string, unknown>
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
    issue_signature: '0xaa',
    bank_reference: null,
    deposit_address: address(),
    ...change,
  }
}

function paymentOf(invoice_id: string, change: Partial<InvoicePayment> = {}): InvoicePayment {
  return {
    transaction: hash(),
    log_index: 3,
    invoice_id,
    payer: address(),
    amount_minor: 5_000_000n,
    block_number: 7,
    block_hash: hash(),
    block_time_s: NOW_S,
    matched_by: 'eip3009',
    nonce: null,
    confirmed: true,
    final: false,
    ...change,
  }
}

function attemptOf({ subscription_id, event_id }: WebhookDelivery, change: Partial<AttemptRecord> = {}): AttemptRecord {
  const ended = { state: 'delivered' as const, attempts: 1, due_ms: NOW_MS, status: 204, fault: null, attempted_ms: NOW_MS }
  return { subscription_id, event_id, ...ended, failures: 0, failing_since_ms: null, paused_until_ms: 0, ...change }
}

for (const open of STORE_DRIVERS) {
  describe(`webhooks: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openSealed(fresh.target)
    })
    after(async () => {
      await store.close()
      await driver.stop()
    })

    const typesOf = async (subscription_id: string) =>
      (await store.webhooks.deliveries(subscription_id, ALL)).map(({ type }) => type).toReversed()
    const subscribe = (given: NewWebhookSubscription, replaces: string | null = null, bounds = BOUNDS) =>
      store.webhooks.subscribe(given, replaces, bounds)
    const pending = async (change: Partial<NewWebhookSubscription> = {}) => {
      const given = subscriptionOf(change)
      assert.equal((await subscribe(given)).kind, 'created')
      return given
    }
    const challenged = (subscription_id: string, state: SubscriptionState, rotation = 0) =>
      store.webhooks.end_challenge({ subscription_id, rotation, state, fault: state === 'verified' ? null : 'timeout' })
    /** A subscription whose receiver has answered its challenge. */
    const subscribed = async (change: Partial<NewWebhookSubscription> = {}) => {
      const given = await pending(change)
      await challenged(given.subscription_id, 'verified')
      return given
    }
    const isReady = async (subscription_id: string, now_ms: number) =>
      (await store.webhooks.ready(now_ms, 1_000)).some((one) => one.subscription_id === subscription_id)

    test('subscriptions have bounds of owner, network and all', async () => {
      const given = await pending()
      const { owner, network } = given
      await pending({ owner })
      assert.equal((await subscribe(subscriptionOf({ owner }))).kind, 'owner_full')
      await pending({ network })
      await pending({ network })
      assert.equal((await subscribe(subscriptionOf({ network }))).kind, 'network_full')
      assert.equal((await subscribe(subscriptionOf(), null, { ...BOUNDS, subscriptions: 1 })).kind, 'full')
      assert.equal(await store.webhooks.unsubscribe(given.subscription_id), true)
      assert.equal(await store.webhooks.unsubscribe(given.subscription_id), false)
      assert.equal(await store.webhooks.subscription(given.subscription_id), null)
    })

    test('an owner has one subscription for an address; a later signature replaces its secret, events and token', async () => {
      const given = await subscribed()
      const { owner, url, subscription_id } = given
      const stored = await store.webhooks.subscription(subscription_id)
      assert.deepEqual(await subscribe(given), { kind: 'exists', subscription: stored })
      assert.deepEqual(await subscribe(subscriptionOf({ owner, url })), { kind: 'exists', subscription: stored })
      await pending({ url })
      await store.invoices.keep(invoiceOf({ merchant: owner }), INVOICE_BOUNDS)

      const later = subscriptionOf({ owner, url, issued_s: NOW_S + 1, secret: 'new', events: ['invoice.created'] })
      assert.deepEqual(await subscribe(later, 'whs_other'), { kind: 'unknown' })
      assert.deepEqual(await subscribe({ ...later, url: 'https://example.com/' }, subscription_id), { kind: 'unknown' })
      assert.deepEqual(await subscribe({ ...later, owner: address() }, subscription_id), { kind: 'unknown' })
      for (const issued_s of [NOW_S - 1, NOW_S])
        assert.deepEqual(await subscribe({ ...later, issued_s }, subscription_id), { kind: 'not_later', subscription: stored })
      const replaced = { ...stored, secret: 'new', events: ['invoice.created'], issued_s: NOW_S + 1, rotation: 1 }
      assert.deepEqual(await subscribe(later, subscription_id), { kind: 'replaced', subscription: replaced })
      assert.equal((await subscribe(later, subscription_id)).kind, 'not_later', 'a signature that was used')
      assert.deepEqual(await typesOf(subscription_id), ['invoice.created'], 'its queue stays')
      assert.equal(await isReady(subscription_id, NOW_MS), true)
    })

    test('at one moment, two requests make one subscription of an owner and address', async () => {
      const [owner, url] = [address(), 'https://example.com/same']
      const other = await openSealed(fresh.target)
      const results = await Promise.all(
        [store, other, store, other].map((one) => one.webhooks.subscribe(subscriptionOf({ owner, url }), null, BOUNDS)),
      )
      await other.close()
      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['created', 'exists', 'exists', 'exists'])
    })

    test('events of a pending subscription wait; they are delivered once it is verified', async () => {
      const { subscription_id, owner } = await pending()
      await store.invoices.keep(invoiceOf({ merchant: owner }), INVOICE_BOUNDS)
      const [waiting] = await store.webhooks.deliveries(subscription_id, ALL)
      assert.equal(await store.webhooks.redeliver(subscription_id, waiting?.event_id ?? '', NOW_MS), true)
      assert.equal(await isReady(subscription_id, NOW_MS), false)
      await challenged(subscription_id, 'pending')
      assert.equal(await isReady(subscription_id, NOW_MS), false)
      await challenged(subscription_id, 'verified')
      assert.equal(await isReady(subscription_id, NOW_MS), true)
      const { state, challenge_due_ms, challenge_fault } = (await store.webhooks.subscription(subscription_id)) ?? {}
      assert.deepEqual([state, challenge_due_ms, challenge_fault], ['verified', null, null])
      await challenged(subscription_id, 'expired')
      assert.equal((await store.webhooks.subscription(subscription_id))?.state, 'verified', 'a late result changes nothing')
    })

    test('an expired subscription gets nothing, makes room for a new one of its address, and is forgotten', async () => {
      for (const state of ['expired', 'refused'] as const) {
        const { subscription_id, owner, url } = await pending()
        await store.invoices.keep(invoiceOf({ merchant: owner }), INVOICE_BOUNDS)
        await challenged(subscription_id, state)
        await store.invoices.keep(invoiceOf({ merchant: owner }), INVOICE_BOUNDS)
        assert.deepEqual(await typesOf(subscription_id), [])
        assert.equal((await store.webhooks.subscription(subscription_id))?.challenge_fault, 'timeout')
        assert.equal((await subscribe(subscriptionOf({ owner, url, issued_s: NOW_S + 1 }), subscription_id)).kind, 'unknown')
        const ends = { pending_since_ms: 0, delivered_ms: 0, dead_ms: 0, unverified_ms: NOW_MS + 3_600_000 }
        await store.webhooks.purge(ends)
        assert.notEqual(await store.webhooks.subscription(subscription_id), null)
        const again = subscriptionOf({ owner, url })
        assert.equal((await subscribe(again)).kind, 'created')
        assert.equal(await store.webhooks.subscription(subscription_id), null)
        await challenged(again.subscription_id, state)
        await store.webhooks.purge({ ...ends, unverified_ms: NOW_MS + 3_600_001 })
        assert.equal(await store.webhooks.subscription(again.subscription_id), null)
      }
    })

    test('a challenge is counted before it is sent, by one process; its result belongs to the secret that signed it', async () => {
      const { subscription_id, owner, url } = await pending()
      const isDue = async (now_ms: number) =>
        (await store.webhooks.challenges_due(now_ms, 1_000)).some((one) => one.subscription_id === subscription_id)
      assert.deepEqual([await isDue(NOW_MS - 1), await isDue(NOW_MS)], [false, true])
      const first = { subscription_id, challenges: 0, now_ms: NOW_MS, due_ms: NOW_MS + 5_000 }
      assert.deepEqual(
        (await Promise.all([store.webhooks.begin_challenge(first), store.webhooks.begin_challenge(first)])).filter(Boolean),
        [true],
      )
      assert.deepEqual([await isDue(NOW_MS + 4_999), await isDue(NOW_MS + 5_000)], [false, true])
      await store.webhooks.postpone_challenge(subscription_id, NOW_MS + 9_000, 'host_budget')
      assert.deepEqual([await isDue(NOW_MS + 5_000), await isDue(NOW_MS + 9_000)], [false, true])
      assert.equal((await subscribe(subscriptionOf({ owner, url, issued_s: NOW_S + 1 }), subscription_id)).kind, 'replaced')
      const { challenges, rotation } = (await store.webhooks.subscription(subscription_id)) ?? {}
      assert.deepEqual([challenges, rotation, await isDue(NOW_MS)], [0, 1, true])
      await challenged(subscription_id, 'verified', 0)
      assert.equal((await store.webhooks.subscription(subscription_id))?.state, 'pending')
      await challenged(subscription_id, 'verified', 1)
      assert.equal((await store.webhooks.subscription(subscription_id))?.state, 'verified')
    })

    test('subscriptions of before the challenges count as verified, and a signature of before replaces nothing', async () => {
      const old = await driver.fresh()
      await old.createSchema(27)
      const [owner, url] = [address(), 'https://EXAMPLE.com/hooks']
      await old.sql(`insert into webhook_subscription (subscription_id, owner, network, url, events, secret, created_ms)
        values ('whs_old', '${owner}', 'n', '${url}', 'invoice.created', 'sealed', ${NOW_MS})`)
      const migrated = await openSealed(old.target)
      const found = await migrated.webhooks.subscription('whs_old')
      assert.deepEqual([found?.state, found?.challenge_due_ms, found?.rotation, found?.issued_s], ['verified', null, 0, NOW_S + 600])
      await migrated.invoices.keep(invoiceOf({ merchant: owner }), INVOICE_BOUNDS)
      assert.deepEqual(
        (await migrated.webhooks.ready(NOW_MS, 10)).map(({ subscription_id }) => subscription_id),
        ['whs_old'],
      )
      const same = subscriptionOf({ owner, url: 'https://example.com/hooks', issued_s: NOW_S + 600 })
      assert.equal((await migrated.webhooks.subscribe(same, null, BOUNDS)).kind, 'exists', 'however the address was written')
      assert.equal((await migrated.webhooks.subscribe(same, 'whs_old', BOUNDS)).kind, 'not_later')
      await migrated.close()
    })

    test('each change of an invoice is queued once, for its merchant and its creator, with one id', async () => {
      const invoice = invoiceOf({ terms: '{"order_number":"4711"}' })
      const of_merchant = await subscribed({ owner: invoice.merchant })
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      const of_creator = await subscribed({ owner: invoice.invoice_id, events: ['invoice.paid', 'invoice.underpaid'] })
      const part = paymentOf(invoice.invoice_id, { amount_minor: 2_000_000n, confirmed: false })
      await store.invoices.attribute(part, NOW_MS)
      await store.invoices.settle_block({ ...part, confirmed: true }, NOW_MS)
      await store.invoices.settle_block({ ...part, confirmed: true, final: true }, NOW_MS)
      const rest = paymentOf(invoice.invoice_id, { amount_minor: 3_000_000n, block_number: 8 })
      await store.invoices.attribute(rest, NOW_MS)
      await store.invoices.attribute(rest, NOW_MS)
      const all = ['invoice.created', 'payment.settled', 'invoice.underpaid', 'payment.settled', 'invoice.paid']
      assert.deepEqual(await typesOf(of_merchant.subscription_id), all)
      assert.deepEqual(await typesOf(of_creator.subscription_id), ['invoice.underpaid', 'invoice.paid'])
      const paid = async (id: string) => (await store.webhooks.deliveries(id, { ...ALL, limit: 1 }))[0]
      const [one, other] = [await paid(of_merchant.subscription_id), await paid(of_creator.subscription_id)]
      assert.equal(one?.event_id, other?.event_id)
      assert.deepEqual(JSON.parse(one?.body ?? ''), {
        type: 'invoice.paid',
        timestamp: new Date(NOW_MS).toISOString(),
        data: {
          invoice_id: invoice.invoice_id,
          status: 'SETTLED',
          merchant: invoice.merchant,
          merchant_signed: true,
          created_by: 'merchant',
          amount_minor: '5000000',
          amount_usdc: '5',
          order_number: '4711',
          confirmed_minor: '5000000',
          overpaid_minor: '0',
          due_minor: '0',
          bank_payment: null,
          payment: { transaction: rest.transaction, log_index: 3, payer: rest.payer, amount_minor: '3000000' },
        },
      })
    })

    test('a payment that a reorganisation took away and brought back is the same event', async () => {
      const invoice = invoiceOf()
      const { subscription_id } = await subscribed({ owner: invoice.merchant, events: ['invoice.paid'] })
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      const payment = paymentOf(invoice.invoice_id)
      await store.invoices.attribute(payment, NOW_MS)
      await store.invoices.withdraw(payment, NOW_MS)
      await store.invoices.attribute({ ...payment, block_hash: hash() }, NOW_MS + 5)
      assert.deepEqual(await typesOf(subscription_id), ['invoice.paid'])
    })

    const eventsOf = async (subscription_id: string) =>
      (await store.webhooks.deliveries(subscription_id, ALL)).toReversed().map(({ event_id, type, body }) => {
        const { data } = JSON.parse(body) as { data: Record<string, unknown> }
        return { event_id, type, status: data['status'], merchant_signed: data['merchant_signed'], created_by: data['created_by'] }
      })

    test('an unsigned invoice that names a merchant is reported to its creator alone, whatever happens to it', async () => {
      const terms = '{"order_number":"4711"}'
      const paid = invoiceOf({ issue_signature: null, terms, amount_minor: 10_000n })
      const part = invoiceOf({ issue_signature: null, terms, merchant: paid.merchant })
      const voided = invoiceOf({ issue_signature: null, terms, merchant: paid.merchant })
      const expired = invoiceOf({ issue_signature: null, terms, merchant: paid.merchant })
      const invoices = [paid, part, voided, expired]
      const of_merchant = await subscribed({ owner: paid.merchant })
      const of_creator = await Promise.all(invoices.map(({ invoice_id }) => subscribed({ owner: invoice_id })))
      for (const invoice of invoices) await store.invoices.keep(invoice, INVOICE_BOUNDS)
      await store.invoices.attribute(paymentOf(paid.invoice_id, { amount_minor: 10_000n, matched_by: 'deposit', final: true }), NOW_MS)
      await store.invoices.attribute(paymentOf(paid.invoice_id, { amount_minor: 10_000n, matched_by: 'x402', block_number: 8 }), NOW_MS)
      await store.invoices.attribute(paymentOf(part.invoice_id, { amount_minor: 1n, matched_by: 'deposit' }), NOW_MS)
      await store.invoices.void(voided.invoice_id, '0xbb', NOW_MS)
      await store.invoices.attribute(paymentOf(voided.invoice_id, { matched_by: 'deposit' }), NOW_MS)
      await store.invoices.note_expired(NOW_MS + 101_000, 1_000)
      assert.deepEqual(await eventsOf(of_merchant.subscription_id), [])
      const reported = await Promise.all(of_creator.map(({ subscription_id }) => eventsOf(subscription_id)))
      assert.deepEqual(
        reported.map((events) => events.map(({ type }) => type)),
        [
          ['payment.settled', 'invoice.paid', 'payment.settled'],
          ['payment.settled', 'invoice.underpaid', 'invoice.expired'],
          ['invoice.voided', 'payment.settled'],
          ['invoice.expired'],
        ],
      )
      for (const { merchant_signed, created_by } of reported.flat()) assert.deepEqual([merchant_signed, created_by], [false, 'unsigned'])
    })

    test('a signature reports what came before it: paid, paid in part, void or expired, with identities of their own', async () => {
      const merchant = address()
      const [paid, part, empty] = [1, 2, 3].map(() => invoiceOf({ issue_signature: null, merchant }))
      assert.ok(paid !== undefined && part !== undefined && empty !== undefined)
      const of_merchant = await subscribed({ owner: merchant })
      const of_creator = await subscribed({ owner: paid.invoice_id })
      for (const invoice of [paid, part, empty]) await store.invoices.keep(invoice, INVOICE_BOUNDS)
      const first = paymentOf(paid.invoice_id, { amount_minor: 2_000_000n })
      for (const payment of [
        first,
        paymentOf(paid.invoice_id, { amount_minor: 3_000_000n, block_number: 8 }),
        paymentOf(part.invoice_id, { amount_minor: 1_000_000n }),
        paymentOf(part.invoice_id, { amount_minor: 1_000_000n, block_number: 9, confirmed: false }),
      ])
        await store.invoices.attribute(payment, NOW_MS)
      const unsigned = await eventsOf(of_creator.subscription_id)
      assert.deepEqual(await eventsOf(of_merchant.subscription_id), [])

      await store.invoices.sign(paid.invoice_id, '0xaa', NOW_MS, 10)
      await store.invoices.sign(paid.invoice_id, '0xaa', NOW_MS, 10)
      const reported = await eventsOf(of_merchant.subscription_id)
      assert.deepEqual(
        reported.map(({ type, status, merchant_signed, created_by }) => [type, status, merchant_signed, created_by]),
        ['invoice.created', 'payment.settled', 'payment.settled', 'invoice.paid'].map((type) => [type, 'SETTLED', true, 'merchant']),
      )
      // A receiver that ignored the events without a signature has remembered their ids.
      const seen = new Set(unsigned.map(({ event_id }) => event_id))
      assert.ok(reported.every(({ event_id }) => !seen.has(event_id)))
      // What is noted again after a reorganisation is no further event.
      await store.invoices.withdraw(first, NOW_MS)
      await store.invoices.attribute(first, NOW_MS)
      assert.equal((await eventsOf(of_merchant.subscription_id)).length, reported.length)

      await store.invoices.sign(part.invoice_id, '0xaa', NOW_MS, 10)
      await store.invoices.sign(empty.invoice_id, '0xaa', NOW_MS + 101_000, 10)
      const rest = (await eventsOf(of_merchant.subscription_id)).slice(reported.length)
      assert.deepEqual(
        rest.map(({ type, status }) => [type, status]),
        [
          ['invoice.created', 'PROCESSING'],
          ['payment.settled', 'PROCESSING'],
          ['invoice.underpaid', 'PROCESSING'],
          ['invoice.created', 'EXPIRED'],
          ['invoice.expired', 'EXPIRED'],
        ],
      )
      await store.invoices.note_expired(NOW_MS + 101_000, 1_000)
      const expiries = (await typesOf(of_merchant.subscription_id)).filter((type) => type === 'invoice.expired')
      assert.equal(expiries.length, 1, 'the expiry is one event, whether the signature or the clock noted it')
    })

    test('a signature reports at most twenty of the payments of before, the largest ones', async () => {
      const invoice = invoiceOf({ issue_signature: null, amount_minor: 1_000n })
      const { subscription_id } = await subscribed({ owner: invoice.merchant, events: ['payment.settled', 'invoice.paid'] })
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      for (let number = 1; number <= 30; number++)
        await store.invoices.attribute(paymentOf(invoice.invoice_id, { amount_minor: BigInt(number), block_number: number }), NOW_MS)
      await store.invoices.attribute(paymentOf(invoice.invoice_id, { amount_minor: 600n, block_number: 31 }), NOW_MS)
      await store.invoices.sign(invoice.invoice_id, '0xaa', NOW_MS, 10)
      const bodies = (await store.webhooks.deliveries(subscription_id, ALL)).map(({ body }) => JSON.parse(body) as { data: Json })
      const payments = bodies.map(({ data }) => Number((data['payment'] as Json)['amount_minor']))
      assert.deepEqual(payments.slice(1).toReversed(), [...Array.from({ length: 19 }, (_, index) => index + 12), 600])
      assert.ok(bodies.every(({ data }) => data['confirmed_minor'] === '1065'))
    })

    test('expiry is noted once, and only of an invoice that is not settled', async () => {
      const [open_one, paid] = [invoiceOf(), invoiceOf()]
      for (const invoice of [open_one, paid]) await store.invoices.keep(invoice, INVOICE_BOUNDS)
      const expired = await subscribed({ owner: open_one.merchant })
      const settled = await subscribed({ owner: paid.merchant, events: ['invoice.expired'] })
      await store.invoices.attribute(paymentOf(paid.invoice_id), NOW_MS)
      assert.equal(await store.invoices.note_expired(NOW_MS, 1_000), 0)
      assert.ok((await store.invoices.note_expired(NOW_MS + 101_000, 1_000)) >= 2)
      assert.equal(await store.invoices.note_expired(NOW_MS + 101_000, 1_000), 0)
      assert.deepEqual(await typesOf(expired.subscription_id), ['invoice.expired'])
      assert.deepEqual(await typesOf(settled.subscription_id), [])
    })

    test('a subscription is ready while something is due, unless it is paused; a delivery can be queued again with its id', async () => {
      const invoice = invoiceOf()
      const { subscription_id } = await subscribed({ owner: invoice.merchant })
      assert.equal(await isReady(subscription_id, NOW_MS), false)
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      await store.invoices.void(invoice.invoice_id, '0xbb', NOW_MS)
      assert.equal(await isReady(subscription_id, NOW_MS), true)
      const [first, second] = await store.webhooks.due(subscription_id, NOW_MS, 10)
      assert.ok(first !== undefined && second !== undefined)
      await store.webhooks.record(attemptOf(first))
      const retry = {
        state: 'pending' as const,
        due_ms: NOW_MS + 60,
        status: null,
        fault: 'timeout',
        failures: 1,
        paused_until_ms: NOW_MS + 90,
      }
      await store.webhooks.record(attemptOf(second, retry))
      await store.webhooks.end_turn(subscription_id)
      assert.deepEqual(await Promise.all([59, 60, 89, 90].map((later) => isReady(subscription_id, NOW_MS + later))), [
        false,
        false,
        false,
        true,
      ])
      assert.deepEqual(
        (await store.webhooks.due(subscription_id, NOW_MS + 90, 10)).map(({ event_id }) => event_id),
        [second.event_id],
      )
      await store.webhooks.record(attemptOf(second, { state: 'dead', attempts: 12, status: 500, fault: 'status_500', failures: 2 }))
      await store.webhooks.end_turn(subscription_id)
      assert.equal(await isReady(subscription_id, NOW_MS + 1_000_000), false)
      const dead = await store.webhooks.deliveries(subscription_id, { ...ALL, state: 'dead' })
      assert.deepEqual(
        dead.map(({ event_id }) => event_id),
        [second.event_id],
      )
      assert.equal(await store.webhooks.redeliver(subscription_id, 'evt_unknown', NOW_MS), false)
      assert.equal(await store.webhooks.redeliver(subscription_id, second.event_id, NOW_MS + 200), true)
      const [again] = await store.webhooks.due(subscription_id, NOW_MS + 200, 10)
      assert.deepEqual(again, {
        ...second,
        attempts: 0,
        since_ms: NOW_MS + 200,
        due_ms: NOW_MS + 200,
        status: 500,
        fault: 'status_500',
        attempted_ms: NOW_MS,
      })
      assert.equal(await isReady(subscription_id, NOW_MS + 200), true)
    })

    test('a purge gives up what waited too long and forgets what ended', async () => {
      const invoice = invoiceOf()
      const { subscription_id } = await subscribed({ owner: invoice.merchant })
      await store.invoices.keep(invoice, INVOICE_BOUNDS)
      await store.invoices.void(invoice.invoice_id, '0xbb', NOW_MS)
      const [first] = await store.webhooks.due(subscription_id, NOW_MS, 10)
      assert.ok(first !== undefined)
      await store.webhooks.record(attemptOf(first))
      const states = async () => (await store.webhooks.deliveries(subscription_id, ALL)).map(({ state }) => state)
      await store.webhooks.purge({ pending_since_ms: NOW_MS, delivered_ms: NOW_MS, dead_ms: NOW_MS, unverified_ms: 0 })
      assert.deepEqual(await states(), ['pending', 'delivered'])
      await store.webhooks.purge({ pending_since_ms: NOW_MS + 1, delivered_ms: NOW_MS + 1, dead_ms: NOW_MS, unverified_ms: 0 })
      assert.deepEqual(await states(), ['dead'])
      await store.webhooks.purge({ pending_since_ms: NOW_MS, delivered_ms: NOW_MS, dead_ms: NOW_MS + 1, unverified_ms: 0 })
      assert.deepEqual(await states(), [])
    })

    test('two connections that note events of one subscription at a time leave it ready with all of them', async () => {
      const merchant = address()
      const { subscription_id } = await subscribed({ owner: merchant, events: ['invoice.created'] })
      const other = await openSealed(fresh.target)
      const invoices = Array.from({ length: 20 }, () => invoiceOf({ merchant }))
      await Promise.all(
        invoices.flatMap((invoice, index) => [
          (index % 2 === 0 ? store : other).invoices.keep(invoice, INVOICE_BOUNDS),
          store.webhooks.end_turn(subscription_id),
        ]),
      )
      await other.close()
      assert.equal((await store.webhooks.due(subscription_id, NOW_MS, 100)).length, 20)
      const ready = await store.webhooks.ready(NOW_MS, 1_000)
      assert.ok(ready.some((one) => one.subscription_id === subscription_id))
    })
  })
}
