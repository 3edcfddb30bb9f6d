// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Commit to an invoice, announce a stealth payment. */
export interface CspCommitmentCreateInput {
  /** The terms, any JSON object up to 64 KiB. token_address and amount_minor in it go into the metadata. */
  invoice_object: Readonly<Record<string, unknown>>
  /** 32 random bytes as 0x hex. Derived when absent. */
  salt_hex?: string
  /** A stealth address, or a meta-address (0x hex of 33 or 66 bytes, or st:<chain>:0x…). */
  stealth_recipient?: string
  /** With an address: public key of 33 or 65 bytes as 0x hex. */
  ephemeral_pubkey?: string
  /** With an address: first byte of the hashed shared secret, 0xNN. */
  view_tag?: string
}

export interface CspCommitmentCreateOutput {
  /** Everything asked for was made and nothing is wrong. */
  ok: boolean
  /** ok, or the code of the first finding. */
  reason_code:
    | 'ok'
    | 'invoice_empty'
    | 'salt_predictable'
    | 'recipient_missing'
    | 'recipient_malformed'
    | 'recipient_checksum'
    | 'recipient_zero'
    | 'point_invalid'
    | 'ephemeral_missing'
    | 'ephemeral_malformed'
    | 'ephemeral_not_expected'
    | 'view_tag_missing'
  /** One sentence for people. */
  reason: string
  /** What is wrong, if anything. */
  findings: readonly { code: string; message: string }[]
  /** keccak256(keccak256("CSP-1 commitment") || salt || canonical_jcs). */
  invoice_commitment: string
  /** Keep it: it opens the commitment, together with the terms. */
  salt_hex: string
  /** derived: the same terms give the same salt here. */
  salt_source: 'given' | 'derived'
  /** RFC 8785 text of the invoice. */
  canonical_jcs: string
  /** Arguments of the ERC-5564 announcement, or null. */
  announcement: {
    scheme_id: 1
    stealth_address: string
    ephemeral_pubkey: string
    view_tag: string
    metadata: string
    announcer: string
  } | null
  /** True when this service derived the address and so could link the payment. */
  linkable_by_service: boolean
  /** What follows from that. */
  notice: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'csp-commitment-create'
}
