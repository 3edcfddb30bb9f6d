/**
 * An underwriter's entry with its rate card, signed by the underwriter's own key (EIP-712, domain of name POL-1 and version 1). It names the
 * origin for which it is meant and when it ends, so that it cannot be shown elsewhere or later. Whoever controls a key can sign one.
 */
import { isObject } from '../is-object.ts'
import { typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import { nobleCrypto, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { COVERAGE_TYPES, POL, type CoverageType } from './pol1-table.ts'

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

/** What an underwriter signs, in this order. */
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

/** The hash by which an entry is named: the digest that its underwriter signed. */
export function entryDigest(entry: UnderwriterEntry, crypto: ReceiptCrypto): Uint8Array {
  const { min_coverage_minor, max_coverage_minor, rate_bps, min_premium_minor, term_days, issued_at, valid_until, ...texts } = entry
  const numbers = { min_coverage_minor, max_coverage_minor, rate_bps, min_premium_minor, term_days, issued_at, valid_until }
  const whole = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)]))
  return typedDigest('POL-1', ENTRY_STRUCT, { ...texts, ...whole }, crypto)
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

/** An entry in good form that no key of its underwriter signed: a contract wallet may have, which only the chain can tell. */
interface UnprovedEntry {
  entry: SignedEntry
  entry_hash: string
  digest: Uint8Array
}

export type EntryRead = { ok: true; entry: SignedEntry; entry_hash: string } | { ok: false; faults: EntryFault[]; unproved?: UnprovedEntry }

const AMOUNT = /^(?:0|[1-9][0-9]{0,29})$/
const POSITIVE = /^[1-9][0-9]{0,29}$/
/** Letters, digits and a few signs: no markup, no control or bidirectional characters. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&'()/:#+-]{0,79}$/u
const URI = /^https:\/\/[a-z0-9.-]{1,200}(?::[0-9]{1,5})?(?:\/[\w.~%/?=&-]{0,300})?$/

const text = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)
const whole = (least: number, most: number) => (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

const FORMS: Record<Field, { good(value: unknown): boolean; form: string }> = {
  underwriter: { good: text(/^0x[0-9a-fA-F]{40}$/), form: 'an address' },
  name: { good: text(PLAIN), form: 'plain text of at most 80 characters' },
  origin: { good: text(/^https?:\/\/[\w.:[\]-]{1,250}$/), form: 'the origin of this service' },
  coverage_type: { good: (value) => COVERAGE_TYPES.some((known) => known === value), form: `one of ${COVERAGE_TYPES.join(', ')}` },
  min_coverage_minor: { good: text(AMOUNT), form: 'decimal text, USDC minor units' },
  max_coverage_minor: { good: text(POSITIVE), form: 'decimal text above zero, USDC minor units' },
  rate_bps: { good: whole(0, 10_000), form: 'a whole number from 0 to 10000' },
  min_premium_minor: { good: text(AMOUNT), form: 'decimal text, USDC minor units' },
  term_days: { good: whole(1, 3_660), form: 'a whole number from 1 to 3660' },
  jurisdictions: {
    good: (value) => Array.isArray(value) && value.length > 0 && value.length <= 20 && value.every(text(/^[A-Z]{2}$/)),
    form: '1 to 20 codes of ISO 3166-1 alpha-2',
  },
  licence_reference: { good: (value) => value === '' || text(PLAIN)(value), form: 'plain text of at most 80 characters, or empty' },
  terms_uri: { good: text(URI), form: 'an https address without user name' },
  terms_hash: { good: text(/^0x[0-9a-fA-F]{64}$/), form: '0x and 64 hexadecimal digits' },
  issued_at: { good: whole(0, 999_999_999_999), form: 'seconds since 1970' },
  valid_until: { good: whole(0, 999_999_999_999), form: 'seconds since 1970' },
}

const FIELDS = Object.keys(FORMS) as Field[]

/** Reads `{entry, signature}` for this origin at this time. Nothing of what was sent comes back in a fault. */
export function readEntry(given: unknown, origin: string, now_s: number, crypto: ReceiptCrypto = nobleCrypto): EntryRead {
  const { entry, signature } = recordOf(given) ?? {}
  const fields = recordOf(entry)
  if (fields === null) return { ok: false, faults: [{ field: 'entry', message: 'Send an object with entry and signature.' }] }
  const faults = [...formFaults(fields), ...(typeof signature === 'string' ? [] : [unsigned()])]
  if (faults.length > 0 || typeof signature !== 'string') return { ok: false, faults }
  const read = { ...(fields as unknown as UnderwriterEntry), underwriter: String(fields['underwriter']).toLowerCase() }
  const wrong = senseFaults(read, origin, now_s)
  if (wrong.length > 0) return { ok: false, faults: wrong }
  const digest = entryDigest(read, crypto)
  const made = { entry: { ...read, signature: signature.toLowerCase() }, entry_hash: toHex(digest) }
  if (typedSigner(digest, signature, crypto) === read.underwriter) return { ok: true, ...made }
  return { ok: false, faults: [unsigned()], unproved: { ...made, digest } }
}

function unsigned(): EntryFault {
  return { field: 'signature', message: 'It must be the 65-byte EIP-712 signature of the underwriter over exactly this entry.' }
}

function formFaults(fields: Readonly<Record<string, unknown>>): EntryFault[] {
  const strays = Object.keys(fields).filter((name) => !FIELDS.some((known) => known === name)).length
  return [
    ...(strays === 0
      ? []
      : [{ field: 'entry' as const, message: `It holds ${strays === 1 ? 'one unknown field' : `${strays} unknown fields`}.` }]),
    ...FIELDS.filter((name) => !FORMS[name].good(fields[name])).map((field) => ({ field, message: `It must be ${FORMS[field].form}.` })),
  ]
}

function senseFaults(entry: UnderwriterEntry, origin: string, now_s: number): EntryFault[] {
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

function recordOf(value: unknown): Record<string, unknown> | null {
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
