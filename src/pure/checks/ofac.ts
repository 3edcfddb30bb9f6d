import bundled from '../../../data/ofac-addresses.json' with { type: 'json' }
import { ageState } from '../datasets/table.ts'
import { snapshotDay, snapshotHash, type Snapshot } from '../datasets/definition.ts'
import { ofacAddresses, type OfacRow } from '../datasets/sanctions-lists.ts'
import { once } from '../once.ts'
import { PROHIBITED_JURISDICTIONS, type JurisdictionLevel } from './countries.ts'
import { readEvmAddress, type EvmAddress } from './evm-address.ts'
import { readJurisdiction, type JurisdictionReading } from './jurisdictions.ts'
import { type Jurisdiction, jurisdictions } from './place-index.ts'
import { cleanText } from './place-names.ts'

/** Longest time, in days, for which "not on the list" means anything. */
export const OFAC_LIST_DAYS = ofacAddresses.limit_days
const DAY_MS = 86_400_000
/** Prefix of an account as a decentralized identifier of the method pkh (did:pkh:eip155:1:0x…). */
const DID = /^did:pkh:(?=eip155:)/i

/** An address behind the short name of a chain (EIP-3770, eth:0x…), or as wallets ask for a payment (EIP-681, ethereum:0x…@1). */
const SHORT_NAME = /^[a-z][a-z0-9-]{1,31}:(?:pay-)?(0x[0-9a-f]{40})(?:@[0-9]{1,32})?$/i

export type ListName = 'ofac_addresses' | 'prohibited_jurisdictions'

/** Result of the screening. `no_match` and `elevated` are unreliable when their list is old. */
type ScreeningStatus = 'match' | 'needs_review' | 'elevated' | 'no_match' | 'not_screened'

interface ScreeningMatch {
  list: ListName
  /** Holder of the address, or the jurisdiction. */
  name: string
  /** The address, or the code of the jurisdiction. */
  key: string
  level: JurisdictionLevel
  programmes: string[]
}

interface ScreeningRemark {
  code: 'bad_checksum' | 'bad_structure' | 'not_resolved' | 'bad_prefix' | 'bad_component'
  message: string
  expected: string | null
}

export interface ScreeningResult {
  status: ScreeningStatus
  subject_kind: 'evm_address' | 'other_address' | 'jurisdiction' | 'unknown'
  /** The form that was looked up; null when nothing was. */
  normalized: string | null
  reason: string
  matches: ScreeningMatch[]
  findings: ScreeningRemark[]
  chain_id: string | null
  /** The list that decided; null when none was asked. */
  list: ListName | null
}

/** Addresses of the release: the oldest that a service answers from. */
export const BUNDLED_ADDRESSES: Snapshot<OfacRow> = bundled

interface ListFacts {
  published_at: string
  count: number
  /** SHA-256 of the canonical text of the list. */
  sha256: string
}

/** Lists of one moment. A call uses one of these from beginning to end; a newer list makes a new one. */
export interface Screening {
  readonly lists: Readonly<Record<ListName, ListFacts>>
  /** Whole days since the publication of a list. */
  ageDays(list: ListName, now_ms: number): number
  /**
   * Looks a subject up: an address of the EVM in OFAC's list (any case, CAIP-10 too), or a country or region among the prohibited
   * jurisdictions. Names of persons, companies and ENS are not screened here, and the answer says so. Errs towards a match for places.
   */
  screenSubject(subject: string): ScreeningResult
}

type AddressIndex = ReadonlyMap<string, ScreeningMatch>

/** Binds the screening to a snapshot of the address list, whose SHA-256 the caller knows. */
export function createScreening(snapshot: Snapshot<OfacRow>, sha256: string): Screening {
  const { count, rows } = snapshot
  const lists = {
    ofac_addresses: { published_at: snapshotDay(snapshot), count, sha256 },
    /** Of the table from which a call at this moment answers. */
    get prohibited_jurisdictions() {
      const { published_at, count: places } = PROHIBITED_JURISDICTIONS.view
      return { published_at, count: places, sha256: PROHIBITED_JURISDICTIONS.sha256() }
    },
  }
  const index: AddressIndex = new Map(
    rows.map(({ address, entity, programmes }) => [
      address,
      { list: 'ofac_addresses', name: entity, key: address, level: 'comprehensive', programmes },
    ]),
  )
  return {
    lists,
    ageDays: (list, now_ms) => ageInDays(lists[list].published_at, now_ms),
    screenSubject: (subject) => screenSubject(index, subject),
  }
}

/** Whole days since a date. */
function ageInDays(published_at: string, now_ms: number): number {
  return Math.floor((now_ms - Date.parse(published_at)) / DAY_MS)
}

export interface ListAge {
  id: ListName
  published_at: string
  age_days: number
  limit_days: number
  state: ReturnType<typeof ageState>
}

/** Ages of the lists that limit clean answers. */
export function listAges({ lists }: Screening, now_ms: number): ListAge[] {
  return Object.entries(lists).map(([id, { published_at }]) => {
    const age_days = ageInDays(published_at, now_ms)
    return { id: id as ListName, published_at, age_days, limit_days: OFAC_LIST_DAYS, state: ageState(age_days, OFAC_LIST_DAYS) }
  })
}

/** Screening by the lists of the release. */
export const bundledScreening = once(() => createScreening(BUNDLED_ADDRESSES, snapshotHash(BUNDLED_ADDRESSES)))

function screenSubject(index: AddressIndex, subject: string): ScreeningResult {
  const text = cleanText(subject)
  const account = text.replace(/\s+/g, '').replace(DID, '')
  const address = readEvmAddress(SHORT_NAME.exec(account)?.[1] ?? account) ?? findListedAddress(index, text)
  if (address !== null) return screenedAddress(index, address)
  const other = findOtherAddress(index, account)
  if (other !== null) return otherAddress(other)
  const failed = failedAddress(text)
  if (failed !== null) return nothingScreened(failed.message, [failed])
  const place = readJurisdiction(text)
  if (place.kind === 'listed') return screenedPlace(place)
  if (place.kind === 'unlisted') return unlistedPlace(place)
  const what = place.unread.length === 0 ? 'This' : 'A part of this'
  const reason = `${what} is neither an EVM address nor a known country or region. Names of persons and companies are not screened by this tool; the packs screen them.`
  return nothingScreened(reason, unreadRemarks(place.unread))
}

/** Finds a listed address among other words, as copied from a page. */
function findListedAddress(index: AddressIndex, text: string): EvmAddress | null {
  for (const [written] of text.matchAll(/\b0x[0-9a-f]{40}\b/gi)) if (index.has(written.toLowerCase())) return readEvmAddress(written)
  return null
}

/**
 * Listed address of another chain, also behind a scheme or a CAIP-10 prefix. Bech32 addresses are in lower case on the list; others differ by
 * case. Only a match is found: without one, an address looks like any other text.
 */
function findOtherAddress(index: AddressIndex, account: string): ScreeningMatch | null {
  const text = account.split('?')[0]?.split(':').at(-1) ?? ''
  return index.get(text) ?? index.get(text.toLowerCase()) ?? null
}

function otherAddress(match: ScreeningMatch): ScreeningResult {
  return {
    status: 'match',
    subject_kind: 'other_address',
    normalized: match.key,
    reason: LISTED,
    matches: [match],
    findings: [],
    chain_id: null,
    list: 'ofac_addresses',
  }
}

const LISTED = 'The address is on the SDN list of OFAC.'

function screenedAddress(index: AddressIndex, { address, checksummed, checksum, chain_id }: EvmAddress): ScreeningResult {
  const match = index.get(address)
  const broken: ScreeningRemark = {
    code: 'bad_checksum',
    message: 'The capitals do not agree with EIP-55: a character may be wrong. The address was looked up without regard to capitals.',
    expected: checksummed,
  }
  return {
    status: match === undefined ? 'no_match' : 'match',
    subject_kind: 'evm_address',
    normalized: address,
    reason: match === undefined ? 'The address is not on the list. This is not a clearance.' : LISTED,
    matches: match === undefined ? [] : [match],
    findings: checksum === 'broken' ? [broken] : [],
    chain_id,
    list: 'ofac_addresses',
  }
}

const PLACE_WORDS: Readonly<Record<JurisdictionLevel, { status: ScreeningStatus; reason: string }>> = {
  comprehensive: { status: 'match', reason: 'Nearly all dealings with this jurisdiction are prohibited under OFAC programmes.' },
  needs_review: { status: 'needs_review', reason: 'A part of this region is prohibited; only the exact place decides.' },
  elevated: { status: 'elevated', reason: 'List-based or sectoral programmes exist; the country alone prohibits nothing.' },
}

const NAMED: (typeof PLACE_WORDS)['elevated'] = {
  status: 'needs_review',
  reason:
    'The text contains the name of a prohibited jurisdiction among other words, or before a state or another country: a person must decide which place is meant.',
}
const PLACE = { subject_kind: 'jurisdiction', chain_id: null, list: 'prohibited_jurisdictions' } as const

type Reading<Kind> = Extract<JurisdictionReading, { kind: Kind }>

/** Decided by the gravest place; with a match, what else was written changes nothing. */
function screenedPlace({ gravest, places, unread }: Reading<'listed'>): ScreeningResult {
  const { status, reason } = gravest.level === 'comprehensive' && !gravest.meant ? NAMED : PLACE_WORDS[gravest.level]
  const matches = places.map(placeMatch)
  return { ...PLACE, status, normalized: gravest.code, reason, matches, findings: status === 'match' ? [] : unreadRemarks(unread) }
}

function placeMatch({ code, level, name, programme }: Jurisdiction): ScreeningMatch {
  return { list: 'prohibited_jurisdictions', name, key: code, level, programmes: [programme] }
}

function jurisdictionMatches(code: string): ScreeningMatch[] {
  const row = jurisdictions().by_code.get(code)
  return row === undefined ? [] : [placeMatch(row)]
}

function unlistedPlace({ countries, listed_regions, unread }: Reading<'unlisted'>): ScreeningResult {
  const names = countries.map(({ name }) => name).join(' and ')
  const normalized = countries.map(({ code }) => code).join(', ')
  if (listed_regions.length > 0) {
    const regions = listed_regions.map((code) => `${jurisdictions().by_code.get(code)?.name ?? code} (${code})`).join(', ')
    const reason = `Regions of ${names} are on the list: ${regions}. The country alone does not say whether the place lies in one of them.`
    return {
      ...PLACE,
      status: 'needs_review',
      normalized,
      reason,
      matches: listed_regions.flatMap(jurisdictionMatches),
      findings: unreadRemarks(unread),
    }
  }
  const reason = `${names} ${countries.length === 1 ? 'is' : 'are'} not on the list of jurisdictions. This is not a clearance.`
  return { ...PLACE, status: 'no_match', normalized, reason, matches: [], findings: unreadRemarks(unread) }
}

/** The answer says nothing about what was not read. */
function unreadRemarks(unread: readonly string[]): ScreeningRemark[] {
  const message = `Not a known place, and searched for listed names only: ${unread.map((part) => `"${part}"`).join(', ')}.`
  return unread.length === 0 ? [] : [{ code: 'not_resolved', message, expected: null }]
}

/** Recognizes an account that cannot be looked up. */
function failedAddress(text: string): ScreeningRemark | null {
  const remark = (code: ScreeningRemark['code'], message: string): ScreeningRemark => ({ code, message, expected: null })
  if (/^(?:0x|(?:did:pkh:)?eip155:)/i.test(text)) {
    return remark('bad_structure', 'An address of the EVM is 0x and 40 hexadecimal digits; nothing was looked up.')
  }
  if (/^[^\s:]+\.eth$/i.test(text)) return remark('not_resolved', 'ENS names are not resolved; send the address.')
  if (/^[a-z0-9-]{3,8}:[\w-]{1,32}:\S+$/i.test(text)) return remark('bad_prefix', 'Only accounts of the namespace eip155 can be looked up.')
  return null
}

function nothingScreened(reason: string, findings: ScreeningRemark[]): ScreeningResult {
  return { status: 'not_screened', subject_kind: 'unknown', normalized: null, reason, matches: [], findings, chain_id: null, list: null }
}
