import type { PaymentStore, PriceMark } from '../../ports/payments.ts'
import { batchPrice, type KnownPrices, type PriceRules, priceSpan, salesNeededFrom } from '../../pure/payments/price-curve.ts'
import type { Clock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'

/**
 * Markets: each has one price, which follows its own sales. Amounts are minor units of USDC (1,000,000 = 1 USDC); the target is the number
 * of payers in an epoch of 10 seconds at which the price stays the same.
 */
export const MARKETS = {
  check: { floor_minor: 5_000n, cap_minor: 50_000n, target: 5 },
  chain: { floor_minor: 5_000n, cap_minor: 50_000n, target: 5 },
  contract: { floor_minor: 20_000n, cap_minor: 50_000n, target: 5 },
  document: { floor_minor: 10_000n, cap_minor: 50_000n, target: 5 },
} as const satisfies Record<string, PriceRules>

export type Market = keyof typeof MARKETS

/** Price classes of tools. Every price is between the floor and the cap of its class. */
const CLASSES = {
  /** No price, no allowance. */
  free: { market: null, floor_minor: 0n, cap_minor: 0n, formula: null },
  /** One check of one value. */
  check: { market: 'check', floor_minor: 5_000n, cap_minor: 50_000n, formula: null },
  /** Facts read from the chain or from a market. */
  chain: { market: 'chain', floor_minor: 5_000n, cap_minor: 50_000n, formula: null },
  /** Facts of a token contract. */
  contract: { market: 'contract', floor_minor: 20_000n, cap_minor: 50_000n, formula: null },
  /** A whole document or file. */
  document: { market: 'document', floor_minor: 10_000n, cap_minor: 50_000n, formula: null },
  /** A tenth of a check for each item, within the bounds of a check. */
  batch: {
    market: 'check',
    floor_minor: 5_000n,
    cap_minor: 50_000n,
    formula: 'ceil(items * price of a check / 10), at least 0.005 and at most 0.05 USDC',
  },
} as const satisfies Record<string, PriceBounds & { market: Market | null }>

export type PriceClass = keyof typeof CLASSES

/** Bounds of a price that do not depend on the time, for documents that stay valid while prices change. */
interface PriceBounds {
  floor_minor: bigint
  cap_minor: bigint
  /** Description of a price that depends on the input; null when it does not. */
  formula: string | null
}

/** Current prices. The object is the same as long as the prices are, so that values derived from it can be cached by it. */
export interface PricesNow {
  /** Number of the epoch of 10 seconds, by the clock of the store. */
  epoch: number
  amounts: Readonly<Record<Market, bigint>>
  /** Every price that may have been quoted within the last `maxTimeoutSeconds`, newest first, without duplicates. */
  payable: Readonly<Record<Market, readonly bigint[]>>
}

/** The price of one call. */
interface CallPrice extends PriceBounds {
  class: PriceClass
  amount_minor: bigint
  /** Amounts that are accepted: the current price and the price of every quote that is still valid. Empty for a free tool. */
  payable: readonly bigint[]
}

export function priceBounds(name: PriceClass): PriceBounds {
  const { floor_minor, cap_minor, formula } = CLASSES[name]
  return { floor_minor, cap_minor, formula }
}

/** Returns the market whose price a call of this class pays, which its payment counts as a sale of; null for a free tool. */
export function marketOf(name: PriceClass): Market | null {
  return CLASSES[name].market
}

/**
 * Returns the price of a call with this validated input; without an input, that of the cheapest call, a batch of one item. Throws for a
 * batch input without items, which its schema rejects.
 */
export function priceOf(name: PriceClass, input: Readonly<Record<string, unknown>> | null, prices: PricesNow): CallPrice {
  const bounds = priceBounds(name)
  switch (name) {
    case 'free':
      return { class: name, amount_minor: 0n, payable: [], ...bounds }
    case 'check':
    case 'chain':
    case 'contract':
    case 'document':
      return { class: name, amount_minor: prices.amounts[name], payable: prices.payable[name], ...bounds }
    case 'batch': {
      const items = input === null ? 1 : itemsOf(input)
      const batch = (check_minor: bigint) => batchPrice(items, check_minor, bounds)
      return { class: name, amount_minor: batch(prices.amounts.check), payable: distinct(prices.payable.check.map(batch)), ...bounds }
    }
  }
}

function itemsOf(input: Readonly<Record<string, unknown>>): number {
  const { items } = input
  if (!Array.isArray(items)) throw new Error('a tool that is priced by the item has an input without items')
  return items.length
}

/** Returns the amounts in their order, without duplicates. */
function distinct(amounts: readonly bigint[]): bigint[] {
  return [...new Set(amounts)]
}

/**
 * Age in epochs after which marks and sales are ignored and may be purged: one hour. By then a price without sales is at its floor; it
 * falls from cap to floor in three minutes.
 */
export const HISTORY_EPOCHS = 360

/** Prices by epoch, for each market. */
type PricesByEpoch = Readonly<Record<Market, KnownPrices>>

type MarkStore = Pick<PaymentStore, 'sales' | 'price_marks' | 'mark_prices'>

const MARKET_NAMES = Object.keys(MARKETS) as Market[]

function byMarket<Value>(of: (market: Market) => Value): Record<Market, Value> {
  return Object.fromEntries(MARKET_NAMES.map((market) => [market, of(market)])) as Record<Market, Value>
}

/**
 * Returns the prices of the epochs from `first` to `last`, as all instances compute them: stored marks where they exist, otherwise computed
 * from the newest earlier mark and the sales since. The last two epochs are marked, since their prices are about to be quoted, and read
 * back, since another instance may have marked them first. `before` has the prices of an earlier call up to epoch `known_to`, which need no
 * query.
 */
async function loadPrices(
  store: MarkStore,
  before: { prices: PricesByEpoch; known_to: number },
  first: number,
  last: number,
): Promise<PricesByEpoch> {
  const known = byMarket(() => new Map<number, bigint>())
  const sure = before.known_to >= first
  if (sure) for (const market of MARKET_NAMES) for (const [epoch, amount] of before.prices[market]) known[market].set(epoch, amount)
  for (const mark of await loadMarks(store, sure ? before.known_to + 1 : first, last)) addMark(known, mark, last)

  const sales = await store.sales(salesFrom(known, first, last))
  const prices = byMarket((market) => {
    const sold = sales.filter(({ price_class }) => price_class === market)
    return priceSpan(first, last, known[market], sold, MARKETS[market])
  })
  const quoted = [last - 1, last].filter((epoch) => MARKET_NAMES.some((market) => !known[market].has(epoch)))
  for (const mark of await markPrices(store, quoted, prices)) addMark(prices, mark, last)
  return prices
}

/**
 * Returns the marks from `last` down to `bottom`, and the newest one before. Each query returns the newest mark of every class, so few
 * queries suffice.
 */
async function loadMarks(store: MarkStore, bottom: number, last: number): Promise<PriceMark[]> {
  const found: PriceMark[] = []
  for (let at = last; at >= bottom;) {
    const marks = await store.price_marks(at)
    found.push(...marks)
    at = Math.max(...marks.map(({ epoch }) => epoch)) - 1
  }
  return found
}

function addMark(prices: Record<Market, Map<number, bigint>>, { price_class, epoch, amount_minor }: PriceMark, last: number): void {
  const market = MARKET_NAMES.find((name) => name === price_class)
  if (market !== undefined && epoch >= last - HISTORY_EPOCHS) prices[market].set(epoch, amount_minor)
}

/** Returns the first epoch whose sales are needed: one before the oldest price that others are computed from. */
function salesFrom(known: PricesByEpoch, first: number, last: number): number {
  return Math.min(...MARKET_NAMES.map((market) => salesNeededFrom(first, known[market], last - HISTORY_EPOCHS)))
}

/** Stores the prices of these epochs as marks, and returns the marks that count. */
async function markPrices(store: MarkStore, epochs: readonly number[], prices: PricesByEpoch): Promise<PriceMark[]> {
  const mine = epochs.flatMap((epoch) =>
    MARKET_NAMES.flatMap((market) => {
      const amount_minor = prices[market].get(epoch)
      return amount_minor === undefined ? [] : [{ price_class: market, epoch, amount_minor }]
    }),
  )
  if (mine.length === 0) return []
  await store.mark_prices(mine)
  const found = await Promise.all(epochs.map((epoch) => store.price_marks(epoch)))
  return found.flatMap((marks, index) => marks.filter(({ epoch }) => epoch === epochs[index]))
}

/** Period after which the offset between the two clocks is measured again. */
const OFFSET_VALID_MS = 60_000

/** Time by the clock of the store, which all instances share. */
interface StoreTime {
  /** Milliseconds since 1970. Rejects when the offset has to be measured and the store does not answer. */
  now_ms(): Promise<number>
}

/**
 * Computes the store's time from the local clock and a measured offset. The offset is measured at first use, after a minute, and after the
 * local clock was set back; its error is at most half the response time of the store.
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
    return age_ms >= 0 && age_ms < OFFSET_VALID_MS ? now_ms + measured.offset_ms : null
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

/** Length of an epoch, by the clock of the store. */
export const EPOCH_MS = 10_000
/** Maximum clock difference of two instances at which one accepts the quotes of the other. */
const SKEW_MS = 250
const QUOTE_MS = limits.max_timeout_s * 1000
/** Number of earlier epochs whose quotes may still be paid. */
const WINDOW_EPOCHS = Math.ceil((QUOTE_MS + 2 * SKEW_MS) / EPOCH_MS) + 1

/** Part of the store that prices need. */
export interface PriceStore {
  readonly payments: MarkStore
  now_ms(): Promise<number>
}

export interface PriceBook {
  /** Returns the current prices. Rejects when the store is down and the prices of this epoch are not known yet. */
  prices(): Promise<PricesNow>
  /**
   * Returns the current epoch by the clock of the store, in which a sale is counted. Rejects when that clock has to be read and the store
   * is down.
   */
  epoch_now(): Promise<number>
}

/**
 * Creates the prices that all instances on one store share. A price is stored as a mark before it is quoted, the first mark of an epoch
 * counts for all, and each instance reads it back; so a sale that is stored late cannot change a quoted price. The store is queried once an
 * epoch, and only on demand. The accepted period of a quote is 250 ms longer than its 120 seconds at both ends, since the clocks of two
 * instances differ; the error favours the payer.
 */
export function createPriceBook({ store, clock }: { store: PriceStore; clock: Clock }): PriceBook {
  const time = createStoreTime(store, clock)
  let learned: { prices: PricesByEpoch; known_to: number } | null = null
  let round: { epoch: number; done: Promise<void> } | null = null
  let shown: { key: string; prices: PricesNow } | null = null

  /** One epoch more is acceptable; more than one means that the clock was set back. */
  const covers = (epoch: number) => learned !== null && (learned.known_to === epoch || learned.known_to === epoch + 1)
  const learn = async (epoch: number): Promise<void> => {
    const before = learned !== null && learned.known_to < epoch ? learned : NO_PRICES
    learned = { prices: await loadPrices(store.payments, before, epoch - WINDOW_EPOCHS, epoch), known_to: epoch }
    shown = null
  }
  /** Runs one round at a time; a caller that needs another epoch waits for the running round and checks again. */
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
      if (shown?.key !== key) shown = { key, prices: pricesIn(learned?.prices ?? NO_PRICES.prices, first, at, last) }
      return shown.prices
    },
    epoch_now: async () => epochOf(await time.now_ms()),
  }
}

const NO_PRICES = { prices: byMarket(() => new Map<number, bigint>()), known_to: Number.NEGATIVE_INFINITY }

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
