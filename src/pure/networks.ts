/** Known token, with its address in EIP-55 form. */
interface KnownToken {
  readonly symbol: string
  readonly decimals: number
  readonly address: `0x${string}`
  /** Supports EIP-3009 authorizations, whose nonce can identify an invoice. */
  readonly eip3009: boolean
}

/** Properties of a network. */
export interface Network {
  readonly chain_id: number
  /** Display name. */
  readonly name: string
  /** The name in x402 version 1; later versions use CAIP-2. */
  readonly v1_name: string
  /** Origin of a block explorer, whose pages of transactions are /tx/{hash}. */
  readonly explorer_url: string
  /** Its tokens have no value. */
  readonly is_testnet: boolean
  /** Name and version as the contract returns them; an EIP-712 signature over other values fails without an error. */
  readonly usdc: { readonly name: string; readonly version: string; readonly address: `0x${string}` }
  /** Other tokens that payers send by mistake, identified by address, because names can be copied. */
  readonly other_tokens: readonly KnownToken[]
}

const WETH: KnownToken = { symbol: 'WETH', decimals: 18, address: '0x4200000000000000000000000000000000000006', eip3009: false }

/**
 * Supported networks. The first is the default of live deployments, the first testnet that of sandboxes. USDC and EURC: Circle, "USDC
 * contract addresses" and "EURC contract addresses", 2026-11-21. USDbC (bridged USDC), USDT (bridged) and WETH: Base token list and the
 * predeploys of the OP Stack, 2026-11-21.
 */
export const NETWORKS: readonly [Network, ...Network[]] = [
  {
    chain_id: 8453,
    name: 'Base',
    v1_name: 'base',
    explorer_url: 'https://basescan.org',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    other_tokens: [
      { symbol: 'EURC', decimals: 6, address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', eip3009: true },
      { symbol: 'USDbC', decimals: 6, address: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', eip3009: false },
      { symbol: 'USDT', decimals: 6, address: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', eip3009: false },
      WETH,
    ],
  },
  {
    chain_id: 84532,
    name: 'Base Sepolia',
    v1_name: 'base-sepolia',
    explorer_url: 'https://sepolia.basescan.org',
    is_testnet: true,
    usdc: { name: 'USDC', version: '2', address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    other_tokens: [{ symbol: 'EURC', decimals: 6, address: '0x808456652fdb597867f38412077A9182bf77359F', eip3009: true }, WETH],
  },
]

export function networkOf(chain_id: number): Network | null {
  return NETWORKS.find((network) => network.chain_id === chain_id) ?? null
}
