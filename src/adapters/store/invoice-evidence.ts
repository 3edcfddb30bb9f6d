import { BANK_VERDICTS, type BankReport, type OtherAsset } from '../../ports/invoices.ts'
import { amount, columns, count, countFrom, flag, key_type, nullable, signed_amount, uint256, word_type } from './columns.ts'
import { type Database, execute, type Work, readFirst } from './database.ts'
import { insertedFrom, matched, replaced, selected, sql, statement } from './statements.ts'
import { LOCK_INVOICE, TOUCH, LOCK_MARKS, WRITE_MARKS } from './invoice-statements.ts'

/** Evidence about invoices besides payments in the asked token: entries of bank statements, and transfers of other assets. */

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
