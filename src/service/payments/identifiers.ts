import type { Clock } from '../../ports/clock.ts'
import type { Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import type { Sealer } from '../../ports/signer.ts'
import { mayClaimAgain } from './payment-results.ts'
import { identifierHash } from './resends.ts'
import { mayStillExecute } from './settlement.ts'

/**
 * Ids of the x402 extension payment-identifier (specs/extensions/payment_identifier.md, read 2026-11-28): an id belongs to the first payment
 * of a payer that is claimed with it, for good, on all networks and for calls, vouchers and invoices alike. A payment that ended without a
 * charge gives its id back, so that a client can try again with a fresh authorization.
 */
interface IdentifierParts {
  store: Pick<PaymentStore, 'find_by_identifier' | 'free_identifier' | 'release'>
  sealer: Sealer
  clock: Clock
}

/** Returns the other payment that the id belongs to; null when the payment of `key` may have it. */
export async function identifierHolder(parts: IdentifierParts, { payer, nonce }: PaymentKey, identifier: string): Promise<Payment | null> {
  const holder = await parts.store.find_by_identifier(payer, identifierHash(parts.sealer, payer, identifier))
  if (holder === null || holder.nonce === nonce) return null
  return (await freeIdentifier(parts, holder)) ? null : holder
}

/**
 * Takes the id from a payment that can no longer be charged; false while it was or may be. Each write happens only to the state and the
 * claim that were read.
 */
export async function freeIdentifier(parts: Omit<IdentifierParts, 'sealer'>, holder: Payment): Promise<boolean> {
  const { store, clock } = parts
  const now_ms = clock.now_ms()
  if (isWithoutCharge(holder, Math.floor(now_ms / 1_000))) return store.free_identifier(holder)
  const is_abandoned = holder.state !== 'released' && mayClaimAgain(holder, now_ms)
  if (!is_abandoned || !(await store.release(holder, holder.fence, 'abandoned', now_ms))) return false
  return store.free_identifier({ ...holder, state: 'released' })
}

/** A deposit that arrived is the payer's own balance; the voucher that came with it is charged by another row. */
function isWithoutCharge(holder: Payment, now_s: number): boolean {
  const { state, purpose } = holder
  if (state === 'refused') return !mayStillExecute(holder, now_s)
  return state === 'released' || state === 'lost' || (state === 'settled' && purpose === 'deposit')
}
