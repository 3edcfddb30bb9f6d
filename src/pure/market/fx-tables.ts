import feeds from '../../../data/chainlink-feeds.json' with { type: 'json' }
import pools from '../../../data/uniswap-pools.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'
import { type Fraction, readDecimal, fraction } from './fraction.ts'

/** Accepted spellings of a currency or token code: as listed, in small letters, or with one capital in front. */
export function spellings(name: string): string[] {
  const small = name.toLowerCase()
  return [...new Set([name, small, small.charAt(0).toUpperCase() + small.slice(1)])]
}

/** The chain that the tables are about: Base. */
export const MARKET_CHAIN_ID = 8_453

export const CHAINLINK_FEEDS = releaseTable('chainlink_feeds', () => feeds)
export const UNISWAP_POOLS = releaseTable('uniswap_pools', () => pools)
export const FX_DATA_AS_OF = datesOf([CHAINLINK_FEEDS, UNISWAP_POOLS])

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

/** Dollars for one unit, made up: what a sandbox answers, so that its answers do not depend on the world. */
const USD_FOR_ONE: Readonly<Record<FxSymbol, string>> = {
  USD: '1',
  AUD: '0.64',
  BRL: '0.2',
  CAD: '0.8',
  CHF: '1.25',
  EUR: '1.25',
  GBP: '1.28',
  IDR: '0.0000625',
  MXN: '0.05',
  NGN: '0.000625',
  NZD: '0.6',
  PHP: '0.016',
  SGD: '0.75',
  TRY: '0.025',
  ZAR: '0.06',
  BTC: '80000',
  ETH: '2500',
  WETH: '2500',
  USDC: '1',
  EURC: '1.25',
}

export function sampleRate(symbol: FxSymbol): Fraction {
  return readDecimal(USD_FOR_ONE[symbol]) ?? fraction(0n, 1n)
}

/** Seconds since 1970 as RFC 3339. */
export function instant(at_s: number): string {
  return new Date(at_s * 1_000).toISOString()
}
