/** The token in which a sum of a currency can be settled on chain. */
export interface SettlementToken {
  symbol: string
  chain_id: number
  /** EIP-55 form. */
  address: string
  decimals: number
}

/** Circle, "USDC contract addresses" and "EURC contract addresses": Base, chain id 8453. */
const TOKENS: ReadonlyMap<string, SettlementToken> = new Map([
  ['USD', { symbol: 'USDC', chain_id: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 }],
  ['EUR', { symbol: 'EURC', chain_id: 8453, address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', decimals: 6 }],
])

/** The token of a current currency by its letters; null for all but US dollar and euro. A token is not the currency itself. */
export function settlementToken(alpha: string): SettlementToken | null {
  const token = TOKENS.get(alpha)
  return token === undefined ? null : { ...token }
}
