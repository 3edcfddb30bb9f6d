/**
 * Proofs that a receipt is in the log, as text that can be kept and verified offline (C2SP tlog-proof, read 2026-11). An entry of the log is
 * SHA-256 of the receipt's digest and its signature: it shows nothing of the call, and nobody can guess it without the receipt.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { fromHex } from '../receipts/crypto.ts'
import { base64Of, bytesOfBase64 } from './bytes.ts'
import { alike, isCount, leafHash, rootOfInclusion, type Sha256 } from './merkle.ts'
import { isSignedBy, NOTE_CHARS, readCheckpoint, readNote, signedTime, type Checkpoint, type Note, type VerifierKey } from './note.ts'

const FIRST_LINE = 'c2sp.org/tlog-proof@v1'
const PROOF_HASHES = 63
/** The lines before the checkpoint, and the checkpoint. */
const PROOF_CHARS = 16_384 + NOTE_CHARS

/**
 * The log entry of a receipt: 32 bytes, over the digest and the 65-byte signature with v as 27 or 28, however it was written. Null when one of
 * them is no 0x-prefixed hex of that length.
 */
export function logEntry(digest: string, signature: string, sha: Sha256 = sha256): Uint8Array | null {
  const [hash, signed] = [fromHex(digest), fromHex(signature)]
  if (hash?.length !== 32 || signed?.length !== 65) return null
  const v = signed[64] ?? 0
  if (v < 27) signed[64] = v + 27
  return sha(concatBytes(hash, signed))
}

export interface InclusionProof {
  index: number
  hashes: Uint8Array[]
  /** The signed checkpoint as it stands. */
  checkpoint: string
}

export function proofText({ index, hashes, checkpoint }: InclusionProof): string {
  return [FIRST_LINE, `index ${index}`, ...hashes.map(base64Of), '', checkpoint].join('\n')
}

/** Null when the text is no such proof. */
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
  bad_proof: 'This is no proof of a log: its lines are not those of tlog-proof version 1.',
  bad_checkpoint: 'The checkpoint in the proof cannot be read.',
  unknown_log: 'The checkpoint is not signed by the key of this log.',
  not_included: 'The proof does not lead from this receipt to the root that the log signed.',
} as const

export interface LogVerdict {
  valid: boolean
  code: keyof typeof LOG_CODES
  reason: string
  /** Null where the proof could not be read so far. */
  checkpoint: Pick<Checkpoint, 'origin' | 'size'> | null
  index: number | null
  /** The witnesses among those given that signed this checkpoint, with the time in seconds since 1970. */
  witnesses: { name: string; time_s: number }[]
}

/**
 * Whether a proof shows that the entry is in the log of this key. It proves that the log's key signed a tree that holds the entry; that
 * everybody is shown the same tree, only witnesses or a second look at a later checkpoint can tell.
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
