import { readPlain } from './characters.ts'

/** What a value 0–35, letters written as their two digits, adds to the sum: its last digit as it stands, or doubled. */
const PLAIN = new Uint8Array(36)
const DOUBLED = new Uint8Array(36)
for (let value = 0; value < 36; value++) {
  const tens = Math.floor(value / 10)
  const ones = value % 10
  PLAIN[value] = ones + doubledDigit(tens)
  DOUBLED[value] = doubledDigit(ones) + tens
}

function doubledDigit(digit: number): number {
  return digit > 4 ? 2 * digit - 9 : 2 * digit
}

/**
 * Luhn's sum over what stands before a check digit, letters as the two digits of A = 10 … Z = 35 (ISO 6166:2021, annex C). A letter takes
 * two places and so leaves it as it was whether the next one is doubled.
 */
export function luhnSum(read: Uint8Array, end: number): number {
  let sum = 0
  let doubled = true
  for (let index = end - 1; index >= 0; index--) {
    const value = read[index] ?? 0
    sum += (doubled ? DOUBLED[value] : PLAIN[value]) ?? 0
    if (value < 10) doubled = !doubled
  }
  return sum
}

/** The check digit for the first eleven characters of an ISIN, which are letters and digits. */
export function isinCheckDigit(eleven: string): string {
  const read = new Uint8Array(eleven.length)
  return `${(10 - (luhnSum(read, readPlain(eleven, read)) % 10)) % 10}`
}
