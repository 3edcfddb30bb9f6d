import { bankAmount, bankText, type ShownReport } from './bank-statements.ts'
import { instant } from './instant.ts'
import { bankReference, creditorReference, epcPayload, plainIban, type BankAccount, type BankTerms } from './links.ts'
import type { Standing } from './standing.ts'
import type { InvoiceTerms } from './terms.ts'

/** Evidence of a bank transfer from a statement. The document itself is not stored. */
export interface BankPayment {
  /** Decimal text in the currency. */
  amount: string
  currency: string
  /** These two are null once the personal details of the invoice were erased. */
  iban: string | null
  reference: string | null
  /** YYYY-MM-DD; null where the bank does not say. */
  booked_on: string | null
  statement_id: string | null
  /** The bank's reference of the entry. */
  entry_reference: string | null
  /** SHA-256 of the document as sent; 0x-prefixed. */
  document_sha256: string
  /** `merchant`: its signature over the document. `creator`: sent by the creator of the invoice to an earlier release, which confirms nothing. */
  confirmed_by: 'merchant' | 'creator'
  /** RFC 3339. */
  confirmed_at: string
}

/** Parts of a record that its members about banks are made of. */
export interface BankParts {
  terms: InvoiceTerms
  standing: Standing
  merchant_signed: boolean
  bank_reports: readonly ShownReport[]
  /** The account of this very merchant in the settings; null where none is configured. */
  bank: BankAccount | null
  /** The transfer that the merchant confirmed. */
  bank_payment: BankPayment | null
  /** A transfer that only the creator of the invoice reported. */
  creator_report: BankPayment | null
  /** When the personal details were erased; null while they are kept. */
  erased_s: number | null
}

/** Details of the invoice itself come first; the account of the settings is that of the operator's own invoices. */
export function bankOf(parts: BankParts) {
  const { bank, terms } = parts
  if (parts.erased_s !== null) return { bank_coordinates: null, bank_reason: BANK_ERASED }
  if (terms.bank !== null) return ownBank(parts, terms.bank)
  if (bank === null) return { bank_coordinates: null, bank_reason: 'No bank account of this merchant is configured here.' }
  if (['SETTLED', 'VOID', 'EXPIRED'].includes(parts.standing.status)) return { bank_coordinates: null, bank_reason: BANK_CLOSED }
  const reference = creditorReference(terms.invoice_id)
  const { account_name, bic, bank_name, country, currency } = bank
  const asked = bankAmount(BigInt(terms.amount_minor), currency)
  return {
    bank_coordinates: {
      account_name,
      iban: plainIban(bank.iban),
      bic,
      bank_name,
      country,
      currency,
      reference,
      amount: asked === null ? null : bankText(asked, currency),
      epc_payload: epcPayload(bank, reference),
      source: 'operator' as const,
      signed: false,
    },
    bank_reason:
      'A bank transfer is never confirmed here: it does not change the status. The code holds no amount, since no rate is promised.',
  }
}

const BANK_SIGNED = 'The merchant’s own key signed these bank details.'
const BANK_UNSIGNED =
  'The merchant has not signed these bank details, so anyone could have written them: compare the IBAN with one that you have from the merchant. ' +
  'Until the merchant has signed the invoice, no bank transfer is confirmed here.'
const BANK_CONFIRMED = 'A transfer counts as paid when the merchant confirms it with a bank statement. Pay once: by bank or on the chain.'
const BANK_ERASED = 'The bank details of this invoice were erased.'
const BANK_CLOSED = 'No bank transfer is due: the invoice is paid, void or expired, or a payment was seen on the chain.'

/** Bank details that the creator of the invoice gave. They are offered while nothing else was paid. */
function ownBank({ terms, standing, merchant_signed }: BankParts, bank: BankTerms) {
  if (standing.status !== 'ISSUED') return { bank_coordinates: null, bank_reason: BANK_CLOSED }
  const { name: account_name, iban, bic, currency, amount } = bank
  const reference = bankReference(bank, terms.invoice_id)
  return {
    bank_coordinates: {
      account_name,
      iban,
      bic,
      bank_name: null,
      country: iban.slice(0, 2),
      currency,
      reference,
      amount,
      epc_payload: epcPayload({ account_name, iban, bic, currency }, reference, amount),
      source: 'invoice' as const,
      signed: merchant_signed,
    },
    bank_reason: merchant_signed ? `${BANK_SIGNED} ${BANK_CONFIRMED}` : BANK_UNSIGNED,
  }
}

/** State of bank transfers in words; null without any. Only the merchant confirms one. */
export function bankStatus({ bank_payment, creator_report, bank_reports = [] }: StatusParts): string | null {
  if (bank_payment !== null) return 'confirmed by the merchant with a bank statement'
  if (creator_report !== null) return CREATOR_REPORT
  const last = bank_reports.reduce<ShownReport | null>(
    (found, one) => (found === null || one.reported_ms >= found.reported_ms ? one : found),
    null,
  )
  return last === null ? null : `reported by bank statement: ${last.verdict}`
}

type StatusParts = Pick<BankParts, 'bank_payment' | 'creator_report'> & Partial<Pick<BankParts, 'bank_reports'>>

const CREATOR_REPORT = 'reported by the creator, not confirmed'

/** Reports of the operator's bank and of the creator of the invoice; separate from the amounts on the chain, and no confirmation. */
export function reportedOf(parts: BankParts) {
  const { bank_reports, creator_report } = parts
  const shown = bank_reports.map(({ statement_id, entry_reference, booked_on, verdict, reported_ms, ...booking }) => ({
    statement_id,
    entry_reference,
    booked_at: booked_on,
    amount: signedText(booking),
    currency: booking.currency,
    verdict,
    reported_at: instant(Math.floor(reported_ms / 1_000)),
    reported_by: 'operator',
  }))
  return { bank_status: bankStatus(parts), bank_reports: creator_report === null ? shown : [...shown, creatorReport(creator_report)] }
}

function creatorReport({ statement_id, entry_reference, booked_on, amount, currency, confirmed_at }: BankPayment) {
  const entry = { statement_id, entry_reference, booked_at: booked_on, amount, currency }
  return { ...entry, verdict: CREATOR_REPORT, reported_at: confirmed_at, reported_by: 'creator' }
}

/** Money that left the account again has a minus before it. */
function signedText({ direction, amount_minor, currency }: Pick<ShownReport, 'direction' | 'amount_minor' | 'currency'>): string {
  return bankText(direction === 'CRDT' ? amount_minor : -amount_minor, currency)
}
