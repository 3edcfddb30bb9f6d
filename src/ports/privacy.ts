/** Personal details in the store: what earlier releases stored in clear is sealed, and details of invoices are erased. */

/** `already`: it was erased before, at `erased_ms`. The two counts are those of this erasure. */
export type EraseResult = { kind: 'erased' | 'already'; erased_ms: number; deliveries: number; subscriptions: number } | { kind: 'unknown' }

export interface PrivacyStore {
  /** Seals up to `limit` rows of each table that an earlier release stored in clear; returns how many it sealed. */
  seal_stored(limit: number): Promise<number>
  /**
   * Erases the personal details of an invoice: its texts, what bank statements named, and the events and subscriptions of this invoice. Amounts,
   * hashes, signatures, times and transactions on the chain are kept.
   */
  erase_invoice(invoice_id: string, now_ms: number): Promise<EraseResult>
  /** Ids of invoices that were due and last changed before this time and are not erased, in the order of their due dates. */
  ended_invoices(before_ms: number, limit: number): Promise<string[]>
}
