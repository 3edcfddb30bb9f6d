import { remainder97 } from '../../checks/mod97.ts'

/** What counts as an id, and when two of them may be the same. */

/** Longest text that is an id; ISO 20022 allows 35 characters, bank references some more. */
const ID_CHARS = 256

/** What stands in an id field when there is no id (ISO 20022 and SWIFT usage), folded. */
const PLACEHOLDERS = new Set(['', 'NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NONE', 'NOREF', 'UNKNOWN', 'N/A', 'NA', '-', '.'])
const LONGEST_PLACEHOLDER = 16
/** How placeholders begin, and whatever may turn out to be blank; a look that spares most ids the folding. */
const MAYBE_PLACEHOLDER = /^[nNuU.\-\s]|^$/

/**
 * The text as a key, or null when it stands for nothing or is longer than any id. Ids are compared to the character; nothing is trimmed or
 * cut here.
 */
export function usableId(text: string | null): string | null {
  if (text === null) return null
  if (text.length <= LONGEST_PLACEHOLDER && MAYBE_PLACEHOLDER.test(text) && PLACEHOLDERS.has(foldId(text))) return null
  return text.length > ID_CHARS ? null : text
}

/**
 * The id without white space and in ASCII capitals: what is left of it after systems that pad and fold. Letters beyond ASCII stay as they
 * are, since their folding differs between systems.
 */
export function foldId(text: string): string {
  if (/^[^a-z\s]*$/.test(text)) return text
  return text.replace(/\s+/g, '').replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

/** The id as a field of this width would hold it. */
export function cutId(text: string, width: number): string {
  return foldId(text.slice(0, width).trimEnd())
}

/** A UETR as a key: it is a UUID, whose letters are lower case, and read in either (RFC 9562, 4). */
export function uetrKey(text: string | null): string | null {
  return usableId(text === null ? null : text.trim().toLowerCase())
}

/** What banks write over the digits of an account that they do not show. */
const MASK = /X{3}/

/** An account as it is compared: an IBAN of any spelling that hides none of its digits, or the text without space at its ends. */
export function accountKey(text: string | null): { text: string; iban: boolean } | null {
  if (text === null) return null
  const folded = foldId(text)
  if (/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(folded)) return { text: folded, iban: !MASK.test(folded) || isWhole(folded) }
  const trimmed = text.trim()
  return trimmed === '' || trimmed.length > ID_CHARS ? null : { text: trimmed, iban: false }
}

/** Whether the check digits hold (ISO 13616), so that the letters are part of the account. */
function isWhole(iban: string): boolean {
  const values = Uint8Array.from(iban.slice(4) + iban.slice(0, 4), (character) => Number.parseInt(character, 36))
  return remainder97(values, 0, values.length) === 1
}

/** Where a hash begins that goes on from no other (FNV-1a). */
export const SEED = 0x811c9dc5

/** A text as 32 bits, going on from a seed: to see that two texts differ, not to keep a stranger from making two that do not. */
export function hash(text: string, seed: number): number {
  let value = seed
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value ^ (value >>> 15)
}
