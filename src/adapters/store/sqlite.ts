import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import type { AllowanceGrant, AllowanceRequest } from '../../ports/store.ts'
import { rejectAll, TurnBatch } from './batch.ts'
import { StoreBusyError, StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, READ_SCHEMA, SQLITE_DIALECT } from './migrations.ts'
import { READ_USED, TAKE_ONE } from './sql.ts'
import type { Statement } from './sql.ts'
import { assertStorable, integer, SqlStore } from './sql-store.ts'
import type { Row, Value } from './sql-store.ts'

interface SqliteOptions {
  /** Items that one transaction holds. */
  batch_items: number
  /** How often a transaction asks for the write lock, about once a millisecond, before its items are rejected. */
  busy_attempts: number
}

/**
 * Pause between two tries to get a lock. SQLite's own waiting (busy_timeout) stays off: it would stop the event loop, and it asks so
 * seldom that of two busy processes one starves for a third of a second (measured; 70 ms this way).
 */
const BUSY_PAUSE_MS = 1

/** Primary result codes of https://www.sqlite.org/rescode.html. */
const SQLITE_BUSY = 5
const SQLITE_CANNOT_HOLD: ReadonlySet<number | undefined> = new Set([18, 19, 20])

interface Job<Outcome> {
  resolve(outcome: Outcome): void
  reject(reason: unknown): void
  outcome: Outcome | undefined
  failure: unknown
}
interface Take extends Job<AllowanceGrant> {
  request: AllowanceRequest
}
interface Write extends Job<Row[]> {
  statement: Statement
  values: Value[]
}

/** One file, one connection, one transaction for all writes of an event-loop turn. Durable: write-ahead log with synchronous FULL. */
class SqliteStore extends SqlStore {
  readonly kind = 'sqlite'
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #takeOne: StatementSync
  readonly #readUsed: StatementSync
  readonly #queue: TurnBatch<Take | Write>
  readonly #attempts: number
  #closed: Promise<void> | undefined

  constructor(database: DatabaseSync, options: SqliteOptions) {
    super()
    this.#database = database
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#takeOne = this.#prepare(TAKE_ONE)
    this.#readUsed = this.#prepare(READ_USED)
    this.#attempts = options.busy_attempts
    this.#queue = new TurnBatch(options.batch_items, (jobs) => this.#writeBatch(jobs))
  }

  take(request: AllowanceRequest): Promise<AllowanceGrant> {
    return new Promise((resolve, reject) => {
      assertStorable(request)
      this.#push({ request, resolve, reject, outcome: undefined, failure: undefined })
    })
  }

  async settings(): Promise<Record<string, string>> {
    const found: Record<string, string> = { sqlite_version: this.#pragma('select sqlite_version()') }
    for (const name of ['journal_mode', 'synchronous']) found[name] = this.#pragma(`pragma ${name}`)
    return found
  }

  close(): Promise<void> {
    this.#closed ??= this.#queue.drained().then(() => this.#database.close())
    return this.#closed
  }

  protected async read(statement: Statement, values: Value[]): Promise<Row[]> {
    this.#assertOpen()
    try {
      return await patiently(this.#attempts, () => this.#prepare(statement).all(...values))
    } catch (error) {
      throw fault(error)
    }
  }

  protected write(statement: Statement, values: Value[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#push({ statement, values, resolve, reject, outcome: undefined, failure: undefined })
    })
  }

  #push(job: Take | Write): void {
    this.#assertOpen()
    this.#queue.push(job)
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.')
  }

  #prepare(statement: Statement): StatementSync {
    const known = this.#prepared.get(statement.name)
    if (known !== undefined) return known
    const prepared = this.#database.prepare(statement.text)
    this.#prepared.set(statement.name, prepared)
    return prepared
  }

  #pragma(sql: string): string {
    return String(Object.values(this.#database.prepare(sql).get() ?? {})[0])
  }

  #writeBatch(jobs: (Take | Write)[]): void | Promise<void> {
    try {
      this.#transact(jobs)
    } catch (error) {
      if (isBusy(error)) return this.#writeLater(jobs)
      return rejectAll(jobs, outage(error))
    }
    settleAll(jobs)
  }

  async #writeLater(jobs: (Take | Write)[]): Promise<void> {
    try {
      await patiently(this.#attempts, () => this.#transact(jobs))
      settleAll(jobs)
    } catch (error) {
      rejectAll(jobs, outage(error))
      // What gathered meanwhile would only wait as long again.
      if (isBusy(error)) rejectAll(this.#queue.withdraw(), outage(error))
    }
  }

  /** All jobs in one transaction, or an error and no change at all. */
  #transact(jobs: (Take | Write)[]): void {
    this.#begin.run()
    try {
      for (const job of jobs) this.#run(job)
      this.#commit.run()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      throw error
    }
  }

  /** SQLite undoes a failed statement alone, unless the failure took the transaction with it (disk full, for one). */
  #run(job: Take | Write): void {
    job.failure = undefined
    try {
      if ('request' in job) job.outcome = this.#takeUnit(job.request)
      else job.outcome = this.#prepare(job.statement).all(...job.values)
    } catch (error) {
      if (!this.#database.isTransaction) throw error
      job.failure = fault(error)
    }
  }

  #takeUnit(request: AllowanceRequest): AllowanceGrant {
    const { day, bucket, client, limit } = request
    const taken = limit > 0 ? this.#takeOne.get(day, bucket, client, limit) : undefined
    if (taken !== undefined) return { granted: true, used: integer(taken, 'used') }
    const row = this.#readUsed.get(day, bucket, client)
    return { granted: false, used: row === undefined ? 0 : integer(row, 'used') }
  }
}

/** Opens the file, making it and its directory when missing, and brings its schema up to date. */
export async function openSqlite(path: string, options: SqliteOptions): Promise<SqliteStore> {
  let database: DatabaseSync | undefined
  try {
    makeFile(path)
    const opened = new DatabaseSync(path, { timeout: 0 })
    database = opened
    return await patiently(options.busy_attempts, () => {
      prepareFile(opened)
      return new SqliteStore(opened, options)
    })
  } catch (error) {
    database?.close()
    throw outage(error)
  }
}

/** Only its owner may read the file: it holds who called how often, if only as keyed hashes. SQLite gives its side files the same mode. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    // Exclusive, because closing any descriptor of an existing file would drop the locks of this process's other connections to it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function prepareFile(database: DatabaseSync): void {
  const mode = database.prepare('pragma journal_mode = wal').get()?.['journal_mode']
  if (mode !== 'wal') throw new StoreUnavailableError('The SQLite file cannot keep a write-ahead log where it lies; use a local disk.')
  database.exec('pragma synchronous = full')
  database.exec('begin immediate')
  try {
    database.exec(CREATE_MIGRATION_TABLE)
    const found = integer(database.prepare(READ_SCHEMA).get(), 'number')
    for (const step of pendingSteps(found, SQLITE_DIALECT)) database.exec(step)
    database.exec('commit')
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** Does the work now, or while another connection has the lock again and again, at most `attempts` times. */
async function patiently<Outcome>(attempts: number, work: () => Outcome): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || attempt >= attempts) throw error
    }
    await setTimeout(BUSY_PAUSE_MS)
  }
}

function settleAll(jobs: readonly (Take | Write)[]): void {
  for (const job of jobs) {
    if ('request' in job) settle(job)
    else settle(job)
  }
}

function settle<Outcome>(job: Job<Outcome>): void {
  if (job.failure === undefined && job.outcome !== undefined) job.resolve(job.outcome)
  else job.reject(job.failure)
}

function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined
  return error.errcode & 0xff
}

/** The fault of one statement: the value's own, where SQLite says so. */
function fault(error: unknown): StoreError {
  return SQLITE_CANNOT_HOLD.has(resultCode(error)) ? new StoreRefusedError('The store cannot hold this value.', error) : outage(error)
}

function outage(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (isBusy(error)) return new StoreBusyError(error)
  const reason = resultCode(error) ?? 'no result code'
  return new StoreUnavailableError(`The SQLite store could not be read or written (${reason}).`, error)
}
