/**
 * Puts the rows right by the chain, whatever became of the process that wrote them: closes what is open on evidence, books anew what a
 * reorganisation moved, takes back what it removed, and marks as final what can no longer change. May run beside the writers, and twice at
 * once: every move is conditional on the state it starts from.
 */
import type { Closing, Payment } from '../../ports/payments.ts'
import { evidenceOf, usedStates, type Evidence, type EvidenceSource } from './evidence.ts'
import { EPOCH_MS } from './price-book.ts'
import { ANY_TIME_MS, RECONCILE_RULES, type ReconcileParts, type ReconcileRules } from './reconcile-rules.ts'
import { watchRefused } from './recheck-refused.ts'
import { recheckSettled } from './recheck-settled.ts'
import { closingOf, lostIfAnswered } from './wallet-outcome.ts'

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

function isChainFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE'
}
