/** The few places where the two databases want different words in a table definition. */
export interface Dialect {
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
  text: (dialect: Dialect) => string
}
