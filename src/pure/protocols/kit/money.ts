import { ISO4217 } from '../../checks/currency.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding } from '../protocol.ts'

/** Money is exact: integers of minor units as BigInt, or texts of digits. */

interface IntegerBounds {
  min?: bigint
  max?: bigint
}

/** Describes why a value is not an integer of minor units; null if it is one. */
function describeAmountFault(cursor: JsonCursor, { min, max }: IntegerBounds): string | null {
  switch (cursor.kind) {
    case 'number': {
      const amount = cursor.integer()
      if (amount === null) {
        return Number.isInteger(cursor.value)
          ? 'is larger than 2^53 - 1, so it is rounded'
          : 'is a decimal number, not an integer of minor units'
      }
      if (min !== undefined && amount < min) return `is less than ${min}`
      return max !== undefined && amount > max ? `is more than ${max}` : null
    }
    case 'string':
      return 'is a string, not an integer of minor units'
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

/** Expects the amount to be an integer of minor units within ±(2^53 - 1); silent about absent and redacted values. */
export function expectMinorUnits(report: ReportFinding, cursor: JsonCursor, bounds: IntegerBounds = {}): bigint | null {
  const fault = describeAmountFault(cursor, bounds)
  if (fault !== null) report(cursor, fault, { expected: 'an integer of minor units, such as 1999 for 19.99' })
  return fault === null ? cursor.integer() : null
}

/** Expects the number to be an integer within bounds; silent about absent and redacted values. */
export function expectInteger(report: ReportFinding, cursor: JsonCursor, { min, max }: IntegerBounds = {}): bigint | null {
  if (!cursor.present || cursor.redacted) return null
  const value = cursor.integer()
  const fits = value !== null && (min === undefined || value >= min) && (max === undefined || value <= max)
  if (fits) return value
  const range = min === undefined ? '' : max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`
  report(cursor, `is not an integer${range}`, { expected: `an integer${range}` })
  return null
}

const DIGITS = /^(?:0|[1-9][0-9]{0,127})$/

/** A text of decimal digits without sign, point, exponent or leading zero, at most 128 of them; null otherwise. */
export function readDecimalDigits(cursor: JsonCursor): bigint | null {
  const text = cursor.text()
  return text !== null && text.length <= 128 && DIGITS.test(text) ? BigInt(text) : null
}

/** The sum of integers; null when one of them is absent, redacted or no integer. */
export function sumIntegers(cursors: readonly JsonCursor[]): bigint | null {
  let sum = 0n
  for (const cursor of cursors) {
    const value = cursor.integer()
    if (value === null) return null
    sum += value
  }
  return sum
}

/** Returns whether a text is a current ISO 4217 code in upper case. */
export function isCurrencyCode(text: string): boolean {
  return ISO4217.view.by_alpha.get(text)?.withdrawn === null
}

/** Digits behind the point of a current currency; null for unknown codes and for those without minor units. */
export function minorUnitDigits(code: string): number | null {
  const row = ISO4217.view.by_alpha.get(code)
  return row?.withdrawn === null ? row.minor_units : null
}
