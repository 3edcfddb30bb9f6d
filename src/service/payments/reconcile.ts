import { isChainFault } from '../chain-fault.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { type Evidence, evidenceOf, type EvidenceSource, finalHeader, proofIn, usedStates } from './evidence.ts'
import type { Closing, Payment, PaymentKey } from '../../ports/payments.ts'
import { closingOf, keyOf, lostIfAnswered, REORGANISED } from './wallet-send.ts'
import type { BlockHeader } from '../../ports/chain.ts'
import { EPOCH_MS } from './price-book.ts'

/** Bounds and times of the reconciler. */
export interface ReconcileRules {
  /** Age at which a row in state settling is looked at here too, beside its writer. */
  settling_ms: number
  /** Age at which a settled row is compared with its block: a node may be behind by seconds. */
  recheck_ms: number
  /** Age at which an open row is reported. */
  overdue_ms: number
  /** Rows of one run, and questions to the chain about rows that need more than the common one. */
  rows: number
  questions: number
}

export const RECONCILE_RULES: ReconcileRules = { settling_ms: 60_000, recheck_ms: 30_000, overdue_ms: 600_000, rows: 2_000, questions: 200 }

/** For rows of whatever age. Rows may even seem to lie in the future, written by a machine whose clock was ahead. */
export const ANY_TIME_MS = Number.MAX_SAFE_INTEGER

export interface ReconcileParts {
  store: Pick<Store, 'payments'>
  source: EvidenceSource
  clock: Clock
  log: Log
  rules?: Partial<ReconcileRules>
}

interface WatchedRefusals {
  closings: Closing[]
  final: PaymentKey[]
}

/**
 * Watches refused payments until their authorization has run out. It stood in public calldata, or a facilitator has it, so a stranger may
 * have sent it after all: then the payer has paid, and gets the answer. Rejects as the chain does.
 */
async function watchRefused({ store, source, clock, log }: ReconcileParts, rules: ReconcileRules): Promise<WatchedRefusals> {
  const options = { final: false, updated_before_ms: clock.now_ms() - rules.recheck_ms, limit: rules.rows }
  const rows = await store.payments.in_states(['refused'], options)
  const found: WatchedRefusals = { closings: [], final: [] }
  if (rows.length === 0) return found
  const final = await finalHeader(source)
  const used = await usedStates(source, rows)
  let questions = 0
  for (const [index, row] of rows.entries()) {
    if (used[index] === true && questions++ < rules.questions) {
      const evidence = await evidenceOf(source, row, true)
      if (evidence.kind === 'settled') found.closings.push(closingOf(row, evidence))
      if (evidence.kind === 'used_without_transfer') found.final.push(keyOf(row))
    } else if (used[index] === false && final !== null && BigInt(final.timestamp_s) >= row.valid_before_s) {
      found.final.push(keyOf(row))
    }
  }
  if (found.closings.length > 0) log.warn({ payments: found.closings.length }, 'refused payments were settled by strangers')
  return found
}

/** Blocks that are asked for at the same time. */
const AT_ONCE = 10

interface Rechecked {
  closings: Closing[]
  final: PaymentKey[]
}

/**
 * Compares settled rows with the chain as it is now. A row whose block stands and is final is final; one whose transaction is in another
 * block by now is booked there; one whose transaction is gone becomes unknown, and its writer sends the same bytes again. Looks at the
 * oldest blocks, which become final next, and at the newest, which change most. Rejects as the chain does.
 */
async function recheckSettled({ store, source, clock }: ReconcileParts, rules: ReconcileRules): Promise<Rechecked> {
  const options = { final: false, updated_before_ms: clock.now_ms() - rules.recheck_ms, limit: rules.rows }
  const rows = await store.payments.in_states(['settled'], options)
  const byBlock = Map.groupBy(rows, ({ block_number }) => block_number ?? 0)
  const numbers = chosen(
    [...byBlock.keys()].toSorted((one, other) => one - other),
    rules.questions,
  )
  const found: Rechecked = { closings: [], final: [] }
  if (numbers.length === 0) return found
  const final = await finalHeader(source)
  const headers = await headersOf(source.chain, numbers)
  for (const number of numbers) {
    const header = headers.get(number) ?? null
    for (const row of byBlock.get(number) ?? []) {
      if (header === null || header.hash !== row.block_hash) found.closings.push(...(await movedOrGone(source, row)))
      else if (final !== null && final.number >= header.number) found.final.push(keyOf(row))
    }
  }
  return found
}

function chosen(numbers: number[], most: number): number[] {
  if (numbers.length <= most) return numbers
  const half = Math.floor(most / 2)
  return [...numbers.slice(0, half), ...numbers.slice(-half)]
}

async function headersOf(chain: ReconcileParts['source']['chain'], numbers: number[]): Promise<Map<number, BlockHeader | null>> {
  const headers = new Map<number, BlockHeader | null>()
  for (let index = 0; index < numbers.length; index += AT_ONCE) {
    const some = numbers.slice(index, index + AT_ONCE)
    const found = await Promise.all(some.map((number) => chain.header(BigInt(number))))
    some.forEach((number, place) => headers.set(number, found[place] ?? null))
  }
  return headers
}

async function movedOrGone({ chain, token }: ReconcileParts['source'], row: Payment): Promise<Closing[]> {
  const receipt = row.transaction === null ? null : await chain.receipt(row.transaction)
  const settled_at = receipt === null ? null : proofIn(receipt, row, token)
  // The node contradicts itself: it shows the block under another hash, or none, and the receipt in it.
  if (settled_at !== null && settled_at.block_hash === row.block_hash) return []
  const gone: Closing = { ...keyOf(row), to: 'unknown', reason: REORGANISED, transaction: row.transaction }
  return settled_at === null ? [gone] : [gone, { ...keyOf(row), to: 'settled', settled_at }]
}

/**
 * Puts the rows right by the chain, whatever became of the process that wrote them: closes what is open on evidence, books anew what a
 * reorganisation moved, takes back what it removed, and marks as final what can no longer change. May run beside the writers, and twice at
 * once: every move is conditional on the state it starts from.
 */

/** What one run did, and what stays open for too long. */
export interface ReconcileSummary {
  released: number
  settled: number
  refused: number
  unknown: number
  lost: number
  finalized: number
  /** Rows that have been open for longer than they should. */
  overdue: number
  /** False when the chain did not answer, so that the run did only half its work. */
  chain_answered: boolean
}

/** One bounded run. Rejects when the store does; a chain that does not answer is in the summary. */
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
    await write(parts, summary, await closingsOf(parts.source, open, rules.questions))
    for (const check of [recheckSettled, watchRefused]) {
      const checked = await check(parts, rules)
      await write(parts, summary, checked.closings)
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

async function openRows({ store }: ReconcileParts, rules: ReconcileRules, now_ms: number): Promise<Payment[]> {
  const limit = rules.rows
  const unknown = await store.payments.in_states(['unknown'], { final: null, updated_before_ms: ANY_TIME_MS, limit })
  const settling = await store.payments.in_states(['settling'], { final: null, updated_before_ms: now_ms - rules.settling_ms, limit })
  return [...unknown, ...settling]
}

/** Reads all states at once, then asks further only about those that were used or have run out. */
async function closingsOf(source: EvidenceSource, rows: readonly Payment[], questions: number): Promise<Closing[]> {
  if (rows.length === 0) return []
  const { timestamp_s } = await source.chain.head()
  const used = await usedStates(source, rows)
  const asked = rows
    .map((payment, index) => ({ payment, used: used[index] ?? null }))
    .filter(
      ({ payment, used: now }) => now === true || isForgotten(payment) || (now === false && payment.valid_before_s <= BigInt(timestamp_s)),
    )
  const closings: Closing[] = []
  for (const { payment, used: now } of asked.slice(0, questions)) {
    const closing = moveOf(payment, await evidenceOf(source, payment, now))
    if (closing !== null) closings.push(closing)
  }
  return closings
}

/** Asked of a facilitator by a call that is over: nobody else will call it unknown. */
function isForgotten({ state, method }: Payment): boolean {
  return state === 'settling' && method === 'facilitator'
}

/** Open rows stay as they are, but for those nobody works on. What was settled once is lost, not refused. */
function moveOf(payment: Payment, evidence: Evidence): Closing | null {
  if (evidence.kind === 'open' && !isForgotten(payment)) return null
  return lostIfAnswered(payment, closingOf(payment, evidence))
}

async function write({ store, clock }: ReconcileParts, summary: ReconcileSummary, closings: readonly Closing[]): Promise<void> {
  if (closings.length === 0) return
  const now_ms = clock.now_ms()
  const moved = await store.payments.close_payments(closings, Math.floor(now_ms / EPOCH_MS), now_ms)
  for (const [index, closing] of closings.entries()) if (moved[index] === true) summary[closing.to]++
}

async function overdueRows({ store }: ReconcileParts, rules: ReconcileRules, now_ms: number): Promise<number> {
  const options = { final: null, updated_before_ms: now_ms - rules.overdue_ms, limit: rules.rows }
  return (await store.payments.in_states(['settling', 'unknown'], options)).length
}
