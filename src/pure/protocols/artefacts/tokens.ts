import { sha256 } from '@noble/hashes/sha2.js'
import { isObject } from '../../is-object.ts'
import { readBase64Url, toBase64Url } from '../../receipts/base64url.ts'

/** Texts that encode a document: Base64 of JSON, and compact tokens. Nothing is verified. */

/** A token of three parts, with disclosures of SD-JWT (RFC 9901, 4) after it. */
const COMPACT = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(?:~[A-Za-z0-9_.~-]*)?$/
const MOST_DISCLOSURES = 1_000

/** The decoded text of Base64 or Base64url that contains a JSON object or array; null for everything else. */
export function decodeBase64Json(text: string): string | null {
  const digits = text.replace(/[\r\n\t ]+/g, '')
  if (digits.length < 8 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) return null
  const json =
    decodeText(
      digits
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, ''),
    )?.trim() ?? ''
  return /^[{[]/.test(json) && isJson(json) ? json : null
}

/** Header, claims and disclosures of a compact token as one document; null if it is none. */
export function decodeToken(text: string): string | null {
  if (!COMPACT.test(text)) return null
  const [token = '', ...rest] = text.split('~')
  const [header, payload] = token
    .split('.')
    .slice(0, 2)
    .map((part) => jsonOf(part))
  if (!isObject(header) || !isObject(payload)) return null
  const disclosures = rest
    .filter((one) => one !== '' && !one.includes('.'))
    .slice(0, MOST_DISCLOSURES)
    .map((one) => ({ digest: toBase64Url(sha256(new TextEncoder().encode(one))), decoded: jsonOf(one) }))
  return JSON.stringify({ header, payload, ...(disclosures.length === 0 ? {} : { disclosures }) })
}

function jsonOf(part: string): unknown {
  const text = decodeText(part)
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

function decodeText(digits: string): string | null {
  const bytes = readBase64Url(digits)
  try {
    return bytes === null ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
