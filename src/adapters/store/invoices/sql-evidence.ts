import type { Statement } from '../work.ts'

const REPORT = `statement_id, entry_reference, invoice_id, booked_on, direction, returned, currency, cast(amount_minor as text) as amount_minor,
  cast(charges_minor as text) as charges_minor, cast(instructed_minor as text) as instructed_minor, verdict, reported_ms`

export const REPORTS: Statement = {
  name: 'invoice_bank_reports',
  text: `select ${REPORT} from invoice_bank_report where invoice_id = ?1 order by coalesce(booked_on, ''), statement_id, entry_reference limit 1000`,
}

/** An entry is kept once; only what it came to may change. Nothing is returned where nothing changed. */
export const REPORT_BANK: Statement = {
  name: 'invoice_report_bank',
  text: `insert into invoice_bank_report (statement_id, entry_reference, invoice_id, booked_on, direction, returned, currency, amount_minor,
      charges_minor, instructed_minor, verdict, reported_ms)
    select ?1, ?2, invoice_id, ?4, ?5, cast(?6 as integer), ?7, cast(?8 as bigint), cast(?9 as bigint), cast(?10 as bigint), ?11,
      cast(?12 as bigint) from invoice where invoice_id = ?3
    on conflict (statement_id, entry_reference) do update set verdict = excluded.verdict
      where invoice_bank_report.verdict <> excluded.verdict and invoice_bank_report.invoice_id = excluded.invoice_id
    returning invoice_id`,
}

const OTHER = 'transaction_hash, log_index, invoice_id, asset, payer, amount, block_number, block_time_s, named_by'

export const OTHERS: Statement = {
  name: 'invoice_other_assets',
  text: `select ${OTHER} from invoice_other_asset where invoice_id = ?1 order by block_number, log_index, transaction_hash limit 100`,
}

/**
 * A transfer is evidence for one invoice. Anyone who has the id of an invoice can name a transaction, so what was only submitted yields to the
 * invoice that the payer's own nonce names, and that of an unsigned invoice to a signed one.
 */
export const NOTE_OTHER: Statement = {
  name: 'invoice_note_other',
  text: `insert into invoice_other_asset (${OTHER})
    select ?1, cast(?2 as integer), invoice_id, ?4, ?5, ?6, cast(?7 as bigint), cast(?8 as bigint), ?9 from invoice where invoice_id = ?3
    on conflict (transaction_hash, log_index) do update set invoice_id = excluded.invoice_id, named_by = excluded.named_by
      where invoice_other_asset.named_by = 'submitted' and invoice_other_asset.invoice_id <> excluded.invoice_id
        and (excluded.named_by = 'nonce' or (
          exists (select 1 from invoice i where i.invoice_id = excluded.invoice_id and i.issue_signature is not null)
          and not exists (select 1 from invoice i where i.invoice_id = invoice_other_asset.invoice_id and i.issue_signature is not null)))
    returning invoice_id`,
}
