import type { ChainLink } from '../../pure/receipts/chain.ts'
import type { Receipt } from '../../pure/receipts/receipt.ts'
import type { CallPhase } from '../../ports/telemetry.ts'
import type { ReadBounds, Tool } from '../catalogue/define.ts'
import type { CreditCredential } from '../credits/credit-service.ts'
import type { AllowanceState } from '../payments/allowance.ts'
import type { PaymentCredential } from '../payments/payment-header.ts'
import type { ResendSecrets } from '../payments/resends.ts'
import type { ChannelCorrection } from '../payments/payment-refusals.ts'
import type { SignInChallenge } from '../payments/resends.ts'
import type { CreditSettlement, PaidSettlement, Pending } from '../payments/settlement.ts'
import type { Problem } from '../problems.ts'

/** A call as surfaces hand it to `call`, independent of HTTP. */
export interface CallRequest {
  /** Id of the tool as the caller wrote it. */
  tool: string
  /**
   * Resolves when the body has arrived; with a problem when it is refused. Absent where the body is already there. `mayReadLarge` decides
   * whether a body beyond the unpaid limit is read.
   */
  receive?(bounds: ReadBounds, mayReadLarge: () => Promise<boolean>): Promise<Problem | null>
  /** Reads the input within the bounds of the tool. */
  read(bounds: ReadBounds): InputRead | Promise<InputRead>
  /** Takes capacity for the call after its body has arrived and before it is read; resolves with a problem when there is none. */
  enter?(): Promise<Problem | null>
  /** Called when the payment of this call was verified and claimed. */
  verified?(): void
  /** Client address, read through trusted proxies only; hashed before it is stored. */
  address: string
  /** Payments of the request, in whichever header or member they came; more than one is an error. */
  payments: readonly PaymentCredential[]
  credit: CreditCredential | null
  /** Secrets that open the stored answer of an earlier payment. */
  secrets?: ResendSecrets
  /** Digest of the previous receipt as the caller wrote it. */
  prev_receipt_hash: string | null
  /** Header of W3C Trace Context as received. */
  traceparent?: string | null
  /** The caller's own name of the request, for the log; null for none. */
  client_request_id?: string | null
  marks?: PhaseMarks
}

/** Records the end of each phase of a call. */
export interface PhaseMarks {
  mark(phase: CallPhase): void
}

/** `unwrapped`: the fields of the tool were the body itself. `ready`: a worker thread has read and validated the input; `input` is then null. */
export type InputRead = { ok: true; input: unknown; unwrapped?: boolean; ready?: ReadyInput } | { ok: false; problem: Problem }

/** An input that was validated against the schema of its tool. */
export interface ReadyInput {
  /** When `packed` is set, only the members that the price depends on; null for none. */
  input: Record<string, unknown> | null
  /** Input of a pure tool that runs in a worker thread, in the form of `v8.serialize`; null when `input` has it. */
  packed: Uint8Array | null
  /** keccak-256 of the canonical text. */
  input_hash: string
}

export interface Answer {
  result: Record<string, unknown>
  /** RFC 8785 text of `result`, which the output hash of the receipt covers. */
  result_text: string
  receipt: Receipt
  /** `receipt` as JSON text. */
  receipt_text: string
  /** Link to the previous receipt, where the caller named one. */
  chain: ChainLink | null
  tier: 'free' | 'paid'
  /** Null for tools that are free without limit. */
  allowance: AllowanceState | null
  /** The members of the result are members of the answer itself, instead of under `result`. */
  unwrapped?: boolean
  embeddable_badge: string
  proof_summary_markdown: string
}

/** Outcome with an answer. */
export type AnsweredOutcome =
  | { kind: 'answered'; tool: string; answer: Answer }
  /** `text` is the stored body, byte for byte. */
  | { kind: 'paid'; tool: string; text: string; settlement: PaidSettlement | CreditSettlement }

/** Outcome of a call. Each surface translates it into its own form of answer. */
export type Outcome =
  | AnsweredOutcome
  | { kind: 'pending'; tool: string; problem: Problem; pending: Pending }
  | PaymentRequired
  | { kind: 'refused'; tool: string | null; problem: Problem }

/** A 402: no payment came, or the one that came is not acceptable. */
export interface PaymentRequired {
  kind: 'payment_required'
  tool: string
  problem: Problem
  allowance: AllowanceState
  /** Current price of the call in minor units; null where no payment is taken. */
  amount_minor: bigint | null
  /** Error code of x402 facilitators for the payment; null when no payment came. */
  x402_reason: string | null
  /** Payer of a settlement that failed. */
  payer?: string
  /** Network of the payment in CAIP-2, where it is not that of the deployment. */
  network?: string
  /** State of a payment channel from which the client signs the next voucher. */
  channel?: ChannelCorrection
  /** Challenge of sign-in-with-x for the extensions of the terms. */
  sign_in?: SignInChallenge
}

/** `tool` is null where the request named none that exists. */
export function refusedOutcome(tool: Pick<Tool, 'id'> | null, found: Problem): Outcome {
  return { kind: 'refused', tool: tool?.id ?? null, problem: found }
}
