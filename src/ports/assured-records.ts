import type { WebhookEvent } from './webhooks.ts'

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

/** State of a record. That its window has closed follows from the clock alone. */
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

/** A dispute as it was filed. The store keeps `outcome` as it was given and never looks into it. */
export interface DisputeRecord {
  /** 0x-prefixed lower-case hex; with the id, the name of the dispute. */
  receipt_hash: string
  dispute_id: string
  /** Hash of all that was claimed. */
  body_hash: string
  /** The payer of the receipt signed it. */
  payer_signed: boolean
  /** Canonical JSON text. */
  outcome: string
  filed_ms: number
}

export interface Disputes {
  find(receipt_hash: string, dispute_id: string): Promise<DisputeRecord | null>
  /**
   * Keeps the dispute unless there is one of its name; an unsigned one of another body yields to a signed one, and one of the same body
   * becomes signed. Returns what is kept then: with another `body_hash`, the given one was not taken. The event is kept with what is written.
   * Atomic and durable before it resolves.
   */
  file(record: DisputeRecord, event: WebhookEvent): Promise<{ created: boolean; record: DisputeRecord }>
}
