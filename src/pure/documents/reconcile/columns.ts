/**
 * Columns of numbers that grow: a million rows cost what their numbers cost, no objects. They grow by pieces, since copying large arrays
 * leaves holes in memory; a piece in which nothing but zero was ever set takes none. Reading beyond the end gives zero.
 */

const BITS = 13
const PIECE = 1 << BITS
const MASK = PIECE - 1

export class Ints {
  private readonly pieces: (Int32Array | undefined)[] = []

  /** Whether anything but zero was ever set. */
  get used(): boolean {
    return this.pieces.length > 0
  }

  get(index: number): number {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0
  }

  set(index: number, value: number): void {
    const piece = this.pieces[index >>> BITS]
    if (piece !== undefined) piece[index & MASK] = value
    else if (value !== 0) pieceOf(this.pieces, index, () => new Int32Array(PIECE))[index & MASK] = value
  }
}

export class Bytes {
  private readonly pieces: (Uint8Array | undefined)[] = []

  get(index: number): number {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0
  }

  set(index: number, value: number): void {
    const piece = this.pieces[index >>> BITS]
    if (piece !== undefined) piece[index & MASK] = value
    else if (value !== 0) pieceOf(this.pieces, index, () => new Uint8Array(PIECE))[index & MASK] = value
  }
}

/** Amounts within 64 bits with their sign; what comes from files is checked before it gets here. */
export class Money {
  private readonly pieces: (BigInt64Array | undefined)[] = []

  get(index: number): bigint {
    return this.pieces[index >>> BITS]?.[index & MASK] ?? 0n
  }

  set(index: number, value: bigint): void {
    const piece = this.pieces[index >>> BITS]
    if (piece !== undefined) piece[index & MASK] = value
    else if (value !== 0n) pieceOf(this.pieces, index, () => new BigInt64Array(PIECE))[index & MASK] = value
  }
}

function pieceOf<Piece>(pieces: (Piece | undefined)[], index: number, make: () => Piece): Piece {
  const at = index >>> BITS
  while (pieces.length < at) pieces.push(undefined)
  const made = make()
  pieces[at] = made
  return made
}

/** Instructions joined into groups that can only be judged together. */
export class Groups {
  private readonly parents: Int32Array

  constructor(size: number) {
    this.parents = Int32Array.from({ length: size }, (_, index) => index)
  }

  /** The least member of the group, so that it does not depend on the order of joins. */
  root(member: number): number {
    const { parents } = this
    let root = member
    for (let next = parents[root] ?? root; next !== root; next = parents[root] ?? root) root = next
    for (let at = member; at !== root;) {
      const next = parents[at] ?? root
      parents[at] = root
      at = next
    }
    return root
  }

  join(one: number, other: number): void {
    const [first, second] = [this.root(one), this.root(other)]
    if (first < second) this.parents[second] = first
    else this.parents[first] = second
  }
}

/** Rows by the number in a column, chained: two integers a row instead of a list a key. */
export class KeyIndex {
  private readonly heads: Int32Array
  private readonly nexts: Int32Array

  /** Rows whose number is 0, or that are not admitted, are left out. `keys` is the size of the pool. */
  constructor(column: Ints, rows: number, keys: number, admits: ((row: number) => boolean) | null = null) {
    this.heads = new Int32Array(keys).fill(-1)
    this.nexts = new Int32Array(rows)
    for (let row = rows - 1; row >= 0; row--) {
      const key = column.get(row)
      if (key <= 0 || admits?.(row) === false) continue
      this.nexts[row] = this.heads[key] ?? -1
      this.heads[key] = row
    }
  }

  /** The first row of this key, -1 for none. */
  first(key: number): number {
    return key < this.heads.length ? (this.heads[key] ?? -1) : -1
  }

  /** The next row of the same key. */
  next(row: number): number {
    return this.nexts[row] ?? -1
  }
}
