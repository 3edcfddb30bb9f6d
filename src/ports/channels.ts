/**
 * Payment channels of the scheme batch-settlement as the store keeps them. One row for each channel that was ever used here. A voucher is
 * charged by one conditional write together with the answer that it pays for, so all charges of a channel have one order, over all
 * processes. Amounts are minor units; times are milliseconds since 1970 by the store's clock unless they say `_s`.
 */
import type { Binding, StoredAnswer } from './payments.ts'

/** Fixed parts of a channel, as 0x-prefixed lower-case hex; the channel id is their hash. */
interface StoredConfig {
  payer: string
  payer_authorizer: string
  receiver: string
  receiver_authorizer: string
  token: string
  withdraw_delay_s: number
  salt: string
}

/** State of a channel on the chain when it was last read. */
export interface MirroredState {
  balance_minor: bigint
  claimed_minor: bigint
  withdraw_minor: bigint
  withdraw_requested_s: number
  refund_nonce: bigint
}

export interface Channel extends StoredConfig, MirroredState {
  /** Contains the chain id, so that channels of one config on two networks have two ids. */
  channel_id: string
  /** CAIP-19; null for USDC on the network of the deployment. */
  asset: string | null
  /** Total charged when the channel became known here: what had been claimed on the chain, zero for a new one. */
  opened_minor: bigint
  /** Total charged so far: the total of the last voucher. */
  charged_minor: bigint
  /** Of the last voucher; empty before the first. */
  signature: string
  /** Refund that is on its way; zero without one. Meanwhile nothing is charged. */
  refund_minor: bigint
  /** Time of the read of the chain that gave the mirrored state. */
  synced_ms: number
  created_ms: number
  /** Time of the last charge. */
  used_ms: number
  /** Nonce of the last charge, or of a deposit that was sent here since; null without one. */
  last_nonce: string | null
  /** Keyed hash of the client network that sent it: unlike that of a payment, it stays while the channel is used. */
  last_network_hash: string | null
}

/** The charge of one voucher, with the payment row of the call that it pays for. */
export interface ChannelCharge extends Omit<Binding, 'purpose'> {
  channel_id: string
  /** That of the channel. */
  asset: string | null
  payer: string
  /** Digest of the voucher: the nonce of the payment. */
  nonce: string
  /** Recipient of the payment. */
  to: string
  value_minor: bigint
  /** Total charged before; the write happens only while it is that. */
  base_minor: bigint
  signature: string
  price_class: string
  network_hash: string | null
  identifier_hash: string | null
  token_hash: string
  answer: StoredAnswer
  epoch: number
  now_ms: number
}

/** Sums over all channels. */
interface ChannelSums {
  channels: number
  charged_minor: bigint
  claimed_minor: bigint
}

/** Ages in ms of a mirrored state, of one without open charges, and of the last charge; and the most channels of one run. */
export interface StaleRules {
  readonly watch_ms: number
  readonly watch_idle_ms: number
  readonly watch_used_ms: number
  readonly watch_channels: number
}

export interface ChannelStore {
  find(channel_id: string): Promise<Channel | null>
  /** Adds a channel that is not known yet; otherwise changes nothing. */
  add(channel: Channel): Promise<void>
  /** Writes what was read from the chain, unless something newer was written. A refund that has happened is no longer on its way. */
  mirror(channel_id: string, state: MirroredState, synced_ms: number): Promise<void>
  /**
   * Charges a voucher and stores the answer that it pays for, in one durable write. False, and nothing written, when the total charged
   * before is another, the mirrored balance does not cover the voucher, as much was claimed already, a refund is on its way, or the
   * payment-identifier id belongs to another payment of the payer. A deposit that has arrived leaves its id to the charge.
   */
  charge(charge: ChannelCharge): Promise<boolean>
  /** Notes a deposit that is being sent here as the last request of the channel. */
  note_deposit(channel_id: string, deposit: { nonce: string; network_hash: string | null }): Promise<void>
  /** Puts a refund on its way. False when the total charged is another, or another refund is on its way. */
  begin_refund(channel_id: string, charged_minor: bigint, refund_minor: bigint): Promise<boolean>
  /** Ends a refund that left nothing to send, so that the channel can be charged again. */
  end_refund(channel_id: string, refund_nonce: bigint): Promise<void>
  /** Channels in an asset with charges that are not claimed by the mirrored state: those in withdrawal first, then the largest. */
  claimable(asset: string | null, limit: number): Promise<Channel[]>
  /** Channels in an asset with a refund on its way. */
  refunding(asset: string | null, limit: number): Promise<Channel[]>
  /**
   * Channels in an asset to be read again, longest unread first: those with open charges or a refund on its way after `watch_ms`, others for a while
   * after their last charge, because a reorganisation may take back a claim.
   */
  stale(asset: string | null, now_ms: number, rules: StaleRules): Promise<Channel[]>
  /** Channels in an asset in the order of their ids, after this one; empty text for the first. */
  list(asset: string | null, after_id: string, limit: number): Promise<Channel[]>
  sums(): Promise<ChannelSums>
  /** Sum of the charges of one channel. */
  charges(channel: Pick<Channel, 'channel_id' | 'payer'>): Promise<bigint>
  /** Forgets the client networks of channels that were neither made nor charged since; returns how many. */
  forget_networks(used_before_ms: number): Promise<number>
  /** Forgets channels without a balance and without a charge that were made before that; returns how many. */
  purge(created_before_ms: number): Promise<number>
}
