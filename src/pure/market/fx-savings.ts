/**
 * Costs and proceeds of a sum in dollars on three paths. Every figure is exact; those in a currency are rounded half to even at the end.
 */
import { fraction, over, times, toExact, toPlaces, toSignificant, type Fraction } from './fraction.ts'

/** Digits behind the point of each of the currencies that have a feed (ISO 4217). */
const MINOR_UNITS = 2
const RATE_DIGITS = 18
const HUNDRED: Fraction = { numerator: 100n, denominator: 1n }

/** One path in dollars. */
export interface Path {
  fee_pct: string
  fee_usd: string
  net_usd: string
}

/** One path in a currency. */
interface Arrival {
  arrives: string
  /** By how much less than on the direct path. */
  short_by: string
}

export interface Comparison {
  currency: string
  units_per_usd: string
  usd_per_unit: string
  direct: string
  bank: Arrival | null
  custodial: Arrival | null
}

/** A path whose fee is this percentage of the sum. Percentages above 100 are the caller's to keep out. */
export function pathOf(sum: Fraction, pct: Fraction): Path {
  const fee = feeOf(sum, pct)
  return { fee_pct: exact(pct), fee_usd: exact(fee), net_usd: exact(lessThan(sum, fee)) }
}

/** The same sum in a currency of which one unit is worth so many dollars; null percentages are paths that were not asked for. */
export function compareIn(
  currency: string,
  usd_per_unit: Fraction,
  sum: Fraction,
  pcts: { bank: Fraction | null; custodial: Fraction | null },
): Comparison {
  const units = over({ numerator: 1n, denominator: 1n }, usd_per_unit)
  const arrival = (pct: Fraction | null): Arrival | null => {
    if (pct === null) return null
    const short = feeOf(sum, pct)
    return { arrives: toPlaces(times(lessThan(sum, short), units), MINOR_UNITS), short_by: toPlaces(times(short, units), MINOR_UNITS) }
  }
  return {
    currency,
    units_per_usd: toSignificant(units, RATE_DIGITS),
    usd_per_unit: exact(usd_per_unit),
    direct: toPlaces(times(sum, units), MINOR_UNITS),
    bank: arrival(pcts.bank),
    custodial: arrival(pcts.custodial),
  }
}

/** Sums and percentages are decimals, and so are all their products. */
export function exact(value: Fraction): string {
  return toExact(value) ?? toSignificant(value, RATE_DIGITS)
}

function feeOf(sum: Fraction, pct: Fraction): Fraction {
  return over(times(sum, pct), HUNDRED)
}

function lessThan(sum: Fraction, fee: Fraction): Fraction {
  return fraction(sum.numerator * fee.denominator - fee.numerator * sum.denominator, sum.denominator * fee.denominator)
}
