import { COVERAGE_TYPES } from '../../pure/rulebooks/pol1-table.ts'
import { json, ref, type Json } from '../catalogue/openapi-parts.ts'
import type { JsonSchema } from '../catalogue/json-schema.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const whole = (description: string, minimum: number, maximum: number): JsonSchema => ({ type: 'integer', description, minimum, maximum })
const ADDRESS = { pattern: '^0x[0-9a-fA-F]{40}$' }
const POLICY_ID = { pattern: '^pol_[0-9a-f]{32}$' }

const ENTRY_MEMBERS = [
  'underwriter',
  'name',
  'origin',
  'coverage_type',
  'min_coverage_minor',
  'max_coverage_minor',
  'rate_bps',
  'min_premium_minor',
  'term_days',
  'jurisdictions',
  'licence_reference',
  'terms_uri',
  'terms_hash',
  'issued_at',
  'valid_until',
]

/** What an underwriter sends; docs/pol-1.md says what is signed. */
const REGISTRATION: JsonSchema = {
  type: 'object',
  properties: {
    entry: {
      type: 'object',
      description: 'The rate card. Amounts are decimal text in minor units of USDC, times are seconds since 1970.',
      properties: {
        underwriter: text('Who signs.', ADDRESS),
        name: text('Plain text.', { maxLength: 80 }),
        origin: text('The origin of this service: an entry is meant for one directory.', { maxLength: 256 }),
        coverage_type: text('What is covered.', { enum: COVERAGE_TYPES }),
        min_coverage_minor: text('Least cover.', { pattern: '^(?:0|[1-9][0-9]{0,29})$' }),
        max_coverage_minor: text('Most cover.', { pattern: '^[1-9][0-9]{0,29}$' }),
        rate_bps: whole('Premium in basis points of the cover.', 0, 10_000),
        min_premium_minor: text('Least premium.', { pattern: '^(?:0|[1-9][0-9]{0,29})$' }),
        term_days: whole('Length of the cover.', 1, 3_660),
        jurisdictions: {
          type: 'array',
          description: 'ISO 3166-1 alpha-2.',
          items: { type: 'string', pattern: '^[A-Z]{2}$' },
          minItems: 1,
          maxItems: 20,
        },
        licence_reference: text('Plain text, or empty.', { maxLength: 80 }),
        terms_uri: text('Where the terms are; it is not fetched.', { pattern: '^https://', maxLength: 520 }),
        terms_hash: text('Their hash.', { pattern: '^0x[0-9a-fA-F]{64}$' }),
        issued_at: whole('A later one takes the place of an earlier one.', 0, 999_999_999_999),
        valid_until: whole('At most 366 days ahead.', 0, 999_999_999_999),
      },
      required: ENTRY_MEMBERS,
      additionalProperties: false,
    },
    signature: text('EIP-712 of the underwriter: 65 bytes of a key, or what a contract wallet takes on this chain (ERC-1271).', {
      pattern: '^0x(?:[0-9a-fA-F]{2}){1,4096}$',
    }),
  },
  required: ['entry', 'signature'],
}

const REGISTERED: JsonSchema = {
  type: 'object',
  properties: {
    status: text('How it was taken.', { enum: ['registered', 'unchanged'] }),
    underwriter_id: text('Its name in the directory.'),
    entry_hash: text('The digest that was signed.'),
    vetted: { type: 'boolean', const: false, description: 'Listing is not vetting.' },
    entry: { type: 'object', description: 'The entry with its signature.' },
  },
  required: ['status', 'underwriter_id', 'entry_hash', 'vetted', 'entry'],
}

const CERTIFIED: JsonSchema = {
  type: 'object',
  properties: { certificate: { type: 'object', description: 'The certificate (POL-1); `status` is BOUND once it is countersigned.' } },
  required: ['certificate'],
}

const POLICY: JsonSchema = {
  type: 'object',
  properties: {
    ...(CERTIFIED['properties'] as object),
    verification: { type: 'object', description: 'What its signatures prove, and what not.' },
  },
  required: ['certificate', 'verification'],
}

const COUNTERSIGNATURE: JsonSchema = {
  type: 'object',
  properties: {
    policy_id: text('That of the certificate.', POLICY_ID),
    signature: text('EIP-712 of the underwriter’s own key over the policy: 65 bytes.', { pattern: '^0x[0-9a-fA-F]{130}$' }),
  },
  required: ['policy_id', 'signature'],
}

/** The schemas that the paths below refer to, by name. */
export function insuranceSchemas(): Record<string, JsonSchema> {
  return {
    'underwriter-registration': REGISTRATION,
    'underwriter-registered': REGISTERED,
    'policy-countersignature': COUNTERSIGNATURE,
    'policy-certified': CERTIFIED,
    policy: POLICY,
  }
}

/** The directory of underwriters and its certificates, beside the tools; `answers` gives the responses of some statuses. */
export function insurancePaths(answers: (statuses: readonly number[]) => Json): Json {
  const registered = json(ref('schemas', 'underwriter-registered'))
  const certified = json(ref('schemas', 'policy-certified'))
  return {
    '/api/insurance/register': {
      post: {
        operationId: 'register-underwriter',
        summary: 'Register as an underwriter, for nothing: one entry an address, signed by it.',
        description: 'Nothing is vetted; whoever controls an address can register. docs/pol-1.md says what is signed.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'underwriter-registration')) },
        responses: {
          200: { description: 'The entry was there already.', content: registered },
          201: { description: 'The entry is in the directory.', content: registered },
          ...answers([400, 413, 415, 429, 503]),
        },
      },
      get: {
        operationId: 'list-underwriters',
        summary: 'The directory of underwriters that registered themselves; docs/pol-1.md says how.',
        tags: ['service'],
        responses: {
          200: { description: 'Entries with their signed rate cards. Listing is not vetting.', content: json({ type: 'object' }) },
          ...answers([503]),
        },
      },
    },
    '/api/insurance/countersign': {
      post: {
        operationId: 'countersign-policy',
        summary: 'Bind a certificate by the signature of its underwriter, for nothing. The first good signature stays.',
        description: 'docs/pol-1.md says what is signed. Certificates verify offline, so only the underwriter’s own key can bind one.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'policy-countersignature')) },
        responses: {
          200: { description: 'It was bound already.', content: certified },
          201: { description: 'It is bound.', content: certified },
          ...answers([400, 404, 413, 415, 429, 503]),
        },
      },
    },
    '/api/insurance/policies/{policy}': {
      get: {
        operationId: 'read-policy',
        summary: 'One certificate as it stands, for whoever knows its id.',
        tags: ['service'],
        parameters: [
          { name: 'policy', in: 'path', required: true, description: 'Id of the policy.', schema: { type: 'string', ...POLICY_ID } },
        ],
        responses: {
          200: { description: 'The certificate, and what its signatures prove.', content: json(ref('schemas', 'policy')) },
          ...answers([404, 503]),
        },
      },
    },
  }
}
