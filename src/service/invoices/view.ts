import type { Clock } from '../../ports/clock.ts'
import type { InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { BankAccount } from '../../pure/invoices/links.ts'
import { invoiceRecord } from '../../pure/invoices/record.ts'
import { standingOf, type InvoiceMark, type Standing } from '../../pure/invoices/standing.ts'
import { readTerms, type InvoiceTerms } from '../../pure/invoices/terms.ts'
import { limits } from '../limits.ts'
import { INVOICE_RULES } from './rules.ts'
import { SPECIMEN_ID } from './specimen.ts'

/** An invoice with everything that is known of it now. */
export interface InvoiceView {
  invoice: StoredInvoice
  terms: InvoiceTerms
  payments: InvoicePayment[]
  standing: Standing
  /** As it goes out. */
  record: Record<string, unknown>
}

export interface ViewParts {
  store: InvoiceStore
  clock: Clock
  site_url(): string
  /** The account of this merchant; null where none is configured. */
  bankOf(merchant: string): BankAccount | null
  /** Signed payments are carried to the chain here. */
  carries: boolean
}

/** How the invoice stands by what the store knows. */
export async function viewInvoice(parts: ViewParts, invoice: StoredInvoice): Promise<InvoiceView> {
  const { store, clock } = parts
  const { invoice_id, merchant } = invoice
  const [payments, watch, bank_reports] = await Promise.all([
    store.payments(invoice_id),
    store.watch_of(merchant),
    store.bank_reports(invoice_id),
  ])
  const now_ms = clock.now_ms()
  const terms = readTerms(invoice.terms)
  const standing = standingNow(invoice, payments, Math.floor(now_ms / 1_000))
  const other_assets = standing.exceptions.includes('wrong_asset') ? await store.other_assets(invoice_id) : []
  const record = invoiceRecord({
    bank_reports,
    other_assets,
    terms,
    standing,
    payments,
    merchant_signed: invoice.issue_signature !== null,
    voided_s: invoice.voided_ms === null ? null : Math.floor(invoice.voided_ms / 1_000),
    updated_s: Math.floor(invoice.updated_ms / 1_000),
    site_url: parts.site_url(),
    bank: parts.bankOf(merchant),
    // Nobody watches the specimen, and nothing can become of it.
    stale: invoice_id !== SPECIMEN_ID && now_ms - Math.max(watch?.looked_ms ?? 0, invoice.created_ms) > INVOICE_RULES.stale_ms,
    carried_from_minor: carriedFrom(parts),
    max_timeout_s: limits.max_timeout_s,
  })
  return { invoice, terms, payments, standing, record }
}

/** The least that is carried to the chain here; null where nothing is. */
export function carriedFrom({ carries }: Pick<ViewParts, 'carries'>): bigint | null {
  return carries ? INVOICE_RULES.relay_minimum_minor : null
}

export function standingNow(invoice: StoredInvoice, payments: readonly InvoicePayment[], now_s: number): Standing {
  const { amount_minor, expires_s, voided_ms, marks } = invoice
  const known = marks.split(',').filter((mark): mark is InvoiceMark => mark in MARKS)
  return standingOf({ amount_minor, expires_s, voided: voided_ms !== null, marks: known }, payments, now_s)
}

const MARKS: Readonly<Record<InvoiceMark, true>> = { wrong_asset: true, reorged: true, ambiguous: true }
