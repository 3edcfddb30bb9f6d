import type { Clock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'
import { byMarket, learnPrices, type MarkStore, type PricesByEpoch } from './price-history.ts'
import { distinct, type Market, type PricesNow } from './price.ts'
import { createStoreTime } from './store-time.ts'

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
