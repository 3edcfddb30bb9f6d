import { z } from 'zod'
import { RING_VERTICES_MAX } from '../../pure/geometry/geofence.ts'
import { printableExcerpt } from '../../pure/documents/json-schema/json.ts'
import { POD1_CODES, POD1_ROLES_MAX, POD1_WARNINGS, type Pod1Code } from '../../pure/rulebooks/pod1-table.ts'
import { verifyDelivery } from '../../pure/rulebooks/pod1.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { RULE_BOOK } from '../../service/catalogue/schemas.ts'

const CODES = Object.keys(POD1_CODES) as [Pod1Code, ...Pod1Code[]]

const ID = z.string().max(256)
const ROLE = z.string().max(64)
/** A signature has 65 bytes at most; longer texts are judged malformed, up to here. */
const HEX_CHARS = 1_024

/** Content is judged, not refused: an integer may be any that JSON carries exactly. */
const INTEGER = z.int().min(-9e15).max(9e15)
const METRES = z.number().min(-1e9).max(1e9)

/** Roles, each with a text in hexadecimal. */
const BY_ROLE = z
  .record(ROLE, z.string().max(HEX_CHARS))
  .check(({ value, issues }) => {
    if (Object.keys(value).length > POD1_ROLES_MAX)
      issues.push({ code: 'custom', input: value, message: `At most ${POD1_ROLES_MAX} roles.` })
  })
  .meta({ maxProperties: POD1_ROLES_MAX })

const MANDATE = z.strictObject({
  mandate_id: ID.optional().describe('Names the mandate; printable ASCII without the bar.'),
  order_ref: ID.optional().describe('Reference of the order.'),
  geofence: z
    .strictObject({
      type: z.string().max(64).describe('polygon_e7'),
      ring: z
        .array(z.array(INTEGER).min(2).max(2))
        .max(RING_VERTICES_MAX)
        .describe('Vertices as [lat_e7, lon_e7], in ten-millionths of a degree; the ring closes by itself.'),
      crosses_antimeridian: z.boolean().optional().describe('The ring runs over 180 degrees of longitude.'),
    })
    .optional()
    .describe('Where the delivery has to happen; the edge counts as inside.'),
  window: z
    .strictObject({ not_before: INTEGER.describe('First good time.'), not_after: INTEGER.describe('Last good time.') })
    .optional()
    .describe('Unix seconds, both ends inclusive.'),
  max_accuracy_m: METRES.optional().describe('The worst accuracy that is good enough, in metres.'),
  required_signers: z
    .array(ROLE)
    .max(POD1_ROLES_MAX)
    .optional()
    .describe('Roles that must sign; the role device signs with device_pubkey.'),
  signer_keys: BY_ROLE.optional().describe('Binds a role to the key that alone may sign for it, as 0x hex.'),
})

const ATTESTATION = z.strictObject({
  mandate_id: ID.optional().describe('The mandate that was carried out.'),
  device_id: ID.optional().describe('Names the device; printable ASCII without the bar.'),
  device_pubkey: z.string().max(HEX_CHARS).optional().describe('Key of the device as 0x hex.'),
  scheme: INTEGER.optional().describe('1 secp256k1, 2 Ed25519, 3 P-256.'),
  geo: z
    .strictObject({
      lat_e7: INTEGER.describe('Latitude, in ten-millionths of a degree.'),
      lon_e7: INTEGER.describe('Longitude, in ten-millionths of a degree.'),
      accuracy_m: METRES.optional().describe('Accuracy of the position in metres.'),
    })
    .optional()
    .describe('Where the device was.'),
  ts: INTEGER.optional().describe('When, in the unit of the window.'),
  counter: INTEGER.optional().describe('Grows with every attestation of the device.'),
  signatures: BY_ROLE.optional().describe('Role to signature, as 0x hex.'),
})

const EXAMPLE = {
  mandate: {
    mandate_id: 'M-2026-77',
    order_ref: 'PO 4711',
    geofence: {
      type: 'polygon_e7',
      ring: [
        [525100000, 134000000],
        [525100000, 134100000],
        [525300000, 134100000],
        [525300000, 134000000],
      ],
    },
    window: { not_before: 1790000000, not_after: 1790003600 },
    max_accuracy_m: 12.5,
    required_signers: ['device', 'recipient'],
    signer_keys: {
      device: '0x027f30ea2476b399b4957509c88f77d0191afa2ff5cb7b14fd6d8e7d65aaab1193',
      recipient: '0x681ce2f439fdc80e70c1eea8b8a085dfb976d32a',
    },
  },
  attestation: {
    mandate_id: 'M-2026-77',
    device_id: 'scanner-9',
    device_pubkey: '0x027f30ea2476b399b4957509c88f77d0191afa2ff5cb7b14fd6d8e7d65aaab1193',
    scheme: 1,
    geo: { lat_e7: 525200000, lon_e7: 134050000, accuracy_m: 8.5 },
    ts: 1790001800,
    counter: 42,
    signatures: {
      device:
        '0xe388d86b34334d1b634ebda55020facff8c61707cf25118e47bc9f8a7758dabd1b70dac4c8edc7fbc8bbb54adc8103f7f7b2b5212056c79363b00ef31c97e80d1b',
      recipient:
        '0xb2b2f1c59b958a1cde63829a19d27fcf1c55fa875480b0274c078347866141eb6444701900516f76673a31d6bdd92a450393f71d443110ffa50557629271a30c1b',
    },
  },
  last_seen_counter: 41,
}

/** Verifies an attestation of delivery by its mandate. Nothing is stored: the caller keeps the counters. */
export default defineTool({
  id: 'pod-verify-delivery',
  title: 'Verify a proof of delivery',
  description:
    'Verifies a POD-1 attestation against its mandate: position in a polygon of E7 integers (exact), accuracy, time window, counter and ' +
    'the signatures of all required roles (secp256k1, Ed25519 or P-256). Every check is reported; the verdict is VERIFIED, REJECTED or ' +
    'INCOMPLETE. Verification only: nothing is stored or released.',
  family: 'trust',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['geometry, accuracy, window, counter', 'signature of each role over all fields of the attestation', 'one key for one role'],
    not_checked: [
      'who issued the mandate, and whose the keys are',
      'that the sensors are right or that anything arrived',
      'replay, unless last_seen_counter is given',
    ],
  },
  headline: [
    { when: { verdict: 'VERIFIED' }, tone: 'good', word: 'VERIFIED' },
    { when: { verdict: 'REJECTED' }, tone: 'bad', word: 'REJECTED' },
    { when: { verdict: 'INCOMPLETE' }, tone: 'caution', word: 'INCOMPLETE' },
  ],
  sources: ['crypto'],
  input: z.strictObject({
    mandate: MANDATE.describe('What was to be delivered: where, when and who signs.'),
    attestation: ATTESTATION.describe('What the device and the people around it say.'),
    last_seen_counter: INTEGER.optional().describe('Highest counter accepted from this device so far.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('True when the verdict is VERIFIED.'),
    verdict: z.enum(['VERIFIED', 'REJECTED', 'INCOMPLETE']).describe('INCOMPLETE: nothing fails, something is missing.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or the code that decided.'),
    reason: z.string().describe('One sentence for people.'),
    checks: z
      .array(
        z.strictObject({
          check: z.string().describe('Name of the check.'),
          outcome: z.enum(['pass', 'fail', 'missing', 'not_checked']),
          code: z.string().nullable().describe('One of the values of reason_code.'),
          message: z.string().nullable(),
        }),
      )
      .describe('Every check; all run, also when another one fails.'),
    signers: z
      .array(
        z.strictObject({
          role: z.string(),
          required: z.boolean(),
          outcome: z.enum(['pass', 'fail', 'missing', 'not_checked']),
          code: z.string().nullable(),
          binding: z.enum(['mandate', 'attestation', 'unbound']).describe('Who says that this key speaks for the role.'),
          key: z.string().nullable().describe('The key or address that signed.'),
          message: z.string().nullable().describe('Text whose keccak-256 is the digest; GET /v1/signing/pod-1-role.'),
          digest: z.string().nullable().describe('What the role signs.'),
        }),
      )
      .describe('Every role that is required or signed.'),
    position: z.enum(['inside', 'boundary', 'outside']).nullable().describe('Where the device was; the boundary counts as inside.'),
    next_last_seen_counter: INTEGER.nullable().describe('Keep it as last_seen_counter; null unless verified.'),
    mandate_hash: z.string().nullable().describe('keccak-256 of the RFC 8785 text of the mandate.'),
    warnings: z.array(z.strictObject({ code: z.string(), message: z.string() })).describe('What the verdict does not cover.'),
    ...RULE_BOOK,
  }),
  example: EXAMPLE,
  run({ mandate, attestation, last_seen_counter }, { crypto }) {
    const { checks, signers, warnings, ...found } = verifyDelivery(mandate, attestation, last_seen_counter ?? null, crypto)
    return {
      ...found,
      valid: found.verdict === 'VERIFIED',
      checks: checks.map((one) => ({ ...one, message: one.code === null ? null : POD1_CODES[one.code] })),
      // A role that no rule has passed may be any text.
      signers: signers.map(({ check, role, ...signer }) => ({ role: printableExcerpt(role), ...check, ...signer })),
      warnings: warnings.map((code) => ({ code, message: POD1_WARNINGS[code] })),
    }
  },
})
