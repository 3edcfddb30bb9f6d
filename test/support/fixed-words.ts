/** A number as the 32 bytes of an ABI word. */
export function word(value: bigint | string): string {
  return BigInt(value).toString(16).padStart(64, '0')
}

/** A string as a call returns it. */
export function abiString(text: string): string {
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
    [NAME]: abiString(facts.name),
    [SYMBOL]: abiString(facts.symbol),
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

/** name, symbol, decimals, and the six functions that EIP-20 demands. */
export const ERC20 = ['06fdde03', '95d89b41', '313ce567', '18160ddd', '70a08231', 'a9059cbb', '23b872dd', '095ea7b3', 'dd62ed3e']
