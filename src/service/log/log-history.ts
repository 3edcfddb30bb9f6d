import { z } from 'zod'
import type { Store } from '../../ports/store.ts'
import type { TreeHead } from './stored-tree.ts'

/**
 * Record of the stops of a receipts log and of how the operator resumed it, in notes of the store, which are written once and never change.
 * Stop and resumption have the same number; the numbers count up from 1. A log that is resumed with a cut is retired, and the log of
 * the next epoch continues from the accepted head under a new origin.
 */

export type NoteStore = Pick<Store, 'remember' | 'recall'>

const tree_head = z.strictObject({ size: z.int().nonnegative(), root: z.string() })

const STOP = z.strictObject({
  /** `behind`: the store is smaller than the published head. `inconsistent`: it has another history. `witness`: a witness signed a larger head. */
  reason: z.enum(['behind', 'inconsistent', 'witness']),
  /** The published head; of one that only a witness has seen, neither root nor checkpoint is known. */
  published: z.strictObject({ size: z.int().nonnegative(), root: z.string().nullable(), checkpoint: z.string().nullable() }),
  store: tree_head,
  /** Epoch of the published head. */
  epoch: z.int().positive(),
  stopped_ms: z.int(),
})

const RESUMPTION = z.strictObject({
  /** `proved`: the store contains the published head after all. `cut`: the operator accepted the loss. */
  how: z.enum(['proved', 'cut']),
  accepted: tree_head,
  /** Words of the operator, published. */
  why: z.string(),
  resumed_ms: z.int(),
})

export type LogStop = z.infer<typeof STOP>
export type LogResumption = z.infer<typeof RESUMPTION>

/** Contradiction that stops a log. */
export type LogFault = Omit<LogStop, 'stopped_ms' | 'epoch'>

export interface StopRecord {
  number: number
  epoch: number
  stop: LogStop
  /** Null while the log is stopped. */
  resumption: LogResumption | null
  /** Epoch after the resumption. */
  next_epoch: number
}

const stopName = (number: number) => `receipts-log-stop-${number}`
const resumptionName = (number: number) => `receipts-log-resumption-${number}`

/** History of a log as far as it was read. */
export interface LogHistory {
  epoch: number
  records: readonly StopRecord[]
}

export const NO_STOPS: LogHistory = { epoch: 1, records: [] }

/** Reads what is new since `known`; the same object when nothing is. */
export async function readHistory(notes: Pick<NoteStore, 'recall'>, known: LogHistory = NO_STOPS): Promise<LogHistory> {
  const open = lastStop(known)
  const records = known.records.slice(0, open === null ? undefined : -1)
  let epoch = records.at(-1)?.next_epoch ?? 1
  for (let number = records.length + 1; ; number++) {
    const text = await notes.recall(stopName(number))
    if (text === null) break
    const stop = STOP.parse(JSON.parse(text))
    const resumed = await notes.recall(resumptionName(number))
    const resumption = resumed === null ? null : RESUMPTION.parse(JSON.parse(resumed))
    epoch = Math.max(epoch, stop.epoch)
    const next_epoch = resumption?.how === 'cut' ? epoch + 1 : epoch
    records.push({ number, epoch, stop, resumption, next_epoch })
    epoch = next_epoch
    if (resumption === null) break
  }
  const is_known =
    records.length === known.records.length && (records.at(-1)?.resumption ?? null) === (known.records.at(-1)?.resumption ?? null)
  return is_known ? known : { epoch, records }
}

/** The stop that is not resumed; null while the log is running. */
export function lastStop({ records }: LogHistory): StopRecord | null {
  const last = records.at(-1)
  return last?.resumption === null ? last : null
}

/** The head from which the log of this epoch began; null for the first epoch, which begins empty. */
export function acceptedHead({ records }: LogHistory): TreeHead | null {
  return records.findLast(({ resumption }) => resumption?.how === 'cut')?.resumption?.accepted ?? null
}

/**
 * Records a stop and returns the history with it. Where the log is stopped already, that stop counts. The whole record is read again: a
 * store that lost entries may have lost records too.
 */
export async function recordStop(notes: NoteStore, stop: LogStop): Promise<LogHistory> {
  const history = await readHistory(notes)
  if (lastStop(history) !== null) return history
  await notes.remember(stopName(history.records.length + 1), JSON.stringify(stop))
  return readHistory(notes)
}

/** Records how a stop was resumed; false when it was resumed already. */
export async function recordResumption(notes: NoteStore, number: number, resumption: LogResumption): Promise<boolean> {
  const text = JSON.stringify(resumption)
  return (await notes.remember(resumptionName(number), text)) === text
}

/** Name of the log of an epoch: the first has the name under which the log was begun. */
export function originOfEpoch(first_origin: string, epoch: number): string {
  return epoch === 1 ? first_origin : `${first_origin}/${epoch}`
}

/** The loss in words. */
export function stopWords({ reason, published, store }: Pick<LogStop, 'reason' | 'published' | 'store'>): string {
  const stored = `the store has ${entriesText(store.size)}`
  switch (reason) {
    case 'behind':
      return `A head of ${entriesText(published.size)} was published, and ${stored}.`
    case 'inconsistent':
      return `A head of ${entriesText(published.size)} was published, and ${stored} that do not continue it.`
    case 'witness':
      return `A witness has signed a head of ${entriesText(published.size)}, and ${stored} that do not continue it.`
  }
}

export const RESUME_ADVICE =
  'Bring back the database that has the published entries, or accept the loss: "assay log resume" shows both ways. Until then no checkpoint is ' +
  'signed and no entry is appended; calls and receipts are not affected, and their entries wait.'

/** Positions of published entries that the store has lost; null where the store is not smaller, so that they cannot be counted. */
export function lostEntries({ published, store }: Pick<LogStop, 'published' | 'store'>): { first: number; last: number } | null {
  return published.size > store.size ? { first: store.size, last: published.size - 1 } : null
}

export function entriesText(size: number): string {
  return `${size} ${size === 1 ? 'entry' : 'entries'}`
}
