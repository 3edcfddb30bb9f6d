import type { DepositForward, InvoicePayment, WaitingDeposit } from '../../ports/invoices.ts'
import { amount, columns, count, key_type, parameter } from './columns.ts'
import { type Database, execute, type Work } from './database.ts'
import { LOCK_INVOICE, TOUCH } from './invoice-statements.ts'
import { insertedFrom, matched, raw, selected, sql, statement } from './statements.ts'

/** Deposits that wait at their addresses, and the transfers that forwarded them to the merchants. Both come from final blocks only. */

const sweep = columns({ invoice_id: key_type, merchant: key_type, waiting_minor: amount })
const sweep_key = { invoice_id: sweep.invoice_id }
const forward = columns(
  { transaction: key_type, log_index: count, invoice_id: key_type, amount_minor: amount, block_number: count, block_time_s: count },
  { transaction: 'transaction_hash' },
)

const ADD_WAITING = statement(
  'invoice_add_waiting',
  sql`insert into invoice_sweep ${insertedFrom({ ...sweep_key, waiting_minor: sweep.waiting_minor }, { merchant: raw('merchant') })}
    from invoice where ${matched(sweep_key)}
    on conflict (invoice_id) do update set waiting_minor = invoice_sweep.waiting_minor + excluded.waiting_minor`,
)

const INSERT_FORWARD = statement(
  'invoice_forward',
  sql`insert into invoice_forward ${insertedFrom(forward)} from invoice where ${matched(sweep_key)}
    on conflict (transaction_hash, log_index) do nothing returning invoice_id`,
)

/** A sweep moves the whole balance, which may include transfers that were too small to be recorded. */
const SUBTRACT_WAITING = statement(
  'invoice_subtract_waiting',
  sql`update invoice_sweep set sweeps = 0, sweep_after_ms = 0,
      waiting_minor = case when waiting_minor > ${forward.amount_minor} then waiting_minor - ${forward.amount_minor} else 0 end
    where ${matched(sweep_key)}`,
)

const READ_FORWARDS = statement(
  'invoice_forwards',
  sql`select ${selected(forward)} from invoice_forward where ${matched(sweep_key)}
    order by block_number, log_index, transaction_hash limit 100`,
)

const READ_WAITING = statement(
  'invoice_waiting',
  sql`select ${selected(sweep)} from invoice_sweep
    where waiting_minor >= ${parameter('least_minor', amount)} and sweep_after_ms <= ${parameter('now_ms', count)}
    order by waiting_minor desc, invoice_id limit ${parameter('limit', count)}`,
)

/** The pause doubles with each attempt that moved nothing, up to 1,024 times the first. */
const TRY_SWEEP = statement(
  'invoice_try_sweep',
  sql`update invoice_sweep set sweep_after_ms = cast(${parameter('now_ms', count)} as bigint) +
      cast(${parameter('pause_ms', count)} as bigint) * (case when sweeps < 10 then 1 << sweeps else 1024 end), sweeps = sweeps + 1
    where ${matched(sweep_key)}`,
)

/** Adds a deposit in a final block to what waits for a sweep. The caller knows that it was not added before. */
export function* addWaiting({ invoice_id, amount_minor, matched_by, final }: InvoicePayment): Work<void> {
  if (final && matched_by === 'deposit') yield* execute(ADD_WAITING, { invoice_id, waiting_minor: amount_minor })
}

export function* noteForward(seen: DepositForward, now_ms: number): Work<boolean> {
  yield* execute(LOCK_INVOICE, seen)
  if (!(yield* execute(INSERT_FORWARD, seen))) return false
  yield* execute(SUBTRACT_WAITING, seen)
  yield* execute(TOUCH, { invoice_id: seen.invoice_id, now_ms })
  return true
}

export function* trySweep(invoice_ids: readonly string[], now_ms: number, pause_ms: number): Work<void> {
  for (const invoice_id of invoice_ids) yield* execute(TRY_SWEEP, { invoice_id, now_ms, pause_ms })
}

export function readForwards(database: Database, invoice_id: string): Promise<DepositForward[]> {
  return database.readAll(READ_FORWARDS, { invoice_id })
}

export function readWaiting(database: Database, least_minor: bigint, now_ms: number, limit: number): Promise<WaitingDeposit[]> {
  return database.readAll(READ_WAITING, { least_minor, now_ms, limit })
}
