import { foldId } from './values.ts'

/**
 * Growing columns of numbers, so that a million rows need no objects. They grow in pieces, because copying large arrays fragments memory; a
 * piece with only zeros takes no memory, and the first one starts small, since most files have few rows. Reading beyond the end returns zero.
 */

const BITS = 13
const PIECE = 1 << BITS
const FIRST = 64
const MASK = PIECE - 1

export class IntColumn {
  private readonly pieces: (Int32Array | undefined)[] = []

  /** A value other than zero was set. */
  get used(): boolean {
    return this.pieces.length > 0
  }

  get(index: number): number {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0
  }

  set(index: number, value: number): void {
    const piece = this.pieces[index >>> BITS]
    const at = index & MASK
    if (piece !== undefined && at < piece.length) piece[at] = value
    else if (value !== 0) pieceFor(this.pieces, index, (length) => new Int32Array(length))[at] = value
  }
}

export class ByteColumn {
  private readonly pieces: (Uint8Array | undefined)[] = []

  get(index: number): number {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0
  }

  set(index: number, value: number): void {
    const piece = this.pieces[index >>> BITS]
    const at = index & MASK
    if (piece !== undefined && at < piece.length) piece[at] = value
    else if (value !== 0) pieceFor(this.pieces, index, (length) => new Uint8Array(length))[at] = value
  }
}

/** Signed 64-bit amounts; readers check the range before. */
export class MoneyColumn {
  private readonly pieces: (BigInt64Array | undefined)[] = []

  get(index: number): bigint {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0n
  }

  set(index: number, value: bigint): void {
    const piece = this.pieces[index >>> BITS]
    const at = index & MASK
    if (piece !== undefined && at < piece.length) piece[at] = value
    else if (value !== 0n) pieceFor(this.pieces, index, (length) => new BigInt64Array(length))[at] = value
  }
}

/** Makes the piece for an index, or a longer first piece with the values of the one before. */
function pieceFor<Piece extends { set(values: Piece): void }>(
  pieces: (Piece | undefined)[],
  index: number,
  make: (length: number) => Piece,
): Piece {
  const at = index >>> BITS
  while (pieces.length < at) pieces.push(undefined)
  const made = make(at === 0 ? Math.max(FIRST, 2 ** (32 - Math.clz32(index))) : PIECE)
  const before = pieces[at]
  if (before !== undefined) made.set(before)
  pieces[at] = made
  return made
}

/** Index of rows by the number in a column, as linked lists: two integers per row instead of a list per key. */
export class RowIndex {
  private readonly heads: Int32Array
  private readonly nexts: Int32Array

  /** Skips rows whose number is 0 or that `admits` rejects. `keys` is the size of the pool. */
  constructor(column: IntColumn, rows: number, keys: number, admits: ((row: number) => boolean) | null = null) {
    this.heads = new Int32Array(keys).fill(-1)
    this.nexts = new Int32Array(rows)
    for (let row = rows - 1; row >= 0; row--) {
      const key = column.get(row)
      if (key <= 0 || admits?.(row) === false) continue
      this.nexts[row] = this.heads[key] ?? -1
      this.heads[key] = row
    }
  }

  /** First row with this key; -1 if none. */
  first(key: number): number {
    return key < this.heads.length ? (this.heads[key] ?? -1) : -1
  }

  /** Next row with the same key; -1 if none. */
  next(row: number): number {
    return this.nexts[row] ?? -1
  }
}

const BLOCK_BYTES = 4 * 1_048_576
/** Longer texts are cut; ids are shorter. */
const TEXT_BYTES = 1_024
/** A text without a free slot after so many probes goes to a Map, whose hash is not predictable. */
const STEPS = 64
const RECENT = 256

/**
 * Interns texts as numbers, so that they are compared and stored as integers. Bytes are in blocks instead of objects: a million ids take
 * about 40 MB. Number 0 means no text. Chosen texts cannot make it slow: probing ends after a fixed number of steps.
 */
export class TextPool {
  private readonly blocks: Uint8Array[] = [new Uint8Array(0)]
  private block_end = 0
  private readonly starts = new IntColumn()
  private readonly lengths = new IntColumn()
  private readonly hashes = new IntColumn()
  private table = new Int32Array(4_096)
  private readonly overflow = new Map<string, number>()
  private count = 1
  private readonly scratch = new Uint8Array(TEXT_BYTES)
  private readonly encoder = new TextEncoder()
  private readonly decoder = new TextDecoder()
  private readonly folds = new IntColumn()
  /** Cache of recently read texts, such as currencies. */
  private readonly recent_numbers = new Int32Array(RECENT)
  private readonly recent_texts: string[] = []

  /** One more than the largest number so far. */
  get size(): number {
    return this.count
  }

  /** Number of the text, assigned now if it is new. */
  number(text: string | null): number {
    return this.lookUp(text, true)
  }

  /** Number of the text if it has one, otherwise 0. */
  find(text: string | null): number {
    return this.lookUp(text, false)
  }

  private lookUp(text: string | null, add: boolean): number {
    if (text === null || text === '') return 0
    const length = this.encode(text)
    const hash = this.hash(length)
    const mask = this.table.length - 1
    for (let step = 0, slot = hash & mask; step < STEPS; step++, slot = (slot + 1) & mask) {
      const occupant = this.table[slot] ?? 0
      if (occupant === 0) return add ? this.storeInSlot(slot, length, hash) : 0
      if (this.hashes.get(occupant) === hash && this.equals(occupant, length)) return occupant
    }
    return this.overflow.get(`t${text}`) ?? (add ? this.storeInOverflow(text, length, hash) : 0)
  }

  private storeInSlot(slot: number, length: number, hash: number): number {
    const added = this.store(length, hash)
    this.table[slot] = added
    if (this.count * 2 > this.table.length) this.rehash()
    return added
  }

  /** Text of a number; null for 0. */
  text(number: number): string | null {
    if (number === 0) return null
    const slot = number % RECENT
    if (this.recent_numbers[slot] === number) return this.recent_texts[slot] ?? null
    const text = this.decoder.decode(this.bytes(number))
    this.recent_numbers[slot] = number
    this.recent_texts[slot] = text
    return text
  }

  /** Orders texts by code point; no text comes first. */
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

  /** Number of leading bytes that two texts share. */
  sharedPrefixBytes(one: number, other: number): number {
    const [first, second] = [this.bytes(one), this.bytes(other)]
    let index = 0
    while (index < first.length && index < second.length && first[index] === second[index]) index++
    return index
  }

  /** Four bytes of the text after the first `skip`, as an integer, padded with zeros. */
  prefix(number: number, skip: number): number {
    const bytes = this.bytes(number)
    let value = 0
    for (let index = skip; index < skip + 4; index++) value = value * 256 + (bytes[index] ?? 0)
    return value
  }

  /** Number of the folded text. */
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

  /** Encodes the text into the scratch buffer; returns its length in bytes. */
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

  private store(length: number, hash: number): number {
    const number = this.count++
    const start = this.reserve(length)
    const block = this.blocks[Math.floor(start / BLOCK_BYTES)]
    block?.set(this.scratch.subarray(0, length), start % BLOCK_BYTES)
    this.starts.set(number, start)
    this.lengths.set(number, length)
    this.hashes.set(number, hash)
    return number
  }

  /** Reserves bytes, never across two blocks. The first block grows, so that a small pool stays small. */
  private reserve(length: number): number {
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

  /** The prefix makes V8 hash digit strings with its secret seed. */
  private storeInOverflow(text: string, length: number, hash: number): number {
    const added = this.store(length, hash)
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
