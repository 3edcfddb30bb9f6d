import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextPrice } from '../../src/pure/payments/price-curve.ts'
import { createPriceBook, EPOCH_MS, HISTORY_EPOCHS, MARKETS } from '../../src/service/payments/price-book.ts'
import { runs, SEED } from '../support/counts.ts'
import { memoryPriceStore, type MemoryPriceStore } from '../support/price-store.ts'

const settings = { numRuns: runs(60, 2_000), seed: SEED }
const FIRST = 176_000_000
const START_MS = FIRST * EPOCH_MS

/** A store, and books over it whose clocks are that of the store but for a difference. */
function shared() {
  const store = memoryPriceStore(START_MS)
  const open = (ahead_ms = 0) => createPriceBook({ store, clock: { now_ms: () => store.time_ms + ahead_ms } })
  return { store, open }
}

/** The price of each epoch from the first on, by walking through every one of them. */
function walked(epochs: number, sold: readonly number[]): bigint[] {
  const prices: bigint[] = [MARKETS.check.floor_minor]
  for (let i = 1; i < epochs; i++) prices.push(nextPrice(prices[i - 1] ?? 0n, sold[i - 2] ?? 0, MARKETS.check))
  return prices
}

function total({ asked }: MemoryPriceStore): number {
  return asked.sales + asked.price_marks + asked.mark_prices + asked.now_ms
}

const payers = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 }))
/** Epochs one by one: how many bought, and which of two instances were asked for a price. */
const history = fc.array(fc.record({ payers, asked: fc.subarray([0, 1] as const) }), { minLength: 1, maxLength: 60 })

test('two instances agree in every epoch, however often each is asked, and with a walk through all epochs', async () => {
  const property = fc.asyncProperty(history, async (epochs) => {
    const { store, open } = shared()
    const books = [open(), open(40)]
    const sold = epochs.map((one) => one.payers)
    const expected = walked(epochs.length, sold)
    for (const [index, { asked }] of epochs.entries()) {
      store.time_ms = START_MS + index * EPOCH_MS + 5_000
      const window = expected.slice(Math.max(0, index - 12), index + 1).toReversed()
      if (index < 12) window.push(MARKETS.check.floor_minor)
      for (const which of asked) {
        const prices = await books[which]?.prices()
        assert.equal(prices?.epoch, FIRST + index)
        assert.equal(prices?.amounts.check, expected[index])
        assert.deepEqual(prices?.payable.check, [...new Set(window)])
      }
      store.sell('check', FIRST + index, sold[index] ?? 0)
    }
    const late = open()
    assert.equal((await late.prices()).amounts.check, expected.at(-1))
  })
  await fc.assert(property, settings)
})

test('a quoted price stays payable for its 120 seconds at every instance, and not for long after', async () => {
  const wait = fc.integer({ min: 0, max: 120_000 })
  const property = fc.asyncProperty(fc.array(payers, { minLength: 30, maxLength: 30 }), wait, wait, async (sold, at_ms, wait_ms) => {
    const { store, open } = shared()
    const [one, other] = [open(), open(-100)]
    for (const [index, count] of sold.entries()) store.sell('check', FIRST + index, count)
    store.time_ms = START_MS + at_ms
    const quoted = (await one.prices()).amounts.check
    store.time_ms += wait_ms
    for (const book of [one, other, open(100)]) assert.ok((await book.prices()).payable.check.includes(quoted))
  })
  await fc.assert(property, settings)
  const { store, open } = shared()
  for (let epoch = FIRST; epoch < FIRST + 16; epoch++) store.sell('check', epoch, 21)
  store.time_ms += 2 * EPOCH_MS + 9_000
  const book = open()
  const quoted = (await book.prices()).amounts.check
  store.time_ms += 120_000 + 9_000
  assert.ok((await book.prices()).payable.check.every((amount) => amount > quoted))
})

test('a sale that is written late moves no price that was quoted', async () => {
  const { store, open } = shared()
  const [one, other] = [open(), open()]
  store.time_ms += 5 * EPOCH_MS
  const before = await one.prices()
  store.sell('check', FIRST + 3, 40)
  const after = await other.prices()
  assert.deepEqual(after, before)
  assert.deepEqual(await open().prices(), before)
})

test('of two instances that mark an epoch at once the first decides for both', async () => {
  const { store, open } = shared()
  store.time_ms += 5 * EPOCH_MS
  let asked = 0
  // Between the two reads a sale of the epoch before last is written, long after its time.
  store.beforeSales = () => {
    asked++
    if (asked === 2) store.sell('check', FIRST + 3, 40)
  }
  const [one, other] = await Promise.all([open().prices(), open().prices()])
  assert.equal(asked, 2)
  assert.deepEqual(one, other)
})

test('the store is asked in one round an epoch, only on demand, however many ask', async () => {
  const { store, open } = shared()
  const book = open()
  store.time_ms += 1_000
  assert.equal(total(store), 0)
  const answers = await Promise.all(Array.from({ length: 100 }, () => book.prices()))
  assert.deepEqual([store.asked.sales, store.asked.mark_prices, store.asked.now_ms], [1, 1, 1])
  assert.ok(
    answers.every((one) => one === answers[0]),
    'the same object while it stands',
  )
  const first = total(store)
  store.time_ms += 8_000
  assert.equal(await book.prices(), answers[0])
  assert.equal(total(store), first)
  for (let epoch = 2; epoch <= 5; epoch++) {
    const before = total(store)
    store.time_ms += EPOCH_MS
    await Promise.all([book.prices(), book.prices()])
    assert.ok(total(store) - before <= 4, 'marks, sales, mark, read back')
  }
  store.time_ms += 50_000
  const before = total(store)
  assert.equal(await book.epoch_now(), Math.floor(store.time_ms / EPOCH_MS))
  assert.equal(total(store) - before, 1, 'a minute has passed: the clock is read again, no price')
})

test('while the store is down prices of a new epoch are refused, and come back with it', async () => {
  const { store, open } = shared()
  const book = open()
  store.down = true
  await assert.rejects(book.prices(), /down/)
  await assert.rejects(book.epoch_now(), /down/)
  store.down = false
  const prices = await book.prices()
  store.down = true
  assert.equal(await book.prices(), prices)
  store.time_ms += EPOCH_MS
  await assert.rejects(Promise.all([book.prices(), book.prices()]), /down/)
  store.down = false
  assert.equal((await book.prices()).epoch, prices.epoch + 1)
})

test('epochs are those of the clock of the store', async () => {
  const { store, open } = shared()
  store.time_ms += 5_000
  for (const ahead_ms of [-86_400_000, -3_000, 7_000, 86_400_000]) {
    const book = open(ahead_ms)
    assert.equal(await book.epoch_now(), FIRST)
    assert.equal((await book.prices()).epoch, FIRST)
  }
})

test('a clock that jumps while that of the store does not is held against it again', async () => {
  const store = memoryPriceStore(START_MS + 5_000)
  let machine_ms = store.time_ms
  const book = createPriceBook({ store, clock: { now_ms: () => machine_ms } })
  for (const jump_ms of [0, -3_600_000, 7_200_000, -60_001]) {
    machine_ms += jump_ms
    assert.equal(await book.epoch_now(), FIRST)
    assert.equal((await book.prices()).epoch, FIRST)
  }
  assert.equal(store.asked.now_ms, 4)
})

test('a clock that is set back is read anew, and prices of an earlier epoch are found again', async () => {
  const store = memoryPriceStore(START_MS)
  let machine_ms = START_MS
  const book = createPriceBook({ store, clock: { now_ms: () => machine_ms } })
  for (let epoch = FIRST; epoch < FIRST + 100; epoch++) store.sell('check', epoch, 25)
  for (const at of [90, 20, 91, 19]) {
    store.time_ms = START_MS + at * EPOCH_MS + 5_000
    machine_ms = store.time_ms
    const { epoch, amounts, payable } = await book.prices()
    assert.equal(epoch, FIRST + at)
    assert.equal(
      amounts.check,
      walked(
        100,
        Array.from({ length: 100 }, () => 25),
      )[at],
    )
    assert.ok(payable.check.includes(amounts.check))
  }
})

test('around the turn of an epoch instances take what the other has just quoted', async () => {
  const { store, open } = shared()
  for (let epoch = FIRST; epoch < FIRST + 16; epoch++) store.sell('check', epoch, 40)
  const [slow, fast] = [open(), open()]
  store.time_ms += 3 * EPOCH_MS - 100
  const behind = await slow.prices()
  store.time_ms += 100
  const ahead = await fast.prices()
  assert.notEqual(behind.amounts.check, ahead.amounts.check)
  assert.ok(behind.payable.check.includes(ahead.amounts.check))
  assert.ok(ahead.payable.check.includes(behind.amounts.check))
})

test('sales and marks older than an hour may be purged without a change of price', async () => {
  const [kept, purged] = [shared(), shared()]
  for (const { store } of [kept, purged]) {
    for (let epoch = FIRST; epoch < FIRST + 800; epoch++) store.sell('check', epoch, 15 + (epoch % 13))
  }
  const books = [kept.open(), purged.open()]
  for (let index = 0; index < 800; index += 7) {
    for (const { store } of [kept, purged]) store.time_ms = START_MS + index * EPOCH_MS
    purged.store.purge(FIRST + index - HISTORY_EPOCHS)
    const [one, other] = await Promise.all(books.map((book) => book.prices()))
    assert.deepEqual(one, other)
    assert.deepEqual(await purged.open().prices(), one)
  }
})
