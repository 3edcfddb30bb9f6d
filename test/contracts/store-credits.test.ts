/** Prepaid credits, over both databases: never overdrawn, no use debited twice, whatever order notices come in. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { CardPurchase, CardReversal, CreditClaim, CreditStore } from '../../src/ports/credits.ts'
import type { Store } from '../../src/ports/store.ts'
import { availableOf, shortfallOf } from '../../src/pure/credits/credits.ts'
import { STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'

const hash = (name: string | number) => Buffer.from(String(name)).toString('hex').padStart(64, '0').slice(-64)
const NOW_MS = 1_800_000_000_000
const SALE = { price_class: 'check', epoch: 7 }
const ANSWER = { sealed: 'answer', expires_ms: NOW_MS + 1_000 }

const claimOf = (credit: string, use: string | number, change: Partial<CreditClaim> = {}): CreditClaim => ({
  code_hash: hash(credit),
  use_hash: hash(use),
  tool: 'iban-check',
  input_hash: '0xaa',
  price_minor: 5_000n,
  now_ms: NOW_MS,
  claim_until_ms: NOW_MS + 60_000,
  ...change,
})

const bought = (name: string, amount_minor: bigint, change: Partial<CardPurchase> = {}): CardPurchase => ({
  event_id: `evt_${name}`,
  session_id: `cs_${name}`,
  payment_ref: `pi_${name}`,
  claim_hash: '0xcc',
  amount_minor,
  code_hash: hash(name),
  sealed_code: 'sealed',
  now_ms: NOW_MS,
  ...change,
})

let notices = 0
const taken = (name: string, amount_minor: bigint, change: Partial<CardReversal> = {}): CardReversal => ({
  event_id: `evt_taken_${++notices}`,
  payment_ref: `pi_${name}`,
  reference: `ch_${name}`,
  amount_minor,
  standing: 'lost',
  now_ms: NOW_MS,
  ...change,
})

async function creditOf(store: CreditStore, name: string) {
  const statement = await store.statement(hash(name), 10)
  assert.ok(statement !== null)
  const { credit } = statement
  return { ...statement, available: availableOf(credit), shortfall: shortfallOf(credit) }
}

async function aUse(store: CreditStore): Promise<void> {
  await store.purchase(bought('a', 12_000n))
  const claim = claimOf('a', 'one')
  assert.equal(await store.find_use(claim), null)
  assert.deepEqual(await store.claim(claim), { kind: 'claimed', fence: 1, amount: 5_000n, unit_minor: 1n })
  assert.equal((await creditOf(store, 'a')).available, 7_000n)
  const again = await store.claim(claim)
  assert.equal(again.kind, 'exists')
  assert.equal((await store.claim(claimOf('a', 'one', { tool: 'lei-check' }))).kind, 'exists')
  // Of another claim nothing is known.
  assert.equal(await store.settle(claim, 2, ANSWER, SALE, NOW_MS), false)
  assert.equal(await store.release(claim, 2, NOW_MS), false)
  assert.equal(await store.settle(claim, 1, ANSWER, SALE, NOW_MS), true)
  assert.deepEqual(await store.answer(claim), ANSWER)
  // What is booked is booked once.
  assert.equal(await store.settle(claim, 1, ANSWER, SALE, NOW_MS), false)
  assert.equal(await store.release(claim, 1, NOW_MS), false)
  const after_one = await creditOf(store, 'a')
  assert.deepEqual([after_one.available, after_one.credit.spent, after_one.credit.reserved], [7_000n, 5_000n, 0n])
  assert.deepEqual(after_one.uses, [{ tool: 'iban-check', amount: 5_000n, updated_ms: NOW_MS }])
  assert.equal((await store.claim(claimOf('a', 'two'))).kind, 'claimed')
  assert.deepEqual(await store.claim(claimOf('a', 'three')), { kind: 'insufficient', unit: 'usdc_minor', available: 2_000n })
  assert.equal(await store.release(claimOf('a', 'two'), 1, NOW_MS), true)
  assert.equal((await store.claim(claimOf('a', 'three'))).kind, 'claimed')
  // A released use may be claimed again, at the price of then.
  assert.deepEqual(await store.claim(claimOf('a', 'two', { price_minor: 2_000n })), {
    kind: 'claimed',
    fence: 2,
    amount: 2_000n,
    unit_minor: 1n,
  })
  assert.equal((await creditOf(store, 'a')).available, 0n)
  assert.deepEqual(await store.claim(claimOf('nobody', 'one')), { kind: 'unknown' })
  assert.equal(await store.statement(hash('nobody'), 10), null)
}

async function abandoned(store: CreditStore): Promise<void> {
  await store.purchase(bought('b', 6_000n))
  const claim = claimOf('b', 'one', { claim_until_ms: NOW_MS + 10 })
  await store.claim(claim)
  // At the last moment it is still held; afterwards the same request takes it over, and what it reserved with it.
  assert.equal((await store.claim({ ...claim, now_ms: NOW_MS + 10 })).kind, 'exists')
  const later = { ...claim, now_ms: NOW_MS + 11, claim_until_ms: NOW_MS + 20 }
  assert.deepEqual(await store.claim(later), { kind: 'claimed', fence: 2, amount: 5_000n, unit_minor: 1n })
  assert.equal((await creditOf(store, 'b')).available, 1_000n)
  assert.equal(await store.settle(claim, 1, ANSWER, SALE, NOW_MS), false)
  assert.equal(await store.release_abandoned(NOW_MS + 20), 0)
  assert.equal(await store.release_abandoned(NOW_MS + 21), 1)
  assert.equal((await creditOf(store, 'b')).available, 6_000n)
  assert.equal(await store.settle(later, 2, ANSWER, SALE, NOW_MS), false)
}

async function prepaidCalls(store: CreditStore): Promise<void> {
  const granted = { unit: 'calls', unit_minor: 980n, granted: 2n, created_ms: NOW_MS } as const
  assert.equal(await store.grant(hash('c'), granted), true)
  assert.equal(await store.grant(hash('c'), { ...granted, granted: 50n }), false)
  assert.deepEqual(await store.claim(claimOf('c', 'one')), { kind: 'claimed', fence: 1, amount: 1n, unit_minor: 980n })
  assert.equal((await store.claim(claimOf('c', 'two', { price_minor: 50_000n }))).kind, 'claimed')
  assert.deepEqual(await store.claim(claimOf('c', 'three')), { kind: 'insufficient', unit: 'calls', available: 0n })
}

async function notice(store: CreditStore): Promise<void> {
  assert.equal(await store.purchase(bought('d', 5_000_000n)), true)
  assert.equal(await store.purchase(bought('d', 5_000_000n)), false)
  assert.equal(await store.purchase(bought('d', 5_000_000n, { event_id: 'evt_d2', code_hash: hash('other') })), false)
  assert.equal(await store.statement(hash('other'), 10), null)
  const found = { claim_hash: '0xcc', code_hash: hash('d'), amount_minor: 5_000_000n, sealed_code: 'sealed', paid_ms: NOW_MS }
  assert.deepEqual(await store.find_purchase('cs_d'), found)
  await store.forget_code('cs_d')
  assert.deepEqual(await store.find_purchase('cs_d'), { ...found, sealed_code: null })
  assert.equal(await store.find_purchase('cs_none'), null)
  // Refunds count up, in whatever order they are told; nothing is taken twice, nor more than there was.
  const first = taken('d', 1_000_000n)
  assert.equal(await store.reverse(first), true)
  assert.equal(await store.reverse(first), false)
  await store.reverse(taken('d', 3_000_000n))
  await store.reverse(taken('d', 2_000_000n))
  assert.equal((await creditOf(store, 'd')).available, 2_000_000n)
  await store.reverse(taken('d', 9_000_000n))
  assert.deepEqual([(await creditOf(store, 'd')).available, (await creditOf(store, 'd')).credit.reversed], [0n, 5_000_000n])
}

async function early(store: CreditStore): Promise<void> {
  await store.reverse(taken('e', 2_000_000n))
  await store.reverse(taken('e', 1_000_000n, { reference: 'dp_e', standing: 'open' }))
  await store.purchase(bought('e', 5_000_000n))
  assert.equal((await creditOf(store, 'e')).available, 2_000_000n)
  await store.reverse(taken('e', 1_000_000n, { reference: 'dp_e', standing: 'won' }))
  assert.equal((await creditOf(store, 'e')).available, 3_000_000n)
  // The end of a dispute may be told before its beginning.
  await store.reverse(taken('e', 1_000_000n, { reference: 'dp_e', standing: 'open' }))
  assert.equal((await creditOf(store, 'e')).available, 3_000_000n)
  assert.deepEqual((await creditOf(store, 'e')).reversals.map(({ standing }) => standing).toSorted(), ['lost', 'won'])
}

async function inFlight(store: CreditStore): Promise<void> {
  await store.purchase(bought('f', 12_000n))
  const [settles, fails] = [claimOf('f', 'settles'), claimOf('f', 'fails')]
  await store.claim(settles)
  await store.claim(fails)
  await store.reverse(taken('f', 12_000n))
  assert.equal((await store.claim(claimOf('f', 'late'))).kind, 'insufficient')
  // What runs may end; what it cost cannot be taken back, and says so.
  assert.equal(await store.settle(settles, 1, ANSWER, SALE, NOW_MS), true)
  assert.equal(await store.release(fails, 1, NOW_MS), true)
  const { available, shortfall, credit } = await creditOf(store, 'f')
  assert.deepEqual([available, shortfall, credit.spent, credit.reserved], [0n, 5_000n, 5_000n, 0n])
}

async function parallel(store: CreditStore, other: CreditStore): Promise<void> {
  const calls = 200
  const affordable = 61
  await store.purchase(bought('g', 5_000n * BigInt(affordable) + 4_999n))
  const ends = await Promise.all(
    Array.from({ length: calls }, async (_, use) => {
      const by = use % 2 === 0 ? store : other
      const claim = claimOf('g', use)
      const granted = await by.claim(claim)
      if (granted.kind !== 'claimed') return granted.kind
      return (await by.settle(claim, granted.fence, ANSWER, SALE, NOW_MS)) ? 'settled' : 'lost'
    }),
  )
  assert.equal(ends.filter((end) => end === 'settled').length, affordable)
  assert.equal(ends.filter((end) => end === 'insufficient').length, calls - affordable)
  assert.deepEqual((await creditOf(store, 'g')).available, 4_999n)
}

async function oneUse(store: CreditStore, other: CreditStore): Promise<void> {
  await store.purchase(bought('h', 1_000_000n))
  const ends = await Promise.all(Array.from({ length: 40 }, (_, call) => (call % 2 === 0 ? store : other).claim(claimOf('h', 'same'))))
  assert.equal(ends.filter(({ kind }) => kind === 'claimed').length, 1)
  assert.equal((await creditOf(store, 'h')).available, 995_000n)
}

async function races(store: CreditStore, other: CreditStore): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const name = `race-${round}`
    await Promise.all([store.purchase(bought(name, 5_000_000n)), other.reverse(taken(name, 2_000_000n))])
    assert.equal((await creditOf(store, name)).available, 3_000_000n)
  }
}

for (const open of STORE_DRIVERS) {
  describe(`credits: ${open.name}`, () => {
    let driver: StoreDriver
    let fresh: FreshStore
    let store: Store
    let other: Store

    before(async () => {
      driver = await open()
      fresh = await driver.fresh()
      store = await openStore(fresh.target)
      other = await openStore(fresh.target)
    })
    after(async () => {
      await store.close()
      await other.close()
      await driver.stop()
    })

    test('reserved, debited, released, claimed again', () => aUse(store.credits))
    test('a claim whose time is over is taken up again, or given back', () => abandoned(store.credits))
    test('prepaid calls cost one each, whatever the price', () => prepaidCalls(store.credits))
    test('a payment is granted once, and refunds take back what they say', () => notice(store.credits))
    test('what is taken back before it was granted is remembered', () => early(store.credits))
    test('a reversal while calls run takes what is left, and records what it could not', () => inFlight(store.credits))
    test('200 at once over two connections do not overdraw', () => parallel(store.credits, other.credits))
    test('one use at once over two connections is claimed once', () => oneUse(store.credits, other.credits))
    test('purchase and refund at the same time: neither is overlooked', () => races(store.credits, other.credits))

    test('a sale of a credit moves the price like any other, and answers are forgotten in time', async () => {
      assert.ok((await store.payments.sales(7)).some((sale) => sale.price_class === 'check' && sale.epoch === 7))
      assert.equal(await store.credits.purge_credits(ANSWER.expires_ms - 1), 0)
      assert.ok((await store.credits.purge_credits(ANSWER.expires_ms)) > 60)
      assert.equal(await store.credits.answer(claimOf('a', 'one')), null)
      assert.equal((await store.credits.find_use(claimOf('a', 'one')))?.state, 'settled')
    })

    test('no code lies in the store, and what one database cannot hold both refuse', async () => {
      for (const change of [{ code_hash: 'short' }, { session_id: '' }, { amount_minor: -1n }, { sealed_code: 'a\u0000' }])
        await assert.rejects(store.credits.purchase(bought('x', 1n, change)), { code: 'STORE_REFUSED' })
      await assert.rejects(store.credits.claim(claimOf('a', 'x', { price_minor: 2n ** 63n })), { code: 'STORE_REFUSED' })
    })
  })
}
