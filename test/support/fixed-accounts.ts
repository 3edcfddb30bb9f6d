import type { FixedAccount, FixedTransfer } from './fixed-chain.ts'
import { tokenAccounts } from './fixed-tokens.ts'
import { dispatcher, ERC20, tokenCalls } from './fixed-words.ts'

/** Who lives on the fixed chain. */
const FIXED = {
  /** 1.5 ether, nonce 7, 12.345678 of the token. */
  person: '0x1000000000000000000000000000000000000001',
  /** Nothing was ever done with it. */
  nobody: '0x1000000000000000000000000000000000000002',
  /** Circle's published address of USDC on Base Sepolia: 6 decimals. */
  usdc: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  /** A token that reverts when asked for its decimals. */
  no_decimals: '0x2000000000000000000000000000000000000001',
} as const

const USDC = { name: 'USDC', symbol: 'USDC', decimals: 6n, supply: 400_000_000_000_000n, balances: { [FIXED.person]: 12_345_678n } }

export const FIXED_ACCOUNTS: Readonly<Record<string, FixedAccount>> = {
  [FIXED.person]: { balance_wei: 1_500_000_000_000_000_000n, nonce: 7 },
  [FIXED.usdc]: { code: dispatcher(ERC20), nonce: 1, calls: tokenCalls(USDC) },
  [FIXED.no_decimals]: {
    code: dispatcher(ERC20),
    nonce: 1,
    calls: { ...tokenCalls({ ...USDC, name: 'Undecided', symbol: 'UND' }), '0x313ce567': { revert: '0x' } },
  },
  ...tokenAccounts(FIXED.person),
}

function transfer(from: string, to: string, amount_minor: bigint, block_number: bigint): FixedTransfer {
  const transaction_hash = `0x${'f'.repeat(32)}${block_number.toString(16).padStart(32, '0')}`
  return { token: FIXED.usdc, transfer: { from, to, amount_minor, block_number, transaction_hash, log_index: 0 } }
}

const SHOP = '0x3000000000000000000000000000000000000001'
const EMPLOYER = '0x3000000000000000000000000000000000000002'

/** Two days of the person's USDC: 100 in, 7.5 and 0.01 out, and one transfer before the window. */
export const FIXED_TRANSFERS: readonly FixedTransfer[] = [
  transfer(EMPLOYER, FIXED.person, 5_000_000n, 19_000_000n),
  transfer(EMPLOYER, FIXED.person, 100_000_000n, 19_950_000n),
  transfer(FIXED.person, SHOP, 7_500_000n, 19_960_000n),
  transfer(FIXED.person, SHOP, 10_000n, 19_999_990n),
]
