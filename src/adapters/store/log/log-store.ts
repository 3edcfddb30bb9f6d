import type { LogGrowth, LogHead, ReceiptsLogStore, WitnessedHead } from '../../../ports/receipts-log.ts'
import { StoreRefusedError } from '../errors.ts'
import { integer, integerOrNull, text } from '../rows.ts'
import { assertCounts, assertKeys, assertTexts } from '../storable.ts'
import type { Database, Query, Row, Statement, Value, Work } from '../work.ts'
import * as sql from './sql-log.ts'

const HASH = /^[0-9a-f]{64}$/

/** The public log of receipts in the SQL that both databases share. */
export class SqlReceiptsLogStore implements ReceiptsLogStore {
  readonly #database: Pick<Database, 'read' | 'write' | 'atomically'>

  constructor(database: Pick<Database, 'read' | 'write' | 'atomically'>) {
    this.#database = database
  }

  async queue(entries: readonly string[], now_ms: number): Promise<void> {
    assertHashes(entries)
    assertCounts({ now_ms })
    // In one order, so that two processes with the same entries never wait for each other.
    await this.#all(over(sql.QUEUE, entries.toSorted(), (part) => [now_ms, ...part]))
  }

  async waiting(limit: number): Promise<string[]> {
    const rows = await this.#database.read(sql.WAITING, [limit])
    return rows.map((row) => text(row, 'entry'))
  }

  async is_waiting(entry: string): Promise<boolean> {
    assertHashes([entry])
    return (await this.#database.read(sql.IS_WAITING, [entry])).length === 1
  }

  async waiting_since(): Promise<number | null> {
    const [row] = await this.#database.read(sql.WAITING_SINCE, [])
    return row === undefined ? null : integerOrNull(row, 'since_ms')
  }

  async positions(entries: readonly string[]): Promise<Map<string, number>> {
    assertHashes(entries)
    const found = await Promise.all(
      over(sql.POSITIONS, entries, (part) => [...part]).map(({ statement, values }) => this.#database.read(statement, values)),
    )
    return new Map(found.flat().map((row) => [text(row, 'entry'), integer(row, 'position')]))
  }

  async forget(entries: readonly string[]): Promise<void> {
    assertHashes(entries)
    await this.#all(over(sql.FORGET, entries, (part) => [...part]))
  }

  async head(): Promise<LogHead | null> {
    const [row] = await this.#database.read(sql.HEAD, [])
    if (row === undefined) return null
    return {
      size: integer(row, 'size'),
      root: text(row, 'root'),
      checkpoint: text(row, 'checkpoint'),
      signed_ms: integer(row, 'signed_ms'),
    }
  }

  async append(growth: LogGrowth): Promise<boolean> {
    const { from_size, entries, head } = growth
    assertHashes([...entries, head.root])
    assertTexts({ checkpoint: head.checkpoint })
    assertCounts({ from_size, size: head.size, signed_ms: head.signed_ms })
    if (from_size + entries.length !== head.size) throw new StoreRefusedError('A log grows by exactly its entries.')
    return this.#database.atomically(() => append(growth), { keep: (moved) => moved })
  }

  async tile(level: number, index: number): Promise<string | null> {
    assertCounts({ level, index })
    const [row] = await this.#database.read(sql.TILE, [level, index])
    return row === undefined ? null : text(row, 'hashes')
  }

  async entries(from: number, count: number): Promise<string[]> {
    assertCounts({ from, count })
    const rows = await this.#database.read(sql.ENTRIES, [from, from + count])
    return rows.map((row) => text(row, 'entry'))
  }

  async cosign(size: number, key: string, line: string): Promise<void> {
    assertCounts({ size })
    assertKeys({ key })
    assertTexts({ line })
    await this.#all([
      { statement: sql.COSIGN, values: [size, key, line] },
      { statement: sql.DROP_COSIGNATURES, values: [size] },
    ])
  }

  async cosignatures(size: number): Promise<string[]> {
    const rows = await this.#database.read(sql.COSIGNATURES, [size])
    return rows.map((row) => text(row, 'line'))
  }

  async witnessed(origin: string): Promise<WitnessedHead | null> {
    const [row] = await this.#database.read(sql.WITNESSED, [origin])
    return row === undefined ? null : { origin: text(row, 'origin'), size: integer(row, 'size'), root: text(row, 'root') }
  }

  async witness(older: WitnessedHead | null, { origin, size, root }: WitnessedHead): Promise<boolean> {
    assertKeys({ origin })
    assertHashes([root])
    assertCounts({ size })
    const [statement, values]: [Statement, Value[]] =
      older === null ? [sql.FIRST_WITNESSED, [origin, size, root]] : [sql.MOVE_WITNESSED, [origin, size, root, older.size, older.root]]
    return (await this.#database.write(statement, values)).length === 1
  }

  #all(queries: readonly Query[]): Promise<null> {
    return this.#database.atomically(function* (): Work<null> {
      yield* queries
      return null
    })
  }
}

/** The head moves first: of two processes that append at once, one waits here and then finds another size. */
function* append({ from_size, entries, tiles, head }: LogGrowth): Work<boolean> {
  const values = [head.size, head.root, head.checkpoint, head.signed_ms]
  let moved: Row[] = yield { statement: sql.MOVE_HEAD, values: [...values, from_size] }
  if (moved.length === 0 && from_size === 0) moved = yield { statement: sql.FIRST_HEAD, values }
  if (moved.length === 0) return false
  const placed = entries.map((entry, at) => [from_size + at, entry] as const)
  for (const query of over(sql.WRITE_ENTRIES, placed, (part) => part.flat())) yield query
  for (const { level, index, hashes } of tiles) yield { statement: sql.WRITE_TILE, values: [level, index, hashes] }
  for (const query of over(sql.FORGET, entries, (part) => [...part])) yield query
  return true
}

/** As many long statements as fit, and short ones for the rest. */
function over<Item>(
  { one, many }: { one: Statement; many: Statement },
  items: readonly Item[],
  values: (part: readonly Item[]) => Value[],
): Query[] {
  const whole = items.length - (items.length % sql.LIST_VALUES)
  const queries: Query[] = []
  for (let from = 0; from < whole; from += sql.LIST_VALUES) {
    queries.push({ statement: many, values: values(items.slice(from, from + sql.LIST_VALUES)) })
  }
  for (const item of items.slice(whole)) queries.push({ statement: one, values: values([item]) })
  return queries
}

function assertHashes(values: readonly string[]): void {
  if (!values.every((value) => HASH.test(value))) throw new StoreRefusedError('The log holds 32-byte hashes in hex only.')
}
