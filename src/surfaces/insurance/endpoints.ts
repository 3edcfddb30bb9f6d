import { z } from 'zod'
import { ENTRY_FORMS, POL } from '../../pure/rulebooks/pol1-registry.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'
import {
  countersignPolicy,
  directoryPage,
  policyNotFound,
  policyShown,
  registerUnderwriter,
  type DirectoryPage,
  type InsuranceParts,
  type RecordEnd,
} from '../../service/records/insurance.ts'
import { JSON_TYPE, sendDocument, storedDocument, type StoredDocument } from '../http/document.ts'
import { anyObject, endpointsOf, named, readJson, wholeNumber, type EndpointResult, type Rate } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'

const defineEndpoint = endpointsOf<InsuranceParts>()

const BOUNDS: ReadBounds = { body_bytes: limits.insurance_body_bytes, depth: 8, nodes: 500, unsafe_numbers: 'refuse' }
const RATE: Rate = { code: 'INSURANCE_RATE_LIMITED', per_minute: limits.insurance_writes_per_minute }

/** Description of each field of an entry; ENTRY_FORMS defines its format. */
const ENTRY_WORDS: Record<keyof typeof ENTRY_FORMS, string> = {
  underwriter: 'Address that signs.',
  name: "Letters, digits and . , & ' ( ) / : # + -",
  origin: 'The origin of this service: an entry is meant for one directory.',
  coverage_type: 'Kind of cover.',
  min_coverage_minor: 'Least cover in minor units of USDC.',
  max_coverage_minor: 'Most cover in minor units of USDC.',
  rate_bps: 'Premium in basis points of the cover.',
  min_premium_minor: 'Least premium in minor units of USDC.',
  term_days: 'Length of the cover.',
  jurisdictions: 'ISO 3166-1 alpha-2.',
  licence_reference: 'Plain text like the name, or empty.',
  terms_uri: 'Address of the terms, its host in lower case. They are not fetched; the proof file of the same host is.',
  terms_hash: 'Hash of the terms.',
  issued_at: 'Seconds since 1970. A later entry takes the place of an earlier one.',
  valid_until: 'Seconds since 1970, at most 366 days ahead.',
}

function fieldSchema(name: keyof typeof ENTRY_FORMS): z.ZodType {
  const form = ENTRY_FORMS[name]
  const description = ENTRY_WORDS[name]
  switch (form.kind) {
    case 'text':
      return (
        form.may_be_empty === true ? z.union([z.literal(''), z.string().regex(form.pattern)]) : z.string().regex(form.pattern)
      ).describe(description)
    case 'one_of':
      return z.enum(form.values).describe(description)
    case 'whole':
      return z.int().min(form.least).max(form.most).describe(description)
    case 'texts':
      return z.array(z.string().regex(form.pattern)).min(form.least).max(form.most).describe(description)
  }
}

const ENTRY = z.strictObject(
  Object.fromEntries((Object.keys(ENTRY_FORMS) as (keyof typeof ENTRY_FORMS)[]).map((name) => [name, fieldSchema(name)])),
)

const REGISTRATION = named(
  'underwriter-registration',
  z.looseObject({
    entry: ENTRY.describe('The rate card. Amounts are decimal text in minor units of USDC, times are seconds since 1970.'),
    signature: z
      .string()
      .regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/)
      .describe('EIP-712 of the underwriter: 65 bytes of a key, or what a contract wallet takes on this chain (ERC-1271).'),
  }),
)

const NOT_VETTED = z.literal(false).describe('Listing is not vetting.')

const LISTED = {
  underwriter_id: z.string().describe('Its name in the directory.'),
  entry_hash: z.string().describe('The digest that was signed.'),
  proven: z.boolean().describe('True if the proof file of the host of terms_uri lists the address of the underwriter.'),
  proven_domain: z.string().nullable().describe('Host whose file proved the entry; null for an unproven one.'),
  proven_at: z.string().nullable().describe('Time at which the file was read, RFC 3339; null for an unproven entry.'),
  proof_source: z.string().nullable().describe('https, or fixed_sample in a sandbox; null for an unproven entry.'),
  listed_until: z.int().describe('When the entry leaves the directory, in seconds since 1970: after 7 days if it is unproven.'),
  vetted: NOT_VETTED,
  entry: anyObject('The entry with its signature.'),
}

const REGISTERED = named(
  'underwriter-registered',
  z.looseObject({
    status: z.enum(['registered', 'unchanged']).describe('registered if the directory changed.'),
    ...LISTED,
    proof: z
      .looseObject({
        file: z.string().nullable().describe('Address of the proof file; null where the host of terms_uri cannot prove an entry.'),
        reason: z.string().nullable().describe('Reason why the entry is not proven; null when it is.'),
      })
      .describe('The file that was read.'),
  }),
)

const DIRECTORY = named(
  'underwriter-directory',
  z.looseObject({
    standard: z.string().describe('The rule book.'),
    policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
    origin: z.string().describe('Origin that entries must name.'),
    vetted: NOT_VETTED,
    notice: z.string().describe('Meaning of listing and proof.'),
    count: z.int().min(0).max(POL.table.entries_max).describe('Entries of all pages.'),
    proven_count: z.int().min(0).max(POL.table.entries_max).describe('Proven entries of all pages.'),
    most: z.int().describe('Entries that the directory holds.'),
    directory_hash: z.string().describe('keccak-256 of the canonical list of all entry hashes.'),
    next_cursor: z.string().nullable().describe('`cursor` of the next page; null on the last one.'),
    underwriters: z
      .array(z.looseObject(LISTED))
      .max(limits.directory_page)
      .describe('Entries of this page, proven ones first, then by address.'),
  }),
)

const CERTIFICATE = anyObject('The certificate (POL-1); `status` is BOUND once it is countersigned.')
const CERTIFIED = named('policy-certified', z.looseObject({ certificate: CERTIFICATE }))
const POLICY = named(
  'policy',
  z.looseObject({ certificate: CERTIFICATE, verification: anyObject('What its signatures prove, and what not.') }),
)
const POLICY_ID = z.string().regex(/^pol_[0-9a-f]{32}$/)

const PROOF =
  `To be quoted, an entry must be proven. Serve https://{host of terms_uri}${POL.table.proof.path} with status 200, without a redirect and on the ` +
  `standard port, as JSON {"underwriters": ["0x…"]} of at most ${POL.table.proof.addresses_max} addresses and 16 KiB, then register, or send ` +
  'the same registration again (a file is read at most once in 10 s). The file is read again when a later entry of the address comes. A domain ' +
  `proves at most ${POL.table.proof.entries_max_per_domain} entries; a name below a shared platform such as github.io proves none. Unproven ` +
  `entries are marked, never quoted, at most ${POL.table.unproven.entries_max_per_network} for a network (IPv4 /24, IPv6 /48) and ` +
  `${POL.table.unproven.entries_max} in all, and leave after ${POL.table.unproven.listed_days} days; a proven entry displaces one where the ` +
  'directory is full. In a sandbox only https://underwriter.example/ proves, as a fixed sample.'

const register = defineEndpoint({
  id: 'register-underwriter',
  method: 'post',
  path: '/api/insurance/register',
  summary: 'Register as an underwriter, for nothing: one entry an address, signed by it.',
  description: `Entries are not vetted: the owner of any address can register. Send the entry alone, and the problem has the typed data to sign in \`sign\`. ${PROOF}`,
  rate: RATE,
  // The rule book reports faults of an entry.
  body: { schema: REGISTRATION, bounds: BOUNDS, read_by_run: true },
  answers: {
    200: { description: 'The entry was there already.', json: REGISTERED },
    201: { description: 'The entry is in the directory.', json: REGISTERED },
  },
  problems: ['INSURANCE_REQUEST_INVALID', 'INSURANCE_DIRECTORY_FULL', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ context, caller }, parts) {
    const json = await readJson(context, BOUNDS)
    return json.ok ? recordReply(await registerUnderwriter(parts, json.value, caller)) : json.problem
  },
})

/** Serialized pages, shared by all readers. */
const documents = new WeakMap<DirectoryPage, StoredDocument>()

const list = defineEndpoint({
  id: 'list-underwriters',
  method: 'get',
  path: '/api/insurance/register',
  summary: 'A page of the directory of underwriters that registered themselves; /docs/pol-1 says how.',
  query: {
    limit: wholeNumber(1, limits.directory_page).optional().meta({ description: 'Entries of a page.', default: limits.directory_page }),
    cursor: z
      .string()
      .regex(/^[pu]_[0-9a-f]{40}$/)
      .optional()
      .describe('next_cursor of the page before.'),
  },
  unfit: 'INSURANCE_REQUEST_INVALID',
  answers: { 200: { description: 'Entries with their signed rate cards. Listing is not vetting.', json: DIRECTORY } },
  problems: ['STORE_UNAVAILABLE'],
  async run({ query, context }, parts) {
    const page = await directoryPage(parts, query)
    const document = documents.get(page) ?? storedDocument(JSON_TYPE, page.text)
    documents.set(page, document)
    return sendDocument(context, document)
  },
})

const countersign = defineEndpoint({
  id: 'countersign-policy',
  method: 'post',
  path: '/api/insurance/countersign',
  summary: 'Bind a certificate by the signature of its underwriter, for nothing. The first good signature stays.',
  description:
    '/docs/pol-1 says what is signed. A contract wallet is asked on the chain (ERC-1271), and the certificate then carries the attestation of the registrar.',
  rate: RATE,
  body: {
    schema: named(
      'policy-countersignature',
      z.looseObject({
        policy_id: POLICY_ID.describe('That of the certificate.'),
        signature: z
          .string()
          .max(2 + 2 * limits.payment_signature_bytes)
          .regex(/^0x(?:[0-9a-fA-F]{2})+$/)
          .optional()
          .describe(
            'EIP-712 of the underwriter over the policy: 65 bytes by its key, or a signature that its contract wallet accepts. Without it, the problem has the ' +
              'typed data in `sign`.',
          ),
      }),
    ),
    bounds: BOUNDS,
  },
  unfit: 'INSURANCE_REQUEST_INVALID',
  answers: {
    200: { description: 'It was bound already.', json: CERTIFIED },
    201: { description: 'It is bound.', json: CERTIFIED },
  },
  problems: ['POLICY_NOT_FOUND', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  run: async ({ body, caller }, parts) => recordReply(await countersignPolicy(parts, body.policy_id, body.signature ?? null, caller)),
})

const readPolicy = defineEndpoint({
  id: 'read-policy',
  method: 'get',
  path: '/api/insurance/policies/{policy}',
  summary: 'Current state of a certificate, readable with its id.',
  parts: { policy: POLICY_ID.describe('Id of the policy.') },
  unfit_path: () => policyNotFound().problem,
  answers: { 200: { description: 'The certificate, and what its signatures prove.', json: POLICY } },
  problems: ['STORE_UNAVAILABLE'],
  run: async ({ parts }, room) => recordReply(await policyShown(room, parts.policy)),
})

function recordReply(end: RecordEnd): EndpointResult {
  return end.ok ? jsonReply(end.created ? 201 : 200, JSON.stringify(end.body)) : end.problem
}

/** Directory of underwriters, registration and certificates; all free. */
export const INSURANCE_ENDPOINTS = [register, list, countersign, readPolicy]
