import type { AccountKind } from '../chain/state.ts'
import { addressWord } from '../payments/token-calls.ts'
import { fromHex } from '../receipts/crypto.ts'
import { addressAnswer, callRead, firstWord, ZERO, type StateRead, type StateResult, type StateResults } from './state-reads.ts'

/** Returns true when the code that answers has this function; null when that code is not known. */
type Has = (selector: number) => boolean | null

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

interface Erc20Facts {
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

/** Facts about an account that runs no code. */
const NO_TOKEN: Erc20Facts = {
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

/** Reads of `erc20Facts` and `ownerFacts`. Balance and allowance are asked of the token itself, since some refuse the zero address. */
export function tokenReads(token: string): [name: string, read: StateRead][] {
  const own = addressWord(token)
  const calls = {
    name: '0x06fdde03',
    symbol: '0x95d89b41',
    decimals: '0x313ce567',
    total_supply: '0x18160ddd',
    balance_of: `0x70a08231${own}`,
    allowance: `0xdd62ed3e${own}${own}`,
    ...OWNER_CALLS,
  }
  return Object.entries(calls).map(([name, data]) => [name, callRead(token, data)])
}

/** Reads the answers of a token; `results` is null for an account that runs no code. */
export function erc20Facts(results: StateResults | null, has: Has): Erc20Facts {
  if (results === null) return NO_TOKEN
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

/** owner() and pendingOwner() of ERC-173 (2018) and OpenZeppelin's Ownable2Step; getOwner() of BEP-20. */
export const OWNER_CALLS = { owner: '0x8da5cb5b', get_owner: '0x893d20e8', pending_owner: '0xe30c3978' } as const

/** Addresses without a known key, to which ownership is renounced. */
const DEAD = new Set([
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
])

/** Precompiles of Ethereum up to BLS12-381 (EIP-2537, 2025), and the one for P-256 that L2 networks have (RIP-7212). */
const LAST_PRECOMPILE = 0x11n
const P256_PRECOMPILE = 0x100n

/** Returns true when control was given to an address without a known key. */
export function isDead(address: string): boolean {
  const value = BigInt(address)
  return DEAD.has(address) || (value > 0n && value <= LAST_PRECOMPILE) || value === P256_PRECOMPILE
}

type OwnerStatus = 'address' | 'zero' | 'dead' | 'not_present' | 'reverted' | 'unknown'

interface OwnerAnswer {
  status: OwnerStatus
  address: string | null
  method: 'owner()' | 'getOwner()' | null
  pending_owner: string | null
}

interface OwnerFacts extends OwnerAnswer {
  account_kind: AccountKind | null
  note: string | null
}

/** The answer of an account that runs no code. */
const NO_OWNER: OwnerAnswer = { status: 'not_present', address: null, method: null, pending_owner: null }

/** The owner that a contract names, also a dead one; null for none or the zero address. It needs no knowledge of the code. */
export function namedOwner(results: StateResults): string | null {
  const { address } = readOwner(results, () => null)
  return address === ZERO ? null : address
}

/**
 * Address named by owner(), or else by getOwner(). `not_present` only where all code that answers is known and has neither function;
 * `reverted` where a function exists and refuses; every other result without an address is `unknown`.
 */
function readOwner(results: StateResults, has: Has): OwnerAnswer {
  const pending = addressAnswer(results.get('pending_owner'))
  const pending_owner = pending.kind === 'address' && pending.address !== ZERO ? pending.address : null
  const answers = (['owner', 'get_owner'] as const).map((name) => ({ name, answer: addressAnswer(results.get(name)) }))
  for (const { name, answer } of answers) {
    if (answer.kind !== 'address') continue
    const { address } = answer
    const status = address === ZERO ? 'zero' : isDead(address) ? 'dead' : 'address'
    return { status, address, method: name === 'owner' ? 'owner()' : 'getOwner()', pending_owner }
  }
  return { status: silence(answers, has), address: null, method: null, pending_owner }
}

function silence(answers: readonly { name: 'owner' | 'get_owner'; answer: { kind: string } }[], has: Has): OwnerStatus {
  const present = answers.map(({ name, answer }) => ({ there: has(Number.parseInt(OWNER_CALLS[name], 16)), kind: answer.kind }))
  if (present.some(({ there, kind }) => there === true && kind === 'reverted')) return 'reverted'
  return present.every(({ there, kind }) => there === false && kind !== 'garbage') ? 'not_present' : 'unknown'
}

/**
 * The owner as the contract names it, with the kind of its account from `kindOf`, and a note on what a silence does not mean. `results` is
 * null for an account that runs no code.
 */
export function ownerFacts(results: StateResults | null, has: Has, kindOf: (owner: string) => AccountKind): OwnerFacts {
  const answer = results === null ? NO_OWNER : readOwner(results, has)
  const { status, address } = answer
  const given_away = status === 'zero' || status === 'dead'
  const note = given_away ? 'No owner does not rule out roles, minters, or a lock that gives ownership back.' : null
  return { ...answer, account_kind: status === 'address' && address !== null ? kindOf(address) : null, note }
}
