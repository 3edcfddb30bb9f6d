import { fraction, readDecimal, type Fraction } from './fraction.ts'
import type { FxSymbol } from './fx-tables.ts'

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
