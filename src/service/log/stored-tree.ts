import { alike, emptyRoot, isConsistent, LogTree, MissingHashesError, type Sha256 } from '../../pure/log/tree.ts'
import type { LogHead, ReceiptsLogStore, StoredTile } from '../../ports/receipts-log.ts'

/** The tree of the receipts log, over the tiles of the store. */

type Tiles = Pick<ReceiptsLogStore, 'tile'>

/** Size and root of a tree. */
export type TreeHead = Pick<LogHead, 'size' | 'root'>

export const NO_ENTRIES: TreeHead = { size: 0, root: Buffer.from(emptyRoot()).toString('hex') }

/** Stored hashes are well-formed: the store takes nothing else. */
export function fromHex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

export function treeOf(store: Tiles, hash?: Sha256): LogTree {
  return new LogTree(async (level, index) => {
    const hashes = await store.tile(level, index)
    return hashes === null ? null : fromHex(hashes)
  }, hash)
}

/** Changes made by an append: the tiles that grow, whole, and the new root. */
interface Grown extends TreeHead {
  tiles: StoredTile[]
}

/** The tree of `from_size` entries with more behind them. */
export async function grow(store: Tiles, from_size: number, entries: readonly string[], hash?: Sha256): Promise<Grown> {
  return grown(treeOf(store, hash), from_size, entries)
}

async function grown(tree: LogTree, from_size: number, entries: readonly string[]): Promise<Grown> {
  const { tiles, root } = await tree.grow(from_size, entries.map(fromHex))
  return {
    tiles: tiles.map(({ level, index, hashes }) => ({ level, index, hashes: Buffer.concat(hashes).toString('hex') })),
    size: from_size + entries.length,
    root: Buffer.from(root).toString('hex'),
  }
}

/** As `grow`, and proves from the same tiles that the new tree continues `older`; null when it does not, because tiles are missing or differ. */
export async function growFrom(store: Tiles, older: TreeHead, entries: readonly string[], hash?: Sha256): Promise<Grown | null> {
  const tree = treeOf(store, hash)
  const newer = await whereComplete(() => grown(tree, older.size, entries))
  return newer !== null && (await continues(tree, older, newer)) ? newer : null
}

/** Proves with the tiles of the store that the tree of `newer` starts with that of `older`. */
export async function storeContinues(store: Tiles, older: TreeHead, newer: TreeHead): Promise<boolean> {
  return continues(treeOf(store), older, newer)
}

async function continues(tree: LogTree, older: TreeHead, newer: TreeHead): Promise<boolean> {
  const [one, other] = [older, newer].map(({ size, root }) => ({ size, root: fromHex(root) }))
  if (one === undefined || other === undefined || one.size > other.size) return false
  if (one.size === other.size) return alike(one.root, other.root)
  const proof = await whereComplete(() => tree.consistency(one.size, other.size))
  return proof !== null && isConsistent(one, other, proof)
}

/** Null where tiles lack hashes that a tree of this size has. */
async function whereComplete<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MissingHashesError) return null
    throw error
  }
}
