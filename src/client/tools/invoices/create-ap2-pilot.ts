// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Create an AP2 merchant pilot invoice. */
export interface CreateAp2PilotInput {
  /** Who takes part in the pilot, in words. */
  client_name?: string
}

export interface CreateAp2PilotOutput {
  /** False: nothing was created. */
  valid: boolean
  /** ok, or why nothing was created. */
  reason_code: 'ok' | 'text_unprintable'
  /** One sentence. */
  reason: string
  /** Secret name of the invoice. */
  invoice_id: string | null
  /** Where its record is. */
  invoice_url: string | null
  /** Where a signed payment is taken. */
  pay_url: string | null
  /** ISSUED. */
  status: string | null
  /** Fixed. */
  amount_usdc: '49.00'
  /** What it covers. */
  calls: 50000
  /** The whole record, as invoice_url answers. */
  record: Readonly<Record<string, unknown>> | null
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'create-ap2-pilot'
}
