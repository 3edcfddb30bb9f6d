import type { Payment, PaymentKey, PaymentStore, SettledAt } from '../../ports/payments.ts'
import type { PaymentState } from '../../pure/payments/states.ts'
import { assetNetwork, assetToken, currencyOf } from '../../pure/networks.ts'
import type { ChannelState } from '../../pure/payments/channels.ts'
import type { BlockHeader, Chain, TransactionReceipt } from '../../ports/chain.ts'
import {
  decodeBool,
  addressTopic,
  AUTHORIZATION_USED_TOPIC,
  authorizationStateCall,
  decodeAuthorizationUsed,
  decodeTransfer,
} from '../../pure/payments/token-calls.ts'

/** On-chain payment of a call, as shown in its answer. */
export interface Settlement {
  /** CAIP-2. */
  network: string
  /** Null for a voucher: many of them are claimed later in one transaction. */
  transaction: string | null
  payer: string
  /** In minor units of the token. */
  amount_minor: string
  method: 'self' | 'facilitator' | 'channel'
  /** CAIP-19 id of a token other than USDC. */
  asset?: string
}

/** Settlement with the call that it paid for, for the signed receipt of x402; null for an invoice. */
export interface PaidSettlement extends Settlement {
  sold: { tool: string; settled_s: number } | null
  /** Of a voucher. */
  channel?: ChargedChannel
}

/** A payment channel after a charge, as x402 shows it to its payer. */
export interface ChargedChannel {
  channel_id: string
  charged_minor: bigint
  /** Total charged so far. */
  cumulative_minor: bigint
  /** Mirrored state of the chain; null for a stored answer. */
  state: ChannelState | null
  /** The deposit that came with the voucher. */
  deposit: { transaction: string; amount_minor: bigint } | null
}

/** Payment of a call by a prepaid credit, which moves nothing on chain. */
export interface CreditSettlement {
  network: null
  transaction: null
  /** The zero address, as in the receipt. */
  payer: string
  amount_minor: string
  method: 'credit'
}

/** A payment whose result is not known yet, with the token that opens its answer. */
export interface Pending extends PaymentKey {
  transaction: string | null
  /** Opens the answer at `/v1/answers/{token}`. */
  token: string
}

export function settlementOf(
  payment: Pick<Payment, 'asset' | 'method' | 'transaction' | 'payer' | 'value_minor'>,
  chain_id: number,
): Settlement {
  return {
    network: assetNetwork(payment.asset) ?? `eip155:${chain_id}`,
    transaction: payment.method === 'channel' ? null : (payment.transaction ?? ''),
    payer: payment.payer,
    amount_minor: payment.value_minor.toString(),
    method: payment.method ?? 'self',
    ...(payment.asset === null || currencyOf(payment.asset) === 'USDC' ? {} : { asset: payment.asset }),
  }
}

/**
 * Reasons for a refusal after which the authorization can no longer be executed, or which are given only before it left this deployment.
 */
const CONCLUSIVE_REASONS: ReadonlySet<string | null> = new Set([
  'authorization_cancelled',
  'authorization_used_elsewhere',
  'authorization_used_before',
  'authorization_expired',
  'expired_unused',
  'facilitator_unreachable',
])

/** Maximum clock difference between chain and service, plus the delay until a transfer that was mined in time becomes visible. */
const UNSEEN_S = 120n

/**
 * Returns true when a refused payment may still be executed: its authorization was in public calldata, or a facilitator has it, and it is
 * neither used nor expired. Then it is not known yet whether the payer is charged.
 */
export function mayStillExecute({ state, reason, final, transaction, valid_before_s }: Payment, now_s: number): boolean {
  if (state !== 'refused' || final || CONCLUSIVE_REASONS.has(reason)) return false
  if (reason === 'out_of_time' && transaction === null) return false
  return BigInt(now_s) < valid_before_s + UNSEEN_S
}

/** Result of a settlement when the wait for it is over. `pending`: it may still settle. */
export type SettleResult =
  | { kind: 'settled'; payment: Payment }
  | { kind: 'refused'; payment: Payment }
  | { kind: 'pending'; transaction: string | null }
  /** Released without being sent. */
  | { kind: 'unsent' }

/**
 * Settler that can accept a payment now: the gas wallet's address or the facilitator's origin. When not ready, no payment may be claimed.
 */
type Readiness = { ok: true; settler: string } | { ok: false; detail: string; retry_after_s: number }

/** Sends payments to the chain. It gets a payment only after its row says `settling`, and records the result by itself, on evidence. */
export interface Settler {
  readonly method: 'self' | 'facilitator'
  ready(payer: string): Promise<Readiness>
  /**
   * Returns the daily limit of the gas that failed settlements of one client network may cost, and the cost of one; null when others pay
   * for the gas.
   */
  gas_share(): { network_wei: bigint; failure_wei: bigint } | null
  /** Never rejects once the row says settling; an undecided settlement is `pending`. */
  settle(payment: Payment, wait_ms: number): Promise<SettleResult>
}

/**
 * Points at which a crash is tested. Each is awaited where it is named; a test passes a function that kills the process, the service one
 * that does nothing.
 */
export const FAULT_POINTS = ['after_claim', 'after_prepare', 'before_send', 'after_send', 'before_settled_row'] as const
/** The same for payment channels, whose deposits and claims pass those above as well. */
export const CHANNEL_FAULT_POINTS = ['before_charge', 'after_charge', 'after_refund_row'] as const
export type FaultPoint = (typeof FAULT_POINTS | typeof CHANNEL_FAULT_POINTS)[number]
export type FaultHook = (point: FaultPoint) => Promise<void>

/** Blocks of the first step back; each further step doubles. */
const FIRST_STEP = 32n

/**
 * Returns a block that is at least as old as the time, found in steps that double: it is at most about as many blocks too early as there
 * are blocks since then. When the node has no such block, its chain begins later, and a log query from the returned number finds the same.
 */
export async function blockBefore(chain: Pick<Chain, 'head' | 'header'>, time_s: number): Promise<bigint> {
  const head = await chain.head()
  for (let back = FIRST_STEP; back <= head.number; back *= 2n) {
    const header = await chain.header(head.number - back)
    // A chain may begin above block zero, as a local test chain does.
    if (header === null || header.timestamp_s <= time_s) return head.number - back
  }
  return 0n
}

/** keccak-256 of AuthorizationCanceled(address,bytes32), EIP-3009. */
const AUTHORIZATION_CANCELED_TOPIC = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

/** Blocks of a log query, and queries for one payment: together more than an hour on every supported chain. */
const LOG_BLOCKS = 2_000n
const LOG_QUERIES = 20n
/** Reads in one round trip; public nodes accept no more. */
const READS_AT_ONCE = 100
/** Maximum difference between the clocks of store and chain. */
const CLOCK_SKEW_S = 120

/**
 * Chain evidence for one payment. Only evidence ends a payment, never the answer of a node to a sending, of a facilitator, or a timeout.
 * `settled`: used, and moved exactly this value to exactly this recipient, by any sender. `used_without_transfer`: it can never pay the
 * recipient. `unused_and_expired`: unused at a final block after its expiry. `open`: undecided; `used` is true when the newest state has it
 * as used but no proof was found yet.
 */
export type Evidence =
  | { kind: 'settled'; at: SettledAt }
  | {
      kind: 'used_without_transfer'
      reason: 'authorization_cancelled' | 'authorization_used_elsewhere' | 'authorization_used_before'
      transaction: string | null
    }
  | { kind: 'unused_and_expired' }
  | { kind: 'open'; used: boolean }

/** Members of a payment by which the chain shows it. */
export type Authorized = Pick<Payment, 'payer' | 'nonce' | 'asset' | 'to' | 'value_minor'>

/** Finality: the node's `finalized` tag, or a depth below the head, for chains where the tag lags by design or does not advance. */
type Finality = { by: 'tag' } | { by: 'depth'; blocks: bigint }

export interface EvidenceSource {
  chain: Pick<Chain, 'head' | 'header' | 'read' | 'receipt' | 'logs'>
  /** Address of the token of payments without an asset, lower case. */
  token: string
  /** Assets of the payments on this chain; null for USDC on the network of the deployment. */
  assets: readonly (string | null)[]
  finality: Finality
}

/** Returns the payments of this chain in these states, so that those of another chain never take the place of one of them. */
export async function inStatesOf(
  store: { payments: Pick<PaymentStore, 'in_states'> },
  { assets }: Pick<EvidenceSource, 'assets'>,
  states: readonly PaymentState[],
  options: { final: boolean | null; updated_before_ms: number; limit: number },
): Promise<Payment[]> {
  const found = await Promise.all(assets.map((asset) => store.payments.in_states(states, { ...options, asset })))
  return found.flat()
}

/** Returns the address of the token of a payment, lower case. */
export function tokenOf({ token }: Pick<EvidenceSource, 'token'>, { asset }: Pick<Payment, 'asset'>): string {
  return asset === null ? token : assetToken(asset)
}

/** Returns the newest final block; null when there is none yet. */
export async function finalHeader({ chain, finality }: Pick<EvidenceSource, 'chain' | 'finality'>): Promise<BlockHeader | null> {
  if (finality.by === 'tag') return chain.header('finalized')
  const { number } = await chain.head()
  return number < finality.blocks ? null : chain.header(number - finality.blocks)
}

/**
 * Returns where this receipt proves the payment: the token's AuthorizationUsed of payer and nonce, and as the very next log the token's
 * Transfer of the value to the recipient; null otherwise. Only the next log counts, since one transaction may use several authorizations of
 * one payer, and the transfer of one must not prove another.
 */
export function settlementProof(receipt: TransactionReceipt, payment: Authorized, token: string): SettledAt | null {
  if (!receipt.succeeded) return null
  const used = receipt.logs.find((log) => {
    const found = log.address === token ? decodeAuthorizationUsed(log) : null
    return found !== null && found.payer === payment.payer && found.nonce === payment.nonce
  })
  const next = used === undefined ? undefined : receipt.logs.find((log) => log.log_index === used.log_index + 1 && log.address === token)
  const transfer = next === undefined ? null : decodeTransfer(next)
  if (transfer === null || transfer.from !== payment.payer || transfer.to !== payment.to || transfer.value_minor !== payment.value_minor) {
    return null
  }
  return { transaction: receipt.transaction_hash, block_number: Number(receipt.block_number), block_hash: receipt.block_hash }
}

/** Reads for each payment whether its authorization was used or cancelled; null where the token gave no clear answer. */
export async function usedStates(
  source: Pick<EvidenceSource, 'chain' | 'token'>,
  payments: readonly Pick<Payment, 'payer' | 'nonce' | 'asset'>[],
  at?: bigint,
): Promise<(boolean | null)[]> {
  const used: (boolean | null)[] = []
  for (let index = 0; index < payments.length; index += READS_AT_ONCE) {
    const some = payments.slice(index, index + READS_AT_ONCE)
    const reads = some.map((payment) => ({
      kind: 'call' as const,
      to: tokenOf(source, payment),
      data: authorizationStateCall(payment.payer, payment.nonce),
    }))
    const results = await source.chain.read(reads, at)
    for (const place of some.keys()) {
      const result = results[place]
      used.push(result?.ok === true ? decodeBool(result.data) : null)
    }
  }
  return used
}

/**
 * Collects the evidence for one payment. Rejects when the chain cannot be read. Errs towards `open`: a node that lags, or returns no logs, decides
 * nothing.
 */
export async function chainEvidence(source: EvidenceSource, payment: Payment, used_now?: boolean | null): Promise<Evidence> {
  const used = used_now === undefined ? (await usedStates(source, [payment]))[0] : used_now
  if (used === true) return usedEvidence(source, payment)
  const final = used === false ? await finalHeader(source) : null
  if (final === null || BigInt(final.timestamp_s) < payment.valid_before_s) return { kind: 'open', used: false }
  const [used_then] = await usedStates(source, [payment], final.number)
  return used_then === false ? { kind: 'unused_and_expired' } : { kind: 'open', used: used_then === true }
}

async function usedEvidence(source: EvidenceSource, payment: Payment): Promise<Evidence> {
  const known = payment.transaction === null ? null : await source.chain.receipt(payment.transaction)
  const mine = known === null ? null : settlementProof(known, payment, tokenOf(source, payment))
  if (mine !== null) return { kind: 'settled', at: mine }
  const from_block = await blockBefore(source.chain, Math.floor(payment.created_ms / 1_000) - CLOCK_SKEW_S)
  const transaction = await findLog(source, payment, AUTHORIZATION_USED_TOPIC, await newestBlocks(source, from_block))
  if (transaction !== null) {
    const receipt = await source.chain.receipt(transaction)
    if (receipt === null) return { kind: 'open', used: true }
    const at = settlementProof(receipt, payment, tokenOf(source, payment))
    return at === null ? { kind: 'used_without_transfer', reason: 'authorization_used_elsewhere', transaction } : { kind: 'settled', at }
  }
  const cancelled = await findLog(source, payment, AUTHORIZATION_CANCELED_TOPIC, await newestBlocks(source, from_block))
  if (cancelled !== null) return { kind: 'used_without_transfer', reason: 'authorization_cancelled', transaction: cancelled }
  return usedWithoutLog(source, payment)
}

/**
 * Decides on an authorization that is used without a log since its claim: it was used before, or this node does not return its logs yet.
 * Once the authorization has expired at a final block, only the first is possible.
 */
async function usedWithoutLog(source: EvidenceSource, payment: Payment): Promise<Evidence> {
  const final = await finalHeader(source)
  if (final === null || BigInt(final.timestamp_s) < payment.valid_before_s) return { kind: 'open', used: true }
  const [used_then] = await usedStates(source, [payment], final.number)
  if (used_then !== true) return { kind: 'open', used: true }
  return { kind: 'used_without_transfer', reason: 'authorization_used_before', transaction: null }
}

interface BlockRange {
  from_block: bigint
  to_block: bigint
}

/** Returns the blocks from this one to the head; of too many for one search, the newest. */
async function newestBlocks({ chain }: Pick<EvidenceSource, 'chain'>, from_block: bigint): Promise<BlockRange> {
  const { number: head } = await chain.head()
  return { from_block: head - from_block > LOG_BLOCKS * LOG_QUERIES ? head - LOG_BLOCKS * LOG_QUERIES : from_block, to_block: head }
}

/** Returns the hash of the transaction with this log of the token for payer and nonce; searches the oldest blocks first. */
async function findLog(
  source: Pick<EvidenceSource, 'chain' | 'token'>,
  payment: Authorized,
  topic: string,
  { from_block: first, to_block: head }: BlockRange,
): Promise<string | null> {
  for (let from = first; from <= head; from += LOG_BLOCKS) {
    const to_block = from + LOG_BLOCKS - 1n < head ? from + LOG_BLOCKS - 1n : head
    const topics = [topic, addressTopic(payment.payer), payment.nonce]
    const [log] = await source.chain.logs({ address: tokenOf(source, payment), topics, from_block: from, to_block })
    if (log !== undefined) return log.transaction_hash
  }
  return null
}

/**
 * Use of an authorization without a row. `paid`: it moved exactly this value to exactly this recipient. `elsewhere`: it was cancelled or
 * used for something else, so that it can never pay the recipient. `undecided`: it is used, and nothing was found out about it.
 */
export type FoundUse = { kind: 'paid'; at: SettledAt; paid_s: number } | { kind: 'elsewhere' } | { kind: 'undecided' }

/** Looks for the use of an authorization that the chain has as used, in the blocks after this time, as many as one search reads. Rejects as the chain does. */
export async function findUse(source: Pick<EvidenceSource, 'chain' | 'token'>, payment: Authorized, from_s: number): Promise<FoundUse> {
  const from_block = await blockBefore(source.chain, from_s - CLOCK_SKEW_S)
  const { number: head } = await source.chain.head()
  const most = from_block + LOG_BLOCKS * LOG_QUERIES
  const range = { from_block, to_block: most < head ? most : head }
  const transaction = await findLog(source, payment, AUTHORIZATION_USED_TOPIC, range)
  if (transaction === null) {
    const cancelled = await findLog(source, payment, AUTHORIZATION_CANCELED_TOPIC, range)
    return cancelled === null ? { kind: 'undecided' } : { kind: 'elsewhere' }
  }
  const receipt = await source.chain.receipt(transaction)
  const at = receipt === null ? null : settlementProof(receipt, payment, tokenOf(source, payment))
  if (at === null) return receipt === null ? { kind: 'undecided' } : { kind: 'elsewhere' }
  const header = await source.chain.header(BigInt(at.block_number))
  return header === null || header.hash !== at.block_hash ? { kind: 'undecided' } : { kind: 'paid', at, paid_s: header.timestamp_s }
}
