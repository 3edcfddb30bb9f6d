/**
 * Merkle tree of a transparency log (RFC 6962 section 2.1, SHA-256) and the tiles in which it is served (C2SP tlog-tiles, read 2026-11): 256
 * hashes of every eighth level. Only complete subtrees have a hash in a tile; the levels between follow from it. Entry numbers are integers below
 * 2^53. No I/O: the caller gives the function that reads a tile.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'

/** SHA-256 implementation; noble's by default, a faster one on servers. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Complete subtree: 2^level entries from `index * 2^level`. */
interface Node {
  level: number
  index: number
}

/** Entries from `start` (inclusive) to `end` (exclusive). */
interface EntrySpan {
  start: number
  end: number
}

const LEAF = new Uint8Array([0])
const INNER = new Uint8Array([1])

export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array())
}

export function leafHash(entry: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  return hash(concatBytes(LEAF, entry))
}

function innerHash(left: Uint8Array, right: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  return hash(concatBytes(INNER, left, right))
}

/** Complete subtrees of a span, largest first. The start must be a multiple of the power of two that the length requires. */
export function completeNodes({ start, end }: EntrySpan): Node[] {
  const nodes: Node[] = []
  for (let from = start; from < end;) {
    const power = powerWithin(end - from)
    nodes.push({ level: Math.log2(power), index: from / power })
    from += power
  }
  return nodes
}

/** Largest power of two below `count`; `count` is at least 2. */
function split(count: number): number {
  const power = powerWithin(count)
  return power === count ? count / 2 : power
}

/** Largest power of two up to `count`. The logarithm of a large count may be rounded up. */
function powerWithin(count: number): number {
  const power = 2 ** Math.floor(Math.log2(count))
  return power > count ? power / 2 : power
}

/** Spans of an inclusion proof for entry `index` in a tree of `size` entries, from its sibling up (RFC 6962, 2.1.1). */
export function inclusionSpans(index: number, size: number): EntrySpan[] {
  const spans: EntrySpan[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + split(end - start)
    if (index < middle) {
      spans.unshift({ start: middle, end })
      end = middle
    } else {
      spans.unshift({ start, end: middle })
      start = middle
    }
  }
  return spans
}

/** Spans of a consistency proof from `old_size` to `size` entries (RFC 6962, 2.1.2). */
export function consistencySpans(old_size: number, size: number): EntrySpan[] {
  if (old_size === 0 || old_size === size) return []
  const spans: EntrySpan[] = []
  let [start, end, whole] = [0, size, true]
  while (old_size !== end) {
    const middle = start + split(end - start)
    if (old_size <= middle) {
      spans.unshift({ start: middle, end })
      end = middle
    } else {
      spans.unshift({ start, end: middle })
      start = middle
      whole = false
    }
  }
  // The verifier knows this hash if it is the root of the old tree.
  if (!whole) spans.unshift({ start, end })
  return spans
}

/** Root of an inclusion proof; null if the number of hashes is wrong. */
export function rootOfInclusion(index: number, size: number, leaf: Uint8Array, proof: readonly Uint8Array[]): Uint8Array | null {
  if (!isCount(index) || !isCount(size) || index >= size) return null
  const spans = inclusionSpans(index, size)
  if (spans.length !== proof.length) return null
  return proof.reduce((hash, sibling, at) => ((spans[at]?.start ?? 0) > index ? innerHash(hash, sibling) : innerHash(sibling, hash)), leaf)
}

/** Verifies an inclusion proof: the tree has this entry at position `index`. */
export function isIncluded(
  entry: Uint8Array,
  index: number,
  { size, root }: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  const found = rootOfInclusion(index, size, leafHash(entry), proof)
  return found !== null && alike(found, root)
}

/** Verifies a consistency proof: the newer tree starts with the older one. */
export function isConsistent(
  older: { size: number; root: Uint8Array },
  newer: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(older.size) || !isCount(newer.size) || older.size > newer.size) return false
  if (older.size === newer.size) return proof.length === 0 && alike(older.root, newer.root)
  if (older.size === 0) return proof.length === 0 && alike(older.root, emptyRoot())
  const spans = consistencySpans(older.size, newer.size)
  if (spans.length !== proof.length) return false
  const roots = rootsOfConsistency(older, spans, proof)
  return roots !== null && alike(roots.old, older.root) && alike(roots.now, newer.root)
}

function rootsOfConsistency(older: { size: number; root: Uint8Array }, spans: readonly EntrySpan[], proof: readonly Uint8Array[]) {
  // The first hash is that of the last part of the old tree, unless it is the whole tree.
  const given = spans[0]?.end === older.size
  const first = given ? proof[0] : older.root
  if (first === undefined) return null
  let [old, now] = [first, first]
  for (let at = given ? 1 : 0; at < proof.length; at++) {
    const [hash, span] = [proof[at], spans[at]]
    if (hash === undefined || span === undefined) return null
    if (span.start < older.size) {
      old = innerHash(hash, old)
      now = innerHash(hash, now)
    } else now = innerHash(now, hash)
  }
  return { old, now }
}

export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

export function alike(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

const TILE_LEVELS = 8
const TILE_HASHES = 2 ** TILE_LEVELS
const HASH_BYTES = 32

interface Tile {
  level: number
  index: number
}

/** Requested tile; `width` is below 256 only for a partial tile. `entries` requests the entries below a tile of level 0. */
export interface TileRequest extends Tile {
  kind: 'hashes' | 'entries'
  width: number
}

const PATH = /^(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Parses the path after `tile/`; null if it is not the canonical spelling. */
export function readTilePath(path: string): TileRequest | null {
  const [, place = '', number = '', partial] = PATH.exec(path) ?? []
  if (place === '') return null
  const level = place === 'entries' ? 0 : Number(place)
  const index = Number(number.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_HASHES : Number(partial)
  if (level > 63 || (partial !== undefined && width >= TILE_HASHES) || !Number.isSafeInteger(index)) return null
  const kind = place === 'entries' ? 'entries' : 'hashes'
  return tilePath({ kind, level, index, width }) === path ? { kind, level, index, width } : null
}

export function tilePath({ kind, level, index, width }: TileRequest): string {
  const digits = String(index)
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0')
  const groups = padded.match(/\d{3}/g) ?? []
  const number = groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join('/')
  return `${kind === 'entries' ? 'entries' : level}/${number}${width === TILE_HASHES ? '' : `.p/${width}`}`
}

/** Number of hashes of the tile in a tree of `size` entries; 0 if it does not exist yet. */
export function tileWidth({ level, index }: Tile, size: number): number {
  const hashes = Math.floor(size / TILE_HASHES ** level)
  return Math.max(0, Math.min(TILE_HASHES, hashes - index * TILE_HASHES))
}

/** Tile with the hashes of a complete subtree, and their range in it. */
function tileOfNode({ level, index }: Node): { tile: Tile; from: number; to: number } {
  const row = level % TILE_LEVELS
  const first = index * 2 ** row
  const tile = { level: (level - row) / TILE_LEVELS, index: Math.floor(first / TILE_HASHES) }
  const from = first - tile.index * TILE_HASHES
  return { tile, from, to: from + 2 ** row }
}

/** Hash of a power of two of hashes. */
function subtreeHash(hashes: readonly Uint8Array[], hash?: Sha256): Uint8Array {
  let row = hashes
  while (row.length > 1) {
    const next: Uint8Array[] = []
    for (let at = 0; at + 1 < row.length; at += 2) {
      const [left, right] = [row[at], row[at + 1]]
      if (left !== undefined && right !== undefined) next.push(innerHash(left, right, hash))
    }
    row = next
  }
  const [top] = row
  if (top === undefined) throw new RangeError('a hash over nothing was asked for')
  return top
}

/** Splits the bytes of a tile into hashes. */
function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
}

/** A tile has fewer hashes than a tree of the requested size. */
export class MissingHashesError extends Error {
  override readonly name = 'MissingHashesError'

  constructor({ level, index }: Tile) {
    super(`the receipts log lacks hashes of tile ${level}/${index}`)
  }
}

/** Tree in tiles, of which each is read once. */
export class LogTree {
  readonly #read: (level: number, index: number) => Promise<Uint8Array | null>
  readonly #hash: Sha256 | undefined
  readonly #tiles = new Map<string, Promise<Uint8Array[]>>()

  /** `read` returns the hashes that a tile has now, one after the other; null if there is no such tile. */
  constructor(read: (level: number, index: number) => Promise<Uint8Array | null>, hash?: Sha256) {
    this.#read = read
    this.#hash = hash
  }

  /** Inclusion proof for entry `index` in the tree of the first `size` entries. */
  inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return Promise.all(inclusionSpans(index, size).map((span) => this.#spanHash(span)))
  }

  /** Proof that the tree of the first `size` entries continues the one of `old_size`. */
  consistency(old_size: number, size: number): Promise<Uint8Array[]> {
    return Promise.all(consistencySpans(old_size, size).map((span) => this.#spanHash(span)))
  }

  /** Appends entries to the tree of `from_size` entries; reads only the tiles at its right edge. Returns the tiles that grow, whole. */
  async grow(from_size: number, entries: readonly Uint8Array[]): Promise<{ tiles: (Tile & { hashes: Uint8Array[] })[]; root: Uint8Array }> {
    const grown = new Map<string, Tile & { hashes: Uint8Array[] }>()
    let hashes = entries.map((entry) => leafHash(entry, this.#hash))
    let first = from_size
    for (let level = 0; hashes.length > 0; level++) {
      const above: Uint8Array[] = []
      for (const [at, own] of hashes.entries()) {
        const index = Math.floor((first + at) / TILE_HASHES)
        const name = `${level}/${index}`
        const tile = grown.get(name) ?? { level, index, hashes: await this.#firstHashes({ level, index }, (first + at) % TILE_HASHES) }
        grown.set(name, tile)
        tile.hashes.push(own)
        if (tile.hashes.length === TILE_HASHES) above.push(subtreeHash(tile.hashes, this.#hash))
      }
      first = Math.floor(first / TILE_HASHES)
      hashes = above
    }
    for (const [name, tile] of grown) this.#tiles.set(name, Promise.resolve(tile.hashes))
    const size = from_size + entries.length
    return { tiles: [...grown.values()], root: size === 0 ? emptyRoot() : await this.#spanHash({ start: 0, end: size }) }
  }

  #tile({ level, index }: Tile): Promise<Uint8Array[]> {
    const name = `${level}/${index}`
    const known = this.#tiles.get(name)
    if (known !== undefined) return known
    const read = this.#read(level, index).then((bytes) => (bytes === null ? [] : splitHashes(bytes)))
    this.#tiles.set(name, read)
    return read
  }

  async #firstHashes(tile: Tile, count: number): Promise<Uint8Array[]> {
    return count === 0 ? [] : this.#hashes(tile, 0, count)
  }

  async #hashes(tile: Tile, from: number, to: number): Promise<Uint8Array[]> {
    const hashes = (await this.#tile(tile)).slice(from, to)
    if (hashes.length !== to - from) throw new MissingHashesError(tile)
    return hashes
  }

  async #spanHash(span: EntrySpan): Promise<Uint8Array> {
    const subtrees = completeNodes(span).map(async (node) => {
      const { tile, from, to } = tileOfNode(node)
      return subtreeHash(await this.#hashes(tile, from, to), this.#hash)
    })
    return (await Promise.all(subtrees)).reduceRight((right, left) => innerHash(left, right, this.#hash))
  }
}
