import { countryByName, foldName } from '../checks/place-names.ts'
import { OFAC_LIST_DAYS, ageInDays, type Screening } from '../checks/ofac.ts'
import { datasetDate } from '../datasets/table.ts'
import { NAME_LIST_IDS, NAME_LIST_TITLES, type NameListId, type NameRow } from '../datasets/sanctions-lists.ts'
import { SCORE_MIN, type NameList, type NameMatch } from './name-index.ts'
import { readName } from './name-words.ts'

/**
 * The answer about a name: possible matches with their explanation, the lists that were searched, and those that were not. It never says that a
 * person or an organisation is on a list.
 */

/** Version of the algorithm of docs/name-screening.md, with its tables. */
const NAME_SCREENING = 'NSA-1'

/** Points that a match loses if the date of birth, or the country, is another. An equal name stays a possible match. */
const BIRTH_DIFFERS = 10
const COUNTRY_DIFFERS = 3
/** Dates of birth of lists are often estimates: this many years apart they do not differ. */
const BIRTH_YEARS_APART = 2
/** Matches that an answer contains. */
const NAME_MATCHES_MAX = 10

interface NameQuery {
  name: string
  /** Alpha-2 code; null if it was not given. */
  country: string | null
  /** YYYY or YYYY-MM-DD; null if it was not given. */
  birth_date: string | null
}

/** `unknown` if the list does not state it; null if it was not given. */
type Agreement = 'agrees' | 'differs' | 'unknown' | null

interface NameCandidate extends Pick<NameMatch, 'words' | 'given_alone' | 'listed_alone'> {
  list: NameListId
  list_title: string
  entry: string
  link: string
  kind: NameRow['kind']
  /** As the publisher writes it. */
  name: string
  strength: NameMatch['name']['strength']
  /** 85 to 100 before the deductions for country and date of birth. */
  score: number
  country: Agreement
  birth_date: Agreement
  programmes: string[]
}

interface NameResult {
  /** Possible matches before the list is cut to `NAME_MATCHES_MAX`. */
  total: number
  candidates: NameCandidate[]
}

/** Possible matches on all lists, best first. Errs towards a match. */
async function screenName(lists: readonly NameList[], query: NameQuery): Promise<NameResult> {
  const found: NameCandidate[] = []
  for (const { id, index } of lists) {
    for (const match of (await index()).search(query.name)) {
      const candidate = candidateOf(id, match, query)
      if (candidate.score >= SCORE_MIN) found.push(candidate)
    }
  }
  // The sort is stable: equal scores stay in the order of the lists.
  found.sort((one, other) => other.score - one.score)
  return { total: found.length, candidates: found.slice(0, NAME_MATCHES_MAX) }
}

function candidateOf(list: NameListId, match: NameMatch, query: NameQuery): NameCandidate {
  const { row, name, words, given_alone, listed_alone } = match
  const country = query.country === null ? null : countryAgreement(row, query.country)
  const birth_date = query.birth_date === null ? null : birthAgreement(row, query.birth_date)
  const lost = (birth_date === 'differs' ? BIRTH_DIFFERS : 0) + (country === 'differs' ? COUNTRY_DIFFERS : 0)
  return {
    list,
    list_title: NAME_LIST_TITLES[list],
    entry: row.id,
    link: entryLink(list, row.id),
    kind: row.kind,
    name: name.text,
    strength: name.strength,
    score: match.score - lost,
    words,
    given_alone,
    listed_alone,
    country,
    birth_date,
    programmes: row.programmes,
  }
}

function countryAgreement({ countries: listed }: NameRow, country: string): Agreement {
  const codes = listed.map((text) => countryByName(foldName(text))).filter((code) => code !== null)
  if (codes.length === 0) return 'unknown'
  return codes.includes(country) ? 'agrees' : 'differs'
}

function birthAgreement({ births }: NameRow, birth_date: string): Agreement {
  if (births.length === 0) return 'unknown'
  const year = Number(birth_date.slice(0, 4))
  const near = births.some((birth) => {
    const [from = 0, to = from] = birth.split('/').map((text) => Number(text.slice(0, 4)))
    return year >= from - BIRTH_YEARS_APART && year <= to + BIRTH_YEARS_APART
  })
  return near ? 'agrees' : 'differs'
}

/** Page of an entry at its publisher; of the list where entries have none. */
function entryLink(list: NameListId, id: string): string {
  switch (list) {
    case 'ofac_names':
      return `https://sanctionssearch.ofac.treas.gov/Details.aspx?id=${encodeURIComponent(id)}`
    case 'un_names':
      return 'https://main.un.org/securitycouncil/en/content/un-sc-consolidated-list'
    case 'eu_names':
      return 'https://webgate.ec.europa.eu/fsd/fsf'
    case 'uk_names':
      return 'https://www.gov.uk/government/publications/the-uk-sanctions-list'
  }
}

interface SearchedList {
  name: NameListId
  title: string
  published_at: string
  count: number
  age_days: number
  limit_days: number
  stale: boolean
  sha256: string
}

export interface NamesAnswer {
  /** `no_match` on lists of at most 30 days only; `not_checked` if no list is loaded or the name has no letters. */
  status: 'possible_match' | 'no_match' | 'no_match_on_stale_list' | 'not_checked'
  reason: string
  algorithm: string
  total: number
  matches: NameCandidate[]
  lists: SearchedList[]
  not_loaded: NameListId[]
}

/** Searches all lists of a set. A possible match is always reported; the age of the lists counts where there is none. */
export async function answerName(screening: Screening, query: NameQuery, now_ms: number): Promise<NamesAnswer> {
  const loaded = await screening.names()
  const lists = loaded.map((list) => searchedList(list, now_ms))
  const not_loaded = NAME_LIST_IDS.filter((id) => !loaded.some((list) => list.id === id))
  const empty = readName(query.name).length === 0
  const { total, candidates: matches } = empty ? { total: 0, candidates: [] } : await screenName(loaded, query)
  const facts = { algorithm: NAME_SCREENING, total, matches, lists, not_loaded }
  const [best] = matches
  if (best !== undefined) return { status: 'possible_match', reason: matchReason(best, total), ...facts }
  if (loaded.length === 0) return { status: 'not_checked', reason: `Not checked: names. ${NO_LISTS}`, ...facts }
  if (empty) return { status: 'not_checked', reason: 'Not checked: the name has no letters and digits.', ...facts }
  const searched = `the ${lists.map(({ title }) => title).join(', the ')}`
  const missing =
    not_loaded.length === 0 ? '' : ` Not searched, because not loaded: the ${not_loaded.map((id) => NAME_LIST_TITLES[id]).join(', the ')}.`
  const old = lists.filter(({ stale }) => stale)
  if (old.length > 0) {
    const ages = old.map(({ title, age_days }) => `the ${title} is ${age_days} days old`).join(', ')
    const reason = `No name like it was found, but ${ages}: nothing follows from that.${missing}`
    return { status: 'no_match_on_stale_list', reason, ...facts }
  }
  return { status: 'no_match', reason: `No name like it on ${searched}. This is not a clearance.${missing}`, ...facts }
}

/** For operators and callers, where names were asked for. */
export const NO_LISTS = 'No list of names is loaded. The operator loads them with: assay data refresh, or assay data import <list.xml>.'

function matchReason({ name, list_title, entry, score }: NameCandidate, total: number): string {
  const more = total === 1 ? '' : ` (${total} possible matches in all)`
  return `Possible match: the name is like "${name}" on the ${list_title} (entry ${entry}), ${score} of 100${more}. A person must compare the two.`
}

function searchedList({ id, published_at, count, sha256 }: NameList, now_ms: number): SearchedList {
  const age_days = ageInDays(published_at, now_ms)
  const stale = age_days > OFAC_LIST_DAYS
  return { name: id, title: NAME_LIST_TITLES[id], published_at, count, age_days, limit_days: OFAC_LIST_DAYS, stale, sha256 }
}

/** Dates and hashes of the searched lists for `data_as_of`. */
export function namesAsOf({ lists }: Pick<NamesAnswer, 'lists'>): Record<string, string> {
  return Object.fromEntries(lists.map(({ name, published_at, sha256 }) => [name, datasetDate(published_at, sha256)]))
}

/** Message with which a live deployment refuses an answer from old lists. */
export function staleNamesMessage({ lists }: Pick<NamesAnswer, 'lists'>): string {
  const old = lists.filter(({ stale }) => stale).map(({ name, age_days }) => `${name} is ${age_days} days old`)
  return (
    `No name like it was found, but ${old.join(', ')}, more than ${OFAC_LIST_DAYS}, so no answer is given and nothing was charged. The operator refreshes ` +
    'the lists with: assay data refresh, or assay data import <list.xml>; ASSAY_DATA_FEEDS=on keeps them fresh'
  )
}
