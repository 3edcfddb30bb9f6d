/**
 * Invoices as the store keeps them: terms that never change, the transfers that were attributed to each, and how far each merchant's transfers
 * have been read. One log settles one invoice only, which is a primary key and no memory of a process. Addresses, hashes and nonces are
 * 0x-prefixed lower-case hex; times are milliseconds since 1970 unless they say `_s`.
 */

export interface StoredInvoice {
  invoice_id: string
  merchant: string
  amount_minor: bigint
  /** Canonical JSON; the store never looks into it. */
  terms: string
  created_ms: number
  /** Last second in which it is paid in time. */
  expires_s: number
  /** The merchant's signatures over issuing and over voiding. */
  issue_signature: string | null
  void_signature: string | null
  voided_ms: number | null
  /** No transfer in time can still be expected: it no longer counts against the bounds of its merchant and client. */
  closed: boolean
  /** Words for what the payments do not show, sorted and joined by commas. */
  marks: string
  updated_ms: number
}

export interface NewInvoice {
  invoice_id: string
  merchant: string
  amount_minor: bigint
  terms: string
  created_ms: number
  expires_s: number
  /** Transfers to the merchant are looked for until then. */
  watch_until_s: number
  /** What payers sign to name this invoice. */
  nonces: readonly string[]
  /** Digest of what was asked for. */
  content_hash: string
  /** Digest of the caller's own key for the request; null for none. */
  request_key: string | null
  /** Keyed hash of who asked; null where that is not known. */
  client: string | null
}

/** Open invoices at which nothing more is taken. */
export interface InvoiceBounds {
  merchant_open: number
  client_open: number
}

/** `same`: this request key came before with the same content. `conflict`: with other content. */
export type InvoiceKept = { kind: 'created' | 'same'; invoice: StoredInvoice } | { kind: 'conflict' | 'merchant_full' | 'client_full' }

/** `eip3009`: the authorization names the invoice. `x402`: it was claimed for the invoice here. `transfer`: the one open invoice it fits. */
export type AttributedBy = 'eip3009' | 'x402' | 'transfer'

export interface InvoicePayment {
  transaction: string
  log_index: number
  invoice_id: string
  payer: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  matched_by: AttributedBy
  /** Of the authorization; null for a plain transfer. */
  nonce: string | null
  confirmed: boolean
  final: boolean
}

/** A merchant whose transfers are to be read. */
export interface WatchedMerchant {
  merchant: string
  /** First block that is not closed; null before the first look. */
  next_block: number | null
  /** The oldest invoice that is still watched. */
  since_ms: number
  looked_ms: number
}

export interface InvoiceStore {
  keep(invoice: NewInvoice, bounds: InvoiceBounds): Promise<InvoiceKept>
  find(invoice_id: string): Promise<StoredInvoice | null>
  payments(invoice_id: string): Promise<InvoicePayment[]>
  find_by_nonce(nonce: string): Promise<StoredInvoice | null>
  /** Of this merchant, signed by it and not expired at that second, in the order in which they were made. */
  plain_candidates(merchant: string, at_s: number, limit: number): Promise<StoredInvoice[]>
  /** Attributes a log unless it is attributed already; true when this call did. */
  attribute(payment: InvoicePayment, now_ms: number): Promise<boolean>
  /** Payments to the merchant whose block is not final. */
  unfinal(merchant: string, limit: number): Promise<InvoicePayment[]>
  /** What is known now of where a payment is; nothing happens when it is gone. */
  settle_block(payment: InvoicePayment, now_ms: number): Promise<void>
  /** Takes a payment away whose block was reorganised, and marks its invoice. */
  withdraw(payment: Pick<InvoicePayment, 'transaction' | 'log_index' | 'invoice_id'>, now_ms: number): Promise<void>
  add_mark(invoice_id: string, mark: string, now_ms: number): Promise<void>
  set_closed(invoice_id: string, closed: boolean): Promise<void>
  /** Keeps the merchant's signature; the first stays. */
  sign(invoice_id: string, signature: string, now_ms: number): Promise<void>
  /** Voids an invoice that has no payment and is not void; false otherwise. */
  void(invoice_id: string, signature: string, now_ms: number): Promise<boolean>
  /** Merchants with an invoice that is watched at that second, the one looked at longest ago first. */
  watched(now_s: number, limit: number): Promise<WatchedMerchant[]>
  watch_of(merchant: string): Promise<WatchedMerchant | null>
  /** Keeps how far the merchant's transfers were read. */
  looked(merchant: string, next_block: number, now_ms: number): Promise<void>
}
