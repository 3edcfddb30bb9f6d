import type { PlaceE7, RingFault } from '../geometry/geofence.ts'

/** What somebody was asked to deliver, as the caller hands it over. What is absent is missing, not wrong. */
export interface Mandate {
  readonly mandate_id?: string | undefined
  readonly order_ref?: string | undefined
  readonly geofence?:
    | {
        readonly type: string
        /** Pairs of latitude and longitude in E7. */
        readonly ring: readonly (readonly number[])[]
        readonly crosses_antimeridian?: boolean | undefined
      }
    | undefined
  /** Unix seconds, or any unit that `ts` shares. */
  readonly window?: { readonly not_before: number; readonly not_after: number } | undefined
  readonly max_accuracy_m?: number | undefined
  readonly required_signers?: readonly string[] | undefined
  /** Binds a role to the only key that may sign for it. */
  readonly signer_keys?: Readonly<Record<string, string>> | undefined
}

/** What a device and the people around it say happened. */
export interface Attestation {
  readonly mandate_id?: string | undefined
  readonly device_id?: string | undefined
  readonly device_pubkey?: string | undefined
  readonly scheme?: number | undefined
  readonly geo?: (PlaceE7 & { readonly accuracy_m?: number | undefined }) | undefined
  readonly ts?: number | undefined
  readonly counter?: number | undefined
  readonly signatures?: Readonly<Record<string, string>> | undefined
}

/** The role whose key is `device_pubkey`. */
export const DEVICE_ROLE = 'device'

type FormCode = 'text_malformed' | 'mandate_mismatch' | 'mandate_id_missing'
type PlaceCode = 'geofence_missing' | 'geofence_type_unknown' | 'outside_geofence' | 'position_missing' | 'position_out_of_range'
type SensorCode =
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
type SignerCode =
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

export type Pod1Code = FormCode | PlaceCode | RingFault | SensorCode | SignerCode

/** `missing`: something is not there, so the rule can neither hold nor fail. `not_checked`: another check has to hold first. */
export type CheckOutcome = { outcome: 'pass' | 'not_checked'; code: null } | { outcome: 'fail' | 'missing'; code: Pod1Code }

export const PASS: CheckOutcome = { outcome: 'pass', code: null }
export const NOT_CHECKED: CheckOutcome = { outcome: 'not_checked', code: null }
export const fail = (code: Pod1Code): CheckOutcome => ({ outcome: 'fail', code })
export const missing = (code: Pod1Code): CheckOutcome => ({ outcome: 'missing', code })

/** The checks in the order in which they are reported. */
export const CHECKS = [
  'form',
  'mandate_id',
  'geofence',
  'position',
  'accuracy',
  'window',
  'counter',
  'scheme',
  'device',
  'signers',
  'signatures',
  'distinct_keys',
] as const

export type CheckName = (typeof CHECKS)[number]

export type WarningCode = 'replay_not_checked' | 'device_key_self_asserted' | 'device_did_not_sign' | 'role_unbound'
