import { strangers } from './digits.ts'
import { isPlain } from './normalize.ts'
import type { Finding } from './verdict.ts'

/** What `readPlain` returns when a character other than letters, digits, spaces and hyphens occurs. */
export const NEEDS_NORMALIZING = -1

/**
 * Fills `into` with the values 0–35 of the letters and digits of `text`, skipping spaces and hyphens, and returns how many there
 * are, also when they do not all fit. The fast path of the boolean checks: no strings, no tables. Nothing is written beyond `into`:
 * it would do no harm, but the engine would make every later call slower.
 */
export function readPlain(text: string, into: Uint8Array): number {
  const room = into.length
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    let value: number
    if (code >= 0x30 && code <= 0x39) value = code - 0x30
    else if (code >= 0x41 && code <= 0x5a) value = code - 0x37
    else if (code >= 0x61 && code <= 0x7a) value = code - 0x57
    else if (code === 0x20 || code === 0x2d || (code >= 0x09 && code <= 0x0d)) continue
    else return NEEDS_NORMALIZING
    if (length < room) into[length] = value
    length++
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
