import { tokenText } from '../../../../pure/chain/token-amount.ts'
import type { BadgeVerdict } from '../../../../pure/headline.ts'
import type { InvoiceState } from '../../../../pure/invoices/standing.ts'
import { isObject, objectsIn, textOf, type Members } from '../../../../pure/is-object.ts'

/** The members of an invoice record that the checkout uses. Amounts in minor units, times in seconds since 1970. */
export interface PayRecord {
  invoice_id: string
  status: InvoiceState
  exceptions: readonly string[]
  /** The chain has not been read for a minute or more. */
  stale: boolean
  merchant: string
  merchant_verified: boolean
  /** Null where the chain has no factory of deposit addresses. */
  deposit: PayDeposit | null
  /** Instant after which this service forwards a deposit that is beyond the forwards of the day; null where none waits. */
  forwarded_after: string | null
  amount_minor: bigint
  paid_minor: bigint
  due_minor: bigint
  overpaid_minor: bigint
  chain_id: number
  created_s: number
  expires_s: number
  first_seen_s: number | null
  voided_s: number | null
  settled_s: number | null
  tx_hash: string | null
  payments: readonly PaidPart[]
  /** Received assets other than USDC, such as "5 EURC". */
  other_assets: readonly string[]
  /** Bank transfer that the merchant confirmed; null if it confirmed none. */
  bank_payment: PaidAtBank | null
  /** Bank transfer that only the creator of the invoice reported; null if there is none. */
  creator_report: ReportedTransfer | null
  /** Reports from bank statements, as text. */
  bank_reports: readonly string[]
  /** Null if the invoice cannot be paid by signature. */
  signing: Signing | null
}

export interface ReportedTransfer {
  amount: string
  currency: string
  booked_on: string | null
  entry_reference: string | null
}

/** Evidence from a bank statement that the merchant signed. */
export interface PaidAtBank extends ReportedTransfer {
  /** Creditor reference of the invoice; null once its personal details were erased. */
  reference: string | null
  document_sha256: string
}

interface PayDeposit {
  /** With the capitals of EIP-55. */
  address: string
  /** assay forwards deposits from this amount on; null where it forwards none. */
  forwarded_from_minor: bigint | null
}

export interface PaidPart {
  tx_hash: string
  /** Page of a block explorer; null if the chain has none. */
  transaction_url: string | null
  payer: string
  amount_minor: bigint
  block_number: number
  block_time_s: number
  confirmed: boolean
  final: boolean
  nonce: string | null
}

/** EIP-712 domain of the token, and the nonce that identifies the invoice. */
export interface Signing {
  token: string
  name: string
  version: string
  nonce: string
}

/** Shape of each state of an invoice. */
export const INVOICE_MARKS = {
  ISSUED: 'done',
  PROCESSING: 'unverifiable',
  PARTIALLY_PAID: 'unverifiable',
  SETTLED: 'valid',
  EXPIRED: 'invalid',
  VOID: 'invalid',
} as const satisfies Record<InvoiceState, BadgeVerdict>

/** Reads an invoice record from JSON; null if it is not one. */
export function readRecord(value: unknown): PayRecord | null {
  if (!isObject(value)) return null
  const { status, chain_id, created_s, expires_s } = value
  const [amount_minor, paid_minor, due_minor] = [minorOf(value['amount_minor']), minorOf(value['amount_paid_minor']), dueOf(value)]
  if (!isState(status) || typeof chain_id !== 'number' || typeof created_s !== 'number' || typeof expires_s !== 'number') return null
  if (amount_minor === null || paid_minor === null || due_minor === null) return null
  const exceptions: unknown = value['exceptions']
  return {
    invoice_id: textOf(value['invoice_id']) ?? '',
    status,
    exceptions: Array.isArray(exceptions) ? exceptions.filter((one) => typeof one === 'string') : [],
    stale: value['stale'] === true,
    merchant: textOf(value['merchant']) ?? '',
    merchant_verified: value['merchant_verified'] === true,
    deposit: depositOf(value['deposit']),
    forwarded_after: textOf(value['forwarded_after']) ?? (isObject(value['deposit']) ? textOf(value['deposit']['forwarded_after']) : null),
    amount_minor,
    paid_minor,
    due_minor,
    overpaid_minor: minorOf(value['overpaid_minor']) ?? 0n,
    chain_id,
    created_s,
    expires_s,
    first_seen_s: secondsOf(value['first_seen_s']),
    voided_s: secondsOf(value['voided_s']),
    settled_s: secondsOf(value['settled_s']),
    bank_payment: paidAtBank(value['bank_payment']),
    tx_hash: textOf(value['tx_hash']),
    payments: objectsIn(value['payments']).flatMap(paidPart),
    other_assets: objectsIn(value['other_assets']).map(otherAsset),
    creator_report: reportsIn(value, true).map(reportedTransfer)[0] ?? null,
    bank_reports: reportsIn(value, false).map(bankReport),
    signing: signingOf(value),
  }
}

function depositOf(value: unknown): PayDeposit | null {
  const address = isObject(value) ? textOf(value['address']) : null
  if (!isObject(value) || address === null) return null
  return { address, forwarded_from_minor: minorOf(value['forwarded_by_service_from_minor']) }
}

/** Reads the evidence of a bank transfer that the merchant confirmed; null if it is none. */
export function paidAtBank(value: unknown): PaidAtBank | null {
  if (!isObject(value) || value['confirmed_by'] !== 'merchant') return null
  const [reference, sha] = [textOf(value['reference']), textOf(value['document_sha256'])]
  if (sha === null) return null
  return { ...reportedTransfer({ ...value, booked_at: value['booked_on'] }), reference, document_sha256: sha }
}

/** Reports about bank transfers: of the creator of the invoice, or of the operator. */
function reportsIn(value: Members, of_creator: boolean): Members[] {
  return objectsIn(value['bank_reports']).filter(({ reported_by }) => (reported_by === 'creator') === of_creator)
}

function reportedTransfer({ amount, currency, booked_at, entry_reference }: Members): ReportedTransfer {
  const [booked_on, entry] = [textOf(booked_at), textOf(entry_reference)]
  return { amount: textOf(amount) ?? '', currency: textOf(currency) ?? '', booked_on, entry_reference: entry }
}

function isState(value: unknown): value is InvoiceState {
  return typeof value === 'string' && Object.hasOwn(INVOICE_MARKS, value)
}

/** Reads an amount in minor units; null if it is not one. */
export function minorOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : null
}

/** Amount due; 0 for a void invoice. */
function dueOf(value: Members): bigint | null {
  return value['status'] === 'VOID' ? 0n : minorOf(value['amount_due_minor'])
}

function secondsOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function paidPart(part: Members): PaidPart[] {
  const amount_minor = minorOf(part['amount_minor'])
  const { block_number } = part
  const block_time_s = Math.floor(Date.parse(textOf(part['block_time']) ?? '') / 1_000)
  if (amount_minor === null || typeof block_number !== 'number' || Number.isNaN(block_time_s)) return []
  const [tx_hash, payer] = [textOf(part['tx_hash']) ?? '', textOf(part['payer']) ?? '']
  const depth = { confirmed: part['confirmed'] === true, final: part['final'] === true }
  const transaction_url = textOf(part['transaction_url'])
  return [{ tx_hash, transaction_url, payer, amount_minor, block_number, block_time_s, ...depth, nonce: textOf(part['nonce']) }]
}

function otherAsset({ symbol, amount, amount_smallest, asset }: Members): string {
  const named = textOf(symbol)
  if (named !== null && textOf(amount) !== null) return `${textOf(amount)} ${named}`
  return `${textOf(amount_smallest) ?? 'some'} smallest units of ${textOf(asset) ?? 'another asset'}`
}

function bankReport({ verdict, amount, currency, booked_at }: Members): string {
  const when = textOf(booked_at)
  return `${textOf(amount) ?? ''} ${textOf(currency) ?? ''}${when === null ? '' : `, booked ${when}`}: ${textOf(verdict) ?? ''}`
}

function signingOf({ x402, payment_nonce }: Members): Signing | null {
  const extra = isObject(x402) ? x402['extra'] : null
  if (!isObject(x402) || !isObject(extra)) return null
  const [token, name, version, nonce] = [textOf(x402['asset']), textOf(extra['name']), textOf(extra['version']), textOf(payment_nonce)]
  return token === null || name === null || version === null || nonce === null ? null : { token, name, version, nonce }
}

const DECIMALS = 6
const CENTS = 2

/** Exact decimal amount with at least two decimals: 12.50, 0.000001. */
export function usdc(amount_minor: bigint): string {
  const [whole = '0', part = ''] = tokenText(amount_minor, DECIMALS).split('.')
  return `${whole}.${part.padEnd(CENTS, '0')}`
}

/** Recipient of a plain transfer: the deposit address, or the merchant that has signed; null when no transfer would be matched. */
export function transferTo({ deposit, merchant, merchant_verified }: PayRecord): string | null {
  return deposit?.address ?? (merchant_verified ? merchant : null)
}

/** True if the invoice is open and an amount is due. */
export function isPayable({ status, due_minor }: Pick<PayRecord, 'status' | 'due_minor'>): boolean {
  return (status === 'ISSUED' || status === 'PARTIALLY_PAID' || status === 'PROCESSING') && due_minor > 0n
}

const CHAINS: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia' }

/** Name of the network as wallets show it; null if it has none. */
export function chainName(chain_id: number): string | null {
  return CHAINS[chain_id] ?? null
}

/** Key of a signed payment in the storage of the tab. */
export const KEPT = 'assay payment of '

/** Text that this tab keeps under a name; null without one, or in a browser that blocks the storage. */
export function keptText(name: string): string | null {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

/** Keeps a text for this tab across reloads; null removes it. A browser that blocks the storage keeps nothing. */
export function keepText(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  } catch {
    // The page asks again after a reload.
  }
}
