import { RING_VERTICES_MAX, type RingFault } from '../geometry/geofence.ts'
import { ruleBook } from './rule-book.ts'

/** Maximum number of roles of a delivery: verifying a signature on Ed25519 takes milliseconds. */
export const POD1_ROLES_MAX = 8

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

/** The rules of POD-1 as data: what is decided here is what the code does, and the hash of it is in every answer. */
export const POD1 = ruleBook('POD-1', {
  checks: CHECKS,
  digest: {
    hash: 'keccak-256',
    separator: '|',
    fields: ['POD-1', 'role', 'mandate_id', 'device_id', 'device_pubkey', 'scheme', 'lat_e7', 'lon_e7', 'accuracy_m', 'ts', 'counter'],
  },
  geometry: { unit: 'E7', edges: 'straight_in_lon_lat', boundary: 'inside', vertices_max: RING_VERTICES_MAX, edge_span_below_deg: 180 },
  schemes: {
    '1': 'secp256k1, r s v over the digest, low s, keys as address or point',
    '2': 'Ed25519 over the digest, canonical encodings, no small-order parts',
    '3': 'P-256 with SHA-256 over the digest, r s, s low or high',
  },
  window: { not_before: 'inclusive', not_after: 'inclusive' },
  accuracy: 'accuracy_m <= max_accuracy_m',
  counter: 'greater_than_last_seen',
  device_role: DEVICE_ROLE,
  one_key_one_role: true,
})

/** One sentence for each way in which a delivery is not verified. */
export const POD1_CODES: Readonly<Record<Pod1Code, string>> = {
  text_malformed: 'An id or a role is not 1 to 256 printable ASCII characters without "|", or a key is not 0x-prefixed hexadecimal.',
  mandate_mismatch: 'The attestation names another mandate.',
  mandate_id_missing: 'Mandate and attestation must both name the mandate_id.',
  geofence_missing: 'The mandate has no geofence.',
  geofence_type_unknown: 'The geofence is of another type than polygon_e7.',
  ring_out_of_range: 'A vertex of the ring is not a pair of latitude and longitude on the globe.',
  ring_too_few_vertices: 'The ring has fewer than three distinct vertices.',
  ring_reaches_pole: 'A vertex of the ring is a pole, where longitude means nothing.',
  ring_edge_too_long: 'An edge of the ring spans 180 degrees of longitude or more; over the antimeridian, set crosses_antimeridian.',
  ring_zero_area: 'All vertices of the ring lie on one line.',
  ring_self_crossing: 'The ring crosses or touches itself.',
  outside_geofence: 'The position lies outside the geofence.',
  position_missing: 'The attestation has no position.',
  position_out_of_range: 'The position is not on the globe.',
  accuracy_missing: 'Either accuracy_m or max_accuracy_m is missing.',
  accuracy_out_of_range: 'An accuracy is negative.',
  accuracy_too_coarse: 'The accuracy of the position is worse than the mandate allows.',
  window_missing: 'The window of the mandate, or the time of the attestation, is missing.',
  window_reversed: 'The window of the mandate ends before it begins.',
  before_window: 'The delivery is attested for a time before the window.',
  after_window: 'The delivery is attested for a time after the window.',
  counter_missing: 'The attestation has no counter.',
  counter_out_of_range: 'The counter is negative.',
  counter_replayed: 'The counter is not greater than the last one seen.',
  scheme_missing: 'The attestation names no signature scheme.',
  unsupported_scheme: 'The signature scheme is not 1 (secp256k1), 2 (Ed25519) or 3 (P-256).',
  device_missing: 'The attestation lacks device_id or device_pubkey.',
  key_malformed: 'A key is not a valid key of the scheme.',
  device_key_mismatch: 'The mandate binds the device role to another key than device_pubkey.',
  signers_missing: 'The mandate requires no signer, so the attestation is not bound to any key.',
  role_repeated: 'The mandate requires one role twice.',
  signature_missing: 'A required signature is missing.',
  signature_malformed: 'A signature does not have the form of the scheme.',
  signature_high_s: 'A signature of scheme 1 has s in the upper half of the range; only the low-s form is accepted.',
  signature_wrong: 'A signature was not made by the key of its role over this attestation.',
  key_unknown: 'A required role has no key, and the scheme cannot recover one from the signature.',
  key_reused: 'One key is used for two roles.',
}

export const POD1_WARNINGS: Readonly<Record<WarningCode, string>> = {
  replay_not_checked: 'Without last_seen_counter a replayed attestation passes again.',
  device_key_self_asserted: 'The attestation itself names the key of the device; the mandate does not bind it.',
  device_did_not_sign:
    'The attestation has no valid signature of the device key. To require one, add device to required_signers and send signatures.device.',
  role_unbound: 'The mandate binds no key to a role, so any key could have signed for it.',
}
