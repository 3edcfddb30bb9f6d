import type { Tool } from '../catalogue/define.ts'
import type { Taken } from '../payments/allowance.ts'
import type { Claim } from '../payments/claim.ts'
import type { Outcome } from './outcome.ts'

/** A request whose input fits its tool. */
export interface ReadCall {
  tool: Tool
  input: Record<string, unknown>
  /** Names the input in receipts and bindings; computed when it is first asked for. */
  inputHash(): string
  address: string
  /** Digest of the receipt before, in lower case. */
  previous: string | null
  /** Its fields were the body itself; it is answered alike. */
  bare: boolean
}

/** What entitles a call to run. */
export type Admission =
  | { kind: 'unlimited' }
  | { kind: 'free'; taken: Taken }
  | { kind: 'paid'; claim: Claim }
  /** It does not run: this is its end. */
  | { kind: 'ended'; outcome: Outcome }
