/**
 * USDC on the chains that a deployment can serve, by chain id. Addresses: Circle, "USDC contract addresses". Names and versions are
 * those that the contracts themselves return from `name()` and `version()`; an EIP-712 signature over any other fails silently.
 */
const USDC = {
  8453: { chain_id: 8453, network: 'base', name: 'USD Coin', version: '2', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  84532: { chain_id: 84532, network: 'base-sepolia', name: 'USDC', version: '2', address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
} as const

type UsdcToken = (typeof USDC)[keyof typeof USDC]

export const USDC_DECIMALS = 6

/** The token on a chain. Throws for a chain that no deployment can be set to. */
export function usdcOn(chain_id: number): UsdcToken {
  const token = Object.values(USDC).find((candidate) => candidate.chain_id === chain_id)
  if (token === undefined) throw new Error(`no USDC is known on chain ${chain_id}`)
  return token
}

/** An amount as people write it: 5000 minor units are "0.005", 49000000 are "49.00". */
export function usdcText(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(USDC_DECIMALS + 1, '0')
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -USDC_DECIMALS)}.${fraction}`
}
