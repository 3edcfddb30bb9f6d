import type { LogGrowth, LogHead, ReceiptsLogStore, WitnessedHead } from '../../ports/receipts-log.ts'
import { columns, count, count32, hash_type, key_type, nullable, parameter, pick, text_type } from './columns.ts'
import {
  assigned,
  inserted,
  matched,
  raw,
  replaced,
  rowList,
  selected,
  sql,
  type SqlFragment,
  type Statement,
  statement,
} from './statements.ts'
import { execute, type Work, DatabaseStore } from './database.ts'
import { StoreRefusedError } from './errors.ts'

/** The public log of receipts: entries, tiles, head, cosignatures, and the heads of other logs that were witnessed. */

const waiting_entry = columns({ entry: hash_type, since_ms: count })
const log_entry = columns({ position: count, entry: hash_type })
const entry = pick(log_entry, 'entry')
const head_columns = columns({ size: count, root: hash_type, checkpoint: text_type, signed_ms: count })
const tile_key = columns({ level: count32, index: count }, { index: 'tile' })
const tile_hashes = columns({ hashes: text_type })
const cosignature_key = columns({ size: count, key: key_type }, { key: 'witness' })
const cosignature_line = columns({ line: text_type })
const witnessed_origin = columns({ origin: key_type })
const witnessed_head = columns({ size: count, root: hash_type })
const limit = parameter('limit', count)

/** Rows of the longer of two statements over a list. */
const LIST_ROWS = 64

/** A statement over a list, in two lengths, so that each is prepared once. */
interface ListStatement<Item, Result> {
  single: Statement<{ readonly rows: readonly Item[] }, Result>
  long: Statement<{ readonly rows: readonly Item[] }, Result>
}

function overList<Item, Result>(
  name: string,
  text_of: (length: number) => SqlFragment<{ readonly rows: readonly Item[] }, Result>,
): ListStatement<Item, Result> {
  return { single: statement(`${name}_1`, text_of(1)), long: statement(`${name}_${LIST_ROWS}`, text_of(LIST_ROWS)) }
}

const QUEUE = overList(
  'queue_log_entries',
  (length) =>
    sql`insert into log_waiting (entry, since_ms) values ${rowList('rows', waiting_entry, length)} on conflict (entry) do nothing`,
)
const FORGET = overList('forget_log_entries', (length) => sql`delete from log_waiting where entry in (${rowList('rows', entry, length)})`)
const READ_POSITIONS = overList(
  'find_log_positions',
  (length) => sql`select ${selected(log_entry)} from log_entry where entry in (${rowList('rows', entry, length)})`,
)
const WRITE_ENTRIES = overList(
  'write_log_entries',
  (length) => sql`insert into log_entry (position, entry) values ${rowList('rows', log_entry, length)}`,
)

const READ_WAITING = statement('log_waiting', sql`select ${selected(entry)} from log_waiting order by number limit ${limit}`)
const FIND_WAITING = statement('is_log_waiting', sql`select ${selected(entry)} from log_waiting where ${matched(entry)}`)
const READ_WAITING_SINCE = statement(
  'log_waiting_since',
  sql`select ${selected(columns({ since_ms: nullable(count) }))} from log_waiting order by number limit 1`,
)
const READ_HEAD = statement('log_head', sql`select ${selected(head_columns)} from log_head`)

/** Returns a row when the log had the size that it grows from. */
const MOVE_HEAD = statement(
  'move_log_head',
  sql`update log_head set ${assigned(head_columns)} where one = 1 and size = ${parameter('from_size', count)} returning size`,
)

/** Returns a row when there was no head. */
const FIRST_HEAD = statement(
  'first_log_head',
  sql`insert into log_head ${inserted(head_columns, { one: raw('1') })} on conflict (one) do nothing returning size`,
)

const WRITE_TILE = statement(
  'write_log_tile',
  sql`insert into log_tile ${inserted({ ...tile_key, ...tile_hashes })} on conflict (level, tile) do update set ${replaced(tile_hashes)}`,
)
const READ_TILE = statement('log_tile', sql`select ${selected(tile_hashes)} from log_tile where ${matched(tile_key)}`)
const READ_ENTRIES = statement(
  'log_entries',
  sql`select ${selected(entry)} from log_entry
    where position >= ${parameter('from', count)} and position < ${parameter('to', count)} order by position`,
)

const WRITE_COSIGNATURE = statement(
  'cosign_log',
  sql`insert into log_cosignature ${inserted({ ...cosignature_key, ...cosignature_line })}
    on conflict (size, witness) do update set ${replaced(cosignature_line)}`,
)
/** Cosignatures of older checkpoints are not needed. */
const DROP_COSIGNATURES = statement('drop_log_cosignatures', sql`delete from log_cosignature where size < ${cosignature_key.size}`)
const DROP_ALL_COSIGNATURES = statement('drop_all_log_cosignatures', sql`delete from log_cosignature`)
const READ_LARGEST_COSIGNED = statement(
  'largest_log_cosigned',
  sql`select ${selected(pick(cosignature_key, 'size'))} from log_cosignature order by size desc limit 1`,
)
const READ_COSIGNATURES = statement(
  'log_cosignatures',
  sql`select ${selected(cosignature_line)} from log_cosignature where size = ${cosignature_key.size} order by witness`,
)

const READ_WITNESSED = statement(
  'log_witnessed',
  sql`select ${selected({ ...witnessed_origin, ...witnessed_head })} from log_witnessed where ${matched(witnessed_origin)}`,
)
const FIRST_WITNESSED = statement(
  'first_log_witnessed',
  sql`insert into log_witnessed ${inserted({ ...witnessed_origin, ...witnessed_head })} on conflict (origin) do nothing returning origin`,
)
const MOVE_WITNESSED = statement(
  'move_log_witnessed',
  sql`update log_witnessed set ${assigned(witnessed_head)} where ${matched(witnessed_origin)}
    and size = ${parameter('older_size', count)} and root = ${parameter('older_root', hash_type)} returning origin`,
)

/** The public log of receipts in the SQL that both databases share. */
export class SqlReceiptsLogStore extends DatabaseStore implements ReceiptsLogStore {
  queue(entries: readonly string[], now_ms: number): Promise<void> {
    // In one order, so that two processes with the same entries never wait for each other.
    const waiting = entries.toSorted().map((hex) => ({ entry: hex, since_ms: now_ms }))
    return this.database.atomically(() => runOver(QUEUE, waiting))
  }

  async waiting(most: number): Promise<string[]> {
    return (await this.database.readAll(READ_WAITING, { limit: most })).map((row) => row.entry)
  }

  async is_waiting(hex: string): Promise<boolean> {
    return (await this.database.readFirst(FIND_WAITING, { entry: hex })) !== null
  }

  async waiting_since(): Promise<number | null> {
    return (await this.database.readFirst(READ_WAITING_SINCE, {}))?.since_ms ?? null
  }

  async positions(entries: readonly string[]): Promise<Map<string, number>> {
    const parts = inLists(READ_POSITIONS, toRows(entries))
    const found = await Promise.all(parts.map(({ list, part }) => this.database.readAll(list, { rows: part })))
    return new Map(found.flat().map((row) => [row.entry, row.position]))
  }

  forget(entries: readonly string[]): Promise<void> {
    return this.database.atomically(() => runOver(FORGET, toRows(entries)))
  }

  head(): Promise<LogHead | null> {
    return this.database.readFirst(READ_HEAD, {})
  }

  async append(growth: LogGrowth): Promise<boolean> {
    const { from_size, entries, head } = growth
    if (from_size + entries.length !== head.size) throw new StoreRefusedError('A log grows by exactly its entries.')
    return this.database.atomically(() => append(growth), { keep: (moved) => moved })
  }

  async tile(level: number, index: number): Promise<string | null> {
    return (await this.database.readFirst(READ_TILE, { level, index }))?.hashes ?? null
  }

  async entries(from: number, length: number): Promise<string[]> {
    return (await this.database.readAll(READ_ENTRIES, { from, to: from + length })).map((row) => row.entry)
  }

  cosign(size: number, witness: string, line: string): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      yield* execute(WRITE_COSIGNATURE, { size, key: witness, line })
      yield* execute(DROP_COSIGNATURES, { size })
    })
  }

  async cosignatures(size: number): Promise<string[]> {
    return (await this.database.readAll(READ_COSIGNATURES, { size })).map(({ line }) => line)
  }

  async largest_cosigned(): Promise<number | null> {
    return (await this.database.readFirst(READ_LARGEST_COSIGNED, {}))?.size ?? null
  }

  witnessed(origin: string): Promise<WitnessedHead | null> {
    return this.database.readFirst(READ_WITNESSED, { origin })
  }

  witness(older: WitnessedHead | null, newer: WitnessedHead): Promise<boolean> {
    if (older === null) return this.database.execute(FIRST_WITNESSED, newer)
    return this.database.execute(MOVE_WITNESSED, { ...newer, older_size: older.size, older_root: older.root })
  }
}

/** The head changes first: of two processes that append at the same time, one waits here and then finds another size. */
function* append({ from_size, entries, tiles, head }: LogGrowth): Work<boolean> {
  const moved = (yield* execute(MOVE_HEAD, { ...head, from_size })) || (from_size === 0 && (yield* execute(FIRST_HEAD, head)))
  if (!moved) return false
  if (entries.length === 0) yield* execute(DROP_ALL_COSIGNATURES, {})
  const placed = entries.map((hex, at) => ({ position: from_size + at, entry: hex }))
  yield* runOver(WRITE_ENTRIES, placed)
  for (const tile of tiles) yield* execute(WRITE_TILE, tile)
  yield* runOver(FORGET, toRows(entries))
  return true
}

function toRows(entries: readonly string[]): { entry: string }[] {
  return entries.map((hex) => ({ entry: hex }))
}

/** As many long statements as the rows fill, and short ones for the rest. */
function inLists<Item, Result>(
  { single, long }: ListStatement<Item, Result>,
  rows: readonly Item[],
): { list: ListStatement<Item, Result>['single']; part: readonly Item[] }[] {
  const filled = rows.length - (rows.length % LIST_ROWS)
  const starts = Array.from({ length: filled / LIST_ROWS }, (_, index) => index * LIST_ROWS)
  return [
    ...starts.map((start) => ({ list: long, part: rows.slice(start, start + LIST_ROWS) })),
    ...rows.slice(filled).map((row) => ({ list: single, part: [row] })),
  ]
}

function* runOver<Item>(statements: ListStatement<Item, unknown>, rows: readonly Item[]): Work<void> {
  for (const { list, part } of inLists(statements, rows)) yield* execute(list, { rows: part })
}
