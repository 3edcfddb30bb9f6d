import { hexToBytes } from '../../pure/log/bytes.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogSigner } from '../../ports/log-signer.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'
import type { Sha256 } from '../../pure/log/merkle.ts'
import { checkpointText, signatureLine, type VerifierKey } from '../../pure/log/note.ts'
import type { Job } from '../jobs/run.ts'
import { LOG_RULES } from './rules.ts'
import { grow, NO_HEAD } from './tree.ts'

export interface SequencerParts {
  store: ReceiptsLogStore
  signer: LogSigner
  key: VerifierKey
  clock: Clock
  hash?: Sha256
  pause(pause_ms: number): Promise<void>
}

/**
 * Appends what waits. One process does it at a time, by the lease of its job; should two meet all the same, the store lets only the first
 * one move the head, so that no two checkpoints of one size exist. A checkpoint is signed before it is stored and shown to nobody before it is.
 */
export function sequencerJob(parts: SequencerParts): Job {
  const { pause } = parts
  return {
    name: 'receipts-log',
    every_ms: LOG_RULES.append_every_ms,
    run: async () => {
      for (let step = 0; step < LOG_RULES.round_steps && (await appendWaiting(parts)); step++) await pause(LOG_RULES.step_rest_ms)
    },
  }
}

/** One step; whether another one may find more. */
async function appendWaiting({ store, signer, key, clock, hash }: SequencerParts): Promise<boolean> {
  const head = await store.head()
  const waiting = await store.waiting(LOG_RULES.step_entries)
  // The first checkpoint says that the log is there and empty.
  if (waiting.length === 0 && head !== null) return false
  const known = await store.positions(waiting)
  if (known.size > 0) await store.forget([...known.keys()])
  const entries = waiting.filter((entry) => !known.has(entry))
  if (entries.length === 0 && head !== null) return true
  const { size: from_size } = head ?? NO_HEAD
  const { tiles, size, root } = await grow(store, from_size, entries, hash)
  const text = checkpointText({ origin: key.name, size, root: hexToBytes(root) })
  const checkpoint = `${text}\n${signatureLine(key, signer.sign(new TextEncoder().encode(text)))}\n`
  const moved = await store.append({ from_size, entries, tiles, head: { size, root, checkpoint, signed_ms: clock.now_ms() } })
  return moved && waiting.length === LOG_RULES.step_entries
}
