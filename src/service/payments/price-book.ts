import type { PaymentStore, PriceMark } from '../../ports/payments.ts'
import { type EpochSales, type KnownPrice, LAG_EPOCHS, priceAt } from '../../pure/payments/price-curve.ts'
import { distinct, type Market, MARKETS, type PricesNow } from './price.ts'
import type { Clock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'

/**
 * Older marks and sales are not looked at, and may be purged, in epochs: one hour, after which a price that nobody asked for stands at its
 * floor. The way from cap to floor takes three minutes.
 */
export const HISTORY_EPOCHS = 360

/** Prices by epoch, for each market. */
type PricesByEpoch = Readonly<Record<Market, ReadonlyMap<number, bigint>>>

type MarkStore = Pick<PaymentStore, 'sales' | 'price_marks' | 'mark_prices'>

const NAMES = Object.keys(MARKETS) as Market[]

function byMarket<Value>(of: (market: Market) => Value): Record<Market, Value> {
  return Object.fromEntries(NAMES.map((market) => [market, of(market)])) as Record<Market, Value>
}

/**
 * The prices of the epochs from `first` to `last`, as all instances have them: marks where there are any, else computed from the newest
 * mark before and the sales since. The last two are marked, since they are about to be quoted, and read back, since another instance may
 * have marked them meanwhile. `before` holds what an earlier call found, for the epochs up to `known_to`; it saves asking again.
 */
async function learnPrices(
  store: MarkStore,
  before: { prices: PricesByEpoch; known_to: number },
  first: number,
  last: number,
): Promise<PricesByEpoch> {
  const known = byMarket(() => new Map<number, bigint>())
  const sure = before.known_to >= first
  if (sure) for (const market of NAMES) for (const [epoch, amount] of before.prices[market]) known[market].set(epoch, amount)
  for (const mark of await marksDownTo(store, sure ? before.known_to + 1 : first, last)) note(known, mark, last)

  const sales = await store.sales(salesFrom(known, first, last))
  const prices = byMarket((market) => {
    const sold = sales.filter(({ price_class }) => price_class === market)
    return priceSpan(first, last, known[market], sold, market)
  })
  const quoted = [last - 1, last].filter((epoch) => NAMES.some((market) => !known[market].has(epoch)))
  for (const mark of await marked(store, quoted, prices)) note(prices, mark, last)
  return prices
}

/** The marks from `last` down to `bottom`, and the newest before it. Each answer holds the newest mark of each class, so few are asked. */
async function marksDownTo(store: MarkStore, bottom: number, last: number): Promise<PriceMark[]> {
  const found: PriceMark[] = []
  for (let at = last; at >= bottom;) {
    const marks = await store.price_marks(at)
    found.push(...marks)
    at = Math.max(...marks.map(({ epoch }) => epoch)) - 1
  }
  return found
}

function note(prices: Record<Market, Map<number, bigint>>, { price_class, epoch, amount_minor }: PriceMark, last: number): void {
  const market = NAMES.find((name) => name === price_class)
  if (market !== undefined && epoch >= last - HISTORY_EPOCHS) prices[market].set(epoch, amount_minor)
}

/** The first epoch whose sales still tell: one before the oldest price that others are computed from. */
function salesFrom(known: PricesByEpoch, first: number, last: number): number {
  const oldest = NAMES.map((market) => newestAt(first, known[market])?.epoch ?? last - HISTORY_EPOCHS)
  return Math.min(...oldest) + 1 - LAG_EPOCHS
}

function priceSpan(first: number, last: number, known: ReadonlyMap<number, bigint>, sold: readonly EpochSales[], market: Market) {
  const epochs = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return new Map(epochs.map((epoch) => [epoch, priceAt(epoch, newestAt(epoch, known), sold, MARKETS[market])]))
}

/** The newest known price at or before an epoch. */
function newestAt(epoch: number, known: ReadonlyMap<number, bigint>): KnownPrice | null {
  let best: KnownPrice | null = null
  for (const [at, amount_minor] of known) if (at <= epoch && (best === null || at > best.epoch)) best = { epoch: at, amount_minor }
  return best
}

/** Marks the prices of these epochs and reads back which marks count. */
async function marked(store: MarkStore, epochs: readonly number[], prices: PricesByEpoch): Promise<PriceMark[]> {
  const mine = epochs.flatMap((epoch) =>
    NAMES.flatMap((market) => {
      const amount_minor = prices[market].get(epoch)
      return amount_minor === undefined ? [] : [{ price_class: market, epoch, amount_minor }]
    }),
  )
  if (mine.length === 0) return []
  await store.mark_prices(mine)
  const found = await Promise.all(epochs.map((epoch) => store.price_marks(epoch)))
  return found.flatMap((marks, index) => marks.filter(({ epoch }) => epoch === epochs[index]))
}

/** How long the difference between two clocks is taken for unchanged. */
const TRUSTED_MS = 60_000

/** The time by the clock of the store, which all instances share. */
interface StoreTime {
  /** Milliseconds since 1970. Rejects when the difference to the own clock is to be measured and the store does not answer. */
  now_ms(): Promise<number>
}

/**
 * The store's time, told by the own clock and the measured difference between the two. The difference is measured at first use, and again
 * when a minute has passed or the own clock was set back; errs by half the time that the store takes to answer.
 */
function createStoreTime(store: { now_ms(): Promise<number> }, clock: Clock): StoreTime {
  let measured: { offset_ms: number; at_ms: number } | null = null
  let measuring: Promise<void> | null = null
  const measure = async (): Promise<void> => {
    const before_ms = clock.now_ms()
    const theirs_ms = await store.now_ms()
    const after_ms = clock.now_ms()
    measured = { offset_ms: Math.round(theirs_ms - (before_ms + after_ms) / 2), at_ms: after_ms }
  }
  const fresh = (): number | null => {
    if (measured === null) return null
    const now_ms = clock.now_ms()
    const age_ms = now_ms - measured.at_ms
    return age_ms >= 0 && age_ms < TRUSTED_MS ? now_ms + measured.offset_ms : null
  }
  return {
    async now_ms() {
      const known_ms = fresh()
      if (known_ms !== null) return known_ms
      measuring ??= measure().finally(() => (measuring = null))
      await measuring
      return clock.now_ms() + (measured?.offset_ms ?? 0)
    },
  }
}

/** A price holds for this long, by the clock of the store. */
export const EPOCH_MS = 10_000
/** How far the clocks of two instances may be apart without one refusing what the other has just quoted. */
const SKEW_MS = 250
const QUOTE_MS = limits.max_timeout_s * 1000
/** Epochs before the newest whose prices may still be asked for. */
const WINDOW_EPOCHS = Math.ceil((QUOTE_MS + 2 * SKEW_MS) / EPOCH_MS) + 1

/** Of the store, what prices need: the store itself fits. */
export interface PriceStore {
  readonly payments: MarkStore
  now_ms(): Promise<number>
}

export interface PriceBook {
  /** The prices now. Rejects while the store is down and the prices of this epoch are not known yet. */
  prices(): Promise<PricesNow>
  /** The epoch by the clock of the store: where a sale is counted. Rejects when that clock is to be read and the store is down. */
  epoch_now(): Promise<number>
}

/**
 * The prices that every instance on one store agrees on. A price is marked in the store before it is quoted, the first mark of an epoch
 * counts for all, and each instance reads it back: so even a sale that is written too late to be counted by all moves no price that was
 * quoted. The store is asked in one round an epoch, and only when somebody wants a price. What is payable reaches 250 ms further than the
 * 120 seconds at both ends, since the clocks of two instances differ by a little; by so much it may err, in favour of the payer.
 */
export function createPriceBook({ store, clock }: { store: PriceStore; clock: Clock }): PriceBook {
  const time = createStoreTime(store, clock)
  let learned: { prices: PricesByEpoch; known_to: number } | null = null
  let round: { epoch: number; done: Promise<void> } | null = null
  let shown: { key: string; prices: PricesNow } | null = null

  /** One epoch further is as good; more than that and the clock was set back. */
  const covers = (epoch: number) => learned !== null && (learned.known_to === epoch || learned.known_to === epoch + 1)
  const learn = async (epoch: number): Promise<void> => {
    const before = learned !== null && learned.known_to < epoch ? learned : NOTHING
    learned = { prices: await learnPrices(store.payments, before, epoch - WINDOW_EPOCHS, epoch), known_to: epoch }
    shown = null
  }
  /** One round at a time; who wants another epoch than the running one waits for it and then looks again. */
  const learnUpTo = async (epoch: number): Promise<void> => {
    while (!covers(epoch)) {
      round ??= { epoch, done: learn(epoch).finally(() => (round = null)) }
      const { epoch: running, done } = round
      if (running === epoch) return done
      await done.catch(() => undefined)
    }
  }
  return {
    async prices() {
      const now_ms = await time.now_ms()
      const [first, at, last] = [epochOf(now_ms - QUOTE_MS - SKEW_MS), epochOf(now_ms), epochOf(now_ms + SKEW_MS)]
      if (!covers(last)) await learnUpTo(last)
      const key = `${first}|${at}|${last}`
      if (shown?.key !== key) shown = { key, prices: pricesIn(learned?.prices ?? NOTHING.prices, first, at, last) }
      return shown.prices
    },
    epoch_now: async () => epochOf(await time.now_ms()),
  }
}

const NOTHING = { prices: byMarket(() => new Map<number, bigint>()), known_to: Number.NEGATIVE_INFINITY }

function epochOf(ms: number): number {
  return Math.floor(ms / EPOCH_MS)
}

function pricesIn(known: PricesByEpoch, first: number, at: number, last: number): PricesNow {
  const amountAt = (market: Market, epoch: number): bigint => {
    const amount_minor = known[market].get(epoch)
    if (amount_minor === undefined) throw new Error('the price of an epoch is not known that was to be learned')
    return amount_minor
  }
  const epochs = Array.from({ length: last - first + 1 }, (_, back) => last - back)
  return {
    epoch: at,
    amounts: byMarket((market) => amountAt(market, at)),
    payable: byMarket((market) => distinct(epochs.map((epoch) => amountAt(market, epoch)))),
  }
}
