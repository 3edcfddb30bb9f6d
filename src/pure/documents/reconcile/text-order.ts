import type { TextPool } from './text-pool.ts'

/** Bits of a whole number that a double holds. */
const EXACT_BITS = 53
const PREFIX_BITS = 32

/**
 * Rows by text, ties by `settle`. Most of it is a sort of plain numbers: the first four bytes behind what all texts share, and the row, in
 * one double. Only rows that share those bytes as well are compared text by text.
 */
export function orderByText(
  pool: TextPool,
  rows: number,
  textOf: (row: number) => number,
  settle: (one: number, other: number) => number,
): Int32Array {
  const row_bits = Math.max(1, 32 - Math.clz32(rows))
  const drop = 2 ** Math.max(0, PREFIX_BITS + row_bits - EXACT_BITS)
  const scale = 2 ** row_bits
  const shared = sharedBytes(pool, rows, textOf)
  const keys = new Float64Array(rows)
  for (let row = 0; row < rows; row++) keys[row] = Math.floor(pool.prefix(textOf(row), shared) / drop) * scale + row
  keys.sort()
  const order = new Int32Array(rows)
  let start = 0
  for (let at = 0; at < rows; at++) {
    const key = keys[at] ?? 0
    order[at] = key % scale
    if (at + 1 < rows && Math.floor((keys[at + 1] ?? 0) / scale) === Math.floor(key / scale)) continue
    if (at > start) order.subarray(start, at + 1).sort((one, other) => pool.compare(textOf(one), textOf(other)) || settle(one, other))
    start = at + 1
  }
  return order
}

/** How many bytes every text begins with alike. */
function sharedBytes(pool: TextPool, rows: number, textOf: (row: number) => number): number {
  let shared = Infinity
  const first = rows === 0 ? 0 : textOf(0)
  for (let row = 1; row < rows && shared > 0; row++) shared = Math.min(shared, pool.alike(first, textOf(row)))
  return shared === Infinity ? 0 : shared
}
