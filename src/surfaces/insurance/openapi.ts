import { COVERAGE_TYPES, POL } from '../../pure/rulebooks/pol1-table.ts'
import { json, ref, type Json } from '../../service/catalogue/openapi-parts.ts'
import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
import { limits } from '../../service/limits.ts'

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
        terms_uri: text('Where the terms are. They are not fetched; the proof file of the same host is.', {
          pattern: '^https://',
          maxLength: 520,
        }),
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
    proven: { type: 'boolean', description: 'Whether the proof file of the host of terms_uri lists the address of the underwriter.' },
    proven_domain: text('Host whose file proved the entry; null for an unproven one.', { type: ['string', 'null'] }),
    proven_at: text('When the file was read, RFC 3339; null for an unproven entry.', { type: ['string', 'null'] }),
    proof_source: text('https, or fixed_sample in a sandbox; null for an unproven entry.', { type: ['string', 'null'] }),
    listed_until: whole('When the entry leaves the directory, in seconds since 1970: after 7 days if it is unproven.', 0, 999_999_999_999),
    vetted: { type: 'boolean', const: false, description: 'Listing is not vetting.' },
    proof: {
      type: 'object',
      description: 'The file that was read, and why it does not prove the entry.',
      properties: {
        file: text('Address of the proof file; null where the host of terms_uri cannot prove an entry.', { type: ['string', 'null'] }),
        reason: text('Why the entry is not proven; null when it is.', { type: ['string', 'null'] }),
      },
      required: ['file', 'reason'],
    },
    entry: { type: 'object', description: 'The entry with its signature.' },
  },
  required: [
    'status',
    'underwriter_id',
    'entry_hash',
    'proven',
    'proven_domain',
    'proven_at',
    'proof_source',
    'listed_until',
    'vetted',
    'proof',
    'entry',
  ],
}

/** Members of a listed entry. */
const LISTED = [
  'underwriter_id',
  'entry_hash',
  'proven',
  'proven_domain',
  'proven_at',
  'proof_source',
  'listed_until',
  'vetted',
  'entry',
] as const

const DIRECTORY: JsonSchema = {
  type: 'object',
  properties: {
    standard: text('The rule book.'),
    policy_hash: text('keccak-256 of the canonical text of {standard, table}.'),
    origin: text('Origin that entries must name.'),
    vetted: { type: 'boolean', const: false, description: 'Listing is not vetting.' },
    notice: text('What listing and proof mean.'),
    count: whole('Entries of all pages.', 0, POL.table.entries_max),
    proven_count: whole('Proven entries of all pages.', 0, POL.table.entries_max),
    most: whole('Entries that the directory holds.', 0, POL.table.entries_max),
    directory_hash: text('keccak-256 of the canonical list of all entry hashes.'),
    next_cursor: text('`cursor` of the next page; null on the last one.', { type: ['string', 'null'] }),
    underwriters: {
      type: 'array',
      description: 'Entries of this page, proven ones first, then by address.',
      items: {
        type: 'object',
        properties: Object.fromEntries(LISTED.map((name) => [name, (REGISTERED['properties'] as Record<string, JsonSchema>)[name] ?? {}])),
        required: LISTED,
      },
      maxItems: limits.directory_page,
    },
  },
  required: ['count', 'proven_count', 'most', 'directory_hash', 'next_cursor', 'underwriters'],
}

const PAGE_PARAMETERS = [
  {
    name: 'limit',
    in: 'query',
    description: 'Entries of a page.',
    schema: { type: 'integer', minimum: 1, maximum: limits.directory_page, default: limits.directory_page },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'next_cursor of the page before.',
    schema: { type: 'string', pattern: '^[pu]_[0-9a-f]{40}$' },
  },
]

const PROOF =
  `To be quoted, an entry must be proven. Serve https://{host of terms_uri}${POL.table.proof.path} with status 200, without a redirect and on the ` +
  `standard port, as JSON {"underwriters": ["0x…"]} of at most ${POL.table.proof.addresses_max} addresses and 16 KiB, then register, or send ` +
  'the same registration again (a file is read at most once in 10 s). The file is read again when a later entry of the address comes. A domain ' +
  `proves at most ${POL.table.proof.entries_max_per_domain} entries; a name below a shared platform such as github.io proves none. Unproven ` +
  `entries are marked, never quoted, at most ${POL.table.unproven.entries_max_per_network} for a network (IPv4 /24, IPv6 /48) and ` +
  `${POL.table.unproven.entries_max} in all, and leave after ${POL.table.unproven.listed_days} days; a proven entry displaces one where the ` +
  'directory is full. In a sandbox only https://underwriter.example/ proves, as a fixed sample.'

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
    'underwriter-directory': DIRECTORY,
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
        description: `Nothing is vetted; whoever controls an address can register. docs/pol-1.md says what is signed. ${PROOF}`,
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
        summary: 'A page of the directory of underwriters that registered themselves; docs/pol-1.md says how.',
        tags: ['service'],
        parameters: PAGE_PARAMETERS,
        responses: {
          200: {
            description: 'Entries with their signed rate cards. Listing is not vetting.',
            content: json(ref('schemas', 'underwriter-directory')),
          },
          ...answers([400, 503]),
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
