import { NETWORKS } from '../networks.ts'
import { AUTHORIZATION_COLLECTOR, CHANNEL_SETTLEMENT } from '../payments/channels.ts'
import { BATCH_SETTLER, DEPOSIT_FACTORY, DEPOSIT_IMPLEMENTATION, DETERMINISTIC_DEPLOYER } from './deployment.ts'

/** Addresses that cannot be the recipient of a payment, because money sent there is lost or is not the recipient's. */

/** Addresses without a known key, to which people send what is to be destroyed. */
const BURN = new Set([
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
  `0x${'f'.repeat(40)}`,
])

/** Placeholder for the coin of a chain in interfaces of exchanges. */
const COIN_PLACEHOLDER = `0x${'e'.repeat(40)}`

/** Precompiles have small numbers: 0x01 to 0x11 on Ethereum, 0x100 for P-256; chains reserve the range up to here. */
const LAST_RESERVED = 0xffffn

/** System contracts of the OP Stack, which Base and Optimism have: 0x4200000000000000000000000000000000000000 and the next 2,048. */
const OP_STACK = /^0x4200000000000000000000000000000000000[0-7][0-9a-f]{2}$/

/** Contracts of x402 and of this service, and others that every chain has under one address. In lower case. */
const CONTRACTS = new Map<string, string>([
  [DEPOSIT_FACTORY.address, 'the factory of deposit addresses'],
  [DEPOSIT_IMPLEMENTATION, 'the contract behind deposit addresses'],
  [BATCH_SETTLER.address, 'the contract that settles payments in batches'],
  [CHANNEL_SETTLEMENT, 'the settlement contract of payment channels (x402 batch-settlement)'],
  [AUTHORIZATION_COLLECTOR, 'the ERC-3009 deposit collector of payment channels (x402 batch-settlement)'],
  ['0x4020425faf3b746c082c2f942b4e5159887b0005', 'the Permit2 deposit collector of payment channels (x402 batch-settlement)'],
  ['0x402085c248eea27d92e8b30b2c58ed07f9e20001', 'the exact Permit2 proxy of x402'],
  ['0x4020615294c913f045dc10f0a5cdebd86c280001', 'the exact Permit2 proxy of x402'],
  ['0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002', 'the upto Permit2 proxy of x402'],
  ['0x4020633461b2895a48930ff97ee8fcde8e520002', 'the upto Permit2 proxy of x402'],
  [DETERMINISTIC_DEPLOYER, 'the deterministic deployment proxy'],
  ['0x000000000022d473030f116ddee9f6b43ac78ba3', 'the Permit2 contract'],
  ['0xca11bde05977b3631167028862be2a173976ca11', 'the Multicall3 contract'],
])

/** Token contracts of the supported networks, which cannot return what they hold. */
const TOKENS = new Map<string, string>()
for (const { name, usdc, eurc, other_tokens } of NETWORKS) {
  const tokens = [{ symbol: 'USDC', ...usdc }, ...(eurc === null ? [] : [{ symbol: 'EURC', ...eurc }]), ...other_tokens]
  for (const { symbol, address } of tokens) TOKENS.set(address.toLowerCase(), `the ${symbol} contract on ${name}`)
}

export interface UnpayableAddress {
  kind: 'zero' | 'burn' | 'placeholder' | 'reserved' | 'token' | 'contract'
  /** Noun phrase, which completes "X is …". */
  name: string
}

/** Returns the name of an address that no payment may go to; null for one that may be an account or a wallet. `token` is a further token contract. */
export function unpayableAddress(given: string, token?: string): UnpayableAddress | null {
  const address = given.toLowerCase()
  if (/^0x0{40}$/.test(address)) return { kind: 'zero', name: 'the zero address, which has no known key' }
  if (BURN.has(address)) return { kind: 'burn', name: 'a burn address, which has no known key' }
  if (address === COIN_PLACEHOLDER) return { kind: 'placeholder', name: 'the placeholder for the coin of a chain, which has no known key' }
  if (BigInt(address) <= LAST_RESERVED)
    return { kind: 'reserved', name: `number 0x${BigInt(address).toString(16)} of the addresses that chains reserve for precompiles` }
  const token_name = TOKENS.get(address) ?? (address === token?.toLowerCase() ? 'the token contract' : undefined)
  if (token_name !== undefined) return { kind: 'token', name: token_name }
  const name = CONTRACTS.get(address) ?? (OP_STACK.test(address) ? `the system contract ${address} of the OP Stack` : undefined)
  return name === undefined ? null : { kind: 'contract', name }
}

/** Names the field, what was found, and what to give in its place. */
export function unpayableText(field: string, address: string, { name }: UnpayableAddress): string {
  return `${field} is ${address}, ${name}: money sent there is lost. Expected the address of an account or a wallet of the recipient.`
}
