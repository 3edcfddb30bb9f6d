import * as calls from '../../pure/payments/channels.ts'
import type { ChannelClaim, ChannelHashes, ChannelState } from '../../pure/payments/channels.ts'
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

export type ChannelRules = { readonly [Name in keyof typeof CHANNEL_RULES]: (typeof CHANNEL_RULES)[Name] extends bigint ? bigint : number }

const READS_OF_CHANNEL = 3
/** Channels in one round trip: public nodes accept no more than a hundred reads. */
const CHANNELS_AT_ONCE = 30

/** Reads the states of channels, at the newest block by default; null for one that the contract did not answer. Rejects as the chain does. */
export async function readChannelStates(chain: Pick<Chain, 'read'>, ids: readonly string[], at?: bigint): Promise<(ChannelState | null)[]> {
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

export interface ChannelChainParts {
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
export async function syncChannels({ store, chain, clock }: ChannelChainParts, channels: readonly Channel[]): Promise<Channel[]> {
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
  const { store, asset, rules, pay_to, token } = parts
  const claimable = await store.channels.claimable(asset, rules.claim_items)
  const open_minor = claimable.reduce((sum, { charged_minor, claimed_minor }) => sum + charged_minor - claimed_minor, 0n)
  // A withdrawal has begun: what is not claimed when it ends is lost.
  const in_withdrawal = claimable.some(({ withdraw_minor }) => withdraw_minor > 0n)
  if (claimable.length === 0 || !(in_withdrawal || is_due || open_minor >= rules.claim_minor)) return null
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
