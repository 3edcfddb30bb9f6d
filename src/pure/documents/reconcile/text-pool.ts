import { Ints } from './columns.ts'
import { foldId } from './ids.ts'

const BLOCK_BYTES = 4 * 1_048_576
/** Texts beyond this are cut; ids are shorter. */
const TEXT_BYTES = 1_024
/** A text that finds no place within so many steps goes to a map of the engine, whose hash nobody can steer. */
const STEPS = 64
const RECENT = 256

/**
 * Texts as numbers: the same text gets the same number, so that texts are compared, and kept, as integers. Bytes lie in blocks, not in
 * objects: a million ids take some 40 MB. Number 0 stands for no text. Chosen texts cannot make it slow: a run of collisions ends after a
 * fixed number of steps.
 */
export class TextPool {
  private readonly blocks: Uint8Array[] = [new Uint8Array(0)]
  private block_end = 0
  private readonly starts = new Ints()
  private readonly lengths = new Ints()
  private readonly hashes = new Ints()
  private table = new Int32Array(4_096)
  private readonly overflow = new Map<string, number>()
  private count = 1
  private readonly scratch = new Uint8Array(TEXT_BYTES)
  private readonly encoder = new TextEncoder()
  private readonly decoder = new TextDecoder()
  private readonly folds = new Ints()
  /** Texts that were asked for lately: currencies are asked for again and again. */
  private readonly recent_numbers = new Int32Array(RECENT)
  private readonly recent_texts: string[] = []

  /** One more than the largest number given so far. */
  get size(): number {
    return this.count
  }

  /** The number of the text, given now if it is new. */
  number(text: string | null): number {
    return this.look(text, true)
  }

  /** The number of the text if it has one, else 0. */
  find(text: string | null): number {
    return this.look(text, false)
  }

  private look(text: string | null, add: boolean): number {
    if (text === null || text === '') return 0
    const length = this.encode(text)
    const hash = this.hash(length)
    const mask = this.table.length - 1
    for (let step = 0, slot = hash & mask; step < STEPS; step++, slot = (slot + 1) & mask) {
      const held = this.table[slot] ?? 0
      if (held === 0) return add ? this.put(slot, length, hash) : 0
      if (this.hashes.get(held) === hash && this.equals(held, length)) return held
    }
    return this.overflow.get(`t${text}`) ?? (add ? this.crowded(text, length, hash) : 0)
  }

  private put(slot: number, length: number, hash: number): number {
    const added = this.keep(length, hash)
    this.table[slot] = added
    if (this.count * 2 > this.table.length) this.rehash()
    return added
  }

  /** The text behind a number; null behind 0. */
  text(number: number): string | null {
    if (number === 0) return null
    const slot = number % RECENT
    if (this.recent_numbers[slot] === number) return this.recent_texts[slot] ?? null
    const text = this.decoder.decode(this.bytes(number))
    this.recent_numbers[slot] = number
    this.recent_texts[slot] = text
    return text
  }

  /** Order of the texts by code point; no text comes first. */
  compare(one: number, other: number): number {
    if (one === other) return 0
    const [first, second] = [this.starts.get(one) >>> 0, this.starts.get(other) >>> 0]
    const [block, beside] = [this.blocks[Math.floor(first / BLOCK_BYTES)], this.blocks[Math.floor(second / BLOCK_BYTES)]]
    const [at, from] = [first % BLOCK_BYTES, second % BLOCK_BYTES]
    const [length, size] = [this.lengths.get(one), this.lengths.get(other)]
    for (let index = 0; index < length && index < size; index++) {
      const difference = (block?.[at + index] ?? 0) - (beside?.[from + index] ?? 0)
      if (difference !== 0) return difference
    }
    return length - size
  }

  /** How many bytes two texts begin with alike. */
  alike(one: number, other: number): number {
    const [first, second] = [this.bytes(one), this.bytes(other)]
    let index = 0
    while (index < first.length && index < second.length && first[index] === second[index]) index++
    return index
  }

  /** Four bytes of the text behind the first `skip`, as a whole number; zeros where it ends. */
  prefix(number: number, skip: number): number {
    const bytes = this.bytes(number)
    let value = 0
    for (let index = skip; index < skip + 4; index++) value = value * 256 + (bytes[index] ?? 0)
    return value
  }

  /** The number of the folded text. */
  folded(number: number): number {
    if (number === 0) return 0
    const known = this.folds.get(number)
    if (known !== 0) return known
    const text = this.text(number) ?? ''
    const folded = foldId(text)
    const found = folded === text ? number : this.number(folded)
    this.folds.set(number, found)
    return found
  }

  private bytes(number: number): Uint8Array {
    const start = this.starts.get(number) >>> 0
    const at = start % BLOCK_BYTES
    return this.blocks[Math.floor(start / BLOCK_BYTES)]?.subarray(at, at + this.lengths.get(number)) ?? this.scratch.subarray(0, 0)
  }

  /** Writes the text into the scratch; the length in bytes. */
  private encode(text: string): number {
    const { scratch } = this
    const length = text.length
    if (length > TEXT_BYTES) return this.encoder.encodeInto(text, scratch).written
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return this.encoder.encodeInto(text, scratch).written
      scratch[index] = code
    }
    return length
  }

  private hash(length: number): number {
    const { scratch } = this
    let hash = 0x811c9dc5 ^ length
    for (let index = 0; index < length; index++) hash = Math.imul(hash ^ (scratch[index] ?? 0), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return hash ^ (hash >>> 12)
  }

  private equals(number: number, length: number): boolean {
    if (this.lengths.get(number) !== length) return false
    const start = this.starts.get(number) >>> 0
    const block = this.blocks[Math.floor(start / BLOCK_BYTES)]
    if (block === undefined) return false
    const at = start % BLOCK_BYTES
    for (let index = 0; index < length; index++) if (block[at + index] !== this.scratch[index]) return false
    return true
  }

  private keep(length: number, hash: number): number {
    const number = this.count++
    const start = this.place(length)
    const block = this.blocks[Math.floor(start / BLOCK_BYTES)]
    block?.set(this.scratch.subarray(0, length), start % BLOCK_BYTES)
    this.starts.set(number, start)
    this.lengths.set(number, length)
    this.hashes.set(number, hash)
    return number
  }

  /** Where a text of this length goes: never across two blocks. The first block grows, so that a small pool stays small. */
  private place(length: number): number {
    const last = this.blocks.length - 1
    const end = this.block_end + length
    if (end > BLOCK_BYTES) {
      this.blocks.push(new Uint8Array(BLOCK_BYTES))
      this.block_end = length
      return (last + 1) * BLOCK_BYTES
    }
    const block = this.blocks[last] ?? new Uint8Array(0)
    if (end > block.length) {
      const larger = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(16_384, block.length * 2)))
      larger.set(block)
      this.blocks[last] = larger
    }
    const start = last * BLOCK_BYTES + this.block_end
    this.block_end = end
    return start
  }

  /** The letter before the text keeps the engine from hashing digits without its secret. */
  private crowded(text: string, length: number, hash: number): number {
    const added = this.keep(length, hash)
    this.overflow.set(`t${text}`, added)
    if (this.count * 2 > this.table.length) this.rehash()
    return added
  }

  private rehash(): void {
    const table = new Int32Array(this.table.length * 2)
    const mask = table.length - 1
    this.overflow.clear()
    for (let number = 1; number < this.count; number++) {
      const hash = this.hashes.get(number)
      let step = 0
      let slot = hash & mask
      for (; step < STEPS && table[slot] !== 0; step++) slot = (slot + 1) & mask
      if (step < STEPS) table[slot] = number
      else this.overflow.set(`t${this.text(number) ?? ''}`, number)
    }
    this.table = table
  }
}

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
