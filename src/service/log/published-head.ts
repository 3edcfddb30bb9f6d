import { originOf, type VerifierKey } from '../../pure/log/checkpoint.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { LogMemory, RememberedHead } from '../../ports/log-memory.ts'
import type { LogHead, ReceiptsLogStore } from '../../ports/receipts-log.ts'
import { LOG_RULES } from '../limits.ts'
import {
  acceptedHead,
  lastStop,
  NO_STOPS,
  originOfEpoch,
  readHistory,
  recordStop,
  RESUME_ADVICE,
  stopWords,
  type LogFault,
  type LogHistory,
  type LogStop,
  type NoteStore,
} from './log-history.ts'
import { NO_ENTRIES, storeContinues, type TreeHead } from './stored-tree.ts'

/** A head that must not be lost: a published one, or the one from which an epoch begins, whose checkpoint is not signed yet. */
type FirmHead = Omit<RememberedHead, 'checkpoint'> & { checkpoint: string | null }

interface PublishedHeadParts {
  store: Pick<ReceiptsLogStore, 'head' | 'tile' | 'largest_cosigned'>
  notes: NoteStore
  memory: LogMemory
  clock: Clock & SteadyClock
  log: Log
  /** Name under which the log was begun, and the key of a log of some name. */
  first_origin: string
  keyOf(origin: string): VerifierKey
}

/** Returns how the head of the store contradicts a published head; null when it continues it. */
export async function faultOf(
  store: Pick<ReceiptsLogStore, 'tile'>,
  published: FirmHead | null,
  head: TreeHead | null,
): Promise<LogFault | null> {
  const stored = { size: head?.size ?? NO_ENTRIES.size, root: head?.root ?? NO_ENTRIES.root }
  if (published === null || (published.size === stored.size && published.root === stored.root)) return null
  const { size, root, checkpoint } = published
  const fault = { published: { size, root, checkpoint }, store: stored }
  if (stored.size < size) return { reason: 'behind', ...fault }
  return (await storeContinues(store, published, stored)) ? null : { reason: 'inconsistent', ...fault }
}

/**
 * The head that the store must continue: the highest one in the memory of this machine, or else the one from which the epoch began. A
 * memory of a later epoch than that of the record counts: the store has lost the record.
 */
export async function firmHead(
  history: LogHistory,
  memory: LogMemory,
  keyOf: (epoch: number) => VerifierKey,
): Promise<{ epoch: number; head: FirmHead | null }> {
  let epoch = history.epoch
  let head: FirmHead | null = await memory.highest(keyOf(epoch).id)
  for (let later = epoch + 1; ; later++) {
    const kept = await memory.highest(keyOf(later).id)
    if (kept === null) break
    epoch = later
    head = kept
  }
  const accepted = acceptedHead(history)
  return { epoch, head: head ?? (accepted === null ? null : { ...accepted, checkpoint: null }) }
}

/**
 * The head of the log that may be shown. A head is kept in the memory of this machine before it leaves; a store that is behind a head in
 * memory, or does not continue it, stops the log for all instances, since another checkpoint could show a second history. Only the operator resumes it.
 */
export class PublishedHead {
  readonly #parts: PublishedHeadParts
  #key: VerifierKey
  #epoch = 1
  #history: LogHistory = NO_STOPS
  #stop: LogStop | null = null
  #highest: FirmHead | null = null
  /** Size of the largest head that is on disk here. */
  #kept_size = -1
  #turn: Promise<unknown> = Promise.resolve()
  #failed_ms = Number.NEGATIVE_INFINITY

  constructor(parts: PublishedHeadParts) {
    this.#parts = parts
    this.#key = parts.keyOf(parts.first_origin)
  }

  /** Reads the record and the memory, and compares them with the store. */
  async open(): Promise<void> {
    await this.#enterEpoch(await readHistory(this.#parts.notes))
    const { shown } = await this.look()
    const cosigned = shown === null ? null : await this.#parts.store.largest_cosigned()
    if (cosigned !== null) await this.witnessed(cosigned)
  }

  /** The key of the current epoch. */
  get key(): VerifierKey {
    return this.#key
  }

  get history(): LogHistory {
    return this.#history
  }

  /** Why the log is stopped; null while it runs. */
  get stopped(): LogStop | null {
    return this.#stop
  }

  /** False for some seconds after the store could not be read: other instances may have seen a head that the store has lost. */
  isSettled(): boolean {
    return this.#parts.clock.steady_ms() - this.#failed_ms > LOG_RULES.settle_ms
  }

  /** Highest head that this instance signed or served. */
  get highest(): TreeHead | null {
    return this.#highest
  }

  /** Notices stops and resumptions that other processes recorded. */
  async refresh(): Promise<void> {
    const { notes } = this.#parts
    let history = await readHistory(notes, this.#history)
    // A stop that could not be recorded when it was found.
    if (this.#stop !== null && history === this.#history && lastStop(history) === null) history = await recordStop(notes, this.#stop)
    if (history.epoch > this.#epoch) await this.#enterEpoch(history)
    else this.#useHistory(history)
  }

  /** Looks regularly, so that an instance that is not asked for the log notices a loss too. */
  async watch(): Promise<void> {
    try {
      await this.refresh()
      await this.look()
    } catch (error) {
      this.#failed_ms = this.#parts.clock.steady_ms()
      this.#parts.log.warn({ error: String(error) }, 'the head of the receipts log could not be read')
    }
  }

  /**
   * The head of the store, and the one that may be shown. Both are null before the first; the one of the store is null too where it must
   * not be built on. While the log is stopped, the last published head is shown.
   */
  async look(): Promise<{ stored: LogHead | null; shown: RememberedHead | null }> {
    if (this.#stop !== null) return { stored: null, shown: this.#frozen(this.#stop) }
    // What was published before the store is read must be in what is read.
    const before = this.#highest
    const stored = await this.#parts.store.head()
    if (stored !== null && stored.size === this.#kept_size && stored.root === this.#highest?.root && this.#isCurrent(stored))
      return { stored, shown: stored }
    return this.#inTurn(() => this.#advance(before, stored))
  }

  /** The head that may be shown. */
  async shown(): Promise<RememberedHead | null> {
    return (await this.look()).shown
  }

  /** Remembers a head that this instance signed, once it is stored. */
  signed(head: RememberedHead): void {
    if (this.#highest === null || head.size >= this.#highest.size) this.#highest = head
  }

  /** Puts the highest head on disk. */
  async keep(): Promise<void> {
    const highest = this.#highest
    if (highest === null || highest.checkpoint === null || highest.size <= this.#kept_size) return
    const { size, root, checkpoint } = highest
    await this.#parts.memory.keep(this.#key.id, { size, root, checkpoint })
    this.#kept_size = Math.max(this.#kept_size, size)
  }

  /** A witness has signed a head of this size; `refused`: it found that the store does not continue it, although it may be as large. */
  async witnessed(size: number, refused = false): Promise<void> {
    const head = await this.#parts.store.head()
    const store = { size: head?.size ?? NO_ENTRIES.size, root: head?.root ?? NO_ENTRIES.root }
    if (refused || size > store.size) await this.stop({ reason: 'witness', published: { size, root: null, checkpoint: null }, store })
  }

  /** Stops the log, here and for all instances. */
  async stop(fault: LogFault): Promise<void> {
    if (this.#stop !== null) return
    const { clock, log } = this.#parts
    this.#stop = { ...fault, epoch: this.#epoch, stopped_ms: clock.now_ms() }
    log.error(
      { reason: fault.reason, published: fault.published.size, store: fault.store.size },
      `the receipts log is stopped: ${stopWords(fault)}`,
    )
    log.error({}, RESUME_ADVICE)
    await this.refresh()
  }

  #isCurrent({ checkpoint }: { checkpoint: string }): boolean {
    return originOf(checkpoint) === this.#key.name
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const step = this.#turn.then(work)
    this.#turn = step.catch(() => undefined)
    return step
  }

  async #advance(before: FirmHead | null, stored: LogHead | null) {
    if (this.#stop !== null) return { stored: null, shown: this.#frozen(this.#stop) }
    const highest = this.#highest
    // Another read that ended earlier has seen a larger head, so that this one proves nothing.
    const is_late = highest !== before && (stored?.size ?? 0) < (highest?.size ?? 0)
    if (is_late && highest !== null && highest.checkpoint !== null) {
      await this.keep()
      return { stored: null, shown: { ...highest, checkpoint: highest.checkpoint } }
    }
    const fault = await faultOf(this.#parts.store, highest, stored)
    if (fault !== null) {
      await this.stop(fault)
      return { stored: null, shown: this.#frozen(fault) }
    }
    if (stored === null || !this.#isCurrent(stored)) return { stored, shown: null }
    this.#highest = { size: stored.size, root: stored.root, checkpoint: stored.checkpoint }
    await this.keep()
    return { stored, shown: stored }
  }

  /** The largest head that was published in this epoch, of this instance or of the one that stopped the log. */
  #frozen({ published }: Pick<LogStop, 'published'>): RememberedHead | null {
    const heads = [this.#highest, published].flatMap((head) =>
      head === null || head.root === null || head.checkpoint === null
        ? []
        : [{ size: head.size, root: head.root, checkpoint: head.checkpoint }],
    )
    return heads.toSorted((one, other) => other.size - one.size)[0] ?? null
  }

  async #enterEpoch(history: LogHistory): Promise<void> {
    const { keyOf, first_origin, memory } = this.#parts
    const { epoch, head } = await firmHead(history, memory, (number) => keyOf(originOfEpoch(first_origin, number)))
    this.#epoch = epoch
    this.#key = keyOf(originOfEpoch(first_origin, epoch))
    this.#kept_size = head === null || head.checkpoint === null ? -1 : head.size
    this.#highest = head
    this.#useHistory(history)
  }

  #useHistory(history: LogHistory): void {
    this.#history = history
    this.#stop = lastStop(history)?.stop ?? null
  }
}
