import type { BlockHeader, Chain, TransactionReceipt } from '../../ports/chain.ts'
import type { Payment, SettledAt } from '../../ports/payments.ts'
import { decodeBool } from '../../pure/payments/abi.ts'
import {
  addressTopic,
  AUTHORIZATION_USED_TOPIC,
  authorizationStateCall,
  decodeAuthorizationUsed,
  decodeTransfer,
} from '../../pure/payments/token-calls.ts'

/** Blocks of the first step back; each further step is twice as long. */
const FIRST_STEP = 32n

/**
 * A block that is at least as old as the time, found in steps that double: at most about as many blocks too early as there are blocks since
 * then. Where the node has no such block, its chain begins after it, and a log query from there finds the same.
 */
export async function blockBefore(chain: Pick<Chain, 'head' | 'header'>, time_s: number): Promise<bigint> {
  const head = await chain.head()
  for (let back = FIRST_STEP; back <= head.number; back *= 2n) {
    const header = await chain.header(head.number - back)
    // The chain may begin above zero, as a local one does.
    if (header === null || header.timestamp_s <= time_s) return head.number - back
  }
  return 0n
}

/** What the chain says of one payment. Nothing else closes a payment: no answer of a node to a sending, no facilitator, no clock of ours. */

/** keccak-256 of AuthorizationCanceled(address,bytes32), EIP-3009. */
const AUTHORIZATION_CANCELED_TOPIC = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

/** Blocks of one log query, and queries for one payment: more than an hour of any chain served here. */
const LOG_BLOCKS = 2_000n
const LOG_QUERIES = 20n
/** Reads in one round trip; public nodes take no more. */
const READS_AT_ONCE = 100
/** How far the clock of the store and that of the chain may differ. */
const CLOCK_SKEW_S = 120

/**
 * `settled`: used, and moved exactly this value to exactly this recipient, whoever sent it. `used_without_transfer`: it can never pay us.
 * `unused_and_expired`: unused when it had run out, at a block that is final. `open`: anything may still happen; `used` says whether the
 * newest state has it used while no proof is found yet.
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

/** What counts as final: what the node calls so, or a depth below the head, where that tag lags by design or not at all. */
export type Finality = { by: 'tag' } | { by: 'depth'; blocks: bigint }

export interface EvidenceSource {
  chain: Pick<Chain, 'head' | 'header' | 'read' | 'receipt' | 'logs'>
  /** Address of the token, lower case. */
  token: string
  finality: Finality
}

/** The newest final block; null when there is none yet. */
export async function finalHeader({ chain, finality }: Pick<EvidenceSource, 'chain' | 'finality'>): Promise<BlockHeader | null> {
  if (finality.by === 'tag') return chain.header('finalized')
  const { number } = await chain.head()
  return number < finality.blocks ? null : chain.header(number - finality.blocks)
}

/**
 * Whether this receipt proves the payment: the token's AuthorizationUsed of payer and nonce, and as the very next log the token's Transfer of
 * the value to the recipient. The next, since one transaction may use several authorizations of one payer, and a transfer of one must not
 * prove another.
 */
export function proofIn(receipt: TransactionReceipt, payment: Payment, token: string): SettledAt | null {
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

/** Whether the token has each authorization as used or cancelled; null where it gave no clear answer. */
export async function usedStates(source: EvidenceSource, payments: readonly Payment[], at?: bigint): Promise<(boolean | null)[]> {
  const used: (boolean | null)[] = []
  for (let index = 0; index < payments.length; index += READS_AT_ONCE) {
    const some = payments.slice(index, index + READS_AT_ONCE)
    const reads = some.map(({ payer, nonce }) => ({ kind: 'call' as const, to: source.token, data: authorizationStateCall(payer, nonce) }))
    const results = await source.chain.read(reads, at)
    for (const place of some.keys()) {
      const result = results[place]
      used.push(result?.ok === true ? decodeBool(result.data) : null)
    }
  }
  return used
}

/** Rejects as the chain does. Errs towards `open`: a node that is behind, or shows no logs, closes nothing. */
export async function evidenceOf(source: EvidenceSource, payment: Payment, used_now?: boolean | null): Promise<Evidence> {
  const used = used_now === undefined ? (await usedStates(source, [payment]))[0] : used_now
  if (used === true) return usedEvidence(source, payment)
  const final = used === false ? await finalHeader(source) : null
  if (final === null || BigInt(final.timestamp_s) < payment.valid_before_s) return { kind: 'open', used: false }
  const [used_then] = await usedStates(source, [payment], final.number)
  return used_then === false ? { kind: 'unused_and_expired' } : { kind: 'open', used: used_then === true }
}

async function usedEvidence(source: EvidenceSource, payment: Payment): Promise<Evidence> {
  const known = payment.transaction === null ? null : await source.chain.receipt(payment.transaction)
  const mine = known === null ? null : proofIn(known, payment, source.token)
  if (mine !== null) return { kind: 'settled', at: mine }
  const from_block = await blockBefore(source.chain, Math.floor(payment.created_ms / 1_000) - CLOCK_SKEW_S)
  const transaction = await findLog(source, payment, AUTHORIZATION_USED_TOPIC, from_block)
  if (transaction !== null) {
    const receipt = await source.chain.receipt(transaction)
    if (receipt === null) return { kind: 'open', used: true }
    const at = proofIn(receipt, payment, source.token)
    return at === null ? { kind: 'used_without_transfer', reason: 'authorization_used_elsewhere', transaction } : { kind: 'settled', at }
  }
  const cancelled = await findLog(source, payment, AUTHORIZATION_CANCELED_TOPIC, from_block)
  if (cancelled !== null) return { kind: 'used_without_transfer', reason: 'authorization_cancelled', transaction: cancelled }
  return usedUnseen(source, payment)
}

/** Used, and no log since the claim: it was used before, or this node does not show its logs yet. Time past the window tells them apart. */
async function usedUnseen(source: EvidenceSource, payment: Payment): Promise<Evidence> {
  const final = await finalHeader(source)
  if (final === null || BigInt(final.timestamp_s) < payment.valid_before_s) return { kind: 'open', used: true }
  const [used_then] = await usedStates(source, [payment], final.number)
  if (used_then !== true) return { kind: 'open', used: true }
  return { kind: 'used_without_transfer', reason: 'authorization_used_before', transaction: null }
}

/** Hash of the transaction with this log of the token for payer and nonce, newest block range last. */
async function findLog(source: EvidenceSource, payment: Payment, topic: string, from_block: bigint): Promise<string | null> {
  const { number: head } = await source.chain.head()
  const first = head - from_block > LOG_BLOCKS * LOG_QUERIES ? head - LOG_BLOCKS * LOG_QUERIES : from_block
  for (let from = first; from <= head; from += LOG_BLOCKS) {
    const to_block = from + LOG_BLOCKS - 1n < head ? from + LOG_BLOCKS - 1n : head
    const topics = [topic, addressTopic(payment.payer), payment.nonce]
    const [log] = await source.chain.logs({ address: source.token, topics, from_block: from, to_block })
    if (log !== undefined) return log.transaction_hash
  }
  return null
}
