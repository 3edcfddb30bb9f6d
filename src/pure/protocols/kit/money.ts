import table from '../../../../data/iso4217.json' with { type: 'json' }
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

/** Money is exact: integers of minor units as BigInt, or texts of digits. */

export interface MoneyBounds {
  min?: bigint
  max?: bigint
}

/** How an amount fails to be an integer, in words; null when it is one. */
function amountFault(place: Place, { min, max }: MoneyBounds): string | null {
  switch (place.kind) {
    case 'number': {
      const amount = place.integer()
      if (amount === null) {
        return Number.isInteger(place.value)
          ? 'is beyond 2^53 - 1, where numbers are rounded'
          : 'is a decimal number, not an integer of minor units'
      }
      if (min !== undefined && amount < min) return `is less than ${min}`
      return max !== undefined && amount > max ? `is more than ${max}` : null
    }
    case 'string':
      return 'is a text, not an integer of minor units'
    case 'null':
    case 'boolean':
    case 'array':
    case 'object':
      return 'is not an integer of minor units'
    case 'absent':
    case 'redacted':
      return null
  }
}

/** The amount here must be an integer of minor units within ±(2^53 - 1); nothing is said of what is absent or redacted. */
export function minorUnits(say: Say, place: Place, bounds: MoneyBounds = {}): bigint | null {
  const fault = amountFault(place, bounds)
  if (fault !== null) say(place, fault, { expected: 'an integer of minor units, such as 1999 for 19.99' })
  return fault === null ? place.integer() : null
}

/** The number here must be an integer within bounds; nothing is said of what is absent or redacted. */
export function integer(say: Say, place: Place, { min, max }: MoneyBounds = {}): bigint | null {
  if (!place.present || place.redacted) return null
  const value = place.integer()
  const fits = value !== null && (min === undefined || value >= min) && (max === undefined || value <= max)
  if (fits) return value
  const range = min === undefined ? '' : max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`
  say(place, `is not an integer${range}`, { expected: `an integer${range}` })
  return null
}

const DIGITS = /^(?:0|[1-9][0-9]{0,127})$/

/** A text of decimal digits without sign, point, exponent or leading zero, at most 128 of them; null for all else. */
export function digitText(place: Place): bigint | null {
  const text = place.text()
  return text !== null && text.length <= 128 && DIGITS.test(text) ? BigInt(text) : null
}

/** The sum of integers; null when one of them is absent, redacted or no integer. */
export function sumOf(places: readonly Place[]): bigint | null {
  let sum = 0n
  for (const place of places) {
    const value = place.integer()
    if (value === null) return null
    sum += value
  }
  return sum
}

const MINOR_UNITS: ReadonlyMap<string, number | null> = new Map(
  table.rows.filter((row) => row.withdrawn === null).map((row) => [row.alpha, row.minor_units]),
)

/** Whether a current ISO 4217 code, in upper case. */
export function isCurrencyCode(text: string): boolean {
  return MINOR_UNITS.has(text)
}

/** Digits behind the point of a current currency; null for unknown codes and for those without minor units. */
export function minorUnitDigits(code: string): number | null {
  return MINOR_UNITS.get(code) ?? null
}
