import type { Clock, SteadyClock } from '../ports/clock.ts'
import { createNameScreening } from '../adapters/name-screening/http.ts'
import { type NameSource, noNameScreening } from '../service/catalogue/names.ts'
import { createNameSource } from '../service/name-screening.ts'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { datasetDefinition, isDatasetId, TABLE_IDS, TABLES } from '../pure/datasets/datasets.ts'
import { RELEASE_TABLES } from '../pure/datasets/release-tables.ts'
import { listAges, OFAC_LIST_DAYS, type Screening } from '../pure/checks/ofac.ts'
import { once } from '../pure/once.ts'
import { refreshAdvice } from '../pure/datasets/feeds.ts'
import type { Snapshot } from '../pure/datasets/definition.ts'
import { createFeedReader } from '../adapters/feeds/reader.ts'
import { guardedOpen, systemResolve } from '../adapters/public-https/guarded-request.ts'
import { createOutsideResolver } from '../adapters/public-https/outside-names.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { createRegisterReader } from '../adapters/registers/http.ts'
import type { FeedReader } from '../ports/datasets.ts'
import type { RegisterReader } from '../ports/registers.ts'
import type { Settings } from '../service/config.ts'
import { datasetLimits, registerLimits } from '../service/limits.ts'
import type { DatasetDescription } from '../surfaces/deps.ts'
import type { DatasetService } from '../service/datasets/dataset-service.ts'
import { StartError } from './identity.ts'

/** Metadata of the reference tables: those in `data/`, and newer snapshots from the store. */

const DATA_FOLDER = new URL('../../data/', import.meta.url)
const DAY_MS = 86_400_000
/** Age in days after which a table should be refreshed. */
const OLD_DAYS = 400

interface ReferenceTable {
  name: string
  schema: string
  source: string
  published_at: string | null
  compiled_at?: string | null
  retrieved_at: string
  /** Number of rows that the file states. */
  count: number
  rows: unknown[]
  age_days: number
  limit_days: number
}

function referenceTables(now_ms: number): ReferenceTable[] {
  const names = readdirSync(DATA_FOLDER).filter((name) => name.endsWith('.json'))
  return names.toSorted().map((name) => {
    const head = JSON.parse(readFileSync(new URL(name, DATA_FOLDER), 'utf8')) as Omit<ReferenceTable, 'name' | 'age_days' | 'limit_days'>
    const id = idOf(name)
    return { ...head, name, age_days: ageDays(id, head, now_ms), limit_days: limitDays(id) }
  })
}

/** Id of the table in a file of `data/`. */
function idOf(name: string): string {
  return name.replace('.json', '').replaceAll('-', '_')
}

function limitDays(id: string): number {
  if (isDatasetId(id)) return datasetDefinition(id).limit_days
  return screens(id) ? OFAC_LIST_DAYS : OLD_DAYS
}

/** A list whose age limits or marks clean answers. */
function screens(id: string): boolean {
  return id === 'prohibited_jurisdictions' || (isDatasetId(id) && TABLE_IDS.every((table) => table !== id))
}

type Dates = Pick<ReferenceTable, 'published_at' | 'compiled_at' | 'retrieved_at'>

/** Days since a list that screens was published. Other tables are as old as the last look at their source: a standard of 2007 may be in force. */
function ageDays(id: string, { published_at, compiled_at, retrieved_at }: Dates, now_ms: number): number {
  const date = screens(id) ? (published_at ?? compiled_at ?? retrieved_at) : retrieved_at
  return Math.floor((now_ms - Date.parse(date)) / DAY_MS)
}

/** Canonical texts of the tables of the release, by SHA-256: those in `data/`, and those that come with packages or in the code. */
function bundledTables() {
  const files = referenceTables(0).map(({ name, age_days: _age, limit_days, ...table }) => ({ id: idOf(name), limit_days, table }))
  const replaceable = TABLE_IDS.map((id) => ({ id: id as string, limit_days: TABLES[id].definition.limit_days, of: TABLES[id] }))
  const fixed = RELEASE_TABLES.map((of) => ({ id: of.definition.id, limit_days: OLD_DAYS, of }))
  const packaged = [...replaceable, ...fixed]
    .filter(({ id }) => files.every((file) => file.id !== id))
    .map(({ of, ...one }) => ({ ...one, table: of.bundled() }))
  const tables = [...files, ...packaged].map((one) => {
    const text = JSON.stringify(one.table)
    return { ...one, text, sha256: hashOf(text) }
  })
  return { tables, texts: new Map(tables.map(({ sha256, text }) => [sha256, text])) }
}

/** Files of the release whose rows are not as many as they state. */
export function brokenTables(): string[] {
  return referenceTables(0).flatMap(({ name, count, rows }) =>
    rows.length === count ? [] : [`${name} has ${rows.length} rows and should have ${count}.`],
  )
}

/** SHA-256 of each table of this release. */
export function referenceTableHashes(): ReadonlySet<string> {
  return new Set(bundledTables().texts.keys())
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Tables that checks use now, and their texts. The files of the release are read at the first use. */
export function describeDatasets(service: Pick<DatasetService, 'active' | 'screening' | 'text'>, now_ms: () => number) {
  const bundled = once(bundledTables)
  return {
    ages: () => datedLists(service.screening(), now_ms()),
    list(): DatasetDescription[] {
      const active = new Map(service.active().map((one) => [one.id as string, one]))
      const tables = new Map<string, TableInUse>(bundled().tables.map((table) => [table.id, table]))
      for (const [id, one] of active) tables.set(id, inUse(one))
      const ordered = [...tables.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))
      return ordered.map((table) => describeDataset(table, active.get(table.id), now_ms()))
    },
    /** By SHA-256, or the first 12 digits of it. */
    async text(sha256: string): Promise<string | null> {
      const { texts } = bundled()
      const whole = texts.has(sha256) ? sha256 : [...texts.keys()].find((one) => one.startsWith(sha256))
      return whole === undefined ? service.text(sha256) : (texts.get(whole) ?? null)
    },
  }
}

/** Ages of the lists that limit clean answers, and what an operator does about those that are not fresh. */
function datedLists(screening: Screening, now_ms: number) {
  return listAges(screening, now_ms).map((list) => ({ ...list, refresh: list.state === 'fresh' ? null : refreshAdvice(list.id) }))
}

type ActiveDataset = ReturnType<DatasetService['active']>[number]
type TableFacts = Omit<Snapshot, 'rows' | 'source_version' | 'notes'>

interface TableInUse {
  id: string
  sha256: string
  limit_days: number
  table: TableFacts
}

/** A snapshot of the store takes the place of the table of the release; some datasets have no such table. */
function inUse(active: ActiveDataset): TableInUse {
  const { id, sha256, snapshot } = active
  return { id, sha256, limit_days: datasetDefinition(id).limit_days, table: snapshot }
}

function describeDataset(
  { id, sha256, limit_days, table }: TableInUse,
  active: ActiveDataset | undefined,
  now_ms: number,
): DatasetDescription {
  const { schema, source, published_at, retrieved_at, count } = table
  const compiled_at = published_at === null ? (table.compiled_at ?? null) : null
  return {
    id,
    schema,
    source,
    published_at,
    compiled_at,
    retrieved_at,
    rows: count,
    sha256,
    origin: active?.origin ?? 'bundled',
    pinned: active?.pinned ?? false,
    age_days: ageDays(id, table, now_ms),
    limit_days,
    source_urls: isDatasetId(id) ? datasetDefinition(id).source_urls : [],
    licence: isDatasetId(id) ? datasetDefinition(id).licence : null,
  }
}

/** Reader of the feeds as the settings say. A mirror is named by the operator, so its own address may be private. */
export function feedReader({ ASSAY_DATA_MIRROR, ASSAY_NAME_SERVERS }: Pick<Settings, 'ASSAY_DATA_MIRROR' | 'ASSAY_NAME_SERVERS'>): {
  reader: FeedReader
  every_ms: number
} {
  const publishers = createOutsideResolver(systemClock, ASSAY_NAME_SERVERS)
  const mirror = URL.parse(ASSAY_DATA_MIRROR)
  const is_server = ASSAY_DATA_MIRROR === '' || /^https?:$/.test(mirror?.protocol ?? '')
  const reader = createFeedReader({
    mirror: ASSAY_DATA_MIRROR,
    open: async (url, signal, headers) => {
      const exempt = new Set(is_server && mirror !== null ? await addressesOf(mirror) : [])
      return guardedOpen(url, { resolve: exempt.size === 0 ? publishers : systemResolve, exempt }, signal, datasetLimits, headers)
    },
  })
  return { reader, every_ms: is_server ? datasetLimits.server_every_ms : datasetLimits.folder_every_ms }
}

/** Readers of the live registers that are on. Only a mirror of the settings may have a private address. Throws a StartError. */
export function registerReaders(settings: Settings): RegisterReader[] {
  // Apart from the names that callers give, so that these never wait for those.
  const publishers = createOutsideResolver(systemClock, settings.ASSAY_NAME_SERVERS)
  return settings.ASSAY_REGISTERS.map((id) => {
    const base = settings.ASSAY_REGISTER_URLS[id]
    const mirror = base === undefined ? null : new URL(base)
    const key = id === 'companies-house' ? companiesHouseKey(settings) : undefined
    return createRegisterReader(
      { id, ...(base !== undefined && { base }), ...(key !== undefined && { key }) },
      async (url, signal, headers) => {
        const exempt = new Set(mirror === null ? [] : await addressesOf(mirror))
        return guardedOpen(url, { resolve: mirror === null ? publishers : systemResolve, exempt }, signal, registerLimits, headers)
      },
    )
  })
}

/** Lists of sanctions, and the engine that screens names. */
export function screeningSources(settings: Settings, clock: Clock & SteadyClock, { screening }: Pick<DatasetService, 'screening'>) {
  const on_stale_list = settings.ASSAY_MODE === 'live' ? ('refuse' as const) : ('report' as const)
  return { names: nameSource(settings, clock), screening: { on_stale_list, active: screening } }
}

/** Names are screened by the operator's engine, if the settings name one. */
function nameSource({ ASSAY_SCREENING_URL: url, ASSAY_SCREENING_ENGINE: engine }: Settings, clock: Clock & SteadyClock): NameSource {
  return url === '' ? noNameScreening : createNameSource(createNameScreening(engine, url), clock)
}

/** The message names the file, never its content. */
function companiesHouseKey({ ASSAY_COMPANIES_HOUSE_KEY_FILE: path }: Settings): string {
  const name = `ASSAY_COMPANIES_HOUSE_KEY_FILE: the file ${path}`
  try {
    const key = readFileSync(path, 'utf8').trim()
    if (/^[\w.-]{8,128}$/.test(key)) return key
  } catch {
    throw new StartError(`${name} cannot be read.`)
  }
  throw new StartError(`${name} must contain an API key of Companies House: 8 to 128 letters, digits, dots, hyphens and underscores.`)
}

async function addressesOf(url: URL): Promise<string[]> {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const addresses = await systemResolve(url.hostname.replace(/^\[|\]$/g, ''))
  return addresses.map(({ address }) => `${address}:${port}`)
}
