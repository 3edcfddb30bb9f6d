import {
  hexToBytes,
  bytesToHex,
  concatBytes,
  type Sha256,
  completeNodes,
  emptyRoot,
  foldedHash,
  leafHash,
  type Node,
  type EntrySpan,
  HASH_BYTES,
  splitHashes,
  subtreeHash,
  tileOfNode,
  TILE_HASHES,
  type Tile,
  base64Of,
  consistencySpans,
  inclusionSpans,
  tileWidth,
  type TileRequest,
  bytesOfBase64,
  alike,
  isConsistent,
  isCount,
  checkpointText,
  signatureLine,
  type VerifierKey,
  proofText,
  type Checkpoint,
  cosignatureBytes,
  cosigned,
  isSignedBy,
  readCheckpoint,
  readNote,
  readSignatureLine,
  readVerifierKey,
  signedTime,
} from '../../pure/log/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogSigner } from '../../ports/signer.ts'
import type { ReceiptsLogStore, LogHead, StoredTile, WitnessClient } from '../../ports/receipts-log.ts'
import type { Job } from '../jobs/jobs.ts'
import { LOG_RULES } from '../limits.ts'
import type { Log } from '../../ports/log.ts'

interface SequencerParts {
  store: ReceiptsLogStore
  signer: LogSigner
  key: VerifierKey
  clock: Clock
  hash?: Sha256
  pause(pause_ms: number): Promise<void>
}

/**
 * Appends waiting entries. The lease of the job lets one process do it at a time; should two run simultaneously, the store lets only the
 * first one move the head, so that no two checkpoints of one size exist. A checkpoint is signed before it is stored, and published only
 * after it is stored.
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

/** Takes the receipts of this process to the log. */
export interface LogQueue {
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

/** Reads hashes of the tree out of its tiles, each tile once. */
class TreeReader {
  readonly #store: Pick<ReceiptsLogStore, 'tile'>
  readonly #hash: Sha256 | undefined
  readonly #tiles = new Map<string, Promise<Uint8Array[]>>()

  constructor(store: Pick<ReceiptsLogStore, 'tile'>, hash?: Sha256) {
    this.#store = store
    this.#hash = hash
  }

  /** The hashes that the tile has now. */
  tile({ level, index }: Tile): Promise<Uint8Array[]> {
    const name = `${level}/${index}`
    const known = this.#tiles.get(name)
    if (known !== undefined) return known
    const read = this.#store.tile(level, index).then((text) => (text === null ? [] : splitHashes(fromHex(text))))
    this.#tiles.set(name, read)
    return read
  }

  async hash(node: Node): Promise<Uint8Array> {
    const { tile, from, to } = tileOfNode(node)
    const hashes = (await this.tile(tile)).slice(from, to)
    if (hashes.length !== to - from) throw new Error(`the receipts log lacks hashes of tile ${tile.level}/${tile.index}`)
    return subtreeHash(hashes, this.#hash)
  }

  async span(span: EntrySpan): Promise<Uint8Array> {
    return foldedHash(await Promise.all(completeNodes(span).map((node) => this.hash(node))), this.#hash)
  }

  spans(spans: readonly EntrySpan[]): Promise<Uint8Array[]> {
    return Promise.all(spans.map((span) => this.span(span)))
  }
}

/** Changes made by an append: the tiles that grow, whole, and the new root. */
interface Grown {
  tiles: StoredTile[]
  size: number
  root: string
}

/** The tree of `from_size` entries with more behind them. Reads only the tiles at the right edge. */
export async function grow(
  store: Pick<ReceiptsLogStore, 'tile'>,
  from_size: number,
  entries: readonly string[],
  hash?: Sha256,
): Promise<Grown> {
  const reader = new TreeReader(store, hash)
  const grown = new Map<string, { tile: Tile; hashes: Uint8Array[] }>()
  let hashes = entries.map((entry) => leafHash(fromHex(entry), hash))
  let first = from_size
  for (let level = 0; hashes.length > 0; level++) {
    const above: Uint8Array[] = []
    for (const [at, own] of hashes.entries()) {
      const index = Math.floor((first + at) / TILE_HASHES)
      const name = `${level}/${index}`
      const tile = grown.get(name) ?? { tile: { level, index }, hashes: await edge(reader, { level, index }, first + at) }
      grown.set(name, tile)
      tile.hashes.push(own)
      if (tile.hashes.length === TILE_HASHES) above.push(subtreeHash(tile.hashes, hash))
    }
    first = Math.floor(first / TILE_HASHES)
    hashes = above
  }
  const size = from_size + entries.length
  const tiles = [...grown.values()].map(({ tile, hashes: row }) => ({ ...tile, hashes: Buffer.concat(row).toString('hex') }))
  return { tiles, size, root: Buffer.from(await rootWith(reader, tiles, size, hash)).toString('hex') }
}

/** The hashes that the tile has in front of position `next` of its level. */
async function edge(reader: TreeReader, tile: Tile, next: number): Promise<Uint8Array[]> {
  const before = next - tile.index * TILE_HASHES
  if (before === 0) return []
  const hashes = await reader.tile(tile)
  if (hashes.length < before) throw new Error(`the receipts log lacks hashes of tile ${tile.level}/${tile.index}`)
  return hashes.slice(0, before)
}

function rootWith(reader: TreeReader, tiles: readonly StoredTile[], size: number, hash: Sha256 | undefined): Promise<Uint8Array> {
  const changed = new Map(tiles.map(({ level, index, hashes }) => [`${level}/${index}`, hashes]))
  const over = new TreeReader(
    {
      tile: async (level, index) => {
        const mine = changed.get(`${level}/${index}`)
        if (mine !== undefined) return mine
        const stored = await reader.tile({ level, index })
        return stored.length === 0 ? null : Buffer.concat(stored).toString('hex')
      },
    },
    hash,
  )
  return size === 0 ? Promise.resolve(emptyRoot()) : over.span({ start: 0, end: size })
}

/** Bytes of a tile in a tree of some size. */
function cut(hashes: string, width: number): Uint8Array | null {
  return hashes.length < width * HASH_BYTES * 2 ? null : new Uint8Array(fromHex(hashes.slice(0, width * HASH_BYTES * 2)))
}

const NO_HEAD: Pick<LogHead, 'size' | 'root'> = { size: 0, root: Buffer.from(emptyRoot()).toString('hex') }

/** Stored hashes are well-formed: the store takes nothing else. */
function fromHex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

/** Public reads of the log, all computed from the current contents of the store. */
export interface LogBook {
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

export function createLogBook(store: ReceiptsLogStore): LogBook {
  return {
    checkpoint: async () => {
      const head = await store.head()
      return head === null ? null : signed(store, head)
    },
    tile: (request) => tileBytes(store, request),
    proof: (entry) => proofOf(store, entry),
    evidence: (entries, old_size) => evidenceOf(store, entries, old_size),
    consistency: async (old_size) => {
      const head = await store.head()
      return head === null ? null : consistencyText(new TreeReader(store), head, old_size)
    },
  }
}

async function consistencyText(reader: TreeReader, head: LogHead, old_size: number): Promise<string | null> {
  if (old_size > head.size) return null
  const hashes = await reader.spans(consistencySpans(old_size, head.size))
  return [`old ${old_size}`, ...hashes.map(base64Of), '', head.checkpoint].join('\n')
}

async function evidenceOf(store: ReceiptsLogStore, entries: readonly string[], old_size: number | null): Promise<LogEvidence | null> {
  // Positions are read before the head, which then has all of them.
  const positions = await store.positions(entries)
  const head = await store.head()
  if (head === null) return null
  const [reader, checkpoint] = [new TreeReader(store), await signed(store, head)]
  const evidence: LogEvidence = { checkpoint, proofs: [], unproved: [], consistency: null }
  for (const entry of entries) {
    const index = positions.get(entry)
    if (index === undefined) evidence.unproved.push({ entry, state: (await store.is_waiting(entry)) ? 'waiting' : 'unknown' })
    else {
      const hashes = await reader.spans(inclusionSpans(index, head.size))
      evidence.proofs.push({ entry, proof: proofText({ index, hashes, checkpoint }) })
    }
  }
  if (old_size !== null) evidence.consistency = await consistencyText(reader, head, old_size)
  return evidence
}

async function signed(store: ReceiptsLogStore, head: LogHead): Promise<string> {
  const lines = await store.cosignatures(head.size)
  return head.checkpoint + lines.map((line) => `${line}\n`).join('')
}

/** Only tiles that a published checkpoint needs are served, at any width up to the one of now. */
async function tileBytes(store: ReceiptsLogStore, { kind, level, index, width }: TileRequest): Promise<Uint8Array<ArrayBuffer> | null> {
  const head = await store.head()
  if (head === null || tileWidth({ level, index }, head.size) < width) return null
  if (kind === 'hashes') {
    const hashes = await store.tile(level, index)
    const bytes = hashes === null ? null : cut(hashes, width)
    return bytes === null ? null : new Uint8Array(bytes)
  }
  const entries = await store.entries(index * 256, width)
  return new Uint8Array(concatBytes(...entries.flatMap((entry) => [ENTRY_LENGTH, hexToBytes(entry)])))
}

/** Each entry is 32 bytes long, said in two. */
const ENTRY_LENGTH = new Uint8Array([0, 32])

async function proofOf(store: ReceiptsLogStore, entry: Uint8Array) {
  const hex = bytesToHex(entry)
  // The position is read first: an entry with a position is in every head that is read after it.
  const index = (await store.positions([hex])).get(hex)
  if (index === undefined) return (await store.is_waiting(hex)) ? ({ kind: 'waiting' } as const) : ({ kind: 'unknown' } as const)
  const head = await store.head()
  if (head === null) throw new Error('the receipts log has entries and no head')
  const hashes = await new TreeReader(store).spans(inclusionSpans(index, head.size))
  return { kind: 'included', text: proofText({ index, hashes, checkpoint: await signed(store, head) }) } as const
}

/** Parts of the log that the surfaces use. */
export interface ReceiptsLog {
  book: LogBook
  witness: Witness
  verifier_key: string
  witness_key: string
  /** Writes an entry down as waiting; durable when it resolves. */
  handIn(entry: string): Promise<void>
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

interface CosignatureParts {
  store: ReceiptsLogStore
  book: LogBook
  witnesses: readonly WitnessClient[]
  log: Log
}

/** Brings the newest checkpoint to every witness and keeps what they sign. A witness that fails is asked again with the next one. */
export async function gatherCosignatures({ store, book, witnesses, log }: CosignatureParts): Promise<void> {
  const head = await store.head()
  if (head === null || head.size === 0 || witnesses.length === 0) return
  const have = await store.cosignatures(head.size)
  await Promise.all(
    witnesses.map(async (witness) => {
      const key = readVerifierKey(witness.verifier_key)
      if (key === null || have.some((line) => readSignatureLine(line)?.id === key.id)) return
      try {
        const line = await cosignatureOf(book, witness, key)
        if (line !== null) await store.cosign(line.size, `${key.name} ${key.id}`, line.text)
      } catch (error) {
        log.warn({ witness: key.name, error: String(error) }, 'a witness did not sign the checkpoint')
      }
    }),
  )
}

/** Starts from the size that the witness last signed; the witness reports that size when the guess is wrong. */
async function cosignatureOf(book: LogBook, witness: WitnessClient, key: VerifierKey) {
  let old_size = 0
  for (let attempt = 0; attempt < 2; attempt++) {
    const body = await book.consistency(old_size)
    if (body === null) throw new Error(`it signed size ${old_size}, which this log never had`)
    const { status, text } = await witness.addCheckpoint(body)
    if (status === 200) return checked(body, text, key)
    const size = /^(?:0|[1-9]\d{0,15})\n$/.test(text) ? Number(text.trim()) : null
    if (status !== 409 || size === null) throw new Error(`it answered with status ${status}`)
    old_size = size
  }
  throw new Error('it reports another size each time')
}

function checked(body: string, answer: string, key: VerifierKey): { size: number; text: string } {
  const note = readNote(body.slice(body.indexOf('\n\n') + 2))
  const text = answer.split('\n').find((line) => {
    const read = readSignatureLine(line)
    return read !== null && note !== null && read.name === key.name && read.id === key.id && signedTime(note.text, key, read.bytes) !== null
  })
  if (text === undefined || note === null) throw new Error('its signature does not hold')
  return { size: Number(note.text.split('\n')[1]), text }
}
