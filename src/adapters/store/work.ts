/** What both drivers run: single statements, and works of several that happen as one or not at all. */

export interface Statement {
  /** Name under which a driver keeps it prepared. */
  name: string
  text: string
  /** Behind the text on PostgreSQL, where other connections write between two statements of a work. SQLite lets in one writer at a time. */
  row_lock?: 'for update' | 'for update skip locked'
}

export type Value = string | number | bigint | null
export type Row = Record<string, unknown>

export interface Query {
  statement: Statement
  values: Value[]
}

/** Statements one after the other, each chosen with the rows of those before it in hand; returns what came of them. */
export type Work<Outcome> = Generator<Query, Outcome, Row[]>

export interface AtomicOptions<Outcome> {
  /** What the work wrote is undone when this says no; its outcome is returned all the same. */
  keep?: (outcome: Outcome) => boolean
  /** Hexadecimal text: of works with the same one, over all processes, one runs after the other. */
  alone_with?: string
}

export interface Database {
  /** Whether one statement may write to several tables (PostgreSQL), which saves the round trips of a transaction. */
  joinsWrites(): boolean
  /** Runs one statement that changes nothing. */
  read(statement: Statement, values: Value[]): Promise<Row[]>
  /** Runs one statement and resolves when its change is durable. */
  write(statement: Statement, values: Value[]): Promise<Row[]>
  /** Runs a work as one unit and resolves when it is durable. `work` may be called again when nothing of a first run was kept. */
  atomically<Outcome>(work: () => Work<Outcome>, options?: AtomicOptions<Outcome>): Promise<Outcome>
}
