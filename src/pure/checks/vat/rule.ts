import type { ReasonCode } from '../verdict.ts'

/**
 * The words in which the rules of the countries are written. All functions read the values 0–35 of the digits and letters of a number
 * without its country prefix, whose characters already fit the format of the country.
 */

/** No check character would fit: numbers of this rest are not issued. */
export const NONE = -1

/** One calculation of check characters: a digit or letter as its value, two digits as a number. */
export interface Scheme {
  name: string
  /** Half-open place of the check characters. */
  start: number
  end: number
  expected(values: Uint8Array): number
  /** Set where more than the expected characters are right. */
  accepts?(values: Uint8Array): boolean
  /** Set where the calculation is meant for some numbers of this length only. */
  covers?(values: Uint8Array): boolean
}

/** What a part must be, whatever the check characters say. */
export interface PartRule {
  label: string
  start: number
  end: number
  code: ReasonCode
  expected: string
  holds(values: Uint8Array): boolean
}

/** The rules for one length. A number passes when one scheme that covers it accepts; when none covers it, it has no public checksum. */
export interface LengthRule {
  parts: readonly PartRule[]
  schemes: readonly Scheme[]
  /** Half-open place of the digits that are never all zero; without it, everything but the check characters. */
  body?: readonly [start: number, end: number]
}

/** By the length of the number. */
export type CountryRule = ReadonlyMap<number, LengthRule>

export function lengths(rules: Readonly<Record<number, LengthRule>>): CountryRule {
  return new Map(Object.entries(rules).map(([length, rule]) => [Number(length), rule]))
}

/** A rule for one length without rules about parts. */
export function plain(length: number, ...schemes: Scheme[]): CountryRule {
  return lengths({ [length]: { parts: [], schemes } })
}

/** A single check character. */
export function single(name: string, place: number, expected: (values: Uint8Array) => number): Scheme {
  return { name, start: place, end: place + 1, expected }
}

/** Two check digits. */
export function pair(name: string, start: number, expected: (values: Uint8Array) => number): Scheme {
  return { name, start, end: start + 2, expected }
}

export function at(values: Uint8Array, index: number): number {
  return values[index] ?? 0
}

/** The number that the digits of a range spell; at most nine of them. */
export function decimal(values: Uint8Array, start: number, end: number): number {
  let number = 0
  for (let index = start; index < end; index++) number = number * 10 + at(values, index)
  return number
}

/** Sum of weight times value, as many as there are weights, beginning at `start`. */
export function weighted(values: Uint8Array, weights: readonly number[], start = 0): number {
  let sum = 0
  for (let index = 0; index < weights.length; index++) sum += at(values, start + index) * (weights[index] ?? 0)
  return sum
}

/** What stands in the place of the check characters. */
export function found(scheme: Scheme, values: Uint8Array): number {
  const last = at(values, scheme.end - 1)
  return scheme.end - scheme.start === 1 ? last : at(values, scheme.start) * 10 + last
}

export function accepts(scheme: Scheme, values: Uint8Array): boolean {
  return scheme.accepts === undefined ? scheme.expected(values) === found(scheme, values) : scheme.accepts(values)
}

export function covers(scheme: Scheme, values: Uint8Array): boolean {
  return scheme.covers === undefined || scheme.covers(values)
}

/** The check characters that the rest calls for, as text; null when there are none. */
export function written(scheme: Scheme, values: Uint8Array): string | null {
  const value = scheme.expected(values)
  if (value === NONE) return null
  return scheme.end - scheme.start === 1 ? value.toString(36).toUpperCase() : String(value).padStart(2, '0')
}

/** The first digit is not 0. */
export const NO_LEADING_ZERO: PartRule = {
  label: 'number',
  start: 0,
  end: 1,
  code: 'bad_component',
  expected: '1 to 9',
  holds: (values) => values[0] !== 0,
}

/** Whether all digits of the running number are 0; letters say nothing. Numbers without a checksum may be so. */
export function isAllZero({ schemes, body }: LengthRule, length: number, values: Uint8Array): boolean {
  const check = schemes[0]
  if (check === undefined) return false
  const [start, end] = body ?? [0, length]
  for (let index = start; index < end; index++) {
    const value = at(values, index)
    const skipped = body === undefined && index >= check.start && index < check.end
    if (!skipped && value > 0 && value < 10) return false
  }
  return true
}
