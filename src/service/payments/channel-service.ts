import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { Channel, ChannelCharge } from '../../ports/channels.ts'
import {
  CHANNEL_ERRORS,
  type ChannelError,
  depositNonce,
  voucherFault,
  CHANNEL_SETTLEMENT,
  AUTHORIZATION_COLLECTOR,
  type DepositAuthorization,
  depositCall,
  depositDigest,
  signerOf,
} from '../../pure/payments/channels.ts'
import { limits } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { takeEach } from './allowance.ts'
import {
  type ChannelParts,
  type ChannelServiceParts,
  correctionOf,
  countFault,
  currentChannel,
  isSigned,
  rememberedChannel,
  termsFault,
  voucherKey,
  type ChannelTurns,
} from './channel-chain.ts'
import type { ChannelPayment } from './payment-header.ts'
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
  settlingRow,
} from './payment-service.ts'
import { EPOCH_MS } from './price-book.ts'
import { paymentContext, resendAccess, resendHashes, tokenHash } from './resends.ts'
import type { SettleResult } from './settlement.ts'
import { type AcceptableTerms, checkWindow } from './terms.ts'
import type { ClaimRequest, Payment, PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest } from '../../ports/store.ts'
import { balanceCall, decodeUint } from '../../pure/payments/token-calls.ts'
import { isChainFault } from '../chain-fault.ts'
import { claimWithinBalance } from './reserved-balances.ts'

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

/** A deposit that has to be sent or waited for before the voucher can be charged. */
interface DepositPlan {
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

async function checkDeposit(parts: ChannelParts, request: BoundRequest, check: DepositCheck) {
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

interface OpenVoucher {
  request: BoundRequest
  payment: ChannelPayment
  channel: Channel
  deposit: DepositPlan | null
}

/** Reads the channel until it shows the deposit: the node that is asked may be behind the one that returned the receipt. */
async function depositedChannel(parts: ChannelParts, { payment, channel }: OpenVoucher): Promise<Channel | null> {
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

async function sendDeposit(parts: ChannelParts, voucher: OpenVoucher, plan: DepositPlan): Promise<Deposited> {
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
