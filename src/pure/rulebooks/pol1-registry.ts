/**
 * POL-1 directory entries: an underwriter's entry with its rate card, signed by the underwriter's key (EIP-712, domain name POL-1, version 1). It
 * names the origin for which it is meant and its end, so that it cannot be used elsewhere or later. Any key can sign one; the file
 * `{"underwriters": ["0x…"]}` at a fixed path of the host of `terms_uri` proves the domain.
 */
import { ruleBook, type RuleBook } from './rule-book.ts'
import { isObject } from '../is-object.ts'
import { type TypedData, typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import { nobleCrypto, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { readDecimal } from '../market/fraction.ts'
import { type SignRequest, signRequest } from '../signing/sign-request.ts'
import { COVERAGE_TYPES, type ContractAttestation, countersignTypedData, POL_DOMAIN, type CoverageType, type Policy } from './pol1.ts'
import { readVendorDomain } from '../checks/domains.ts'

/** Rules of the directory and its policies. The table is published so that it can be checked and replaced. */
const POL_TABLE = {
  coverage_types: COVERAGE_TYPES,
  currency: 'USDC',
  /** Of the whole coverage, rounded up to the next millionth, at least the minimum of the card. */
  premium: 'max(min_premium_minor, ceil(coverage_minor * rate_bps / 10000))',
  entries_max: 1_000,
  /** Entries whose address is in no file of the domain of their terms: listed apart, for a short time, never quoted. */
  unproven: { entries_max: 200, entries_max_per_network: 5, listed_days: 7 },
  /** The file that proves an entry, on the host of `terms_uri`. */
  proof: { path: '/.well-known/assay-underwriter.json', addresses_max: 100, entries_max_per_domain: 5 },
  /** Maximum validity of an entry. */
  entry_days_max: 366,
  clock_skew_s: 300,
  status: { without_underwriter_signature: 'PENDING_UNDERWRITER', with_underwriter_signature: 'BOUND' },
  vetted: false,
} as const

export const POL: RuleBook<typeof POL_TABLE> = ruleBook('POL-1', POL_TABLE)

export const LISTING_NOTICE =
  'Listing is not vetting: every key holder can register. A proven entry is named in a file on the domain of its terms; that ' +
  'proves the domain, not the name. Check the underwriter and its licence yourself.'

export interface UnderwriterEntry {
  /** Lower-case address of the key that signs. */
  underwriter: string
  name: string
  origin: string
  coverage_type: CoverageType
  /** Decimal texts, minor units of USDC. */
  min_coverage_minor: string
  max_coverage_minor: string
  rate_bps: number
  min_premium_minor: string
  term_days: number
  /** ISO 3166-1 alpha-2. */
  jurisdictions: string[]
  licence_reference: string
  terms_uri: string
  terms_hash: string
  /** Seconds since 1970. */
  issued_at: number
  valid_until: number
}

export interface SignedEntry extends UnderwriterEntry {
  signature: string
}

type Field = keyof UnderwriterEntry

/** Struct that an underwriter signs, in this order. */
const ENTRY_STRUCT: TypedStruct = {
  name: 'UnderwriterEntry',
  fields: [
    { name: 'underwriter', type: 'address' },
    { name: 'name', type: 'string' },
    { name: 'origin', type: 'string' },
    { name: 'coverage_type', type: 'string' },
    { name: 'min_coverage_minor', type: 'uint256' },
    { name: 'max_coverage_minor', type: 'uint256' },
    { name: 'rate_bps', type: 'uint256' },
    { name: 'min_premium_minor', type: 'uint256' },
    { name: 'term_days', type: 'uint256' },
    { name: 'jurisdictions', type: 'string[]' },
    { name: 'licence_reference', type: 'string' },
    { name: 'terms_uri', type: 'string' },
    { name: 'terms_hash', type: 'bytes32' },
    { name: 'issued_at', type: 'uint64' },
    { name: 'valid_until', type: 'uint64' },
  ],
}

function entryMessage(entry: UnderwriterEntry) {
  const { min_coverage_minor, max_coverage_minor, rate_bps, min_premium_minor, term_days, issued_at, valid_until, ...texts } = entry
  const numbers = { min_coverage_minor, max_coverage_minor, rate_bps, min_premium_minor, term_days, issued_at, valid_until }
  const whole = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)]))
  return { ...texts, ...whole }
}

/** The hash by which an entry is named: the digest that its underwriter signed. */
export function entryDigest(entry: UnderwriterEntry, crypto: ReceiptCrypto): Uint8Array {
  return typedDigest(POL_DOMAIN, ENTRY_STRUCT, entryMessage(entry), crypto)
}

/** The same in the form of wallets. The members of a signed entry that are not signed stay out. */
export function entryTypedData(entry: UnderwriterEntry): TypedData {
  const { signature: _, ...signed } = entry as UnderwriterEntry & { signature?: string }
  return typedDataJson(POL_DOMAIN, ENTRY_STRUCT, entryMessage(signed))
}

/** The id under which an underwriter is listed. */
export function underwriterId(address: string): string {
  return `uw_${address.slice(2)}`
}

/** The address behind an id of the list, or behind an address itself; null for anything else. */
export function underwriterAddress(id: string): string | null {
  const digits = /^(?:uw_|0x)([0-9a-fA-F]{40})$/.exec(id)?.[1]
  return digits === undefined ? null : `0x${digits.toLowerCase()}`
}

interface EntryFault {
  field: Field | 'signature' | 'entry'
  message: string
}

/** A well-formed entry without a key signature of its underwriter; a contract wallet may have signed, which only the chain can verify. An absent signature is empty. */
interface UnprovedEntry {
  entry: SignedEntry
  entry_hash: string
  digest: Uint8Array
}

type EntryRead = { ok: true; entry: SignedEntry; entry_hash: string } | { ok: false; faults: EntryFault[]; unproved?: UnprovedEntry }

const AMOUNT = /^(?:0|[1-9][0-9]{0,29})$/
const POSITIVE = /^[1-9][0-9]{0,29}$/
/** Letters, digits and a few signs: no markup, no control or bidirectional characters. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&'()/:#+-]{0,79}$/u
const URI = /^https:\/\/[a-z0-9.-]{1,200}(?::[0-9]{1,5})?(?:\/[\w.~%/?=&-]{0,300})?$/

/** Form of a field, and its words. */
type FieldForm = { words: string } & (
  | { kind: 'text'; pattern: RegExp; may_be_empty?: true }
  | { kind: 'one_of'; values: readonly string[] }
  | { kind: 'whole'; least: number; most: number }
  | { kind: 'texts'; pattern: RegExp; least: number; most: number }
)

const SECONDS: FieldForm = { kind: 'whole', least: 0, most: 999_999_999_999, words: 'seconds since 1970' }
const MINOR: FieldForm = { kind: 'text', pattern: AMOUNT, words: 'decimal text, USDC minor units' }

/** Every field of an entry in the order in which it is signed. */
export const ENTRY_FORMS: Readonly<Record<Field, FieldForm>> = {
  underwriter: { kind: 'text', pattern: /^0x[0-9a-fA-F]{40}$/, words: 'an address' },
  name: { kind: 'text', pattern: PLAIN, words: 'plain text of at most 80 characters' },
  origin: { kind: 'text', pattern: /^https?:\/\/[\w.:[\]-]{1,250}$/, words: 'the origin of this service' },
  coverage_type: { kind: 'one_of', values: COVERAGE_TYPES, words: `one of ${COVERAGE_TYPES.join(', ')}` },
  min_coverage_minor: MINOR,
  max_coverage_minor: { kind: 'text', pattern: POSITIVE, words: 'decimal text above zero, USDC minor units' },
  rate_bps: { kind: 'whole', least: 0, most: 10_000, words: 'a whole number from 0 to 10000' },
  min_premium_minor: MINOR,
  term_days: { kind: 'whole', least: 1, most: 3_660, words: 'a whole number from 1 to 3660' },
  jurisdictions: { kind: 'texts', pattern: /^[A-Z]{2}$/, least: 1, most: 20, words: '1 to 20 codes of ISO 3166-1 alpha-2' },
  licence_reference: { kind: 'text', pattern: PLAIN, may_be_empty: true, words: 'plain text of at most 80 characters, or empty' },
  terms_uri: { kind: 'text', pattern: URI, words: 'an https address without user name' },
  terms_hash: { kind: 'text', pattern: /^0x[0-9a-fA-F]{64}$/, words: '0x and 64 hexadecimal digits' },
  issued_at: SECONDS,
  valid_until: SECONDS,
}

function hasForm(form: FieldForm, value: unknown): boolean {
  switch (form.kind) {
    case 'text':
      return typeof value === 'string' && (form.pattern.test(value) || (form.may_be_empty === true && value === ''))
    case 'one_of':
      return form.values.some((known) => known === value)
    case 'whole':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= form.least && value <= form.most
    case 'texts': {
      const { pattern, least, most } = form
      return (
        Array.isArray(value) &&
        value.length >= least &&
        value.length <= most &&
        value.every((one) => typeof one === 'string' && pattern.test(one))
      )
    }
  }
}

const FIELDS = Object.keys(ENTRY_FORMS) as Field[]

/** Reads `{entry, signature}` for this origin at this time. Nothing of what was sent comes back in a fault. */
export function readEntry(given: unknown, origin: string, now_s: number, crypto: ReceiptCrypto = nobleCrypto): EntryRead {
  const { entry, signature } = makePolicyBody(given) ?? {}
  const fields = makePolicyBody(entry)
  if (fields === null) return { ok: false, faults: [{ field: 'entry', message: 'Send an object with entry and signature.' }] }
  const faults = formFaults(fields)
  if (faults.length > 0) return { ok: false, faults: [...faults, ...(typeof signature === 'string' ? [] : [withoutSignature()])] }
  const read = { ...(fields as unknown as UnderwriterEntry), underwriter: String(fields['underwriter']).toLowerCase() }
  const wrong = meaningFaults(read, origin, now_s)
  if (wrong.length > 0) return { ok: false, faults: wrong }
  const digest = entryDigest(read, crypto)
  const given_signature = typeof signature === 'string' ? signature : ''
  const made = { entry: { ...read, signature: given_signature.toLowerCase() }, entry_hash: toHex(digest) }
  if (typedSigner(digest, given_signature, crypto) === read.underwriter) return { ok: true, ...made }
  return { ok: false, faults: [withoutSignature()], unproved: { ...made, digest } }
}

function withoutSignature(): EntryFault {
  return { field: 'signature', message: 'It must be the 65-byte EIP-712 signature of the underwriter over exactly this entry.' }
}

function formFaults(fields: Readonly<Record<string, unknown>>): EntryFault[] {
  const strays = Object.keys(fields).filter((name) => !FIELDS.some((known) => known === name)).length
  return [
    ...(strays === 0
      ? []
      : [{ field: 'entry' as const, message: `It holds ${strays === 1 ? 'one unknown field' : `${strays} unknown fields`}.` }]),
    ...FIELDS.filter((name) => !hasForm(ENTRY_FORMS[name], fields[name])).map((field) => ({
      field,
      message: `It must be ${ENTRY_FORMS[field].words}.`,
    })),
  ]
}

function meaningFaults(entry: UnderwriterEntry, origin: string, now_s: number): EntryFault[] {
  const { clock_skew_s, entry_days_max } = POL.table
  const faults: [boolean, Field, string][] = [
    [entry.origin !== origin, 'origin', `It must be ${origin}: the entry is meant for one directory.`],
    [entry.issued_at > now_s + clock_skew_s, 'issued_at', 'It lies in the future.'],
    [entry.valid_until <= now_s, 'valid_until', 'It has passed.'],
    [entry.valid_until > now_s + entry_days_max * 86_400, 'valid_until', `It lies more than ${entry_days_max} days ahead.`],
    [BigInt(entry.min_coverage_minor) > BigInt(entry.max_coverage_minor), 'min_coverage_minor', 'It exceeds max_coverage_minor.'],
  ]
  return faults.filter(([wrong]) => wrong).map(([, field, message]) => ({ field, message }))
}

function makePolicyBody(value: unknown): Record<string, unknown> | null {
  return isObject(value) ? value : null
}

/** Why an entry does not cover an amount; null when it does. */
export type QuoteRefusal = 'entry_expired' | 'coverage_type_not_offered' | 'below_minimum' | 'above_maximum'

export function quoteRefusal(
  entry: UnderwriterEntry,
  asked: { coverage_minor: bigint; coverage_type?: CoverageType | undefined; now_s: number },
): QuoteRefusal | null {
  if (entry.valid_until <= asked.now_s) return 'entry_expired'
  if (asked.coverage_type !== undefined && asked.coverage_type !== entry.coverage_type) return 'coverage_type_not_offered'
  if (asked.coverage_minor < BigInt(entry.min_coverage_minor)) return 'below_minimum'
  return asked.coverage_minor > BigInt(entry.max_coverage_minor) ? 'above_maximum' : null
}

/** In minor units, rounded up; never below the minimum of the card. */
export function premiumOf(entry: Pick<UnderwriterEntry, 'rate_bps' | 'min_premium_minor'>, coverage_minor: bigint): bigint {
  const exact = (coverage_minor * BigInt(entry.rate_bps) + 9_999n) / 10_000n
  const least = BigInt(entry.min_premium_minor)
  return exact < least ? least : exact
}

/** USDC as number or decimal text in minor units, rounded up, so that a cover is never below what was asked. */
export function coverageMinor(amount: number | string): bigint {
  const { numerator, denominator } = readDecimal(String(amount)) ?? { numerator: 0n, denominator: 1n }
  return (numerator * 1_000_000n + denominator - 1n) / denominator
}

/** The signed entry as the store holds it; nothing else was ever written there. */
export function storedEntry(text: string): SignedEntry {
  return JSON.parse(text) as SignedEntry
}

interface StoredPolicy {
  certificate: string
  underwriter_signature: string | null
  /** JSON text of `ContractAttestation`. */
  underwriter_attestation: string | null
}

/** The current certificate: bound once the underwriter's signature is stored. */
export function standing({ certificate, underwriter_signature, underwriter_attestation: attestation }: StoredPolicy): Policy {
  const issued = JSON.parse(certificate) as Policy
  if (underwriter_signature === null) return issued
  const attested = attestation === null ? {} : { underwriter_attestation: JSON.parse(attestation) as ContractAttestation }
  return { ...issued, status: 'BOUND', underwriter_signature, ...attested }
}

/** Request for the countersignature of a policy. */
export function countersignRequest(policy: Policy, origin: string, crypto: ReceiptCrypto): SignRequest {
  const signable = { method: 'eth_signTypedData_v4', typed_data: countersignTypedData(policy, crypto) } as const
  const { policy_id, underwriter_address: signer } = policy
  return signRequest({ kind: 'pol-1-countersignature', origin, signer, signable, values: { policy_id } })
}

/** Domain of the terms that can prove an entry, or why none can. */
type ProofDomain = { ok: true; host: string; registrable: string; url: string } | { ok: false; reason: string }

/** Reads the host of `terms_uri`. Names below a shared platform such as github.io are refused: anyone can get one in a minute. */
export function proofDomain(terms_uri: string): ProofDomain {
  const { host, port } = URL.canParse(terms_uri) ? new URL(terms_uri) : { host: '', port: '' }
  const domain = port === '' ? readVendorDomain(host) : null
  if (domain === null) return { ok: false, reason: 'terms_uri must name a registered domain, without an IP address and without a port.' }
  if (domain.shared_platform !== null) {
    return {
      ok: false,
      reason: `${domain.shared_platform} gives names to anyone, so a name below it proves nothing. Use a domain of your own.`,
    }
  }
  return { ok: true, host: domain.host, registrable: domain.registrable, url: `https://${domain.host}${POL.table.proof.path}` }
}

/** Returns whether a proof file names this lower-case address; null for a text that is not a proof file. */
export function namesUnderwriter(text: string, address: string): boolean | null {
  const named = underwritersIn(text)
  if (named === null || named.length > POL.table.proof.addresses_max) return null
  return named.some((one) => typeof one === 'string' && one.toLowerCase() === address)
}

function underwritersIn(text: string): unknown[] | null {
  try {
    const file: unknown = JSON.parse(text)
    const named: unknown = typeof file === 'object' && file !== null && 'underwriters' in file ? file.underwriters : null
    return Array.isArray(named) ? named : null
  } catch {
    return null
  }
}

/** An entry as the store holds it, as far as answers show it. */
export interface ListedRow {
  address: string
  entry_hash: string
  entry: string
  proven_s: number | null
  proof_source: string | null
  listed_until_s: number
}

/** Members by which every answer says whether an entry is proven, by which domain, when and how. */
function proofMembers({ proven_s, proof_source, listed_until_s }: ListedRow, { terms_uri }: Pick<SignedEntry, 'terms_uri'>) {
  return {
    proven: proven_s !== null,
    proven_domain: proven_s === null ? null : new URL(terms_uri).hostname,
    proven_at: proven_s === null ? null : new Date(proven_s * 1_000).toISOString(),
    proof_source,
    listed_until: listed_until_s,
  }
}

/** Head of an entry in a list. */
export function listedUnderwriter(row: ListedRow, entry: SignedEntry) {
  return { underwriter_id: underwriterId(row.address), entry_hash: row.entry_hash, ...proofMembers(row, entry), vetted: false as const }
}
