import { tokenText } from '../chain/token-amount.ts'
import { networkOf } from '../networks.ts'

/** Other money that payers send by mistake where USDC was asked for; addresses in lower case. */
export function otherTokens(chain_id: number) {
  return (networkOf(chain_id)?.other_tokens ?? []).map((token) => ({ ...token, address: token.address.toLowerCase() }))
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
  const token = otherTokens(Number.parseInt(chain.slice('eip155:'.length), 10)).find((one) => one.address === address)
  const found = name === 'slip44:60' ? COIN : (token ?? null)
  const words = found === null ? { symbol: null, amount: null } : { symbol: found.symbol, amount: tokenText(amount, found.decimals) }
  return { ...words, amount_smallest: amount.toString() }
}
