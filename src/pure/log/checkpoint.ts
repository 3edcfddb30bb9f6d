/**
 * Signed notes, checkpoints and proofs of the receipts log as text (C2SP signed-note, tlog-checkpoint, tlog-cosignature and tlog-proof, read
 * 2026-11) with Ed25519. A checkpoint states the size and root of the log; witnesses cosign it. A proof can be kept and verified offline. A log entry is
 * SHA-256 of a receipt's digest and signature: it discloses nothing about the call and cannot be guessed without the receipt.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromHex } from '../receipts/crypto.ts'
import { isCount, isIncluded, type Sha256 } from './tree.ts'

export { bytesToHex, hexToBytes }

/** Standard base64 with padding (RFC 4648 §4). */
function base64Of(bytes: Uint8Array): string {
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

/** Ed25519 over a message: 64 bytes. */
interface Signer {
  sign(message: Uint8Array): Uint8Array
}

interface NoteSignature {
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
function cosigned(text: string, time_s: number): Uint8Array {
  return utf8ToBytes(`cosignature/v1\ntime ${time_s}\n${text}`)
}

/** Line by which a witness signs a note, without its line feed. */
export function cosignatureLine({ text }: Note, key: VerifierKey, time_s: number, signer: Signer): string {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setBigUint64(0, BigInt(time_s))
  return signatureLine(key, concatBytes(time, signer.sign(cosigned(text, time_s))))
}

/** The line of `lines` by which the key signs the note; undefined if there is none, or its signature is invalid. */
export function signatureBy(key: VerifierKey, { text }: Note, lines: readonly string[]): string | undefined {
  return lines.find((line) => {
    const read = readSignatureLine(line)
    return read?.name === key.name && read.id === key.id && signedTime(text, key, read.bytes) !== null
  })
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

/** Signed checkpoint of the log of this key, without lines of witnesses. */
export function signedCheckpoint(tree: Omit<Checkpoint, 'origin'>, key: VerifierKey, signer: Signer): string {
  const text = checkpointText({ origin: key.name, ...tree })
  return `${text}\n${signatureLine(key, signer.sign(utf8ToBytes(text)))}\n`
}

/** Null if a note is not a checkpoint. Further lines are ignored. */
export function readCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', encoded = '', ...more] = text.split('\n')
  const root = bytesOfBase64(encoded)
  if (origin === '' || more.length < 1 || more.slice(0, -1).includes('') || root === null || root.length !== 32) return null
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || !isCount(Number(size))) return null
  return { origin, size: Number(size), root }
}

/** Origin in the first line of a checkpoint. */
export function originOf(checkpoint: string): string {
  return checkpoint.slice(0, Math.max(0, checkpoint.indexOf('\n')))
}

/** Consistency proof with the signed checkpoint that it leads to, as a witness takes it (C2SP tlog-witness, read 2026-11). */
export function consistencyText(old_size: number, hashes: readonly Uint8Array[], checkpoint: string): string {
  return [`old ${old_size}`, ...hashes.map(base64Of), '', checkpoint].join('\n')
}

/** Reads a consistency proof; null if the text is none. Signatures are not verified. */
export function readConsistency(text: string) {
  const end = text.indexOf('\n\n')
  const [first = '', ...lines] = end === -1 ? [] : text.slice(0, end).split('\n')
  const [, size = ''] = /^old (0|[1-9]\d{0,15})$/.exec(first) ?? []
  const hashes = lines.map(bytesOfBase64).filter((hash) => hash !== null && hash.length === 32)
  const note = end === -1 ? null : readNote(text.slice(end + 2))
  const checkpoint = note === null ? null : readCheckpoint(note.text)
  if (size === '' || !isCount(Number(size)) || lines.length > PROOF_HASHES || hashes.length !== lines.length) return null
  if (note === null || checkpoint === null) return null
  return { old_size: Number(size), hashes: hashes.filter((hash) => hash !== null), note, checkpoint }
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
  if (!isIncluded(entry, proof.index, checkpoint, proof.hashes)) return verdict('not_included', seen)
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
