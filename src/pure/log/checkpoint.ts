/**
 * Signed notes, checkpoints and proofs of the receipts log as text (C2SP signed-note, tlog-checkpoint, tlog-cosignature and tlog-proof, read
 * 2026-11) with Ed25519. A checkpoint states the size and root of the log; witnesses cosign it. A proof can be kept and verified offline. A log entry is
 * SHA-256 of a receipt's digest and signature: it discloses nothing about the call and cannot be guessed without the receipt.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromHex } from '../receipts/crypto.ts'

export { bytesToHex, concatBytes, hexToBytes }

/**
 * Merkle tree of a transparency log (RFC 6962 section 2.1, SHA-256) and the tiles in which it is served (C2SP tlog-tiles, read 2026-11): 256
 * hashes of every eighth level. Only complete subtrees have a hash in a tile; the levels between follow from it. Entry numbers are integers below
 * 2^53. No I/O: proofs are lists of complete subtrees, for the caller who has their hashes.
 */

/** SHA-256 implementation; noble's by default, a faster one on servers. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Complete subtree: 2^level entries from `index * 2^level`. */
export interface Node {
  level: number
  index: number
}

/** Entries from `start` (inclusive) to `end` (exclusive). */
export interface EntrySpan {
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

/** Hash of a span from the hashes of its complete subtrees in order. */
export function foldedHash(hashes: readonly Uint8Array[], hash: Sha256 = sha256): Uint8Array {
  return hashes.reduceRight((right, left) => innerHash(left, right, hash))
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

/** Standard base64 with padding (RFC 4648 §4). */
export function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** Null for invalid base64: other alphabets, missing padding, nonzero trailing bits. */
export function bytesOfBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return base64Of(bytes) === text ? bytes : null
  } catch {
    // atob throws for an invalid length.
    return null
  }
}

const TILE_LEVELS = 8
export const TILE_HASHES = 2 ** TILE_LEVELS
export const HASH_BYTES = 32

export interface Tile {
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
export function tileOfNode({ level, index }: Node): { tile: Tile; from: number; to: number } {
  const row = level % TILE_LEVELS
  const first = index * 2 ** row
  const tile = { level: (level - row) / TILE_LEVELS, index: Math.floor(first / TILE_HASHES) }
  const from = first - tile.index * TILE_HASHES
  return { tile, from, to: from + 2 ** row }
}

/** Hash of a power of two of hashes. */
export function subtreeHash(hashes: readonly Uint8Array[], hash?: Sha256): Uint8Array {
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
export function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
}

/** Signature types: Ed25519 over the note, and over the note with the time of a witness. */
const TYPES = { log: 0x01, witness: 0x04 } as const
const KEY_ID_BYTES = 4
const TIME_BYTES = 8
const SIGNATURE_BYTES = 64
/** Space for 16 signatures of the longest type (ML-DSA-87, about 5 kB), which every reader must accept, and more. */
const NOTE_CHARS = 131_072
const SIGNATURE_LINES = 32
const NAME = /^[^\s+]{1,200}$/u

export interface VerifierKey {
  type: keyof typeof TYPES
  name: string
  /** 8 hexadecimal digits. */
  id: string
  public_key: Uint8Array
}

export function verifierKey(type: VerifierKey['type'], name: string, public_key: Uint8Array): VerifierKey {
  const id = sha256(concatBytes(utf8ToBytes(`${name}\n`), new Uint8Array([TYPES[type]]), public_key)).subarray(0, KEY_ID_BYTES)
  return { type, name, id: bytesToHex(id), public_key }
}

/** Serializes a verifier key: name, id, and base64 of type and key. */
export function verifierKeyText({ type, name, id, public_key }: VerifierKey): string {
  return `${name}+${id}+${base64Of(concatBytes(new Uint8Array([TYPES[type]]), public_key))}`
}

/** Reads a verifier key of one of the two types; null if it is invalid or its id does not match. */
export function readVerifierKey(text: string): VerifierKey | null {
  const [, name = '', id = '', encoded = ''] = /^([^\s+]{1,200})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,100})$/u.exec(text) ?? []
  const bytes = bytesOfBase64(encoded)
  if (bytes === null || bytes.length !== 33) return null
  const type = bytes[0] === TYPES.log ? 'log' : bytes[0] === TYPES.witness ? 'witness' : null
  const key = type === null ? null : verifierKey(type, name, bytes.subarray(1))
  return key?.id === id ? key : null
}

export interface NoteSignature {
  name: string
  /** 8 hexadecimal digits. */
  id: string
  bytes: Uint8Array
}

export interface Note {
  /** Text with its last line feed, without the empty line after it. */
  text: string
  signatures: NoteSignature[]
}

/** Null if the text is not a signed note or has more than 32 signatures. */
export function readNote(text: string): Note | null {
  const end = text.lastIndexOf('\n\n')
  if (end <= 0 || text.length > NOTE_CHARS || !text.endsWith('\n') || !text.isWellFormed() || hasControl(text)) return null
  const lines = text.slice(end + 2, -1).split('\n')
  if (lines.length > SIGNATURE_LINES) return null
  const signatures = lines.map(readSignatureLine)
  return signatures.every((one) => one !== null) ? { text: text.slice(0, end + 1), signatures } : null
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 && code !== 0x0a) return true
  }
  return false
}

export function readSignatureLine(line: string): NoteSignature | null {
  const [, name = '', encoded = ''] = /^\u2014 (\S+) (\S+)$/u.exec(line) ?? []
  const bytes = bytesOfBase64(encoded)
  if (bytes === null || bytes.length <= KEY_ID_BYTES || !NAME.test(name)) return null
  return { name, id: bytesToHex(bytes.subarray(0, KEY_ID_BYTES)), bytes: bytes.subarray(KEY_ID_BYTES) }
}

/** Signature line without its line feed. */
export function signatureLine({ name, id }: Pick<VerifierKey, 'name' | 'id'>, bytes: Uint8Array): string {
  return `\u2014 ${name} ${base64Of(concatBytes(hexToBytes(id), bytes))}`
}

/** True if the key signed the note. A wrong signature of the same key makes it false. */
export function isSignedBy(note: Note, key: VerifierKey): boolean {
  const mine = note.signatures.filter(({ name, id }) => name === key.name && id === key.id)
  return mine.length > 0 && mine.every(({ bytes }) => signedTime(note.text, key, bytes) !== null)
}

/** Time of a valid signature: seconds since 1970 for a witness, 0 for a log; null if the signature is invalid. */
export function signedTime(text: string, { type, public_key }: VerifierKey, bytes: Uint8Array): number | null {
  if (type === 'log') return holds(bytes, utf8ToBytes(text), public_key) ? 0 : null
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return null
  const time_s = Number(new DataView(bytes.buffer, bytes.byteOffset, TIME_BYTES).getBigUint64(0))
  return isCount(time_s) && holds(bytes.subarray(TIME_BYTES), cosigned(text, time_s), public_key) ? time_s : null
}

function holds(signature: Uint8Array, message: Uint8Array, public_key: Uint8Array): boolean {
  try {
    return signature.length === SIGNATURE_BYTES && ed25519.verify(signature, message, public_key, { zip215: false })
  } catch {
    // noble throws for invalid keys and points.
    return false
  }
}

/** Text that a witness signs. */
export function cosigned(text: string, time_s: number): Uint8Array {
  return utf8ToBytes(`cosignature/v1\ntime ${time_s}\n${text}`)
}

/** Bytes after the key id in the signature line of a witness. */
export function cosignatureBytes(time_s: number, signature: Uint8Array): Uint8Array {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setBigUint64(0, BigInt(time_s))
  return concatBytes(time, signature)
}

export interface Checkpoint {
  origin: string
  size: number
  root: Uint8Array
}

/** Text that a log signs: origin, number of entries, root. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64Of(root)}\n`
}

/** Null if a note is not a checkpoint. Further lines are ignored. */
export function readCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', encoded = '', ...more] = text.split('\n')
  const root = bytesOfBase64(encoded)
  if (origin === '' || more.length < 1 || more.slice(0, -1).includes('') || root === null || root.length !== 32) return null
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || !isCount(Number(size))) return null
  return { origin, size: Number(size), root }
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1'
const PROOF_HASHES = 63
/** Proof lines and checkpoint. */
const PROOF_CHARS = 16_384 + NOTE_CHARS

/**
 * Log entry of a receipt: 32 bytes over the digest and the 65-byte signature, with v normalized to 27 or 28. Null if one of them is not
 * hex of that length.
 */
export function logEntry(digest: string, signature: string, sha: Sha256 = sha256): Uint8Array | null {
  const [hash, signed] = [fromHex(digest), fromHex(signature)]
  if (hash?.length !== 32 || signed?.length !== 65) return null
  const v = signed[64] ?? 0
  if (v < 27) signed[64] = v + 27
  return sha(concatBytes(hash, signed))
}

interface InclusionProof {
  index: number
  hashes: Uint8Array[]
  /** Signed checkpoint text. */
  checkpoint: string
}

export function proofText({ index, hashes, checkpoint }: InclusionProof): string {
  return [FIRST_LINE, `index ${index}`, ...hashes.map(base64Of), '', checkpoint].join('\n')
}

/** Null if the text is not an inclusion proof. */
function readProof(text: string): InclusionProof | null {
  const end = text.indexOf('\n\n')
  if (end === -1 || text.length > PROOF_CHARS) return null
  const [first, ...lines] = text.slice(0, end).split('\n')
  if (first !== FIRST_LINE) return null
  if (lines[0]?.startsWith('extra ')) lines.shift()
  const [, index = ''] = /^index (0|[1-9]\d{0,15})$/.exec(lines.shift() ?? '') ?? []
  const hashes = lines.map(bytesOfBase64)
  if (index === '' || !isCount(Number(index)) || hashes.length > PROOF_HASHES) return null
  if (!hashes.every((hash) => hash !== null && hash.length === 32)) return null
  return { index: Number(index), hashes: hashes.filter((hash) => hash !== null), checkpoint: text.slice(end + 2) }
}

const LOG_CODES = {
  ok: 'The receipt is in the log, at the size that the checkpoint names.',
  bad_proof: 'The text is not a tlog-proof of version 1.',
  bad_checkpoint: 'The checkpoint in the proof cannot be read.',
  unknown_log: 'The checkpoint is not signed by the key of this log.',
  not_included: 'The proof does not lead from this receipt to the root that the log signed.',
} as const

export interface LogVerdict {
  valid: boolean
  code: keyof typeof LOG_CODES
  reason: string
  /** Null if the proof could not be parsed up to the checkpoint. */
  checkpoint: Pick<Checkpoint, 'origin' | 'size'> | null
  index: number | null
  /** Given witnesses that signed this checkpoint, with seconds since 1970. */
  witnesses: { name: string; time_s: number }[]
}

/**
 * Verifies that the entry is in the log of this key. It proves that the log's key signed a tree with the entry. Only witnesses or a later
 * checkpoint can show that all readers see the same tree.
 */
export function verifyLogProof(text: string, entry: Uint8Array, log: VerifierKey, witnesses: readonly VerifierKey[] = []): LogVerdict {
  const proof = readProof(text)
  const found = { checkpoint: null, index: proof?.index ?? null, witnesses: [] }
  if (proof === null) return verdict('bad_proof', found)
  const note = readNote(proof.checkpoint)
  const checkpoint = note === null ? null : readCheckpoint(note.text)
  if (note === null || checkpoint === null) return verdict('bad_checkpoint', found)
  const seen = { ...found, checkpoint: { origin: checkpoint.origin, size: checkpoint.size } }
  if (checkpoint.origin !== log.name || !isSignedBy(note, log)) return verdict('unknown_log', seen)
  const root = rootOfInclusion(proof.index, checkpoint.size, leafHash(entry), proof.hashes)
  if (root === null || !alike(root, checkpoint.root)) return verdict('not_included', seen)
  return verdict('ok', { ...seen, witnesses: witnesses.flatMap((key) => witnessed(note, key)) })
}

function witnessed(note: Note, key: VerifierKey): { name: string; time_s: number }[] {
  const line = note.signatures.find(({ name, id }) => name === key.name && id === key.id)
  const time_s = line === undefined ? null : signedTime(note.text, key, line.bytes)
  return time_s === null ? [] : [{ name: key.name, time_s }]
}

function verdict(code: LogVerdict['code'], more: Omit<LogVerdict, 'valid' | 'code' | 'reason'>): LogVerdict {
  return { valid: code === 'ok', code, reason: LOG_CODES[code], ...more }
}
