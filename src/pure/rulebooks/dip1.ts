/**
 * DIP-1: a dispute about one call, decided by its receipt alone. Gates are asked first (form, signature, window, claimed input), then the
 * claim. Nothing but hashes, signatures and the published schema is weighed, so everybody who has the same papers comes to the same verdict.
 *
 * Errs towards the signed receipt: what only the claimant says is never enough to uphold a claim.
 */
import { validateJsonSchema } from '../documents/json-schema/validate.ts'
import { bodyHash, hashesOf, isEmptyOutput, isFiledByPayer, isTransportSigned } from './dip1-evidence.ts'
import { readDisputed, type DisputedReceipt, type IssuerFacts, type ReadReceipt } from './dip1-receipt.ts'
import { DIP, DIP_NOTES, DIP_RULES, type DipClaim, type DipGrade, type DipNote, type DipRule, type DipVerdict } from './dip1-table.ts'

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

export interface Adjudication {
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
  const receipt = readDisputed(dispute.receipt, { crypto, owns, versionOf: (tool) => facts.published(tool)?.version ?? null })
  const { dispute_id, receipt: _receipt, claimant_signature, ...body } = dispute
  const body_hash = bodyHash(body, crypto)
  const name = { dispute_id, receipt_hash: receipt.hash, claim: dispute.claim, body_hash }
  const signed = claimant_signature !== undefined && receipt.paid && isFiledByPayer(name, dispute.receipt.payer, claimant_signature, crypto)
  const gate = gateOf(dispute, receipt, facts)
  const decision = gate === null ? decided(dispute, receipt, facts) : { rule: gate, grade: 'none' as const, notes: [] }
  const { verdict, words } = DIP_RULES[decision.rule]
  const refund = refundOf(verdict, receipt, dispute)
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

function gateOf(dispute: Dispute, receipt: ReadReceipt, { now_s, crypto }: DipFacts): DipRule | null {
  if (receipt.fault !== null) return receipt.fault
  if (dispute.receipt.ts > now_s + DIP.table.clock_skew_s || now_s > windowEnds(receipt)) return 'DIP-G3'
  const { claimed_input } = dispute
  if (claimed_input === undefined) return null
  return hashesOf(claimed_input, crypto).has(dispute.receipt.input_hash.toLowerCase()) ? null : 'DIP-G4'
}

function decided(dispute: Dispute, receipt: ReadReceipt, facts: DipFacts): Decision {
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
      return mismatch(dispute, receipt, facts)
    case 'SCHEMA':
      return schemaClaim(dispute, receipt, facts)
  }
}

function mismatch(
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

function schemaClaim(dispute: Dispute, receipt: ReadReceipt, facts: DipFacts): Decision {
  const { delivered_output } = dispute
  const { tool, output_hash } = dispute.receipt
  if (delivered_output === undefined) return { rule: 'DIP-O4', grade: 'claimant_asserted', notes: [] }
  if (!hashesOf(delivered_output, facts.crypto).has(output_hash.toLowerCase())) {
    const other = mismatch(dispute, receipt, facts)
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

function refundOf(verdict: DipVerdict, receipt: ReadReceipt, dispute: Dispute): { remedy: Adjudication['remedy']; notes: DipNote[] } {
  if (!receipt.paid) return { remedy: 'none', notes: verdict === 'UPHELD' ? ['DIP-R6'] : [] }
  if (verdict !== 'UPHELD') return { remedy: 'verdict_only', notes: [] }
  const threshold = BigInt(dispute.refund_threshold_minor ?? DIP.table.refund_threshold_minor)
  if (BigInt(dispute.receipt.amount) <= threshold) return { remedy: 'verdict_only', notes: ['DIP-R7'] }
  return receipt.issuer === 'own' ? { remedy: 'REFUND_ORDER_QUEUED', notes: [] } : { remedy: 'verdict_only', notes: ['DIP-R8'] }
}

/** An instruction to whoever was paid; it moves nothing and is not signed. */
export function refundOrder({ dispute_id, claim, receipt }: Dispute, { receipt: read }: Adjudication) {
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
