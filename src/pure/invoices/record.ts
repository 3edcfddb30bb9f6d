import { unprintable } from './printable.ts'
import { tokenText } from '../chain/token-amount.ts'
import { USDC_DECIMALS, usdcOn } from '../payments/usdc.ts'
import { bankAmount, bankText, type BankBooking, type BankWord } from './bank.ts'
import { FEE_POLICY, feeOf } from './fee.ts'
import { knownAs } from './other-assets.ts'
import { creditorReference, epcPayload, plainIban, tokenTransferUri, type BankAccount } from './links.ts'
import type { Standing } from './standing.ts'
import { invoiceNonces, type InvoiceTerms } from './terms.ts'

/** A payment as the record shows it. */
interface ShownPayment {
  transaction: string
  log_index: number
  payer: string
  amount_minor: bigint
  block_number: number
  block_time_s: number
  confirmed: boolean
  final: boolean
  matched_by: string
  nonce: string | null
}

/** What a bank statement reports, as the record shows it. */
interface ShownReport extends BankBooking {
  statement_id: string
  entry_reference: string
  booked_on: string | null
  verdict: BankWord
  reported_ms: number
}

/** Another asset that came, as the record shows it. */
interface ShownAsset {
  transaction: string
  asset: string
  payer: string
  amount: bigint
  block_number: number
  block_time_s: number
  named_by: string
}

export interface RecordParts {
  bank_reports: readonly ShownReport[]
  other_assets: readonly ShownAsset[]
  terms: InvoiceTerms
  standing: Standing
  payments: readonly ShownPayment[]
  merchant_signed: boolean
  voided_s: number | null
  updated_s: number
  /** Public origin, without a final slash. */
  site_url: string
  /** The account of this very merchant; null where none is configured. */
  bank: BankAccount | null
  /** The chain was not looked at lately. */
  stale: boolean
  /** Less is not carried to the chain here; null where nothing is. */
  carried_from_minor: bigint | null
  max_timeout_s: number
}

/** How many calls a pilot covers. */
export const PILOT_CALLS = 50_000
export const PILOT_MINOR = 49_000_000n

/** The whole record on the wire. Amounts are decimal texts of minor units unless they say `_usdc`; times are seconds and RFC 3339. */
export function invoiceRecord(parts: RecordParts): Record<string, unknown> {
  const { terms, standing, payments, merchant_signed, site_url, stale } = parts
  const { invoice_id, merchant, chain_id, token } = terms
  return {
    invoice_id,
    version: 'INVOICE-1',
    status: standing.status,
    exceptions: standing.exceptions,
    stale,
    ...invoiceUrls(site_url, invoice_id),
    merchant,
    merchant_verified: merchant_signed,
    merchant_notice: noticeOf(parts),
    client_name: terms.client_name,
    memo: terms.memo,
    pdf_unprintable: unprintable(pdfTexts(parts)),
    cart_hash: terms.cart_hash,
    ...amountsOf(terms, standing),
    currency: 'USDC',
    asset: `eip155:${chain_id}/erc20:${token}`,
    chain_id,
    ...feesOf(terms),
    accepted_terms: { version: terms.fee_policy_version, hash: terms.fee_policy_hash, accepted_at: instant(terms.created_s) },
    ...timesOf(parts),
    tx_hash: standing.settled_by?.transaction ?? null,
    payments: payments.map((one) => paymentShown(one)),
    ...checkoutOf(parts),
    ...bankOf(parts),
    ...reportedOf(parts),
    other_assets: parts.other_assets.map((one) => assetShown(one)),
    entitlement: terms.product === 'ap2_pilot' ? { product: 'AP2 merchant pilot', calls: PILOT_CALLS } : null,
  }
}

const SIGNED_NOTICE = 'The merchant’s own key signed this invoice.'
/** The pilot of the operator: its receipt key signs, since the service has no key of the address that is paid. */
const OPERATOR_NOTICE = 'The operator of this service made this invoice and signed it with the key of its receipts.'
const UNSIGNED_NOTICE = 'Nobody has proved that the merchant made this invoice: compare the address before paying.'

const NO_TRANSFER =
  'A plain transfer would not be matched to this invoice, since the merchant has not signed it, so none is offered: pay through pay_url.'

/** What the payer should know of the merchant, and of the way to pay where not every way is open. */
function noticeOf({ terms, merchant_signed, standing, carried_from_minor }: RecordParts): string {
  const signed = terms.product === 'ap2_pilot' ? OPERATOR_NOTICE : SIGNED_NOTICE
  const proof = merchant_signed ? signed : UNSIGNED_NOTICE
  const payable_minor = payableOf(standing)
  if (payable_minor === 0n) return proof
  if (carried_from_minor === null || payable_minor < carried_from_minor)
    return `${proof} ${notCarried(merchant_signed, carried_from_minor)}`
  return merchant_signed ? proof : `${proof} ${NO_TRANSFER}`
}

/** Texts of strangers and of the operator's bank, as the PDF prints them, by their members of the record. */
function pdfTexts({ terms, bank }: RecordParts): Record<string, string | null> {
  return {
    client_name: terms.client_name,
    memo: terms.memo,
    'bank_coordinates.account_name': bank?.account_name ?? null,
    'bank_coordinates.bank_name': bank?.bank_name ?? null,
  }
}

/** How less is paid than is carried to the chain here, or anything where nothing is carried. */
export function notCarried(merchant_signed: boolean, least_minor: bigint | null): string {
  const what = least_minor === null ? 'Nothing is carried' : `Less than ${usdcText(least_minor)} USDC is not carried`
  const before = merchant_signed ? '' : ', once the merchant has signed the invoice,'
  return (
    `${what} to the chain here: hand an authorization with payment_nonce to the token yourself, ` +
    `or${before} send exactly what is due by a plain transfer.`
  )
}

/** What is still taken for it, by whatever way: nothing once it is paid, void or expired. */
function payableOf({ status, due_minor }: Standing): bigint {
  return status === 'VOID' || status === 'EXPIRED' ? 0n : due_minor
}

/** Where the parts of an invoice are; its id is all that it takes to read them. */
function invoiceUrls(site_url: string, invoice_id: string) {
  const invoice_url = `${site_url}/api/invoice/${invoice_id}`
  return { invoice_url, pay_url: `${invoice_url}/pay`, pdf_url: `${invoice_url}/pdf`, qr_svg_url: `${invoice_url}/qr.svg` }
}

export function usdcText(amount_minor: bigint): string {
  return tokenText(amount_minor, USDC_DECIMALS)
}

function amountsOf({ amount_minor }: InvoiceTerms, { paid_minor, confirmed_minor, due_minor, overpaid_minor }: Standing) {
  return {
    amount_usdc: usdcText(BigInt(amount_minor)),
    amount_minor,
    amount_paid_minor: String(paid_minor),
    amount_confirmed_minor: String(confirmed_minor),
    amount_due_minor: String(due_minor),
    amount_refunded_minor: '0',
    overpaid_minor: String(overpaid_minor),
  }
}

function feesOf({ amount_minor, referrer, fee_policy_version }: InvoiceTerms) {
  const fee = feeOf(BigInt(amount_minor), referrer !== null)
  return {
    protocol_fee_bps: FEE_POLICY.protocol_fee_bps,
    protocol_fee_minor: String(fee.fee_minor),
    protocol_fee_usdc: usdcText(fee.fee_minor),
    protocol_fee_cap_minor: String(fee.cap_minor),
    fee_policy_version,
    fee_policy_text: FEE_POLICY.text,
    fee_mode: FEE_POLICY.mode,
    merchant_net_minor: String(fee.merchant_net_minor),
    referrer,
    referrer_rebate_bps_of_fee: FEE_POLICY.referrer_rebate_bps_of_fee,
    referrer_rebate_minor: String(fee.rebate_minor),
  }
}

function timesOf({ terms, standing, voided_s, updated_s }: RecordParts) {
  return {
    ...twins('created', terms.created_s),
    ...twins('expires', terms.expires_s),
    ...twins('first_seen', standing.first_seen_s),
    ...twins('settled', standing.settled_by?.block_time_s ?? null),
    ...twins('voided', voided_s),
    ...twins('updated', updated_s),
  }
}

function twins(name: string, time_s: number | null): Record<string, number | string | null> {
  return { [`${name}_at`]: time_s === null ? null : instant(time_s), [`${name}_s`]: time_s }
}

function instant(time_s: number): string {
  return new Date(time_s * 1_000).toISOString().replace('.000Z', 'Z')
}

function paymentShown({ transaction, amount_minor, block_time_s, nonce, ...rest }: ShownPayment) {
  const method = nonce === null ? 'transfer' : 'eip3009'
  return { tx_hash: transaction, ...rest, amount_minor: String(amount_minor), block_time: instant(block_time_s), method, nonce }
}

/** What can be paid now, and how; null once nothing can be. Terms of x402 stand there only for what is carried to the chain. */
function checkoutOf(parts: RecordParts) {
  const { terms, standing, payments, carried_from_minor, merchant_signed } = parts
  const { merchant, chain_id } = terms
  const payable_minor = payableOf(standing)
  if (payable_minor === 0n) return { eip681_uri: null, eip681_reason: 'Nothing is to be paid.', payment_nonce: null, x402: null }
  const used = new Set(payments.flatMap(({ nonce }) => (nonce === null ? [] : [nonce])))
  return {
    eip681_uri: merchant_signed ? tokenTransferUri(usdcOn(chain_id).address, chain_id, merchant, payable_minor) : null,
    eip681_reason: merchant_signed ? null : NO_TRANSFER,
    payment_nonce: invoiceNonces(terms).find((nonce) => !used.has(nonce)) ?? null,
    x402: carried_from_minor === null || payable_minor < carried_from_minor ? null : termsOf(parts, payable_minor),
  }
}

function termsOf({ terms, max_timeout_s }: RecordParts, amount_minor: bigint) {
  const { merchant, chain_id, token } = terms
  const { name, version } = usdcOn(chain_id)
  return {
    scheme: 'exact',
    network: `eip155:${chain_id}`,
    amount: String(amount_minor),
    asset: token,
    payTo: merchant,
    maxTimeoutSeconds: max_timeout_s,
    extra: { name, version },
  }
}

function bankOf({ bank, terms }: RecordParts) {
  if (bank === null) return { bank_coordinates: null, bank_reason: 'No bank account of this merchant is configured here.' }
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
    },
    bank_reason:
      'A bank transfer is never confirmed here: it does not change the status. The code holds no amount, since no rate is promised.',
  }
}

/** What the bank reported to the operator; amounts of the chain know nothing of it. */
function reportedOf({ bank_reports }: RecordParts) {
  const last = bank_reports.reduce<ShownReport | null>(
    (found, one) => (found === null || one.reported_ms >= found.reported_ms ? one : found),
    null,
  )
  return {
    bank_status: last === null ? null : `reported by bank statement: ${last.verdict}`,
    bank_reports: bank_reports.map(({ statement_id, entry_reference, booked_on, verdict, reported_ms, ...booking }) => ({
      statement_id,
      entry_reference,
      booked_at: booked_on,
      amount: signedText(booking),
      currency: booking.currency,
      verdict,
      reported_at: instant(Math.floor(reported_ms / 1_000)),
    })),
  }
}

/** Money that left the account again has a minus before it. */
function signedText({ direction, amount_minor, currency }: BankBooking): string {
  return bankText(direction === 'CRDT' ? amount_minor : -amount_minor, currency)
}

function assetShown({ transaction, amount, block_time_s, ...rest }: ShownAsset) {
  const { asset, payer, block_number, named_by } = rest
  return { tx_hash: transaction, asset, ...knownAs(asset, amount), payer, block_number, block_time: instant(block_time_s), named_by }
}
