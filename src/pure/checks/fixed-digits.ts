import type { Check } from './verdict.ts'

/** Whether what `readPlain` left is exactly so many digits. */
export function areDigits(read: Uint8Array, length: number, digits: number): boolean {
  if (length !== digits) return false
  for (let index = 0; index < digits; index++) if ((read[index] ?? 10) > 9) return false
  return true
}

/** Whether all values before `end` are 0, which no number is that was given to somebody. */
export function isZero(read: Uint8Array, end: number): boolean {
  for (let index = 0; index < end; index++) if (read[index] !== 0) return false
  return true
}

/**
 * Proposes a zero in front where the length is wrong and the value passes with it: spreadsheets drop that zero. No other repair is in
 * question then, since looks and swaps keep the length.
 */
export function withLeadingZero<Facts>(check: Check<Facts>, passes: (candidate: string) => boolean): Check<Facts> {
  if (check.reason_code !== 'bad_length') return check
  const suggestion = `0${check.normalized}`
  return passes(suggestion) ? { ...check, suggestion } : check
}
