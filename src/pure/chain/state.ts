import { type EvmAddress, readEvmAddress } from '../checks/evm-address.ts'
import { decodeUint } from '../payments/token-calls.ts'
import { DECIMALS_MAX, tokenText } from './token-amount.ts'

/** Answer of a node to a call or a read of state. */
type Said = { ok: true; data: string } | { ok: false; revert: string; message: string }

/** An address that a schema has let through. Throws for any other text. */
export function givenAddress(text: string): EvmAddress {
  const read = readEvmAddress(text)
  if (read === null) throw new RangeError('not an address')
  return read
}

/** Code, or a word of storage. Throws where there is none: state is always there, so that would be a fault of ours. */
export function bytesOf(said: Said | undefined): string {
  if (said?.ok !== true) throw new TypeError('a read of state came without a result')
  return said.data
}

/** A balance or an account nonce; throws as bytesOf does. */
export function quantityOf(said: Said | undefined): bigint {
  return BigInt(bytesOf(said))
}

/** decimals(), EIP-20. */
export const DECIMALS_CALL = '0x313ce567'

/**
 * `not_a_contract`: there is no code at the address. `reverted`: the contract refused. `malformed`: it did not return a number of this
 * kind. Only `ok` has a number.
 */
type ReadStatus = 'ok' | 'not_a_contract' | 'reverted' | 'malformed'

interface TokenBalance {
  status: ReadStatus
  /** In the smallest unit. */
  raw: bigint | null
  on_chain_decimals: number | null
  decimals_status: ReadStatus
}

/** Reads off what balanceOf() and decimals() returned, given the code that answered. Never guesses decimals. */
export function tokenBalance(code: Said | undefined, balance: Said | undefined, decimals: Said | undefined): TokenBalance {
  const empty = code?.ok === true && code.data === '0x'
  const held = uintOf(balance, empty)
  const places = uintOf(decimals, empty)
  const fits = places.value !== null && places.value <= BigInt(DECIMALS_MAX)
  return {
    status: held.status,
    raw: held.value,
    on_chain_decimals: fits ? Number(places.value) : null,
    decimals_status: places.status === 'ok' && !fits ? 'malformed' : places.status,
  }
}

/** The balance in whole tokens; null where the number or its decimals are not known. */
export function balanceText(raw: bigint | null, decimals: number | null): string | null {
  return raw === null || decimals === null ? null : tokenText(raw, decimals)
}

function uintOf(said: Said | undefined, empty: boolean): { status: ReadStatus; value: bigint | null } {
  if (empty) return { status: 'not_a_contract', value: null }
  if (said?.ok !== true) return { status: 'reverted', value: null }
  // Some contracts return more than the one word that the standard names; the first is the answer all the same (Solidity reads it so).
  const value = said.data.length >= 66 ? decodeUint(said.data.slice(0, 66)) : null
  return value === null ? { status: 'malformed', value: null } : { status: 'ok', value }
}

/** EIP-7702 (2024): the code of an account with a key that lends itself the code of a contract. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/

/** `eoa` has a key and no code, `delegated_eoa` has a key and borrows code, `empty` was never used as far as the chain shows. */
export type AccountKind = 'empty' | 'eoa' | 'delegated_eoa' | 'contract'

interface AccountState {
  /** Lower-case hex. */
  code: string
  nonce: bigint
  balance_wei: bigint
}

export function accountKind({ code, nonce, balance_wei }: AccountState): AccountKind {
  if (DELEGATION.test(code)) return 'delegated_eoa'
  if (code !== '0x') return 'contract'
  return nonce === 0n && balance_wei === 0n ? 'empty' : 'eoa'
}

/** Address whose code a delegated account runs; null for other accounts. */
export function delegateOf(code: string): string | null {
  const target = DELEGATION.exec(code)?.[1]
  return target === undefined ? null : `0x${target}`
}
