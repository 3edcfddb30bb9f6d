import {
  bytesToHex,
  consistencyText,
  cosignatureLine,
  hexToBytes,
  isSignedBy,
  proofText,
  readConsistency,
  readNote,
  readSignatureLine,
  readVerifierKey,
  signatureBy,
  signedCheckpoint,
  verifierKeyText,
  type VerifierKey,
} from '../../pure/log/checkpoint.ts'
import { alike, emptyRoot, isConsistent, type LogTree, tileWidth, type Sha256, type TileRequest } from '../../pure/log/tree.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { LogMemory, RememberedHead } from '../../ports/log-memory.ts'
import type { LogSigner } from '../../ports/signer.ts'
import type { ReceiptsLogStore, WitnessClient } from '../../ports/receipts-log.ts'
import type { Job } from '../jobs/jobs.ts'
import { LOG_RULES } from '../limits.ts'
import type { Log } from '../../ports/log.ts'
import { type LogHistory, type LogStop, type NoteStore, originOfEpoch, stopWords } from './log-history.ts'
import { PublishedHead } from './published-head.ts'
import { fromHex, growFrom, NO_ENTRIES, treeOf, type TreeHead } from './stored-tree.ts'

interface SequencerParts {
  store: ReceiptsLogStore
  published: PublishedHead
  signer: LogSigner
  clock: Clock
  hash?: Sha256
  pause(pause_ms: number): Promise<void>
}

/**
 * Appends waiting entries. The lease of the job lets one process do it at a time; should two run simultaneously, the store lets only the
 * first one move the head, so that no two checkpoints of one size exist. A checkpoint is signed before it is stored, and published only
 * after it is stored and is in the memory of this machine.
 */
function sequencerJob(parts: SequencerParts): Job {
  const { pause, published } = parts
  return {
    name: 'receipts-log',
    every_ms: LOG_RULES.append_every_ms,
    run: async () => {
      await published.refresh()
      if (!published.isSettled()) return
      for (let step = 0; step < LOG_RULES.round_steps && (await appendWaiting(parts)); step++) await pause(LOG_RULES.step_rest_ms)
      await published.keep()
    },
  }
}

/** One step; whether another one may find more. */
async function appendWaiting({ store, published, signer, clock, hash }: SequencerParts): Promise<boolean> {
  const { stored: head, shown } = await published.look()
  if (published.stopped !== null || (head === null && shown !== null)) return false
  const waiting = await store.waiting(LOG_RULES.step_entries)
  // The first checkpoint of an epoch says that the log is there, empty or as it was accepted.
  const is_signed = head !== null && shown !== null
  if (waiting.length === 0 && is_signed) return false
  const known = await store.positions(waiting)
  if (known.size > 0) await store.forget([...known.keys()])
  const entries = is_signed ? waiting.filter((entry) => !known.has(entry)) : []
  if (entries.length === 0 && is_signed) return true
  const older = head ?? NO_ENTRIES
  const grown = await growFrom(store, older, entries, hash)
  if (grown === null) {
    const { size, root } = older
    await published.stop({
      reason: 'inconsistent',
      published: { size, root, checkpoint: shown?.checkpoint ?? null },
      store: { size, root },
    })
    return false
  }
  const { tiles, size, root } = grown
  const checkpoint = signedCheckpoint({ size, root: hexToBytes(root) }, published.key, signer)
  const moved = await store.append({ from_size: older.size, entries, tiles, head: { size, root, checkpoint, signed_ms: clock.now_ms() } })
  if (moved) published.signed({ size, root, checkpoint })
  return moved && (!is_signed || waiting.length === LOG_RULES.step_entries)
}

/** Takes the receipts of this process to the log. */
interface LogQueue {
  /** Never waits and never fails: a call must not hang on the log. */
  add(digest: string, signature: string): void
  /** Receipts that are not written down yet. */
  waiting(): number
  /** Receipts that could not be kept since the start. */
  dropped(): number
  /** Writes down what is gathered. */
  stop(): Promise<void>
}

/** The log entry of a receipt in hex; null for what is none. */
type EntryOf = (digest: string, signature: string) => string | null

/**
 * Receipts gather in memory and are written down together, often and few at a time, so that no call waits behind a crowd of them. What a process that dies had gathered is not in the log until the
 * holder of the receipt hands it in: the receipt itself is good without.
 */
export function createLogQueue(store: Pick<ReceiptsLogStore, 'queue'>, clock: Clock, log: Log, entryOf: EntryOf): LogQueue {
  let gathered: string[] = []
  let dropped = 0
  let writing: Promise<void> = Promise.resolve()
  const flush = async () => {
    if (gathered.length === 0) return
    const taken = gathered
    gathered = []
    try {
      await store.queue(taken, clock.now_ms())
    } catch (error) {
      // They come again with the next ones, as far as there is room.
      const room = Math.max(0, LOG_RULES.gathered - gathered.length)
      gathered = [...taken.slice(0, room), ...gathered]
      dropped += Math.max(0, taken.length - room)
      log.warn({ error: String(error), waiting: gathered.length, dropped }, 'receipts could not be queued for the log')
    }
  }
  const step = () => (writing = writing.then(flush))
  const timer = setInterval(() => void step(), LOG_RULES.flush_every_ms)
  timer.unref()
  return {
    add(digest, signature) {
      const entry = entryOf(digest, signature)
      if (entry === null) return
      if (gathered.length < LOG_RULES.gathered) gathered.push(entry)
      else dropped++
    },
    waiting: () => gathered.length,
    dropped: () => dropped,
    stop: async () => {
      clearInterval(timer)
      await step()
    },
  }
}

/** Bytes of a tile in a tree of some size. */
function cut(hashes: string, width: number): Uint8Array | null {
  const digits = width * HASH_DIGITS
  return hashes.length < digits ? null : new Uint8Array(fromHex(hashes.slice(0, digits)))
}

/** Hexadecimal digits of a hash. */
const HASH_DIGITS = 64

/** Public reads of the log, all computed from the current contents of the store. */
interface LogBook {
  /** The newest checkpoint with the lines of its witnesses; null before the first. */
  checkpoint(): Promise<string | null>
  /** The bytes of a tile or of a bundle of entries; null when the log does not have it. */
  tile(request: TileRequest): Promise<Uint8Array<ArrayBuffer> | null>
  /** Inclusion state of an entry; `proof` is text that verifies offline. */
  proof(entry: Uint8Array): Promise<{ kind: 'included'; text: string } | { kind: 'waiting' } | { kind: 'unknown' }>
  /** Proofs of several entries under one checkpoint, and its consistency with an earlier size; null before the first checkpoint. */
  evidence(entries: readonly string[], old_size: number | null): Promise<LogEvidence | null>
  /** That the newest tree continues the one of `old_size`, as a witness takes it; null when the log never was so small or is not so large. */
  consistency(old_size: number): Promise<string | null>
}

/** Entries in hex. */
interface LogEvidence {
  checkpoint: string
  proofs: { entry: string; proof: string }[]
  unproved: { entry: string; state: 'waiting' | 'unknown' }[]
  /** Null without an earlier size, or if the log never was so small or is not so large. */
  consistency: string | null
}

/** Thrown where an answer needs the entries of the published head while the store does not have them. */
export class LogStoppedError extends Error {
  override readonly name = 'LogStoppedError'
}

interface BookParts {
  store: ReceiptsLogStore
  published: PublishedHead
}

function createLogBook({ store, published }: BookParts): LogBook {
  const running = async (): Promise<RememberedHead | null> => {
    const head = await published.shown()
    if (published.stopped !== null) throw new LogStoppedError(stopWords(published.stopped))
    return head
  }
  return {
    checkpoint: async () => {
      const head = await published.shown()
      return head === null ? null : signed(store, head)
    },
    tile: async (request) => tileBytes(store, await running(), request),
    proof: (entry) => proofOf(store, running, entry),
    evidence: (entries, old_size) => evidenceOf({ store, published }, entries, old_size),
    consistency: async (old_size) => {
      const head = await running()
      return head === null ? null : consistencyOf(treeOf(store), head, old_size)
    },
  }
}

async function consistencyOf(tree: LogTree, head: RememberedHead, old_size: number): Promise<string | null> {
  if (old_size > head.size) return null
  return consistencyText(old_size, await tree.consistency(old_size, head.size), head.checkpoint)
}

async function evidenceOf(
  { store, published }: BookParts,
  entries: readonly string[],
  old_size: number | null,
): Promise<LogEvidence | null> {
  const positions = await store.positions(entries)
  const head = await published.shown()
  if (head === null) return null
  const is_stopped = published.stopped !== null
  const [tree, checkpoint] = [treeOf(store), await signed(store, head)]
  const evidence: LogEvidence = { checkpoint, proofs: [], unproved: [], consistency: null }
  for (const entry of entries) {
    const index = positions.get(entry)
    const waits = index !== undefined && (is_stopped || index >= head.size)
    if (index === undefined || waits) {
      evidence.unproved.push({ entry, state: waits || (await store.is_waiting(entry)) ? 'waiting' : 'unknown' })
    } else {
      const hashes = await tree.inclusion(index, head.size)
      evidence.proofs.push({ entry, proof: proofText({ index, hashes, checkpoint }) })
    }
  }
  if (old_size !== null && !is_stopped) evidence.consistency = await consistencyOf(tree, head, old_size)
  return evidence
}

async function signed(store: ReceiptsLogStore, head: RememberedHead): Promise<string> {
  const lines = await store.cosignatures(head.size)
  return head.checkpoint + lines.map((line) => `${line}\n`).join('')
}

/** Only tiles that a published checkpoint needs are served, at any width up to the one of now. */
async function tileBytes(
  store: ReceiptsLogStore,
  head: RememberedHead | null,
  { kind, level, index, width }: TileRequest,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (head === null || tileWidth({ level, index }, head.size) < width) return null
  if (kind === 'hashes') {
    const hashes = await store.tile(level, index)
    const bytes = hashes === null ? null : cut(hashes, width)
    return bytes === null ? null : new Uint8Array(bytes)
  }
  const entries = await store.entries(index * 256, width)
  return new Uint8Array(Buffer.concat(entries.flatMap((entry) => [ENTRY_LENGTH, fromHex(entry)])))
}

/** Each entry is 32 bytes long, said in two. */
const ENTRY_LENGTH = new Uint8Array([0, 32])

async function proofOf(store: ReceiptsLogStore, running: () => Promise<RememberedHead | null>, entry: Uint8Array) {
  const hex = bytesToHex(entry)
  const index = (await store.positions([hex])).get(hex)
  const head = await running()
  if (index === undefined) return (await store.is_waiting(hex)) ? ({ kind: 'waiting' } as const) : ({ kind: 'unknown' } as const)
  // Appended, and not published yet.
  if (head === null || index >= head.size) return { kind: 'waiting' } as const
  const hashes = await treeOf(store).inclusion(index, head.size)
  return { kind: 'included', text: proofText({ index, hashes, checkpoint: await signed(store, head) }) } as const
}

/** Parts of the log that the surfaces use. */
export interface ReceiptsLog {
  book: LogBook
  witness: Witness
  /** The log's key of this epoch and, under another name and type, the key by which it signs the logs of others. */
  readonly verifier_key: string
  readonly witness_key: string
  /** Current stop, if any, and every stop so far. */
  state(): LogState
  /** Writes an entry down as waiting; durable when it resolves. */
  handIn(entry: string): Promise<void>
}

export interface LogState {
  /** Null while the log runs. */
  stopped: LogStop | null
  /** Highest head that this instance signed or served. */
  highest: TreeHead | null
  history: LogHistory
  /** The key of an epoch. */
  verifierKeyOf(epoch: number): string
}

/** Outcome of a request to sign a checkpoint; `conflict` has the size that the witness last signed. */
export type WitnessEnd =
  | { kind: 'signed'; lines: string }
  | { kind: 'malformed'; why: string }
  | { kind: 'unknown_log' }
  | { kind: 'not_signed' }
  | { kind: 'conflict'; size: number }
  | { kind: 'inconsistent' }

interface WitnessParts {
  store: Pick<ReceiptsLogStore, 'witnessed' | 'witness'>
  /** The logs that this service watches over, by origin. */
  logs: readonly VerifierKey[]
  key: VerifierKey
  signer: LogSigner
  clock: Clock
}

/** Signs checkpoints of other logs that continue what was signed before (C2SP tlog-witness, read 2026-11). */
interface Witness {
  addCheckpoint(body: string): Promise<WitnessEnd>
}

function createWitness(parts: WitnessParts): Witness {
  return { addCheckpoint: (body) => addCheckpoint(parts, body) }
}

async function addCheckpoint({ store, logs, key, signer, clock }: WitnessParts, body: string): Promise<WitnessEnd> {
  const asked = readConsistency(body)
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
  return { kind: 'signed', lines: `${cosignatureLine(note, key, time_s, signer)}\n` }
}

interface CosignatureParts extends BookParts {
  book: LogBook
  witnesses: readonly WitnessClient[]
  log: Log
}

/**
 * Brings the newest checkpoint to every witness and keeps what they sign. A witness that fails is asked again with the next one. The checkpoint
 * of an empty log is not worth a signature; with `ask_empty` it is brought all the same, because a witness may know a larger one.
 */
async function gatherCosignatures({ store, published, book, witnesses, log }: CosignatureParts, ask_empty = false): Promise<void> {
  if (witnesses.length === 0) return
  const head = await published.shown()
  if (head === null || (head.size === 0 && !ask_empty) || published.stopped !== null) return
  const have = await store.cosignatures(head.size)
  await Promise.all(
    witnesses.map(async (witness) => {
      const key = readVerifierKey(witness.verifier_key)
      if (key === null || have.some((line) => readSignatureLine(line)?.id === key.id)) return
      try {
        const line = await cosignatureOf(book, witness, key, (size, refused) => published.witnessed(size, refused))
        if (line.size > 0) await store.cosign(line.size, `${key.name} ${key.id}`, line.text)
      } catch (error) {
        log.warn({ witness: key.name, error: String(error) }, 'a witness did not sign the checkpoint')
      }
    }),
  )
}

/**
 * Starts from the size that the witness last signed; the witness reports that size when the guess is wrong. `hasSigned` gets each size that
 * it reports, and whether it refused a proof from exactly that size: then the store has another history.
 */
async function cosignatureOf(
  book: LogBook,
  witness: WitnessClient,
  key: VerifierKey,
  hasSigned: (size: number, refused: boolean) => Promise<void>,
) {
  let old_size = 0
  for (let attempt = 0; attempt < 2; attempt++) {
    const body = await book.consistency(old_size)
    if (body === null) throw new Error(`it signed size ${old_size}, which this log never had`)
    const { status, text } = await witness.addCheckpoint(body)
    if (status === 200) return checked(body, text, key)
    const size = /^(?:0|[1-9]\d{0,15})\n$/.test(text) ? Number(text.trim()) : null
    if (status === 422) await hasSigned(old_size, true)
    if (status !== 409 || size === null) throw new Error(`it answered with status ${status}`)
    await hasSigned(size, size === old_size)
    old_size = size
  }
  throw new Error('it reports another size each time')
}

function checked(body: string, answer: string, key: VerifierKey): { size: number; text: string } {
  const note = readNote(body.slice(body.indexOf('\n\n') + 2))
  const text = note === null ? undefined : signatureBy(key, note, answer.split('\n'))
  if (text === undefined || note === null) throw new Error('its signature does not hold')
  return { size: Number(note.text.split('\n')[1]), text }
}

interface ReceiptsLogParts extends Omit<SequencerParts, 'published'> {
  notes: NoteStore
  memory: LogMemory
  clock: Clock & SteadyClock
  log: Log
  /** Name under which the log was begun, and the key of a log of some name. */
  first_origin: string
  keyOf(origin: string): VerifierKey
  entryOf: EntryOf
  /** Key of this service as a witness, and the logs that it signs. */
  witness: Omit<WitnessParts, 'store' | 'clock'>
  /** Witnesses of this log. */
  witnesses: readonly WitnessClient[]
}

/** The log of this service with its queue and its job, which appends entries and then asks the witnesses. */
export async function createReceiptsLog(parts: ReceiptsLogParts) {
  const { store, clock, log, witnesses, first_origin, keyOf } = parts
  const published = new PublishedHead(parts)
  await published.open()
  const book = createLogBook({ store, published })
  const append = sequencerJob({ ...parts, published })
  const gather = (ask_empty = false) => gatherCosignatures({ store, published, book, witnesses, log }, ask_empty)
  let has_asked = false
  const run = async (now_ms: number) => {
    // Witnesses remember more than a machine whose memory is new; so they are asked before the first entry is appended.
    if (!has_asked) await gather(true)
    has_asked = true
    await append.run(now_ms)
    await gather()
  }
  const verifierKeyOf = (epoch: number) => verifierKeyText(keyOf(originOfEpoch(first_origin, epoch)))
  const surface: ReceiptsLog = {
    book,
    witness: createWitness({ store, clock, ...parts.witness }),
    get verifier_key() {
      return verifierKeyText(published.key)
    },
    witness_key: verifierKeyText(parts.witness.key),
    state: () => ({ stopped: published.stopped, highest: published.highest, history: published.history, verifierKeyOf }),
    handIn: (entry) => store.queue([entry], clock.now_ms()),
  }
  return {
    surface,
    queue: createLogQueue(store, clock, log, parts.entryOf),
    jobs: [{ ...append, run }],
    stopWatching: watchHead(published),
  }
}

/** Every instance looks as often as the one with the lease appends. */
function watchHead(published: PublishedHead): () => Promise<void> {
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(() => published.watch())
  }, LOG_RULES.append_every_ms)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await looking
  }
}
