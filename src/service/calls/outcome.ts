import type { ChainLink } from '../../pure/receipts/chain.ts'
import type { Receipt } from '../../pure/receipts/receipt.ts'
import type { CallPhase } from '../../ports/telemetry.ts'
import type { ReadBounds } from '../catalogue/define.ts'
import type { CreditGiven } from '../credits/given.ts'
import type { AllowanceState } from '../payments/allowance.ts'
import type { PaymentGiven } from '../payments/payment-header.ts'
import type { ResendSecrets } from '../payments/resends.ts'
import type { CreditSettlement, Pending, Settlement } from '../payments/settlement.ts'
import type { Problem } from '../problems.ts'

/** A call as it reaches the core: no request, no header, no status. */
export interface CallRequest {
  /** The tool as the caller named it. */
  tool: string
  /**
   * Resolves when the body has arrived, with the refusal of a body that may not; absent where it is there already. `mayReadLarge` decides
   * whether a body beyond the unpaid bound is read.
   */
  receive?(bounds: ReadBounds, mayReadLarge: () => Promise<boolean>): Promise<Problem | null>
  /** Reads the input within the bounds of the tool. */
  read(bounds: ReadBounds): InputRead | Promise<InputRead>
  /** Takes capacity for the call once its body is there, before it is read; the refusal when there is none. */
  enter?(): Promise<Problem | null>
  /** The payment of this call was verified and claimed. */
  verified?(): void
  /** The caller's address, as far as proxies are trusted; hashed before it is stored. */
  address: string
  /** The payments that the request carries, in whatever form; more than one is a fault. */
  payments: readonly PaymentGiven[]
  /** The prepaid credit that the request carries; null for none. */
  credit: CreditGiven | null
  /** Secrets that open the answer of a payment sent before; none where it is left out. */
  secrets?: ResendSecrets
  /** The digest of the receipt that went before, as the caller wrote it. */
  prev_receipt_hash: string | null
  /** The header of W3C Trace Context as it came. */
  traceparent?: string | null
  /** Told when a phase of the call is over. */
  marks?: PhaseMarks
}

export interface PhaseMarks {
  mark(phase: CallPhase): void
}

/**
 * `bare`: the fields of the tool were the body itself. `ready`: a worker thread has read the input and held it against the schema of its
 * tool; then `input` is null.
 */
export type InputRead = { ok: true; input: unknown; bare?: boolean; ready?: ReadyInput } | { ok: false; problem: Problem }

/** An input that fits its tool. */
export interface ReadyInput {
  /** As the tool takes it; beside `packed` only what its price depends on, null for nothing. */
  input: Record<string, unknown> | null
  /** The input of a pure tool, which runs in a worker thread too, in the form of `v8.serialize`; null when `input` has it. */
  packed: Uint8Array | null
  /** keccak-256 of its canonical text. */
  input_hash: string
}

export interface Answer {
  result: Record<string, unknown>
  /** RFC 8785 text of `result`: what the receipt's output hash covers. */
  result_text: string
  receipt: Receipt
  /** `receipt` as JSON, written once for the body and the badge. */
  receipt_text: string
  /** Only when the caller named a previous receipt. */
  chain: ChainLink | null
  tier: 'free' | 'paid'
  /** Null for tools that are free without limit. */
  allowance: AllowanceState | null
  /** The members of the result go beside the receipt, not under `result`. */
  bare?: boolean
  embeddable_badge: string
  proof_summary_markdown: string
}

/** How a call ends. Surfaces translate; nothing else leaves. */
export type Outcome =
  | { kind: 'answered'; tool: string; answer: Answer }
  /** Settled now or before: the body as it was stored, byte for byte. */
  | { kind: 'paid'; tool: string; text: string; settlement: Settlement | CreditSettlement }
  | { kind: 'pending'; tool: string; problem: Problem; pending: Pending }
  | PaymentRequired
  | { kind: 'refused'; tool: string | null; problem: Problem }

/** A 402: nobody paid, or what came as payment will not do. */
export interface PaymentRequired {
  kind: 'payment_required'
  tool: string
  problem: Problem
  allowance: AllowanceState
  /** What the call costs now, in minor units; null where no payment is taken. */
  amount_minor: bigint | null
  /** The word of the x402 facilitators for what is wrong with the payment; null when none came. */
  x402_reason: string | null
  /** Whose settlement failed; absent where none was tried. */
  payer?: string
}

/** The outcome in one word, for counters and logs. */
export function outcomeWord(outcome: Outcome): string {
  return outcome.kind === 'answered' || outcome.kind === 'paid' ? outcome.kind : outcome.problem.code
}
