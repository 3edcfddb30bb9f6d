import { sha256 } from '@noble/hashes/sha2.js'
import { readBase64Url } from '../kit/keys.ts'
import { optional } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

/** Hashes as mandates carry them: base64url without padding. */

/** Characters of a hash by the algorithm that RFC 9901 names. */
export const DIGEST_CHARS: Readonly<Record<string, number>> = { 'sha-256': 43, 'sha-384': 64, 'sha-512': 86 }

/** The text here must be a hash of this algorithm, of any where it is unknown. False where it is none, or nothing can be told. */
export function digestForm(error: Say, place: Place, algorithm: string | null): boolean {
  if (!optional(error, place, 'string')) return false
  const text = place.text()
  if (text === null || text.trim() === '') return false
  const known = algorithm !== null && Object.hasOwn(DIGEST_CHARS, algorithm)
  const lengths = known ? [DIGEST_CHARS[algorithm]] : Object.values(DIGEST_CHARS)
  if (lengths.includes(text.length) && /^[\w-]+$/.test(text)) return true
  error(place, `is no base64url ${known ? algorithm : 'hash'}`, { expected: `${lengths.join(', ')} characters of base64url` })
  return false
}

/** Whether a hash is the SHA-256 of a text in ASCII. */
export function isSha256Of(hash: string, text: string): boolean {
  const bytes = readBase64Url(hash)
  const own = sha256(new TextEncoder().encode(text))
  return bytes !== null && bytes.length === own.length && bytes.every((byte, index) => byte === own[index])
}
