import { StoreUnavailableError } from './errors.ts'
import type { Row } from './work.ts'

/** Reads what the two drivers hand over: pg gives 64-bit integers and sums as text. */

/** A whole number that JavaScript holds exactly. */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column]
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new StoreUnavailableError(`The store holds no whole number in column ${column}.`)
}

export function integerOrNull(row: Row | undefined, column: string): number | null {
  return row?.[column] === null ? null : integer(row, column)
}

/** A whole number of any size, selected as text where it may exceed 2^53. */
export function wide(row: Row | undefined, column: string): bigint {
  const value = row?.[column]
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw new StoreUnavailableError(`The store holds no whole number in column ${column}.`)
}

export function text(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value === 'string') return value
  throw new StoreUnavailableError(`The store holds no text in column ${column}.`)
}

export function textOrNull(row: Row | undefined, column: string): string | null {
  return row?.[column] === null ? null : text(row, column)
}

/** One of a few words. */
export function oneOf<Word extends string>(row: Row | undefined, column: string, words: readonly Word[]): Word {
  const value = text(row, column)
  const word = words.find((known) => known === value)
  if (word !== undefined) return word
  throw new StoreUnavailableError(`The store holds an unknown word in column ${column}.`)
}
