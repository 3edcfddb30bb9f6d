import { complement11, weightedSum, complement10, luhnSum, mod11_10 } from '../check-digits.ts'
import type { ReasonCode } from '../verdict.ts'

/*
 * Calculations from which the rules of the VAT countries are built. All functions read the values 0–35 of the digits and letters of a number
 * without its country prefix, whose characters already match the format of the country.
 */

/** No check character would match: numbers with these other characters are not issued. */
export const NONE = -1

/** One calculation of check characters: a digit or letter as its value, two digits as a number. */
export interface VatScheme {
  name: string
  /** Half-open range of the check characters. */
  start: number
  end: number
  expected(values: Uint8Array): number
  /** Set where more than the expected characters are valid. */
  accepts?(values: Uint8Array): boolean
  /** Set where the calculation applies to only some numbers of this length. */
  appliesTo?(values: Uint8Array): boolean
}

/** A rule about a part, independent of the check characters. */
export interface VatPartRule {
  label: string
  start: number
  end: number
  code: ReasonCode
  expected: string
  isValid(values: Uint8Array): boolean
}

/** Rules for one length. A number is valid when one scheme that applies to it accepts it; when none applies, it has no public checksum. */
export interface VatLengthRule {
  parts: readonly VatPartRule[]
  schemes: readonly VatScheme[]
  /** Half-open range of the digits that are never all zero; without it, everything but the check characters. */
  body?: readonly [start: number, end: number]
}

/** Rules by the length of the number. */
export type VatRule = ReadonlyMap<number, VatLengthRule>

export function byLength(rules: Readonly<Record<number, VatLengthRule>>): VatRule {
  return new Map(Object.entries(rules).map(([length, rule]) => [Number(length), rule]))
}

/** A rule for one length, without rules about parts. */
export function ruleForLength(length: number, ...schemes: VatScheme[]): VatRule {
  return byLength({ [length]: { parts: [], schemes } })
}

/** A rule for one length whose first digit is not 0. */
export function nonzeroStart(length: number, ...schemes: VatScheme[]): VatRule {
  return byLength({ [length]: { parts: [NO_LEADING_ZERO], schemes } })
}

export function partRule(
  label: string,
  [start, end]: readonly [start: number, end: number],
  code: ReasonCode,
  expected: string,
  isValid: (values: Uint8Array) => boolean,
): VatPartRule {
  return { label, start, end, code, expected, isValid }
}

/** A scheme with a single check character. */
export function checkCharacter(name: string, start: number, expected: (values: Uint8Array) => number): VatScheme {
  return { name, start, end: start + 1, expected }
}

export function valueAt(values: Uint8Array, index: number): number {
  return values[index] ?? 0
}

/** The number that the digits of a range spell; at most nine of them. */
export function decimal(values: Uint8Array, start: number, end: number): number {
  let number = 0
  for (let index = start; index < end; index++) number = number * 10 + valueAt(values, index)
  return number
}

/** Value of the check characters that a number has. */
export function foundCheck(scheme: VatScheme, values: Uint8Array): number {
  const last = valueAt(values, scheme.end - 1)
  return scheme.end - scheme.start === 1 ? last : valueAt(values, scheme.start) * 10 + last
}

export function accepts(scheme: VatScheme, values: Uint8Array): boolean {
  return scheme.accepts === undefined ? scheme.expected(values) === foundCheck(scheme, values) : scheme.accepts(values)
}

export const NO_LEADING_ZERO = partRule('number', [0, 1], 'bad_component', '1 to 9', (values) => values[0] !== 0)

/** Name of the most frequent scheme in facts. */
export const MODULUS_11 = 'modulus 11'

/** The digit that completes the sum to a multiple of eleven; `ten` is the digit written for 10. */
export function modulus11(name: string, weights: readonly number[], ten: number = NONE): VatScheme {
  return checkCharacter(name, weights.length, (values) => {
    const digit = complement11(weightedSum(values, weights))
    return digit === 10 ? ten : digit
  })
}

/** The remainder modulo eleven; `ten` is the digit written for 10. */
export function modulus11Remainder(name: string, weights: readonly number[], ten: number = NONE): VatScheme {
  return checkCharacter(name, weights.length, (values) => {
    const digit = weightedSum(values, weights) % 11
    return digit === 10 ? ten : digit
  })
}

/** The remainder modulo eleven, calculated again with other weights when it is 10; 10 once more is written 0. */
export function modulus11Twice(name: string, first: readonly number[], second: readonly number[]): VatScheme {
  return checkCharacter(name, first.length, (values) => {
    const digit = weightedSum(values, first) % 11
    return digit < 10 ? digit : (weightedSum(values, second) % 11) % 10
  })
}

export const luhn = (start: number): VatScheme => checkCharacter('Luhn', start, (values) => complement10(luhnSum(values, 0, start)))

/** The digit that completes a weighted sum to a multiple of ten. */
export function modulus10(weights: readonly number[]): VatScheme {
  return checkCharacter('modulus 10', weights.length, (values) => complement10(weightedSum(values, weights)))
}

/** ISO 7064:2003, MOD 11,10. */
export const isoModulus11_10 = (start: number): VatScheme =>
  checkCharacter('ISO 7064 MOD 11,10', start, (values) => mod11_10(values, 0, start))
