/** Whether a rate turns one amount into another, in whole numbers. */
import { AMOUNT_SCALE, scaled } from '../decimal.ts'
import { currencyInfo } from '../identifiers.ts'

interface Converted {
  /** In 10^-5. */
  units: bigint
  currency: string
}

/** One digit more than a rate has, so that half of its last digit is whole. */
const RATE_SCALE = 11
const ONE = 10n ** BigInt(RATE_SCALE)

/**
 * Whether `from` times the rate gives `to`, or `from` divided by it, since rates are quoted from either side. Each amount may be off by
 * one of its smallest units, and the rate by half of its last digit. Errs towards true; a rate that cannot be read is taken as right.
 */
export function converts(from: Converted, to: Converted, rate: string): boolean {
  const text = rate.trim()
  const value = scaled(text, RATE_SCALE)
  if (value === null) return true
  const digits = Math.min(text.length - (text + '.').indexOf('.') - 1, RATE_SCALE - 1)
  const slack = 5n * 10n ** BigInt(RATE_SCALE - 1 - Math.max(0, digits))
  return near(from, to, value, slack) || near(to, from, value, slack)
}

/** Whether one amount times the rate is the other. */
function near(one: Converted, other: Converted, rate: bigint, slack: bigint): boolean {
  const difference = one.units * rate - other.units * ONE
  const allowed = stepOf(other.currency) * ONE + stepOf(one.currency) * rate + magnitude(one.units) * slack
  return magnitude(difference) <= allowed
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** Where the list states no digits, two are taken. */
const USUAL_DIGITS = 2

/** The smallest unit of a currency, in 10^-5. */
function stepOf(currency: string): bigint {
  const digits = currencyInfo(currency).minor_units ?? USUAL_DIGITS
  return 10n ** BigInt(Math.max(0, AMOUNT_SCALE - digits))
}
