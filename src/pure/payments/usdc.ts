import { networkOf } from '../networks.ts'

export const USDC_DECIMALS = 6

/** USDC on one chain; `network` is the name of the chain in x402 version 1, in CAIP-2 where it has none. */
export interface UsdcToken {
  chain_id: number
  network: string
  name: string
  version: string
  /** EIP-55 form. */
  address: `0x${string}`
}

/** Returns the token on a chain. Throws for a chain that assay does not support. */
export function usdcOn(chain_id: number): UsdcToken {
  const found = networkOf(chain_id)
  if (found === null) throw new Error(`no USDC is known on chain ${chain_id}`)
  return { chain_id, network: found.v1_name ?? `eip155:${chain_id}`, ...found.usdc }
}

/** Formats an amount for people, with at least two decimals: 5000 minor units are "0.005", 49000000 are "49.00". */
export function usdcText(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(USDC_DECIMALS + 1, '0')
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -USDC_DECIMALS)}.${fraction}`
}

/** Formats an amount for JSON and machines, without trailing zeros: 5000 minor units are "0.005", 49000000 are "49". */
export function usdcDecimal(amount_minor: bigint): string {
  const digits = amount_minor.toString().padStart(USDC_DECIMALS + 1, '0')
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0+$/, '')
  return digits.slice(0, -USDC_DECIMALS) + (fraction === '' ? '' : `.${fraction}`)
}
