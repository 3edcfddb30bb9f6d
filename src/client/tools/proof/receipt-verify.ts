// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Finding2, Scope } from '../shapes.ts'

/** Verify a receipt. */
export interface ReceiptVerifyInput {
  /** The whole receipt with signer and signature, as an object or as its JSON text. */
  receipt: Readonly<Record<string, unknown>> | string
}

export interface ReceiptVerifyOutput {
  /** True when the declared signer signed exactly this receipt. */
  valid: boolean
  /** ok, or the code of the first finding. */
  reason_code:
    | 'ok'
    | 'not_an_object'
    | 'missing_field'
    | 'wrong_type'
    | 'field_too_long'
    | 'ill_formed_text'
    | 'holds_bar'
    | 'bad_version'
    | 'bad_signer'
    | 'bad_signature_format'
    | 'bad_signature_length'
    | 'bad_recovery_id'
    | 'zero_signature'
    | 'signature_out_of_range'
    | 'not_recoverable'
    | 'high_s'
    | 'signer_mismatch'
    | 'off_grammar'
    | 'signer_case'
    | 'unsigned_fields'
    | 'signer_not_published'
    | 'signer_not_yet_valid'
    | 'signer_retired'
    | 'signer_revoked'
    | 'revoked_later'
  /** One sentence for people. */
  reason: string
  /** keccak-256 of canonical, which also names the receipt; null when there is no signed text. */
  digest: string | null
  /** The text that the signature covers: the signed fields joined by bars. */
  canonical: string | null
  /** The address in the field signer, in lower case. */
  declared_signer: string | null
  /** The address of the key that made the signature. */
  signer_recovered: string | null
  /** Why the receipt is not valid. */
  findings: readonly Finding2[]
  /** What does not make it invalid but should be known. */
  warnings: readonly Finding2[]
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'receipt-verify'
}
