import { addressWord } from '../payments/abi.ts'
import { callRead, firstWord, type StateRead, type StateResult, type StateResults } from './state-reads.ts'
import { readTokenText } from './token-text.ts'

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
  const name = text(results, 'name', errors)
  const symbol = text(results, 'symbol', errors)
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

function text(results: StateResults, field: string, errors: Record<string, MetadataError>) {
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
