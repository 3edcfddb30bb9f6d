import type { Sealer } from '../../ports/signer.ts'
import type { AllowanceGrant, AllowanceRequest, Instances, StoreReplication } from '../../ports/store.ts'
import pg from 'pg'
import { limits } from '../../service/limits.ts'
import { rejectAll, TurnBatch } from './batch.ts'
import { StoreBusyError, StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, POSTGRES_DIALECT, READ_SCHEMA } from './migrations.ts'
import { type BoundValue, columns, count, count32, key_type, parameter, text_type } from './columns.ts'
import { columnLists, expression, type PreparedStatement, selected, sql, statement, type StoredRow } from './statements.ts'
import { assertStorable, type AtomicOptions, presentRow, type Work } from './database.ts'
import { allowance_key, PING, SqlStore, TAKE_ONE } from './sql-store.ts'
import { READ_WALSENDERS } from './replication.ts'
import { StoreBreaker } from './store-breaker.ts'

/** Groups many takes into one row for each key, and distributes the grants in order of arrival. */

/** A request that waits for its grant. */
export interface Take {
  request: AllowanceRequest
  resolve(grant: AllowanceGrant): void
  reject(reason: unknown): void
}

/** All requests of one key, in order of arrival. */
export interface TakeGroup {
  key: string
  request: AllowanceRequest
  takes: Take[]
}

/** U+0000 is in no bucket and no client, so different keys never make the same text. */
function allowanceKey({ day, bucket, client }: Pick<AllowanceRequest, 'day' | 'bucket' | 'client'>): string {
  return `${day}\u0000${bucket}\u0000${client}`
}

/**
 * Groups `takes` from index `start` up to the first take whose key is already grouped with another limit; that take is counted in the
 * next statement, as if each had been counted alone. `end` is the index after the last grouped take.
 */
export function groupTakes(takes: readonly Take[], start: number): { groups: TakeGroup[]; end: number } {
  const groups = new Map<string, TakeGroup>()
  let end = start
  for (const take of takes.slice(start)) {
    const { request } = take
    const key_text = allowanceKey(request)
    const group = groups.get(key_text)
    if (group === undefined) groups.set(key_text, { key: key_text, request, takes: [take] })
    else if (group.request.limit === request.limit) group.takes.push(take)
    else break
    end += 1
  }
  return { groups: [...groups.values()], end }
}

/** The first `granted` of the group get their unit; `used` is the count after the last of them. */
export function distributeGrants(group: TakeGroup, used: number, granted: number): void {
  group.takes.forEach((take, rank) => {
    take.resolve(rank < granted ? { granted: true, used: used - granted + rank + 1 } : { granted: false, used })
  })
}

/** Runs works with the same name one after the other, in order of arrival, and works with different names concurrently. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name)
    let done: (() => void) | undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(name, mine)
    try {
      await before
      return await work()
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
      done?.()
    }
  }
}

/** One for the batches of takes, which never wait behind anything else. */
const TAKE_CONNECTIONS = 1
const CONNECTIONS = 7
const CONNECT_MS = 3_000
/** Connection timeout at the start, when many connections open simultaneously and no answer is due yet. */
const START_MS = 15_000
/** Also what a call waits for one of the connections while others have them all: longer than the slowest of those may take. */
const PLACE_MS = 10_000
const STATEMENT_MS = 5_000
/** When the server does not even answer that it gave up. */
const ANSWER_MS = STATEMENT_MS + 1_000
/** Connection and answer of a probe. */
const PROBE_MS = 2_000
/** Migrations wait for each other and may rewrite a table. */
const MIGRATION_MS = 60_000
/** Key of the advisory lock: `assa` in ASCII, then one number for each use. */
const MIGRATION_LOCK = '1634956129, 1'

/** Counts survive a crash of the server only where a commit waits for the log; a stricter setting of the operator is kept. */
const WAIT_FOR_COMMIT = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') not in ('on', 'remote_apply')`

const READ_CLOCK = statement(
  'read_clock',
  sql`select ${expression('now_ms', count, 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint')}`,
)
const READ_SETTING = statement('setting', sql`select current_setting(${parameter('name', key_type)}) as value`)

/** Returns true when no session has the shared lock of the instance. The lock that the statement tries is released with it. */
const HAS_ENDED = statement(
  'has_instance_ended',
  sql`select pg_try_advisory_xact_lock(cast(${parameter('instance_lock', text_type)} as bigint)) as ended`,
)

const grants = columns({ used: count32, granted: count32 })

/**
 * Takes `units` for many keys, each key at most once, and returns how many of them were granted. `excluded` contains only columns of the
 * table, so the limit is passed in `allowed`; and the count before the update is not visible to `returning` before PostgreSQL 18, so the
 * grant is passed in `granted`. When units > allowed, excluded.used is allowed, and the result is the same since used ≥ 0.
 * Rows are locked in key order, so that two instances never wait for each other in a circle.
 */
const TAKE_MANY = statement(
  'take_many',
  sql`insert into allowance (day, bucket, client, used, allowed, granted)
    select day, bucket, client, least(units, allowed), allowed, least(units, allowed)
    from unnest(${columnLists('groups', { ...allowance_key, ...columns({ units: count32, allowed: count32 }) })})
      as asked (day, bucket, client, units, allowed)
    order by day, bucket collate "C", client collate "C"
    on conflict (day, bucket, client) do update set
      used = greatest(allowance.used, least(allowance.used + excluded.used, excluded.allowed)),
      granted = greatest(allowance.used, least(allowance.used + excluded.used, excluded.allowed)) - allowance.used,
      allowed = excluded.allowed
    returning ${selected({ ...allowance_key, ...grants })}`,
)

/** Classes of https://www.postgresql.org/docs/18/errcodes-appendix.html: data exception, constraint violation, raised by a trigger. */
const CANNOT_HOLD: ReadonlySet<string> = new Set(['22', '23', 'P0'])
/** Deadlock or serialization failure: the statement was undone and may be tried again. */
const ROLLED_BACK = '40'

/** Many instances, one database. All takes that gather while one statement is under way go into the next one. */
class PostgresStore extends SqlStore {
  readonly kind = 'postgres'
  readonly instances: Instances
  readonly #takes: pg.Pool
  readonly #pool: pg.Pool
  readonly #queue: TurnBatch<Take>
  readonly #turns = new Turns()
  readonly #under_way = new Set<Promise<unknown>>()
  readonly #texts = new Map<string, string>()
  readonly #breaker: StoreBreaker
  #closed: Promise<void> | undefined

  constructor(url: string, batch_items: number, sealer: Sealer | null) {
    super(sealer)
    const own = crypto.randomUUID()
    this.#breaker = new StoreBreaker(() => ping(url))
    this.instances = {
      join: () => this.#tracked(this.#send(this.#takes, PING, [])).then(() => own),
      isRunning: async (instance) => instance === own || !(await this.#hasEnded(instance)),
    }
    // One connection stays while nothing is counted: the lock that it holds says that this process is running.
    this.#takes = pool(url, { max: TAKE_CONNECTIONS, min: 1 }, own)
    this.#pool = pool(url, { max: CONNECTIONS }, own)
    this.#queue = new TurnBatch(batch_items, (takes) => this.#count(takes))
  }

  take(request: AllowanceRequest): Promise<AllowanceGrant> {
    return new Promise((resolve, reject) => {
      assertStorable(TAKE_ONE, request)
      this.#assertOpen()
      this.#queue.push({ request, resolve, reject })
    })
  }

  readonly waiting = () => this.#queue.waiting() + this.#under_way.size

  readonly breaker_open = () => this.#breaker.isOpen()

  async now_ms(): Promise<number> {
    const [row = {}] = await this.read(READ_CLOCK, [])
    return READ_CLOCK.read(row).now_ms
  }

  async settings(): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for (const name of ['server_version', 'synchronous_commit', 'fsync', 'full_page_writes', 'statement_timeout'])
      found[name] = await this.#setting(name)
    return found
  }

  async replication(): Promise<StoreReplication> {
    const standby_names = await this.#setting('synchronous_standby_names')
    const synchronous_commit = await this.#setting('synchronous_commit')
    const rows = (await this.read(READ_WALSENDERS, [])).map(READ_WALSENDERS.read).filter(({ is_logical }) => !is_logical)
    const states = rows.map(({ sync_state }) => sync_state).filter((state) => state !== null)
    return { standby_names, synchronous_commit, standbys: states.length === rows.length ? states : null }
  }

  async #setting(name: string): Promise<string> {
    const [row] = await this.read(READ_SETTING, READ_SETTING.values({ name }))
    return String(row?.['value'])
  }

  async #hasEnded(instance: string): Promise<boolean> {
    const [row] = await this.read(HAS_ENDED, HAS_ENDED.values({ instance_lock: instanceLock(instance) }))
    return row?.['ended'] === true
  }

  close(): Promise<void> {
    this.#closed ??= this.#queue.drained().then(() => this.#end())
    return this.#closed
  }

  protected read(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    return this.#query(prepared, values)
  }

  protected write(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    return this.#query(prepared, values)
  }

  /** Here the works of one process take turns before they wait in the database, so that one payer occupies one connection at most. */
  protected async atomically<Result>(work: () => Work<Result>, options: AtomicOptions<Result> = {}): Promise<Result> {
    this.#assertOpen()
    const { alone_with } = options
    if (alone_with === undefined) return this.#tracked(this.#transact('begin', work, options.keep))
    return this.#tracked(this.#turns.take(alone_with, () => this.#transact(beginAlone(alone_with), work, options.keep)))
  }

  async #transact<Result>(begin: string, work: () => Work<Result>, keep?: (outcome: Result) => boolean): Promise<Result> {
    let client: pg.PoolClient | undefined
    try {
      client = await this.#connect(this.#pool)
      await client.query(begin)
      const outcome = await this.#walk(client, work())
      await client.query((keep?.(outcome) ?? true) ? 'commit' : 'rollback')
      client.release()
      return outcome
    } catch (error) {
      if (isSilence(error)) this.#breaker.failed()
      await giveUp(client)
      throw fault(error)
    }
  }

  /** A connection of the pool. The breaker counts a server that cannot be reached, but not a pool whose connections are all in use. */
  #connect(connections: pg.Pool): Promise<pg.PoolClient> {
    return this.#breaker.waitFor(({ resolve, reject }) =>
      connections.connect((error, client, release) => {
        if (client !== undefined) {
          if (!resolve(client)) release()
          return
        }
        if (isUnreachable(error)) this.#breaker.failed()
        reject(error)
      }),
    )
  }

  async #walk<Result>(client: pg.PoolClient, work: Work<Result>): Promise<Result> {
    let step = work.next()
    while (step.done !== true) step = work.next(await this.#run(client, step.value.statement, step.value.values))
    return step.value
  }

  async #end(): Promise<void> {
    this.#breaker.stop()
    await Promise.allSettled(this.#under_way)
    await Promise.all([this.#takes.end(), this.#pool.end()])
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.')
    this.#breaker.assertClosed()
    if (this.#under_way.size >= limits.store_waiting) throw new StoreBusyError('too much waits')
  }

  async #query(prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    this.#assertOpen()
    return this.#tracked(this.#send(this.#pool, prepared, values))
  }

  /** A pool that ends forgets who waits for a connection; so the end waits for them. */
  async #tracked<Result>(running: Promise<Result>): Promise<Result> {
    this.#under_way.add(running)
    try {
      return await running
    } finally {
      this.#under_way.delete(running)
    }
  }

  async #send(connections: pg.Pool, prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    let client: pg.PoolClient | undefined
    try {
      client = await this.#connect(connections)
      const rows = await this.#run(client, prepared, values)
      client.release()
      return rows
    } catch (error) {
      if (isSilence(error)) this.#breaker.failed()
      client?.release(true)
      throw fault(error)
    }
  }

  async #run(by: pg.PoolClient, prepared: PreparedStatement, values: BoundValue[]): Promise<StoredRow[]> {
    return (await by.query<StoredRow>({ name: prepared.name, text: this.#text(prepared), values })).rows
  }

  #text({ name, text: sql_text, row_lock }: PreparedStatement): string {
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const numbered = `${sql_text.replaceAll(/\?(?=\d)/g, '$')} ${row_lock ?? ''}`
    this.#texts.set(name, numbered)
    return numbered
  }

  async #count(takes: Take[]): Promise<void> {
    for (let start = 0; start < takes.length;) {
      const { groups, end } = groupTakes(takes, start)
      try {
        await this.#countGroups(groups)
      } catch (error) {
        rejectAll(takes.slice(start), error)
        rejectAll(this.#queue.withdraw(), error)
        return
      }
      start = end
    }
  }

  /** Settles every group, or throws when the database is out of reach. A group that the database refuses takes no other with it. */
  async #countGroups(groups: TakeGroup[]): Promise<void> {
    try {
      const counted = groups.map(({ request, takes }) => ({ ...request, units: takes.length, allowed: request.limit }))
      distributeAllGrants(groups, await this.#send(this.#takes, TAKE_MANY, TAKE_MANY.values({ groups: counted })))
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      const [first, second] = groups
      if (second === undefined) rejectAll(first?.takes ?? [], error)
      else for (const group of groups) await this.#countGroups([group])
    }
  }
}

function pool(url: string, bounds: Pick<pg.PoolConfig, 'max' | 'min'>, instance: string): pg.Pool {
  const connections = new pg.Pool({
    ...connection(url, STATEMENT_MS, ANSWER_MS),
    connectionTimeoutMillis: PLACE_MS,
    ...bounds,
    onConnect: (client) => prepareSession(client, instance),
  })
  // A connection that dies while idle leaves the pool by itself; the next call opens another.
  connections.on('error', () => undefined)
  return connections
}

/**
 * Begins a transaction that holds the lock of this name till its end, in one round trip. Works whose names agree in their last 64 bits
 * wait for each other without need, which harms nothing. The lock is taken before the first statement that reads, because what a
 * statement sees is fixed when it starts.
 */
function beginAlone(name: string): string {
  return `begin; select pg_advisory_xact_lock(${BigInt.asIntN(64, BigInt(`0x${name.slice(-16)}`))})`
}

/** Rolls back where that is possible; otherwise the connection is closed, which rolls back too. */
async function giveUp(client: pg.PoolClient | undefined): Promise<void> {
  if (client === undefined) return
  try {
    await client.query('rollback')
    client.release()
  } catch {
    client.release(true)
  }
}

/**
 * Makes commits durable, and holds the shared lock of this process for as long as the session lasts. The pool hands no connection out
 * before the promise is kept, although its type does not say so.
 */
function prepareSession(client: pg.ClientBase, instance: string): unknown {
  // A connection lost within a transaction fails the current statement; as an event it would end the process.
  client.on('error', () => undefined)
  return client.query(`${WAIT_FOR_COMMIT}; select pg_advisory_lock_shared(${instanceLock(instance)})`)
}

/** Key of the advisory lock of a process: 64 random bits of its id. */
function instanceLock(instance: string): string {
  const bits = instance.replaceAll(/[^0-9a-f]/g, '').slice(-16)
  return BigInt.asIntN(64, BigInt(`0x${bits === '' ? '0' : bits}`)).toString()
}

function distributeAllGrants(groups: readonly TakeGroup[], rows: readonly StoredRow[]): void {
  const counted = new Map(rows.map(TAKE_MANY.read).map((row) => [allowanceKey(row), row]))
  for (const group of groups) {
    const { used, granted } = presentRow(counted.get(group.key))
    distributeGrants(group, used, granted)
  }
}

/** Connects and brings the schema up to date. */
export async function openPostgres(url: string, batch_items: number, sealer: Sealer | null): Promise<PostgresStore> {
  const client = new pg.Client({ ...connection(url, MIGRATION_MS, MIGRATION_MS + 1_000), connectionTimeoutMillis: START_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await migrate(client)
    return new PostgresStore(url, batch_items, sealer)
  } catch (error) {
    throw fault(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** One transaction: an error anywhere, or a lost connection, leaves the schema as it was. */
async function migrate(client: pg.Client): Promise<void> {
  await client.query('begin')
  await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`)
  await client.query(CREATE_MIGRATION_TABLE)
  const found = await client.query<StoredRow>(READ_SCHEMA.text)
  for (const step of pendingSteps(READ_SCHEMA.read(found.rows[0] ?? {}).number, POSTGRES_DIALECT)) await client.query(step)
  await client.query('commit')
}

function connection(url: string, statement_ms: number, answer_ms: number): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statement_ms,
    query_timeout: answer_ms,
    // A process that vanished from the network in the middle of a transaction must not keep its locks until TCP gives up, hours later.
    idle_in_transaction_session_timeout: answer_ms,
    keepAlive: true,
    application_name: 'assay',
  }
}

/** Asks the server on a new connection, which ends with the question. */
async function ping(url: string): Promise<void> {
  const client = new pg.Client(connection(url, PROBE_MS, PROBE_MS))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(PING.text)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Messages of pg and pg-pool, whose time-outs have no code. */
const NO_PLACE = 'timeout exceeded when trying to connect'
const NO_ANSWER = 'Query read timeout'

/** The server did not answer a statement in time. A connection that is lost says nothing about the server; the next one does. */
function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === NO_ANSWER
}

/** Returns true when no connection could be opened: neither another error of the server, nor a pool whose connections are all in use. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(?:08|57P)/.test(error.code ?? '')
  return error instanceof Error && error.message !== NO_PLACE
}

function fault(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer'
  const state = error instanceof pg.DatabaseError ? code.slice(0, 2) : ''
  if (state === ROLLED_BACK) return new StoreBusyError(error)
  if (CANNOT_HOLD.has(state)) return new StoreRefusedError('The store cannot hold this value.', error)
  return new StoreUnavailableError(`The PostgreSQL store could not be used (${code}).`, error)
}
