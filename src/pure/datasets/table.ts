import { once } from '../once.ts'
import { snapshotHash, type DatasetDefinition, type Snapshot } from './definition.ts'

/** Reference tables of checks: what a check reads is bound to one dated snapshot, and can be replaced while the service runs. */

/**
 * Date of a reference table in answers: the day of publication. A table that was compiled by hand has none; for it the answer contains
 * "compiled" and the date of compilation.
 */
export function dataDate({ published_at, compiled_at }: { published_at: string | null; compiled_at?: string | null }): string {
  return published_at ?? `compiled ${compiled_at ?? 'on an unknown date'}`
}

/** Date of a dataset that can be replaced while the service runs, with the first 12 digits of its SHA-256. */
export function datasetDate(date: string, sha256: string): string {
  return `${date} sha256:${sha256.slice(0, 12)}`
}

/** `aging` from two thirds of the limit, so that an operator can act before answers are refused. */
export function ageState(age_days: number, limit_days: number): 'fresh' | 'aging' | 'old' {
  if (age_days > limit_days) return 'old'
  return age_days * 3 >= limit_days * 2 ? 'aging' : 'fresh'
}

/** Snapshot with the SHA-256 of its canonical text. */
interface HashedSnapshot {
  snapshot: Snapshot
  sha256: string
}

/** Table with a date and a hash, as answers name it. */
export interface DatedTable<Id extends string = string> {
  readonly definition: { id: Id }
  /** Date and short hash of the snapshot in use. */
  date(): string
  /** Calls back with each change of `date`. */
  follow(changed: () => void): void
}

export interface ReferenceTable<Id extends string = string, View = unknown> extends DatedTable<Id> {
  readonly definition: DatasetDefinition<unknown> & { id: Id }
  /** Form in which checks read the rows. A newer snapshot replaces it as a whole, so a synchronous call never sees two. */
  readonly view: View
  /** Snapshot of the release: the oldest from which checks answer. */
  bundled(): Snapshot
  /** Later checks read this snapshot, which passed `readSnapshot`; null: that of the release. */
  bind(active: HashedSnapshot | null): void
  /** SHA-256 of the canonical text of the snapshot in use. */
  sha256(): string
}

/** Days after which a table should be refreshed, if its definition says nothing else. */
const LIMIT_DAYS = 400
/** Largest share of rows that one update of a table may remove. */
const REMOVED_SHARE_MAX = 0.1
/** Largest share of rows that one update of a table may change: a review by hand may touch many. */
const CHANGED_SHARE_MAX = 0.5

type TableFacts<Id, Row> = Pick<DatasetDefinition<Row>, 'source_urls' | 'licence' | 'rows_min' | 'rows_max' | 'present' | 'isRow' | 'key'> &
  Partial<Pick<DatasetDefinition<Row>, 'limit_days' | 'removed_share_max' | 'changed_share_max' | 'absent' | 'undated'>> & {
    id: Id
    version?: number
  }

/**
 * Defines a table with its snapshot of the release and the form in which checks read it. `bundled` and `build` run when the module is loaded; an expensive
 * `build` returns a function that runs at the first use.
 */
export function referenceTable<const Id extends string, Row, View>(
  { version = 1, ...facts }: TableFacts<Id, Row>,
  bundled: () => Snapshot<Row>,
  build: (snapshot: Snapshot<Row>) => View,
): ReferenceTable<Id, View> {
  const definition: DatasetDefinition<Row> & { id: Id } = {
    schema: `assay/${facts.id.replaceAll('_', '-')}/${version}`,
    limit_days: LIMIT_DAYS,
    removed_share_max: REMOVED_SHARE_MAX,
    changed_share_max: CHANGED_SHARE_MAX,
    absent: [],
    compiled_by_hand: true,
    ...facts,
  }
  const followers: (() => void)[] = []
  // The hash of a large table takes a millisecond or more, so it is computed when a first answer needs it.
  const of_release = once((): HashedSnapshot => ({ snapshot: bundled(), sha256: snapshotHash(bundled()) }))
  let bound: HashedSnapshot | null = null
  const inUse = () => bound ?? of_release()
  let date: string | null = null
  const table = {
    definition,
    view: build(bundled()),
    bundled,
    bind(active: HashedSnapshot | null) {
      table.view = build((active?.snapshot ?? bundled()) as Snapshot<Row>)
      bound = active
      date = null
      for (const changed of followers) changed()
    },
    date: () => (date ??= datasetDate(dataDate(inUse().snapshot), inUse().sha256)),
    sha256: () => inUse().sha256,
    follow: (changed: () => void) => void followers.push(changed),
  }
  return table
}

/** Object with the date of each table under its id, as answers contain it. It always has the dates of the snapshots in use. */
export function datesOf<Id extends string>(tables: readonly DatedTable<Id>[]): Readonly<Record<Id, string>> {
  const dates: Record<string, string> = {}
  const entries = tables.map((table): [string, DatedTable] => [table.definition.id, table])
  // In the order of RFC 8785, so that the canonical text of an answer costs no sorting.
  for (const [id, table] of entries.sort(([one], [other]) => (one < other ? -1 : 1))) {
    const state = (value: string) => Object.defineProperty(dates, id, { value, writable: true, enumerable: true, configurable: true })
    Object.defineProperty(dates, id, {
      enumerable: true,
      configurable: true,
      get() {
        state(table.date())
        return table.date()
      },
    })
    table.follow(() => state(table.date()))
  }
  return dates as Record<Id, string>
}

/** Test of one member of a row. */
type Member = RegExp | ((value: unknown) => boolean)

/** Returns a test for rows that have exactly these members; a regular expression is for a text. */
export function rowOf<Row>(members: Readonly<Record<keyof Row & string, Member>>): (value: unknown) => value is Row {
  const tests = Object.entries<Member>(members)
  return (value: unknown): value is Row => {
    if (typeof value !== 'object' || value === null || Object.keys(value).length !== tests.length) return false
    const row = value as Readonly<Record<string, unknown>>
    return tests.every(([name, test]) => {
      if (!Object.hasOwn(row, name)) return false
      const member = row[name]
      return typeof test === 'function' ? test(member) : typeof member === 'string' && test.test(member)
    })
  }
}

const MEMBER_CHARS_MAX = 300

/** Text that says something, without white space at its ends. */
export function isWords(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MEMBER_CHARS_MAX && value.trim() === value
}

/** Test for null and what the other test accepts. */
export function orNull(test: Member): (value: unknown) => boolean {
  return (value) => value === null || (typeof test === 'function' ? test(value) : typeof value === 'string' && test.test(value))
}
