import type { LogHead, ReceiptsLogStore, StoredTile } from '../../ports/receipts-log.ts'
import { completeNodes, emptyRoot, foldedHash, leafHash, type Node, type Span, type Sha256 } from '../../pure/log/merkle.ts'
import { HASH_BYTES, hashesIn, hashOver, placeOf, TILE_HASHES, type Tile } from '../../pure/log/tiles.ts'

/** Reads hashes of the tree out of its tiles, each tile once. */
export class TreeReader {
  readonly #store: Pick<ReceiptsLogStore, 'tile'>
  readonly #hash: Sha256 | undefined
  readonly #tiles = new Map<string, Promise<Uint8Array[]>>()

  constructor(store: Pick<ReceiptsLogStore, 'tile'>, hash?: Sha256) {
    this.#store = store
    this.#hash = hash
  }

  /** The hashes that the tile has now. */
  tile({ level, index }: Tile): Promise<Uint8Array[]> {
    const name = `${level}/${index}`
    const known = this.#tiles.get(name)
    if (known !== undefined) return known
    const read = this.#store.tile(level, index).then((text) => (text === null ? [] : hashesIn(fromHex(text))))
    this.#tiles.set(name, read)
    return read
  }

  async hash(node: Node): Promise<Uint8Array> {
    const { tile, from, to } = placeOf(node)
    const hashes = (await this.tile(tile)).slice(from, to)
    if (hashes.length !== to - from) throw new Error(`the receipts log lacks hashes of tile ${tile.level}/${tile.index}`)
    return hashOver(hashes, this.#hash)
  }

  async span(span: Span): Promise<Uint8Array> {
    return foldedHash(await Promise.all(completeNodes(span).map((node) => this.hash(node))), this.#hash)
  }

  spans(spans: readonly Span[]): Promise<Uint8Array[]> {
    return Promise.all(spans.map((span) => this.span(span)))
  }
}

/** What appending changes: the tiles that grow, whole, and the new root. */
export interface Grown {
  tiles: StoredTile[]
  size: number
  root: string
}

/** The tree of `from_size` entries with more behind them. Reads only the tiles at the right edge. */
export async function grow(
  store: Pick<ReceiptsLogStore, 'tile'>,
  from_size: number,
  entries: readonly string[],
  hash?: Sha256,
): Promise<Grown> {
  const reader = new TreeReader(store, hash)
  const grown = new Map<string, { tile: Tile; hashes: Uint8Array[] }>()
  let hashes = entries.map((entry) => leafHash(fromHex(entry), hash))
  let first = from_size
  for (let level = 0; hashes.length > 0; level++) {
    const above: Uint8Array[] = []
    for (const [at, own] of hashes.entries()) {
      const index = Math.floor((first + at) / TILE_HASHES)
      const name = `${level}/${index}`
      const tile = grown.get(name) ?? { tile: { level, index }, hashes: await edge(reader, { level, index }, first + at) }
      grown.set(name, tile)
      tile.hashes.push(own)
      if (tile.hashes.length === TILE_HASHES) above.push(hashOver(tile.hashes, hash))
    }
    first = Math.floor(first / TILE_HASHES)
    hashes = above
  }
  const size = from_size + entries.length
  const tiles = [...grown.values()].map(({ tile, hashes: row }) => ({ ...tile, hashes: Buffer.concat(row).toString('hex') }))
  return { tiles, size, root: Buffer.from(await rootWith(reader, tiles, size, hash)).toString('hex') }
}

/** The hashes that the tile has in front of position `next` of its level. */
async function edge(reader: TreeReader, tile: Tile, next: number): Promise<Uint8Array[]> {
  const before = next - tile.index * TILE_HASHES
  if (before === 0) return []
  const hashes = await reader.tile(tile)
  if (hashes.length < before) throw new Error(`the receipts log lacks hashes of tile ${tile.level}/${tile.index}`)
  return hashes.slice(0, before)
}

function rootWith(reader: TreeReader, tiles: readonly StoredTile[], size: number, hash: Sha256 | undefined): Promise<Uint8Array> {
  const changed = new Map(tiles.map(({ level, index, hashes }) => [`${level}/${index}`, hashes]))
  const over = new TreeReader(
    {
      tile: async (level, index) => {
        const mine = changed.get(`${level}/${index}`)
        if (mine !== undefined) return mine
        const stored = await reader.tile({ level, index })
        return stored.length === 0 ? null : Buffer.concat(stored).toString('hex')
      },
    },
    hash,
  )
  return size === 0 ? Promise.resolve(emptyRoot()) : over.span({ start: 0, end: size })
}

/** Bytes of a tile in a tree of some size. */
export function cut(hashes: string, width: number): Uint8Array | null {
  return hashes.length < width * HASH_BYTES * 2 ? null : new Uint8Array(fromHex(hashes.slice(0, width * HASH_BYTES * 2)))
}

export const NO_HEAD: Pick<LogHead, 'size' | 'root'> = { size: 0, root: Buffer.from(emptyRoot()).toString('hex') }

/** Stored hashes are well-formed: the store takes nothing else. */
function fromHex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}
