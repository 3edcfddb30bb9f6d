import { decodeUint } from '../payments/abi.ts'
import type { Said } from './state.ts'
import { DECIMALS_MAX, tokenText } from './token-amount.ts'

/** decimals(), EIP-20. */
export const DECIMALS_CALL = '0x313ce567'

/**
 * `not_a_contract`: there is no code at the address. `reverted`: the contract refused. `malformed`: it returned what is no such number.
 * `ok` is the only one with a number.
 */
type ReadStatus = 'ok' | 'not_a_contract' | 'reverted' | 'malformed'

export interface TokenBalance {
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
