import * as calls from '../../pure/payments/channels.ts'
import {
  type ChannelClaim,
  type ChannelHashes,
  type ChannelState,
  CHANNEL_ERRORS,
  type ChannelConfig,
  configFault,
  signerOf,
} from '../../pure/payments/channels.ts'
import type { Chain, ChainRead } from '../../ports/chain.ts'
import type { Channel, ChannelStore } from '../../ports/channels.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Store } from '../../ports/store.ts'
import { decodeUint } from '../../pure/payments/token-calls.ts'
import { isChainFault } from '../chain-fault.ts'
import type { Job } from '../jobs/jobs.ts'
import type { CHANNEL_RULES } from '../limits.ts'
import type { CallSource, WalletCall } from './writer-rules.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { once } from '../../pure/once.ts'
import type { PaymentKey } from '../../ports/payments.ts'
import { type ReceiptCrypto, toHex } from '../../pure/receipts/crypto.ts'
import type { NetworkHash } from '../clients.ts'
import type { RecentMap } from '../recent.ts'
import { tooManyFailures } from './on-chain.ts'
import type { GasWatch } from './gas-watch.ts'
import type { ChannelPayment } from './payment-header.ts'
import type { PaymentServiceParts } from './payment-parts.ts'
import type { FailureCount, RoundTrips } from './reserved-balances.ts'
import { type AcceptableTerms, caip2 } from './terms.ts'

export type ChannelRules = { readonly [Name in keyof typeof CHANNEL_RULES]: (typeof CHANNEL_RULES)[Name] extends bigint ? bigint : number }

const READS_OF_CHANNEL = 3
/** Channels in one round trip: public nodes accept no more than a hundred reads. */
const CHANNELS_AT_ONCE = 30

/** Reads the states of channels, at the newest block by default; null for one that the contract did not answer. Rejects as the chain does. */
async function readChannelStates(chain: Pick<Chain, 'read'>, ids: readonly string[], at?: bigint): Promise<(ChannelState | null)[]> {
  const states: (ChannelState | null)[] = []
  for (let start = 0; start < ids.length; start += CHANNELS_AT_ONCE) {
    const some = ids.slice(start, start + CHANNELS_AT_ONCE)
    const results = await chain.read(some.flatMap(channelReads), at)
    for (const index of some.keys()) {
      const [channel, withdrawal, nonce] = results.slice(index * READS_OF_CHANNEL, (index + 1) * READS_OF_CHANNEL)
      const [sums, pending] = [channel, withdrawal].map((result) => (result?.ok === true ? calls.decodePair(result.data) : null))
      const refund_nonce = nonce?.ok === true ? decodeUint(nonce.data) : null
      if (sums == null || pending == null || refund_nonce === null) {
        states.push(null)
        continue
      }
      const [balance_minor, claimed_minor] = sums
      const [withdraw_minor, requested_s] = pending
      states.push({ balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s: Number(requested_s), refund_nonce })
    }
  }
  return states
}

function channelReads(channel_id: string): ChainRead[] {
  return [calls.channelsCall(channel_id), calls.withdrawalsCall(channel_id), calls.refundNonceCall(channel_id)].map((data) => ({
    kind: 'call',
    to: calls.CHANNEL_SETTLEMENT,
    data,
  }))
}

interface ChannelChainParts {
  store: Pick<Store, 'channels'>
  chain: Pick<Chain, 'read'>
  clock: Clock & SteadyClock
  rules: ChannelRules
}

/** Channels in one token on one network. */
interface ChannelAsset {
  /** CAIP-19; null for USDC on the network of the deployment. */
  asset: string | null
}

/** Reads channels again, writes their state to the store and returns them with it; those that were not answered are left out. */
async function syncChannels({ store, chain, clock }: ChannelChainParts, channels: readonly Channel[]): Promise<Channel[]> {
  // Before the read: a state that was read earlier and written later must not replace a newer one.
  const synced_ms = clock.now_ms()
  const states = await readChannelStates(
    chain,
    channels.map(({ channel_id }) => channel_id),
  )
  const synced: Channel[] = []
  for (const [index, channel] of channels.entries()) {
    const state = states[index] ?? null
    if (state === null) continue
    await store.channels.mirror(channel.channel_id, state, synced_ms)
    const refund_minor = state.refund_nonce === channel.refund_nonce ? channel.refund_minor : 0n
    synced.push({ ...channel, ...state, refund_minor, synced_ms })
  }
  return synced
}

interface CallSourceParts extends ChannelChainParts, ChannelAsset {
  hashes: ChannelHashes
  /** Signs claims and refunds: the receiver authorizer of the channels. */
  authorizer: Pick<Signer, 'address' | 'sign'>
  /** Recipient of what was claimed, and the token. */
  pay_to: string
  token: string
  /** Cost of a claim of so many channels in minor units of USDC; null while it is not known. */
  claimCost(channels: number): bigint | null
  log: Log
}

/**
 * Claims of charged vouchers, and refunds that payers have requested, as transactions of the gas wallet. Nothing is remembered of what was sent:
 * each search compares the store with the chain, so that a crash, a transaction that failed and a reorganisation only lead to another
 * search. A claim is never higher than the last voucher, and the transaction is simulated before it is sent.
 */
export function createChannelCalls(parts: CallSourceParts): CallSource {
  const { clock, rules } = parts
  let searched_ms = Number.NEGATIVE_INFINITY
  let claimed_ms = Number.NEGATIVE_INFINITY
  const tried = { refund: { data: '', ms: Number.NEGATIVE_INFINITY }, claim: { data: '', ms: Number.NEGATIVE_INFINITY } }
  return {
    async next(isAffordable) {
      const steady_ms = clock.steady_ms()
      if (steady_ms - searched_ms < rules.search_every_ms) return null
      searched_ms = steady_ms
      for (const kind of ['refund', 'claim'] as const) {
        const is_due = steady_ms - claimed_ms >= rules.claim_every_ms
        const call = kind === 'refund' ? await nextRefund(parts) : await nextClaim(parts, is_due)
        // The same transaction had no effect the first time, so it is not repeated immediately.
        if (call === null || (call.data === tried[kind].data && steady_ms - tried[kind].ms < rules.retry_ms)) continue
        if (!(await isAffordable())) return null
        tried[kind] = { data: call.data, ms: steady_ms }
        if (!(await wouldSucceed(parts, call))) continue
        if (kind === 'claim') claimed_ms = steady_ms
        return call
      }
      return null
    },
  }
}

async function wouldSucceed({ chain, log }: CallSourceParts, { to, data }: WalletCall): Promise<boolean> {
  const [simulated] = await chain.read([{ kind: 'call', to, data }])
  if (simulated?.ok === true) return true
  log.error({ message: simulated?.message.slice(0, 200) }, 'a claim or refund of payment channels would fail')
  return false
}

async function nextRefund(parts: CallSourceParts): Promise<WalletCall | null> {
  const { store, asset, hashes, authorizer } = parts
  const [waiting] = await store.channels.refunding(asset, 1)
  const [channel] = waiting === undefined ? [] : await syncChannels(parts, [waiting])
  // Refunded meanwhile: the chain counts one refund more, and the row is up to date.
  if (channel === undefined || channel.refund_minor === 0n) return null
  const { channel_id, refund_nonce, refund_minor } = channel
  const kept_minor = channel.charged_minor > channel.claimed_minor ? channel.charged_minor : channel.claimed_minor
  if (channel.balance_minor <= kept_minor) {
    await store.channels.end_refund(channel_id, refund_nonce)
    return null
  }
  const claim = claimOf(channel)
  const signature = authorizer.sign(hashes.refund(channel_id, refund_nonce, refund_minor))
  const claims = claim === null ? [] : [signedClaims(parts, [claim])]
  const data = calls.multicall([...claims, calls.refundCall(channel, refund_minor, refund_nonce, signature)])
  return channelCall(data, calls.CHANNEL_GAS.refund + calls.CHANNEL_GAS.claim)
}

async function nextClaim(parts: CallSourceParts, is_due: boolean): Promise<WalletCall | null> {
  const { store, asset, rules, pay_to, token, claimCost } = parts
  const claimable = await store.channels.claimable(asset, rules.claim_items)
  const open_minor = claimable.reduce((sum, { charged_minor, claimed_minor }) => sum + charged_minor - claimed_minor, 0n)
  // A withdrawal has begun: what is not claimed when it ends is lost.
  const in_withdrawal = claimable.some(({ withdraw_minor }) => withdraw_minor > 0n)
  if (claimable.length === 0 || !(in_withdrawal || is_due || open_minor >= rules.claim_minor)) return null
  // A claim that costs more than it brings in waits, a withdrawal included: it takes a day, in which gas may become cheaper.
  if (open_minor < (claimCost(claimable.length) ?? 0n)) return null
  const claims = await claimsThatSucceed(
    parts,
    (await syncChannels(parts, claimable)).map(claimOf).filter((claim) => claim !== null),
  )
  if (claims.length === 0) return null
  const data = calls.multicall([signedClaims(parts, claims), calls.settleCall(pay_to, token)])
  return channelCall(data, calls.CHANNEL_GAS.transaction + BigInt(claims.length) * calls.CHANNEL_GAS.claim)
}

/** Leaves out claims that would fail: one of them would fail the whole transaction. */
async function claimsThatSucceed(parts: CallSourceParts, claims: readonly ChannelClaim[]): Promise<readonly ChannelClaim[]> {
  if (claims.length < 2 || (await wouldSucceed(parts, channelCall(signedClaims(parts, claims), 0n)))) return claims
  const results = await parts.chain.read(
    claims.map((claim) => ({ kind: 'call', to: calls.CHANNEL_SETTLEMENT, data: signedClaims(parts, [claim]) })),
  )
  return claims.filter((_, index) => results[index]?.ok === true)
}

/** The claim of what was charged; null when nothing is open, or the balance no longer covers it, which would fail the whole transaction. */
function claimOf(channel: Channel): ChannelClaim | null {
  const { charged_minor, claimed_minor, balance_minor, signature } = channel
  if (charged_minor <= claimed_minor || signature === '') return null
  // A reorganisation may have taken back a deposit; then as much as is there is claimed, with the same voucher.
  const total_minor = charged_minor < balance_minor ? charged_minor : balance_minor
  return total_minor > claimed_minor ? { config: channel, signature, ceiling_minor: charged_minor, total_minor } : null
}

function signedClaims({ hashes, authorizer }: CallSourceParts, claims: readonly ChannelClaim[]): string {
  return calls.claimCall(claims, authorizer.sign(hashes.claims(claims)))
}

function channelCall(data: string, gas: bigint): WalletCall {
  return { kind: 'channel', to: calls.CHANNEL_SETTLEMENT, data, gas }
}

/**
 * Reads channels with open charges again, so that a withdrawal that a payer has begun is seen long before it ends, and forgets channels that
 * never got a deposit.
 */
export function channelsJob(parts: ChannelChainParts & ChannelAsset & { network: string | null }): Job {
  const { store, asset, network, rules } = parts
  return {
    name: network === null ? 'channels' : `channels:${network}`,
    every_ms: rules.watch_every_ms,
    run: async (now_ms) => {
      await store.channels.purge(Math.max(0, now_ms - rules.empty_ms))
      await store.channels.forget_networks(Math.max(0, now_ms - rules.network_kept_ms))
      const stale = await store.channels.stale(asset, now_ms, rules)
      try {
        await syncChannels(parts, stale)
      } catch (error) {
        if (!isChainFault(error)) throw error
      }
    },
  }
}

/**
 * `charges`: the charges of the channel do not add up to its total. `claimed_more`: the chain shows more claimed than was charged.
 * `unread`: the contract did not answer for it.
 */
interface ChannelDifference {
  channel_id: string
  kind: 'charges' | 'claimed_more' | 'unread'
}

/** Payment channels compared with the chain. All amounts are minor units. */
export interface ChannelProof {
  /** Every channel adds up, nothing was claimed that was not charged, and what was claimed and settled arrived. */
  proved: boolean
  channels: number
  charged_minor: bigint
  /** Claimed on the chain: paid out, or to be with the next settlement. */
  claimed_minor: bigint
  /** Transfers of the contract to the recipient, and what the contract says it sent. */
  paid_out_minor: bigint
  settled_minor: bigint
  /** Claimed for the recipient from channels that this ledger does not know, as those of an earlier store. */
  foreign_minor: bigint
  /** The first of them. */
  differences: ChannelDifference[]
}

interface ChannelProofSource extends ChannelAsset {
  store: Pick<ChannelStore, 'list' | 'find' | 'charges'>
  chain: Pick<Chain, 'read'>
  token: string
  pay_to: string
}

const PAGE_CHANNELS = 200
const LISTED_MAX = 1_000
/** A channel that is charged while it is read is read again. */
const TRIES = 3

/** Proves the channels at a block; `paid_out_minor` is what the contract sent to the recipient up to it. Null without channels. */
export async function proveChannels(source: ChannelProofSource, at: bigint, paid_out_minor: bigint): Promise<ChannelProof | null> {
  const sums = { channels: 0, charged_minor: 0n, claimed_minor: 0n }
  const differences: ChannelDifference[] = []
  for (let after = ''; ;) {
    const page = await source.store.list(source.asset, after, PAGE_CHANNELS)
    const states = await readChannelStates(
      source.chain,
      page.map(({ channel_id }) => channel_id),
      at,
    )
    for (const [index, channel] of page.entries()) {
      const { kind, charged_minor } = await differenceOf(source, channel, states[index] ?? null)
      sums.channels += 1
      sums.charged_minor += charged_minor
      sums.claimed_minor += states[index]?.claimed_minor ?? 0n
      if (kind !== null && differences.length < LISTED_MAX) differences.push({ channel_id: channel.channel_id, kind })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_CHANNELS) break
    after = last.channel_id
  }
  if (sums.channels === 0 && paid_out_minor === 0n) return null
  const [result] = await source.chain.read(
    [{ kind: 'call', to: calls.CHANNEL_SETTLEMENT, data: calls.receiversCall(source.pay_to, source.token) }],
    at,
  )
  const [claimed_of_all, settled_minor] = (result?.ok === true ? calls.decodePair(result.data) : null) ?? [-1n, -1n]
  const foreign_minor = claimed_of_all - sums.claimed_minor
  const proved = differences.length === 0 && foreign_minor >= 0n && settled_minor === paid_out_minor
  return { proved, ...sums, paid_out_minor, settled_minor, foreign_minor, differences }
}

async function differenceOf(
  { store }: ChannelProofSource,
  channel: Channel,
  state: ChannelState | null,
): Promise<{ kind: ChannelDifference['kind'] | null; charged_minor: bigint }> {
  const { channel_id } = channel
  // A channel that was taken from the chain after the loss of a store starts with what had been claimed.
  let { charged_minor } = channel
  for (let tries = 1; (await store.charges(channel)) !== charged_minor - channel.opened_minor; tries++) {
    if (tries === TRIES) return { kind: 'charges', charged_minor }
    charged_minor = (await store.find(channel_id))?.charged_minor ?? charged_minor
  }
  if (state === null) return { kind: 'unread', charged_minor }
  return { kind: state.claimed_minor > charged_minor ? 'claimed_more' : null, charged_minor }
}

/** Parts that calls, deposits and refunds of payment channels share. */
export interface ChannelServiceParts extends Omit<ChannelChainParts, 'store' | 'clock' | 'chain'> {
  /** Parts of the payments of the scheme exact: deposits are payments of that kind to the collector. */
  payments: PaymentServiceParts
  store: Pick<Store, 'channels' | 'take' | 'give_back'>
  chain: Pick<Chain, 'read'>
  steady_ms(): number
  /** Chain of the channels; that of `hashes`. */
  chain_id: number
  hashes: ChannelHashes
  /** Address that signs claims and refunds. */
  receiver_authorizer: string
  gas: Pick<GasWatch, 'now' | 'leastDeposit' | 'takesPayments'>
  crypto: ReceiptCrypto
  /** Counts payments of a client that failed after a read of the chain. */
  failures: FailureCount
  /** Budget of reads of the chain. */
  trips: Pick<RoundTrips, 'take'>
  networkHash: NetworkHash
}

/** Parts with what the service makes for itself. */
export interface ChannelParts extends ChannelServiceParts, ChannelChainParts {
  store: ChannelServiceParts['store']
  chain: ChannelServiceParts['chain']
  turns: ChannelTurns
  /**
   * Channels as this process last read or charged them, by their ids, so that most vouchers are verified without a read of the store. Another
   * process may have changed a channel since; the conditional write of a charge compares it with the store again.
   */
  remembered: RecentMap<Channel>
}

/** Key of the payment row of a voucher: its payer and its digest. */
export function voucherKey(parts: ChannelParts, payment: ChannelPayment): PaymentKey {
  return { payer: payment.config.payer, nonce: signedVoucher(parts, payment).nonce }
}

/** True when the voucher is signed by the authorizer of its channel. */
export function isSigned(parts: ChannelParts, payment: ChannelPayment): boolean {
  return signedVoucher(parts, payment).is_signed()
}

interface SignedVoucher {
  /** Those of the network on which it was hashed. */
  hashes: ChannelHashes
  /** Digest of the voucher. */
  nonce: string
  is_signed(): boolean
}

/** Admission, replay, verification and charge ask for the same digest and signer, so they are computed once. */
const signedVouchers = new WeakMap<ChannelPayment, SignedVoucher>()

function signedVoucher({ hashes, payments }: ChannelParts, payment: ChannelPayment): SignedVoucher {
  const known = signedVouchers.get(payment)
  if (known?.hashes === hashes) return known
  const { channel_id, total_minor, signature, config } = payment
  const digest = hashes.voucher(channel_id, total_minor)
  const is_signed = once(() => signerOf(digest, signature, payments.crypto) === config.payer_authorizer)
  const found = { hashes, nonce: toHex(digest), is_signed }
  signedVouchers.set(payment, found)
  return found
}

/** Returns the refusal of a client with too many failed payments in the last minute; null for any other. */
export function countFault({ failures }: Pick<ChannelParts, 'failures'>, client: string): PaymentRefusal | null {
  const wait_s = failures.wait_s(client)
  return wait_s > 0 ? refusals.refusalForCheck(tooManyFailures(wait_s)) : null
}

/** Checks that need neither store nor chain, in the order of the official facilitator; null when all pass. */
export function termsFault(parts: ChannelParts, payment: ChannelPayment, acceptable: AcceptableTerms): PaymentRefusal | null {
  const { accepted, config } = payment
  const { pay_to, token, chain_id } = acceptable
  if (payment.network !== caip2(chain_id)) return refusals.channelRefusal('network')
  if (!isOfConfig(parts, payment)) return refusals.channelRefusal('channel_id')
  const [receiver, asset] = [pay_to.toLowerCase(), token.address.toLowerCase()]
  const fits = { receiver, token: asset, receiver_authorizer: parts.receiver_authorizer, withdraw_delay_s: parts.rules.withdraw_delay_s }
  const misfit = configFault(config, fits)
  if (misfit !== null) return refusals.channelRefusal(misfit)
  if (accepted.pay_to !== receiver) return refusals.channelRefusal('receiver')
  if (accepted.asset !== asset) return refusals.channelRefusal('token')
  if (payment.refund === null && !acceptable.amounts.has(accepted.amount_minor)) {
    const detail = 'accepted.amount is neither the current price nor a quoted price that is still valid. See the amount in accepts.'
    return refusals.refusalForCheck({ code: 'PRICE_MISMATCH', detail, x402_reason: CHANNEL_ERRORS.cumulative_mismatch })
  }
  return isSigned(parts, payment) ? null : refusals.channelRefusal('voucher_signature')
}

/** True when the channel id is that of the config. */
export function isOfConfig({ remembered, hashes }: ChannelParts, { channel_id, config }: ChannelPayment): boolean {
  const known = remembered.get(channel_id)
  return (known !== undefined && isSameConfig(known, config)) || hashes.channelId(config) === channel_id
}

function isSameConfig(one: ChannelConfig, other: ChannelConfig): boolean {
  return (
    one.payer === other.payer &&
    one.payer_authorizer === other.payer_authorizer &&
    one.receiver === other.receiver &&
    one.receiver_authorizer === other.receiver_authorizer &&
    one.token === other.token &&
    one.withdraw_delay_s === other.withdraw_delay_s &&
    one.salt === other.salt
  )
}

/** The channel as this process remembers it, while its mirrored state is fresh enough. */
export function rememberedChannel({ remembered, rules, clock }: ChannelParts, channel_id: string): Channel | null {
  const known = remembered.get(channel_id)
  return known !== undefined && clock.now_ms() - known.synced_ms < rules.fresh_ms ? known : null
}

/**
 * Returns the channel with a mirrored state that is fresh enough; null when the chain cannot be read. A channel that is not known here, as after
 * the loss of a store, starts from what was claimed on the chain: what was charged beyond it is not charged again.
 */
export async function currentChannel(parts: ChannelParts, payment: ChannelPayment, how: { fresh: boolean }): Promise<Channel | null> {
  const channel = await readChannel(parts, payment, how)
  if (channel !== null && channel.balance_minor > 0n) parts.remembered.set(channel.channel_id, channel)
  return channel
}

async function readChannel(parts: ChannelParts, payment: ChannelPayment, { fresh }: { fresh: boolean }): Promise<Channel | null> {
  const { store, rules, clock } = parts
  const known = await store.channels.find(payment.channel_id)
  if (known !== null && !fresh && clock.now_ms() - known.synced_ms < rules.fresh_ms) return known
  if (!parts.trips.take()) return null
  try {
    if (known !== null) return (await syncChannels(parts, [known]))[0] ?? null
    return await newChannel(parts, payment)
  } catch (error) {
    if (isChainFault(error)) return null
    throw error
  }
}

async function newChannel(parts: ChannelParts, { channel_id, config }: ChannelPayment): Promise<Channel | null> {
  const { store, chain, clock } = parts
  const now_ms = clock.now_ms()
  const [state = null] = await readChannelStates(chain, [channel_id])
  if (state === null) return null
  const opened_minor = state.claimed_minor
  const progress = {
    opened_minor,
    charged_minor: opened_minor,
    signature: '',
    refund_minor: 0n,
    synced_ms: now_ms,
    created_ms: now_ms,
    used_ms: 0,
    last_nonce: null,
    last_network_hash: null,
  }
  const channel = { channel_id, asset: parts.payments.asset, ...config, ...state, ...progress }
  if (state.balance_minor === 0n) return channel
  await store.channels.add(channel)
  // Another process may have been faster, and may have charged it.
  return store.channels.find(channel_id)
}

/** Turns of the calls that use one payment channel, in order of arrival. */
export interface ChannelTurns {
  /** Resolves with the function that ends the turn; null when too many wait. */
  take(channel_id: string): Promise<(() => void) | null>
}
