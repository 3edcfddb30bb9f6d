/**
 * Types of stored values, and groups of columns. A table is described once, as a group of columns; select lists, insert lists, updates, row
 * readers and parameters derive from it (sql.ts). Each type checks a value before either database sees it, so that both refuse the same
 * values, and checks what it reads, so that a damaged row is never taken for a good one.
 */

/** A value as both drivers bind it. */
export type StoredValue = string | number | bigint | null

/** PostgreSQL takes lists as arrays. */
export type BoundValue = StoredValue | readonly StoredValue[]

export interface ColumnType<Value> {
  /** For error messages: the values of this type. */
  readonly expected: string
  /** Type of a parameter in SQL, where PostgreSQL cannot infer it. */
  readonly sql: 'text' | 'integer' | 'bigint'
  /** Selected as text, because JavaScript numbers do not hold every value exactly. */
  readonly as_text: boolean
  /** Undefined for a value that is not of this type. */
  encode(value: Value): StoredValue | undefined
  /** Undefined for a stored value that is not of this type. The pg driver returns 64-bit integers and sums as text. */
  decode(stored: unknown): Value | undefined
}

/** A column that an index covers. */
const KEY_CHARS_MAX = 200
/** Answers, signatures and raw transactions. */
const TEXT_CHARS_MAX = 16 * 1_048_576
const INT32_MAX = 2_147_483_647
const INT64_MAX = 2n ** 63n - 1n
const UINT256_MAX = 2n ** 256n - 1n

function textType(expected: string, accepts: (value: string) => boolean): ColumnType<string> {
  return {
    expected,
    sql: 'text',
    as_text: false,
    encode: (value) => (accepts(value) ? value : undefined),
    decode: (stored) => (typeof stored === 'string' && accepts(stored) ? stored : undefined),
  }
}

/** PostgreSQL text cannot contain U+0000, and an unpaired surrogate has no UTF-8 form. */
function isStorable(value: string, chars_max: number): boolean {
  return value.length <= chars_max && !value.includes('\u0000') && value.isWellFormed()
}

const LONG_TEXT = textType('text of up to 16 Mi characters, without U+0000', (value) => isStorable(value, TEXT_CHARS_MAX))
/** Long text. Only its type is checked when it is read. */
export const text_type: ColumnType<string> = {
  ...LONG_TEXT,
  decode: (stored) => (typeof stored === 'string' ? stored : undefined),
}
export const key_type = textType(
  `text of 1 to ${KEY_CHARS_MAX} characters, without U+0000`,
  (value) => value.length > 0 && isStorable(value, KEY_CHARS_MAX),
)
const HASH = /^[0-9a-f]{64}$/
/** 32 bytes, such as a keyed hash. */
export const hash_type = textType('64 lower-case hexadecimal digits', (value) => HASH.test(value))
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Lower case only: two spellings of one payer would be two payers. */
export const address = textType('0x and 40 lower-case hexadecimal digits', (value) => ADDRESS.test(value))
const BYTES32 = /^0x[0-9a-f]{64}$/
/** Lower case only: two spellings of one nonce would be two payments. */
export const bytes32 = textType('0x and 64 lower-case hexadecimal digits', (value) => BYTES32.test(value))

export function word_type<const Words extends readonly string[]>(...words: Words): ColumnType<Words[number]> {
  return {
    expected: `one of ${words.join(', ')}`,
    sql: 'text',
    as_text: false,
    encode: (value) => (words.includes(value) ? value : undefined),
    decode: (stored) => words.find((known) => known === stored),
  }
}

function numberType(sql: 'integer' | 'bigint', min: number, max: number): ColumnType<number> {
  const accepts = (value: number) => Number.isSafeInteger(value) && value >= min && value <= max
  return {
    expected: `a whole number from ${min} to ${max}`,
    sql,
    as_text: false,
    encode: (value) => (accepts(value) ? value : undefined),
    decode: (stored) => {
      const value = typeof stored === 'string' ? Number(stored) : stored
      return typeof value === 'number' && accepts(value) ? value : undefined
    },
  }
}

/** 64 bits in the database, of which JavaScript numbers hold 53 exactly. */
export const count = numberType('bigint', 0, Number.MAX_SAFE_INTEGER)
export const count32 = numberType('integer', 0, INT32_MAX)

export function countFrom(min: number): ColumnType<number> {
  return numberType('bigint', min, Number.MAX_SAFE_INTEGER)
}

export function countUpTo(max: number): ColumnType<number> {
  return numberType('integer', 0, max)
}

function bigintType(stored_as: Pick<ColumnType<bigint>, 'sql' | 'as_text'>, min: bigint, max: bigint): ColumnType<bigint> {
  const accepts = (value: bigint) => value >= min && value <= max
  return {
    ...stored_as,
    expected: `a whole number from ${min} to ${max}`,
    encode: (value) => (accepts(value) ? (stored_as.sql === 'text' ? String(value) : value) : undefined),
    decode: (stored) => {
      const readable = typeof stored === 'string' ? /^-?\d+$/.test(stored) : Number.isSafeInteger(stored)
      const value = readable ? BigInt(stored as string | number) : null
      return value !== null && accepts(value) ? value : undefined
    },
  }
}

const WIDE = { sql: 'bigint', as_text: true } as const
/** Amounts in minor units: up to 2^63 - 1, more than any token with six decimals has minted. */
export const amount = bigintType(WIDE, 0n, INT64_MAX)
/** Charges that were given back are below zero. */
export const signed_amount = bigintType(WIDE, -INT64_MAX, INT64_MAX)
/** Amounts of wei and of tokens with 18 decimals: stored as text. */
export const uint256 = bigintType({ sql: 'text', as_text: false }, 0n, UINT256_MAX)

export const flag: ColumnType<boolean> = {
  expected: '0 or 1',
  sql: 'integer',
  as_text: false,
  encode: Number,
  decode: (stored) => (stored === 0 || stored === 1 ? stored === 1 : undefined),
}

export function nullable<Value>(type: ColumnType<Value>): ColumnType<Value | null> {
  return {
    ...type,
    encode: (value) => (value === null ? null : type.encode(value)),
    decode: (stored) => (stored === null ? null : type.decode(stored)),
  }
}

/** A value that a statement takes under a name. */
export interface Parameter<Name extends string, Value> {
  readonly name: Name
  readonly type: ColumnType<Value>
}

/** A column; its name in TypeScript is also the name of the parameter for its values. */
export interface TableColumn<Name extends string, Value> extends Parameter<Name, Value> {
  /** Its name in the database. */
  readonly column: string
}

export type TableColumns = Readonly<Record<string, TableColumn<string, unknown>>>
export type ValuesOf<Group extends TableColumns> = {
  -readonly [Name in keyof Group]: Group[Name] extends TableColumn<string, infer Value> ? Value : never
}

type ColumnsOf<Types> = {
  readonly [Name in keyof Types & string]: TableColumn<Name, Types[Name] extends ColumnType<infer Value> ? Value : never>
}

export function parameter<Name extends string, Value>(name: Name, type: ColumnType<Value>): Parameter<Name, Value> {
  return { name, type }
}

/** Columns of a table, each by its name in TypeScript; `names` lists those that the database calls otherwise. */
export function columns<const Types extends Readonly<Record<string, ColumnType<unknown>>>>(
  types: Types,
  names: { readonly [Name in keyof Types]?: string } = {},
): ColumnsOf<Types> {
  const group = Object.entries(types).map(([name, type]) => [name, { name, type, column: names[name] ?? name }])
  return Object.fromEntries(group) as ColumnsOf<Types>
}

export function pick<Group extends TableColumns, Name extends keyof Group>(group: Group, ...names: readonly Name[]): Pick<Group, Name> {
  return Object.fromEntries(names.map((name) => [name, group[name]])) as Pick<Group, Name>
}
