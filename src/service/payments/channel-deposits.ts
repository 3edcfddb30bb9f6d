import type { Channel } from '../../ports/channels.ts'
import type { ClaimRequest, Payment, PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest } from '../../ports/store.ts'
import {
  AUTHORIZATION_COLLECTOR,
  CHANNEL_SETTLEMENT,
  type DepositAuthorization,
  depositCall,
  depositDigest,
  depositNonce,
  signerOf,
} from '../../pure/payments/channels.ts'
import { authorizationStateCall, balanceCall, decodeBool, decodeUint } from '../../pure/payments/token-calls.ts'
import { isChainFault } from '../chain-fault.ts'
import { limits } from '../limits.ts'
import { takeEach } from './allowance.ts'
import { type ChannelParts, currentChannel } from './channel-chain.ts'
import { faultOf, UNREAD_STATE, type VoucherFault } from './channel-presence.ts'
import type { ChannelPayment } from './payment-header.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { settlingRow } from './payment-claims.ts'
import type { BoundRequest, PaymentResult } from './payment-parts.ts'
import { identifierTaken } from './payment-service.ts'
import { mayClaimAgain, pendingPayment, resultOf } from './payment-results.ts'
import { claimWithinBalance } from './reserved-balances.ts'
import { paymentContext, resendHashes, tokenHash } from './resends.ts'
import { mayStillExecute, type SettleResult } from './settlement.ts'
import { checkWindow } from './terms.ts'

/** A deposit that has to be sent or waited for before the voucher can be charged. */
export interface DepositPlan {
  key: PaymentKey
  authorization: DepositAuthorization
  /** Null when the deposit was sent before. */
  send: { settler: string; balance_minor: bigint } | null
}

/**
 * Decision on a deposit. `arrived`: it is there already; `refusal` ends the payment when the voucher cannot be charged
 * nevertheless, null where the state of the channel says why.
 */
type Planned =
  | { kind: 'planned'; channel: Channel; deposit: DepositPlan }
  | { kind: 'arrived'; refusal: PaymentResult | null }
  | VoucherFault
  | PaymentResult

/**
 * Decides whether a deposit has to be sent. Its signature is public once any transaction carries it, and any party may send that: a deposit that
 * cannot be sent is refused only when neither the store nor the chain shows that it was sent meanwhile.
 */
export async function planDeposit(
  parts: ChannelParts,
  request: BoundRequest,
  payment: ChannelPayment,
  authorization: DepositAuthorization,
): Promise<Planned> {
  const { payments } = parts
  const key = { payer: payment.config.payer, nonce: depositNonce(payment.channel_id, authorization.salt, payments.crypto) }
  const known = await planKnown(parts, payment, authorization, key)
  if (known !== null) return known
  const channel = await fundedChannel(parts, payment, authorization)
  if (channel.kind === 'fault') return channel
  const checked = await checkDeposit(parts, request, { payment, authorization, key })
  if (checked.kind !== 'refused') return { kind: 'planned', channel: channel.found, deposit: { key, authorization, send: checked } }
  const meanwhile = await planKnown(parts, payment, authorization, key)
  if (meanwhile !== null) return meanwhile
  return (await isUsed(parts, payment, key)) ? { kind: 'arrived', refusal: null } : checked
}

/** Plans a deposit that the store knows as sent; null for one that may be sent. */
async function planKnown(
  parts: ChannelParts,
  payment: ChannelPayment,
  authorization: DepositAuthorization,
  key: PaymentKey,
): Promise<Planned | null> {
  const { payments } = parts
  const row = await payments.store.find(key)
  if (row === null || mayClaimAgain(row, payments.clock.now_ms())) return null
  // Sent before, and the answer was lost: the voucher is taken as one without a deposit.
  if (row.state === 'settled') return { kind: 'arrived', refusal: null }
  if (row.state === 'refused' || row.state === 'lost') {
    const refusal = await resultOf(payments, row)
    const may_have_arrived = mayStillExecute(row, Math.floor(payments.clock.now_ms() / 1_000)) && (await isUsed(parts, payment, key))
    return may_have_arrived ? { kind: 'arrived', refusal } : refusal
  }
  const channel = await fundedChannel(parts, payment, authorization)
  return channel.kind === 'fault' ? channel : { kind: 'planned', channel: channel.found, deposit: { key, authorization, send: null } }
}

/** The channel as it is before the deposit; a fault when the voucher could not be charged after it. */
async function fundedChannel(
  parts: ChannelParts,
  payment: ChannelPayment,
  { amount_minor }: DepositAuthorization,
): Promise<{ kind: 'found'; found: Channel } | VoucherFault> {
  const found = await currentChannel(parts, payment, { fresh: true })
  if (found === null) return UNREAD_STATE
  return faultOf(payment, { ...found, balance_minor: found.balance_minor + amount_minor }) ?? { kind: 'found', found }
}

/** True when the chain shows the authorization of the deposit as used. It names the channel, so it can only have paid into that, or been cancelled. */
async function isUsed({ chain, trips }: ChannelParts, { config }: ChannelPayment, { payer, nonce }: PaymentKey): Promise<boolean> {
  if (!trips.take()) return false
  const [state] = await chain
    .read([{ kind: 'call', to: config.token, data: authorizationStateCall(payer, nonce) }])
    .catch((error: unknown) => {
      if (isChainFault(error)) return []
      throw error
    })
  return state?.ok === true && decodeBool(state.data) === true
}

interface DepositCheck {
  payment: ChannelPayment
  authorization: DepositAuthorization
  key: PaymentKey
}

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

async function checkDeposit(parts: ChannelParts, request: BoundRequest, check: DepositCheck) {
  const { payments, rules, gas } = parts
  const { payment, authorization, key } = check
  if (!gas.takesPayments()) return refusals.gasTooDear(gas.now())
  const by_price = payment.accepted.amount_minor * rules.least_deposit_prices
  if (authorization.amount_minor < by_price || authorization.amount_minor < gas.leastDeposit())
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

/** A voucher that can be charged once its deposit, if there is one, is in the channel. */
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
  // Another process may have claimed the same deposit.
  if (!budget.granted) return (await payments.store.find(key)) ?? refusals.tooManyDeposits()
  // Durable before the deposit, so that the channel is known after a crash.
  await store.channels.add(channel)
  const asked = depositRequest(parts, { request, payment, authorization, key, balance_minor })
  const claimed = await claimWithinBalance(payments, asked)
  if (claimed.kind !== 'claimed') {
    await budget.give_back()
    if (claimed.kind === 'identifier_taken') {
      return identifierTaken(payments, claimed.payment, { purpose: 'call', subject: request.tool, input_hash: request.input_hash })
    }
    return claimed.kind === 'exists' ? claimed.payment : refusals.channelRefusal('insufficient_balance')
  }
  await store.channels.note_deposit(channel.channel_id, { nonce: key.nonce, network_hash: asked.network_hash })
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
