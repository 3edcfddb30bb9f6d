// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Read the status of an invoice. */
export interface GetB2bInvoiceInput {
  /** Id of the invoice: inv_ and 12 to 26 characters. */
  invoice_id: string
}

export interface GetB2bInvoiceOutput {
  /** The invoice is known. */
  valid: true
  /** Now. */
  status: 'ISSUED' | 'PROCESSING' | 'PARTIALLY_PAID' | 'SETTLED' | 'EXPIRED' | 'VOID'
  /** What is out of the ordinary. */
  exceptions: readonly ('paid_late' | 'overpaid' | 'underpaid' | 'duplicate_payment' | 'wrong_asset' | 'reorged' | 'ambiguous')[]
  /** The chain failed meanwhile or was not read up to its head; this is the state known last. */
  stale: boolean
  /** As given. */
  invoice_id: string
  /** Who is paid. */
  merchant: string
  /** The merchant’s own key signed it. */
  merchant_verified: boolean
  /** Asked for. */
  amount_usdc: string
  /** Seen so far, confirmed or not. */
  amount_paid_minor: string
  /** Still due. */
  amount_due_minor: string
  /** Beyond the amount. */
  overpaid_minor: string
  /** The transfer that settled it. */
  tx_hash: string | null
  /** Time of its block. */
  settled_at: string | null
  /** Time of the first payment’s block. */
  first_seen_at: string | null
  /** Until then it is paid in time. */
  expires_at: string
  /** The whole record. */
  private_record_url: string
  /** What it takes to read it. */
  private_record_requires: string
  /** The whole record. */
  record: Readonly<Record<string, unknown>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'get-b2b-invoice'
}
