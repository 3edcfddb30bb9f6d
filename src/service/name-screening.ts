import type { Clock, SteadyClock } from '../ports/clock.ts'
import type { EngineAnswer, EngineFault, EngineList, EngineMatch, NameScreening } from '../ports/name-screening.ts'
import { Breaker } from '../pure/breaker.ts'
import { SourceDown } from './catalogue/define.ts'
import { isUnread, type NamesAnswer, type NameQuery, type NameSource, UNREAD_ANSWER } from './catalogue/names.ts'
import { screeningLimits } from './limits.ts'

/** Screening of the names of parties by the operator's engine. */

const FAULTS: Readonly<Record<EngineFault | 'paused', string>> = {
  timeout: 'did not answer in time',
  down: 'does not answer',
  refused: 'refused the request',
  unreadable: 'answered in a form that cannot be read',
  no_lists: 'has loaded no list',
  paused: 'failed several times and is not asked for a while',
}

export function createNameSource(engine: NameScreening, clock: Clock & SteadyClock): NameSource {
  const breaker = new Breaker(screeningLimits.breaker, clock)
  const search = async (name: string): Promise<EngineAnswer | { kind: 'not_reached'; fault: 'paused' }> => {
    const ticket = breaker.take()
    if (ticket === null) return { kind: 'not_reached', fault: 'paused' }
    const answer = await engine.search(name, AbortSignal.timeout(screeningLimits.search_ms))
    if (answer.kind === 'screened') breaker.succeeded(ticket)
    else breaker.failed(ticket)
    return answer
  }
  return {
    screens: true,
    async screen(query, now_ms) {
      if (isUnread(query.name)) return UNREAD_ANSWER
      const answer = await search(query.name)
      if (answer.kind === 'not_reached') {
        throw new SourceDown(
          `The name could not be screened: the engine ${engine.engine} ${FAULTS[answer.fault]}. Nothing was charged; ask again, or leave out the name.`,
          'screening',
        )
      }
      return screenedAnswer(engine, answer, query, now_ms)
    },
  }
}

function screenedAnswer(
  { engine, threshold }: NameScreening,
  { engine_version, lists, matches }: Extract<EngineAnswer, { kind: 'screened' }>,
  { birth_date }: NameQuery,
  now_ms: number,
): NamesAnswer {
  const best = bestMatches(matches.filter(({ score }) => score >= threshold))
  const dated = lists.map((list) => datedList(list, now_ms))
  const old = dated.filter(({ stale }) => stale)
  const [first] = best
  return {
    status: first === undefined ? 'no_match' : 'possible_match',
    reason: first === undefined ? noMatchReason(dated.length, old) : matchReason(first, best.length),
    engine,
    engine_version,
    threshold,
    lists: dated,
    matches: best.map((match) => ({ ...match, birth_date: birth_date === null ? null : agreement(match.birth_dates, birth_date) })),
  }
}

/** Each entry once, the best first. */
function bestMatches(matches: readonly EngineMatch[]): EngineMatch[] {
  const sorted = matches.toSorted((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
  const first = (match: EngineMatch) => sorted.find(({ list, id }) => list === match.list && id === match.id)
  return sorted
    .filter((match) => first(match) === match)
    .slice(0, screeningLimits.matches)
    .map((match) => ({ ...match, score: Math.round(match.score * 10_000) / 10_000 }))
}

function datedList({ name, date, entries }: EngineList, now_ms: number): NamesAnswer['lists'][number] {
  const age_days = date === null ? null : Math.floor((now_ms - Date.parse(date)) / DAY_MS)
  return { name, date, entries, age_days, stale: age_days === null || age_days > screeningLimits.list_days }
}

const DAY_MS = 86_400_000

function matchReason({ name, list, score }: EngineMatch, count: number): string {
  const others = count === 1 ? '' : ` ${count - 1} more ${count === 2 ? 'entry is' : 'entries are'} possible matches.`
  return `The name is like "${name}" (${list}, score ${Math.round(score * 100)} of 100): a person must compare them.${others}`
}

function noMatchReason(lists: number, old: NamesAnswer['lists']): string {
  if (old.length === 0) return `No entry of ${lists === 1 ? 'the list' : `${lists} lists`} is like the name. This is not a clearance.`
  const shown = old.slice(0, 3).map(({ name, date }) => `${name} of ${date ?? 'an unknown date'}`)
  return `No entry is like the name, but a list is older than ${screeningLimits.list_days} days (${shown.join(', ')}): nothing follows from that.`
}

/** Compares years, as lists often state no more; a year apart is common in lists. */
function agreement(births: readonly string[], given: string): 'agrees' | 'differs' | 'unknown' {
  const years = births.map((birth) => Number(birth.slice(0, 4))).filter((year) => year > 1800)
  if (years.length === 0) return 'unknown'
  return years.some((year) => Math.abs(year - Number(given.slice(0, 4))) <= 1) ? 'agrees' : 'differs'
}
