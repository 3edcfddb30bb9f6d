/**
 * The tiles in which a log is served (C2SP tlog-tiles, read 2026-11): 256 hashes side by side, of every eighth level of the tree. Only
 * complete subtrees have their hash in a tile; the levels between follow from it.
 */
import { innerHash, type Node, type Sha256 } from './merkle.ts'

const TILE_LEVELS = 8
export const TILE_HASHES = 2 ** TILE_LEVELS
export const HASH_BYTES = 32

export interface Tile {
  level: number
  index: number
}

/** A tile as it is asked for; `width` is below 256 only for a partial one. `entries` asks for the entries beneath a tile of level 0. */
export interface TileRequest extends Tile {
  kind: 'hashes' | 'entries'
  width: number
}

const PATH = /^(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Reads what stands behind `tile/`; null for anything but the one spelling of a tile. */
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

/** How many hashes the tile has in a tree of `size` entries; 0 when it has none yet. */
export function tileWidth({ level, index }: Tile, size: number): number {
  const hashes = Math.floor(size / TILE_HASHES ** level)
  return Math.max(0, Math.min(TILE_HASHES, hashes - index * TILE_HASHES))
}

/** The tile that holds, or from which follows, the hash of a complete subtree, and the range of its hashes beneath it. */
export function placeOf({ level, index }: Node): { tile: Tile; from: number; to: number } {
  const row = level % TILE_LEVELS
  const first = index * 2 ** row
  const tile = { level: (level - row) / TILE_LEVELS, index: Math.floor(first / TILE_HASHES) }
  const from = first - tile.index * TILE_HASHES
  return { tile, from, to: from + 2 ** row }
}

/** The hash over a power of two of hashes. */
export function hashOver(hashes: readonly Uint8Array[], hash?: Sha256): Uint8Array {
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

/** The hashes of a tile, one after the other, cut out of its bytes. */
export function hashesIn(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
}
