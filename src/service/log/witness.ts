import { bytesOfBase64, bytesToHex, hexToBytes } from '../../pure/log/bytes.ts'
import { alike, emptyRoot, isConsistent, isCount } from '../../pure/log/merkle.ts'
import {
  cosignatureBytes,
  cosigned,
  isSignedBy,
  readCheckpoint,
  readNote,
  signatureLine,
  type Checkpoint,
  type VerifierKey,
} from '../../pure/log/note.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogSigner } from '../../ports/log-signer.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'

/** Why a checkpoint is not signed; `conflict` says at which size the witness stands. */
export type WitnessEnd =
  | { kind: 'signed'; lines: string }
  | { kind: 'malformed'; why: string }
  | { kind: 'unknown_log' }
  | { kind: 'not_signed' }
  | { kind: 'conflict'; size: number }
  | { kind: 'inconsistent' }

export interface WitnessParts {
  store: Pick<ReceiptsLogStore, 'witnessed' | 'witness'>
  /** The logs that this service watches over, by origin. */
  logs: readonly VerifierKey[]
  key: VerifierKey
  signer: LogSigner
  clock: Clock
}

/** Signs checkpoints of other logs that continue what was signed before (C2SP tlog-witness, read 2026-11). */
export interface Witness {
  addCheckpoint(body: string): Promise<WitnessEnd>
}

export function createWitness(parts: WitnessParts): Witness {
  return { addCheckpoint: (body) => addCheckpoint(parts, body) }
}

async function addCheckpoint({ store, logs, key, signer, clock }: WitnessParts, body: string): Promise<WitnessEnd> {
  const asked = readRequest(body)
  if (asked === null) return { kind: 'malformed', why: 'Send "old <size>", proof lines in base64, an empty line and a signed checkpoint.' }
  const { old_size, hashes, note, checkpoint } = asked
  const log = logs.find(({ name }) => name === checkpoint.origin)
  if (log === undefined) return { kind: 'unknown_log' }
  if (!isSignedBy(note, log)) return { kind: 'not_signed' }
  if (old_size > checkpoint.size) return { kind: 'malformed', why: 'The old size is larger than the checkpoint.' }
  const stored = await store.witnessed(log.name)
  const before = { size: stored?.size ?? 0, root: stored === null ? emptyRoot() : hexToBytes(stored.root) }
  if (old_size !== before.size) return { kind: 'conflict', size: before.size }
  if (checkpoint.size === before.size && !alike(checkpoint.root, before.root)) return { kind: 'conflict', size: before.size }
  if (!isConsistent(before, checkpoint, hashes)) return { kind: 'inconsistent' }
  const moved = await store.witness(stored, { origin: log.name, size: checkpoint.size, root: bytesToHex(checkpoint.root) })
  if (!moved) return { kind: 'conflict', size: (await store.witnessed(log.name))?.size ?? 0 }
  const time_s = Math.floor(clock.now_ms() / 1_000)
  const line = signatureLine(key, cosignatureBytes(time_s, signer.sign(cosigned(note.text, time_s))))
  return { kind: 'signed', lines: `${line}\n` }
}

const PROOF_LINES = 63

function readRequest(body: string) {
  const end = body.indexOf('\n\n')
  const [first = '', ...lines] = end === -1 ? [] : body.slice(0, end).split('\n')
  const [, size = ''] = /^old (0|[1-9]\d{0,15})$/.exec(first) ?? []
  const hashes = lines.map(bytesOfBase64).filter((hash) => hash !== null && hash.length === 32)
  const note = end === -1 ? null : readNote(body.slice(end + 2))
  const checkpoint: Checkpoint | null = note === null ? null : readCheckpoint(note.text)
  if (size === '' || !isCount(Number(size)) || lines.length > PROOF_LINES || hashes.length !== lines.length) return null
  if (note === null || checkpoint === null) return null
  return { old_size: Number(size), hashes: hashes.filter((hash) => hash !== null), note, checkpoint }
}
