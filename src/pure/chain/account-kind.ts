/** EIP-7702 (2024): the code of an account with a key that lends itself the code of a contract. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/

/** `eoa` has a key and no code, `delegated_eoa` has a key and borrows code, `empty` was never used as far as the chain shows. */
export type AccountKind = 'empty' | 'eoa' | 'delegated_eoa' | 'contract'

export interface AccountState {
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

/** Whose code a delegated account runs; null for all others. */
export function delegateOf(code: string): string | null {
  const target = DELEGATION.exec(code)?.[1]
  return target === undefined ? null : `0x${target}`
}
