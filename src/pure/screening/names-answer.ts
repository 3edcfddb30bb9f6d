import { OFAC_LIST_DAYS, ageInDays, type Screening } from '../checks/ofac.ts'
import { datasetDate } from '../datasets/table.ts'
import { NAME_LIST_IDS, NAME_LIST_TITLES, type NameListId } from '../datasets/sanctions-lists.ts'
import { NAME_SCREENING, screenName, type NameCandidate, type NameList, type NameQuery } from './name-index.ts'
import { readName } from './name-words.ts'

/** The answer about a name: possible matches, the lists that were searched, and those that were not. */

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
