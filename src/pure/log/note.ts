/**
 * Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint and tlog-cosignature, read 2026-11) with Ed25519: the text in which a log
 * says how large it is, and what others sign to say that they saw it so.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { base64Of, bytesOfBase64 } from './bytes.ts'
import { isCount } from './merkle.ts'

/** Ed25519 over the note itself, and over the note with the time at which a witness saw it. */
const TYPES = { log: 0x01, witness: 0x04 } as const
const KEY_ID_BYTES = 4
const TIME_BYTES = 8
const SIGNATURE_BYTES = 64
/** 16 signatures of the longest kind, some 5 kB each in bytes (ML-DSA-87), which every reader must take, and room for more. */
export const NOTE_CHARS = 131_072
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

/** The text by which such keys are handed on: name, id, and the type and key in base64. */
export function verifierKeyText({ type, name, id, public_key }: VerifierKey): string {
  return `${name}+${id}+${base64Of(concatBytes(new Uint8Array([TYPES[type]]), public_key))}`
}

/** Null for anything but a verifier key of one of the two types whose id fits. */
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
  /** With its last line feed, and without the empty line behind it. */
  text: string
  signatures: NoteSignature[]
}

/** Null when the text is no signed note, or has more than 32 signatures. */
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

/** A signature line without its line feed. */
export function signatureLine({ name, id }: Pick<VerifierKey, 'name' | 'id'>, bytes: Uint8Array): string {
  return `\u2014 ${name} ${base64Of(concatBytes(hexToBytes(id), bytes))}`
}

/** Whether this key signed the note; false also when it did not sign at all. A wrong signature beside a right one by the same key counts as wrong. */
export function isSignedBy(note: Note, key: VerifierKey): boolean {
  const mine = note.signatures.filter(({ name, id }) => name === key.name && id === key.id)
  return mine.length > 0 && mine.every(({ bytes }) => signedTime(note.text, key, bytes) !== null)
}

/** When the key signed: seconds since 1970 for a witness, 0 for a log, which does not say; null when the signature does not hold. */
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
    // noble throws for keys and points that are none.
    return false
  }
}

/** What a witness signs. */
export function cosigned(text: string, time_s: number): Uint8Array {
  return utf8ToBytes(`cosignature/v1\ntime ${time_s}\n${text}`)
}

/** The bytes of a witness's signature line behind the key id. */
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

/** The text that a log signs: origin, number of entries, root. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64Of(root)}\n`
}

/** Null when a note is no checkpoint. Further lines are let pass and not looked at. */
export function readCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', encoded = '', ...more] = text.split('\n')
  const root = bytesOfBase64(encoded)
  if (origin === '' || more.length < 1 || more.slice(0, -1).includes('') || root === null || root.length !== 32) return null
  if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || !isCount(Number(size))) return null
  return { origin, size: Number(size), root }
}
