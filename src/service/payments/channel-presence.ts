import type { Channel } from '../../ports/channels.ts'
import type { Payment } from '../../ports/payments.ts'
import { type ChannelError, voucherFault } from '../../pure/payments/channels.ts'
import { type ChannelParts, currentChannel, isOfConfig, isSigned, voucherKey } from './channel-chain.ts'
import type { ChannelPayment } from './payment-header.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { BoundRequest, PaymentResult } from './payment-parts.ts'
import { resultOf } from './payment-results.ts'
import { resendAccess, type SignInUse } from './resends.ts'

/**
 * Decides what the sender of a voucher may see and do. A claimed voucher is public calldata, so a voucher proves the right to be charged, and
 * never who sends it. Stored answers, the last voucher and refunds need presence: the client network of the last charge, or a secret that was
 * never on the chain.
 */

/** The request that brought a voucher, with what may prove its presence. */
export type ChannelSender = Pick<BoundRequest, 'address' | 'client' | 'secrets'>

/** Reason why a voucher cannot be charged, before it is decided what its sender may see of the channel. */
export interface VoucherFault {
  kind: 'fault'
  error: ChannelError
  channel: Channel | null
}

/** Compares a voucher with its channel; null when it can be charged. */
export function faultOf({ total_minor, accepted }: ChannelPayment, channel: Channel): VoucherFault | null {
  if (channel.refund_minor > 0n) return { kind: 'fault', error: 'busy', channel }
  const error = voucherFault({ total_minor, price_minor: accepted.amount_minor }, channel.charged_minor, channel)
  return error === null ? null : { kind: 'fault', error, channel }
}

export const UNREAD_STATE: VoucherFault = { kind: 'fault', error: 'state_unavailable', channel: null }

/** Returns the end of a voucher that was charged before; null for one that was not, or that is not signed for its channel. */
export async function replayVoucher(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null> {
  const charged = isSigned(parts, payment) ? await parts.payments.store.find(voucherKey(parts, payment)) : null
  if (charged === null || !isOfConfig(parts, payment)) return null
  return endCharged(parts, request, payment, charged)
}

/**
 * Ends a payment whose voucher cannot be charged. Another request or process may have charged the same voucher since this one came, so the
 * stored answer is searched before every refusal. `refused` null: the reason is read from the channel.
 */
export async function refuseVoucher(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  refused: PaymentRefusal | VoucherFault | null,
): Promise<PaymentResult> {
  const charged = await parts.payments.store.find(voucherKey(parts, payment))
  if (charged !== null) return endCharged(parts, request, payment, charged, refused)
  const fault = refused ?? (await faultNow(parts, payment)) ?? { kind: 'fault', error: 'busy', channel: null }
  return visibleRefusal(parts, request, payment, fault)
}

/** Ends a payment whose voucher was charged: with its answer for the same request and a right to it, else with a refusal. */
async function endCharged(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  charged: Payment,
  refused: PaymentRefusal | VoucherFault | null = null,
): Promise<PaymentResult> {
  const { payments } = parts
  const signed_in = await isSignedIn(parts, request, payment)
  const access = signed_in ? 'granted' : await accessTo(parts, request, payment, charged)
  if (access === 'limited') return refusals.tooManyMismatches()
  if (access === 'granted') {
    if (charged.subject === request.tool && charged.input_hash === request.input_hash) return resultOf(payments, charged)
    if (!(await payments.mismatches.add(charged, request.client))) return refusals.tooManyMismatches()
  }
  const fault = refused ?? (await faultNow(parts, payment)) ?? { kind: 'fault', error: 'cumulative_mismatch', channel: null }
  return visibleRefusal(parts, request, payment, fault, signed_in)
}

/** Reads why the voucher cannot be charged now; null when it can. */
async function faultNow(parts: ChannelParts, payment: ChannelPayment): Promise<VoucherFault | null> {
  const channel = await currentChannel(parts, payment, { fresh: false })
  return channel === null ? UNREAD_STATE : faultOf(payment, channel)
}

async function visibleRefusal(
  parts: ChannelParts,
  sender: ChannelSender,
  payment: ChannelPayment,
  refused: PaymentRefusal | VoucherFault,
  known_signed_in?: boolean,
): Promise<PaymentRefusal> {
  if (refused.kind === 'refused') return refused
  const { error, channel } = refused
  // The official client corrects its state after these two.
  if (channel === null || !(error === 'cumulative_mismatch' || error === 'below_claimed')) return refusals.channelRefusal(error)
  const signed_in = known_signed_in ?? (await isSignedIn(parts, sender, payment))
  const is_present = signed_in || (await wasLastSender(parts, sender, payment, channel))
  return is_present ? refusals.channelRefusal(error, correctionOf(channel)) : hiddenCorrection(parts, payment, channel, error)
}

/**
 * Refuses a voucher without the last one. The charged total is shown where it is on the chain, or where the voucher is not: then its sender has
 * it from the payer.
 */
export function hiddenCorrection(parts: ChannelParts, payment: ChannelPayment, channel: Channel, error: ChannelError): PaymentRefusal {
  const { charged_minor, claimed_minor } = channel
  const shows_total = charged_minor === claimed_minor || payment.total_minor > claimed_minor
  const shown = { ...correctionOf(channel), signature: '', charged_minor: shows_total ? charged_minor : null }
  return refusals.withoutVoucher(refusals.channelRefusal(error, shown), challengeFor(parts, payment))
}

export function correctionOf(channel: Channel): refusals.ChannelCorrection {
  const { channel_id, charged_minor, signature, balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s, refund_nonce } = channel
  return { channel_id, charged_minor, signature, balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s, refund_nonce }
}

/** True for the payer of the channel: by SIGN-IN-WITH-X, from the client network of the last charge, or with a secret of it. */
export async function isPresent(parts: ChannelParts, sender: ChannelSender, payment: ChannelPayment, channel: Channel): Promise<boolean> {
  return (await isSignedIn(parts, sender, payment)) || wasLastSender(parts, sender, payment, channel)
}

/** Compares the sender with that of the last charge of the channel, or of a deposit since. */
async function wasLastSender(parts: ChannelParts, sender: ChannelSender, payment: ChannelPayment, channel: Channel): Promise<boolean> {
  const { payer, last_nonce: nonce, last_network_hash: network_hash } = channel
  const last = nonce === null ? null : await parts.payments.store.find({ payer, nonce })
  return last !== null && (await accessTo(parts, sender, payment, { ...last, network_hash }, { at_any_age: true })) === 'granted'
}

/** Right of the sender to what this row paid for, by its client network or a secret other than SIGN-IN-WITH-X. */
function accessTo(
  { payments }: ChannelParts,
  { address, client, secrets: { answer_token } }: ChannelSender,
  { identifier }: ChannelPayment,
  row: Payment,
  { at_any_age } = { at_any_age: false },
) {
  return resendAccess(payments, row, { answer_token, sign_in: null, address, client, identifier, at_any_age })
}

/** Checks SIGN-IN-WITH-X, which is accepted once, and counts a wrong one. */
async function isSignedIn(parts: ChannelParts, { secrets, client }: ChannelSender, payment: ChannelPayment): Promise<boolean> {
  const { mismatches, signIn } = parts.payments
  const { sign_in } = secrets
  const key = voucherKey(parts, payment)
  if (sign_in === null || (await mismatches.exhausted(key, client))) return false
  if (await signIn.accepts(key, sign_in, signInUse(payment))) return true
  await mismatches.add(key, client)
  return false
}

/** Challenge of SIGN-IN-WITH-X for the payer of a channel, or the account that it names as the signer of its vouchers. */
export function challengeFor(parts: ChannelParts, payment: ChannelPayment) {
  return parts.payments.signIn.challenge(voucherKey(parts, payment), signInUse(payment))
}

function signInUse({ config }: ChannelPayment): SignInUse {
  return { statement: 'Show that this account uses this payment channel.', signers: [config.payer, config.payer_authorizer] }
}
