import type { Closing, LeaseGuard, PaymentKey } from '../../../ports/payments.ts'
import { text } from '../rows.ts'
import { HOLD_LEASE } from '../sql.ts'
import { assertCounts, assertPaymentKey, assertTexts } from '../storable.ts'
import type { Work } from '../work.ts'
import * as sql from './sql-closings.ts'

export function assertClosing(closing: Closing): void {
  assertPaymentKey(closing)
  if (closing.to === 'settled') {
    const { transaction, block_number, block_hash } = closing.settled_at
    assertTexts({ transaction, block_hash })
    assertCounts({ block_number })
  } else {
    const { reason, transaction } = closing
    assertTexts({ reason, transaction })
  }
}

/** Before every possible end of a lease: for writes that come without a time of their own. */
const ANY_TIME = -1

/** Whether the lease is held under this number; until the end of the work it stays so. */
export function* holds(guard: LeaseGuard, now_ms: number = ANY_TIME): Work<boolean> {
  return (yield { statement: HOLD_LEASE, values: [guard.lease, guard.fence, now_ms] }).length === 1
}

/**
 * Indexes of the keys in one order, so that two works on PostgreSQL never wait for each other in a circle. Stable: two moves of the same
 * payment keep theirs.
 */
export function inLockOrder(keys: readonly PaymentKey[]): number[] {
  const names = keys.map((key) => key.payer + key.nonce)
  return names.map((_, index) => index).toSorted((one, other) => compare(names[one], names[other]))
}

function compare(one = '', other = ''): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

export function* closePayments(
  closings: readonly Closing[],
  epoch: number,
  now_ms: number,
  guard: LeaseGuard | undefined,
): Work<boolean[]> {
  const moved = closings.map(() => false)
  if (guard !== undefined && !(yield* holds(guard, now_ms))) return moved
  const sales = new Map<string, { price_class: string; payer: string }>()
  for (const index of inLockOrder(closings)) {
    const closing = closings[index]
    const row = closing === undefined ? undefined : yield* move(closing, now_ms)
    if (closing === undefined || row === undefined) continue
    moved[index] = true
    if (closing.to !== 'settled') continue
    const sale = { price_class: text(row, 'price_class'), payer: closing.payer }
    sales.set(`${sale.price_class}\u0000${sale.payer}`, sale)
  }
  for (const name of [...sales.keys()].toSorted(compare)) {
    const sale = sales.get(name)
    if (sale !== undefined) yield { statement: sql.COUNT_SALE, values: [epoch, sale.price_class, sale.payer] }
  }
  return moved
}

function* move(closing: Closing, now_ms: number): Work<Record<string, unknown> | undefined> {
  const { payer, nonce } = closing
  if (closing.to === 'settled') {
    const { transaction, block_number, block_hash } = closing.settled_at
    return (yield { statement: sql.SETTLE, values: [payer, nonce, transaction, block_number, block_hash, now_ms] })[0]
  }
  const statement = sql.CLOSE_WITHOUT[closing.to]
  return (yield { statement, values: [payer, nonce, closing.reason, closing.transaction, now_ms] })[0]
}

export function* finalize(keys: readonly PaymentKey[], now_ms: number): Work<void> {
  for (const index of inLockOrder(keys)) {
    const key = keys[index]
    if (key !== undefined) yield { statement: sql.FINALIZE, values: [key.payer, key.nonce, now_ms] }
  }
}
