import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { Chain, ChainLog } from '../../ports/chain.ts'
import type { Channel } from '../../ports/channels.ts'
import { CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { limits } from '../limits.ts'
import { takeEach } from './allowance.ts'
import { type ChannelParts, countFault, currentChannel, termsFault } from './channel-chain.ts'
import { challengeFor, type ChannelSender, correctionOf, hiddenCorrection, isPresent } from './channel-presence.ts'
import type { ChannelPayment } from './payment-header.ts'
import { blockBefore } from './settlement.ts'
import { caip2, type PaymentTerms } from './terms.ts'

/** Refund of a channel: what went back to the payer, and the state of the channel after it. */
export interface ChannelRefund {
  kind: 'refunded'
  transaction: string
  amount_minor: bigint
  channel: Channel
}

type RefundResult = ChannelRefund | PaymentRefusal | { kind: 'under_way' }

/**
 * Gives what is left in a channel back to its payer, who asks for it with the voucher of the total that was charged. That voucher may have been
 * claimed, so that anyone can read it from the chain: the sender must show that it is the payer.
 */
export interface ChannelRefunds {
  refund(payment: ChannelPayment, caller: ChannelSender): Promise<RefundResult>
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
  const under_way = new Map<string, Promise<RefundResult>>()
  return {
    async refund(payment, caller) {
      const parts = networks.find(({ terms }) => caip2(terms.chain_id) === payment.network) ?? networks[0]
      // The copy of a request that is being refunded gets the same refund, not a refusal that nothing is left.
      const name = [caller.address, payment.channel_id, payment.total_minor, payment.signature, payment.refund?.amount_minor].join('|')
      const first = await under_way.get(name)
      if (first?.kind === 'refunded') return first
      const end = refund(parts, payment, caller).finally(() => under_way.delete(name))
      under_way.set(name, end)
      return end
    },
  }
}

async function refund(parts: RefundParts, payment: ChannelPayment, caller: ChannelSender): Promise<RefundResult> {
  const { channels, terms } = parts
  if (payment.refund === null) return refusals.channelRefusal('refund_payload')
  const fault = termsFault(channels, payment, { ...terms, amounts: new Set() }) ?? countFault(channels, caller.client)
  if (fault !== null) return fault
  const done = await channels.turns.take(payment.channel_id)
  if (done === null) return refusals.channelRefusal('busy')
  try {
    const begun = await beginRefund(parts, payment, payment.refund.amount_minor, caller)
    return begun.kind === 'begun' ? await refunded(parts, payment, begun.channel) : begun
  } finally {
    done()
  }
}

/** Stores the refund, which the writer of the gas wallet then sends; or finds one that is on its way. */
async function beginRefund(
  { channels, wake }: RefundParts,
  payment: ChannelPayment,
  amount_minor: bigint | null,
  caller: ChannelSender,
): Promise<{ kind: 'begun'; channel: Channel } | PaymentRefusal> {
  const { store, payments } = channels
  const channel = await currentChannel(channels, payment, { fresh: true })
  if (channel === null) return refusals.channelRefusal('state_unavailable')
  if (channel.balance_minor === 0n) {
    channels.failures.add(caller.client)
    return refusals.channelRefusal('channel_not_found')
  }
  const is_present = await isPresent(channels, caller, payment, channel)
  if (payment.total_minor !== channel.charged_minor) {
    const error = 'cumulative_mismatch'
    return is_present ? refusals.channelRefusal(error, correctionOf(channel)) : hiddenCorrection(channels, payment, channel, error)
  }
  if (!is_present) return refusals.refundNeedsPresence(challengeFor(channels, payment))
  if (channel.refund_minor > 0n) return { kind: 'begun', channel }
  const left_minor = channel.balance_minor - channel.charged_minor
  if (left_minor <= 0n) return refusals.channelRefusal('refund_no_balance')
  const budget = await takeEach(store, refundBudgets(channels, caller.address, channel.payer))
  if (!budget.granted) return refusals.tooManyDeposits()
  const refund_minor = amount_minor === null || amount_minor > left_minor ? left_minor : amount_minor
  channels.remembered.delete(channel.channel_id)
  if (!(await store.channels.begin_refund(channel.channel_id, channel.charged_minor, refund_minor))) {
    await budget.give_back()
    // Another process may have begun the refund of the same request; if not, the channel was charged meanwhile.
    const now = await store.channels.find(channel.channel_id)
    const has_begun = now !== null && (now.refund_minor > 0n || now.refund_nonce > channel.refund_nonce)
    return has_begun ? { kind: 'begun', channel: { ...channel, refund_minor: now.refund_minor } } : refusals.channelRefusal('busy')
  }
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
