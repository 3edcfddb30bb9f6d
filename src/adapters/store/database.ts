import type { BoundValue } from './columns.ts'
import type { PreparedStatement, Statement, StoredRow } from './statements.ts'
import { StoreUnavailableError } from './errors.ts'

/** Single statements, and works: several statements that are committed together or not at all. */

interface WorkStep {
  statement: PreparedStatement
  values: BoundValue[]
}

/** Statements one after the other, each chosen with the rows of those before it in hand; returns its result. */
export type Work<Result> = Generator<WorkStep, Result, StoredRow[]>

/** A step whose values are encoded now: a value that cannot be stored is refused before the work begins. */
export function workStep<Params>(statement: Statement<Params, unknown>, params: NoInfer<Params>): WorkStep {
  return { statement, values: statement.values(params) }
}

/** A step of a work: the rows that the statement returns. */
export function* readAll<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Work<Result[]> {
  const found = yield { statement, values: statement.values(params) }
  return found.map((row) => statement.read(row))
}

/** A step of a work: the first row that the statement returns; undefined without one. */
export function* readFirst<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Work<Result | undefined> {
  const [found] = yield { statement, values: statement.values(params) }
  return found === undefined ? undefined : statement.read(found)
}

/** A step of a work: the row that the statement is bound to return. */
export function* readOne<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Work<Result> {
  return presentRow(yield* readFirst(statement, params))
}

/** A step of a work: true when the statement returns a row, such as one that it changed. */
export function* execute<Params>(statement: Statement<Params, unknown>, params: NoInfer<Params>): Work<boolean> {
  return (yield { statement, values: statement.values(params) }).length > 0
}

/** Throws a StoreUnavailableError when a row is missing that the store has kept or that every statement of its kind returns. */
export function presentRow<Result>(found: Result | null | undefined): Result {
  if (found === null || found === undefined) throw new StoreUnavailableError('The store lost a row that it had kept.')
  return found
}

/** Refuses values that the statement could not store, for a work that reaches the statement late. */
export function assertStorable<Params>(statement: Statement<Params, unknown>, params: NoInfer<Params>): void {
  statement.values(params)
}

export interface AtomicOptions<Result> {
  /** Undoes the writes of the work when it returns false; the result is returned all the same. */
  keep?: (result: Result) => boolean
  /** Hexadecimal text: of works with the same one, over all processes, one runs after the other. */
  alone_with?: string
  /** SQLite overwrites the bytes that the work deletes or replaces. PostgreSQL does so when it vacuums. */
  overwrite?: boolean
}

/** One of the two databases. */
export interface DatabaseDriver {
  /** True where one statement can write to several tables (PostgreSQL), which saves the round trips of a transaction. */
  joinsWrites(): boolean
  /** Runs one statement that changes nothing. */
  read(statement: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]>
  /** Runs one statement and resolves when its change is durable. */
  write(statement: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]>
  /** Runs a work as one unit and resolves when it is durable. `work` may be called again when nothing of a first run was kept. */
  atomically<Result>(work: () => Work<Result>, options?: AtomicOptions<Result>): Promise<Result>
}

/** Rows that one write of a job changes, so that it never holds the lock for long. */
export const JOB_ROWS = 1_000

/** A database as the table stores use it: statements take named values, and rows are read as the types of their columns. */
export class Database {
  readonly #driver: DatabaseDriver

  constructor(driver: DatabaseDriver) {
    this.#driver = driver
  }

  joinsWrites(): boolean {
    return this.#driver.joinsWrites()
  }

  async readAll<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Promise<Result[]> {
    return (await this.#driver.read(statement, statement.values(params))).map((found) => statement.read(found))
  }

  /** The first row; null without one. */
  async readFirst<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Promise<Result | null> {
    const [found] = await this.#driver.read(statement, statement.values(params))
    return found === undefined ? null : statement.read(found)
  }

  /** The row that the statement is bound to return. */
  async readOne<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Promise<Result> {
    return presentRow(await this.readFirst(statement, params))
  }

  /** The first row that a write returns; null without one. */
  async writeFirst<Params, Result>(statement: Statement<Params, Result>, params: NoInfer<Params>): Promise<Result | null> {
    const [found] = await this.#driver.write(statement, statement.values(params))
    return found === undefined ? null : statement.read(found)
  }

  /** True when the write returns a row, such as one that it changed. */
  async execute<Params>(statement: Statement<Params, unknown>, params: NoInfer<Params>): Promise<boolean> {
    return (await this.#driver.write(statement, statement.values(params))).length > 0
  }

  async atomically<Result>(work: () => Work<Result>, options?: AtomicOptions<Result>): Promise<Result> {
    return this.#driver.atomically(work, options)
  }

  /** Runs a write that changes at most `limit` rows until nothing is left to change; returns how many rows it changed. */
  async purge<Params>(statement: Statement<Params & { readonly limit: number }, unknown>, params: NoInfer<Params>): Promise<number> {
    const values = statement.values({ ...params, limit: JOB_ROWS })
    return inParts(async () => (await this.#driver.write(statement, values)).length)
  }
}

/** Base of the stores of single tables. */
export abstract class DatabaseStore {
  protected readonly database: Database

  constructor(database: Database) {
    this.database = database
  }
}

/** Repeats a part of a job that changes at most `JOB_ROWS` rows until it changes fewer; returns how many rows all parts changed. */
export async function inParts(part: () => Promise<number>): Promise<number> {
  let all = 0
  for (;;) {
    const changed = await part()
    all += changed
    if (changed < JOB_ROWS) return all
  }
}

/** Schemas 1 to 9. The text of a released migration never changes. */

/** The few places where the two databases want different words in a table definition. */
export interface SqlDialect {
  /** Column type for integers beyond 32 bits. */
  wide_integer: string
  /** A primary key that counts the rows as they come. */
  row_number: string
  /** Behind every table. */
  table: string
  /** Behind a table that is only ever found by its primary key. */
  clustered_table: string
  /** Expression for the current time in seconds since 1970. */
  now_s: string
  /** Columns through which the batched allowance statement passes the limit in and the grant out. */
  counted_columns: string
}

export interface Migration {
  /** Counts up from 1 without gaps; never reused, and the text never changes once released. */
  number: number
  name: string
  text: (dialect: SqlDialect) => string
}
