import { minorUnitDigits } from '../kit/money.ts'
import type { Place } from '../place.ts'

/** Amounts of version 0.1, and budgets: decimal numbers of major units, or texts of them, as the W3C Payment Request API has them. */

const DIGITS = 20
/** Units of a decimal in one. */
export const DECIMAL_SCALE = 10n ** BigInt(DIGITS)

/** The value in units of 10^-20; null where it is no plain decimal. */
export function readDecimal(place: Place): bigint | null {
  const { value } = place
  const text = typeof value === 'number' ? (place.literal() ?? String(value)) : place.text()
  const match = text === null ? null : /^(-?)([0-9]{1,30})(?:\.([0-9]{1,20}))?$/.exec(text)
  if (match === null) return null
  const size = BigInt(match[2] ?? '0') * DECIMAL_SCALE + BigInt((match[3] ?? '').padEnd(DIGITS, '0'))
  return match[1] === '-' ? -size : size
}

/** Whether two values differ by half of the smallest unit of a currency or more: sums of doubles are off by less. */
export function differsBy(one: bigint, other: bigint, currency: string | null): boolean {
  const unit = DECIMAL_SCALE / 10n ** BigInt(currency === null ? 2 : (minorUnitDigits(currency) ?? 2))
  const difference = one > other ? one - other : other - one
  return difference * 2n >= unit
}
