import { tokenText } from '../chain/token-amount.ts'

/** Other money that payers send by mistake where USDC was asked for. Only tokens that are known by address: a name proves nothing. */
interface KnownAsset {
  symbol: string
  decimals: number
  /** 0x-prefixed lower-case hex. */
  address: string
  /** Has authorizations of EIP-3009, whose nonce can name an invoice. */
  eip3009: boolean
}

/**
 * Base (8453) and Base Sepolia (84532). EURC: Circle, "EURC contract addresses", 2026-11-21. USDbC (bridged USDC), USDT (bridged) and WETH: Base
 * token list and the predeploys of the OP Stack, 2026-11-21.
 */
const KNOWN: Readonly<Record<number, readonly KnownAsset[]>> = {
  8453: [
    { symbol: 'EURC', decimals: 6, address: '0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42', eip3009: true },
    { symbol: 'USDbC', decimals: 6, address: '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca', eip3009: false },
    { symbol: 'USDT', decimals: 6, address: '0xfde4c96c8593536e31f229ea8f37b2ada2699bb2', eip3009: false },
    { symbol: 'WETH', decimals: 18, address: '0x4200000000000000000000000000000000000006', eip3009: false },
  ],
  84532: [
    { symbol: 'EURC', decimals: 6, address: '0x808456652fdb597867f38412077a9182bf77359f', eip3009: true },
    { symbol: 'WETH', decimals: 18, address: '0x4200000000000000000000000000000000000006', eip3009: false },
  ],
}

export function otherTokens(chain_id: number): readonly KnownAsset[] {
  return KNOWN[chain_id] ?? []
}

/** CAIP-19 of a token, and of the chain's own coin (SLIP-44 number 60). */
export function tokenAsset(chain_id: number, address: string): string {
  return `eip155:${chain_id}/erc20:${address}`
}
export function coinAsset(chain_id: number): string {
  return `eip155:${chain_id}/slip44:60`
}

const COIN = { symbol: 'ETH', decimals: 18 } as const

/** An amount of an asset as people read it. */
export function knownAs(asset: string, amount: bigint): { symbol: string | null; amount: string | null; amount_smallest: string } {
  const [chain = '', name = ''] = asset.split('/')
  const address = name.replace('erc20:', '')
  const token = KNOWN[Number.parseInt(chain.slice('eip155:'.length), 10)]?.find((one) => one.address === address)
  const found = name === 'slip44:60' ? COIN : (token ?? null)
  const words = found === null ? { symbol: null, amount: null } : { symbol: found.symbol, amount: tokenText(amount, found.decimals) }
  return { ...words, amount_smallest: amount.toString() }
}
