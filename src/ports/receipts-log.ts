/** Stored state of the public log of receipts. Entries, hashes and roots are lower-case hex without 0x. */

export interface LogHead {
  size: number
  root: string
  /** The signed checkpoint, without the lines of witnesses. */
  checkpoint: string
  signed_ms: number
}

/** Entries that join the log, with all that changes with them. */
export interface LogGrowth {
  /** Of the tree that they are appended to. */
  from_size: number
  /** Numbers of the waiting entries, in the order in which they are appended; the first gets position `from_size`. */
  entries: readonly string[]
  /** Every tile that grows, whole: its hashes one after the other. */
  tiles: readonly StoredTile[]
  head: LogHead
}

export interface StoredTile {
  level: number
  index: number
  hashes: string
}

/** The largest checkpoint of another log that this service has signed as a witness. */
export interface WitnessedHead {
  origin: string
  size: number
  root: string
}

/** All promises reject as the store does. */
export interface ReceiptsLogStore {
  /** Entries wait to be appended; one that waits already is passed over. Durable when it resolves. */
  queue(entries: readonly string[], now_ms: number): Promise<void>
  /** Entries that wait, those that came first first. */
  waiting(limit: number): Promise<string[]>
  is_waiting(entry: string): Promise<boolean>
  /** Since when the oldest entry waits, in milliseconds since 1970; null when none does. */
  waiting_since(): Promise<number | null>
  /** Those of the entries that are in the log, with their positions. */
  positions(entries: readonly string[]): Promise<Map<string, number>>
  /** Takes entries out of the queue that are in the log already. */
  forget(entries: readonly string[]): Promise<void>
  head(): Promise<LogHead | null>
  /**
   * All or nothing; false when the log is no longer of `from_size`, since another process appended first. Without entries it replaces the
   * checkpoint of the same tree, and removes the lines of witnesses below the old one.
   */
  append(growth: LogGrowth): Promise<boolean>
  /** The hashes of tiles, one text for each that is there. */
  tile(level: number, index: number): Promise<string | null>
  /** Entries from a position on, in order. */
  entries(from: number, count: number): Promise<string[]>
  /** A line of a witness below the checkpoint of exactly this size; an earlier one by the same key gives way. */
  cosign(size: number, key: string, line: string): Promise<void>
  /** The lines of witnesses below the checkpoint of this size. */
  cosignatures(size: number): Promise<string[]>
  /** Size of the largest checkpoint that has a line of a witness; null without one. */
  largest_cosigned(): Promise<number | null>
  witnessed(origin: string): Promise<WitnessedHead | null>
  /** Moves from the older head to the newer one; false when another process was first. */
  witness(older: WitnessedHead | null, newer: WitnessedHead): Promise<boolean>
}

/** Another party that cosigns checkpoints of our log. */
export interface WitnessClient {
  /** The key under which its lines are known, in the text form of verifier keys. */
  readonly verifier_key: string
  /** Sends a request of tlog-witness; status and body as they came. Rejects when nothing came in time. */
  addCheckpoint(body: string): Promise<{ status: number; text: string }>
}
