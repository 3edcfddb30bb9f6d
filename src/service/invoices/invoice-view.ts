import type { InvoicePayment, StoredInvoice } from '../../ports/invoices.ts'
import type { BankPayment } from '../../pure/invoices/record-bank.ts'
import type { TransferWay } from '../../pure/invoices/record.ts'
import { standingOf, type InvoiceMark, type Standing } from '../../pure/invoices/standing.ts'
import type { InvoiceTerms } from '../../pure/invoices/terms.ts'
import { INVOICE_RULES } from '../limits.ts'
import type { Sponsoring } from './sponsored.ts'

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

type BankColumns = Pick<StoredInvoice, 'bank_paid_ms' | 'bank_payment'>

/** Evidence of the bank transfer that the merchant confirmed with its signature; null if there is none. */
export function readBankPayment({ bank_paid_ms, bank_payment }: BankColumns): BankPayment | null {
  const read = bank_payment === null ? null : (JSON.parse(bank_payment) as BankPayment)
  return bank_paid_ms !== null && read?.confirmed_by === 'merchant' ? read : null
}

/** Transfer that the creator of the invoice reported in an earlier release, and that the merchant has not confirmed; null if there is none. */
export function readCreatorReport({ bank_payment }: BankColumns): BankPayment | null {
  const read = bank_payment === null ? null : (JSON.parse(bank_payment) as BankPayment)
  return read?.confirmed_by === 'creator' ? read : null
}

/** The least that is carried to the chain here; null where nothing is. */
export function relayMinimum({ carries, sponsoring }: { carries: boolean; sponsoring?: Pick<Sponsoring, 'relayMinimum'> }): bigint | null {
  return carries ? (sponsoring?.relayMinimum() ?? INVOICE_RULES.relay_minimum_minor) : null
}

export function standingNow(invoice: StoredInvoice, payments: readonly InvoicePayment[], now_s: number): Standing {
  const { amount_minor, expires_s, voided_ms, marks } = invoice
  const known = marks.split(',').filter((mark): mark is InvoiceMark => mark in MARKS)
  const asked = { amount_minor, expires_s, voided: voided_ms !== null, bank_paid: readBankPayment(invoice) !== null, marks: known }
  return standingOf(asked, payments, now_s)
}

const MARKS: Readonly<Record<InvoiceMark, true>> = { wrong_asset: true, reorged: true, ambiguous: true }
