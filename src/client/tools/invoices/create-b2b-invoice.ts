// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Create an invoice in USDC. */
export interface CreateB2bInvoiceInput {
  /** Amount in USDC, at most six decimals, as number or decimal text. Give this or amountUsdc. */
  amount_usdc?: number | string
  /** The same by its other name. Where both are given, they must be equal. */
  amountUsdc?: number | string
  /** Address of the beneficiary; it is paid directly. A broken checksum (EIP-55) is refused. */
  merchant: string
  /** Who is to pay, in words. */
  client_name?: string
  /** The same by its other name. */
  clientName?: string
  /** What it is for. Whoever has the id can read it. */
  memo?: string
  /** Who is due 20 % of the protocol fee, which is zero today. Not the merchant. */
  referrer?: string
}

export interface CreateB2bInvoiceOutput {
  /** True: what cannot be invoiced is refused, uncharged. */
  valid: true
  /** ok. */
  reason_code: 'ok'
  /** One sentence. */
  reason: string
  /** Secret name of the invoice. */
  invoice_id: string | null
  /** Where its record is. */
  invoice_url: string | null
  /** Where a signed payment is taken (x402, EIP-3009). */
  pay_url: string | null
  /** ISSUED. */
  status: string | null
  /** Who is paid. */
  merchant: string | null
  /** Amount, exact. */
  amount_usdc: string | null
  /** Deducted of it. */
  protocol_fee_usdc: string | null
  /** keccak-256 of merchant, amount, memo, client, chain and token. */
  cart_hash: string | null
  /** EIP-3009 nonce that names this invoice. */
  payment_nonce: string | null
  /** A plain transfer for wallets; it is matched to the invoice only once the merchant has signed it. */
  eip681_uri: string | null
  /** Until then it is paid in time. */
  expires_at: string | null
  /** The whole record, as invoice_url answers. */
  record: Readonly<Record<string, unknown>> | null
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'create-b2b-invoice'
}
