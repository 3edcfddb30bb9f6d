/** The Merkle tree of RFC 6962 as its section 2.1 words it, by recursion over the list of entries: slow, and written apart from the service's. */
import { createHash } from 'node:crypto'

const sha256 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function largestPowerBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}

export function treeHash(entries: readonly Uint8Array[]): Buffer {
  const [only] = entries
  if (only === undefined) return sha256()
  if (entries.length === 1) return sha256(Buffer.of(0), only)
  const k = largestPowerBelow(entries.length)
  return sha256(Buffer.of(1), treeHash(entries.slice(0, k)), treeHash(entries.slice(k)))
}

export function path(m: number, entries: readonly Uint8Array[]): Buffer[] {
  if (entries.length <= 1) return []
  const k = largestPowerBelow(entries.length)
  return m < k
    ? [...path(m, entries.slice(0, k)), treeHash(entries.slice(k))]
    : [...path(m - k, entries.slice(k)), treeHash(entries.slice(0, k))]
}

export function proof(m: number, entries: readonly Uint8Array[], whole = true): Buffer[] {
  if (m === entries.length) return whole ? [] : [treeHash(entries)]
  const k = largestPowerBelow(entries.length)
  return m <= k
    ? [...proof(m, entries.slice(0, k), whole), treeHash(entries.slice(k))]
    : [...proof(m - k, entries.slice(k), false), treeHash(entries.slice(0, k))]
}
