import { readBase64Url } from '../../receipts/base64url.ts'
import type { JsonCursor } from '../json-cursor.ts'

/** Base64url texts, JWS forms and JSON Web Keys, by form alone: no signature is verified. */

/** Returns whether a text is non-empty base64 of the standard alphabet (RFC 4648, 4), padded or not. */
export function isBase64(text: string): boolean {
  return text !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
}

const JSON_TEXT = new TextDecoder('utf-8', { fatal: true })

/** The JSON object behind a base64url text, such as the header of a JWS; null when there is none. */
export function decodeJsonObject(text: string): Record<string, unknown> | null {
  const bytes = text.length > 65_536 ? null : readBase64Url(text)
  if (bytes === null) return null
  try {
    const value: unknown = JSON.parse(JSON_TEXT.decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The parts of a compact JWS, or of the detached form `header..signature`; null for everything else. */
export function readCompactJws(text: string): { header: Record<string, unknown> | null; detached: boolean } | null {
  const parts = text.split('.', 4)
  const [head = '', payload = '', signature = ''] = parts
  if (parts.length !== 3 || head === '' || signature === '') return null
  if (!parts.every((part) => /^[A-Za-z0-9_-]*$/.test(part))) return null
  return { header: decodeJsonObject(head), detached: payload === '' }
}

/** Returns whether a signature algorithm has no public key: none, or HMAC with a shared secret. */
export function isWeakAlgorithm(alg: unknown): boolean {
  return typeof alg === 'string' && /^(?:none$|HS)/i.test(alg)
}

/** Members of a JSON Web Key that only its holder may know (RFC 7518, 6). */
export const PRIVATE_JWK_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

/** Number of bytes in a base64url member of a key; null when it is none, or redacted. */
export function decodedLength(cursor: JsonCursor): number | null {
  const text = cursor.text()
  return text === null || text.length > 2_048 ? null : (readBase64Url(text)?.length ?? null)
}
