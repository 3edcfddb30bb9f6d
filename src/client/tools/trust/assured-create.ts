// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Bind a receipt to assured terms. */
export interface AssuredCreateInput {
  /** Amount at stake in USDC minor units (1000000 = 1 USD), decimal text. */
  notional_minor: string
  /** Where the money moves; says which evidence settles. */
  rail: 'crypto' | 'fiat'
  /** ACI-1 tier; without one the lane escalates. */
  counterparty_tier?: 'T0' | 'T1' | 'T2' | 'T3'
  /** Committed annual volume in USDC minor units; 0 when absent. */
  annual_volume_minor?: string
  /** Whether a POD-1 delivery mandate applies. */
  pod_required?: boolean
  /** The whole receipt of a paid call, with signer and signature. */
  receipt: {
    v: string
    tool: string
    tool_version: string
    input_hash: string
    output_hash: string
    payer: string
    recipient: string
    amount: string
    nonce: string
    ts: number
    tier: string
    successor?: string | null
    stream_state?: string | null
    signer: string
    signature: string
  }
  /** EIP-712 signature of the receipt’s payer or recipient over typed_data, which an unsigned call answers: 0x and 130 hexadecimal digits, such as 0x1b…1c. Contract wallets cannot sign one. */
  terms_signature?: string
}

export interface AssuredCreateOutput {
  /** REFUSED: nothing is stored. */
  status: 'RECORDED' | 'REFUSED'
  /** ok, or why it is refused. */
  reason_code:
    | 'ok'
    | 'tier_refused'
    | 'receipt_invalid'
    | 'receipt_not_paid'
    | 'payer_not_on_chain'
    | 'receipt_from_future'
    | 'terms_signature_invalid'
  /** One sentence. */
  reason: string
  /** False when this receipt had a record that stays; true also where signed terms replace advisory ones. */
  created: boolean
  /** signed: for good. advisory: unsigned, yields to signed terms. none: refused. */
  binding: 'signed' | 'advisory' | 'none'
  /** What binds the terms of this call once the payer or recipient signs it with eth_signTypedData_v4; null without terms. */
  typed_data: Readonly<Record<string, unknown>> | null
  /** What should be known all the same. */
  warnings: readonly { code: string; message: string }[]
  /** As it is stored; null when refused. */
  record: {
    assured_id: string
    receipt_hash: string
    state: 'OPEN' | 'WINDOW_CLOSED' | 'DISPUTED' | 'ADJUDICATED'
    binding: 'signed' | 'advisory'
    signed_by: string | null
    terms_signature: string | null
    created_at: string
    dispute_window_ends_at: string
    remedy: 'verdict_only'
    settling_evidence: 'settled_nonce' | 'statement_entry'
    terms: Readonly<Record<string, unknown>>
  } | null
  /** When the premium is paid. */
  premium_notice: string
  /** What the terms are. */
  terms_notice: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Time of the answer. */
  evaluated_at: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'assured-create'
}
