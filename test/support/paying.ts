import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import { inTurn } from './in-turn.ts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { restCall } from './app.ts'
import { authorization, transferTypes, type Authorization } from './authorization.ts'
import { mint, SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'

/** Paying as a stranger would: from the terms of a 402 alone, signed by viem. */

interface Entry {
  scheme: string
  network: string
  amount: string
  asset: Hex
  payTo: Hex
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}

export interface Required {
  x402Version: 2
  error: string
  resource: { url: string }
  accepts: [Entry]
}

export interface Signed {
  message: Authorization
  signature: Hex
  /** Value of PAYMENT-SIGNATURE, and of X-PAYMENT. */
  v2: string
  v1: string
}

/** The terms of a call; the client must have no free calls left. */
export async function termsOf(url: string, tool: string, input: unknown): Promise<Required> {
  const { status, headers } = await restCall(url, tool, input)
  if (status !== 402) throw new Error(`expected 402, met ${status}`)
  return readRequired(headers.get('payment-required') ?? '')
}

export function readRequired(header: string): Required {
  return JSON.parse(Buffer.from(header, 'base64').toString()) as Required
}

export function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Signs the terms; `change` makes the authorization differ from what they ask for, before it is signed. */
export async function signTerms(payer: PrivateKeyAccount, required: Required, change: Partial<Authorization> = {}): Promise<Signed> {
  const [entry] = required.accepts
  const valid_before = BigInt(Math.floor(Date.now() / 1_000) + entry.maxTimeoutSeconds)
  const asked = authorization(payer.address, entry.payTo, BigInt(entry.amount), { validBefore: valid_before })
  const message = { ...asked, ...change }
  const domain = { ...entry.extra, chainId: Number(entry.network.split(':')[1]), verifyingContract: entry.asset }
  const signature = await payer.signTypedData({ domain, types: transferTypes, primaryType: 'TransferWithAuthorization', message })
  return { message, signature, ...headersOf(required, message, signature) }
}

/** Both headers for an authorization and a signature, whatever they are. */
export function headersOf(required: Required, message: Authorization, signature: Hex): { v1: string; v2: string } {
  const [entry] = required.accepts
  const { from, to, nonce } = message
  const numbers = { value: String(message.value), validAfter: String(message.validAfter), validBefore: String(message.validBefore) }
  const payload = { signature, authorization: { from, to, nonce, ...numbers } }
  const network = entry.network === 'eip155:8453' ? 'base' : 'base-sepolia'
  return {
    v1: base64({ x402Version: 1, scheme: 'exact', network, payload }),
    v2: base64({ x402Version: 2, resource: required.resource, accepted: entry, payload }),
  }
}

/** A new account that holds this much of the test token. The chain must mine by itself. */
export async function fundedPayer(rpc_url: string, token: string, balance_minor = 1_000_000n): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await fund(rpc_url, token, payer.address, balance_minor)
  return payer
}

export async function fund(rpc_url: string, token: string, account: string, amount_minor: bigint): Promise<void> {
  await rpcRequest(rpc_url)('anvil_impersonateAccount', [SANDBOX_OWNER])
  await inTurn(SANDBOX_OWNER, () => mint(rpc_url, token, account, amount_minor))
}

/** What an account holds of the token, as the chain has it. */
export async function held(rpc_url: string, token: string, account: string): Promise<bigint> {
  const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(String(await rpcRequest(rpc_url)('eth_call', [{ to: token, data }, 'latest'])))
}

/** The same payment with a payment-identifier id, as the official clients write it. */
export function withIdentifier(header: string, id: string): Record<string, string> {
  const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as object
  return { 'payment-signature': base64({ ...payment, extensions: { 'payment-identifier': { info: { required: false, id } } } }) }
}
