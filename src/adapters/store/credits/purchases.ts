import type { CardPurchase, CardReversal, Purchase } from '../../../ports/credits.ts'
import { integer, oneOf, text, textOrNull, wide } from '../rows.ts'
import type { Row, Work } from '../work.ts'
import { INSERT_CREDIT, LOCK_CREDIT, SET_REVERSED } from './sql-credits.ts'
import * as sql from './sql-purchases.ts'

interface Reversal {
  reference: string
  amount_minor: bigint
  standing: CardReversal['standing']
  updated_ms: number
}

export function reversalOf(row: Row): Reversal {
  return {
    reference: text(row, 'reference'),
    amount_minor: wide(row, 'amount_minor'),
    standing: oneOf(row, 'standing', ['open', 'won', 'lost']),
    updated_ms: integer(row, 'updated_ms'),
  }
}

export function purchaseOf(row: Row): Purchase {
  return {
    claim_hash: text(row, 'claim_hash'),
    code_hash: text(row, 'code_hash'),
    amount_minor: wide(row, 'amount_minor'),
    sealed_code: textOrNull(row, 'sealed_code'),
    paid_ms: integer(row, 'paid_ms'),
  }
}

/** The caller lets one work of a card payment run at a time, so that a reversal is never overlooked. */
export function* purchase(bought: CardPurchase): Work<boolean> {
  const { event_id, session_id, payment_ref, claim_hash, code_hash, amount_minor, sealed_code, now_ms } = bought
  if (!(yield* isNew(event_id, now_ms))) return false
  const values = [session_id, payment_ref, claim_hash, code_hash, amount_minor, sealed_code, now_ms]
  if ((yield { statement: sql.INSERT_PURCHASE, values }).length === 0) return false
  const [row] = yield { statement: INSERT_CREDIT, values: [code_hash, 'usdc_minor', 1n, amount_minor, 'card', now_ms] }
  yield { statement: SET_REVERSED, values: [integer(row, 'number'), yield* reversedOf(payment_ref, amount_minor)] }
  return true
}

export function* reverse(reversal: CardReversal): Work<boolean> {
  const { event_id, payment_ref, reference, now_ms } = reversal
  if (!(yield* isNew(event_id, now_ms))) return false
  const before = (yield { statement: sql.READ_REVERSALS, values: [payment_ref] }).map(reversalOf).find((one) => one.reference === reference)
  const { amount_minor, standing } = merged(before, reversal)
  yield { statement: sql.WRITE_REVERSAL, values: [payment_ref, reference, amount_minor, standing, now_ms] }
  const [bought] = yield { statement: sql.READ_PURCHASE_OF, values: [payment_ref] }
  if (bought === undefined) return true
  const [credit] = yield { statement: LOCK_CREDIT, values: [text(bought, 'code_hash')] }
  const reversed = yield* reversedOf(payment_ref, wide(credit, 'granted'))
  yield { statement: SET_REVERSED, values: [integer(credit, 'number'), reversed] }
  return true
}

/** Refunds of a charge only grow, and what ended stays ended: so the order in which notices come makes no difference. */
function merged(before: Reversal | undefined, now: CardReversal): Pick<Reversal, 'amount_minor' | 'standing'> {
  if (before === undefined) return now
  const amount_minor = before.amount_minor > now.amount_minor ? before.amount_minor : now.amount_minor
  return { amount_minor, standing: now.standing === 'open' ? before.standing : now.standing }
}

function* isNew(event_id: string, now_ms: number): Work<boolean> {
  return (yield { statement: sql.INSERT_EVENT, values: [event_id, now_ms] }).length === 1
}

function* reversedOf(payment_ref: string, granted: bigint): Work<bigint> {
  const rows = (yield { statement: sql.READ_REVERSALS, values: [payment_ref] }).map(reversalOf)
  const sum = rows.filter(({ standing }) => standing !== 'won').reduce((total, { amount_minor }) => total + amount_minor, 0n)
  return sum < granted ? sum : granted
}
