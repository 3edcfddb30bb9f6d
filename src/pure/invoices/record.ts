import { unprintable } from './printable.ts'
import { usdcDecimal, usdcOn } from '../payments/usdc.ts'
import { bankOf, type BankParts, bankStatus, reportedOf } from './record-bank.ts'
import { FEE_POLICY, feeOf, invoiceNonces, merchantKind, merchantTypedData, type InvoiceTerms } from './terms.ts'
import { releaseText } from '../credits/credits.ts'
import { type SignRequest, signRequest } from '../signing/sign-request.ts'
import { tokenTransferUri } from './links.ts'
import type { SeenPayment, Standing } from './standing.ts'
import { instant } from './instant.ts'
import { tokenText } from '../chain/token-amount.ts'
import { networkOf } from '../networks.ts'

/** A payment as the record shows it. */
interface ShownPayment extends SeenPayment {
  final: boolean
  matched_by: string
  nonce: string | null
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

/** The deposit address of an invoice, and what is needed to forward its balance. */
export interface ShownDeposit {
  /** With the capitals of EIP-55, because payers copy it. */
  address: string
  factory: string
  /** Calldata for the factory. */
  sweep_data: string
  /** Deposits from this amount on are forwarded by this service; null where it forwards none. */
  swept_from_minor: bigint | null
  /** A share of the day is used up, and the deposit is forwarded after that; null while none is. */
  put_off_until_s: number | null
  forwards: readonly { transaction: string; amount_minor: bigint; block_number: number; block_time_s: number }[]
}

export interface RecordParts extends BankParts {
  /** Null where the chain has no factory of deposit addresses. */
  deposit: ShownDeposit | null
  other_assets: readonly ShownAsset[]
  payments: readonly ShownPayment[]
  voided_s: number | null
  updated_s: number
  /** When the personal details were erased; null while they are kept. */
  erased_s: number | null
  /** Public origin, without a final slash. */
  site_url: string
  /** Origin of a block explorer; null where there is none. */
  explorer_url: string | null
  /** True when the last look at the chain is older than `INVOICE_RULES.stale_ms`. */
  stale: boolean
  /** Less is not carried to the chain here; null where nothing is. */
  carried_from_minor: bigint | null
  max_timeout_s: number
}

/** Number of calls that a pilot covers. */
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
    sign: signOf(parts),
    client_name: terms.client_name,
    memo: terms.memo,
    order_number: terms.order_number,
    return_url: terms.return_url,
    bank: terms.bank,
    pdf_unprintable: unprintable(pdfTexts(parts)),
    cart_hash: terms.cart_hash,
    ...amountsOf(terms, standing),
    currency: 'USDC',
    asset: `eip155:${chain_id}/erc20:${token}`,
    chain_id,
    ...feesOf(terms),
    accepted_terms: { version: terms.fee_policy_version, hash: terms.fee_policy_hash, accepted_at: instant(terms.created_s) },
    ...timesOf(parts),
    paid_by: paidBy(parts),
    tx_hash: standing.settled_by?.transaction ?? null,
    transaction_url: transactionUrl(parts, standing.settled_by?.transaction ?? null),
    payments: payments.map((one) => ({ ...paymentShown(one), transaction_url: transactionUrl(parts, one.transaction) })),
    ...checkoutOf(parts),
    deposit: depositOf(parts),
    ...bankOf(parts),
    bank_payment: parts.bank_payment,
    ...reportedOf(parts),
    other_assets: parts.other_assets.map((one) => assetShown(one)),
    erased_notice: parts.erased_s === null ? null : ERASED_NOTICE,
    entitlement: terms.product === 'ap2_pilot' ? { product: 'AP2 merchant pilot', calls: PILOT_CALLS } : null,
  }
}

type SummaryParts = Pick<
  RecordParts,
  'terms' | 'standing' | 'payments' | 'bank_payment' | 'creator_report' | 'site_url' | 'explorer_url' | 'erased_s'
>

/** Rail on which the invoice was paid; null while it is not. */
function paidBy({ standing, bank_payment }: Pick<RecordParts, 'standing' | 'bank_payment'>): 'chain' | 'bank' | null {
  if (standing.status !== 'SETTLED') return null
  return bank_payment === null ? 'chain' : 'bank'
}

function settledAt({ standing, bank_payment }: Pick<RecordParts, 'standing' | 'bank_payment'>): number | null {
  if (standing.status === 'SETTLED' && bank_payment !== null) return Math.floor(Date.parse(bank_payment.confirmed_at) / 1_000)
  return standing.settled_by?.block_time_s ?? null
}

/** One line of a merchant's list. The payment page is for people; the record has everything else. */
export function invoiceSummary(parts: SummaryParts) {
  const { terms, standing, payments, site_url } = parts
  const { invoice_id, client_name, memo, order_number, chain_id } = terms
  const settled = standing.settled_by
  const settled_s = settledAt(parts)
  return {
    invoice_id,
    status: standing.status,
    exceptions: standing.exceptions,
    ...amountsOf(terms, standing),
    currency: 'USDC',
    chain_id,
    client_name,
    memo,
    order_number,
    created_at: instant(terms.created_s),
    expires_at: instant(terms.expires_s),
    erased_at: parts.erased_s === null ? null : instant(parts.erased_s),
    settled_at: settled_s === null ? null : instant(settled_s),
    paid_by: paidBy(parts),
    bank_payment: parts.bank_payment,
    bank_status: bankStatus(parts),
    tx_hash: settled?.transaction ?? null,
    transaction_url: transactionUrl(parts, settled?.transaction ?? null),
    payer: payments.find(({ transaction }) => transaction === settled?.transaction)?.payer ?? null,
    page_url: `${site_url}/pay/${invoice_id}`,
    invoice_url: invoiceUrls(site_url, invoice_id).invoice_url,
  }
}

const ERASED_NOTICE =
  'The personal details of this invoice were erased: names, memo, order number, return URL, bank details and what bank statements named. Amounts, ' +
  'hashes, signatures, times and transactions on the chain are kept.'

const SIGNED_NOTICE = 'The merchant’s own key signed this invoice.'
/** The pilot of the operator is signed with the receipt key: the service has no key of the recipient. */
const OPERATOR_NOTICE = 'The operator of this service made this invoice and signed it with the key of its receipts.'
const UNSIGNED_NOTICE = 'The merchant has not signed this invoice, so anyone could have made it: compare the address before paying.'
/** The pilot of the operator while its signature is missing, because too many signed invoices of the operator are open. */
const UNSIGNED_OPERATOR_NOTICE = 'The operator of this service made this invoice. It is not signed yet.'

const NO_TRANSFER =
  'A plain transfer would not be matched to this invoice, since the merchant has not signed it, so none is offered: pay through pay_url.'

/** Returns what the payer should know about the merchant, and about the ways to pay that are not available. */
function noticeOf(parts: RecordParts): string {
  const { terms, merchant_signed, standing, carried_from_minor } = parts
  const [signed, unsigned] = terms.product === 'ap2_pilot' ? [OPERATOR_NOTICE, UNSIGNED_OPERATOR_NOTICE] : [SIGNED_NOTICE, UNSIGNED_NOTICE]
  const proof = merchant_signed ? signed : unsigned
  const payable_minor = payableOf(standing)
  if (payable_minor === 0n) return proof
  if (carried_from_minor === null || payable_minor < carried_from_minor)
    return `${proof} ${notRelayedText(transferWay(parts), carried_from_minor)}`
  return transferWay(parts) === 'none' ? `${proof} ${NO_TRANSFER}` : proof
}

/**
 * Signature that the invoice waits for: of its merchant while it can be paid, or of the payer of a pilot, who redeems its calls. Null if there is
 * none.
 */
function signOf({ terms, standing, merchant_signed, site_url, erased_s }: RecordParts): SignRequest | null {
  const { invoice_id, chain_id, merchant } = terms
  const values = { id: invoice_id }
  if (terms.product === 'ap2_pilot') {
    if (standing.status === 'VOID' || standing.status === 'EXPIRED') return null
    const signable = { method: 'personal_sign', message: releaseText(invoice_id, chain_id) } as const
    return signRequest({ kind: 'pilot-credit', origin: site_url, signer: null, signable, values })
  }
  // The signature covers the bank details, which are gone.
  if (merchant_signed || erased_s !== null || payableOf(standing) === 0n) return null
  const signable = { method: 'eth_signTypedData_v4', typed_data: merchantTypedData('issue', terms) } as const
  return signRequest({ kind: merchantKind('issue', terms), origin: site_url, signer: merchant, signable, values })
}

/** Texts entered by clients and by the operator's bank, as the PDF prints them, by their members of the record. */
function pdfTexts({ terms, bank }: RecordParts): Record<string, string | null> {
  const holder = terms.bank === null ? (bank?.account_name ?? null) : terms.bank.name
  return {
    client_name: terms.client_name,
    memo: terms.memo,
    order_number: terms.order_number,
    'bank_coordinates.account_name': holder,
    'bank_coordinates.bank_name': terms.bank === null ? (bank?.bank_name ?? null) : null,
  }
}

/** Recipient of a plain transfer that is matched to the invoice: its deposit address, its merchant, or none. */
export type TransferWay = 'deposit' | 'merchant' | 'none'

export function transferWay({ deposit, merchant_signed }: Pick<RecordParts, 'deposit' | 'merchant_signed'>): TransferWay {
  if (deposit !== null) return 'deposit'
  return merchant_signed ? 'merchant' : 'none'
}

const TRANSFER_TEXTS: Readonly<Record<TransferWay, string>> = {
  deposit: 'or send USDC to the deposit address.',
  merchant: 'or send exactly what is due by a plain transfer.',
  none: 'or, once the merchant has signed the invoice, send exactly what is due by a plain transfer.',
}

/** Returns how to pay an amount that this service does not send to the chain. */
export function notRelayedText(way: TransferWay, least_minor: bigint | null): string {
  const what = least_minor === null ? 'No payment is sent' : `Less than ${usdcDecimal(least_minor)} USDC is not sent`
  return `${what} to the chain from here: submit an authorization with payment_nonce to the token contract yourself, ${TRANSFER_TEXTS[way]}`
}

/** Returns the amount that may still be paid: 0 once the invoice is paid, void or expired. */
function payableOf({ status, due_minor }: Standing): bigint {
  return status === 'VOID' || status === 'EXPIRED' ? 0n : due_minor
}

/** URLs of the parts of an invoice; the id is sufficient to read them. */
function invoiceUrls(site_url: string, invoice_id: string) {
  const invoice_url = `${site_url}/api/invoice/${invoice_id}`
  return { invoice_url, pay_url: `${invoice_url}/pay`, pdf_url: `${invoice_url}/pdf`, qr_svg_url: `${invoice_url}/qr.svg` }
}

function amountsOf({ amount_minor }: InvoiceTerms, { paid_minor, confirmed_minor, due_minor, overpaid_minor }: Standing) {
  return {
    amount_usdc: usdcDecimal(BigInt(amount_minor)),
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
    protocol_fee_usdc: usdcDecimal(fee.fee_minor),
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

function timesOf(parts: RecordParts) {
  const { terms, standing, voided_s, updated_s, erased_s } = parts
  return {
    ...twins('created', terms.created_s),
    ...twins('expires', terms.expires_s),
    ...twins('first_seen', standing.first_seen_s),
    ...twins('settled', settledAt(parts)),
    ...twins('voided', voided_s),
    ...twins('updated', updated_s),
    ...twins('erased', erased_s),
  }
}

/** Page of a block explorer about a transaction; null where there is none. */
function transactionUrl({ explorer_url }: Pick<RecordParts, 'explorer_url'>, transaction: string | null): string | null {
  return explorer_url === null || transaction === null ? null : `${explorer_url}/tx/${transaction}`
}

function twins(name: string, time_s: number | null): Record<string, number | string | null> {
  return { [`${name}_at`]: time_s === null ? null : instant(time_s), [`${name}_s`]: time_s }
}

function paymentShown({ transaction, amount_minor, block_time_s, nonce, ...rest }: ShownPayment) {
  const method = nonce === null ? 'transfer' : 'eip3009'
  return { tx_hash: transaction, ...rest, amount_minor: String(amount_minor), block_time: instant(block_time_s), method, nonce }
}

/**
 * Ways to pay what is due now; null when nothing can be paid any more. The x402 terms are included only for payments that this service
 * relays to the chain.
 */
function checkoutOf(parts: RecordParts) {
  const { terms, standing, payments, carried_from_minor, deposit } = parts
  const { merchant, chain_id } = terms
  const payable_minor = payableOf(standing)
  if (payable_minor === 0n) return { eip681_uri: null, eip681_reason: 'Nothing is to be paid.', payment_nonce: null, x402: null }
  const has_way = transferWay(parts) !== 'none'
  const used = new Set(payments.flatMap(({ nonce }) => (nonce === null ? [] : [nonce])))
  return {
    eip681_uri: has_way ? tokenTransferUri(usdcOn(chain_id).address, chain_id, deposit?.address ?? merchant, payable_minor) : null,
    eip681_reason: has_way ? null : NO_TRANSFER,
    payment_nonce: invoiceNonces(terms).find((nonce) => !used.has(nonce)) ?? null,
    x402: carried_from_minor === null || payable_minor < carried_from_minor ? null : termsOf(parts, payable_minor),
  }
}

/** The deposit address stays in the record after the payment: a later transfer to it still reaches the merchant. */
function depositOf({ deposit }: RecordParts) {
  if (deposit === null) return null
  const { address, factory, sweep_data, swept_from_minor, put_off_until_s, forwards } = deposit
  return {
    address,
    forwarded_by_service_from_minor: swept_from_minor === null ? null : String(swept_from_minor),
    forwarded_after: put_off_until_s === null ? null : instant(put_off_until_s),
    notice: depositNotice(deposit),
    sweep: { to: factory, data: sweep_data },
    forwards: forwards.map(({ transaction, amount_minor, block_number, block_time_s }) => ({
      tx_hash: transaction,
      amount_minor: String(amount_minor),
      block_number,
      block_time: instant(block_time_s),
    })),
  }
}

function depositNotice({ swept_from_minor, put_off_until_s }: ShownDeposit): string {
  const rule = 'Only this invoice uses this address. Its contract can only forward to the merchant'
  const anyone = 'Anyone can forward with the transaction in `sweep`'
  if (swept_from_minor === null) return `${rule}. ${anyone}; this service does not.`
  if (put_off_until_s !== null)
    return `${rule}. The forwards without a fee of today are used up for its creator, its sender, its merchant or all: this service forwards it after ${instant(put_off_until_s)}. ${anyone}, without waiting.`
  const limits = 'within the numbers of a day, or on the next day'
  return `${rule}; deposits from ${usdcDecimal(swept_from_minor)} USDC are forwarded without a fee, ${limits}. ${anyone}, smaller deposits included.`
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

function assetShown({ transaction, amount, block_time_s, ...rest }: ShownAsset) {
  const { asset, payer, block_number, named_by } = rest
  return { tx_hash: transaction, asset, ...knownAs(asset, amount), payer, block_number, block_time: instant(block_time_s), named_by }
}

/** Other money that payers send by mistake where USDC was asked for; addresses in lower case. */
export function otherTokens(chain_id: number) {
  return (networkOf(chain_id)?.other_tokens ?? []).map((token) => ({ ...token, address: token.address.toLowerCase() }))
}

/** CAIP-19 of a token, and of the chain's own coin (SLIP-44 number 60). */
export function tokenAsset(chain_id: number, address: string): string {
  return `eip155:${chain_id}/erc20:${address}`
}
export function coinAsset(chain_id: number): string {
  return `eip155:${chain_id}/slip44:60`
}

const COIN = { symbol: 'ETH', decimals: 18 } as const

/** An amount of an asset as people read it. */
function knownAs(asset: string, amount: bigint): { symbol: string | null; amount: string | null; amount_smallest: string } {
  const [chain = '', name = ''] = asset.split('/')
  const address = name.replace('erc20:', '')
  const token = otherTokens(Number.parseInt(chain.slice('eip155:'.length), 10)).find((one) => one.address === address)
  const found = name === 'slip44:60' ? COIN : (token ?? null)
  const words = found === null ? { symbol: null, amount: null } : { symbol: found.symbol, amount: tokenText(amount, found.decimals) }
  return { ...words, amount_smallest: amount.toString() }
}
