import type { PaymentStore, PriceMark } from '../../ports/payments.ts'
import { LAG_EPOCHS, priceAt, type EpochSales, type KnownPrice } from '../../pure/payments/price-curve.ts'
import { MARKETS, type Market } from './price.ts'

/**
 * Older marks and sales are not looked at, and may be purged, in epochs: one hour, after which a price that nobody asked for stands at its
 * floor. The way from cap to floor takes three minutes.
 */
export const HISTORY_EPOCHS = 360

/** Prices by epoch, for each market. */
export type PricesByEpoch = Readonly<Record<Market, ReadonlyMap<number, bigint>>>

export type MarkStore = Pick<PaymentStore, 'sales' | 'price_marks' | 'mark_prices'>

const NAMES = Object.keys(MARKETS) as Market[]

export function byMarket<Value>(of: (market: Market) => Value): Record<Market, Value> {
  return Object.fromEntries(NAMES.map((market) => [market, of(market)])) as Record<Market, Value>
}

/**
 * The prices of the epochs from `first` to `last`, as all instances have them: marks where there are any, else computed from the newest
 * mark before and the sales since. The last two are marked, since they are about to be quoted, and read back, since another instance may
 * have marked them meanwhile. `before` holds what an earlier call found, for the epochs up to `known_to`; it saves asking again.
 */
export async function learnPrices(
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
