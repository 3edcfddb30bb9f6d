import {
  BANK_VERDICTS,
  type BankReport,
  type DepositForward,
  type InvoicePayment,
  type OtherAsset,
  type WaitingDeposit,
} from '../../ports/invoices.ts'
import { amount, columns, count, countFrom, flag, key_type, nullable, parameter, signed_amount, uint256, word_type } from './columns.ts'
import { type Database, execute, type Work, readFirst } from './database.ts'
import { insertedFrom, matched, raw, replaced, selected, sql, statement } from './statements.ts'
import { LOCK_INVOICE, TOUCH, LOCK_MARKS, WRITE_MARKS } from './invoice-statements.ts'

/** Evidence about invoices besides payments in the asked token: entries of bank statements, transfers of other assets, and sweeps of deposit addresses. */

const bank_report = columns({
  statement_id: key_type,
  entry_reference: key_type,
  invoice_id: key_type,
  booked_on: nullable(key_type),
  direction: word_type('CRDT', 'DBIT'),
  returned: flag,
  currency: key_type,
  amount_minor: amount,
  charges_minor: signed_amount,
  instructed_minor: nullable(amount),
  verdict: word_type(...BANK_VERDICTS),
  reported_ms: count,
})
const report_key = { invoice_id: bank_report.invoice_id }

const READ_BANK_REPORTS = statement(
  'invoice_bank_reports',
  sql`select ${selected(bank_report)} from invoice_bank_report where ${matched(report_key)}
    order by coalesce(booked_on, ''), statement_id, entry_reference limit 1000`,
)

/** An entry is kept once; only its verdict may change. No row is returned when nothing changed. */
const REPORT_BANK = statement(
  'invoice_report_bank',
  sql`insert into invoice_bank_report ${insertedFrom(bank_report)} from invoice where ${matched(report_key)}
    on conflict (statement_id, entry_reference) do update set verdict = excluded.verdict
      where invoice_bank_report.verdict <> excluded.verdict and invoice_bank_report.invoice_id = excluded.invoice_id
    returning invoice_id`,
)

const other_asset = columns(
  {
    transaction: key_type,
    // -1 for a transfer of the chain's own coin, which leaves no log.
    log_index: countFrom(-1),
    invoice_id: key_type,
    asset: key_type,
    payer: key_type,
    amount: uint256,
    block_number: count,
    block_time_s: count,
    named_by: word_type('nonce', 'submitted'),
  },
  { transaction: 'transaction_hash' },
)

const READ_OTHER_ASSETS = statement(
  'invoice_other_assets',
  sql`select ${selected(other_asset)} from invoice_other_asset where ${matched(report_key)}
    order by block_number, log_index, transaction_hash limit 100`,
)

/**
 * A transfer is evidence for one invoice. Anyone who has the id of an invoice can submit a transaction, so evidence that was only submitted
 * yields to the invoice that the payer's nonce names, and evidence for an unsigned invoice to a signed one.
 */
const NOTE_OTHER_ASSET = statement(
  'invoice_note_other',
  sql`insert into invoice_other_asset ${insertedFrom(other_asset)} from invoice where ${matched(report_key)}
    on conflict (transaction_hash, log_index) do update set ${replaced({ ...report_key, named_by: other_asset.named_by })}
      where invoice_other_asset.named_by = 'submitted' and invoice_other_asset.invoice_id <> excluded.invoice_id
        and (excluded.named_by = 'nonce' or (
          exists (select 1 from invoice i where i.invoice_id = excluded.invoice_id and i.issue_signature is not null)
          and not exists (select 1 from invoice i where i.invoice_id = invoice_other_asset.invoice_id and i.issue_signature is not null)))
    returning invoice_id`,
)

export function readBankReports(database: Database, invoice: string): Promise<BankReport[]> {
  return database.readAll(READ_BANK_REPORTS, { invoice_id: invoice })
}

export function readOtherAssets(database: Database, invoice: string): Promise<OtherAsset[]> {
  return database.readAll(READ_OTHER_ASSETS, { invoice_id: invoice })
}

export function* noteOtherAsset(seen: OtherAsset, now_ms: number): Work<boolean> {
  yield* execute(LOCK_INVOICE, seen)
  if (!(yield* execute(NOTE_OTHER_ASSET, seen))) return false
  yield* addMark(seen.invoice_id, 'wrong_asset', now_ms)
  return true
}

export function* reportBank(reports: readonly BankReport[], now_ms: number): Work<number> {
  let changed = 0
  const touched = new Set<string>()
  // A locked invoice is not evicted meanwhile.
  const named = new Set(reports.map((report) => report.invoice_id))
  for (const invoice of [...named].toSorted()) yield* execute(LOCK_INVOICE, { invoice_id: invoice })
  for (const report of reports) {
    if (!(yield* execute(REPORT_BANK, report))) continue
    changed += 1
    touched.add(report.invoice_id)
  }
  for (const invoice of touched) yield* execute(TOUCH, { invoice_id: invoice, now_ms })
  return changed
}

/** Adds a word, once, to those for what the payments of an invoice do not show. */
export function* addMark(invoice_id: string, mark: string, now_ms: number): Work<void> {
  const known = yield* readFirst(LOCK_MARKS, { invoice_id })
  if (known === undefined) return
  const marks = new Set(known.marks.split(',').filter(Boolean))
  if (!marks.has(mark)) yield* execute(WRITE_MARKS, { invoice_id, marks: [...marks.add(mark)].toSorted().join(','), now_ms })
}

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
