import { isChainFault } from '../chain-fault.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import {
  type Evidence,
  chainEvidence,
  type EvidenceSource,
  finalHeader,
  inStatesOf,
  settlementProof,
  tokenOf,
  usedStates,
} from './settlement.ts'
import type { PaymentTransition, Payment, PaymentKey } from '../../ports/payments.ts'
import { transitionFor, pickPaymentKey, lostIfAnswered, REORGANISED } from './wallet-send.ts'
import type { BlockHeader } from '../../ports/chain.ts'
import { EPOCH_MS } from './price-book.ts'
import type { Job } from '../jobs/jobs.ts'

const RECONCILE_EVERY_MS = 10_000

/** Compares the payments with the chain every ten seconds and passes the summary to `done`. */
export function reconcileJob(parts: ReconcileParts, done: (summary: ReconcileSummary) => void): Job {
  return { name: 'reconcile', every_ms: RECONCILE_EVERY_MS, run: async () => done(await reconcile(parts)) }
}

/** Bounds and times of the reconciler. */
export interface ReconcileRules {
  /** Age at which the reconciler checks a settling row too, in addition to its writer. */
  settling_ms: number
  /** Age at which a settled row is compared with its block: a node may lag by seconds. */
  recheck_ms: number
  /** Age at which an open row is reported. */
  overdue_ms: number
  /** Maximum number of rows of one run, and of rows that need additional chain reads. */
  rows: number
  questions: number
}

export const RECONCILE_RULES: ReconcileRules = { settling_ms: 60_000, recheck_ms: 30_000, overdue_ms: 600_000, rows: 2_000, questions: 200 }

/** Selects rows of any age, even rows dated in the future by a machine whose clock was ahead. */
export const ANY_TIME_MS = Number.MAX_SAFE_INTEGER

interface ReconcileParts {
  store: Pick<Store, 'payments'>
  source: EvidenceSource
  clock: Clock
  log: Log
  rules?: Partial<ReconcileRules>
}

interface RecheckedPayments {
  transitions: PaymentTransition[]
  final: PaymentKey[]
}

/**
 * Checks refused payments until their authorization has expired. It was in public calldata, or a facilitator has it, so another sender may
 * execute it later: then the payer has paid, and gets the answer. Rejects when the chain cannot be read.
 */
async function watchRefused({ store, source, clock, log }: ReconcileParts, rules: ReconcileRules): Promise<RecheckedPayments> {
  const options = { final: false, updated_before_ms: clock.now_ms() - rules.recheck_ms, limit: rules.rows }
  const rows = await inStatesOf(store, source, ['refused'], options)
  const found: RecheckedPayments = { transitions: [], final: [] }
  if (rows.length === 0) return found
  const final = await finalHeader(source)
  const used = await usedStates(source, rows)
  let questions = 0
  for (const [index, row] of rows.entries()) {
    if (used[index] === true && questions++ < rules.questions) {
      const evidence = await chainEvidence(source, row, true)
      if (evidence.kind === 'settled') found.transitions.push(transitionFor(row, evidence))
      if (evidence.kind === 'used_without_transfer') found.final.push(pickPaymentKey(row))
    } else if (used[index] === false && final !== null && BigInt(final.timestamp_s) >= row.valid_before_s) {
      found.final.push(pickPaymentKey(row))
    }
  }
  if (found.transitions.length > 0) log.warn({ payments: found.transitions.length }, 'refused payments were settled by other senders')
  return found
}

/** Block headers read in parallel. */
const HEADERS_IN_PARALLEL = 10

interface Rechecked {
  transitions: PaymentTransition[]
  final: PaymentKey[]
}

/**
 * Compares settled rows with the current chain. A row whose block is still there and final becomes final; one whose transaction is now in
 * another block is moved to that block; one whose transaction is gone becomes unknown, and its writer sends the same bytes again. Checks
 * the oldest blocks, which become final next, and the newest, which change most. Rejects when the chain cannot be read.
 */
async function recheckSettled({ store, source, clock }: ReconcileParts, rules: ReconcileRules): Promise<Rechecked> {
  const options = { final: false, updated_before_ms: clock.now_ms() - rules.recheck_ms, limit: rules.rows }
  const rows = await inStatesOf(store, source, ['settled'], options)
  const byBlock = Map.groupBy(rows, ({ block_number }) => block_number ?? 0)
  const numbers = oldestAndNewest(
    [...byBlock.keys()].toSorted((one, other) => one - other),
    rules.questions,
  )
  const found: Rechecked = { transitions: [], final: [] }
  if (numbers.length === 0) return found
  const final = await finalHeader(source)
  const headers = await headersOf(source.chain, numbers)
  for (const number of numbers) {
    const header = headers.get(number) ?? null
    for (const row of byBlock.get(number) ?? []) {
      if (header === null || header.hash !== row.block_hash) found.transitions.push(...(await movedOrGone(source, row)))
      else if (final !== null && final.number >= header.number) found.final.push(pickPaymentKey(row))
    }
  }
  return found
}

function oldestAndNewest(numbers: number[], most: number): number[] {
  if (numbers.length <= most) return numbers
  const half = Math.floor(most / 2)
  return [...numbers.slice(0, half), ...numbers.slice(-half)]
}

async function headersOf(chain: ReconcileParts['source']['chain'], numbers: number[]): Promise<Map<number, BlockHeader | null>> {
  const headers = new Map<number, BlockHeader | null>()
  for (let index = 0; index < numbers.length; index += HEADERS_IN_PARALLEL) {
    const some = numbers.slice(index, index + HEADERS_IN_PARALLEL)
    const found = await Promise.all(some.map((number) => chain.header(BigInt(number))))
    some.forEach((number, position) => headers.set(number, found[position] ?? null))
  }
  return headers
}

async function movedOrGone(source: ReconcileParts['source'], row: Payment): Promise<PaymentTransition[]> {
  const receipt = row.transaction === null ? null : await source.chain.receipt(row.transaction)
  const settled_at = receipt === null ? null : settlementProof(receipt, row, tokenOf(source, row))
  // The node contradicts itself: it reports the block with another hash, or no block, but still the receipt in it.
  if (settled_at !== null && settled_at.block_hash === row.block_hash) return []
  const gone: PaymentTransition = { ...pickPaymentKey(row), to: 'unknown', reason: REORGANISED, transaction: row.transaction }
  return settled_at === null ? [gone] : [gone, { ...pickPaymentKey(row), to: 'settled', settled_at }]
}

/** Counts of one run, and of rows that stay open for too long. */
export interface ReconcileSummary {
  released: number
  settled: number
  refused: number
  unknown: number
  lost: number
  finalized: number
  /** Rows that have been open for longer than `overdue_ms`. */
  overdue: number
  /** False when the chain did not answer, so that the run is incomplete. */
  chain_answered: boolean
}

/**
 * Corrects the rows by chain evidence, in one bounded run: decides open payments, rewrites or reopens those that a reorganisation moved or
 * removed, and marks as final those that can no longer change. May run in parallel with the writers and with itself, since every transition
 * is conditional on the state it starts from. Rejects when the store does; the summary says when the chain did not answer.
 */
export async function reconcile(parts: ReconcileParts): Promise<ReconcileSummary> {
  const { store, clock, log } = parts
  const rules = { ...RECONCILE_RULES, ...parts.rules }
  const now_ms = clock.now_ms()
  const summary: ReconcileSummary = {
    released: await store.payments.release_abandoned(now_ms),
    settled: 0,
    refused: 0,
    unknown: 0,
    lost: 0,
    finalized: 0,
    overdue: 0,
    chain_answered: true,
  }
  const open = await openRows(parts, rules, now_ms)
  try {
    await applyTransitions(parts, summary, await openTransitions(parts.source, open, rules.questions))
    for (const check of [recheckSettled, watchRefused]) {
      const checked = await check(parts, rules)
      await applyTransitions(parts, summary, checked.transitions)
      await store.payments.finalize(checked.final, now_ms)
      summary.finalized += checked.final.length
    }
  } catch (error) {
    if (!isChainFault(error)) throw error
    summary.chain_answered = false
    log.warn({ error: String(error) }, 'payments could not be compared with the chain')
  }
  summary.overdue = await overdueRows(parts, rules, now_ms)
  if (summary.overdue > 0) log.error({ payments: summary.overdue, minutes: rules.overdue_ms / 60_000 }, 'payments are open for too long')
  return summary
}

async function openRows({ store, source }: ReconcileParts, rules: ReconcileRules, now_ms: number): Promise<Payment[]> {
  const limit = rules.rows
  const unknown = await inStatesOf(store, source, ['unknown'], { final: null, updated_before_ms: ANY_TIME_MS, limit })
  const settling = await inStatesOf(store, source, ['settling'], { final: null, updated_before_ms: now_ms - rules.settling_ms, limit })
  return [...unknown, ...settling]
}

/** Reads the states of all rows first, then reads further evidence only for those that were used or have expired. */
async function openTransitions(source: EvidenceSource, rows: readonly Payment[], questions: number): Promise<PaymentTransition[]> {
  if (rows.length === 0) return []
  const { timestamp_s } = await source.chain.head()
  const used = await usedStates(source, rows)
  const to_check = rows
    .map((payment, index) => ({ payment, is_used: used[index] ?? null }))
    .filter(
      ({ payment, is_used }) =>
        is_used === true || isForgotten(payment) || (is_used === false && payment.valid_before_s <= BigInt(timestamp_s)),
    )
  const transitions: PaymentTransition[] = []
  for (const { payment, is_used } of to_check.slice(0, questions)) {
    const transition = openTransition(payment, await chainEvidence(source, payment, is_used))
    if (transition !== null) transitions.push(transition)
  }
  return transitions
}

/** Returns true for a facilitated payment whose call has ended: only the reconciler can mark it unknown. */
function isForgotten({ state, method }: Payment): boolean {
  return state === 'settling' && method === 'facilitator'
}

/**
 * Returns the transition that the evidence allows; null for a row that stays open. A payment that was settled before becomes lost, not
 * refused.
 */
function openTransition(payment: Payment, evidence: Evidence): PaymentTransition | null {
  if (evidence.kind === 'open' && !isForgotten(payment)) return null
  return lostIfAnswered(payment, transitionFor(payment, evidence))
}

async function applyTransitions(
  { store, clock }: ReconcileParts,
  summary: ReconcileSummary,
  transitions: readonly PaymentTransition[],
): Promise<void> {
  if (transitions.length === 0) return
  const now_ms = clock.now_ms()
  const moved = await store.payments.apply_transitions(transitions, Math.floor(now_ms / EPOCH_MS), now_ms)
  for (const [index, transition] of transitions.entries()) if (moved[index] === true) summary[transition.to]++
}

async function overdueRows({ store, source }: ReconcileParts, rules: ReconcileRules, now_ms: number): Promise<number> {
  const options = { final: null, updated_before_ms: now_ms - rules.overdue_ms, limit: rules.rows }
  return (await inStatesOf(store, source, ['settling', 'unknown'], options)).length
}
