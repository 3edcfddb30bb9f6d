import feeds from '../../../data/chainlink-feeds.json' with { type: 'json' }
import pools from '../../../data/uniswap-pools.json' with { type: 'json' }
import { dataDate } from '../datasets/table.ts'

/** Accepted spellings of a currency or token code: as listed, in small letters, or with one capital in front. */
export function spellings(name: string): string[] {
  const small = name.toLowerCase()
  return [...new Set([name, small, small.charAt(0).toUpperCase() + small.slice(1)])]
}

/** The chain that the tables are about: Base. */
export const MARKET_CHAIN_ID = 8_453

/** Uptime of Base's sequencer, as Chainlink's page on L2 networks names it; the directory of feeds does not list it. */
export const SEQUENCER_FEED = '0xbcf85224fc0756b9fa45aa7892530b47e10b6433'

export const FX_DATA_AS_OF = { chainlink_feeds: dataDate(feeds), uniswap_pools: dataDate(pools) } as const

/** The currencies that have a feed. */
export const CURRENCIES = ['AUD', 'BRL', 'CAD', 'CHF', 'EUR', 'GBP', 'IDR', 'MXN', 'NGN', 'NZD', 'PHP', 'SGD', 'TRY', 'ZAR'] as const
const TOKENS = ['BTC', 'ETH', 'EURC', 'USDC', 'WETH'] as const

export type Currency = (typeof CURRENCIES)[number]
export type FxSymbol = 'USD' | Currency | (typeof TOKENS)[number]

/** Currencies and tokens that a rate can have. */
export const FX_SYMBOLS: readonly FxSymbol[] = ['USD', ...CURRENCIES, ...TOKENS]

/** The symbol in capitals; null for any other text. */
export function fxSymbol(text: string): FxSymbol | null {
  return FX_SYMBOLS.find((symbol) => spellings(symbol).includes(text)) ?? null
}

export function currency(text: string): Currency | null {
  return CURRENCIES.find((code) => spellings(code).includes(text)) ?? null
}

/** Ether and its wrapped form are one thing at one price. */
export type Priced = Exclude<FxSymbol, 'WETH' | 'USD'>

export function pricedAs(symbol: Exclude<FxSymbol, 'USD'>): Priced {
  return symbol === 'WETH' ? 'ETH' : symbol
}

export interface Feed {
  address: string
  description: string
  decimals: number
  /** Longest time between two updates. */
  heartbeat_s: number
  /** Pauses while foreign exchange is closed. */
  market_hours: boolean
}

const FEEDS: ReadonlyMap<string, readonly Feed[]> = Map.groupBy(feeds.rows, ({ symbol }) => symbol)

/** The feeds of dollars for one unit, the one to be tried first at the head. */
export function feedsOf(symbol: Priced): readonly Feed[] {
  return FEEDS.get(symbol) ?? []
}

/** A pool whose second token is USDC. */
export interface Pool {
  venue: string
  address: string
  token0: string
  token1: string
  decimals0: number
  decimals1: number
  window_s: number
  /** Minimum amount of its second token, as if its liquidity were spread over every price. */
  least_reserve_minor: bigint
}

const POOLS: ReadonlyMap<string, Pool> = new Map(
  pools.rows.map(({ base, quote: _quote, least_reserve_minor, ...pool }) => [
    base,
    { ...pool, least_reserve_minor: BigInt(least_reserve_minor) },
  ]),
)

/** Null where the price comes from a feed alone. */
export function poolOf(symbol: Priced): Pool | null {
  return POOLS.get(symbol === 'ETH' ? 'WETH' : symbol) ?? null
}
