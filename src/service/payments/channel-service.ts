import * as refusals from './payment-refusals.ts'
import type { Chain, ChainLog } from '../../ports/chain.ts'
import type { Channel, ChannelCharge } from '../../ports/channels.ts'
import { CHANNEL_ERRORS, type ChannelError, depositNonce, voucherFault, CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { limits } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { takeEach } from './allowance.ts'
import { checkDeposit, depositedChannel, type DepositPlan, type OpenVoucher, sendDeposit } from './channel-deposit.ts'
import {
  type ChannelParts,
  type ChannelServiceParts,
  correctionOf,
  countFault,
  createChannelTurns,
  currentChannel,
  isSigned,
  rememberedChannel,
  termsFault,
  voucherKey,
} from './channel-deposit.ts'
import type { ChannelPayment } from './payment-header.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import {
  type AdmittedPayment,
  type BoundRequest,
  type ChannelService,
  type Claim,
  mayClaimAgain,
  paidResult,
  type PaymentResult,
  pendingPayment,
  resultOf,
  type SplitAnswer,
} from './payment-service.ts'
import { EPOCH_MS } from './price-book.ts'
import { paymentContext, resendAccess, resendHashes, tokenHash } from './resends.ts'
import { blockBefore } from './settlement.ts'
import { type AcceptableTerms, caip2, type PaymentTerms } from './terms.ts'

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

/**
 * Returns the stored answer of a voucher that was charged for the same request; null otherwise. A voucher for another request, or without a
 * right to the answer, is then refused as charged before, with the state from which the client signs the next one.
 */
async function replay(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null> {
  if (!isNext(parts, payment)) return storedReplay(parts, request, payment)
  unsearched.add(payment)
  return null
}

/** A voucher that is the next one of its channel, as far as this process knows, has no answer yet. */
function isNext(parts: ChannelParts, { channel_id, deposit, total_minor, accepted }: ChannelPayment): boolean {
  const known = rememberedChannel(parts, channel_id)
  return known !== null && deposit === null && total_minor === known.charged_minor + accepted.amount_minor
}

/** Vouchers whose stored answers were not searched for, because each seemed to be the next one of its channel. */
const unsearched = new WeakSet<ChannelPayment>()

/** Returns the stored answer of a voucher that another process has charged; the refusal where there is none. */
async function replayedOr(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  refusal: PaymentRefusal,
): Promise<PaymentResult> {
  const stored = unsearched.delete(payment) ? await storedReplay(parts, request, payment) : null
  return stored ?? refusal
}

async function storedReplay(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null> {
  const { payments } = parts
  const found = await payments.store.find(voucherKey(parts, payment))
  if (found === null || !isSigned(parts, payment)) return null
  const { secrets, address, client } = request
  const access = await resendAccess(payments, found, { ...secrets, address, client, identifier: payment.identifier })
  if (access === 'limited') return refusals.tooManyMismatches()
  if (access === 'refused') return null
  if (found.subject === request.tool && found.input_hash === request.input_hash) return resultOf(payments, found)
  return (await payments.mismatches.add(found, client)) ? null : refusals.tooManyMismatches()
}

async function admit(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  acceptable: AcceptableTerms,
): Promise<AdmittedPayment> {
  const unfit = payment.refund === null ? termsFault(parts, payment, acceptable) : refusals.channelRefusal('payload_type')
  const fault = unfit ?? countFault(parts, request.client)
  if (fault !== null) return fault
  const done = await parts.turns.take(payment.channel_id)
  if (done === null) return refusals.channelRefusal('busy')
  try {
    const opened = await openChannel(parts, request, payment)
    if (opened.kind !== 'opened') {
      done()
      if (opened.kind !== 'refused') return opened
      if (CHAIN_FAULTS.has(opened.x402_reason)) parts.failures.add(request.client)
      return await replayedOr(parts, request, payment, opened)
    }
    return { kind: 'claimed', claim: createClaim(parts, { request, payment, ...opened }, done) }
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

type Opened = { kind: 'opened'; channel: Channel; deposit: DepositPlan | null } | PaymentResult

async function openChannel(parts: ChannelParts, request: BoundRequest, payment: ChannelPayment): Promise<Opened> {
  const { payments } = parts
  if (payment.deposit === null) return openVoucher(parts, payment)
  const key = { payer: payment.config.payer, nonce: depositNonce(payment.channel_id, payment.deposit.salt, payments.crypto) }
  const row = await payments.store.find(key)
  // Sent before, and the answer was lost: the deposit is in the channel, and the voucher is taken as one without a deposit.
  if (row?.state === 'settled') return openVoucher(parts, payment, { fresh: true })
  const is_new = row === null || mayClaimAgain(row, payments.clock.now_ms())
  if (!is_new && (row.state === 'refused' || row.state === 'lost')) return resultOf(payments, row)
  const channel = await currentChannel(parts, payment, { fresh: true })
  if (channel === null) return refusals.channelRefusal('state_unavailable')
  const funded = { ...channel, balance_minor: channel.balance_minor + payment.deposit.amount_minor }
  const fault = faultOf(payment, funded)
  if (fault !== null) return fault
  if (!is_new) return { kind: 'opened', channel, deposit: { key, authorization: payment.deposit, send: null } }
  const checked = await checkDeposit(parts, request, { payment, authorization: payment.deposit, key })
  return checked.kind === 'refused' ? checked : { kind: 'opened', channel, deposit: { key, authorization: payment.deposit, send: checked } }
}

async function openVoucher(parts: ChannelParts, payment: ChannelPayment, { fresh } = { fresh: false }): Promise<Opened> {
  const remembered = fresh ? null : rememberedChannel(parts, payment.channel_id)
  if (remembered !== null && faultOf(payment, remembered) === null) return { kind: 'opened', channel: remembered, deposit: null }
  const channel = await currentChannel(parts, payment, { fresh })
  if (channel === null) return refusals.channelRefusal('state_unavailable')
  const fault = faultOf(payment, channel)
  if (fault === null) return { kind: 'opened', channel, deposit: null }
  // A deposit that another party sent is not in the mirrored state yet.
  if (fresh || !(fault.x402_reason === CHANNEL_ERRORS.exceeds_balance || fault.x402_reason === CHANNEL_ERRORS.channel_not_found))
    return fault
  return openVoucher(parts, payment, { fresh: true })
}

function faultOf(payment: ChannelPayment, channel: Channel): PaymentRefusal | null {
  if (channel.refund_minor > 0n) return refusals.channelRefusal('busy')
  const { total_minor, accepted } = payment
  const fault = voucherFault({ total_minor, price_minor: accepted.amount_minor }, channel.charged_minor, channel)
  return fault === null ? null : refusals.channelRefusal(fault, isCorrectable(fault) ? correctionOf(channel) : null)
}

function isCorrectable(fault: ChannelError): boolean {
  return fault === 'cumulative_mismatch' || fault === 'below_claimed'
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
  const { deposit, channel } = voucher
  if (deposit === null) return charge(parts, voucher, answer, channel, null)
  const sent = await sendDeposit(parts, voucher, deposit)
  if (sent.kind !== 'settled') return sent
  const { transaction, value_minor } = sent.payment
  const funded = await depositedChannel(parts, voucher)
  if (funded === null) return pendingPayment(parts.payments, deposit.key, transaction)
  return charge(parts, voucher, answer, funded, { transaction: transaction ?? '', amount_minor: value_minor })
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
  parts.remembered.delete(channel.channel_id)
  const written = await store.channels.charge(charged).catch((error: unknown) => {
    payments.onFault(error)
    return null
  })
  // The row may be there although the store did not answer; the same request again decides.
  if (written === null) return pendingPayment(payments, key, null)
  if (!written) return replayedOr(parts, request, payment, await overtaken(parts, payment))
  parts.remembered.set(channel.channel_id, {
    ...channel,
    charged_minor: payment.total_minor,
    signature: payment.signature,
    used_ms: now_ms,
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

/** Another voucher was charged, or a refund or withdrawal began, since this one was verified. */
async function overtaken(parts: ChannelParts, payment: ChannelPayment): Promise<PaymentRefusal> {
  const channel = await currentChannel(parts, payment, { fresh: false })
  if (channel === null) return refusals.channelRefusal('state_unavailable')
  return faultOf(payment, channel) ?? refusals.channelRefusal('busy')
}

/** Refund of a channel: what went back to the payer, and the state of the channel after it. */
export interface ChannelRefund {
  kind: 'refunded'
  transaction: string
  amount_minor: bigint
  channel: Channel
}

type RefundResult = ChannelRefund | PaymentRefusal | { kind: 'under_way' }

/** Gives what is left in a channel back to its payer, who asks for it with the voucher of the total that was charged. */
export interface ChannelRefunds {
  refund(payment: ChannelPayment, caller: { address: string; client: string }): Promise<RefundResult>
}

export interface RefundParts {
  channels: ChannelParts
  chain: Pick<Chain, 'read' | 'head' | 'header' | 'logs'>
  terms: PaymentTerms
  /** Wakes the writer of the gas wallet. */
  wake(): void
}

/** Refunds on each network that offers channels: the network of the payment decides; the first refuses a payment on any other. */
export function createChannelRefunds(networks: readonly [RefundParts, ...RefundParts[]]): ChannelRefunds {
  return {
    refund(payment, caller) {
      const parts = networks.find(({ terms }) => caip2(terms.chain_id) === payment.network) ?? networks[0]
      return refund(parts, payment, caller)
    },
  }
}

async function refund(parts: RefundParts, payment: ChannelPayment, caller: { address: string; client: string }): Promise<RefundResult> {
  const { channels, terms } = parts
  if (payment.refund === null) return refusals.channelRefusal('refund_payload')
  const fault = termsFault(channels, payment, { ...terms, amounts: new Set() }) ?? countFault(channels, caller.client)
  if (fault !== null) return fault
  const done = await channels.turns.take(payment.channel_id)
  if (done === null) return refusals.channelRefusal('busy')
  try {
    const begun = await beginRefund(parts, payment, payment.refund.amount_minor, caller)
    return begun.kind === 'refused' ? begun : await refunded(parts, payment, begun.channel)
  } finally {
    done()
  }
}

/** Stores the refund, which the writer of the gas wallet then sends; or finds one that is on its way. */
async function beginRefund(
  { channels, wake }: RefundParts,
  payment: ChannelPayment,
  amount_minor: bigint | null,
  { address, client }: { address: string; client: string },
): Promise<{ kind: 'begun'; channel: Channel } | PaymentRefusal> {
  const { store, payments } = channels
  const channel = await currentChannel(channels, payment, { fresh: true })
  if (channel === null) return refusals.channelRefusal('state_unavailable')
  if (channel.balance_minor === 0n) {
    channels.failures.add(client)
    return refusals.channelRefusal('channel_not_found')
  }
  if (payment.total_minor !== channel.charged_minor) return refusals.channelRefusal('cumulative_mismatch', correctionOf(channel))
  if (channel.refund_minor > 0n) return { kind: 'begun', channel }
  const left_minor = channel.balance_minor - channel.charged_minor
  if (left_minor <= 0n) return refusals.channelRefusal('refund_no_balance')
  const budget = await takeEach(store, refundBudgets(channels, address, channel.payer))
  if (!budget.granted) return refusals.tooManyDeposits()
  const refund_minor = amount_minor === null || amount_minor > left_minor ? left_minor : amount_minor
  channels.remembered.delete(channel.channel_id)
  if (!(await store.channels.begin_refund(channel.channel_id, channel.charged_minor, refund_minor))) return refusals.channelRefusal('busy')
  await payments.reach('after_refund_row')
  wake()
  return { kind: 'begun', channel: { ...channel, refund_minor } }
}

/** Waits until the chain counts the refund. */
async function refunded(parts: RefundParts, payment: ChannelPayment, before: Channel): Promise<RefundResult> {
  const { channels } = parts
  const until_ms = channels.clock.steady_ms() + limits.settle_wait_ms
  for (;;) {
    const channel = await currentChannel(channels, payment, { fresh: true })
    if (channel !== null && channel.refund_nonce > before.refund_nonce) {
      const log = await refundLog(parts, before)
      const amount_minor = log === null ? before.refund_minor : BigInt(log.data)
      return { kind: 'refunded', transaction: log?.transaction_hash ?? '', amount_minor, channel }
    }
    if (channels.clock.steady_ms() >= until_ms) return { kind: 'under_way' }
    await new Promise((resolve) => setTimeout(resolve, limits.settlement_poll_ms))
  }
}

/** keccak-256 of Refunded(bytes32,address,uint128). */
const REFUNDED_TOPIC = '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b'
const SEARCH_BACK_S = 120

/** The newest refund of the channel; null when the node returns none, which only leaves the hash out of the answer. */
async function refundLog({ chain, channels }: RefundParts, { channel_id }: Channel): Promise<ChainLog | null> {
  try {
    const now_s = Math.floor(channels.clock.now_ms() / 1_000)
    const from_block = await blockBefore(chain, now_s - SEARCH_BACK_S)
    const { number: to_block } = await chain.head()
    const logs = await chain.logs({ address: CHANNEL_SETTLEMENT, topics: [REFUNDED_TOPIC, channel_id], from_block, to_block })
    return logs.at(-1) ?? null
  } catch {
    return null
  }
}

function refundBudgets({ rules, networkHash, payments }: ChannelParts, address: string, payer: string) {
  const day = Math.floor(payments.clock.now_ms() / 86_400_000)
  return [
    { day, bucket: 'channel-refund', client: payer, limit: rules.refunds_daily },
    { day, bucket: 'channel-refund-network', client: networkHash(day, address), limit: rules.refunds_daily_network },
  ]
}
