import pg from 'pg'
import type { AllowanceGrant, AllowanceRequest } from '../../ports/store.ts'
import { rejectAll, TurnBatch } from './batch.ts'
import { StoreBusyError, StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, POSTGRES_DIALECT, READ_SCHEMA } from './migrations.ts'
import { TAKE_MANY } from './sql.ts'
import type { Statement } from './sql.ts'
import { assertStorable, integer, SqlStore, text } from './sql-store.ts'
import type { Row, Value } from './sql-store.ts'
import { handOut, keyOf, tally } from './tally.ts'
import type { Group, Take } from './tally.ts'

/** Enough for one batch of takes and, beside it, everything else. */
const CONNECTIONS = 2
const CONNECT_MS = 3_000
const STATEMENT_MS = 5_000
/** When the server does not even answer that it gave up. */
const ANSWER_MS = STATEMENT_MS + 1_000
/** Migrations wait for each other and may rewrite a table. */
const MIGRATION_MS = 60_000
/** Key of the advisory lock: `assa` in ASCII, then one number for each use. */
const MIGRATION_LOCK = '1634956129, 1'

/** Counts survive a crash of the server only where a commit waits for the log; a stricter setting of the operator is kept. */
const WAIT_FOR_COMMIT = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') not in ('on', 'remote_apply')`

/** Classes of https://www.postgresql.org/docs/18/errcodes-appendix.html: data exception, constraint violation, raised by a trigger. */
const CANNOT_HOLD: ReadonlySet<string> = new Set(['22', '23', 'P0'])
/** Deadlock or serialization failure: the statement was undone and may be tried again. */
const ROLLED_BACK = '40'

/** Many instances, one database. All takes that gather while one statement is under way go into the next one. */
class PostgresStore extends SqlStore {
  readonly kind = 'postgres'
  readonly #pool: pg.Pool
  readonly #queue: TurnBatch<Take>
  readonly #texts = new Map<string, string>()
  #closed: Promise<void> | undefined

  constructor(url: string, batch_items: number) {
    super()
    this.#pool = new pg.Pool({
      ...connection(url, STATEMENT_MS, ANSWER_MS),
      max: CONNECTIONS,
      onConnect: waitForCommit,
    })
    // A connection that dies while idle leaves the pool by itself; the next call opens another.
    this.#pool.on('error', () => undefined)
    this.#queue = new TurnBatch(batch_items, (takes) => this.#count(takes))
  }

  take(request: AllowanceRequest): Promise<AllowanceGrant> {
    return new Promise((resolve, reject) => {
      assertStorable(request)
      this.#assertOpen()
      this.#queue.push({ request, resolve, reject })
    })
  }

  async settings(): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for (const name of ['server_version', 'synchronous_commit', 'fsync', 'full_page_writes', 'statement_timeout']) {
      const [row] = await this.read({ name: 'setting', text: 'select current_setting(?1) as value' }, [name])
      found[name] = text(row, 'value')
    }
    return found
  }

  close(): Promise<void> {
    this.#closed ??= this.#queue.drained().then(() => this.#pool.end())
    return this.#closed
  }

  protected read(statement: Statement, values: Value[]): Promise<Row[]> {
    return this.#query(statement, values)
  }

  protected write(statement: Statement, values: Value[]): Promise<Row[]> {
    return this.#query(statement, values)
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.')
  }

  async #query(statement: Statement, values: unknown[]): Promise<Row[]> {
    this.#assertOpen()
    return this.#send(statement, values)
  }

  async #send(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return (await this.#pool.query<Row>({ name: statement.name, text: this.#text(statement), values })).rows
    } catch (error) {
      throw fault(error)
    }
  }

  #text(statement: Statement): string {
    const known = this.#texts.get(statement.name)
    if (known !== undefined) return known
    const numbered = statement.text.replaceAll(/\?(?=\d)/g, '$')
    this.#texts.set(statement.name, numbered)
    return numbered
  }

  async #count(takes: Take[]): Promise<void> {
    for (let start = 0; start < takes.length;) {
      const { groups, end } = tally(takes, start)
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
  async #countGroups(groups: Group[]): Promise<void> {
    try {
      handOutAll(groups, await this.#send(TAKE_MANY, columns(groups)))
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      const [first, second] = groups
      if (second === undefined) rejectAll(first?.takes ?? [], error)
      else for (const group of groups) await this.#countGroups([group])
    }
  }
}

/** The pool hands no connection out before the promise is kept, although its type does not say so. */
function waitForCommit(client: pg.ClientBase): unknown {
  return client.query(WAIT_FOR_COMMIT)
}

function columns(groups: readonly Group[]): unknown[] {
  return [
    groups.map((group) => group.request.day),
    groups.map((group) => group.request.bucket),
    groups.map((group) => group.request.client),
    groups.map((group) => group.takes.length),
    groups.map((group) => group.request.limit),
  ]
}

function handOutAll(groups: readonly Group[], rows: readonly Row[]): void {
  const counted = new Map(rows.map((row) => [keyOf(integer(row, 'day'), text(row, 'bucket'), text(row, 'client')), row]))
  for (const group of groups) {
    const row = counted.get(group.key)
    handOut(group, integer(row, 'used'), integer(row, 'granted'))
  }
}

/** Connects and brings the schema up to date. */
export async function openPostgres(url: string, batch_items: number): Promise<PostgresStore> {
  const client = new pg.Client(connection(url, MIGRATION_MS, MIGRATION_MS + 1_000))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await migrate(client)
    return new PostgresStore(url, batch_items)
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
  const found = await client.query<Row>(READ_SCHEMA)
  for (const step of pendingSteps(integer(found.rows[0], 'number'), POSTGRES_DIALECT)) await client.query(step)
  await client.query('commit')
}

function connection(url: string, statement_ms: number, answer_ms: number): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statement_ms,
    query_timeout: answer_ms,
    keepAlive: true,
    application_name: 'assay',
  }
}

function fault(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer'
  const state = error instanceof pg.DatabaseError ? code.slice(0, 2) : ''
  if (state === ROLLED_BACK) return new StoreBusyError(error)
  if (CANNOT_HOLD.has(state)) return new StoreRefusedError('The store cannot hold this value.', error)
  return new StoreUnavailableError(`The PostgreSQL store could not be used (${code}).`, error)
}
