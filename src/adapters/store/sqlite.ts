import { Worker } from 'node:worker_threads'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sealer } from '../../ports/signer.ts'
import type { AllowanceGrant, AllowanceRequest } from '../../ports/store.ts'
import { Breaker } from '../../pure/breaker.ts'
import { StoreUnavailableError, fault, isBusy, outage } from './errors.ts'
import { rejectAll, TurnBatch } from './batch.ts'
import { type BoundValue, count, type StoredValue } from './columns.ts'
import { expression, type PreparedStatement, sql, statement, type StoredRow } from './statements.ts'
import type { AtomicOptions, Work } from './database.ts'
import { InstanceFiles, makeFile } from './instance-files.ts'
import { READ_USED, SqlStore, TAKE_ONE } from './sql-store.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, READ_SCHEMA, SQLITE_DIALECT } from './migrations.ts'

/** The SQLite file itself: making it, bringing it up to date, waiting for its lock, and what its errors mean. */

/**
 * Pause between two tries to get a lock. SQLite's own waiting (busy_timeout) stays off: it would stop the event loop, and it asks so
 * seldom that of two busy processes one starves for a third of a second (measured; 70 ms this way).
 */
const BUSY_PAUSE_MS = 1

/** Pages of the write-ahead log at which a commit makes a checkpoint itself: a thread does it long before, unless that is gone. */
const CHECKPOINT_PAGES = 16_384
const CHECKPOINT_PAGES_ALONE = 1_000

/**
 * Page cache of a connection. With SQLite's default of 2 MB a busy service reads back pages that it has just written, because the hashes
 * that index its rows are spread over the file.
 */
const CACHE_KIB = 16_384

/** No thread makes checkpoints any more. */
function checkpointAlone(database: DatabaseSync, why: string): void {
  process.emitWarning(`Checkpoints of the store are made by its commits from now on: ${why}`)
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES_ALONE}`)
}

function prepareFile(database: DatabaseSync): void {
  const mode = database.prepare('pragma journal_mode = wal').get()?.['journal_mode']
  if (mode !== 'wal') throw new StoreUnavailableError('The SQLite file cannot keep a write-ahead log where it lies; use a local disk.')
  database.exec('pragma synchronous = full')
  database.exec(`pragma cache_size = -${CACHE_KIB}`)
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  database.exec('begin immediate')
  try {
    database.exec(CREATE_MIGRATION_TABLE)
    const found = READ_SCHEMA.read(database.prepare(READ_SCHEMA.text).get() ?? {}).number
    // Rows that a migration deletes are overwritten in the file.
    database.exec('pragma secure_delete = on')
    for (const step of pendingSteps(found, SQLITE_DIALECT)) database.exec(step)
    database.exec('commit')
    database.exec('pragma secure_delete = off')
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
    await pause(BUSY_PAUSE_MS)
  }
}

/** After a commit, the checkpoint comes so much later: what is written often in between goes into the file once. */
const DELAY_MS = 500

const MODULE = new URL('./checkpoint-worker.ts', import.meta.url)

/** Runs checkpoints of one SQLite file in a separate thread, which starts with the first one: they would block the event loop. */
export class Checkpoints {
  readonly #path: string
  readonly #module: URL
  readonly #onFault: (why: string) => void
  #thread: Worker | null = null
  #due: NodeJS.Timeout | null = null
  #busy = false
  #given_up = false

  /** When the thread dies, `onFault` receives the reason, and no more checkpoints run here. */
  constructor(path: string, onFault: (why: string) => void, module = MODULE) {
    this.#path = path
    this.#module = module
    this.#onFault = onFault
  }

  /** Something was committed. */
  committed(): void {
    if (this.#due !== null || this.#given_up) return
    this.#due = setTimeout(() => this.#begin(), DELAY_MS)
    this.#due.unref()
  }

  async stop(): Promise<void> {
    this.#given_up = true
    if (this.#due !== null) clearTimeout(this.#due)
    await this.#thread?.terminate()
  }

  #begin(): void {
    this.#due = null
    if (this.#busy || this.#given_up) return
    this.#busy = true
    this.#thread ??= this.#made()
    this.#thread.postMessage('checkpoint', [])
  }

  #made(): Worker {
    const thread = new Worker(this.#module, { workerData: { path: this.#path } })
    thread.unref()
    thread.on('message', () => (this.#busy = false))
    thread.on('error', (error) => this.#gaveUp(error.message))
    thread.on('exit', () => this.#gaveUp('the thread ended'))
    return thread
  }

  #gaveUp(why: string): void {
    if (this.#given_up) return
    this.#given_up = true
    this.#onFault(why)
  }
}

interface SqliteOptions {
  /** Items that one transaction holds. */
  batch_items: number
  /** Attempts to get the write lock, about one a millisecond, before the items of a transaction are rejected. */
  busy_attempts: number
  sealer: Sealer | null
}

/** One batch that waited in vain for the lock of the file opens it; the next batch is already a probe. */
const LOCK_BREAKER = { failures: 1, window_ms: 0, open_ms: 0, open_max_ms: 0 }

const READ_CLOCK = statement('read_clock', sql`select ${expression('now_ms', count, "cast(round(unixepoch('subsec') * 1000) as integer)")}`)

/** Something to do within the transaction of this turn, for someone who waits for the commit. */
interface Job {
  /** Runs the job; called again when the transaction is repeated. Throws when none of it was done. */
  run(): void
  /** Resolves with the result of the last run. */
  resolve(): void
  reject(reason: unknown): void
  failure: unknown
}

/**
 * One file, one connection, one transaction for all writes of an event-loop turn. Durable: write-ahead log with synchronous FULL.
 * Commits wait for the disk; checkpoints run in a separate thread.
 */
class SqliteStore extends SqlStore {
  readonly kind = 'sqlite'
  readonly instances: InstanceFiles
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #rollBackTo: StatementSync
  readonly #release: StatementSync
  readonly #takeOne: StatementSync
  readonly #readUsed: StatementSync
  readonly #queue: TurnBatch<Job>
  readonly #checkpoints: Checkpoints
  readonly #attempts: number
  readonly #lock = new Breaker(LOCK_BREAKER, { steady_ms: () => performance.now() })
  #closed: Promise<void> | undefined

  constructor(path: string, database: DatabaseSync, options: SqliteOptions) {
    super(options.sealer)
    this.#database = database
    this.instances = new InstanceFiles(path)
    this.#checkpoints = new Checkpoints(path, (why) => checkpointAlone(database, why))
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#savepoint = database.prepare('savepoint work')
    this.#rollBackTo = database.prepare('rollback to work')
    this.#release = database.prepare('release work')
    this.#takeOne = this.#prepare(TAKE_ONE)
    this.#readUsed = this.#prepare(READ_USED)
    this.#attempts = options.busy_attempts
    this.#queue = new TurnBatch(options.batch_items, (jobs) => this.#writeBatch(jobs))
  }

  async take(request: AllowanceRequest): Promise<AllowanceGrant> {
    const values = TAKE_ONE.values(request)
    return this.#inTransaction(() => this.#takeUnit(request, values))
  }

  readonly waiting = () => this.#queue.waiting()

  readonly breaker_open = () => !this.#lock.isClosed()

  async now_ms(): Promise<number> {
    const [row = {}] = await this.read(READ_CLOCK, [])
    return READ_CLOCK.read(row).now_ms
  }

  async settings(): Promise<Record<string, string>> {
    const found: Record<string, string> = { sqlite_version: this.#pragma('select sqlite_version()') }
    for (const name of ['journal_mode', 'synchronous']) found[name] = this.#pragma(`pragma ${name}`)
    return found
  }

  replication(): Promise<null> {
    return Promise.resolve(null)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#queue.drained()
    await this.#checkpoints.stop()
    this.instances.leave()
    this.#database.close()
  }

  protected async read(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    this.#assertOpen()
    try {
      return await patiently(this.#attempts, () => this.#prepare(prepared).all(...scalars(values)))
    } catch (error) {
      throw fault(error)
    }
  }

  protected write(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    return this.#inTransaction(() => this.#prepare(prepared).all(...scalars(values)))
  }

  /** Every transaction runs alone here, so `alone_with` needs nothing more. */
  protected atomically<Result>(work: () => Work<Result>, options: AtomicOptions<Result> = {}): Promise<Result> {
    return this.#inTransaction(() => this.#overwriting(options.overwrite ?? false, () => this.#allOrNothing(work, options.keep)))
  }

  /** SQLite leaves deleted and replaced bytes in the file unless `secure_delete` is on. */
  #overwriting<Result>(overwrite: boolean, run: () => Result): Result {
    if (!overwrite) return run()
    this.#database.exec('pragma secure_delete = on')
    try {
      return run()
    } finally {
      this.#database.exec('pragma secure_delete = off')
    }
  }

  #inTransaction<Result>(run: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#assertOpen()
      let outcome: Result
      this.#queue.push({
        run: () => {
          outcome = run()
        },
        resolve: () => resolve(outcome),
        reject,
        failure: undefined,
      })
    })
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.')
  }

  #prepare({ name, text }: PreparedStatement): StatementSync {
    const known = this.#prepared.get(name)
    if (known !== undefined) return known
    const prepared = this.#database.prepare(text)
    this.#prepared.set(name, prepared)
    return prepared
  }

  #pragma(text: string): string {
    return String(Object.values(this.#database.prepare(text).get() ?? {})[0])
  }

  /** While the breaker is open a batch is a probe: it tries to get the lock once. */
  #writeBatch(jobs: Job[]): void | Promise<void> {
    const probe = this.#lock.isClosed() ? null : this.#lock.take()
    try {
      this.#transact(jobs)
    } catch (error) {
      if (probe === null && isBusy(error)) return this.#writeLater(jobs)
      if (probe !== null) {
        if (isBusy(error)) this.#lock.failed(probe)
        else this.#lock.succeeded(probe)
      }
      return rejectAll(jobs, outage(error))
    }
    if (probe !== null) this.#lock.succeeded(probe)
    settleAll(jobs)
  }

  async #writeLater(jobs: Job[]): Promise<void> {
    try {
      await patiently(this.#attempts, () => this.#transact(jobs))
      settleAll(jobs)
    } catch (error) {
      rejectAll(jobs, outage(error))
      if (!isBusy(error)) return
      this.#lock.failed({ probe: false })
      // What gathered meanwhile would only wait as long again.
      rejectAll(this.#queue.withdraw(), outage(error))
    }
  }

  /** All jobs in one transaction, or an error and no change at all. */
  #transact(jobs: Job[]): void {
    this.#begin.run()
    try {
      for (const job of jobs) this.#run(job)
      this.#commit.run()
      this.#checkpoints.committed()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      throw error
    }
  }

  /** SQLite undoes only the failed statement, unless the failure ended the transaction (for example a full disk). */
  #run(job: Job): void {
    job.failure = undefined
    try {
      job.run()
    } catch (error) {
      if (!this.#database.isTransaction) throw error
      job.failure = fault(error)
    }
  }

  #takeUnit(request: AllowanceRequest, values: BoundValue[]): AllowanceGrant {
    const taken = request.limit > 0 ? this.#takeOne.get(...scalars(values)) : undefined
    if (taken !== undefined) return { granted: true, used: TAKE_ONE.read(taken).used }
    const row = this.#readUsed.get(...scalars(READ_USED.values(request)))
    return { granted: false, used: row === undefined ? 0 : READ_USED.read(row).used }
  }

  #allOrNothing<Result>(work: () => Work<Result>, keep?: (outcome: Result) => boolean): Result {
    this.#savepoint.run()
    let kept = false
    try {
      const outcome = this.#walk(work())
      kept = keep?.(outcome) ?? true
      return outcome
    } finally {
      this.#endSavepoint(kept)
    }
  }

  /** A failure that took the transaction with it took the savepoint too. */
  #endSavepoint(kept: boolean): void {
    if (!kept && !this.#database.isTransaction) return
    if (!kept) this.#rollBackTo.run()
    this.#release.run()
  }

  #walk<Result>(work: Work<Result>): Result {
    let step = work.next()
    while (step.done !== true) step = work.next(this.#prepare(step.value.statement).all(...scalars(step.value.values)))
    return step.value
  }
}

/** Only statements of PostgreSQL take lists. */
function scalars(values: BoundValue[]): StoredValue[] {
  return values as StoredValue[]
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
      return new SqliteStore(path, opened, options)
    })
  } catch (error) {
    database?.close()
    throw outage(error)
  }
}

function settleAll(jobs: readonly Job[]): void {
  for (const job of jobs) {
    if (job.failure === undefined) job.resolve()
    else job.reject(job.failure)
  }
}
