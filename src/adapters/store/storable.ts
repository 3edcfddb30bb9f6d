import { StoreRefusedError } from './errors.ts'

/** Refuses what one of the databases cannot hold before either is asked, so that both refuse the same. */

/** What one column that is part of an index takes. */
const KEY_CHARS_MAX = 200
/** Answers, signatures and raw transactions. */
const LONG_CHARS_MAX = 16 * 1_048_576
const WIDE_MAX = 2n ** 63n - 1n
const WORD_MAX = 2n ** 256n - 1n
const ADDRESS = /^0x[0-9a-f]{40}$/
const WORD = /^0x[0-9a-f]{64}$/

/** PostgreSQL text holds no U+0000, and half a surrogate pair has no UTF-8. */
function isStorable(value: string, chars_max: number): boolean {
  return value.length <= chars_max && !value.includes('\u0000') && value.isWellFormed()
}

export function isKey(value: string): boolean {
  return value.length > 0 && isStorable(value, KEY_CHARS_MAX)
}

function refuse(what: string): never {
  throw new StoreRefusedError(`The store cannot hold this value: ${what}.`)
}

/** Short text of at least one character. */
export function assertKeys(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) if (!isKey(value)) refuse(name)
}

const HEX = /^[0-9a-f]{64}$/

/** Keyed hashes: 64 lower-case hexadecimal digits. */
export function assertHex(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) if (!HEX.test(value)) refuse(name)
}

export function assertTexts(values: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(values)) if (value !== null && !isStorable(value, LONG_CHARS_MAX)) refuse(name)
}

/** Whole numbers from 0 on that JavaScript holds exactly. */
export function assertCounts(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) if (!Number.isSafeInteger(value) || value < 0) refuse(name)
}

/** Up to 2^63 − 1, more than any token with six decimals has minted. */
export function assertWide(values: Readonly<Record<string, bigint>>): void {
  for (const [name, value] of Object.entries(values)) if (value < 0n || value > WIDE_MAX) refuse(name)
}

/** Amounts of wei, up to 256 bits. */
export function assertWei(values: Readonly<Record<string, bigint>>): void {
  for (const [name, value] of Object.entries(values)) if (value < 0n || value > WORD_MAX) refuse(name)
}

/** Lower case only: two spellings of one authorization would be two payments. */
export function assertPaymentKey(key: { payer: string; nonce: string }): void {
  if (!ADDRESS.test(key.payer)) refuse('payer')
  if (!WORD.test(key.nonce)) refuse('nonce')
}
