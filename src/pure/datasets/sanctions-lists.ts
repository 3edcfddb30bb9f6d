import { isObject } from '../is-object.ts'
import type { DatasetDefinition } from './definition.ts'

/** Datasets of sanctions lists: names, one row for each entry of a publisher's list, and addresses of chains. */

const ENTRY_KINDS = ['person', 'organisation', 'vessel', 'aircraft', 'unknown'] as const
type EntryKind = (typeof ENTRY_KINDS)[number]

/** `weak` is an alias that the publisher marks as of low quality: a nickname, or a name that is common. */
const NAME_STRENGTHS = ['primary', 'strong', 'weak'] as const
type NameStrength = (typeof NAME_STRENGTHS)[number]

export interface ListedName {
  /** As the publisher writes it, in any script. */
  text: string
  strength: NameStrength
}

export interface NameRow {
  /** Identifier of the entry at its publisher. */
  id: string
  kind: EntryKind
  names: ListedName[]
  /** Nationalities, citizenships and countries of addresses: names or ISO 3166-1 codes, as the publisher writes them. */
  countries: string[]
  /** Dates of birth: YYYY, YYYY-MM-DD, or YYYY/YYYY for a range of years. */
  births: string[]
  programmes: string[]
}

const NAMES_MAX = 500
const TEXT_CHARS_MAX = 1_000
const BIRTH = /^\d{4}(?:-\d{2}-\d{2}|\/\d{4})?$/

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX
const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.length <= NAMES_MAX && value.every(isText)

function isName(value: unknown): value is ListedName {
  return isObject(value) && isText(value['text']) && NAME_STRENGTHS.includes(value['strength'] as NameStrength)
}

function isNameRow(value: unknown): value is NameRow {
  if (!isObject(value)) return false
  const { id, kind, names, countries, births, programmes } = value
  return (
    isText(id) &&
    ENTRY_KINDS.includes(kind as EntryKind) &&
    Array.isArray(names) &&
    names.length > 0 &&
    names.length <= NAMES_MAX &&
    names.every(isName) &&
    areTexts(countries) &&
    areTexts(births) &&
    births.every((birth) => BIRTH.test(birth)) &&
    areTexts(programmes)
  )
}

type ListFacts = Pick<DatasetDefinition<NameRow>, 'id' | 'source_urls' | 'licence' | 'rows_min' | 'rows_max' | 'present'>

/** Age in days after which "no match" on a list of names is not relied on, as for addresses. */
const LIMIT_DAYS = 30

function listOfNames(facts: ListFacts): DatasetDefinition<NameRow> {
  return {
    ...facts,
    schema: `assay/${facts.id.replace('_', '-')}/1`,
    limit_days: LIMIT_DAYS,
    removed_share_max: 0.1,
    absent: [],
    isRow: isNameRow,
    key: ({ id }) => id,
  }
}

/**
 * The SDN list had 19,202 entries in 2026. Entries 36 and 306 (Cuba, since 1986) and 27307 (Lazarus Group, since 2019) are on each list; a
 * document without them is not this list.
 */
const ofacNames = listOfNames({
  id: 'ofac_names',
  source_urls: ['https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ENHANCED.XML'],
  licence: 'Public domain (work of the US government, 17 U.S.C. § 105)',
  rows_min: 10_000,
  rows_max: 60_000,
  present: ['36', '306', '27307'],
})

/** 1,003 entries on 2026-02-27. Al-Qaida and the Haji Khairullah money exchange are the sentinels. */
const unNames = listOfNames({
  id: 'un_names',
  source_urls: ['https://scsanctions.un.org/resources/xml/en/consolidated.xml'],
  licence: 'Terms of use of un.org: copies for own use; not redistributed with releases',
  rows_min: 600,
  rows_max: 10_000,
  present: ['QDe.004', 'TAe.010'],
})

/** 6,234 entries in 2026. Not tried on a real file; the document is behind a URL with a token, so it comes from a mirror or an import. */
const euNames = listOfNames({
  id: 'eu_names',
  source_urls: ['https://data.europa.eu/data/datasets/consolidated-list-of-persons-groups-and-entities-subject-to-eu-financial-sanctions'],
  licence: 'Commission Decision 2011/833/EU (reuse with source)',
  rows_min: 3_000,
  rows_max: 30_000,
  present: ['EU.27.28'],
})

/** 6,315 entries on 2026-07-31, the first of which is AFG0001. Not tried on a real file. */
const ukNames = listOfNames({
  id: 'uk_names',
  source_urls: ['https://sanctionslist.fcdo.gov.uk/docs/UK-Sanctions-List.xml'],
  licence: 'Open Government Licence v3.0',
  rows_min: 3_000,
  rows_max: 30_000,
  present: ['AFG0001'],
})

export const NAME_LISTS = { ofac_names: ofacNames, un_names: unNames, eu_names: euNames, uk_names: ukNames } as const

export type NameListId = keyof typeof NAME_LISTS

export const NAME_LIST_IDS = Object.keys(NAME_LISTS) as NameListId[]

/** Publisher and list, for people. */
export const NAME_LIST_TITLES: Readonly<Record<NameListId, string>> = {
  ofac_names: 'OFAC SDN list',
  un_names: 'UN Security Council consolidated list',
  eu_names: 'EU consolidated list of financial sanctions',
  uk_names: 'UK sanctions list',
}

/** Row without empty and repeated values; null without a name. Longer lists than the bounds are cut from the end, where weak aliases are. */
export function nameRow(row: NameRow): NameRow | null {
  const names = new Map<string, ListedName>()
  for (const { text, strength } of row.names) {
    const clean = text.replace(/\s+/g, ' ').trim().slice(0, TEXT_CHARS_MAX)
    if (clean !== '' && !names.has(clean)) names.set(clean, { text: clean, strength })
  }
  const order = [...names.values()].sort((one, other) => NAME_STRENGTHS.indexOf(one.strength) - NAME_STRENGTHS.indexOf(other.strength))
  const texts = (values: readonly string[]) =>
    [...new Set(values.map((value) => value.replace(/\s+/g, ' ').trim().slice(0, TEXT_CHARS_MAX)))].filter((value) => value !== '')
  if (order.length === 0 || row.id === '') return null
  return {
    id: row.id,
    kind: row.kind,
    names: order.slice(0, NAMES_MAX),
    countries: texts(row.countries).slice(0, NAMES_MAX),
    births: texts(row.births)
      .filter((birth) => BIRTH.test(birth))
      .slice(0, NAMES_MAX),
    programmes: texts(row.programmes).slice(0, NAMES_MAX),
  }
}

export interface OfacRow {
  /** 0x and 40 hexadecimal digits in lower case, or an address of another chain as the publisher writes it. */
  address: string
  entity: string
  programmes: string[]
}

/** Of the Lazarus Group, on the list since April 2022; a source without them is not this list. */
export const PRESENT = ['0x098b716b8aaf21512996dc57eb0615e2383e2f96', '0xa0e1c89ef1a489c9c7de96311ed5ce5d32c20e4b']
/** Contracts of Tornado Cash (router, 0.1 ETH and 100 ETH pools), removed from the list on 2025-03-21. */
export const ABSENT = [
  '0xd90e2f925da726b50c4ed8d0fb90ad053324f31b',
  '0x12d66f87a04a9e220743712ce6d9bb1b5616b8fc',
  '0xa160cdab225685da1d56aa342ad8841c3b53f291',
]

/** True for 0x and 40 hexadecimal digits of any case. */
export function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text)
}

export const ofacAddresses: DatasetDefinition<OfacRow> = {
  id: 'ofac_addresses',
  schema: 'assay/ofac-addresses/1',
  source_urls: ['https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ENHANCED.XML'],
  licence: 'Public domain (work of the US government, 17 U.S.C. § 105)',
  limit_days: 30,
  rows_min: 60,
  rows_max: 5_000,
  removed_share_max: 0.2,
  present: PRESENT,
  absent: ABSENT,
  isRow: (value): value is OfacRow =>
    isObject(value) &&
    typeof value['address'] === 'string' &&
    /^[A-Za-z0-9]{20,120}$/.test(value['address']) &&
    (!isEvmAddress(value['address']) || value['address'] === value['address'].toLowerCase()) &&
    typeof value['entity'] === 'string' &&
    value['entity'] !== '' &&
    Array.isArray(value['programmes']) &&
    value['programmes'].every((programme) => typeof programme === 'string'),
  key: ({ address }) => address,
}
