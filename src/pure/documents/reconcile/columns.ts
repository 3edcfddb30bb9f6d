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
