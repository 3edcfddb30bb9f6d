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
   * becomes signed. Returns what is kept then: with another `body_hash`, the given one was not taken. Atomic and durable before it resolves.
   */
  file(record: DisputeRecord): Promise<{ created: boolean; record: DisputeRecord }>
}
