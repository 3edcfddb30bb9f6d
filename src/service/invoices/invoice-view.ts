import type { Clock } from '../../ports/clock.ts'
import type { InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { BankAccount } from '../../pure/invoices/links.ts'
import type { BankPayment, TransferWay } from '../../pure/invoices/record.ts'
import { standingOf, type InvoiceMark, type Standing } from '../../pure/invoices/standing.ts'
import { type InvoiceTerms, cartHash, termsText, FEE_POLICY, FEE_POLICY_HASH } from '../../pure/invoices/terms.ts'
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

export interface ViewParts {
  store: InvoiceStore
  clock: Clock
  /** Address of the token, lower case. */
  token: string
  site_url(): string
  /** The account of this merchant; null where none is configured. */
  bankOf(merchant: string): BankAccount | null
  /** Signed payments are carried to the chain here, and deposits forwarded. */
  carries: boolean
  /** Origin of a block explorer of the chain; null where there is none, as for a sandbox. */
  explorer_url: string | null
  /** Returns true when the chain has the factory of deposit addresses. */
  hasFactory(): Promise<boolean>
}

/** Evidence of the bank transfer that paid the invoice; null if none did. */
export function readBankPayment({ bank_payment }: Pick<StoredInvoice, 'bank_payment'>): BankPayment | null {
  return bank_payment === null ? null : (JSON.parse(bank_payment) as BankPayment)
}

/** The least that is carried to the chain here; null where nothing is. */
export function relayMinimum({ carries }: Pick<ViewParts, 'carries'>): bigint | null {
  return carries ? INVOICE_RULES.relay_minimum_minor : null
}

export function standingNow(invoice: StoredInvoice, payments: readonly InvoicePayment[], now_s: number): Standing {
  const { amount_minor, expires_s, voided_ms, bank_paid_ms, marks } = invoice
  const known = marks.split(',').filter((mark): mark is InvoiceMark => mark in MARKS)
  const asked = { amount_minor, expires_s, voided: voided_ms !== null, bank_paid: bank_paid_ms !== null, marks: known }
  return standingOf(asked, payments, now_s)
}

const MARKS: Readonly<Record<InvoiceMark, true>> = { wrong_asset: true, reorged: true, ambiguous: true }

/** Public id for examples: a void invoice, which cannot be paid. */
export const SPECIMEN_ID = 'inv_000000000000'

const NO_SHOP = { order_number: null, return_url: null, bank: null }
const CREATED_S = 1_795_219_200
const NOBODY = '0x000000000000000000000000000000000000dead'

export function specimen(chain_id: number, token: string): StoredInvoice {
  const cart = {
    merchant: NOBODY,
    amount_minor: '1000000',
    memo: 'A specimen. Do not pay it.',
    client_name: null,
    chain_id,
    token,
    ...NO_SHOP,
  }
  const terms = termsText({
    v: 1,
    invoice_id: SPECIMEN_ID,
    ...cart,
    referrer: null,
    product: null,
    created_s: CREATED_S,
    expires_s: CREATED_S,
    salt: `0x${'0'.repeat(64)}`,
    cart_hash: cartHash(cart),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  })
  const times = { created_ms: CREATED_S * 1_000, voided_ms: CREATED_S * 1_000, updated_ms: CREATED_S * 1_000, expires_s: CREATED_S }
  const signatures = { issue_signature: null, void_signature: null }
  return {
    invoice_id: SPECIMEN_ID,
    merchant: NOBODY,
    amount_minor: 1_000_000n,
    deposit_address: null,
    terms,
    ...times,
    ...signatures,
    bank_paid_ms: null,
    bank_payment: null,
    closed: true,
    marks: '',
  }
}
