import { ruleBook, type RuleBook } from './rule-book.ts'
import type { Tier } from './aci1.ts'
import { nobleCrypto, type ReceiptCrypto } from '../receipts/crypto.ts'
import { ruleBookDomain, typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import type { ReceiptFinding } from '../receipts/reasons.ts'
import { ZERO_ADDRESS } from '../receipts/receipt.ts'
import { verifyReceipt } from '../receipts/verify.ts'

/** Prices of the assured lane in millionths of a US dollar. Each number is a judgement; the table is published so that it can be checked and replaced. */
const ASSURED_TABLE = {
  /** Committed annual volume from which on a rate applies; the highest that is reached counts. */
  rates: [
    { from_minor: '0', bps: 20 },
    { from_minor: '10000000000000', bps: 15 },
    { from_minor: '100000000000000', bps: 10 },
  ],
  pod_bps: 5,
  /** Both apply to the whole premium, additions included. */
  least_minor: '25000000',
  most_minor: '25000000000',
  /** Above it the lane escalates. T0 is refused; without a tier everything is above. */
  advisory_cap_minor: { unassessed: '0', T1: '10000000000', T2: '100000000000', T3: '1000000000000' },
  dispute_window_days: 7,
} as const

export const ASSURED: RuleBook<typeof ASSURED_TABLE> = ruleBook('ASSURED-1', ASSURED_TABLE)

export const RAILS = ['crypto', 'fiat'] as const
type Rail = (typeof RAILS)[number]

/** Evidence of a money transfer that each rail accepts. */
export const SETTLING_EVIDENCE = { crypto: 'settled_nonce', fiat: 'statement_entry' } as const satisfies Record<Rail, string>

/** Requested terms. Amounts are decimal texts without leading zeros, in millionths of a US dollar. */
export interface AssuredRequest {
  notional_minor: string
  rail: Rail
  counterparty_tier?: Tier | undefined
  annual_volume_minor?: string | undefined
  pod_required?: boolean | undefined
}

type EscalationReason = 'tier_unassessed' | 'above_advisory_cap'

export interface AssuredOffer {
  rate_bps: number
  pod_bps: number
  total_bps: number
  /** At `total_bps`, rounded up. */
  unbounded_premium_minor: bigint
  premium_minor: bigint
  bound: 'minimum' | 'cap' | 'none'
  advisory_cap_minor: bigint
  pod_required: boolean
  insurance_referral: boolean
  /** Null: the lane does not escalate. */
  escalation: EscalationReason | null
}

type AssuredQuote = { kind: 'refused' } | ({ kind: 'offered' } & AssuredOffer)

const WHOLE_BP = 10_000n

/**
 * Computes the terms for a notional amount. Refuses only tier T0. The premium is rounded up by less than a millionth; only the cap can
 * lower it below the exact basis points.
 */
export function quoteAssured(asked: AssuredRequest, { table } = ASSURED): AssuredQuote {
  const { counterparty_tier: tier } = asked
  if (tier === 'T0') return { kind: 'refused' }
  const notional = BigInt(asked.notional_minor)
  const advisory_cap_minor = BigInt(table.advisory_cap_minor[tier ?? 'unassessed'])
  const above = notional > advisory_cap_minor ? 'above_advisory_cap' : null
  const escalation = tier === undefined ? 'tier_unassessed' : above
  const pod_required = escalation !== null || asked.pod_required === true
  const rate_bps = reachedRate(BigInt(asked.annual_volume_minor ?? '0'), table)
  const pod_bps = pod_required ? table.pod_bps : 0
  const total_bps = rate_bps + pod_bps
  const premium = computePremium(notional, BigInt(total_bps), table)
  const insurance_referral = escalation !== null
  return { kind: 'offered', rate_bps, pod_bps, total_bps, ...premium, advisory_cap_minor, pod_required, insurance_referral, escalation }
}

function reachedRate(volume_minor: bigint, { rates }: typeof ASSURED_TABLE): number {
  const reached = rates.filter(({ from_minor }) => volume_minor >= BigInt(from_minor))
  return Math.min(...reached.map(({ bps }) => bps))
}

function computePremium(notional_minor: bigint, bps: bigint, table: typeof ASSURED_TABLE) {
  const [least, most] = [BigInt(table.least_minor), BigInt(table.most_minor)]
  const exact = (notional_minor * bps + WHOLE_BP - 1n) / WHOLE_BP
  if (exact < least) return { unbounded_premium_minor: exact, premium_minor: least, bound: 'minimum' as const }
  if (exact > most) return { unbounded_premium_minor: exact, premium_minor: most, bound: 'cap' as const }
  return { unbounded_premium_minor: exact, premium_minor: exact, bound: 'none' as const }
}

/** Reasons why terms are not recorded, in the order of the checks. */
export const ASSURED_REFUSALS = {
  tier_refused: 'The assured lane does not take counterparties of tier T0.',
  receipt_invalid: 'The receipt is not valid, so no terms are bound to it.',
  receipt_not_paid: 'The receipt is not of a paid call: its tier is not paid, or its amount is 0.',
  payer_not_on_chain: 'The receipt names no on-chain payer, like receipts of credit calls and free calls.',
  receipt_from_future: 'The receipt is dated later than now.',
  terms_signature_invalid: 'Neither the payer nor the recipient of the receipt made terms_signature over these terms.',
} as const

type AssuredRefusal = keyof typeof ASSURED_REFUSALS

/** Maximum lead of the issuer's clock. */
const CLOCK_SKEW_S = 300
const DAY_S = 86_400

/** Members of a bindable receipt that a record needs. */
interface BindableReceipt {
  /** The digest by which the receipt is named. */
  receipt_hash: string
  /** Signer of the receipt; its key list is not checked. */
  issuer: string
  payer: string
  recipient: string
  nonce: string
  amount_minor: string
  ts: number
  warnings: ReceiptFinding[]
}

type BindableCheck = { ok: true; receipt: BindableReceipt } | { ok: false; refusal: AssuredRefusal; detail: string | null }

/** Checks whether terms can be bound to a receipt of any issuer, from the receipt and the clock alone. */
export function checkBindable(receipt: unknown, now_s: number, crypto: ReceiptCrypto = nobleCrypto): BindableCheck {
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

/** Stored terms of a bound offer. Amounts are decimal texts. */
export interface AssuredTerms {
  notional_minor: string
  rail: Rail
  counterparty_tier: Tier | 'unassessed'
  annual_volume_minor: string
  /** The caller's request; `pod_required` is the result. */
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

function makeAssuredTerms(asked: AssuredRequest, offer: AssuredOffer, receipt: BindableReceipt, { policy_hash } = ASSURED): AssuredTerms {
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

/** Struct that the payer or the recipient signs (EIP-712, domain ASSURED-1, version 1). All other terms follow from these. */
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

const ASSURED_DOMAIN = ruleBookDomain(ASSURED.standard)

type BoundTerms = Pick<
  AssuredTerms,
  'notional_minor' | 'rail' | 'counterparty_tier' | 'annual_volume_minor' | 'pod_asked' | 'premium_minor' | 'policy_hash'
>

function termsMessage(receipt_hash: string, terms: BoundTerms) {
  const { notional_minor, rail, counterparty_tier, annual_volume_minor, pod_asked, premium_minor, policy_hash } = terms
  const whole = { notional_minor: BigInt(notional_minor), annual_volume_minor: BigInt(annual_volume_minor) }
  return { receipt_hash, ...whole, rail, counterparty_tier, pod_required: pod_asked, premium_minor: BigInt(premium_minor), policy_hash }
}

/** Typed data to sign for these terms, in the form of wallets. */
export function termsTypedData(receipt_hash: string, terms: BoundTerms) {
  return typedDataJson(ASSURED_DOMAIN, ASSURED_TERMS, termsMessage(receipt_hash, terms))
}

/**
 * Returns the party of the receipt that signed these terms; null if neither did. Contract wallets cannot be asked here and count as not
 * signed.
 */
function termsSigner(
  { receipt_hash, payer, recipient }: Pick<BindableReceipt, 'receipt_hash' | 'payer' | 'recipient'>,
  terms: AssuredTerms,
  signature: string,
  crypto: ReceiptCrypto = nobleCrypto,
): string | null {
  const digest = typedDigest(ASSURED_DOMAIN, ASSURED_TERMS, termsMessage(receipt_hash, terms), crypto)
  const signer = typedSigner(digest, signature, crypto)
  return signer !== null && [payer.toLowerCase(), recipient.toLowerCase()].includes(signer) ? signer : null
}

/** Binds terms to a receipt, or says why not: everything that a record of them holds, from the request, the receipt and the clock alone. */
export function bindTerms(asked: AssuredRequest, given: unknown, now_s: number, crypto: ReceiptCrypto) {
  const quote = quoteAssured(asked)
  if (quote.kind === 'refused') return { ok: false as const, refusal: 'tier_refused' as const, detail: null }
  const bindable = checkBindable(given, now_s, crypto)
  if (!bindable.ok) return bindable
  const { receipt } = bindable
  const terms = makeAssuredTerms(asked, quote, receipt)
  return {
    ok: true as const,
    receipt_hash: receipt.receipt_hash,
    assured_id: assuredId(receipt.receipt_hash, crypto),
    window_ends_s: disputeWindowEnds(receipt.ts),
    terms,
    /** To be signed by the payer or the recipient. */
    typed_data: termsTypedData(receipt.receipt_hash, terms),
    warnings: receipt.warnings,
    /** The party of the receipt that made this signature over these terms; null if neither did. */
    signerOf: (signature: string) => termsSigner(receipt, terms, signature, crypto),
  }
}
