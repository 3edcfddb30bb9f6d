import type { Closing, PaymentKey } from '../../ports/payments.ts'
import { evidenceOf, finalHeader, usedStates } from './evidence.ts'
import type { ReconcileParts, ReconcileRules } from './reconcile-rules.ts'
import { closingOf, keyOf } from './wallet-outcome.ts'

export interface WatchedRefusals {
  closings: Closing[]
  final: PaymentKey[]
}

/**
 * Watches refused payments until their authorization has run out. It stood in public calldata, or a facilitator has it, so a stranger may
 * have sent it after all: then the payer has paid, and gets the answer. Rejects as the chain does.
 */
export async function watchRefused({ store, source, clock, log }: ReconcileParts, rules: ReconcileRules): Promise<WatchedRefusals> {
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
