// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Verify a proof of delivery. */
export interface PodVerifyDeliveryInput {
  /** What was to be delivered: where, when and who signs. */
  mandate: {
    mandate_id?: string
    order_ref?: string
    geofence?: { type: string; ring: readonly (readonly number[])[]; crosses_antimeridian?: boolean }
    window?: { not_before: number; not_after: number }
    max_accuracy_m?: number
    required_signers?: readonly string[]
    signer_keys?: Readonly<Record<string, string>>
  }
  /** What the device and the people around it say. */
  attestation: {
    mandate_id?: string
    device_id?: string
    device_pubkey?: string
    scheme?: number
    geo?: { lat_e7: number; lon_e7: number; accuracy_m?: number }
    ts?: number
    counter?: number
    signatures?: Readonly<Record<string, string>>
  }
  /** Highest counter accepted from this device so far. */
  last_seen_counter?: number
}

export interface PodVerifyDeliveryOutput {
  /** True when the verdict is VERIFIED. */
  valid: boolean
  /** INCOMPLETE: nothing fails, something is missing. */
  verdict: 'VERIFIED' | 'REJECTED' | 'INCOMPLETE'
  /** ok, or the code that decided. */
  reason_code:
    | 'ok'
    | 'text_malformed'
    | 'mandate_mismatch'
    | 'mandate_id_missing'
    | 'geofence_missing'
    | 'geofence_type_unknown'
    | 'ring_out_of_range'
    | 'ring_too_few_vertices'
    | 'ring_reaches_pole'
    | 'ring_edge_too_long'
    | 'ring_zero_area'
    | 'ring_self_crossing'
    | 'outside_geofence'
    | 'position_missing'
    | 'position_out_of_range'
    | 'accuracy_missing'
    | 'accuracy_out_of_range'
    | 'accuracy_too_coarse'
    | 'window_missing'
    | 'window_reversed'
    | 'before_window'
    | 'after_window'
    | 'counter_missing'
    | 'counter_out_of_range'
    | 'counter_replayed'
    | 'scheme_missing'
    | 'unsupported_scheme'
    | 'device_missing'
    | 'key_malformed'
    | 'device_key_mismatch'
    | 'signers_missing'
    | 'role_repeated'
    | 'signature_missing'
    | 'signature_malformed'
    | 'signature_high_s'
    | 'signature_wrong'
    | 'key_unknown'
    | 'key_reused'
  /** One sentence for people. */
  reason: string
  /** Every check, whatever the others found. */
  checks: readonly { check: string; outcome: 'pass' | 'fail' | 'missing' | 'not_checked'; code: string | null; message: string | null }[]
  /** Every role that is required or signed. */
  signers: readonly {
    role: string
    required: boolean
    outcome: 'pass' | 'fail' | 'missing' | 'not_checked'
    code: string | null
    binding: 'mandate' | 'attestation' | 'unbound'
    key: string | null
    digest: string | null
  }[]
  /** Where the device was; the boundary counts as inside. */
  position: 'inside' | 'boundary' | 'outside' | null
  /** Keep it as last_seen_counter; null unless verified. */
  next_last_seen_counter: number | null
  /** keccak-256 of the RFC 8785 text of the mandate. */
  mandate_hash: string | null
  /** What the verdict does not cover. */
  warnings: readonly { code: string; message: string }[]
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'pod-verify-delivery'
}
