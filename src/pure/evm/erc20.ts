import { fromHex } from '../receipts/crypto.ts'
import { addressWord } from '../payments/token-calls.ts'
import { callRead, firstWord, type StateRead, type StateResult, type StateResults } from './state-reads.ts'

/** A name or symbol that a token reports, cleaned for display. */
interface TokenText {
  /** At most 64 characters, in one line, nothing invisible. */
  text: string
  encoding: 'string' | 'bytes32'
  /** Something was taken out, or the text was longer. */
  altered: boolean
}

const WORD_DIGITS = 64
/** More of a text is never decoded. */
const TEXT_BYTES = 1_024
const SHOWN_CHARS = 64
/** Controls, formats (direction, zero width, tags), separators, private, unassigned; fillers that look like nothing; variation selectors. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{VS}\u115f\u1160\u2800\u3164\uffa0]/gu
/** Combining marks on one letter beyond the needs of any language. */
const PILED = /(\p{M}{2})\p{M}+/gu
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads what name() or symbol() returned: an ABI string, or 32 bytes filled up with zeros as tokens before 2018 return them, also with
 * nothing but zeros behind (old clones of Vyper). Null for anything else and for what is not UTF-8. Padding is not insisted on, since
 * deployed tokens leave it out.
 */
export function readTokenText(data: string): TokenText | null {
  const digits = data.slice(2)
  if (digits.length === WORD_DIGITS) return shown(digits.replace(/(?:00)+$/, ''), 'bytes32', false)
  if (digits.length < 2 * WORD_DIGITS) return null
  const offset = smallWord(digits, 0)
  if (offset === null && /^0*$/.test(digits.slice(WORD_DIGITS))) return readTokenText(data.slice(0, 2 + WORD_DIGITS))
  if (offset === null || 2 * offset + WORD_DIGITS > digits.length) return null
  const length = smallWord(digits, 2 * offset)
  const begin = 2 * offset + WORD_DIGITS
  if (length === null || begin + 2 * length > digits.length) return null
  return shown(digits.slice(begin, begin + 2 * Math.min(length, TEXT_BYTES)), 'string', length > TEXT_BYTES)
}

/** A word that fits a small number. */
function smallWord(digits: string, at: number): number | null {
  const word = digits.slice(at, at + WORD_DIGITS)
  return /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word.slice(56), 16) : null
}

function shown(digits: string, encoding: TokenText['encoding'], cut: boolean): TokenText | null {
  const bytes = fromHex(`0x${digits.length % 2 === 0 ? digits : `${digits}0`}`)
  if (bytes === null) return null
  try {
    // A text that was cut may end within a character, which streaming leaves out.
    const whole = cut ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }) : UTF8.decode(bytes)
    const clean = whole.replace(/\s+/gu, ' ').replace(UNSEEN, '').replace(PILED, '$1').replace(/ {2,}/g, ' ').trim()
    const text = Array.from(clean).slice(0, SHOWN_CHARS).join('').trimEnd()
    return { text, encoding, altered: cut || text !== whole }
  } catch {
    return null
  }
}

/** The six functions that EIP-20 (2015) demands; name, symbol and decimals are optional there. */
const REQUIRED: readonly { signature: string; selector: number; read: string | null }[] = [
  { signature: 'totalSupply()', selector: 0x18160ddd, read: 'total_supply' },
  { signature: 'balanceOf(address)', selector: 0x70a08231, read: 'balance_of' },
  { signature: 'transfer(address,uint256)', selector: 0xa9059cbb, read: null },
  { signature: 'transferFrom(address,address,uint256)', selector: 0x23b872dd, read: null },
  { signature: 'approve(address,uint256)', selector: 0x095ea7b3, read: null },
  { signature: 'allowance(address,address)', selector: 0xdd62ed3e, read: 'allowance' },
]

type MetadataError = 'reverted' | 'no_data' | 'malformed' | 'out_of_range'

export interface Erc20Facts {
  /** Null when the code that answers is not known. */
  conforms: boolean | null
  name: string | null
  symbol: string | null
  decimals: number | null
  /** Minor units as decimal text. */
  total_supply: string | null
  encoding: 'string' | 'bytes32' | null
  /** Fields whose text was shortened, or freed of what cannot be seen. */
  altered: string[]
  missing: string[]
  errors: Record<string, MetadataError>
}

/** The calls; balance and allowance are asked of the token itself, since some refuse the zero address. */
export function erc20Reads(token: string): [name: string, read: StateRead][] {
  const own = addressWord(token)
  const calls = {
    name: '0x06fdde03',
    symbol: '0x95d89b41',
    decimals: '0x313ce567',
    total_supply: '0x18160ddd',
    balance_of: `0x70a08231${own}`,
    allowance: `0xdd62ed3e${own}${own}`,
  }
  return Object.entries(calls).map(([name, data]) => [name, callRead(token, data)])
}

/** Facts about an account that runs no code. */
export const NO_TOKEN: Erc20Facts = {
  conforms: false,
  name: null,
  symbol: null,
  decimals: null,
  total_supply: null,
  encoding: null,
  altered: [],
  missing: REQUIRED.map(({ signature }) => signature),
  errors: {},
}

/** Reads the answers; `has` says whether the code that answers has a function, null when that code is not known. */
export function erc20Facts(results: StateResults, has: (selector: number) => boolean | null): Erc20Facts {
  const errors: Record<string, MetadataError> = {}
  const name = metadataText(results, 'name', errors)
  const symbol = metadataText(results, 'symbol', errors)
  const decimals = number(results, 'decimals', errors)
  const supply = number(results, 'total_supply', errors)
  if (decimals !== null && decimals > 255n) errors['decimals'] = 'out_of_range'
  const absent = REQUIRED.filter(({ selector, read }) => !(read !== null && isNumber(results.get(read))) && has(selector) !== true)
  const unknown = absent.some(({ selector }) => has(selector) === null)
  return {
    conforms: absent.length === 0 ? true : unknown ? null : false,
    name: name?.text ?? null,
    symbol: symbol?.text ?? null,
    decimals: decimals === null || decimals > 255n ? null : Number(decimals),
    total_supply: supply?.toString() ?? null,
    encoding: name?.encoding ?? symbol?.encoding ?? null,
    altered: [...(name?.altered === true ? ['name'] : []), ...(symbol?.altered === true ? ['symbol'] : [])],
    missing: unknown ? [] : absent.map(({ signature }) => signature),
    errors,
  }
}

function metadataText(results: StateResults, field: string, errors: Record<string, MetadataError>) {
  const data = returned(results.get(field), field, errors)
  const found = data === null ? null : readTokenText(data)
  if (data !== null && found === null) errors[field] = 'malformed'
  return found
}

function number(results: StateResults, field: string, errors: Record<string, MetadataError>): bigint | null {
  const data = returned(results.get(field), field, errors)
  if (data === null) return null
  const word = firstWord(data)
  if (word !== null) return BigInt(word)
  errors[field] = 'malformed'
  return null
}

function returned(result: StateResult | undefined, field: string, errors: Record<string, MetadataError>): string | null {
  if (result?.ok === true && result.data !== '0x') return result.data
  errors[field] = result?.ok === true ? 'no_data' : 'reverted'
  return null
}

function isNumber(result: StateResult | undefined): boolean {
  return result?.ok === true && firstWord(result.data) !== null
}
