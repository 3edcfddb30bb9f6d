// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Claim, Scope } from '../shapes.ts'

/** File a dispute about a call. */
export interface DipFileDisputeInput {
  /** Your name for the dispute: letters, digits and . _ : - */
  dispute_id: string
  /** The receipt, best whole. Without signer, tool_version or tier the grade is unverified for other issuers. */
  receipt: {
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
    tool_version?: string
    tier?: string
    signer?: string
    successor?: string | null
    stream_state?: string | null
  }
  /** What went wrong. */
  claim: Claim
  /** The input that was sent, as object or text; it must hash to input_hash. */
  claimed_input?: string | Readonly<Record<string, unknown>>
  /** The result that arrived; OUTPUT_MISMATCH and SCHEMA need it. */
  delivered_output?: Readonly<Record<string, unknown>>
  /** A refund order needs more than this, USDC minor units; 1000000 when absent. */
  refund_threshold_minor?: string
  /** The issuer’s signature over DIP-1-TRANSPORT|receipt hash|hash of delivered_output. */
  transport_signature?: string
  /** EIP-712 signature of the receipt’s payer over typed_data, which an unsigned call answers: 0x and 130 hexadecimal digits, such as 0x1b…1c. Wins over an unsigned dispute. */
  claimant_signature?: string
}

export interface DipFileDisputeOutput {
  /** The decision. */
  verdict: 'UPHELD' | 'REJECTED' | 'INCONCLUSIVE'
  /** One sentence. */
  reason: string
  /** What the deciding rule found, in one word. */
  reason_code:
    | 'receipt_malformed'
    | 'signature_invalid'
    | 'window_closed'
    | 'input_differs'
    | 'output_empty'
    | 'output_not_empty'
    | 'call_not_over'
    | 'output_matches'
    | 'other_output_signed'
    | 'output_unproven'
    | 'output_missing'
    | 'schema_violated'
    | 'schema_fits'
    | 'schema_unknown'
    | 'schema_not_applicable'
  /** The rule that decided. */
  rule:
    | 'DIP-G1'
    | 'DIP-G2'
    | 'DIP-G3'
    | 'DIP-G4'
    | 'DIP-N1'
    | 'DIP-N2'
    | 'DIP-T1'
    | 'DIP-T2'
    | 'DIP-T3'
    | 'DIP-O1'
    | 'DIP-O2'
    | 'DIP-O3'
    | 'DIP-O4'
    | 'DIP-S1'
    | 'DIP-S2'
    | 'DIP-S3'
    | 'DIP-S4'
  /** How good the evidence is, best first. */
  grade: 'receipt_and_output' | 'transport_signed' | 'receipt' | 'claimant_asserted' | 'unverified' | 'none'
  /** The deciding rule first, then what should be known. */
  findings: readonly { rule: string; message: string }[]
  /** As given. */
  dispute_id: string
  /** As given. */
  claim: Claim
  /** Names the receipt; its digest where the signature is good. */
  receipt_hash: string
  /** Hash of all that was claimed; the payer signs it. */
  body_hash: string
  /** False when this dispute was filed before, whose verdict is kept, or when nothing is kept. */
  created: boolean
  /** signed: by the payer. advisory: unsigned, yields to a signed one. none: unsigned and rejected, so nothing is kept. */
  binding: 'signed' | 'advisory' | 'none'
  /** What the payer signs with eth_signTypedData_v4 to make this dispute its own. */
  typed_data: Readonly<Record<string, unknown>>
  /** Whether the signature of the receipt is known to be good. */
  signature_checked: boolean
  /** Who signed the receipt: this service, another, or unknown. */
  issuer: 'own' | 'other' | 'unknown'
  /** Whether the payer signed the dispute. */
  claimant: 'payer_signed' | 'unsigned'
  /** none: nobody paid on chain. */
  remedy: 'REFUND_ORDER_QUEUED' | 'verdict_only' | 'none'
  /** Unsigned instruction for the recipient; null without one. */
  refund_order: Readonly<Record<string, unknown>> | null
  /** Reason code for a refund request; null unless upheld. */
  x402_refund_reason: string | null
  /** Of the assured record of this receipt; null without one. */
  assured_state: 'OPEN' | 'WINDOW_CLOSED' | 'DISPUTED' | 'ADJUDICATED' | null
  /** Last moment to file. */
  window_ends_at: string
  /** When this dispute was first filed; the time of the answer where nothing is kept. */
  filed_at: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The same by another name. */
  rulebook_hash: string
  /** Time of the answer. */
  evaluated_at: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'dip-file-dispute'
}
