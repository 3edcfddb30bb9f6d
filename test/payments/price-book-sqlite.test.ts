import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { openStore } from '../../src/adapters/store/open.ts'
import { nextPrice } from '../../src/pure/payments/price-curve.ts'
import type { Store } from '../../src/ports/store.ts'
import { createPriceBook, EPOCH_MS, type PriceStore, MARKETS } from '../../src/service/payments/price-book.ts'
import { SEED } from '../support/counts.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

const FIRST = 176_000_000
const EPOCHS = 30
const hex = (bytes: number, value: number) => `0x${value.toString(16).padStart(bytes * 2, '0')}`

let driver: StoreDriver
before(async () => {
  driver = await sqliteDriver()
})
after(() => driver.stop())

/** Brings one payment all the way to settled: the only way in which a sale is counted. */
async function sell(store: Store, payer: number, nonce: number, epoch: number, now_ms: number): Promise<void> {
  const key = { payer: hex(20, payer), nonce: hex(32, nonce) }
  const claimed = await store.payments.claim({
    ...key,
    purpose: 'call',
    subject: 'iban-check',
    input_hash: hex(32, 1),
    asset: null,
    to: hex(20, 2),
    value_minor: 5_000n,
    valid_after_s: 0n,
    valid_before_s: 9_999_999_999n,
    signature: hex(65, 3),
    network_hash: null,
    identifier_hash: null,
    contract_payer: false,
    price_class: 'check',
    balance_minor: 10n ** 12n,
    now_ms,
    claim_until_ms: now_ms + 60_000,
    token_hash: hex(32, nonce + 1_000_000),
  })
  assert.equal(claimed.kind, 'claimed')
  const fence = claimed.kind === 'claimed' ? claimed.fence : 0
  await store.payments.prepare(key, fence, { sealed: 'AA==', expires_ms: now_ms + 86_400_000 }, now_ms)
  await store.payments.begin_settling(key, fence, { method: 'self', settler: hex(20, 9) }, now_ms)
  const settled_at = { transaction: hex(32, nonce), block_number: 1, block_hash: hex(32, 5) }
  assert.deepEqual(await store.payments.apply_transitions([{ ...key, to: 'settled', settled_at }], epoch, now_ms), [true])
}

test('two instances on one SQLite file agree in every epoch under random sales, and count a payer once an epoch', async () => {
  const { target } = await driver.fresh()
  const stores = [await openStore(target), await openStore(target)] as const
  const clock = { ms: FIRST * EPOCH_MS, now_ms: () => clock.ms }
  const book = (store: Store) =>
    createPriceBook({ store: { payments: store.payments, now_ms: async () => clock.ms } satisfies PriceStore, clock })
  const books = stores.map(book)
  // Payers 1 … 45 of each epoch, some of them twice.
  const [sold = []] = fc.sample(
    fc.array(fc.array(fc.integer({ min: 1, max: 45 }), { maxLength: 60, size: 'max' }), { minLength: EPOCHS, maxLength: EPOCHS }),
    { numRuns: 1, seed: SEED },
  )
  const walked = [MARKETS.check.floor_minor as bigint]
  for (let i = 1; i < EPOCHS; i++) walked.push(nextPrice(walked[i - 1] ?? 0n, new Set(sold[i - 2]).size, MARKETS.check))
  assert.ok(new Set(walked).size > 10, 'the prices move')
  let nonce = 0
  for (const [index, payers] of sold.entries()) {
    clock.ms = (FIRST + index) * EPOCH_MS + 1_000
    const asked = index % 5 === 4 ? books.slice(1) : books
    for (const prices of await Promise.all(asked.map((one) => one.prices()))) assert.equal(prices.amounts.check, walked[index])
    const first = nonce
    nonce += payers.length
    await Promise.all(payers.map((payer, at) => sell(stores[at % 2 === 0 ? 0 : 1], payer, first + at, FIRST + index, clock.ms)))
  }
  await Promise.all(stores.map((store) => store.close()))
})

test('the store itself tells the time that epochs are counted in', async () => {
  const store = await openStore((await driver.fresh()).target)
  const book = createPriceBook({ store, clock: { now_ms: () => 0 } })
  const before_ms = await store.now_ms()
  const { epoch, amounts } = await book.prices()
  const after_ms = await store.now_ms()
  assert.ok(epoch >= Math.floor((before_ms - 1) / EPOCH_MS) && epoch <= Math.floor((after_ms + 1) / EPOCH_MS))
  assert.equal(amounts.check, MARKETS.check.floor_minor)
  await store.close()
})
