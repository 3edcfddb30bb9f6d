import type { Migration } from './database.ts'

/**
 * Texts of callers are sealed. `sealed` marks rows whose texts are; those of earlier releases are sealed after the start, some at a time, and `sealed_names`
 * holds the sealed names of a bank entry, whose key becomes a hash. `erased_ms` is when the personal details of an invoice were erased, and `invoice_id` of
 * a delivery the invoice that its event reports.
 */
export const SEALED_INVOICES: Migration = {
  number: 37,
  name: 'sealed-invoices',
  text: (dialect) => `
    alter table invoice add column sealed integer not null default 0;
    alter table invoice add column erased_ms ${dialect.wide_integer};
    create index invoice_unsealed on invoice (number) where sealed = 0;
    create index invoice_erasable on invoice (expires_s) where erased_ms is null;
    alter table invoice_bank_report add column sealed_names text;
    create index invoice_bank_report_unsealed on invoice_bank_report (statement_id) where sealed_names is null;
    alter table webhook_subscription add column sealed integer not null default 0;
    create index webhook_unsealed on webhook_subscription (subscription_id) where sealed = 0;
    alter table webhook_delivery add column sealed integer not null default 0;
    alter table webhook_delivery add column invoice_id text;
    create index webhook_delivery_unsealed on webhook_delivery (number) where sealed = 0;
    create index webhook_delivery_of_invoice on webhook_delivery (invoice_id) where invoice_id is not null;
  `,
}
