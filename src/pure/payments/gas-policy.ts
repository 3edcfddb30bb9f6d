/**
 * The one rule of gas against price (decision 0049). A network leaves the terms while the gas of one payment costs more than the cheapest
 * call, and everything that the gas wallet does for others, deposits of channels, sweeps and relays, has a minimum that covers its gas.
 * Pure: prices, fees and the time come from the caller.
 */
import { compare, type Fraction } from '../market/fraction.ts'

/**
 * Gas and bytes of calldata of one item. Gas: receipts on the test token (anvil, Cancun rules), where the payer and the recipient have
 * paid and been paid before; the real USDC adds the hop of its proxy. A batch item is that of a batch of twenty, a deposit, claim with
 * payout and refund are those of one channel, a further claim shares its transaction, and a sweep is one of many. Bytes: what the calldata adds, for the data fee of OP chains.
 */
const GAS_ITEMS = {
  single: { gas: 71_100n, bytes: 430n },
  batch_item: { gas: 45_100n, bytes: 300n },
  channel_deposit: { gas: 122_000n, bytes: 1_000n },
  channel_claim: { gas: 86_000n, bytes: 1_100n },
  further_claim: { gas: 22_500n, bytes: 600n },
  channel_refund: { gas: 91_000n, bytes: 1_200n },
  sweep: { gas: 57_000n, bytes: 64n },
  relay: { gas: 71_100n, bytes: 430n },
} as const

export type GasItem = keyof typeof GAS_ITEMS

const GAS_POLICY = {
  /** Time in ms for which the gas of a payment is above its price, or no longer, before the network leaves the terms or returns to them. */
  steady_ms: 60_000,
  /** A deposit into a channel covers its own gas and that of its claim and refund so many times. */
  deposit_times: 2n,
  /** A deposit that is forwarded, and a payment that is relayed, is worth its gas so many times: gas takes five percent at most. */
  carried_times: 20n,
  /** Minimums are rounded up to these units, so that terms do not change with each block. */
  deposit_step_minor: 1_000n,
  carried_step_minor: 10_000n,
} as const

/**
 * Origin of the price of a coin. `price_source`: public price sources, of the last minute. `earlier`: the same, but the sources have
 * been silent since. `setting`: ASSAY_NATIVE_USD. `lowest`: none of these, so only a value far below every price of the last years is
 * assumed, which proves that gas is too expensive but never that it is not.
 */
export type CoinPriceOrigin = 'price_source' | 'earlier' | 'setting' | 'lowest'

export interface CoinPrice {
  usd: Fraction
  origin: CoinPriceOrigin
}

/** Prices of gas on a network now. */
export interface GasPrices {
  /** Base fee and tip, for a unit of gas. */
  gas_wei: bigint
  /** Data fee of an OP chain for a byte; zero elsewhere. */
  byte_wei: bigint
  coin: CoinPrice
}

const WEI_PER_COIN = 10n ** 18n
const MINOR_PER_USD = 1_000_000n

/** Returns the cost of so many of an item in minor units of USDC, rounded up. */
export function gasCost(item: GasItem, { gas_wei, byte_wei, coin }: GasPrices): bigint {
  const { gas, bytes } = GAS_ITEMS[item]
  const wei = gas * gas_wei + bytes * byte_wei
  return dividedUp(wei * coin.usd.numerator * MINOR_PER_USD, coin.usd.denominator * WEI_PER_COIN)
}

/** Returns the cost of one claim of so many payment channels; null without a price of the coin. */
export function claimCost(channels: number, prices: GasPrices): bigint | null {
  if (prices.coin.origin === 'lowest') return null
  return gasCost('channel_claim', prices) + BigInt(Math.max(0, channels - 1)) * gasCost('further_claim', prices)
}

/** Returns the cheapest item that settles a payment of a call. */
export function settlementItem(has_batches: boolean): GasItem {
  return has_batches ? 'batch_item' : 'single'
}

/** `unknown`: without a price of the coin, gas below the price is not proved. */
export type GasVerdict = 'below' | 'above' | 'unknown'

export function gasVerdict(cost_minor: bigint, price_minor: bigint, { origin }: CoinPrice): GasVerdict {
  if (cost_minor > price_minor) return 'above'
  return origin === 'lowest' ? 'unknown' : 'below'
}

/** Result of the verdicts over time. */
export interface GasStanding {
  /** False: the network is not among the terms. */
  offered: boolean
  /** Since when the verdict is another one than `offered` says, by a steady clock; null when it agrees. */
  turning_since_ms: number | null
}

export const OFFERED: GasStanding = { offered: true, turning_since_ms: null }

/** Returns the standing after a verdict. Null, a check without a result, ends the minute that was counted: it was not seen as a whole. */
export function nextStanding(
  before: GasStanding,
  verdict: GasVerdict | null,
  steady_ms: number,
  minute_ms: number = GAS_POLICY.steady_ms,
): GasStanding {
  if (verdict === null) return { offered: before.offered, turning_since_ms: null }
  const fits = verdict !== 'above'
  if (fits === before.offered) return { offered: before.offered, turning_since_ms: null }
  const turning_since_ms = before.turning_since_ms ?? steady_ms
  return steady_ms - turning_since_ms >= minute_ms ? { offered: fits, turning_since_ms: null } : { ...before, turning_since_ms }
}

/** Minimums that follow from gas, in minor units of USDC. */
export interface GasMinimums {
  /** Of a deposit into a channel. */
  channel_deposit_minor: bigint
  /** Of a deposit that is forwarded to its merchant, and of a payment that is relayed to one. */
  sweep_minor: bigint
  relay_minor: bigint
}

export const NO_MINIMUMS: GasMinimums = { channel_deposit_minor: 0n, sweep_minor: 0n, relay_minor: 0n }

/** Returns the minimums. Without a price of the coin there are none. */
export function gasMinimums(prices: GasPrices): GasMinimums {
  if (prices.coin.origin === 'lowest') return NO_MINIMUMS
  const channel_minor = gasCost('channel_deposit', prices) + gasCost('channel_claim', prices) + gasCost('channel_refund', prices)
  const { deposit_times, carried_times, deposit_step_minor, carried_step_minor } = GAS_POLICY
  return {
    channel_deposit_minor: steppedUp(deposit_times * channel_minor, deposit_step_minor),
    sweep_minor: steppedUp(carried_times * gasCost('sweep', prices), carried_step_minor),
    relay_minor: steppedUp(carried_times * gasCost('relay', prices), carried_step_minor),
  }
}

/** Returns the number of an item that a budget of gas in wei pays for at this price; at most `most`. */
export function itemsWithin(
  budget_wei: bigint,
  item: GasItem,
  { gas_wei, byte_wei }: Pick<GasPrices, 'gas_wei' | 'byte_wei'>,
  most: number,
): number {
  const { gas, bytes } = GAS_ITEMS[item]
  const item_wei = gas * gas_wei + bytes * byte_wei
  if (item_wei === 0n || budget_wei / item_wei >= BigInt(most)) return most
  return Number(budget_wei / item_wei)
}

/** True for a price within bounds that no coin of the supported networks leaves. */
export function isPlausiblePrice(usd: Fraction): boolean {
  return compare(usd, { numerator: 1n, denominator: 1_000n }) >= 0 && compare(usd, { numerator: 1_000_000n, denominator: 1n }) <= 0
}

function steppedUp(amount_minor: bigint, step_minor: bigint): bigint {
  return dividedUp(amount_minor, step_minor) * step_minor
}

function dividedUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor
}
