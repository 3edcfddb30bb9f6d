import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isObject, jsonValue } from '../is-object.ts'

/** Reference data that can be replaced while the service runs: definitions, validation and comparison of snapshots. */

/** One dated version of a dataset. Its canonical text is `JSON.stringify` of this object; its id is the SHA-256 of that text. */
export interface Snapshot<Row = unknown> {
  schema: string
  source: string
  source_version: string
  /** Null for a table that a person compiled; `compiled_at` then is its date. */
  published_at: string | null
  compiled_at?: string | null
  retrieved_at: string
  notes?: string
  count: number
  rows: Row[]
}

/** SHA-256 of the canonical text of a small table. */
export function snapshotHash(snapshot: object): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(snapshot))))
}

/** Date by which a snapshot is dated: of publication, else of compilation. */
export function snapshotDay({
  published_at,
  compiled_at,
  retrieved_at,
}: Pick<Snapshot, 'published_at' | 'compiled_at' | 'retrieved_at'>): string {
  return published_at ?? compiled_at ?? retrieved_at
}

/** Returns whether a snapshot is older than another. What a publisher dated is newer than what a person compiled. */
export function isOlder(one: Snapshot, other: Snapshot): boolean {
  if ((one.published_at === null) !== (other.published_at === null)) return one.published_at === null
  return snapshotDay(one) < snapshotDay(other)
}

export interface DatasetDefinition<Row> {
  id: string
  schema: string
  /** Documents of the publisher. */
  source_urls: readonly string[]
  licence: string
  /** Age in days after which a clean answer no longer relies on it. */
  limit_days: number
  /** Fewest and most rows of a plausible snapshot. */
  rows_min: number
  rows_max: number
  /** Largest share of rows that one update may remove, and of those that stay the largest that it may change. */
  removed_share_max: number
  changed_share_max: number
  /** A snapshot may be compiled by a person and without a date of publication. */
  compiled_by_hand?: boolean
  /** The publisher states no date, so a snapshot has that of its retrieval; equal rows do not make a newer snapshot. */
  undated?: boolean
  /** Keys that must be present, and keys that must be absent. */
  present: readonly string[]
  absent: readonly string[]
  isRow(value: unknown): value is Row
  key(row: Row): string
  /** Returns what is wrong with a row that is known to be on every list, such as another name; null for nothing, and for all other rows. */
  sentinelFault?(row: Row): string | null
  /** Returns whether a changed row is about something else than before; every change counts as that when it is left out. */
  isReplaced?(before: Row, after: Row): boolean
}

export type SnapshotResult<Row> = { ok: true; snapshot: Snapshot<Row> } | { ok: false; reason: string }

const refuse = (reason: string) => ({ ok: false, reason }) as const

/**
 * Reads the text of a snapshot and checks it against its definition: schema, dates (`today` as YYYY-MM-DD in UTC), order and form of the rows, bounds
 * and sentinels.
 */
export function readSnapshot<Row>(definition: DatasetDefinition<Row>, text: string, today: string): SnapshotResult<Row> {
  return runSteps(readSnapshotSteps(definition, text, today))
}

/** Work in steps: a caller may do other work after each, so that a long list does not block the event loop. */
type Steps<Result> = Generator<void, Result>

function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Rows between two steps. */
const ROWS_A_STEP = 1_000

/** `readSnapshot` in steps. */
export function* readSnapshotSteps<Row>(definition: DatasetDefinition<Row>, text: string, today: string): Steps<SnapshotResult<Row>> {
  const value = jsonValue(text)
  yield
  if (!isObject(value)) return refuse('The snapshot is not a JSON object.')
  const { schema, source, source_version, retrieved_at, count, rows } = value
  if (schema !== definition.schema) return refuse(`The schema is ${JSON.stringify(schema)}; expected "${definition.schema}".`)
  const by_hand = definition.compiled_by_hand === true && value['published_at'] === null
  const dated = by_hand ? 'compiled_at' : 'published_at'
  for (const [name, member] of Object.entries({ source, source_version, [dated]: value[dated], retrieved_at })) {
    if (typeof member !== 'string') return refuse(`${name} is missing; expected text.`)
  }
  for (const [name, date] of Object.entries({ [dated]: value[dated], retrieved_at })) {
    if (typeof date !== 'string' || !isDate(date))
      return refuse(`${name} is not a date; expected YYYY-MM-DD, or YYYY-MM for a publication that states no day.`)
    if (date > today) return refuse(`${name} is ${date}, which is in the future; today is ${today}.`)
  }
  if (!Array.isArray(rows)) return refuse('rows is missing; expected an array.')
  if (count !== rows.length) return refuse(`count is ${String(count)}, but there are ${rows.length} rows; the file may be truncated.`)
  const fault = yield* rowFault(definition, rows)
  return fault === null ? { ok: true, snapshot: value as unknown as Snapshot<Row> } : refuse(fault)
}

function* rowFault<Row>(definition: DatasetDefinition<Row>, rows: readonly unknown[]): Steps<string | null> {
  const { rows_min, rows_max, present, absent } = definition
  if (rows.length < rows_min || rows.length > rows_max) return `There are ${rows.length} rows; expected ${rows_min} to ${rows_max}.`
  const keys = new Set<string>()
  for (const [index, row] of rows.entries()) {
    if (!definition.isRow(row)) return `Row ${index + 1} does not have the form of ${definition.schema}.`
    const fault = definition.sentinelFault?.(row) ?? null
    if (fault !== null) return `Row ${index + 1}: ${fault}`
    const key = definition.key(row)
    if (keys.has(key)) return `Row ${index + 1} repeats the key ${key}.`
    keys.add(key)
    if (index % ROWS_A_STEP === ROWS_A_STEP - 1) yield
  }
  const missing = present.find((key) => !keys.has(key))
  if (missing !== undefined) return `${missing} is missing, which is on every current list: the file is incomplete or another list.`
  const outdated = absent.find((key) => keys.has(key))
  return outdated === undefined ? null : `${outdated} is present, which was removed from the list: the file is out of date.`
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}(?:-\d{2})?$/.test(text) && Number.isFinite(Date.parse(text))
}

/** Keys that an update adds, removes and changes. */
export interface SnapshotDifference {
  added: string[]
  removed: string[]
  changed: string[]
}

/** `before` is null for the first snapshot of a dataset. */
export function compareSnapshots<Row>(
  definition: Pick<DatasetDefinition<Row>, 'key'>,
  before: Snapshot<Row> | null,
  after: Snapshot<Row>,
): SnapshotDifference {
  return runSteps(compareSnapshotsSteps(definition, before, after))
}

/** `compareSnapshots` in steps. */
export function* compareSnapshotsSteps<Row>(
  { key }: Pick<DatasetDefinition<Row>, 'key'>,
  before: Snapshot<Row> | null,
  after: Snapshot<Row>,
): Steps<SnapshotDifference> {
  const old = new Map<string, string>()
  for (const [index, row] of (before?.rows ?? []).entries()) {
    old.set(key(row), JSON.stringify(row))
    if (index % ROWS_A_STEP === ROWS_A_STEP - 1) yield
  }
  const added: string[] = []
  const changed: string[] = []
  for (const [index, row] of after.rows.entries()) {
    if (index % ROWS_A_STEP === ROWS_A_STEP - 1) yield
    const text = old.get(key(row))
    if (text === undefined) added.push(key(row))
    else if (text !== JSON.stringify(row)) changed.push(key(row))
    old.delete(key(row))
  }
  return { added, removed: [...old.keys()], changed }
}

/** Reason why the update must not become active without a person; null if it may. */
export function updateFault(
  definition: Pick<DatasetDefinition<unknown>, 'removed_share_max' | 'changed_share_max' | 'compiled_by_hand' | 'isReplaced' | 'key'>,
  before: Snapshot,
  after: Snapshot,
  { removed, added, changed }: SnapshotDifference,
): string | null {
  // Equal rows of a table change nothing: the release may have it from a later copy. A list of sanctions that goes back is an alarm in any case.
  const equal = definition.compiled_by_hand === true && removed.length + added.length + changed.length === 0
  if (!equal && isOlder(after, before)) return `It is of ${snapshotDay(after)}, before the active snapshot of ${snapshotDay(before)}.`
  const allowed = Math.floor(before.rows.length * definition.removed_share_max)
  if (removed.length > allowed) {
    return `It removes ${removed.length} of ${before.rows.length} rows; at most ${allowed} may go in one update. ${COMPARE}`
  }
  // A source whose format or encoding changed, or that was replaced, keeps the keys and changes every row.
  const changeable = Math.max(CHANGED_LEAST, Math.floor(before.rows.length * definition.changed_share_max))
  const replaced = replacedRows(definition, before, after, changed)
  if (replaced <= changeable) return null
  return `It changes ${replaced} of ${before.rows.length} rows; at most ${changeable} may change in one update. ${COMPARE}`
}

/** Number of the changed rows that are about something else than before. */
function replacedRows(
  { isReplaced, key }: Pick<DatasetDefinition<unknown>, 'isReplaced' | 'key'>,
  before: Snapshot,
  after: Snapshot,
  changed: readonly string[],
): number {
  if (isReplaced === undefined) return changed.length
  const old = new Map(before.rows.map((row) => [key(row), row]))
  const newer = new Map(after.rows.map((row) => [key(row), row]))
  return changed.filter((one) => isReplaced(old.get(one), newer.get(one))).length
}

/** Rows that any update may change. */
const CHANGED_LEAST = 3
const COMPARE = 'Compare it with "assay data diff FILE"; if it is right, "assay data accept FILE" makes it active.'

/** A publisher's document from which a feed reads. */
export interface FeedDocument {
  /** Address at the publisher; null if the document is available from a mirror or an import only. */
  url: string | null
  /** File name of a copy in a mirror. */
  file: string
  /** XML is read element by element, other documents as a whole. */
  format: 'xml' | 'json' | 'text'
  /** UTF-8 if it is left out. */
  encoding?: 'latin1'
  /** Name of the root element of XML, without which the document is incomplete. */
  root: string
  /** Names of the elements of XML that are rows. */
  elements: readonly string[]
  /** Maximum size of the document in bytes. */
  bytes_max: number
}

export interface FeedDefinition extends FeedDocument {
  /** Further documents, without which the first is incomplete. */
  more?: readonly FeedDocument[]
  /** Datasets that the documents fill. */
  datasets: readonly string[]
  /** A mirror may lack it, as long as none was ever read. */
  optional: boolean
  /** Starts a new collection of rows. */
  collect(): FeedCollector
}

export interface FeedCollector {
  /** Reads one whole element with its tags, or a whole document that is not XML, from the document with this file name. */
  element(text: string, file: string): void
  /** Snapshots of what was read; a text says why there are none. `head` is what comes before the first element, `heads` the same of each document. */
  finish(head: string, retrieved_at: string, heads: readonly string[]): { dataset: string; snapshot: Snapshot }[] | string
}
