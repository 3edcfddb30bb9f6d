import { readFileSync } from 'node:fs'
import { parseAbi, type Abi, type Hex } from 'viem'

/** A compiled contract as `data/contracts/` holds it, its interface read by viem. */
export function contract(
  name: 'test-usdc' | 'batch-settler' | 'deposit-factory' | 'channel-settlement' | 'test-wallet' | 'test-wallet-factory',
): {
  abi: Abi
  bytecode: Hex
} {
  const file = new URL(`../../data/contracts/${name}.json`, import.meta.url)
  const { abi, creation_code } = JSON.parse(readFileSync(file, 'utf8')) as { abi: string[]; creation_code: Hex }
  return { abi: parseAbi<readonly string[]>(abi), bytecode: creation_code }
}
