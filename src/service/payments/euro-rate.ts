import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Prices } from '../../ports/prices.ts'
import { compare, distance, type Fraction, over, readDecimal } from '../../pure/market/fraction.ts'
import { EURC_LIMITS, limits } from '../limits.ts'
import { tokenAmount } from './terms.ts'

/** Rate of EURC in US dollars, read in the background and never within a call. */
export interface EuroRates {
  /** Rate of new terms: US dollars for one EURC; null while there is none that may be used. The same object until it changes. */
  now(): Fraction | null
  /**
   * Returns the first of these prices that this amount of EURC pays, by a rate of terms that can still be paid: exactly, or within the
   * tolerance, since another instance may have offered it. Null when it pays none; `no_rate` when no such rate is known.
   */
  priceOf(amount_minor: bigint, prices_minor: readonly bigint[]): bigint | null | 'no_rate'
  start(): void
  stop(): void
}

/** A rate that terms have offered. */
interface OfferedRate {
  rate: Fraction
  as_of_ms: number
  /** When it was, or will be, withdrawn: terms that were offered before can be paid for a while longer. */
  withdrawn_ms: number
}

interface RateParts {
  prices: Pick<Prices, 'spot'>
  clock: Clock
  log: Log
  every_ms?: number | undefined
}

/** Id of EURC in the table of symbols. */
const EURC_ID = 'euro-coin'
const { lowest, highest, tolerance } = EURC_LIMITS
/** Time for which terms can be paid, and the difference between the clocks of two instances. */
const PAYABLE_MS = limits.max_timeout_s * 1_000 + 250

/**
 * Reads the rate every few seconds. A rate outside the bounds, or sources that disagree, withdraw the last one immediately; silent sources do so
 * when it is too old.
 */
export function watchEuroRate({ prices, clock, log, every_ms = EURC_LIMITS.refresh_ms }: RateParts): EuroRates {
  let offered: OfferedRate[] = []
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let was_usable: boolean | null = null

  const current = (): OfferedRate | null => {
    const last = offered.at(-1)
    const now_ms = clock.now_ms()
    return last !== undefined && now_ms < last.withdrawn_ms && now_ms >= last.as_of_ms - EURC_LIMITS.ahead_ms ? last : null
  }
  const withdraw = (now_ms: number) => {
    const last = offered.at(-1)
    if (last !== undefined) last.withdrawn_ms = Math.min(last.withdrawn_ms, now_ms)
  }
  const take = (rate: Fraction, as_of_ms: number): void => {
    const now_ms = clock.now_ms()
    const last = current()
    const withdrawn_ms = as_of_ms + EURC_LIMITS.oldest_ms
    if (last !== null && compare(last.rate, rate) === 0) return void Object.assign(last, { as_of_ms, withdrawn_ms })
    withdraw(now_ms)
    offered = [...offered.filter((one) => now_ms < one.withdrawn_ms + PAYABLE_MS), { rate, as_of_ms, withdrawn_ms }]
  }
  async function refresh(): Promise<void> {
    const spot = await prices.spot(EURC_ID).catch(() => null)
    const rate = spot?.kind === 'priced' ? readDecimal(spot.price_usd) : null
    const is_sane = rate !== null && compare(rate, lowest) >= 0 && compare(rate, highest) <= 0
    if (is_sane && spot?.kind === 'priced') take(rate, spot.as_of_ms)
    else if (rate !== null || (spot?.kind === 'down' && spot.reason === 'sources_disagree')) withdraw(clock.now_ms())
    const is_usable = current() !== null
    if (is_usable !== was_usable) {
      if (is_usable) log.info({}, 'EURC has a rate and is offered')
      else log.warn({ sources: spot?.kind ?? 'failed' }, 'EURC has no rate that may be used and is not offered')
    }
    was_usable = is_usable
  }
  const loop = async (): Promise<void> => {
    await refresh()
    if (stopped) return
    timer = setTimeout(() => void loop(), every_ms)
    timer.unref()
  }
  return {
    now: () => current()?.rate ?? null,
    priceOf(amount_minor, prices_minor) {
      const rates = offered.filter(({ withdrawn_ms }) => clock.now_ms() < withdrawn_ms + PAYABLE_MS).map(({ rate }) => rate)
      if (rates.length === 0) return 'no_rate'
      const isExact = (price: bigint) => rates.some((rate) => tokenAmount(price, rate) === amount_minor)
      const isNear = (price: bigint) => rates.some((rate) => isWithin(amount_minor, tokenAmount(price, rate)))
      return prices_minor.find(isExact) ?? prices_minor.find(isNear) ?? null
    },
    start: () => void loop(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Returns true for an amount that differs from the expected one by no more than the tolerance. */
function isWithin(amount_minor: bigint, expected_minor: bigint): boolean {
  const [amount, expected] = [amount_minor, expected_minor].map((value) => ({ numerator: value, denominator: 1n }))
  return amount !== undefined && expected !== undefined && compare(over(distance(amount, expected), expected), tolerance) <= 0
}
