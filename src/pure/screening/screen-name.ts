import {
  entryLink,
  NAME_LIST_TITLES,
  type EntryKind,
  type NameListId,
  type NameRow,
  type NameStrength,
} from '../datasets/sanctions-lists.ts'
import { englishNames, foldName } from '../checks/place-names.ts'
import { once } from '../once.ts'
import { SCORE_MIN, type NameIndex, type NameMatch, type WordMatch } from './name-index.ts'

/** Screening of a name against lists: possible matches with their explanation. It never says that a person or an organisation is on a list. */

/** Version of the algorithm of docs/name-screening.md, with its tables. */
export const NAME_SCREENING = 'NSA-1'

/** Points that a match loses if the date of birth, or the country, is another. An equal name stays a possible match. */
const BIRTH_DIFFERS = 10
const COUNTRY_DIFFERS = 3
/** Dates of birth of lists are often estimates: this many years apart they do not differ. */
const BIRTH_YEARS_APART = 2
/** Matches that an answer contains. */
const NAME_MATCHES_MAX = 10

export interface NameQuery {
  name: string
  /** Alpha-2 code; null if it was not given. */
  country: string | null
  /** YYYY or YYYY-MM-DD; null if it was not given. */
  birth_date: string | null
}

/** A list of names with its facts. The index is built on first use. */
export interface NameList {
  id: NameListId
  published_at: string
  count: number
  /** SHA-256 of the canonical text of the list. */
  sha256: string
  index(): Promise<NameIndex>
}

/** `unknown` if the list does not state it; null if it was not given. */
type Agreement = 'agrees' | 'differs' | 'unknown' | null

export interface NameCandidate {
  list: NameListId
  list_title: string
  entry: string
  link: string
  kind: EntryKind
  /** As the publisher writes it. */
  name: string
  strength: NameStrength
  /** 85 to 100 before the deductions for country and date of birth. */
  score: number
  words: WordMatch[]
  given_alone: string[]
  listed_alone: string[]
  country: Agreement
  birth_date: Agreement
  programmes: string[]
}

export interface NameResult {
  /** Possible matches before the list is cut to `NAME_MATCHES_MAX`. */
  total: number
  candidates: NameCandidate[]
}

/** Possible matches on all lists, best first. Errs towards a match. */
export async function screenName(lists: readonly NameList[], query: NameQuery): Promise<NameResult> {
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

const countries = once(englishNames)

/** Alpha-2 code of a country by its code or English name; null if it is none, or could be two. */
function readCountry(text: string): string | null {
  return countries().get(foldName(text)) || null
}

function countryAgreement({ countries: listed }: NameRow, country: string): Agreement {
  const codes = listed.map(readCountry).filter((code) => code !== null)
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

/** Does work in slices, with a pause after each, so that other work continues. */
export async function buildInSlices<Result>(steps: Generator<void, Result>, pause: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}
