import type { InvoicePayment, StoredInvoice } from '../../ports/invoices.ts'
import type { BankPayment, TransferWay } from '../../pure/invoices/record.ts'
import { standingOf, type InvoiceMark, type Standing } from '../../pure/invoices/standing.ts'
import type { InvoiceTerms } from '../../pure/invoices/terms.ts'
import { INVOICE_RULES } from '../limits.ts'

/** An invoice with everything that is known of it now. */
export interface InvoiceView {
  invoice: StoredInvoice
  terms: InvoiceTerms
  payments: InvoicePayment[]
  standing: Standing
  transfer_way: TransferWay
  /** As it goes out. */
  record: Record<string, unknown>
}

/** Evidence of the bank transfer that paid the invoice; null if none did. */
export function readBankPayment({ bank_payment }: Pick<StoredInvoice, 'bank_payment'>): BankPayment | null {
  return bank_payment === null ? null : (JSON.parse(bank_payment) as BankPayment)
}

/** The least that is carried to the chain here; null where nothing is. */
export function relayMinimum({ carries }: { carries: boolean }): bigint | null {
  return carries ? INVOICE_RULES.relay_minimum_minor : null
}

export function standingNow(invoice: StoredInvoice, payments: readonly InvoicePayment[], now_s: number): Standing {
  const { amount_minor, expires_s, voided_ms, bank_paid_ms, marks } = invoice
  const known = marks.split(',').filter((mark): mark is InvoiceMark => mark in MARKS)
  const asked = { amount_minor, expires_s, voided: voided_ms !== null, bank_paid: bank_paid_ms !== null, marks: known }
  return standingOf(asked, payments, now_s)
}

const MARKS: Readonly<Record<InvoiceMark, true>> = { wrong_asset: true, reorged: true, ambiguous: true }
