import type { FixedAccount, FixedTransfer } from './fixed-chain.ts'

/** Who lives on the fixed chain. */
export const FIXED = {
  /** 1.5 ether, nonce 7, 12.345678 of the token. */
  person: '0x1000000000000000000000000000000000000001',
  /** Nothing was ever done with it. */
  nobody: '0x1000000000000000000000000000000000000002',
  /** Circle's published address of USDC on Base Sepolia: 6 decimals. */
  usdc: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  /** A token that reverts when asked for its decimals. */
  no_decimals: '0x2000000000000000000000000000000000000001',
} as const

/** A number as the 32 bytes of an ABI word. */
export function word(value: bigint | string): string {
  return BigInt(value).toString(16).padStart(64, '0')
}

/** A string as a call returns it. */
export function textWord(text: string): string {
  const bytes = Buffer.from(text, 'utf8')
  const padded = bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0')
  return `0x${word(32n)}${word(BigInt(bytes.length))}${padded}`
}

/** Selectors of ERC-20 (EIP-20, 2015). */
const NAME = '0x06fdde03'
const SYMBOL = '0x95d89b41'
const DECIMALS = '0x313ce567'
const TOTAL_SUPPLY = '0x18160ddd'
const BALANCE_OF = '0x70a08231'

/** Answers of a token: balances by holder, zero for everybody else. */
export function tokenCalls(facts: { name: string; symbol: string; decimals: bigint; supply: bigint; balances: Record<string, bigint> }) {
  const held = Object.entries(facts.balances).map(([holder, amount]) => [`${BALANCE_OF}${word(holder)}`, `0x${word(amount)}`])
  return {
    [NAME]: textWord(facts.name),
    [SYMBOL]: textWord(facts.symbol),
    [DECIMALS]: `0x${word(facts.decimals)}`,
    [TOTAL_SUPPLY]: `0x${word(facts.supply)}`,
    [BALANCE_OF]: `0x${word(0n)}`,
    ...Object.fromEntries(held),
  }
}

/** A dispatcher with these selectors, as Solidity writes one: each sends to the revert at the end. */
export function dispatcher(selectors: readonly string[]): string {
  const head = '5f3560e01c'
  const end = (head.length / 2 + selectors.length * 11).toString(16).padStart(4, '0')
  return `0x${head}${selectors.map((one) => `8063${one}1461${end}57`).join('')}5b5f5ffd`
}

const ERC20 = ['06fdde03', '95d89b41', '313ce567', '18160ddd', '70a08231', 'a9059cbb', '23b872dd', '095ea7b3', 'dd62ed3e']
const USDC = { name: 'USDC', symbol: 'USDC', decimals: 6n, supply: 400_000_000_000_000n, balances: { [FIXED.person]: 12_345_678n } }

export const FIXED_ACCOUNTS: Readonly<Record<string, FixedAccount>> = {
  [FIXED.person]: { balance_wei: 1_500_000_000_000_000_000n, nonce: 7 },
  [FIXED.usdc]: { code: dispatcher(ERC20), nonce: 1, calls: tokenCalls(USDC) },
  [FIXED.no_decimals]: {
    code: dispatcher(ERC20),
    nonce: 1,
    calls: { ...tokenCalls({ ...USDC, name: 'Undecided', symbol: 'UND' }), [DECIMALS]: { revert: '0x' } },
  },
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
