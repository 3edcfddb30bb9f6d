import type { Migration } from '../migration.ts'

/** Payments of an invoice that are on their way, or settled and not final: what it still takes is asked for with each that comes. */
export const paymentsOfInvoices: Migration = {
  number: 12,
  name: 'payments-of-invoices',
  text: () => `create index payment_of_invoice on payment (subject) where purpose = 'invoice' and final = 0`,
}
