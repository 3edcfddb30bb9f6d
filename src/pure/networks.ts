import type { Fraction } from './market/fraction.ts'

/** Known token, with its address in EIP-55 form. */
interface KnownToken {
  readonly symbol: string
  readonly decimals: number
  readonly address: `0x${string}`
  /** Supports EIP-3009 authorizations, whose nonce can identify an invoice. */
  readonly eip3009: boolean
}

/** Token that payments are made in: name and version of its EIP-712 domain, and its address. It has six decimals. */
interface PaymentToken {
  readonly name: string
  readonly version: string
  readonly address: `0x${string}`
}

/** Properties of a network. */
export interface Network {
  readonly chain_id: number
  /** Display name. */
  readonly name: string
  /**
   * The name in x402 version 1; later versions use CAIP-2. Null where x402 1.2.0 has none: its clients reject terms with an entry whose
   * network they do not know.
   */
  readonly v1_name: string | null
  /** Origin of a block explorer, whose pages of transactions are /tx/{hash}. */
  readonly explorer_url: string
  /** Its tokens have no value. */
  readonly is_testnet: boolean
  /** May be the network of invoices, payment channels and chain facts (ASSAY_CHAIN_ID); all can be further networks of paid calls. */
  readonly is_primary: boolean
  /** Name and version as the contract returns them; an EIP-712 signature over other values fails without an error. */
  readonly usdc: PaymentToken
  /** Null where Circle does not issue it. */
  readonly eurc: PaymentToken | null
  /** Other tokens that payers send by mistake, identified by address, because names can be copied. */
  readonly other_tokens: readonly KnownToken[]
  readonly gas: NetworkGas
}

/** Coin that pays for gas, and defaults of a gas wallet. */
interface NetworkGas {
  readonly coin: string
  /** Id of the coin in the table of symbols. */
  readonly coin_asset_id: string
  /** Price that the coin has not been below for years; assumed while no price is known. */
  readonly lowest_usd: Fraction
  /** Maximum cost of a UTC day, and maximum fee for a unit of gas. */
  readonly daily_wei: bigint
  readonly max_fee_wei: bigint
}

const WETH: KnownToken = { symbol: 'WETH', decimals: 18, address: '0x4200000000000000000000000000000000000006', eip3009: false }

const ETHER: NetworkGas = {
  coin: 'ETH',
  coin_asset_id: 'ethereum',
  lowest_usd: { numerator: 50n, denominator: 1n },
  daily_wei: 50_000_000_000_000_000n,
  max_fee_wei: 100_000_000_000n,
}
/** Base fees of Polygon are hundreds of gwei when it is busy, of a coin that is worth less than a dollar. */
const POL: NetworkGas = {
  coin: 'POL',
  coin_asset_id: 'polygon-ecosystem-token',
  lowest_usd: { numerator: 2n, denominator: 100n },
  daily_wei: 50_000_000_000_000_000_000n,
  max_fee_wei: 2_000_000_000_000n,
}
const AVAX: NetworkGas = {
  coin: 'AVAX',
  coin_asset_id: 'avalanche-2',
  lowest_usd: { numerator: 2n, denominator: 1n },
  daily_wei: 5_000_000_000_000_000_000n,
  max_fee_wei: 300_000_000_000n,
}

/** Networks other than Base: nothing but paid calls. */
const FURTHER = { is_primary: false, other_tokens: [] } as const

/**
 * Supported networks. The first is the default of live deployments, the first testnet that of sandboxes. USDC and EURC: Circle, "USDC
 * contract addresses" and "EURC contract addresses", 2026-11-21, as in viem 2 (`viem/tokens`). Domains: default assets of @x402/evm 2.27.0
 * and x402 1.2.0; those that they lack (Optimism, the Sepolia testnets and EURC) as published, and every domain is compared with the
 * DOMAIN_SEPARATOR of the contract before a token is offered. USDbC (bridged USDC), USDT (bridged) and WETH: Base token list and the
 * predeploys of the OP Stack, 2026-11-21.
 */
export const NETWORKS: readonly [Network, ...Network[]] = [
  {
    chain_id: 8453,
    name: 'Base',
    v1_name: 'base',
    explorer_url: 'https://basescan.org',
    is_testnet: false,
    is_primary: true,
    usdc: { name: 'USD Coin', version: '2', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    eurc: { name: 'EURC', version: '2', address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' },
    other_tokens: [
      { symbol: 'EURC', decimals: 6, address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', eip3009: true },
      { symbol: 'USDbC', decimals: 6, address: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', eip3009: false },
      { symbol: 'USDT', decimals: 6, address: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', eip3009: false },
      WETH,
    ],
    gas: ETHER,
  },
  {
    chain_id: 84532,
    name: 'Base Sepolia',
    v1_name: 'base-sepolia',
    explorer_url: 'https://sepolia.basescan.org',
    is_testnet: true,
    is_primary: true,
    usdc: { name: 'USDC', version: '2', address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    eurc: { name: 'EURC', version: '2', address: '0x808456652fdb597867f38412077A9182bf77359F' },
    other_tokens: [{ symbol: 'EURC', decimals: 6, address: '0x808456652fdb597867f38412077A9182bf77359F', eip3009: true }, WETH],
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 1,
    name: 'Ethereum',
    v1_name: null,
    explorer_url: 'https://etherscan.io',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
    eurc: { name: 'Euro Coin', version: '2', address: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c' },
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 11155111,
    name: 'Ethereum Sepolia',
    v1_name: null,
    explorer_url: 'https://sepolia.etherscan.io',
    is_testnet: true,
    usdc: { name: 'USDC', version: '2', address: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238' },
    eurc: { name: 'EURC', version: '2', address: '0x08210F9170F89Ab7658F0B5E3fF39b0E03C594D4' },
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 42161,
    name: 'Arbitrum One',
    v1_name: null,
    explorer_url: 'https://arbiscan.io',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' },
    eurc: null,
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 421614,
    name: 'Arbitrum Sepolia',
    v1_name: null,
    explorer_url: 'https://sepolia.arbiscan.io',
    is_testnet: true,
    usdc: { name: 'USD Coin', version: '2', address: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d' },
    eurc: null,
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 10,
    name: 'OP Mainnet',
    v1_name: null,
    explorer_url: 'https://optimistic.etherscan.io',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85' },
    eurc: null,
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 11155420,
    name: 'OP Sepolia',
    v1_name: null,
    explorer_url: 'https://sepolia-optimism.etherscan.io',
    is_testnet: true,
    usdc: { name: 'USDC', version: '2', address: '0x5fd84259d66Cd46123540766Be93DFE6D43130D7' },
    eurc: null,
    gas: ETHER,
  },
  {
    ...FURTHER,
    chain_id: 137,
    name: 'Polygon',
    v1_name: 'polygon',
    explorer_url: 'https://polygonscan.com',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' },
    eurc: null,
    gas: POL,
  },
  {
    ...FURTHER,
    chain_id: 80002,
    name: 'Polygon Amoy',
    v1_name: 'polygon-amoy',
    explorer_url: 'https://amoy.polygonscan.com',
    is_testnet: true,
    usdc: { name: 'USDC', version: '2', address: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582' },
    eurc: null,
    gas: POL,
  },
  {
    ...FURTHER,
    chain_id: 43114,
    name: 'Avalanche',
    v1_name: 'avalanche',
    explorer_url: 'https://snowtrace.io',
    is_testnet: false,
    usdc: { name: 'USD Coin', version: '2', address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E' },
    eurc: { name: 'Euro Coin', version: '2', address: '0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD' },
    gas: AVAX,
  },
  {
    ...FURTHER,
    chain_id: 43113,
    name: 'Avalanche Fuji',
    v1_name: 'avalanche-fuji',
    explorer_url: 'https://testnet.snowtrace.io',
    is_testnet: true,
    usdc: { name: 'USD Coin', version: '2', address: '0x5425890298aed601595a70AB815c96711a31Bc65' },
    eurc: { name: 'EURC', version: '2', address: '0x5E44db7996c682E92a960b65AC713a54AD815c6B' },
    gas: AVAX,
  },
]

/** Networks that can be the one of the deployment; the others are further networks of paid calls. */
export const PRIMARY_NETWORKS: readonly Network[] = NETWORKS.filter(({ is_primary }) => is_primary)

/** Returns the CAIP-19 id of an ERC-20 token (namespaces eip155 and erc20 of CASA), with the address in lower case. */
export function assetId(chain_id: number, address: string): string {
  return `eip155:${chain_id}/erc20:${address.toLowerCase()}`
}

/** Returns the network of a CAIP-19 id in CAIP-2; null for null. */
export function assetNetwork(asset: string | null): string | null {
  return asset === null ? null : asset.slice(0, asset.indexOf('/'))
}

/** Returns the address of the token of a CAIP-19 id. */
export function assetToken(asset: string): string {
  return asset.slice(asset.indexOf(':', asset.indexOf('/')) + 1)
}

/** Tokens that calls are paid in; both have six decimals. */
export type Currency = 'USDC' | 'EURC'

const EURC_ASSETS: ReadonlySet<string> = new Set(
  NETWORKS.flatMap(({ chain_id, eurc }) => (eurc === null ? [] : [assetId(chain_id, eurc.address)])),
)

/** Returns the currency of a payment by its CAIP-19 id; null is USDC on the network of the deployment. */
export function currencyOf(asset: string | null): Currency {
  return asset !== null && EURC_ASSETS.has(asset) ? 'EURC' : 'USDC'
}

export function networkOf(chain_id: number): Network | null {
  return NETWORKS.find((network) => network.chain_id === chain_id) ?? null
}

/** A network on which calls can be paid in addition to that of the deployment. */
export interface FurtherNetwork {
  chain_id: number
  rpc_urls: readonly string[]
  /** Empty: the gas wallets of the deployment; without any, facilitators settle. */
  gas_key_file: string
  gas_daily_wei: bigint
  /** Blocks after which a payment is final; null: those that the node marks as finalized. */
  confirmations: number | null
}
