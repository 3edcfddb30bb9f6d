/** A receipt bound to terms of the assured lane. The store keeps `terms` as it was given and never looks into it. */
export interface AssuredRecord {
  /** Digest of the receipt, 0x-prefixed lower-case hex: each receipt is bound once. */
  receipt_hash: string
  assured_id: string
  /** Canonical JSON text. */
  terms: string
  /** Last second of the dispute window, since 1970. */
  window_ends_s: number
  created_ms: number
  mark: AssuredMark
  /** The payer or recipient that signed the terms, and its signature; null for an advisory record, which yields to a signed one. */
  signed: { by: string; signature: string } | null
}

/** What happened to a record; that its window has closed follows from the clock alone. */
export type AssuredMark = 'OPEN' | 'DISPUTED' | 'ADJUDICATED'

export type NewAssuredRecord = Omit<AssuredRecord, 'mark'>

export interface AssuredRecords {
  /**
   * Keeps the record, open, unless its receipt has one; a signed record takes the place of an advisory one, and keeps its mark. Returns the record
   * that is kept then. Atomic and durable before it resolves.
   */
  keep(record: NewAssuredRecord): Promise<{ created: boolean; record: AssuredRecord }>
  find(receipt_hash: string): Promise<AssuredRecord | null>
  /** Moves OPEN → DISPUTED or DISPUTED → ADJUDICATED; false, and nothing changes, for a record elsewhere or none. */
  mark(receipt_hash: string, to: Exclude<AssuredMark, 'OPEN'>): Promise<boolean>
}
