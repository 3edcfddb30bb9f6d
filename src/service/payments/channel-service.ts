import type { Channel, ChannelCharge } from '../../ports/channels.ts'
import { CHANNEL_ERRORS } from '../../pure/payments/channels.ts'
import { limits } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import {
  type ChannelParts,
  type ChannelServiceParts,
  type ChannelTurns,
  countFault,
  currentChannel,
  isSigned,
  rememberedChannel,
  termsFault,
  voucherKey,
} from './channel-chain.ts'
import { depositedChannel, type DepositPlan, type OpenVoucher, planDeposit, sendDeposit } from './channel-deposits.ts'
import { faultOf, refuseVoucher, replayVoucher, UNREAD_STATE, type VoucherFault } from './channel-presence.ts'
import type { ChannelPayment } from './payment-header.ts'
import { paidResult, pendingPayment } from './payment-results.ts'
import type { AdmittedPayment, BoundRequest, ChannelService, Claim, PaymentResult, SplitAnswer } from './payment-parts.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { EPOCH_MS } from './price-book.ts'
import { paymentContext, resendHashes, tokenHash } from './resends.ts'
import type { AcceptableTerms } from './terms.ts'

/**
 * Takes vouchers. A voucher is verified locally against the mirrored state of its channel; nothing is written before its answer is ready, and
 * then charge and answer are one conditional write. So an answer never leaves without an enforceable voucher in the store, and of two
 * vouchers for the same total one is charged. Calls of one channel take turns in this process; over processes the write decides. A deposit
 * is a separate payment, sent and proved as those of the scheme exact; the voucher is charged after it is in a block.
 */
export function createChannelService(given: ChannelServiceParts): ChannelService & { parts: ChannelParts } {
  const { clock } = given.payments
  const parts: ChannelParts = {
    ...given,
    clock: { now_ms: () => clock.now_ms(), steady_ms: given.steady_ms },
    turns: createChannelTurns(given.rules),
    remembered: createRecentMap(given.rules.remembered),
  }
  return {
    parts,
    replay: (request, payment) => replay(parts, request, payment),
    admit: (request, payment, acceptable) => admit(parts, request, payment, acceptable),
    keyOf: (payment) => voucherKey(parts, payment),
    isSigned: (payment) => isSigned(parts, payment),
  }
}

/** Returns the end of a voucher that was charged before; null when it may be admitted. */
async function replay(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null> {
  // A refund is not a call; `admit` refuses it. A voucher that seems to be the next one was not charged, or its charge is refused by the store.
  return payment.refund !== null || isNext(parts, payment) ? null : replayVoucher(parts, request, payment)
}

/** A voucher that is the next one of its channel, as far as this process knows, has no answer yet. */
function isNext(parts: ChannelParts, { channel_id, deposit, total_minor, accepted }: ChannelPayment): boolean {
  const known = rememberedChannel(parts, channel_id)
  return known !== null && deposit === null && total_minor === known.charged_minor + accepted.amount_minor
}

async function admit(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  acceptable: AcceptableTerms,
): Promise<AdmittedPayment> {
  if (payment.refund !== null) return refusals.channelRefusal('payload_type')
  const fault = termsFault(parts, payment, acceptable) ?? countFault(parts, request.client)
  if (fault !== null) return (await replayVoucher(parts, request, payment)) ?? fault
  const done = await parts.turns.take(payment.channel_id)
  if (done === null) return refuseVoucher(parts, request, payment, refusals.channelRefusal('busy'))
  try {
    const opened = await openChannel(parts, request, payment)
    if (opened.kind === 'opened') return { kind: 'claimed', claim: createClaim(parts, { request, payment, ...opened }, done) }
    const ended = opened.kind === 'fault' || opened.kind === 'refused' ? await refuseVoucher(parts, request, payment, opened) : opened
    if (ended.kind === 'refused' && CHAIN_FAULTS.has(ended.x402_reason)) parts.failures.add(request.client)
    done()
    return ended
  } catch (error) {
    done()
    throw error
  }
}

/** Refusals after a read of the chain that the client caused. */
const CHAIN_FAULTS: ReadonlySet<string | null> = new Set([
  CHANNEL_ERRORS.channel_not_found,
  CHANNEL_ERRORS.exceeds_balance,
  CHANNEL_ERRORS.insufficient_balance,
  CHANNEL_ERRORS.receive_signature,
  CHANNEL_ERRORS.deposit_simulation,
])

type Opened = { kind: 'opened'; channel: Channel; deposit: DepositPlan | null } | VoucherFault | PaymentResult

async function openChannel(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<Opened> {
  if (payment.deposit === null) return openVoucher(parts, payment)
  const planned = await planDeposit(parts, request, payment, payment.deposit)
  if (planned.kind !== 'arrived') return planned.kind === 'planned' ? { ...planned, kind: 'opened' } : planned
  const opened = await openVoucher(parts, payment, { fresh: true })
  return opened.kind === 'opened' ? opened : (planned.refusal ?? opened)
}

type OpenedVoucher = { kind: 'opened'; channel: Channel; deposit: null } | VoucherFault

async function openVoucher(parts: ChannelParts, payment: ChannelPayment, { fresh } = { fresh: false }): Promise<OpenedVoucher> {
  const remembered = fresh ? null : rememberedChannel(parts, payment.channel_id)
  if (remembered !== null && faultOf(payment, remembered) === null) return { kind: 'opened', channel: remembered, deposit: null }
  const channel = await currentChannel(parts, payment, { fresh })
  if (channel === null) return UNREAD_STATE
  const fault = faultOf(payment, channel)
  if (fault === null) return { kind: 'opened', channel, deposit: null }
  // A deposit that another party sent is not in the mirrored state yet.
  if (fresh || !(fault.error === 'exceeds_balance' || fault.error === 'channel_not_found')) return fault
  return openVoucher(parts, payment, { fresh: true })
}

function createClaim(parts: ChannelParts, voucher: OpenVoucher, done: () => void): Claim {
  const { payment } = voucher
  return {
    ...voucherKey(parts, payment),
    amount_minor: payment.accepted.amount_minor,
    settle: (answer) => settle(parts, voucher, answer).finally(done),
    release: () => Promise.resolve(done()),
  }
}

/** Sends the deposit, if there is one, then charges the voucher together with its answer. */
async function settle(parts: ChannelParts, voucher: OpenVoucher, answer: SplitAnswer): Promise<PaymentResult> {
  const { request, payment, deposit, channel } = voucher
  if (deposit === null) return charge(parts, voucher, answer, channel, null)
  const sent = await sendDeposit(parts, voucher, deposit)
  if (sent.kind === 'refused') return refuseOrPending(parts, request, payment, sent)
  if (sent.kind !== 'settled') return sent
  const { transaction, value_minor } = sent.payment
  const funded = await depositedChannel(parts, voucher)
  if (funded === null) return pendingPayment(parts.payments, deposit.key, transaction)
  return charge(parts, voucher, answer, funded, { transaction: transaction ?? '', amount_minor: value_minor })
}

/** Refuses a voucher after its call has run. A store that does not answer then leaves open whether another process has charged it. */
async function refuseOrPending(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  refusal: PaymentRefusal | null,
): Promise<PaymentResult> {
  return refuseVoucher(parts, request, payment, refusal).catch((error: unknown) => {
    parts.payments.onFault(error)
    return pendingPayment(parts.payments, voucherKey(parts, payment), null)
  })
}

async function charge(
  parts: ChannelParts,
  { request, payment }: OpenVoucher,
  answer: SplitAnswer,
  channel: Channel,
  deposit: { transaction: string; amount_minor: bigint } | null,
): Promise<PaymentResult> {
  const { payments, store } = parts
  const key = voucherKey(parts, payment)
  const now_ms = payments.clock.now_ms()
  const value_minor = payment.accepted.amount_minor
  const charged: ChannelCharge = {
    ...key,
    channel_id: channel.channel_id,
    asset: channel.asset,
    subject: request.tool,
    input_hash: request.input_hash,
    to: channel.receiver,
    value_minor,
    base_minor: payment.total_minor - value_minor,
    signature: payment.signature,
    price_class: request.price_class,
    ...resendHashes(payments.sealer, key, request.address, payment.identifier),
    token_hash: tokenHash(payments, payments.sealer.token(paymentContext(key))),
    answer: {
      sealed: payments.sealer.seal(`${answer.head}\n${answer.tail}`, paymentContext(key)),
      expires_ms: now_ms + limits.answer_kept_ms,
    },
    epoch: Math.floor(now_ms / EPOCH_MS),
    now_ms,
  }
  await payments.reach('before_charge')
  const written = await store.channels.charge(charged).catch((error: unknown) => {
    payments.onFault(error)
    return null
  })
  if (written !== true) parts.remembered.delete(channel.channel_id)
  // The row may be there although the store did not answer; the same request again decides.
  if (written === null) return pendingPayment(payments, key, null)
  // Another voucher was charged, or a refund or withdrawal began, since this one was verified.
  if (!written) return refuseOrPending(parts, request, payment, null)
  parts.remembered.set(channel.channel_id, {
    ...channel,
    charged_minor: payment.total_minor,
    signature: payment.signature,
    used_ms: now_ms,
    last_nonce: key.nonce,
    last_network_hash: charged.network_hash,
  })
  await payments.reach('after_charge')
  const row = {
    ...charged,
    method: 'channel',
    purpose: 'call',
    transaction: null,
    settler: channel.channel_id,
    updated_ms: now_ms,
  } as const
  const paid = { ...row, settled_ms: now_ms, cumulative_minor: payment.total_minor }
  return paidResult(payments, paid, answer, { state: channel, deposit })
}

/** A voucher names the total before it, so calls of one channel cannot run side by side; those of different channels do. */
function createChannelTurns({ waiting }: { waiting: number }): ChannelTurns {
  const channels = new Map<string, { last: Promise<void>; turns: number }>()
  return {
    async take(channel_id) {
      const known = channels.get(channel_id) ?? { last: Promise.resolve(), turns: 0 }
      if (known.turns > waiting) return null
      const before = known.last
      const { promise, resolve } = Promise.withResolvers<void>()
      known.last = promise
      known.turns += 1
      channels.set(channel_id, known)
      await before
      let ended = false
      return () => {
        if (ended) return
        ended = true
        known.turns -= 1
        if (known.turns === 0) channels.delete(channel_id)
        resolve()
      }
    },
  }
}
