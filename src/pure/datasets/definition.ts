import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isObject } from '../is-object.ts'

/** Reference data that can be replaced while the service runs: definitions, validation and comparison of snapshots. */

/** One dated version of a dataset. Its canonical text is `JSON.stringify` of this object; its id is the SHA-256 of that text. */
export interface Snapshot<Row = unknown> {
  schema: string
  source: string
  source_version: string
  published_at: string
  retrieved_at: string
  notes?: string
  count: number
  rows: Row[]
}

/** SHA-256 of the canonical text of a small table. */
export function snapshotHash(snapshot: object): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(snapshot))))
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
  /** Largest share of rows that one update may remove. */
  removed_share_max: number
  /** Keys that must be present, and keys that must be absent. */
  present: readonly string[]
  absent: readonly string[]
  isRow(value: unknown): value is Row
  key(row: Row): string
}

export type SnapshotResult<Row> = { ok: true; snapshot: Snapshot<Row> } | { ok: false; reason: string }

const refuse = (reason: string) => ({ ok: false, reason }) as const

/**
 * Reads the text of a snapshot and checks it against its definition: schema, dates (`today` as YYYY-MM-DD in UTC), order and form of the rows, bounds
 * and sentinels.
 */
export function readSnapshot<Row>(definition: DatasetDefinition<Row>, text: string, today: string): SnapshotResult<Row> {
  const value = parsed(text)
  if (!isObject(value)) return refuse('The snapshot is not a JSON object.')
  const { schema, source, source_version, published_at, retrieved_at, count, rows } = value
  if (schema !== definition.schema) return refuse(`The schema is ${JSON.stringify(schema)}; expected "${definition.schema}".`)
  for (const [name, member] of Object.entries({ source, source_version, published_at, retrieved_at })) {
    if (typeof member !== 'string') return refuse(`${name} is missing; expected text.`)
  }
  for (const [name, date] of Object.entries({ published_at, retrieved_at })) {
    if (typeof date !== 'string' || !isDate(date)) return refuse(`${name} is not a date; expected YYYY-MM-DD.`)
    if (date > today) return refuse(`${name} is ${date}, which is in the future; today is ${today}.`)
  }
  if (!Array.isArray(rows)) return refuse('rows is missing; expected an array.')
  if (count !== rows.length) return refuse(`count is ${String(count)}, but there are ${rows.length} rows; the file may be truncated.`)
  const fault = rowFault(definition, rows)
  return fault === null ? { ok: true, snapshot: value as unknown as Snapshot<Row> } : refuse(fault)
}

function rowFault<Row>(definition: DatasetDefinition<Row>, rows: readonly unknown[]): string | null {
  const { rows_min, rows_max, present, absent } = definition
  if (rows.length < rows_min || rows.length > rows_max) return `There are ${rows.length} rows; expected ${rows_min} to ${rows_max}.`
  const keys = new Set<string>()
  for (const [index, row] of rows.entries()) {
    if (!definition.isRow(row)) return `Row ${index + 1} does not have the form of ${definition.schema}.`
    const key = definition.key(row)
    if (keys.has(key)) return `Row ${index + 1} repeats the key ${key}.`
    keys.add(key)
  }
  const missing = present.find((key) => !keys.has(key))
  if (missing !== undefined) return `${missing} is missing, which is on every current list: the file is incomplete or another list.`
  const outdated = absent.find((key) => keys.has(key))
  return outdated === undefined ? null : `${outdated} is present, which was removed from the list: the file is out of date.`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(Date.parse(text))
}

/** Keys that an update adds, removes and changes. */
export interface SnapshotDifference {
  added: string[]
  removed: string[]
  changed: string[]
}

/** `before` is null for the first snapshot of a dataset. */
export function compareSnapshots<Row>(
  { key }: Pick<DatasetDefinition<Row>, 'key'>,
  before: Snapshot<Row> | null,
  after: Snapshot<Row>,
): SnapshotDifference {
  const old = new Map((before?.rows ?? []).map((row) => [key(row), JSON.stringify(row)]))
  const added: string[] = []
  const changed: string[] = []
  for (const row of after.rows) {
    const text = old.get(key(row))
    if (text === undefined) added.push(key(row))
    else if (text !== JSON.stringify(row)) changed.push(key(row))
    old.delete(key(row))
  }
  return { added, removed: [...old.keys()], changed }
}

/** Reason why the update must not become active without a person; null if it may. */
export function updateFault(
  definition: Pick<DatasetDefinition<unknown>, 'removed_share_max'>,
  before: Snapshot,
  after: Snapshot,
  { removed }: SnapshotDifference,
): string | null {
  if (after.published_at < before.published_at)
    return `It was published on ${after.published_at}, before the active snapshot of ${before.published_at}.`
  const allowed = Math.floor(before.rows.length * definition.removed_share_max)
  if (removed.length <= allowed) return null
  return `It removes ${removed.length} of ${before.rows.length} rows; at most ${allowed} may go in one update. Compare it with "assay data diff".`
}
