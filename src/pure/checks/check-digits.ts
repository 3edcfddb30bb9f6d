/*
 * Calculations of check characters over values 0–35 of digits and letters, one calculation a standard. They are shared by the identifiers,
 * the VAT rules and the national rules of account numbers.
 */

const UNITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Check characters as text: two decimal digits, or one digit or letter of base 36. */
export function checkCharacters(value: number, length: number): string {
  return length === 1 ? UNITS.charAt(value) : value < 10 ? `0${value}` : `${value}`
}

/** Sum of weight times value, for as many values from `start` as there are weights. */
export function weightedSum(values: Uint8Array, weights: readonly number[] | Uint8Array, start = 0): number {
  let sum = 0
  for (let index = 0; index < weights.length; index++) sum += (values[start + index] ?? 0) * (weights[index] ?? 0)
  return sum
}

/** The digit that completes a sum to a multiple of ten. */
export function complement10(sum: number): number {
  return (10 - (sum % 10)) % 10
}

/** The value 0–10 that completes a sum to a multiple of eleven. */
export function complement11(sum: number): number {
  return (11 - (sum % 11)) % 11
}

/** Luhn's sum of digits (ISO/IEC 7812-1:2017, annex B): every second digit is doubled, the last one included if a check digit follows. */
export function luhnSum(values: Uint8Array, start: number, end: number, last_doubled = true): number {
  let sum = 0
  for (let index = end - 1, doubled = last_doubled; index >= start; index--, doubled = !doubled) {
    const value = values[index] ?? 0
    sum += doubled ? doubledDigit(value) : value
  }
  return sum
}

function doubledDigit(digit: number): number {
  return digit > 4 ? 2 * digit - 9 : 2 * digit
}

/** Contribution of a value 0–35, letters as two digits, to Luhn's sum when its last digit is not doubled, and when it is. */
const PLAIN = new Uint8Array(36)
const DOUBLED = new Uint8Array(36)
for (let value = 0; value < 36; value++) {
  const tens = Math.floor(value / 10)
  const ones = value % 10
  PLAIN[value] = ones + doubledDigit(tens)
  DOUBLED[value] = doubledDigit(ones) + tens
}

/**
 * The Luhn check digit of an ISIN, letters as the two digits of A = 10 … Z = 35 (ISO 6166:2021, annex C). A letter takes two decimal
 * places, so it does not change whether the next character is doubled.
 */
export function isinCheckValue(values: Uint8Array, end: number): number {
  let sum = 0
  let doubled = true
  for (let index = end - 1; index >= 0; index--) {
    const value = values[index] ?? 0
    sum += (doubled ? DOUBLED[value] : PLAIN[value]) ?? 0
    if (value < 10) doubled = !doubled
  }
  return complement10(sum)
}

/** The check digit of ISO 7064 MOD 11,10 over the digits from `start` to `end`. */
export function mod11_10(values: Uint8Array, start: number, end: number): number {
  let product = 10
  for (let index = start; index < end; index++) product = (((product + (values[index] ?? 0)) % 10 || 10) * 2) % 11
  return (11 - product) % 10
}

/** 10^n modulo 97, so that a long number is a sum of small products and is divided once. */
export const POWERS97 = Uint8Array.from({ length: 80 })
for (let place = 0, power = 1; place < POWERS97.length; place++, power = (power * 10) % 97) POWERS97[place] = power

/**
 * Remainder modulo 97 of the decimal number that the values spell, letters as 10–35 (ISO 7064, and ISO 13616 annex), continuing from
 * `carried`. Divides only when the number nears 2^31, so that all arithmetic stays in small integers.
 */
export function remainder97(values: Uint8Array, start: number, end: number, carried = 0): number {
  let remainder = carried
  for (let index = start; index < end; index++) {
    const value = values[index] ?? 0
    remainder = value < 10 ? remainder * 10 + value : remainder * 100 + value
    if (remainder > 9_999_999) remainder %= 97
  }
  return remainder % 97
}

/** The check digits 02–98 for a number whose last two digits are missing: 98 − (100·n mod 97), ISO 7064 MOD 97-10. */
export function checkDigits97(remainder: number): number {
  return 98 - ((remainder * 100) % 97)
}

/** Range of check digits that MOD 97-10 gives: 00, 01 and 99 leave the same remainder as 97, 98 and 02. */
export function inRange97(check: number): boolean {
  return check >= 2 && check <= 98
}
