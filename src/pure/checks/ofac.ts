import table from '../../../data/ofac-addresses.json' with { type: 'json' }
import { BY_CODE, type Jurisdiction } from './listed-places.ts'
import { readEvmAddress, type EvmAddress } from './evm-address.ts'
import { JURISDICTIONS, readJurisdiction, tidied, type JurisdictionLevel, type JurisdictionReading } from './jurisdictions.ts'

/** Longest time, in days, for which "not on the list" means anything. */
export const OFAC_LIST_DAYS = 30
const DAY_MS = 86_400_000
/** What the method pkh puts before an account to make it a decentralized identifier (did:pkh:eip155:1:0x…). */
const DID = /^did:pkh:(?=eip155:)/i

/** An address behind the short name of a chain (EIP-3770, eth:0x…), or as wallets ask for a payment (EIP-681, ethereum:0x…@1). */
const SHORT_NAME = /^[a-z][a-z0-9-]{1,31}:(?:pay-)?(0x[0-9a-f]{40})(?:@[0-9]{1,32})?$/i

export type ListName = 'ofac_addresses' | 'prohibited_jurisdictions'

/** What the lists say. `no_match` and `elevated` are open to doubt when their list is old. */
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

export interface Screened {
  status: ScreeningStatus
  subject_kind: 'evm_address' | 'jurisdiction' | 'unknown'
  /** The form that was looked up; null when nothing was. */
  normalized: string | null
  reason: string
  matches: ScreeningMatch[]
  findings: ScreeningRemark[]
  chain_id: string | null
  /** The list that decided; null when none was asked. */
  list: ListName | null
}

export const OFAC_LISTS: Readonly<Record<ListName, { published_at: string; count: number }>> = {
  ofac_addresses: { published_at: table.published_at, count: table.count },
  prohibited_jurisdictions: JURISDICTIONS,
}

const BY_ADDRESS: ReadonlyMap<string, ScreeningMatch> = new Map(
  table.rows.map(({ address, entity, programmes }) => [
    address,
    { list: 'ofac_addresses', name: entity, key: address, level: 'comprehensive', programmes },
  ]),
)

/** Whole days since the publication of a list. */
export function listAgeDays(list: ListName, now_ms: number): number {
  return Math.floor((now_ms - Date.parse(OFAC_LISTS[list].published_at)) / DAY_MS)
}

/**
 * Looks a subject up: an address of the EVM in OFAC's list (any case, CAIP-10 too), or a country or region among the prohibited
 * jurisdictions. Names of persons, companies and ENS are not screened, and the answer says so. Errs towards a match for places.
 */
export function screen(subject: string): Screened {
  const text = tidied(subject)
  const account = text.replace(/\s+/g, '').replace(DID, '')
  const address = readEvmAddress(SHORT_NAME.exec(account)?.[1] ?? account) ?? listedAmong(text)
  if (address !== null) return screenedAddress(address)
  const failed = failedAddress(text)
  if (failed !== null) return nothingScreened(failed.message, [failed])
  const place = readJurisdiction(text)
  if (place.kind === 'listed') return screenedPlace(place)
  if (place.kind === 'unlisted') return unlistedPlace(place)
  const what = place.unread.length === 0 ? 'This' : 'A part of this'
  const reason = `${what} is no EVM address and no country or region that is known here; names are not screened.`
  return nothingScreened(reason, unreadRemarks(place.unread))
}

/** A listed address that stands among other words, as it is copied out of a page. */
function listedAmong(text: string): EvmAddress | null {
  for (const [written] of text.matchAll(/\b0x[0-9a-f]{40}\b/gi)) if (BY_ADDRESS.has(written.toLowerCase())) return readEvmAddress(written)
  return null
}

function screenedAddress({ address, checksummed, checksum, chain_id }: EvmAddress): Screened {
  const match = BY_ADDRESS.get(address)
  const broken: ScreeningRemark = {
    code: 'bad_checksum',
    message: 'The capitals do not agree with EIP-55: a character may be wrong. The address was looked up as it stands.',
    expected: checksummed,
  }
  return {
    status: match === undefined ? 'no_match' : 'match',
    subject_kind: 'evm_address',
    normalized: address,
    reason: match === undefined ? 'The address is not on the list. That is no clearance.' : 'The address is on the SDN list of OFAC.',
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
    'The name of a prohibited jurisdiction stands among other words, or before a state or another country: a person must decide which place is meant.',
}
const PLACE = { subject_kind: 'jurisdiction', chain_id: null, list: 'prohibited_jurisdictions' } as const

type Reading<Kind> = Extract<JurisdictionReading, { kind: Kind }>

/** Decided by the gravest place; with a match, what else was written changes nothing. */
function screenedPlace({ gravest, places, unread }: Reading<'listed'>): Screened {
  const { status, reason } = gravest.level === 'comprehensive' && !gravest.meant ? NAMED : PLACE_WORDS[gravest.level]
  const matches = places.map(placeMatch)
  return { ...PLACE, status, normalized: gravest.code, reason, matches, findings: status === 'match' ? [] : unreadRemarks(unread) }
}

function placeMatch({ code, level, name, programme }: Jurisdiction): ScreeningMatch {
  return { list: 'prohibited_jurisdictions', name, key: code, level, programmes: [programme] }
}

function matchOf(code: string): ScreeningMatch[] {
  const row = BY_CODE.get(code)
  return row === undefined ? [] : [placeMatch(row)]
}

function unlistedPlace({ countries, listed_regions, unread }: Reading<'unlisted'>): Screened {
  const names = countries.map(({ name }) => name).join(' and ')
  const normalized = countries.map(({ code }) => code).join(', ')
  if (listed_regions.length > 0) {
    const regions = listed_regions.map((code) => `${BY_CODE.get(code)?.name ?? code} (${code})`).join(', ')
    const reason = `Regions of ${names} are on the list: ${regions}. The country alone does not say whether the place lies in one of them.`
    return {
      ...PLACE,
      status: 'needs_review',
      normalized,
      reason,
      matches: listed_regions.flatMap(matchOf),
      findings: unreadRemarks(unread),
    }
  }
  const reason = `${names} ${countries.length === 1 ? 'is' : 'are'} not on the list of jurisdictions. That is no clearance.`
  return { ...PLACE, status: 'no_match', normalized, reason, matches: [], findings: unreadRemarks(unread) }
}

/** The answer says nothing about what was not read. */
function unreadRemarks(unread: readonly string[]): ScreeningRemark[] {
  const message = `No place that is known here, and searched for listed names only: ${unread.map((part) => `"${part}"`).join(', ')}.`
  return unread.length === 0 ? [] : [{ code: 'not_resolved', message, expected: null }]
}

/** What was meant as an account of a chain, and cannot be looked up. */
function failedAddress(text: string): ScreeningRemark | null {
  const remark = (code: ScreeningRemark['code'], message: string): ScreeningRemark => ({ code, message, expected: null })
  if (/^(?:0x|(?:did:pkh:)?eip155:)/i.test(text)) {
    return remark('bad_structure', 'An address of the EVM is 0x and 40 hexadecimal digits; nothing was looked up.')
  }
  if (/^[^\s:]+\.eth$/i.test(text)) return remark('not_resolved', 'ENS names are not resolved; send the address.')
  if (/^[a-z0-9-]{3,8}:[\w-]{1,32}:\S+$/i.test(text)) return remark('bad_prefix', 'Only accounts of the namespace eip155 can be looked up.')
  return null
}

function nothingScreened(reason: string, findings: ScreeningRemark[]): Screened {
  return { status: 'not_screened', subject_kind: 'unknown', normalized: null, reason, matches: [], findings, chain_id: null, list: null }
}
