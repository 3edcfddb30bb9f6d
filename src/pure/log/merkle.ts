/**
 * The Merkle tree of a transparency log, by RFC 6962 section 2.1 with SHA-256. Numbers of entries are whole and below 2^53. Nothing here
 * reads anything: proofs are lists of complete subtrees, for whoever holds their hashes.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'

/** SHA-256. noble's runs anywhere; a server brings a faster one. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** A complete subtree: the entries from `index * 2^level` on, 2^level of them. */
export interface Node {
  level: number
  index: number
}

/** Entries from `start` up to, and without, `end`. */
export interface Span {
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

export function innerHash(left: Uint8Array, right: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  return hash(concatBytes(INNER, left, right))
}

/** The complete subtrees that make up a span whose start is a multiple of the power of two that its length needs; largest first. */
export function completeNodes({ start, end }: Span): Node[] {
  const nodes: Node[] = []
  for (let from = start; from < end;) {
    const power = powerWithin(end - from)
    nodes.push({ level: Math.log2(power), index: from / power })
    from += power
  }
  return nodes
}

/** The hash of a span, from the hashes of its complete subtrees in order. */
export function foldedHash(hashes: readonly Uint8Array[], hash: Sha256 = sha256): Uint8Array {
  return hashes.reduceRight((right, left) => innerHash(left, right, hash))
}

/** Largest power of two below `count`; `count` is at least 2. */
function split(count: number): number {
  const power = powerWithin(count)
  return power === count ? count / 2 : power
}

/** Largest power of two that is at most `count`. The logarithm of a large count may be rounded up to the next whole number. */
function powerWithin(count: number): number {
  const power = 2 ** Math.floor(Math.log2(count))
  return power > count ? power / 2 : power
}

/** The spans whose hashes prove that entry `index` is in the tree of `size` entries, from its sibling up (RFC 6962, 2.1.1). */
export function inclusionSpans(index: number, size: number): Span[] {
  const spans: Span[] = []
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

/** The spans whose hashes prove that the tree of `size` entries goes on where that of `old_size` ended (RFC 6962, 2.1.2). */
export function consistencySpans(old_size: number, size: number): Span[] {
  if (old_size === 0 || old_size === size) return []
  const spans: Span[] = []
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
  // The verifier knows the old root, and so this hash, when it is that of the whole old tree.
  if (!whole) spans.unshift({ start, end })
  return spans
}

/** The root that a proof leads to; null when it has not exactly the hashes that such a proof needs. */
export function rootOfInclusion(index: number, size: number, leaf: Uint8Array, proof: readonly Uint8Array[]): Uint8Array | null {
  if (!isCount(index) || !isCount(size) || index >= size) return null
  const spans = inclusionSpans(index, size)
  if (spans.length !== proof.length) return null
  return proof.reduce((hash, sibling, at) => ((spans[at]?.start ?? 0) > index ? innerHash(hash, sibling) : innerHash(sibling, hash)), leaf)
}

/** Whether a proof shows that the newer tree holds the older one unchanged at its start. */
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

function rootsOfConsistency(older: { size: number; root: Uint8Array }, spans: readonly Span[], proof: readonly Uint8Array[]) {
  // The first hash is that of the last part of the old tree, unless that part is the whole of it.
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
