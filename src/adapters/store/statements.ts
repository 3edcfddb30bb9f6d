import type { TableColumn, TableColumns, Parameter, BoundValue, ValuesOf, StoredValue } from './columns.ts'
import { StoreRefusedError, StoreUnavailableError } from './errors.ts'

/** Builds SQL statements from columns: their text, what they take and what they return. */

/** SQL for a driver. Placeholders are `?1`, `?2` …, in the order of the values; the PostgreSQL driver writes them as `$1`, `$2`. */
export interface PreparedStatement {
  /** Name under which a driver keeps it prepared. */
  readonly name: string
  readonly text: string
  /** Behind the text on PostgreSQL, where other connections write between two statements of a work. SQLite lets in one writer at a time. */
  readonly row_lock?: 'for update' | 'for update skip locked'
}

export type StoredRow = Record<string, unknown>

/** A statement that takes `Params` by name; each row that it returns is read as a `Result`. */
export interface Statement<Params, Result> extends PreparedStatement {
  readonly fragment: SqlFragment<Params, Result>
  /** Values in the order of the placeholders. Throws a StoreRefusedError when a value cannot be stored. */
  values(params: Params): BoundValue[]
  /** Throws a StoreUnavailableError for a row with a value that is not of the type of its column. */
  read(row: StoredRow): Result
}

/** A piece of SQL with the parameters and select lists that are part of it. */
export interface SqlFragment<Params, Result> {
  readonly strings: readonly string[]
  readonly parts: readonly SqlPart[]
  /** For the compiler only. */
  readonly types?: (params: Params) => Result
}

interface SelectList<Result> {
  readonly select_list: string
  readonly columns: TableColumns
  /** For the compiler only. */
  readonly types?: () => Result
}

/** Placeholders for rows that the statement takes as a list. */
interface RowList<Name extends string, Group extends TableColumns> {
  readonly row_list: Name
  readonly columns: Group
  /** Number of rows in `(?1, ?2), (?3, ?4)`; null: a PostgreSQL array for each column. */
  readonly count: number | null
}

type SqlPart = Parameter<string, unknown> | SqlFragment<never, unknown> | SelectList<unknown> | RowList<string, TableColumns>

type Takes<Part> =
  Part extends Parameter<infer Name, infer Value>
    ? (params: Readonly<Record<Name, Value>>) => void
    : Part extends RowList<infer Name, infer Group>
      ? (params: Readonly<Record<Name, readonly Readonly<ValuesOf<Group>>[]>>) => void
      : Part extends SqlFragment<infer Params, unknown>
        ? (params: Params) => void
        : never
type Returns<Part> =
  Part extends SelectList<infer Result>
    ? (result: Result) => void
    : Part extends SqlFragment<never, infer Result>
      ? (result: Result) => void
      : never
type ParamsOf<Part> = Takes<Part> extends (params: infer Params) => void ? Params : never
type ResultOf<Part> = Returns<Part> extends (result: infer Result) => void ? Result : never

/** SQL in which `${column}` or `${parameter}` is a value that the statement takes; fragments and select lists become part of it. */
export function sql<const Parts extends readonly SqlPart[]>(
  strings: TemplateStringsArray,
  ...parts: Parts
): SqlFragment<ParamsOf<Parts[number]>, ResultOf<Parts[number]>> {
  return { strings, parts }
}

/** SQL that is known when the module is loaded. */
export function raw(text: string): SqlFragment<unknown, unknown> {
  return { strings: [text], parts: [] }
}

/** Words of a column as a list of SQL literals. */
export function literals(words: readonly string[]): SqlFragment<unknown, unknown> {
  return raw(words.map((word) => `'${word}'`).join(', '))
}

/** Select list of the columns; rows are read from it. `alias` is that of their table. */
export function selected<Group extends TableColumns>(group: Group, alias?: string): SelectList<ValuesOf<Group>> {
  const prefix = alias === undefined ? '' : `${alias}.`
  const list = Object.values(group).map(({ column, type }) =>
    type.as_text ? `cast(${prefix}${column} as text) as ${column}` : prefix + column,
  )
  return { select_list: list.join(', '), columns: group }
}

/** Select list of one expression, such as `count(*)`. */
export function expression<Name extends string, Value>(
  name: Name,
  type: TableColumn<Name, Value>['type'],
  text: string,
): SelectList<Readonly<Record<Name, Value>>> {
  return { select_list: `${text} as ${name}`, columns: { [name]: { name, type, column: name } } }
}

/** Columns by their names in the database, with fixed SQL or another parameter for each. */
type FixedColumns = Readonly<Record<string, SqlPart>>
type NoColumns = Readonly<Record<string, never>>
type InsertParams<Group extends TableColumns, Fixed extends FixedColumns> = Readonly<ValuesOf<Group>> & ParamsOf<Fixed[keyof Fixed]>

function joined<Params>(parts: readonly SqlPart[], before: string, separator: string, after: string): SqlFragment<Params, unknown> {
  return { strings: [before, ...parts.slice(1).map(() => separator), after], parts }
}

function columnNames(group: TableColumns, fixed: FixedColumns): string {
  return [...Object.values(group).map(({ column }) => column), ...Object.keys(fixed)].join(', ')
}

/** `(a, b, c) values (?1, ?2, …)`: a parameter for each column of the group, and what is fixed. */
export function inserted<Group extends TableColumns, const Fixed extends FixedColumns = NoColumns>(
  group: Group,
  fixed?: Fixed,
): SqlFragment<InsertParams<Group, Fixed>, unknown> {
  const parts = [...Object.values(group), ...Object.values(fixed ?? {})]
  return joined(parts, `(${columnNames(group, fixed ?? {})}) values (`, ', ', ')')
}

/** `(a, b, c) select ?1, ?2, …`, to be followed by `from`. */
export function insertedFrom<Group extends TableColumns, const Fixed extends FixedColumns = NoColumns>(
  group: Group,
  fixed?: Fixed,
): SqlFragment<InsertParams<Group, Fixed>, unknown> {
  const casts = Object.values(group).map((column) => joined<never>([column], 'cast(', '', ` as ${column.type.sql})`))
  return joined([...casts, ...Object.values(fixed ?? {})], `(${columnNames(group, fixed ?? {})}) select `, ', ', '')
}

/** `a = ?1, b = ?2` for an update. */
export function assigned<Group extends TableColumns>(group: Group): SqlFragment<Readonly<ValuesOf<Group>>, unknown> {
  const parts = Object.values(group)
  const [first, ...rest] = parts.map(({ column }) => `${column} = `)
  return { strings: [first ?? '', ...rest.map((text) => `, ${text}`), ''], parts }
}

/** `a = ?1 and b = ?2` for a condition. */
export function matched<Group extends TableColumns>(group: Group): SqlFragment<Readonly<ValuesOf<Group>>, unknown> {
  const { strings, parts } = assigned(group)
  return { strings: strings.map((text) => text.replace(/^, /, ' and ')), parts }
}

/** `a = excluded.a, b = excluded.b` for an upsert. */
export function replaced(group: TableColumns): SqlFragment<unknown, unknown> {
  return raw(
    Object.values(group)
      .map(({ column }) => `${column} = excluded.${column}`)
      .join(', '),
  )
}

/** Placeholders for `count` rows, which the statement takes as a list under `name`. */
export function rowList<Name extends string, Group extends TableColumns>(name: Name, group: Group, length: number): RowList<Name, Group> {
  return { row_list: name, columns: group, count: length }
}

/** An array for each column, such as `?1::integer[], ?2::text[]`, for `unnest` of PostgreSQL. */
export function columnLists<Name extends string, Group extends TableColumns>(name: Name, group: Group): RowList<Name, Group> {
  return { row_list: name, columns: group, count: null }
}

type Encoder = (params: Readonly<Record<string, unknown>>, values: BoundValue[]) => void

/** The value as it is stored; throws a StoreRefusedError for one that is not of the type. */
function encode<Value>({ name, type }: Parameter<string, Value>, value: Value): StoredValue {
  const stored = type.encode(value)
  if (stored === undefined) throw new StoreRefusedError(`The store cannot hold this value of ${name}: expected ${type.expected}.`)
  return stored
}

/** The value of a stored one; throws a StoreUnavailableError for one that is not of the type of its column. */
function decode<Value>({ column, type }: TableColumn<string, Value>, stored: unknown): Value {
  const value = type.decode(stored)
  if (value === undefined) throw new StoreUnavailableError(`Column ${column} of the store has a wrong value: expected ${type.expected}.`)
  return value
}

/** Text, encoders and columns of a statement, collected from its fragments. */
class Compilation {
  text = ''
  readonly columns: Record<string, TableColumn<string, unknown>> = {}
  readonly encoders: Encoder[] = []
  #placeholders = 0
  readonly #numbers: Record<string, number> = {}

  add({ strings, parts }: SqlFragment<never, unknown>): this {
    for (const [at, text] of strings.entries()) {
      this.text += text
      const part = parts[at]
      if (part !== undefined) this.#addPart(part)
    }
    return this
  }

  #addPart(part: SqlPart): void {
    if ('strings' in part) this.add(part)
    else if ('row_list' in part) this.#addRows(part)
    else if ('select_list' in part) {
      this.text += part.select_list
      Object.assign(this.columns, part.columns)
    } else this.#addParameter(part)
  }

  #addParameter(part: Parameter<string, unknown>): void {
    let number = this.#numbers[part.name]
    if (number === undefined) {
      number = ++this.#placeholders
      this.#numbers[part.name] = number
      this.encoders.push((params, values) => values.push(encode(part, params[part.name])))
    }
    this.text += `?${number}`
  }

  #addRows({ row_list, columns: group, count }: RowList<string, TableColumns>): void {
    const list = Object.values(group)
    const rowsOf = (params: Readonly<Record<string, unknown>>) => params[row_list] as readonly Readonly<Record<string, unknown>>[]
    if (count === null) {
      this.text += list.map(({ type }) => `?${++this.#placeholders}::${type.sql}[]`).join(', ')
      this.encoders.push((params, values) => {
        for (const column of list) values.push(rowsOf(params).map((item) => encode(column, item[column.name])))
      })
      return
    }
    const row = () => `(${list.map(() => `?${++this.#placeholders}`).join(', ')})`
    this.text += Array.from({ length: count }, row).join(', ')
    this.encoders.push((params, values) => {
      for (const item of rowsOf(params)) for (const column of list) values.push(encode(column, item[column.name]))
    })
  }
}

export function statement<Params, Result>(
  name: string,
  fragment: SqlFragment<Params, Result>,
  row_lock?: PreparedStatement['row_lock'],
): Statement<Params, Result> {
  const { text, columns: group, encoders } = new Compilation().add(fragment)
  const list = Object.values(group)
  return {
    name,
    text,
    ...(row_lock === undefined ? {} : { row_lock }),
    fragment,
    values: (params) => {
      const values: BoundValue[] = []
      for (const encoder of encoders) encoder(params as Readonly<Record<string, unknown>>, values)
      return values
    },
    read: (row) => {
      const result: Record<string, unknown> = {}
      for (const column of list) result[column.name] = decode(column, row[column.column])
      return result as Result
    },
  }
}

/** The same statement under another name, with a lock on its rows. */
export function locked<Params, Result>(name: string, { fragment }: Statement<Params, Result>): Statement<Params, Result> {
  return statement(name, fragment, 'for update')
}
