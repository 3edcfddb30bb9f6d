/** Snapshots of reference data in the store, and the feeds that bring them. Snapshots are never deleted, so that every answer can be replayed. */

export interface StoredSnapshot {
  /** SHA-256 of the text, 64 lower-case hexadecimal digits. */
  sha256: string
  dataset: string
  /** Date of the publisher, YYYY-MM-DD. */
  published_at: string
  rows: number
  added_ms: number
}

export interface ActiveSnapshot {
  dataset: string
  sha256: string
  /** True if a person chose this snapshot; feeds do not replace it. */
  pinned: boolean
  activated_ms: number
}

/** Result of the last read of a feed. */
export interface FeedState {
  feed: string
  /** Entity tag of the last document that was accepted; null if the server stated none. */
  etag: string | null
  outcome: 'updated' | 'unchanged' | 'failed' | 'refused'
  /** Sentence for operators. */
  detail: string
  read_ms: number
}

export interface DatasetStore {
  /** Stores the text under its SHA-256, once. */
  add(snapshot: Omit<StoredSnapshot, 'sha256'>, text: string): Promise<string>
  /** Text with this SHA-256; null if the store has none. Rejects if the stored text does not have it. */
  text(sha256: string): Promise<string | null>
  /** SHA-256 that begins with these 12 digits, as answers state them; null if the store has none. */
  whole_hash(digits: string): Promise<string | null>
  /** Stored snapshots without their texts, newest first. */
  snapshots(limit: number): Promise<StoredSnapshot[]>
  /** Makes a stored snapshot active, pinned or not. */
  activate(active: ActiveSnapshot): Promise<void>
  /** Makes a stored snapshot active unless another is pinned; returns false if one is. */
  activate_unpinned(active: Omit<ActiveSnapshot, 'pinned'>): Promise<boolean>
  active(): Promise<ActiveSnapshot[]>
  save_feed(state: FeedState): Promise<void>
  feeds(): Promise<FeedState[]>
}

export type FeedResult =
  | { kind: 'unchanged' }
  | { kind: 'failed'; reason: string }
  /** There is no copy of an optional document, or no address to read it from. */
  | { kind: 'absent'; reason: string }
  | { kind: 'read'; etag: string | null; snapshots: readonly { dataset: string; text: string }[] }

/** Reads documents of publishers, or copies of them. Never rejects. */
export interface FeedReader {
  /** `today` is the UTC date, YYYY-MM-DD, on which the document is retrieved. */
  read(feed: string, etag: string | null, today: string): Promise<FeedResult>
}
