import { NETWORKS } from '../networks.ts'

/** The token in which a sum of a currency can be settled on chain. */
export interface SettlementToken {
  symbol: string
  chain_id: number
  /** EIP-55 form. */
  address: string
  decimals: number
}

const [MAIN] = NETWORKS
const EURC = MAIN.other_tokens.find(({ symbol }) => symbol === 'EURC')

const TOKENS: ReadonlyMap<string, SettlementToken> = new Map([
  ['USD', { symbol: 'USDC', chain_id: MAIN.chain_id, address: MAIN.usdc.address, decimals: 6 }],
  ...(EURC === undefined
    ? []
    : ([['EUR', { symbol: 'EURC', chain_id: MAIN.chain_id, address: EURC.address, decimals: EURC.decimals }]] as const)),
])

/** The token of a current currency by its letters; null for all but US dollar and euro. A token is not the currency itself. */
export function settlementToken(alpha: string): SettlementToken | null {
  const token = TOKENS.get(alpha)
  return token === undefined ? null : { ...token }
}
