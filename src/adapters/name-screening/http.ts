import type { EngineAnswer, EngineFault, EngineList, EngineMatch, NameScreening, ScreeningEngine } from '../../ports/name-screening.ts'
import { cutText } from '../../pure/cut-text.ts'
import { isObject, jsonValue } from '../../pure/is-object.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'
import { screeningLimits } from '../../service/limits.ts'

/**
 * Asks the operator's screening engine over HTTP. An answer counts only in the engine's own form; everything else is `not_reached`, so that a broken engine
 * or a proxy in front of it never makes a name look clean. Only the name is sent: a birth date or country of the party is its own word and must not lower a score.
 */

type Json = Readonly<Record<string, unknown>>

class EngineError extends Error {
  readonly fault: EngineFault

  constructor(fault: EngineFault) {
    super(fault)
    this.fault = fault
  }
}

interface Engine {
  threshold: number
  search(ask: Ask, name: string): Promise<Omit<Extract<EngineAnswer, { kind: 'screened' }>, 'kind'>>
}

/** Sends a request below the base URL and returns the JSON of its answer. */
type Ask = (path: string, body?: Json) => Promise<Json>

const ENGINES: Readonly<Record<ScreeningEngine, Engine>> = {
  watchman: { threshold: screeningLimits.threshold.watchman, search: searchWatchman },
  yente: { threshold: screeningLimits.threshold.yente, search: searchYente },
}

export function createNameScreening(engine: ScreeningEngine, base: string): NameScreening {
  const { threshold, search } = ENGINES[engine]
  const start = base.endsWith('/') ? base : `${base}/`
  return {
    engine,
    threshold,
    async search(name, signal) {
      const ask: Ask = (path, body) => request(new URL(path, start), signal, body)
      try {
        const answer = await search(ask, name)
        return answer.lists.length === 0 ? { kind: 'not_reached', fault: 'no_lists' } : { kind: 'screened', ...answer }
      } catch (error) {
        const fault = error instanceof EngineError ? error.fault : 'down'
        return { kind: 'not_reached', fault: signal.aborted ? 'timeout' : fault }
      }
    },
  }
}

async function request(url: URL, signal: AbortSignal, body?: Json): Promise<Json> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
  const response = await fetch(url, { ...sent, headers, signal, redirect: 'manual' })
  const text = await readBoundedText(response.body, screeningLimits.answer_bytes)
  if (response.status >= 500) throw new EngineError('down')
  if (response.status !== 200) throw new EngineError('refused')
  const value = text === null ? null : jsonValue(text)
  if (!isObject(value)) throw new EngineError('unreadable')
  return value
}

function unreadable(): never {
  throw new EngineError('unreadable')
}

/** Kinds of parties that are paid. Since version 0.52 a search names one kind. */
const WATCHMAN_TYPES = ['person', 'business', 'organization'] as const

/**
 * moov watchman, v2 (github.com/moov-io/watchman v0.52.0, internal/search/api_search.go and pkg/search/models.go): GET v2/search answers `query` and
 * `entities`, each with `name`, `entityType`, `sourceList`, `sourceID`, `sanctionsInfo.programs`, `person.birthDate` and `match` from 0 to 1; GET v2/listinfo
 * answers `lists` with the number of entries of each, and `endedAt`, the end of the last download.
 */
async function searchWatchman(ask: Ask, name: string) {
  const searches = WATCHMAN_TYPES.map(async (type) => {
    const query = new URLSearchParams({
      name,
      type,
      limit: String(screeningLimits.matches),
      minMatch: String(screeningLimits.threshold.watchman),
    })
    return { type, answer: await ask(`v2/search?${query.toString()}`) }
  })
  const [info, ...answers] = await Promise.all([ask('v2/listinfo'), ...searches])
  const { lists, endedAt, version } = info
  if (!isObject(lists) || typeof endedAt !== 'string') unreadable()
  // Before the first download the time is that of year 1.
  const date = dayOf(endedAt)
  return {
    engine_version: typeof version === 'string' && version !== '' ? shortText(version) : null,
    lists: Object.entries(lists).map(([list, entries]): EngineList => ({ name: shortText(list), date, entries: countOf(entries) })),
    matches: answers.flatMap(({ type, answer }) => watchmanMatches(answer, type)),
  }
}

function watchmanMatches({ query, entities }: Json, type: string): EngineMatch[] {
  if (!isObject(query) || query['entityType'] !== type) unreadable()
  // Go writes an empty slice as null.
  if (entities === null) return []
  if (!Array.isArray(entities)) unreadable()
  return entities.map((entity: unknown): EngineMatch => {
    if (!isObject(entity)) unreadable()
    const { sourceList, sourceID, match, sanctionsInfo, person } = entity
    const id = textOf(sourceID)
    const list = textOf(sourceList)
    return {
      name: textOf(entity['name']),
      score: scoreOf(match),
      list,
      id,
      programmes: isObject(sanctionsInfo) ? textsOf(sanctionsInfo['programs'] ?? []) : [],
      birth_dates: isObject(person) && typeof person['birthDate'] === 'string' ? [person['birthDate'].slice(0, 10)] : [],
      url: list === 'us_ofac' && /^\d{1,9}$/.test(id) ? `https://sanctionssearch.ofac.treas.gov/Details.aspx?id=${id}` : null,
    }
  })
}

/** Collection of OpenSanctions with the sanctions lists of all publishers. */
const YENTE_DATASET = 'sanctions'

/**
 * yente 5.5 (PyPI, yente/routers/match.py and yente/data/common.py): POST match/{dataset} with `queries` answers `responses`, each with `results` that have
 * `id`, `caption`, `properties`, `datasets`, `score` from 0 to 1 and `match`; GET catalog answers `datasets` with the `index_version` of those that are indexed,
 * which begins with the time of the export, and `index_stale`.
 */
async function searchYente(ask: Ask, name: string) {
  const query = new URLSearchParams({ limit: String(screeningLimits.matches), threshold: String(screeningLimits.threshold.yente) })
  const [catalog, answer] = await Promise.all([
    ask('catalog'),
    ask(`match/${YENTE_DATASET}?${query.toString()}`, { queries: { party: { schema: 'LegalEntity', properties: { name: [name] } } } }),
  ])
  const { datasets } = catalog
  const { responses } = answer
  if (!Array.isArray(datasets) || !isObject(responses) || !isObject(responses['party'])) unreadable()
  const { status, results } = responses['party']
  if (status !== 200 || !Array.isArray(results)) unreadable()
  const lists = datasets.filter(isObject).flatMap((dataset): EngineList[] => {
    const [, year, month, day] =
      /^(\d{4})(\d{2})(\d{2})/.exec(typeof dataset['index_version'] === 'string' ? dataset['index_version'] : '') ?? []
    if (dataset['index_version'] === null || dataset['index_version'] === undefined) return []
    return [
      {
        name: textOf(dataset['name']),
        date: year === undefined ? null : dayOf(`${year}-${month ?? ''}-${day ?? ''}`),
        entries: countOf(dataset['entity_count'] ?? null),
      },
    ]
  })
  return {
    engine_version: null,
    lists: lists.slice(0, screeningLimits.lists),
    matches: results.flatMap((result: unknown) => yenteMatch(result)),
  }
}

function yenteMatch(result: unknown): EngineMatch[] {
  if (!isObject(result) || typeof result['match'] !== 'boolean' || !isObject(result['properties'])) unreadable()
  const score = scoreOf(result['score'])
  if (!result['match'] && score < screeningLimits.threshold.yente) return []
  const { caption, id, datasets, properties } = result
  const identifier = textOf(id)
  return [
    {
      name: textOf(caption),
      score,
      list: textsOf(datasets).join(', ').slice(0, screeningLimits.text_chars),
      id: identifier,
      programmes: [...new Set([...textsOf(properties['programId'] ?? []), ...textsOf(properties['program'] ?? [])])],
      birth_dates: textsOf(properties['birthDate'] ?? []),
      url: `https://www.opensanctions.org/entities/${encodeURIComponent(identifier)}/`,
    },
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value !== '' ? shortText(value) : unreadable()
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) unreadable()
  return value.slice(0, screeningLimits.texts).map(textOf)
}

/** Without characters that would change how a page or a terminal shows the text. */
function shortText(text: string): string {
  return cutText(text.replace(/[\p{Cc}\p{Cf}]/gu, ''), screeningLimits.text_chars)
}

function scoreOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : unreadable()
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function dayOf(time: string): string | null {
  const day = time.slice(0, 10)
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && day >= '2000' && !Number.isNaN(Date.parse(day)) ? day : null
}
