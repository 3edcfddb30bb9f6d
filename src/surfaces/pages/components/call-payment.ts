import { isObject, objectsIn, type Members } from '../../../pure/is-object.ts'
import { requestObject } from '../client/json-request.ts'
import {
  DECLINED,
  isOnChain,
  requestAccount,
  signTypedData,
  switchChain,
  transferTypedData,
  UNKNOWN_CHAIN,
  walletErrorCode,
  type Wallet,
} from '../client/wallets.ts'

/** One entry of the terms of a 402 (x402 version 2, scheme "exact"), as far as a wallet needs it. */
export interface CallTerms extends WalletToken {
  amount_minor: string
  pay_to: string
  timeout_s: number
  /** EIP-712 domain of the token. */
  domain: { name: string; version: string }
  /** The entry itself, which a payment sends back. */
  accepted: Members
}

/** A payment as request headers, or why there is none. */
export type PaymentAttempt = { ok: true; headers: Record<string, string> } | { ok: false; message: string }

/** Token that a wallet can pay in, with names for people. */
export interface WalletToken {
  chain_id: number
  network_name: string
  currency: string
  /** Address of the contract. */
  asset: string
}

/** Reads the terms of a 402, one for each of these tokens that it offers; incomplete ones are left out. */
export function callTerms(required: Members, tokens: readonly WalletToken[]): CallTerms[] {
  return objectsIn(required['accepts']).flatMap((entry) => {
    const { scheme, network, asset } = entry
    const token = tokens.find(
      (known) => network === `eip155:${known.chain_id}` && String(asset).toLowerCase() === known.asset.toLowerCase(),
    )
    const terms = scheme !== 'exact' || token === undefined ? null : readTerms(entry, token)
    return terms === null ? [] : [terms]
  })
}

function readTerms(accepted: Members, token: WalletToken): CallTerms | null {
  const { amount, asset, payTo: pay_to, maxTimeoutSeconds: timeout_s, extra } = accepted
  if (
    !isObject(extra) ||
    typeof amount !== 'string' ||
    typeof asset !== 'string' ||
    typeof pay_to !== 'string' ||
    typeof timeout_s !== 'number'
  )
    return null
  const { name, version } = extra
  if (typeof name !== 'string' || typeof version !== 'string') return null
  return { ...token, asset, amount_minor: amount, pay_to, timeout_s, domain: { name, version }, accepted }
}

/** Pays with the test wallet of the sandbox, which the service itself signs for. */
export async function payByTestWallet(terms: CallTerms): Promise<PaymentAttempt> {
  const reply = await requestObject('/v1/sandbox/payment', { amount_minor: terms.amount_minor })
  if (reply === null) return { ok: false, message: 'The service could not be reached.' }
  return reply.ok ? { ok: true, headers: paymentHeader(terms, reply.body) } : { ok: false, message: String(reply.body['detail']) }
}

/** A credit code pays one call; each call has its own idempotency key. */
export function payByCredit(code: string): PaymentAttempt {
  const trimmed = code.trim()
  if (!/^[\x21-\x7e]{8,200}$/.test(trimmed)) return { ok: false, message: 'Enter the credit code as you received it, without spaces.' }
  return { ok: true, headers: { 'x-credit': trimmed, 'idempotency-key': crypto.randomUUID() } }
}

/** Asks a wallet of this browser for account, chain and signature: one transfer of exactly this amount (EIP-3009), no gas. */
export async function payByWallet(wallet: Wallet, terms: CallTerms): Promise<PaymentAttempt> {
  const { name } = wallet
  const { chain_id, asset, domain } = terms
  try {
    const payer = await requestAccount(wallet)
    if (payer === null) return { ok: false, message: `${name} gave no account.` }
    if (!(await isOnChain(wallet, chain_id))) await switchChain(wallet, chain_id)
    const authorization = {
      from: payer,
      to: terms.pay_to,
      value: terms.amount_minor,
      validAfter: '0',
      validBefore: String(Math.floor((performance.timeOrigin + performance.now()) / 1_000) + terms.timeout_s),
      nonce: randomNonce(),
    }
    const signature = await signTypedData(wallet, payer, transferTypedData({ ...domain, chain_id, token: asset }, authorization))
    if (signature === null) return { ok: false, message: didNotSign(name) }
    return { ok: true, headers: paymentHeader(terms, { authorization, signature }) }
  } catch (error) {
    return { ok: false, message: walletMessage(error, name, terms) }
  }
}

/** EIP-1193 and EIP-3085 error codes in words. */
function walletMessage(error: unknown, name: string, { network_name }: CallTerms): string {
  const code = walletErrorCode(error)
  if (code === DECLINED) return `You declined in ${name}; nothing was paid.`
  if (code === UNKNOWN_CHAIN) return `${name} does not know the network ${network_name}; add it there, then try again.`
  return didNotSign(name)
}

function didNotSign(name: string): string {
  return `${name} did not sign. Open it, unlock it, and try again.`
}

function randomNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function paymentHeader({ accepted }: CallTerms, payload: unknown): Record<string, string> {
  return { 'payment-signature': btoa(JSON.stringify({ x402Version: 2, accepted, payload })) }
}
