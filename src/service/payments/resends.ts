import type { Clock } from '../../ports/clock.ts'
import type { Payment, PaymentKey } from '../../ports/payments.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Sealer } from '../../ports/sealer.ts'
import { widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import type { Mismatches } from './mismatches.ts'
import type { SignIn } from './sign-in.ts'

/**
 * Access to the answer of a payment that was sent before. From its settlement on, the authorization and its signature can be read from the
 * chain, so the payment header alone proves nothing: the resend must come from the client network of the first request, within a day, or
 * bring a secret that was never on chain.
 */

/** Secrets that a request may bring beside its payment. */
export interface ResendSecrets {
  /** Answer token of an earlier PAYMENT_PENDING answer; null when none was sent. */
  answer_token: string | null
  /** Value of the SIGN-IN-WITH-X header; null when none was sent. */
  sign_in: string | null
}

export const NO_SECRETS: ResendSecrets = { answer_token: null, sign_in: null }

/** A resend as far as its right to the answer goes. */
export interface Resend extends ResendSecrets {
  address: string
  /** Client under which mismatches are counted. */
  client: string
  /** payment-identifier id of the payment. */
  identifier: string | null
}

export interface ResendParts {
  sealer: Sealer
  clock: Clock
  mismatches: Mismatches
  signIn: SignIn
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
}

/** Whether the authorization may have left this deployment, so that others can know it. */
export function isExposed({ state }: Payment): boolean {
  return state !== 'claimed' && state !== 'prepared' && state !== 'released'
}

/** Text that names a payment: the context of its sealed answer and its answer token. */
export function contextOf({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/** Digest under which the store finds a payment by its answer token. */
export function tokenHash({ crypto }: Pick<ResendParts, 'crypto'>, token: string): string {
  return crypto.keccak256Hex(token)
}

/** Keyed hashes of the first request, stored with its claim. Bound to the payment, so that two payments cannot be linked by them. */
export function resendHashes(sealer: Sealer, key: PaymentKey, address: string, identifier: string | null) {
  return { network_hash: networkHash(sealer, key, address), identifier_hash: identifier && identifierHash(sealer, key, identifier) }
}

function networkHash(sealer: Sealer, key: PaymentKey, address: string): string {
  return sealer.token(`client network|${contextOf(key)}|${widerNetwork(address)}`)
}

function identifierHash(sealer: Sealer, key: PaymentKey, identifier: string): string {
  return sealer.token(`payment identifier|${contextOf(key)}|${identifier}`)
}

/**
 * Right of a resend to learn about the request that the payment is bound to. `limited`: this client named too many wrong secrets or inputs
 * within the hour; the right input is refused then too, since a limit on wrong guesses alone would limit nothing.
 */
export async function accessOf(parts: ResendParts, found: Payment, resend: Resend): Promise<'granted' | 'refused' | 'limited'> {
  const { sealer, mismatches } = parts
  const { answer_token, identifier, sign_in, client } = resend
  if (answer_token !== null && tokenHash(parts, answer_token) === tokenHash(parts, sealer.token(contextOf(found)))) return 'granted'
  if (await mismatches.exhausted(found, client)) return 'limited'
  const is_recent = parts.clock.now_ms() < found.created_ms + limits.answer_kept_ms
  if (is_recent && networkHash(sealer, found, resend.address) === found.network_hash) return 'granted'
  if (identifier !== null && identifierHash(sealer, found, identifier) === found.identifier_hash) return 'granted'
  if (sign_in !== null && (await parts.signIn.accepts(found, sign_in))) return 'granted'
  if (answer_token === null && identifier === null && sign_in === null) return 'refused'
  return (await mismatches.add(found, client)) ? 'refused' : 'limited'
}
