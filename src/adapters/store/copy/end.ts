import type { CopiedTable } from './schema.ts'

/** A value as both databases give it back: 64-bit integers as bigint. */
export type CopiedValue = bigint | string | null
export type CopiedRow = CopiedValue[]

/**
 * Leases that a service renews as long as it lives. Those of purging are taken for hours, by whoever was alive when they were due, and say
 * nothing of now.
 */
export const BY_WHO_SERVES = `name not like 'purge%'`

/** One end of a copy: the database as it lies, around the store's own statements. */
export interface CopyEnd {
  /** Rows of a table in pieces, in no order that means anything. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow[]> | Iterable<CopiedRow[]>
  /** Writes rows; undone by `end(false)`. */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> | void
  count(table: CopiedTable): Promise<number>
  /** The end of the longest lease of whoever serves that still runs, in milliseconds since 1970; null when none does. */
  leased_until(now_ms: number): Promise<number | null>
  /** Closes the transaction in which everything happened, and the connection. */
  end(keep: boolean): Promise<void>
}

/** Rows that are read, and written, at a time. */
export const PIECE_ROWS = 500
