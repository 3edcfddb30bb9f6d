import { ruleBook, type RuleBook } from './rule-book.ts'
import { ruleBookDomain, typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import { canonicalText } from '../receipts/canonical.ts'
import { type ReceiptCrypto, toHex } from '../receipts/crypto.ts'
import { digestText, type Joinable, ZERO_ADDRESS } from '../receipts/receipt.ts'
import { verifyReceipt } from '../receipts/verify.ts'
import { validateJsonSchema } from '../documents/json-schema/validate.ts'

export const DIP_CLAIMS = ['NOT_DELIVERED', 'TIMEOUT_UNDELIVERED', 'OUTPUT_MISMATCH', 'SCHEMA'] as const
type DipClaim = (typeof DIP_CLAIMS)[number]

type DipVerdict = 'UPHELD' | 'REJECTED' | 'INCONCLUSIVE'

/** Verdicts of the rules in the order of their checks. The first rule that applies decides. */
export const DIP_RULES = {
  'DIP-G1': { verdict: 'REJECTED', code: 'receipt_malformed', words: 'The receipt does not have the form of an XDR-1 receipt.' },
  'DIP-G2': { verdict: 'REJECTED', code: 'signature_invalid', words: 'The declared signer did not sign this receipt.' },
  'DIP-G3': { verdict: 'REJECTED', code: 'window_closed', words: 'The dispute is not within seven days after the date of the receipt.' },
  'DIP-G4': { verdict: 'REJECTED', code: 'input_differs', words: 'The claimed input is not the one that the receipt covers.' },
  'DIP-N1': { verdict: 'UPHELD', code: 'output_empty', words: 'The receipt itself covers an empty output.' },
  'DIP-N2': {
    verdict: 'REJECTED',
    code: 'output_not_empty',
    words: 'The signer attests an output that is not empty; if something else arrived, claim OUTPUT_MISMATCH with it.',
  },
  'DIP-T1': { verdict: 'UPHELD', code: 'output_empty', words: 'The receipt covers an empty output, and the time for the call is over.' },
  'DIP-T2': { verdict: 'REJECTED', code: 'output_not_empty', words: 'The signer attests an output that is not empty.' },
  'DIP-T3': { verdict: 'REJECTED', code: 'call_not_over', words: 'The time for the call is not over yet.' },
  'DIP-O1': { verdict: 'REJECTED', code: 'output_matches', words: 'The delivered output is the one that the receipt covers.' },
  'DIP-O2': {
    verdict: 'UPHELD',
    code: 'other_output_signed',
    words: 'The signer of the receipt also signed that it delivered this other output.',
  },
  'DIP-O3': {
    verdict: 'INCONCLUSIVE',
    code: 'output_unproven',
    words: 'The delivered output is another one, but only the claimant says that it was delivered.',
  },
  'DIP-O4': { verdict: 'INCONCLUSIVE', code: 'output_missing', words: 'Without delivered_output there is nothing to compare.' },
  'DIP-S1': {
    verdict: 'UPHELD',
    code: 'schema_violated',
    words: 'The output that the receipt covers violates the published output schema of the tool.',
  },
  'DIP-S2': {
    verdict: 'REJECTED',
    code: 'schema_fits',
    words: 'The output that the receipt covers fits the published output schema of the tool.',
  },
  'DIP-S3': {
    verdict: 'INCONCLUSIVE',
    code: 'schema_unknown',
    words: 'The output schema is unknown: this service did not sign the receipt, or does not publish the tool in this version.',
  },
  'DIP-S4': { verdict: 'INCONCLUSIVE', code: 'schema_not_applicable', words: 'The output schema could not be applied to this output.' },
} as const satisfies Record<string, { verdict: DipVerdict; code: string; words: string }>

type DipRule = keyof typeof DIP_RULES

/** Remarks in addition to the deciding rule. */
export const DIP_NOTES = {
  'DIP-R1': 'The receipt lacks signer, tool_version or tier, and no key of this service signed it: its signature could not be checked.',
  'DIP-R2': 'The receipt was signed by another issuer, whose output schemas this service does not know.',
  'DIP-R3': 'The output differs from the one that the receipt covers, so the claim is judged as OUTPUT_MISMATCH.',
  'DIP-R4': 'transport_signature was not made by the signer of the receipt over this output and is ignored.',
  'DIP-R5': 'claimant_signature was not made by the payer of the receipt over this dispute and is ignored.',
  'DIP-R6': 'The call of the receipt was not paid on chain, so there is nothing to refund.',
  'DIP-R7': 'The amount does not exceed refund_threshold_minor, so no refund order is queued.',
  'DIP-R8': 'Refund orders are queued only for receipts that this service signed.',
} as const

type DipNote = keyof typeof DIP_NOTES

/** Grades of the evidence for a verdict, best first. */
export const DIP_GRADES = ['receipt_and_output', 'transport_signed', 'receipt', 'claimant_asserted', 'unverified', 'none'] as const
type DipGrade = (typeof DIP_GRADES)[number]

/** Rule table of DIP-1. The numbers are judgements; the table is published so that it can be checked and replaced. */
const DIP_TABLE = {
  rules: Object.fromEntries(Object.entries(DIP_RULES).map(([rule, { verdict }]) => [rule, verdict])) as Record<DipRule, DipVerdict>,
  window_days: 7,
  /** Maximum duration of a call, from the date of its receipt. */
  call_window_s: 120,
  /** Maximum lead of the issuer's clock. */
  clock_skew_s: 300,
  /** A refund order is queued for more than this, in millionths of a US dollar, unless the claimant names another threshold. */
  refund_threshold_minor: '1000000',
  /** Issuers whose receipts a SCHEMA claim can be judged for: the schemas of others may differ under the same name. */
  schema_issuers: ['own'],
  /** Besides 32 zero bytes, the hashes of these texts mean that nothing was delivered. */
  empty_outputs: ['', 'null', '""', '{}', '[]'],
  refund_reasons: {
    NOT_DELIVERED: 'not_delivered',
    TIMEOUT_UNDELIVERED: 'timeout',
    OUTPUT_MISMATCH: 'output_mismatch',
    SCHEMA: 'invalid_output',
  },
} as const

export const DIP: RuleBook<typeof DIP_TABLE> = ruleBook('DIP-1', DIP_TABLE)

/** Possible hashes of a value: of its RFC 8785 text and of its text as given. A text is also tried as JSON and as a bare text. */
export function hashesOf(value: unknown, crypto: ReceiptCrypto): Set<string> {
  const texts =
    typeof value === 'string' ? [value, ...textsToHash(value), ...parseJsonOrNone(value).flatMap(textsToHash)] : textsToHash(value)
  return new Set(texts.map((text) => crypto.keccak256Hex(text)))
}

function textsToHash(value: unknown): string[] {
  try {
    return [canonicalText(value), JSON.stringify(value)]
  } catch {
    // Nested too deep, or half a surrogate pair: nothing that a receipt of ours could cover.
    return []
  }
}

function parseJsonOrNone(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}

/** Returns whether an output hash is that of an empty output. */
function isEmptyOutput(output_hash: string, crypto: ReceiptCrypto): boolean {
  const hash = output_hash.toLowerCase()
  return /^0x0{64}$/.test(hash) || DIP.table.empty_outputs.some((text) => crypto.keccak256Hex(text) === hash)
}

/** Text that a seller signs to state which output it delivered. */
export function transportText(receipt_hash: string, output_hash: string): string {
  return `DIP-1-TRANSPORT|${receipt_hash}|${output_hash}`
}

/**
 * Returns whether the seller signed that it delivered this output: raw keccak-256 of `DIP-1-TRANSPORT`, receipt hash and output hash,
 * joined by bars, with the receipt key.
 */
function isTransportSigned(
  { receipt_hash, output_hash, signer }: { receipt_hash: string; output_hash: string; signer: string },
  signature: string,
  crypto: ReceiptCrypto,
): boolean {
  return typedSigner(crypto.keccak256(transportText(receipt_hash, output_hash)), signature, crypto) === signer
}

/** Hash that distinguishes disputes with the same id: all submitted members except the claimant's signature. */
function bodyHash(body: Readonly<Record<string, unknown>>, crypto: ReceiptCrypto): string {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  return crypto.keccak256Hex(canonicalText(given))
}

/** Struct that the payer signs (EIP-712, domain DIP-1, version 1). */
const DISPUTE: TypedStruct = {
  name: 'Dispute',
  fields: [
    { name: 'dispute_id', type: 'string' },
    { name: 'receipt_hash', type: 'bytes32' },
    { name: 'claim', type: 'string' },
    { name: 'body_hash', type: 'bytes32' },
  ],
}

const DIP_DOMAIN = ruleBookDomain('DIP-1')

interface DisputeName {
  dispute_id: string
  receipt_hash: string
  claim: string
  body_hash: string
}

/** Typed data for the payer to sign, in the form of wallets. */
export function disputeTypedData(dispute: DisputeName) {
  return typedDataJson(DIP_DOMAIN, DISPUTE, { ...dispute })
}

/** Returns whether the payer of the receipt signed exactly this dispute. Signatures of contract wallets cannot be verified here and count as missing. */
function isFiledByPayer(dispute: DisputeName, payer: string, signature: string, crypto: ReceiptCrypto): boolean {
  return typedSigner(typedDigest(DIP_DOMAIN, DISPUTE, { ...dispute }, crypto), signature, crypto) === payer.toLowerCase()
}

/** A receipt as disputes carry it: signer, tool_version and tier may be left out. */
interface DisputedReceipt {
  v: string
  tool: string
  payer: string
  recipient: string
  amount: string
  ts: number
  input_hash: string
  output_hash: string
  nonce: string
  signature: string
  tool_version?: string | undefined
  tier?: string | undefined
  signer?: string | undefined
  successor?: string | null | undefined
  stream_state?: string | null | undefined
}

interface IssuerFacts {
  crypto: ReceiptCrypto
  /** Returns whether an address was a receipt key of this service at that time, in seconds since 1970. */
  owns(address: string, ts: number): boolean
  /** The version in which this service has the tool now; null when it has none of this name. */
  versionOf(tool: string): string | null
}

/** Signer of the receipt: this service, another issuer, or unknown. */
type Issuer = 'own' | 'other' | 'unknown'

interface ReadReceipt {
  fields: DisputedReceipt
  /** The digest where the signature is good; else a hash of all that was given, which no good receipt shares. */
  hash: string
  /** Recovered; null where it could not be checked. */
  signer: string | null
  issuer: Issuer
  /** The version that is signed, or that was given; null when unknown. */
  tool_version: string | null
  /** True if the call was paid on chain. */
  paid: boolean
  /** Which gate it fails. */
  fault: 'DIP-G1' | 'DIP-G2' | null
}

const HASH = /^0x[0-9a-fA-F]{64}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const AMOUNT = /^(?:0|[1-9][0-9]{0,77})$/

/**
 * Reads a receipt and verifies its signature as far as possible. If fields were left out, the current version and tier of this service are
 * assumed and the recovered address is looked up among its keys.
 */
function readDisputedReceipt(fields: DisputedReceipt, facts: IssuerFacts): ReadReceipt {
  const { crypto } = facts
  const unverified = crypto.keccak256Hex(`DIP-1-UNVERIFIED|${canonicalText(withoutAbsent(fields))}`)
  const paid = isPaid(fields)
  const unread = { fields, hash: unverified, signer: null, issuer: 'unknown', tool_version: fields.tool_version ?? null, paid } as const
  const verdict = verifyReceipt(completeReceipt(fields, facts), undefined, crypto)
  if (!hasShape(fields) || verdict.digest === null) return { ...unread, fault: 'DIP-G1' }
  if (fields.signer !== undefined && fields.tool_version !== undefined && fields.tier !== undefined) {
    if (!verdict.valid || verdict.signer_recovered === null) return { ...unread, fault: 'DIP-G2' }
    const issuer = facts.owns(verdict.signer_recovered, fields.ts) ? 'own' : 'other'
    return { ...unread, hash: verdict.digest, signer: verdict.signer_recovered, issuer, fault: null }
  }
  const own = findOwnSigner(fields, facts)
  if (own === null) return { ...unread, fault: null }
  if (fields.signer !== undefined && fields.signer.toLowerCase() !== own.signer) return { ...unread, fault: 'DIP-G2' }
  return { ...unread, ...own, issuer: 'own', fault: null }
}

function hasShape({ v, input_hash, output_hash, amount }: DisputedReceipt): boolean {
  return v === 'XDR-1' && HASH.test(input_hash) && HASH.test(output_hash) && AMOUNT.test(amount)
}

function isPaid({ tier, amount, payer }: DisputedReceipt): boolean {
  return tier !== 'free' && AMOUNT.test(amount) && amount !== '0' && ADDRESS.test(payer) && payer !== ZERO_ADDRESS
}

function completeReceipt(fields: DisputedReceipt, { versionOf }: IssuerFacts) {
  const given = withoutAbsent(fields)
  const tier = fields.amount === '0' ? 'free' : 'paid'
  return { tool_version: versionOf(fields.tool) ?? '0.0.0', tier, signer: ZERO_ADDRESS, ...given }
}

function withoutAbsent(fields: DisputedReceipt): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** The key of this service that signed the completed receipt; null when none did. */
function findOwnSigner(fields: DisputedReceipt, facts: IssuerFacts): Pick<ReadReceipt, 'hash' | 'signer' | 'tool_version'> | null {
  const whole = completeReceipt(fields, facts) as unknown as Joinable
  const digest = facts.crypto.keccak256(digestText(whole))
  const signer = typedSigner(digest, fields.signature, facts.crypto)
  if (signer === null || !facts.owns(signer, fields.ts)) return null
  return { hash: toHex(digest), signer, tool_version: whole.tool_version }
}

/**
 * DIP-1 decides a dispute about one call by its receipt alone. Gates come first (form, signature, window, claimed input), then the claim.
 * Only hashes, signatures and the published schema count, so every party with the same documents gets the same verdict. A claim without
 * proof is never upheld against a signed receipt.
 */

export interface Dispute {
  dispute_id: string
  receipt: DisputedReceipt
  claim: DipClaim
  claimed_input?: string | Record<string, unknown> | undefined
  delivered_output?: Record<string, unknown> | undefined
  /** Decimal text, minor units of USDC. */
  refund_threshold_minor?: string | undefined
  /** Of the seller, over receipt and output. */
  transport_signature?: string | undefined
  /** Of the payer, over the dispute. */
  claimant_signature?: string | undefined
}

export interface DipFacts extends Omit<IssuerFacts, 'versionOf'> {
  now_s: number
  /** The output schema that this service publishes for a tool; null when it has none of this name. */
  published(tool: string): { version: string; schema: unknown } | null
}

interface Adjudication {
  verdict: DipVerdict
  rule: DipRule
  grade: DipGrade
  findings: { rule: DipRule | DipNote; message: string }[]
  receipt: ReadReceipt
  body_hash: string
  claimant: 'payer_signed' | 'unsigned'
  remedy: 'REFUND_ORDER_QUEUED' | 'verdict_only' | 'none'
  window_ends_s: number
}

const DAY_S = 86_400
/** The work that one output may take. */
const SCHEMA_STEPS = 300_000

interface Decision {
  rule: DipRule
  grade: DipGrade
  notes: DipNote[]
}

export function adjudicate(dispute: Dispute, facts: DipFacts): Adjudication {
  const { crypto, owns } = facts
  const receipt = readDisputedReceipt(dispute.receipt, { crypto, owns, versionOf: (tool) => facts.published(tool)?.version ?? null })
  const { dispute_id, receipt: _receipt, claimant_signature, ...body } = dispute
  const body_hash = bodyHash(body, crypto)
  const name = { dispute_id, receipt_hash: receipt.hash, claim: dispute.claim, body_hash }
  const signed = claimant_signature !== undefined && receipt.paid && isFiledByPayer(name, dispute.receipt.payer, claimant_signature, crypto)
  const gate = findFailedGate(dispute, receipt, facts)
  const decision = gate === null ? decideClaim(dispute, receipt, facts) : { rule: gate, grade: 'none' as const, notes: [] }
  const { verdict, words } = DIP_RULES[decision.rule]
  const refund = decideRefund(verdict, receipt, dispute)
  const notes = [
    ...(receipt.fault === null && receipt.signer === null ? (['DIP-R1'] as const) : []),
    ...(receipt.issuer === 'other' ? (['DIP-R2'] as const) : []),
    ...decision.notes,
    ...refund.notes,
    // Last, since it alone is of the call and not of the dispute.
    ...(claimant_signature !== undefined && !signed ? (['DIP-R5'] as const) : []),
  ]
  return {
    verdict,
    rule: decision.rule,
    grade: decision.grade !== 'none' && receipt.signer === null ? 'unverified' : decision.grade,
    findings: [{ rule: decision.rule, message: words }, ...notes.map((rule) => ({ rule, message: DIP_NOTES[rule] }))],
    receipt,
    body_hash,
    claimant: signed ? 'payer_signed' : 'unsigned',
    remedy: refund.remedy,
    window_ends_s: windowEnds(receipt),
  }
}

function windowEnds({ fields }: ReadReceipt): number {
  return fields.ts + DIP.table.window_days * DAY_S
}

function findFailedGate(dispute: Dispute, receipt: ReadReceipt, { now_s, crypto }: DipFacts): DipRule | null {
  if (receipt.fault !== null) return receipt.fault
  if (dispute.receipt.ts > now_s + DIP.table.clock_skew_s || now_s > windowEnds(receipt)) return 'DIP-G3'
  const { claimed_input } = dispute
  if (claimed_input === undefined) return null
  return hashesOf(claimed_input, crypto).has(dispute.receipt.input_hash.toLowerCase()) ? null : 'DIP-G4'
}

function decideClaim(dispute: Dispute, receipt: ReadReceipt, facts: DipFacts): Decision {
  const { ts, output_hash } = dispute.receipt
  const empty = isEmptyOutput(output_hash, facts.crypto)
  switch (dispute.claim) {
    case 'NOT_DELIVERED':
      return { rule: empty ? 'DIP-N1' : 'DIP-N2', grade: 'receipt', notes: [] }
    case 'TIMEOUT_UNDELIVERED': {
      const over = facts.now_s > ts + DIP.table.call_window_s
      return { rule: !empty ? 'DIP-T2' : over ? 'DIP-T1' : 'DIP-T3', grade: 'receipt', notes: [] }
    }
    case 'OUTPUT_MISMATCH':
      return decideMismatch(dispute, receipt, facts)
    case 'SCHEMA':
      return decideSchemaClaim(dispute, receipt, facts)
  }
}

function decideMismatch(
  { delivered_output, transport_signature, receipt: { output_hash } }: Dispute,
  receipt: ReadReceipt,
  facts: DipFacts,
): Decision {
  const { crypto } = facts
  if (delivered_output === undefined) return { rule: 'DIP-O4', grade: 'claimant_asserted', notes: [] }
  const hashes = hashesOf(delivered_output, crypto)
  if (hashes.has(output_hash.toLowerCase())) return { rule: 'DIP-O1', grade: 'receipt_and_output', notes: [] }
  const { signer, hash: receipt_hash } = receipt
  const signed =
    transport_signature !== undefined &&
    signer !== null &&
    [...hashes].some((output) => isTransportSigned({ receipt_hash, output_hash: output, signer }, transport_signature, crypto))
  if (signed) return { rule: 'DIP-O2', grade: 'transport_signed', notes: [] }
  return { rule: 'DIP-O3', grade: 'claimant_asserted', notes: transport_signature === undefined ? [] : ['DIP-R4'] }
}

function decideSchemaClaim(dispute: Dispute, receipt: ReadReceipt, facts: DipFacts): Decision {
  const { delivered_output } = dispute
  const { tool, output_hash } = dispute.receipt
  if (delivered_output === undefined) return { rule: 'DIP-O4', grade: 'claimant_asserted', notes: [] }
  if (!hashesOf(delivered_output, facts.crypto).has(output_hash.toLowerCase())) {
    const other = decideMismatch(dispute, receipt, facts)
    return { ...other, notes: ['DIP-R3', ...other.notes] }
  }
  // Another issuer may give out another schema under the same name, so only the schemas of own receipts are known.
  const published = DIP.table.schema_issuers.some((issuer) => issuer === receipt.issuer) ? facts.published(tool) : null
  const known = published !== null && (receipt.tool_version === null || receipt.tool_version === published.version)
  if (!known) return { rule: 'DIP-S3', grade: 'receipt_and_output', notes: [] }
  const { outcome } = validateJsonSchema(published.schema, delivered_output, { steps: SCHEMA_STEPS })
  return { rule: SCHEMA_RULES[outcome], grade: 'receipt_and_output', notes: [] }
}

const SCHEMA_RULES = { invalid: 'DIP-S1', valid: 'DIP-S2', undetermined: 'DIP-S4' } as const

function decideRefund(verdict: DipVerdict, receipt: ReadReceipt, dispute: Dispute): { remedy: Adjudication['remedy']; notes: DipNote[] } {
  if (!receipt.paid) return { remedy: 'none', notes: verdict === 'UPHELD' ? ['DIP-R6'] : [] }
  if (verdict !== 'UPHELD') return { remedy: 'verdict_only', notes: [] }
  const threshold = BigInt(dispute.refund_threshold_minor ?? DIP.table.refund_threshold_minor)
  if (BigInt(dispute.receipt.amount) <= threshold) return { remedy: 'verdict_only', notes: ['DIP-R7'] }
  return receipt.issuer === 'own' ? { remedy: 'REFUND_ORDER_QUEUED', notes: [] } : { remedy: 'verdict_only', notes: ['DIP-R8'] }
}

/** An unsigned refund instruction to the recipient of the payment; it does not move money. */
function refundOrder({ dispute_id, claim, receipt }: Dispute, { receipt: read }: Adjudication) {
  return {
    idempotency_key: dispute_id,
    receipt_hash: read.hash,
    from: receipt.recipient,
    to: receipt.payer,
    amount_minor: receipt.amount,
    currency: 'USDC',
    payment_nonce: receipt.nonce,
    reason: DIP.table.refund_reasons[claim],
    signed: false,
    notice: 'For the recipient to carry out, at most once for one receipt. This service holds and moves no money.',
  }
}

/** Says something of one call alone: another call may bring the signature of the payer. */
const FOREIGN_SIGNATURE = 'DIP-R5'

/** Rules on a dispute. `outcome` is decided once, when the dispute is filed, and stored; `call_findings` are of this call alone. */
export function ruleDispute(dispute: Dispute, facts: DipFacts) {
  const found = adjudicate(dispute, facts)
  const { verdict, rule, grade, findings, remedy, receipt, window_ends_s } = found
  const outcome = {
    verdict,
    reason: DIP_RULES[rule].words,
    rule,
    grade,
    findings: findings.filter((finding) => finding.rule !== FOREIGN_SIGNATURE),
    claim: dispute.claim,
    signature_checked: receipt.signer !== null,
    issuer: receipt.issuer,
    remedy,
    refund_order: remedy === 'REFUND_ORDER_QUEUED' ? refundOrder(dispute, found) : null,
    x402_refund_reason: verdict === 'UPHELD' ? DIP.table.refund_reasons[dispute.claim] : null,
    window_ends_at: new Date(window_ends_s * 1_000).toISOString(),
    standard: DIP.standard,
    policy_hash: DIP.policy_hash,
    rulebook_hash: DIP.policy_hash,
  }
  return { ...found, outcome, call_findings: findings.filter((finding) => finding.rule === FOREIGN_SIGNATURE) }
}
