import {
  AUTHORIZATION_COLLECTOR,
  CHANNEL_ERRORS,
  CHANNEL_SETTLEMENT,
  type ChannelConfig,
  type ChannelHashes,
  configFault,
  type DepositAuthorization,
  depositCall,
  depositDigest,
  signerOf,
} from '../../pure/payments/channels.ts'
import * as refusals from './payment-refusals.ts'
import { once } from '../../pure/once.ts'
import type { Chain } from '../../ports/chain.ts'
import type { Channel } from '../../ports/channels.ts'
import type { ClaimRequest, Payment, PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { balanceCall, decodeUint } from '../../pure/payments/token-calls.ts'
import { type ReceiptCrypto, toHex } from '../../pure/receipts/crypto.ts'
import { isChainFault } from '../chain-fault.ts'
import type { NetworkHash } from '../clients.ts'
import { limits } from '../limits.ts'
import type { RecentMap } from '../recent.ts'
import { takeEach } from './allowance.ts'
import { type ChannelChainParts, readChannelStates, syncChannels } from './channel-chain.ts'
import { tooManyFailures } from './on-chain.ts'
import type { ChannelPayment } from './payment-header.ts'
import type { PaymentRefusal, ChannelCorrection } from './payment-refusals.ts'
import {
  type BoundRequest,
  type PaymentResult,
  pendingPayment,
  resultOf,
  settlingRow,
  type PaymentServiceParts,
} from './payment-service.ts'
import { paymentContext, resendHashes, tokenHash } from './resends.ts'
import { claimWithinBalance, type FailureCount, type RoundTrips } from './reserved-balances.ts'
import type { SettleResult } from './settlement.ts'
import { checkWindow, type AcceptableTerms, caip2 } from './terms.ts'

/** A deposit that has to be sent or waited for before the voucher can be charged. */
export interface DepositPlan {
  key: PaymentKey
  authorization: DepositAuthorization
  /** Null when the deposit was sent before. */
  send: { settler: string; balance_minor: bigint } | null
}

interface DepositCheck {
  payment: ChannelPayment
  authorization: DepositAuthorization
  key: PaymentKey
}

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

export async function checkDeposit(parts: ChannelParts, request: BoundRequest, check: DepositCheck) {
  const { payments, rules } = parts
  const { payment, authorization, key } = check
  if (authorization.amount_minor < payment.accepted.amount_minor * rules.least_deposit_prices)
    return refusals.channelRefusal('deposit_below_min')
  const now_s = Math.floor(payments.clock.now_ms() / 1_000)
  const transfer = { from: key.payer, to: AUTHORIZATION_COLLECTOR, value_minor: authorization.amount_minor, nonce: key.nonce }
  const window = checkWindow({ ...transfer, ...authorization }, now_s, WINDOW)
  if (!window.ok) return refusals.channelRefusal(window.code === 'NOT_YET_VALID' ? 'valid_after' : 'valid_before')
  const shut_out = await payments.payerStatus.refusal(key.payer, request.address)
  if (shut_out !== null) return shut_out
  const ready = await payments.settler.ready(key.payer)
  if (!ready.ok) return refusals.settlementUnavailable(ready.detail, ready.retry_after_s)
  const simulated = await simulateDeposit(parts, check)
  if (typeof simulated !== 'bigint') return simulated
  return { kind: 'checked' as const, settler: ready.settler, balance_minor: simulated }
}

/** Returns the balance of the payer when the deposit would succeed now. */
async function simulateDeposit(parts: ChannelParts, { payment, authorization, key }: DepositCheck): Promise<bigint | PaymentRefusal> {
  const { chain, trips, payments } = parts
  const { config } = payment
  if (!trips.take()) return refusals.channelRefusal('state_unavailable')
  const results = await chain
    .read([
      { kind: 'call', to: config.token, data: balanceCall(key.payer) },
      { kind: 'call', to: CHANNEL_SETTLEMENT, data: depositCall(config, authorization) },
    ])
    .catch((error: unknown) => {
      if (isChainFault(error)) return []
      throw error
    })
  const [held, simulated] = results
  const balance_minor = held?.ok === true ? decodeUint(held.data) : null
  if (balance_minor === null || simulated === undefined) return refusals.channelRefusal('state_unavailable')
  if (simulated.ok) return balance_minor
  if (balance_minor < authorization.amount_minor) return refusals.channelRefusal('insufficient_balance')
  const { name, version } = { name: payment.accepted.domain_name ?? '', version: payment.accepted.domain_version ?? '' }
  const token = { name, version, chain_id: parts.chain_id, address: config.token }
  const digest = depositDigest(token, { ...authorization, payer: key.payer, nonce: key.nonce }, parts.crypto)
  const is_payers = signerOf(digest, authorization.signature, payments.crypto) === key.payer
  return refusals.channelRefusal(is_payers ? 'deposit_simulation' : 'receive_signature')
}

export interface OpenVoucher {
  request: BoundRequest
  payment: ChannelPayment
  channel: Channel
  deposit: DepositPlan | null
}

/** Reads the channel until it shows the deposit: the node that is asked may be behind the one that returned the receipt. */
export async function depositedChannel(parts: ChannelParts, { payment, channel }: OpenVoucher): Promise<Channel | null> {
  const until_ms = parts.clock.steady_ms() + parts.rules.deposit_seen_ms
  await parts.store.channels.add(channel)
  for (;;) {
    const found = await currentChannel(parts, payment, { fresh: true })
    if (found !== null && found.balance_minor - found.withdraw_minor >= payment.total_minor) return found
    if (parts.clock.steady_ms() >= until_ms) return null
    await new Promise((resolve) => setTimeout(resolve, limits.settlement_poll_ms))
  }
}

type Deposited = Extract<SettleResult, { kind: 'settled' }> | PaymentResult

export async function sendDeposit(parts: ChannelParts, voucher: OpenVoucher, plan: DepositPlan): Promise<Deposited> {
  const { payments } = parts
  const row = plan.send === null ? await payments.store.find(plan.key) : await claimDeposit(parts, voucher, plan, plan.send)
  if (row === null) return refusals.claimExpired()
  if (!('state' in row)) return row
  const result = await payments.settler.settle(row, limits.settle_wait_ms)
  switch (result.kind) {
    case 'settled':
      return result
    case 'refused':
      await payments.payerStatus.failed(result.payment, voucher.request.address).catch((error: unknown) => payments.onFault(error))
      return resultOf(payments, result.payment)
    case 'pending':
      return pendingPayment(payments, plan.key, result.transaction)
    case 'unsent':
      return refusals.settlementUnavailable('Nothing was sent. Send the same payment again.')
  }
}

/** Binds the deposit, stores what sends it, and hands it to the writer of the gas wallet. */
async function claimDeposit(
  parts: ChannelParts,
  { request, payment, channel }: OpenVoucher,
  { key, authorization }: DepositPlan,
  { settler, balance_minor }: NonNullable<DepositPlan['send']>,
): Promise<Payment | PaymentResult | null> {
  const { payments, store } = parts
  const budget = await takeEach(store, depositBudgets(parts, request.address, key.payer))
  if (!budget.granted) return refusals.tooManyDeposits()
  // Durable before the deposit, so that the channel is known after a crash.
  await store.channels.add(channel)
  const asked = depositRequest(parts, { request, payment, authorization, key, balance_minor })
  const claimed = await claimWithinBalance(payments, asked)
  if (claimed.kind === 'exists') return claimed.payment
  if (claimed.kind !== 'claimed') return refusals.channelRefusal('insufficient_balance')
  await payments.reach('after_claim')
  const { fence } = claimed
  const deposit_call = depositCall(payment.config, authorization)
  if (!(await payments.store.prepare_deposit(key, fence, deposit_call, payments.clock.now_ms()))) return null
  await payments.reach('after_prepare')
  const by = { method: payments.settler.method, settler }
  const begun = await payments.store.begin_settling(key, fence, by, payments.clock.now_ms()).catch((error: unknown) => {
    payments.onFault(error)
    return 'unknown' as const
  })
  if (begun === 'unknown') return pendingPayment(payments, key, null)
  return begun ? { ...settlingRow(asked, fence, by, payments.clock.now_ms()), deposit_call } : null
}

function depositRequest(
  parts: ChannelParts,
  { request, payment, authorization, key, balance_minor }: DepositCheck & { request: BoundRequest; balance_minor: bigint },
): ClaimRequest {
  const { payments } = parts
  const now_ms = payments.clock.now_ms()
  const { amount_minor, valid_after_s, valid_before_s, signature } = authorization
  return {
    ...key,
    purpose: 'deposit',
    subject: payment.channel_id,
    input_hash: payment.channel_id,
    price_class: 'deposit',
    asset: payments.asset,
    to: AUTHORIZATION_COLLECTOR,
    value_minor: amount_minor,
    valid_after_s,
    valid_before_s,
    signature,
    ...resendHashes(payments.sealer, key, request.address, payment.identifier),
    contract_payer: false,
    balance_minor,
    now_ms,
    claim_until_ms: now_ms + limits.claim_ms,
    token_hash: tokenHash(payments, payments.sealer.token(paymentContext(key))),
  }
}

function depositBudgets(parts: ChannelParts, address: string, payer: string): AllowanceRequest[] {
  const { rules, networkHash, payments } = parts
  const day = Math.floor(payments.clock.now_ms() / 86_400_000)
  return [
    { day, bucket: 'channel-deposit', client: payer, limit: rules.deposits_daily },
    { day, bucket: 'channel-deposit-network', client: networkHash(day, address), limit: rules.deposits_daily_network },
  ]
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
  const { accepted, config, channel_id } = payment
  const { pay_to, token, chain_id } = acceptable
  if (payment.network !== caip2(chain_id)) return refusals.channelRefusal('network')
  const known = parts.remembered.get(channel_id)
  const is_its_config = known !== undefined && isSameConfig(known, config)
  if (!is_its_config && parts.hashes.channelId(config) !== channel_id) return refusals.channelRefusal('channel_id')
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

export function correctionOf(channel: Channel): ChannelCorrection {
  const { channel_id, charged_minor, signature, balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s, refund_nonce } = channel
  return { channel_id, charged_minor, signature, balance_minor, claimed_minor, withdraw_minor, withdraw_requested_s, refund_nonce }
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

/** A voucher names the total before it, so calls of one channel cannot run side by side; those of different channels do. */
export function createChannelTurns({ waiting }: { waiting: number }): ChannelTurns {
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
