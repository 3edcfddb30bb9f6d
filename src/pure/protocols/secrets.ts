import { isLuhn } from '../checks/luhn.ts'
import type { JsonCursor } from './json-cursor.ts'

/** Kinds of secrets that a document should not contain. */
type SecretKind = 'private_key' | 'jwk_private_member' | 'card_number' | 'api_key' | 'bearer_token' | 'client_secret'

export interface DetectedSecret {
  cursor: JsonCursor
  kind: SecretKind
}

/** The kind in a sentence: "… looks like <words>". */
export const SECRET_DESCRIPTIONS: Readonly<Record<SecretKind, string>> = {
  private_key: 'a private key',
  jwk_private_member: 'the private part of a JSON Web Key',
  card_number: 'a card number',
  api_key: 'a secret API key',
  bearer_token: 'a bearer token',
  client_secret: 'a client secret',
}

/**
 * 64 hexadecimal digits are a private key unless their name says what else they are: hashes and nonces have the same form, and so have public
 * keys, and the addresses and tokens of several chains.
 */
const PUBLIC_HEX_NAME =
  /nonce|hash|transaction|tx|digest|salt|root|id$|ids$|sig|topic|code|data|sum|sha|proof|block|commit|cursor|state|etag|fingerprint|thumbprint|x5t|^[rsxy]$/i
const ACCOUNT_NAME = /asset|pay_?to|payer|payee|account|address|public|pub_?key|^from$|^to$/i
const PRIVATE_NAME = /private|secret|mnemonic|seed/i
/** Names of long numbers that are not cards: amounts, times, and numbers of goods, parcels and orders. */
const MONEY_NAME = /amount|value|price|total|balance|valid|max|min|units|supply|wei|expires|iat|exp|nbf|timestamp|time$|_at$|id$|phone/i
const GOODS_NAME = /gtin|ean|upc|isbn|sku|bar_?code|mpn|tracking|order_?(?:number|no)$/i
/** Cards of thirteen digits are as good as extinct, and one article number in a hundred has their form. */
const CARD_NAME = /card|^pan$|^cc/i
const PRIVATE_MEMBERS: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])

/**
 * Detects a secret by its form and its member name; null otherwise. Ambiguous values pass: a hexadecimal text under a name such as `nonce`,
 * or a long number without the prefix and check digit of a card number.
 */
export function detectSecret(cursor: JsonCursor, name: string): SecretKind | null {
  const { value } = cursor
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 1e12 ? cardKind(String(value), name) : null
  const text = cursor.text()
  if (text === null) return null
  if (PRIVATE_MEMBERS.has(name) && cursor.parent?.has('kty') === true) return 'jwk_private_member'
  if (text.length < 13) return null
  if (text.length === 64 || text.length === 66) return /^(?:0x)?[0-9a-f]{64}$/i.test(text) ? hexKind(name) : null
  if (text.length <= 23 && /^[0-9]/.test(text)) return cardKind(text, name)
  return wordKind(text, name)
}

function hexKind(name: string): SecretKind | null {
  return PRIVATE_NAME.test(name) || !(PUBLIC_HEX_NAME.test(name) || ACCOUNT_NAME.test(name)) ? 'private_key' : null
}

/** IIN ranges of the large card schemes with their lengths (ISO/IEC 7812-1; published by the schemes). */
const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3}(?:[0-9]{3})?)?|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|3[47][0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35(?:2[89]|[3-8][0-9])[0-9]{12})$/

function cardKind(text: string, name: string): SecretKind | null {
  const digits = text.replace(/[ -]/g, '')
  if (!CARD.test(digits) || MONEY_NAME.test(name) || GOODS_NAME.test(name)) return null
  if (digits.length === 13 && !CARD_NAME.test(name)) return null
  return isLuhn(digits) ? 'card_number' : null
}

/** Checks only the beginning, so that long texts cost no more than short ones. */
function wordKind(text: string, name: string): SecretKind | null {
  const head = text.slice(0, 128)
  if (/^(?:sk|rk)_live_[0-9A-Za-z]{8}/.test(head) || /^(?:sk-ant-|sk-proj-|ghp_|github_pat_|xox[bp]-|AKIA[0-9A-Z]{16})/.test(head))
    return 'api_key'
  if (/^Bearer +[\w.~+/=-]{16}/i.test(head)) return 'bearer_token'
  if (head.startsWith('-----BEGIN') && /PRIVATE KEY-----/.test(head)) return 'private_key'
  if (/^client_?secret$/i.test(name)) return 'client_secret'
  return /^(?:private_?key|mnemonic|seed_?phrase)$/i.test(name) ? 'private_key' : null
}
