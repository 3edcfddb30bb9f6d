import { remainder97 } from '../../checks/check-digits.ts'
import { ISO4217 } from '../../checks/currency.ts'

/** Longest text that counts as an id; ISO 20022 allows 35 characters, bank references somewhat more. */
const ID_CHARS = 256

/** Folded placeholders in id fields (ISO 20022 and SWIFT usage). */
const PLACEHOLDERS = new Set(['', 'NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NONE', 'NOREF', 'UNKNOWN', 'N/A', 'NA', '-', '.'])
const LONGEST_PLACEHOLDER = 16
/** Cheap pre-check: only these can be placeholders or blank. */
const MAYBE_PLACEHOLDER = /^[nNuU.\-\s]|^$/

/** Returns the id as a key; null for a placeholder or a text longer than any id. Ids are compared exactly, without trimming. */
export function usableId(text: string | null): string | null {
  if (text === null) return null
  if (text.length <= LONGEST_PLACEHOLDER && MAYBE_PLACEHOLDER.test(text) && PLACEHOLDERS.has(foldId(text))) return null
  return text.length > ID_CHARS ? null : text
}

/**
 * Folds an id that a system padded or changed in case: no white space, ASCII capitals. Other letters stay, because systems fold them
 * differently.
 */
export function foldId(text: string): string {
  if (/^[^a-z\s]*$/.test(text)) return text
  return text.replace(/\s+/g, '').replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

/** The id as a field of this width would contain it. */
export function cutId(text: string, width: number): string {
  return foldId(text.slice(0, width).trimEnd())
}

/** Characters with which banks mask digits of an account. */
const MASKED_DIGITS = /X{3}/

/** Account as a key: an unmasked IBAN in any spelling, or the trimmed text. */
export function accountKey(text: string | null): { text: string; iban: boolean } | null {
  if (text === null) return null
  const folded = foldId(text)
  if (/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(folded))
    return { text: folded, iban: !MASKED_DIGITS.test(folded) || hasValidIbanCheckDigits(folded) }
  const trimmed = text.trim()
  return trimmed === '' || trimmed.length > ID_CHARS ? null : { text: trimmed, iban: false }
}

/** Valid check digits (ISO 13616) show that the letters belong to the account and are not a mask. */
function hasValidIbanCheckDigits(iban: string): boolean {
  const values = Uint8Array.from(iban.slice(4) + iban.slice(0, 4), (character) => Number.parseInt(character, 36))
  return remainder97(values, 0, values.length) === 1
}

/** FNV-1a offset basis. */
export const HASH_SEED = 0x811c9dc5

/** 32-bit FNV-1a hash that continues from a seed. It shows that texts differ; collisions can be constructed. */
export function textHash(text: string, seed: number): number {
  let value = seed
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value ^ (value >>> 15)
}

/**
 * Days are counted from 1970-01-01. They are the dates in the file; time zones are ignored, because the window has room for a day more or
 * less.
 */

const DAY_MS = 86_400_000
const ISO_DAY = /^\s*(19[7-9][0-9]|[2-9][0-9]{3})-([0-9]{2})-([0-9]{2})(?![0-9])/

/** Day at the start of an ISO 8601 date or date-time; null for other text and dates that do not exist. */
export function parseDay(text: string | null): number | null {
  const found = text === null ? null : ISO_DAY.exec(text)
  if (found === null) return null
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number]
  const time_ms = Date.UTC(year, month - 1, day)
  const real = new Date(time_ms)
  return real.getUTCMonth() === month - 1 && real.getUTCDate() === day && time_ms > 0 ? time_ms / DAY_MS : null
}

/** Number of days before and after the instruction's day within which an entry may be booked. */
export interface BookingWindow {
  days_before: number
  days_after: number
}

/** Banks book a few days early if the execution day is a holiday, and returns or late payments within a quarter. */
export const DEFAULT_WINDOW: BookingWindow = { days_before: 10, days_after: 90 }
/** Ten years, in effect no limit. */
export const MAX_WINDOW_DAYS = 3_650

/** Describes the window in an answer. */
export function windowSentence({ days_before, days_after }: BookingWindow): string {
  return `An entry counts for a payment when it was booked from ${days_before} days before to ${days_after} days after the payment was due.`
}

/**
 * Checks a booking day against the window of instructions with due days from `first` to `last`: it must fit all of them. Unknown days (0)
 * fit.
 */
export function dayFits(first: number, last: number, booked: number, { days_before, days_after }: BookingWindow): boolean {
  if (first === 0 || last === 0 || booked === 0) return true
  return booked >= last - days_before && booked <= first + days_after
}

/** Maximum fraction digits of an amount (ISO 20022, ActiveCurrencyAndAmount), used for currencies without a stated scale. */
const MOST_DIGITS = 5
/**
 * Fraction digits of currencies withdrawn since the first camt.053 (2009), from ISO 4217 list one while they were current; list three does
 * not state them.
 */
const WITHDRAWN_WITH_2_DIGITS = new Set('ANG BGN CUC EEK HRK LTL LVL MRO SLL STD VEF ZMK ZWL'.split(' '))
const WITHDRAWN_WITH_0_DIGITS = new Set(['BYR'])
function withdrawnDigits(currency: string): number | null {
  if (WITHDRAWN_WITH_2_DIGITS.has(currency)) return 2
  return WITHDRAWN_WITH_0_DIGITS.has(currency) ? 0 : null
}
/** Largest amount that fits a signed 64-bit integer. */
const LARGEST_MINOR = 2n ** 63n - 1n
const DECIMAL = /^\+?([0-9]*)(?:\.([0-9]*))?$/
const LEXICAL_CHARS = 40

/** Fraction digits of a currency (ISO 4217); five if it has none or is not listed, so that no amount is rounded. */
export function currencyDigits(currency: string): number {
  const row = ISO4217.view.by_alpha.get(currency)
  return row === undefined ? MOST_DIGITS : (row.minor_units ?? withdrawnDigits(currency) ?? MOST_DIGITS)
}

type ParsedAmount = { ok: true; amount_minor: bigint } | { ok: false; fault: 'lexical' | 'fraction' | 'range' }

/**
 * Parses an xs:decimal exactly: `+1`, `.5`, `5.` and surrounding white space are accepted, exponents and negative signs are not. Fault
 * `fraction`: more digits than the currency's minor unit.
 */
export function parseAmount(text: string, currency: string): ParsedAmount {
  const digits = currencyDigits(currency)
  const plain = parsePlainAmount(text, digits)
  if (plain !== -1) return { ok: true, amount_minor: BigInt(plain) }
  const found = text.length > LEXICAL_CHARS ? null : DECIMAL.exec(text.trim())
  const [whole = '', fraction = ''] = found === null ? [] : [found[1] ?? '', found[2] ?? '']
  if (found === null || whole + fraction === '') return { ok: false, fault: 'lexical' }
  if (/[1-9]/.test(fraction.slice(digits))) return { ok: false, fault: 'fraction' }
  const amount_minor = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return amount_minor > LARGEST_MINOR ? { ok: false, fault: 'range' } : { ok: true, amount_minor }
}

const PLAIN_CHARS = 16
const POINT = 0x2e

/** Fast path for usual amounts: digits with one decimal point, exact in a double; -1 for all others. */
function parsePlainAmount(text: string, digits: number): number {
  if (text.length === 0 || text.length > PLAIN_CHARS - digits) return -1
  let value = 0
  let fraction = -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === POINT && fraction === -1 && index > 0) fraction = 0
    else if (code >= 0x30 && code <= 0x39 && fraction < digits) {
      value = value * 10 + (code - 0x30)
      if (fraction !== -1) fraction++
    } else return -1
  }
  for (let missing = digits - Math.max(0, fraction); missing > 0; missing--) value *= 10
  return value
}

/** Formats minor units as a decimal: 10010 with two digits is 100.10. */
export function formatMinorUnits(amount_minor: bigint, digits: number): string {
  const sign = amount_minor < 0n ? '-' : ''
  const text = (amount_minor < 0n ? -amount_minor : amount_minor).toString().padStart(digits + 1, '0')
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

const SHOWN_CHARS = 64
const PRINTABLE_TEXT = /^[ -~]{0,64}$/

/** Makes untrusted text safe for an answer: at most 64 characters, without control and direction characters. */
export function printableText(text: string | null): string | null {
  if (text === null || PRINTABLE_TEXT.test(text)) return text
  return text.slice(0, SHOWN_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
}
