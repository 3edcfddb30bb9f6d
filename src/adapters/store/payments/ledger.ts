import type { LedgerQuery, LedgerSum, PriceMark, Sale } from '../../../ports/payments.ts'
import { PAYMENT_STATES } from '../../../pure/payments/states.ts'
import { integer, oneOf, text, wide } from '../rows.ts'
import { assertCounts, assertTexts } from '../storable.ts'
import type { Row, Value, Work } from '../work.ts'
import { sumIn } from './row.ts'
import { WRITE_MARK } from './sql-ledger.ts'

const DAY_MS = 86_400_000

/** The values of a query's filter; refuses what no row could hold. */
export function filterValues(query: Omit<LedgerQuery, 'after' | 'limit'>): Value[] {
  const { from_ms = 0, to_ms = Number.MAX_SAFE_INTEGER, tool = '', state = '' } = query
  assertCounts({ from_ms, to_ms })
  assertTexts({ tool })
  return [from_ms, to_ms, tool, state]
}

export function pageValues({ after, limit }: LedgerQuery): Value[] {
  assertCounts({ limit })
  if (after === undefined) return [0, '', '', limit]
  const { created_ms, payer, nonce } = after
  assertCounts({ created_ms })
  assertTexts({ payer, nonce })
  return [created_ms, payer, nonce, limit]
}

export function ledgerSumOf(row: Row): LedgerSum {
  return {
    day: new Date(integer(row, 'day') * DAY_MS).toISOString().slice(0, 10),
    tool: text(row, 'tool'),
    state: oneOf(row, 'state', PAYMENT_STATES),
    count: integer(row, 'found'),
    value_minor: sumIn(row),
  }
}

export function saleOf(row: Row): Sale {
  return { price_class: text(row, 'price_class'), epoch: integer(row, 'epoch'), payers: integer(row, 'payers') }
}

export function markOf(row: Row): PriceMark {
  return { price_class: text(row, 'price_class'), epoch: integer(row, 'epoch'), amount_minor: wide(row, 'amount_minor') }
}

/** In one order, so that two works on PostgreSQL never wait for each other in a circle. */
export function* markPrices(marks: readonly PriceMark[]): Work<void> {
  const sorted = marks.toSorted((one, other) => one.epoch - other.epoch || (one.price_class < other.price_class ? -1 : 1))
  for (const mark of sorted) yield { statement: WRITE_MARK, values: [mark.price_class, mark.epoch, mark.amount_minor] }
}
