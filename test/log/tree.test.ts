/** The arithmetic of the log against the tree of RFC 6962 written apart, and against published roots, notes and paths. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesToHex, hexToBytes, readNote, readVerifierKey, isSignedBy, verifierKeyText, logEntry } from '../../src/pure/log/checkpoint.ts'
import {
  completeNodes,
  consistencySpans,
  inclusionSpans,
  isConsistent,
  leafHash,
  rootOfInclusion,
  readTilePath,
  tilePath,
  tileWidth,
} from '../../src/pure/log/tree.ts'
import { nativeLogEntry } from '../../src/adapters/log-signer/ed25519.ts'
import { grow } from '../../src/service/log/stored-tree.ts'
import { runs, SEED } from '../support/counts.ts'
import { path, proof, treeHash } from './reference-tree.ts'

const entry = (number: number) => createHash('sha256').update(`entry ${number}`).digest()
const list = (size: number) => Array.from({ length: size }, (_, number) => entry(number))
const hashOf = (span: { start: number; end: number }, entries: readonly Uint8Array[]) => treeHash(entries.slice(span.start, span.end))

// Roots of the first one to eight of these entries, as the Certificate Transparency projects publish them for their tests.
const PUBLISHED_ENTRIES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  hexToBytes,
)
const PUBLISHED_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

test('the reference has the published roots, and so has a tree that grows entry by entry', async () => {
  for (const [index, root] of PUBLISHED_ROOTS.entries()) assert.equal(treeHash(PUBLISHED_ENTRIES.slice(0, index + 1)).toString('hex'), root)
  const tiles = new Map<string, string>()
  for (const [index, root] of PUBLISHED_ROOTS.entries()) {
    const grown = await grow(storeOf(tiles), index, [bytesToHex(PUBLISHED_ENTRIES[index] ?? new Uint8Array())])
    for (const tile of grown.tiles) tiles.set(`${tile.level}/${tile.index}`, tile.hashes)
    assert.equal(grown.root, root)
  }
})

function storeOf(tiles: ReadonlyMap<string, string>) {
  return { tile: (level: number, index: number) => Promise.resolve(tiles.get(`${level}/${index}`) ?? null) }
}

test('inclusion proofs are those of the reference, and lead to its root for that entry alone', () => {
  for (const size of [1, 2, 3, 7, 8, 9, 31, 33, 100]) {
    const entries = list(size)
    const root = treeHash(entries)
    for (let index = 0; index < size; index++) {
      const hashes = inclusionSpans(index, size).map((span) => hashOf(span, entries))
      assert.deepEqual(hashes, path(index, entries))
      assert.deepEqual(Buffer.from(rootOfInclusion(index, size, leafHash(entry(index)), hashes) ?? []), root)
      const other = rootOfInclusion(index, size, leafHash(entry(index + 1)), hashes)
      assert.notDeepEqual(Buffer.from(other ?? []), root)
      if (size > 1) assert.equal(rootOfInclusion(index, size, leafHash(entry(index)), hashes.slice(1)), null)
    }
  }
})

test('consistency proofs are those of the reference, and a changed past does not pass', () => {
  for (let size = 1; size <= 40; size++) {
    const entries = list(size)
    const newer = { size, root: treeHash(entries) }
    for (let old_size = 0; old_size <= size; old_size++) {
      const older = { size: old_size, root: treeHash(entries.slice(0, old_size)) }
      const hashes = consistencySpans(old_size, size).map((span) => hashOf(span, entries))
      if (old_size > 0) assert.deepEqual(hashes, proof(old_size, entries))
      assert.ok(isConsistent(older, newer, hashes), `${old_size} → ${size}`)
      const forked = { size: old_size, root: treeHash([...list(Math.max(0, old_size - 1)), entry(999)]) }
      if (old_size > 0) assert.ok(!isConsistent(forked, newer, hashes), `${old_size} → ${size}, forked`)
    }
  }
})

test('trees of any size below 2^53 are split where the reference splits them', () => {
  for (let power = 2; power <= 53; power++) {
    for (const size of [2 ** power - 2, 2 ** power - 1]) {
      for (const index of [0, Math.floor(size / 2), size - 1]) {
        const found = inclusionSpans(index, size).map(({ start, end }) => [BigInt(start), BigInt(end)])
        assert.deepEqual(found, pathSpans(BigInt(index), 0n, BigInt(size)), `${index} of ${size}`)
      }
      const lengths = completeNodes({ start: 0, end: size }).map(({ level }) => level)
      assert.deepEqual(lengths, bitsOf(BigInt(size)), String(size))
    }
  }
})

/** PATH of RFC 6962, 2.1.1, over whole numbers of any size: the spans that it hashes. */
function pathSpans(index: bigint, start: bigint, end: bigint): [bigint, bigint][] {
  if (end - start === 1n) return []
  let half = 1n
  while (half * 2n < end - start) half *= 2n
  const middle = start + half
  return index < middle ? [...pathSpans(index, start, middle), [middle, end]] : [...pathSpans(index, middle, end), [start, middle]]
}

/** The places of the ones in its binary form, highest first. */
function bitsOf(count: bigint): number[] {
  const digits = count.toString(2)
  return Array.from(digits, (digit, at) => (digit === '1' ? digits.length - 1 - at : -1)).filter((place) => place >= 0)
}

test('a proof of any length and any bytes is judged without an accident, and hardly ever holds', () => {
  const hash = fc.uint8Array({ minLength: 0, maxLength: 33 })
  const count = fc.oneof(fc.nat(70), fc.constantFrom(-1, 1.5, Number.NaN, 2 ** 53, 2 ** 52))
  fc.assert(
    fc.property(count, count, fc.array(hash, { maxLength: 70 }), hash, (one, two, hashes, leaf) => {
      rootOfInclusion(one, two, leaf, hashes)
      const older = { size: one, root: leaf }
      assert.equal(isConsistent(older, { size: two, root: entry(1) }, hashes), false)
    }),
    { numRuns: runs(200, 20_000), seed: SEED },
  )
})

test('a tree that grows by any steps has the reference root, and its tiles are its complete subtrees', async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(steps, async (counts) => {
      const entries = list(counts.reduce((sum, one) => sum + one, 0))
      const tiles = new Map<string, string>()
      let size = 0
      for (const count of counts) {
        const grown = await grow(storeOf(tiles), size, entries.slice(size, size + count).map(bytesToHex))
        for (const tile of grown.tiles) tiles.set(`${tile.level}/${tile.index}`, tile.hashes)
        size += count
        assert.equal(grown.size, size)
        assert.equal(grown.root, treeHash(entries.slice(0, size)).toString('hex'))
      }
      for (const [name, hashes] of tiles) {
        const [level = 0, index = 0] = name.split('/').map(Number)
        assert.equal(hashes.length / 64, tileWidth({ level, index }, size))
        const span = 256 ** level
        const start = index * 256 * span
        assert.equal(hashes.slice(0, 64), treeHash(entries.slice(start, start + span)).toString('hex'))
      }
    }),
    { numRuns: runs(5, 60), seed: SEED },
  )
})

test('complete subtrees cover a span, largest first', () => {
  assert.deepEqual(completeNodes({ start: 0, end: 7 }), [
    { level: 2, index: 0 },
    { level: 1, index: 2 },
    { level: 0, index: 6 },
  ])
  assert.deepEqual(completeNodes({ start: 4, end: 4 }), [])
})

test('tile paths are spelled in one way', () => {
  // The examples of the specification: index 1234067, and the tiles of a tree of 70,000 entries.
  const millions = { kind: 'hashes', level: 0, index: 1_234_067, width: 256 } as const
  assert.equal(tilePath(millions), '0/x001/x234/067')
  assert.deepEqual(readTilePath('0/x001/x234/067'), millions)
  assert.deepEqual(readTilePath('entries/000.p/5'), { kind: 'entries', level: 0, index: 0, width: 5 })
  assert.deepEqual(
    [0, 272, 273, 274].map((index) => tileWidth({ level: 0, index }, 70_000)),
    [256, 256, 112, 0],
  )
  assert.deepEqual([tileWidth({ level: 1, index: 0 }, 70_000), tileWidth({ level: 1, index: 1 }, 70_000)], [256, 17])
  assert.deepEqual([tileWidth({ level: 2, index: 0 }, 70_000), tileWidth({ level: 1, index: 0 }, 256)], [1, 1])
  const wrong = ['', '0', '0/0', '00/000', '64/000', '0/x000/001', '0/1000', '0/000.p/256', '0/000.p/0', '0/000.p/01', '0/000/', '-1/000']
  for (const path_text of [...wrong, '0/x1/000', 'entries/000.p/999', '0/x999/x999/x999/x999/x999/x999/999'])
    assert.equal(readTilePath(path_text), null, path_text)
})

// The note and key in the documentation of Go's golang.org/x/mod/sumdb/note, and the key of sum.golang.org.
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const GO_NOTE =
  'If you think cryptography is the answer to your problem,\nthen you don\u2019t know what your problem is.\n'.replace('\u2019', "'") +
  '\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'

test('a published note verifies, and not when a character of it changes', () => {
  const key = readVerifierKey(GO_KEY) ?? assert.fail('the key cannot be read')
  assert.equal(verifierKeyText(key), GO_KEY)
  assert.equal(readVerifierKey('sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8')?.type, 'log')
  assert.equal(readVerifierKey(GO_KEY.replace('c74f20a3', 'c74f20a4')), null)
  const note = readNote(GO_NOTE) ?? assert.fail('the note cannot be read')
  assert.ok(isSignedBy(note, key))
  const changed = readNote(GO_NOTE.replace('answer', 'Answer')) ?? assert.fail('the note cannot be read')
  assert.ok(!isSignedBy(changed, key))
  for (const text of ['', '\n\n', 'a\n', 'a\n\nb\n', GO_NOTE.slice(0, -1), `\u0001${GO_NOTE}`, GO_NOTE.replace('\u2014', '-')])
    assert.equal(readNote(text), null)
})

test('an entry is the same however the recovery byte is written', () => {
  const digest = `0x${'ab'.repeat(32)}`
  const signed = (v: string) => `0x${'11'.repeat(32)}${'22'.repeat(32)}${v}`
  const expected = createHash('sha256')
    .update(Buffer.from(`${'ab'.repeat(32)}${'11'.repeat(32)}${'22'.repeat(32)}1c`, 'hex'))
    .digest('hex')
  for (const v of ['01', '1c', '1C']) {
    assert.equal(bytesToHex(logEntry(digest, signed(v)) ?? new Uint8Array()), expected)
    assert.equal(nativeLogEntry(digest, signed(v)), expected)
  }
  for (const entryOf of [logEntry, nativeLogEntry]) {
    for (const given of ['0x11', `${signed('1c')}00`, signed('zz')]) assert.equal(entryOf(digest, given), null)
    assert.equal(entryOf('0x11', signed('1c')), null)
  }
})
