import { tokenText } from '../../../../pure/chain/token-amount.ts'
import type { InvoiceState } from '../../../../pure/invoices/standing.ts'
import { isMembers, listOf, textOf, type Members } from '../shapes.ts'

/** What a checkout needs of an invoice's record. Amounts are minor units, times seconds since 1970. */
export interface PayRecord {
  invoice_id: string
  status: InvoiceState
  exceptions: readonly string[]
  /** The chain was not looked at lately. */
  stale: boolean
  merchant: string
  merchant_verified: boolean
  amount_minor: bigint
  paid_minor: bigint
  due_minor: bigint
  overpaid_minor: bigint
  chain_id: number
  created_s: number
  expires_s: number
  first_seen_s: number | null
  voided_s: number | null
  tx_hash: string | null
  payments: readonly PaidPart[]
  /** What else than USDC came, in words such as 5 EURC. */
  other_assets: readonly string[]
  /** What statements of the operator's bank report, in words. */
  bank_reports: readonly string[]
  /** Null once nothing can be signed for it. */
  signing: Signing | null
}

export interface PaidPart {
  tx_hash: string
  payer: string
  amount_minor: bigint
  block_number: number
  block_time_s: number
  confirmed: boolean
  final: boolean
  nonce: string | null
}

/** What a wallet signs over: the token's own EIP-712 domain, and the nonce that names the invoice. */
export interface Signing {
  token: string
  name: string
  version: string
  nonce: string
}

const STATES: Readonly<Record<InvoiceState, true>> = {
  ISSUED: true,
  PROCESSING: true,
  PARTIALLY_PAID: true,
  SETTLED: true,
  EXPIRED: true,
  VOID: true,
}

/** Reads the record as it came over the wire; null for what is none. */
export function readRecord(value: unknown): PayRecord | null {
  if (!isMembers(value)) return null
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
    amount_minor,
    paid_minor,
    due_minor,
    overpaid_minor: minorOf(value['overpaid_minor']) ?? 0n,
    chain_id,
    created_s,
    expires_s,
    first_seen_s: secondsOf(value['first_seen_s']),
    voided_s: secondsOf(value['voided_s']),
    tx_hash: textOf(value['tx_hash']),
    payments: listOf(value['payments']).flatMap(paidPart),
    other_assets: listOf(value['other_assets']).map(otherAsset),
    bank_reports: listOf(value['bank_reports']).map(bankReport),
    signing: signingOf(value),
  }
}

function isState(value: unknown): value is InvoiceState {
  return typeof value === 'string' && Object.hasOwn(STATES, value)
}

function minorOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : null
}

/** A void invoice asks for nothing, whatever is missing of its amount. */
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
  return [{ tx_hash, payer, amount_minor, block_number, block_time_s, ...depth, nonce: textOf(part['nonce']) }]
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
  const extra = isMembers(x402) ? x402['extra'] : null
  if (!isMembers(x402) || !isMembers(extra)) return null
  const [token, name, version, nonce] = [textOf(x402['asset']), textOf(extra['name']), textOf(extra['version']), textOf(payment_nonce)]
  return token === null || name === null || version === null || nonce === null ? null : { token, name, version, nonce }
}

const DECIMALS = 6
const CENTS = 2

/** Exact, with two decimals at least: 12.50, 0.000001. */
export function usdc(amount_minor: bigint): string {
  const [whole = '0', part = ''] = tokenText(amount_minor, DECIMALS).split('.')
  return `${whole}.${part.padEnd(CENTS, '0')}`
}

/** Whether the merchant can be paid through this page now. */
export function isPayable({ status, due_minor }: Pick<PayRecord, 'status' | 'due_minor'>): boolean {
  return (status === 'ISSUED' || status === 'PARTIALLY_PAID' || status === 'PROCESSING') && due_minor > 0n
}

const CHAINS: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia' }

/** The chain as wallets call it. */
export function chainName(chain_id: number): string {
  return CHAINS[chain_id] ?? `chain ${chain_id}`
}
