import { canonicalText } from '../receipts/canonical.ts'
import { nobleCrypto, type ReceiptCrypto } from '../receipts/crypto.ts'
import { typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import type { ReceiptFinding } from '../receipts/reasons.ts'
import { ZERO_ADDRESS } from '../receipts/receipt.ts'
import { verifyReceipt } from '../receipts/verify.ts'
import type { Tier } from './aci1.ts'
import { ASSURED, type AssuredAsked, type AssuredOffer, type EscalationReason, type Rail } from './assured.ts'

/** Why nothing is recorded, in the order in which it is asked. */
export const ASSURED_REFUSALS = {
  tier_refused: 'The assured lane does not take counterparties of tier T0.',
  receipt_invalid: 'The receipt does not verify, so nothing is bound to it.',
  receipt_not_paid: 'The receipt is not of a paid call: its tier is not paid, or its amount is nothing.',
  payer_not_on_chain: 'The receipt names no payer on the chain, as those of credits and free calls do.',
  receipt_from_future: 'The receipt is dated later than now.',
  terms_signature_invalid: 'Neither the payer nor the recipient of the receipt made terms_signature over these terms.',
} as const

export type AssuredRefusal = keyof typeof ASSURED_REFUSALS

/** How far the issuer's clock may run ahead of ours. */
const CLOCK_SKEW_S = 300
const DAY_S = 86_400

/** What a record needs of a receipt that may be bound. */
export interface BindableReceipt {
  /** The digest by which the receipt is named. */
  receipt_hash: string
  /** Who signed it; whether anybody publishes that key is not asked. */
  issuer: string
  payer: string
  recipient: string
  nonce: string
  amount_minor: string
  ts: number
  warnings: ReceiptFinding[]
}

export type ReceiptJudgement = { ok: true; receipt: BindableReceipt } | { ok: false; refusal: AssuredRefusal; detail: string | null }

/** Whether a receipt, of any issuer, may be bound. Asks nothing but the receipt itself and the clock. */
export function judgeBindable(receipt: unknown, now_s: number, crypto: ReceiptCrypto = nobleCrypto): ReceiptJudgement {
  const { valid, reason, digest, signer_recovered, warnings } = verifyReceipt(receipt, undefined, crypto)
  if (!valid || digest === null || signer_recovered === null) return { ok: false, refusal: 'receipt_invalid', detail: reason }
  // What has verified holds texts in all of these, and a whole number in ts.
  const { tier, amount, payer, recipient, nonce, ts } = receipt as Record<'tier' | 'amount' | 'payer' | 'recipient' | 'nonce', string> & {
    ts: number
  }
  const refuse = (refusal: AssuredRefusal) => ({ ok: false as const, refusal, detail: null })
  if (tier !== 'paid' || !/^[1-9][0-9]{0,77}$/.test(amount)) return refuse('receipt_not_paid')
  // Other issuers write addresses with capitals; the receipt then carries a warning, and verifies.
  if (!/^0x[0-9a-fA-F]{40}$/.test(payer) || payer === ZERO_ADDRESS) return refuse('payer_not_on_chain')
  if (ts > now_s + CLOCK_SKEW_S) return refuse('receipt_from_future')
  const named = { receipt_hash: digest, issuer: signer_recovered, payer, recipient }
  return { ok: true, receipt: { ...named, nonce, amount_minor: amount, ts, warnings } }
}

/** The name of a record, which anybody can compute from the receipt's digest: 128 bits of a keccak-256. */
export function assuredId(receipt_hash: string, crypto: ReceiptCrypto = nobleCrypto): string {
  return `asr_${crypto.keccak256Hex(`ASSURED-1|${receipt_hash}`).slice(2, 34)}`
}

/** The last second in which a dispute may be filed, since 1970. */
export function disputeWindowEnds(receipt_ts: number, { table } = ASSURED): number {
  return receipt_ts + table.dispute_window_days * DAY_S
}

export type AssuredState = 'OPEN' | 'WINDOW_CLOSED' | 'DISPUTED' | 'ADJUDICATED'

/** A dispute that was filed stays so when the window closes. */
export function assuredState(mark: Exclude<AssuredState, 'WINDOW_CLOSED'>, window_ends_s: number, now_s: number): AssuredState {
  return mark === 'OPEN' && now_s > window_ends_s ? 'WINDOW_CLOSED' : mark
}

/** What is kept of an offer that was bound. Amounts are decimal texts. */
export interface AssuredTerms {
  notional_minor: string
  rail: Rail
  counterparty_tier: Tier | 'unassessed'
  annual_volume_minor: string
  /** What the caller asked; `pod_required` is what holds. */
  pod_asked: boolean
  pod_required: boolean
  insurance_referral: boolean
  escalation: EscalationReason | null
  total_bps: number
  premium_minor: string
  advisory_cap_minor: string
  policy_hash: string
  issuer: string
  payer: string
  nonce: string
  amount_minor: string
  receipt_ts: number
}

export function termsOf(asked: AssuredAsked, offer: AssuredOffer, receipt: BindableReceipt, { policy_hash } = ASSURED): AssuredTerms {
  const { pod_required, insurance_referral, escalation, total_bps, premium_minor, advisory_cap_minor } = offer
  const { issuer, payer, nonce, amount_minor, ts } = receipt
  return {
    notional_minor: asked.notional_minor,
    rail: asked.rail,
    counterparty_tier: asked.counterparty_tier ?? 'unassessed',
    annual_volume_minor: asked.annual_volume_minor ?? '0',
    pod_asked: asked.pod_required === true,
    pod_required,
    insurance_referral,
    escalation,
    total_bps,
    premium_minor: String(premium_minor),
    advisory_cap_minor: String(advisory_cap_minor),
    policy_hash,
    issuer,
    payer,
    nonce,
    amount_minor,
    receipt_ts: ts,
  }
}

/** What the payer or the recipient signs, in a domain of name ASSURED-1 and version 1. All other terms follow from these. */
const ASSURED_TERMS: TypedStruct = {
  name: 'AssuredTerms',
  fields: [
    { name: 'receipt_hash', type: 'bytes32' },
    { name: 'notional_minor', type: 'uint256' },
    { name: 'rail', type: 'string' },
    { name: 'counterparty_tier', type: 'string' },
    { name: 'annual_volume_minor', type: 'uint256' },
    { name: 'pod_required', type: 'bool' },
    { name: 'premium_minor', type: 'uint256' },
    { name: 'policy_hash', type: 'bytes32' },
  ],
}

function termsMessage(receipt_hash: string, terms: AssuredTerms) {
  const { notional_minor, rail, counterparty_tier, annual_volume_minor, pod_asked, premium_minor, policy_hash } = terms
  const whole = { notional_minor: BigInt(notional_minor), annual_volume_minor: BigInt(annual_volume_minor) }
  return { receipt_hash, ...whole, rail, counterparty_tier, pod_required: pod_asked, premium_minor: BigInt(premium_minor), policy_hash }
}

/** What is signed to bind these terms, as wallets take it. */
export function termsTypedData(receipt_hash: string, terms: AssuredTerms) {
  return typedDataJson(ASSURED.standard, ASSURED_TERMS, termsMessage(receipt_hash, terms))
}

/** Which party of the receipt signed these terms; null when neither did. Errs towards no: a contract wallet cannot be asked here. */
export function termsSigner(
  { receipt_hash, payer, recipient }: Pick<BindableReceipt, 'receipt_hash' | 'payer' | 'recipient'>,
  terms: AssuredTerms,
  signature: string,
  crypto: ReceiptCrypto = nobleCrypto,
): string | null {
  const digest = typedDigest(ASSURED.standard, ASSURED_TERMS, termsMessage(receipt_hash, terms), crypto)
  const signer = typedSigner(digest, signature, crypto)
  return signer !== null && [payer.toLowerCase(), recipient.toLowerCase()].includes(signer) ? signer : null
}

const ASKED = ['notional_minor', 'rail', 'counterparty_tier', 'annual_volume_minor', 'pod_asked'] as const satisfies (keyof AssuredTerms)[]

/** The names of what was asked otherwise than in the terms that are kept. */
export function differingTerms(kept: AssuredTerms, asked: AssuredTerms): string[] {
  return ASKED.filter((name) => kept[name] !== asked[name]).map((name) => (name === 'pod_asked' ? 'pod_required' : name))
}

export function termsText(terms: AssuredTerms): string {
  return canonicalText(terms)
}

/** Reads what `termsText` wrote, and nothing else ever was written. */
export function readTerms(text: string): AssuredTerms {
  return JSON.parse(text) as AssuredTerms
}
