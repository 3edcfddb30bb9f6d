import { strangers } from './digits.ts'
import { isPlain } from './normalize.ts'
import type { Finding } from './verdict.ts'

/** Results of `readPlain` that are no length. */
export const NEEDS_NORMALIZING = -1
export const OVERFLOW = -2

const SKIPPED = -2
const UNKNOWN = -1

/** Values of ASCII characters: digits and letters 0–35 in either case, separators SKIPPED. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => {
  if (code === 0x20 || code === 0x2d || (code >= 0x09 && code <= 0x0d)) return SKIPPED
  const value = Number.parseInt(String.fromCharCode(code), 36)
  return Number.isNaN(value) ? UNKNOWN : value
})

/**
 * Fills `into` with the values of the letters and digits of `text`, skipping spaces and hyphens, and returns how many there are;
 * NEEDS_NORMALIZING when any other character occurs, OVERFLOW when they do not fit.
 */
export function readPlain(text: string, into: Uint8Array): number {
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const value = code < 128 ? (VALUES[code] ?? UNKNOWN) : UNKNOWN
    if (value >= 0) {
      if (length === into.length) return OVERFLOW
      into[length++] = value
    } else if (value === UNKNOWN) return NEEDS_NORMALIZING
  }
  return length
}

/** A place for each pair of letters, 0–675; -1 when either value is a digit. */
export function pairIndex(first: number, second: number): number {
  return first < 10 || second < 10 ? -1 : (first - 10) * 26 + second - 10
}

/** The same for the first two characters of upper-case text. */
export function pairIndexOf(text: string): number {
  return pairIndex(text.charCodeAt(0) - 55, text.charCodeAt(1) - 55)
}

/** A finding for every run of characters that are neither 0-9 nor A-Z. */
export function characterFindings(value: string, field: string): Finding[] {
  return isPlain(value) ? [] : strangers(value, field, /[^0-9A-Z]+/gu, 'letters A-Z and digits 0-9')
}
