import { isObject } from '../pure/is-object.ts'
import type { ChainLink } from '../pure/receipts/chain.ts'
import type { Receipt } from '../pure/receipts/receipt.ts'
import type { Payment } from './payment.ts'
import type { Verification } from './proof.ts'

/** The free calls of the UTC day. */
export interface Allowance {
  limit: number
  remaining: number
  /** RFC 3339. */
  resets_at: string
}

/** How a call was paid, as the service says it. */
export interface Settlement {
  /** CAIP-2, such as eip155:8453; null for a prepaid credit. */
  network: string | null
  /** Null for a prepaid credit. */
  transaction: string | null
  payer: string
  /** Minor units of USDC, six decimals, as decimal text. */
  amount_minor: string
  method: string
}

/** What the service sends for a call, before anything of it is believed. */
export interface AnswerBody<Output = Readonly<Record<string, unknown>>> {
  result: Output
  receipt: Receipt
  /** Signed by the key of the receipt: the receipt that went before. Null when none was named. */
  chain: ChainLink | null
  tier: 'free' | 'paid'
  /** Null when nobody paid. */
  settlement: Settlement | null
  /** Null for tools that are free without limit. */
  allowance: Allowance | null
  embeddable_badge: string
  proof_summary_markdown: string
}

/** An answer as `call` returns it: its receipt has been verified against what was sent, what came, and what was paid. */
export interface Answer<Output = Readonly<Record<string, unknown>>> extends AnswerBody<Output> {
  /** Id of the tool, in hyphens. */
  tool: string
  /** keccak-256 of the RFC 8785 text of the input as it was sent. */
  input_hash: string
  /** The digest of the receipt, by which the next one can name it. */
  receipt_hash: string
  /** The payment that this library signed; null on a free call. */
  payment: Payment | null
  verification: Verification
}

/** Reads a 200 as far as its shape goes; null when it is no answer. The receipt itself is judged elsewhere. */
export function readAnswer(body: unknown): AnswerBody | null {
  if (!isObject(body)) return null
  const { result, receipt, chain = null, tier, settlement = null, allowance = null, embeddable_badge, proof_summary_markdown } = body
  if (!isObject(result) || !isObject(receipt) || (tier !== 'free' && tier !== 'paid')) return null
  if (chain !== null && !isObject(chain)) return null
  if (settlement !== null && !isSettlement(settlement)) return null
  return {
    result,
    receipt: receipt as unknown as Receipt,
    chain: chain as ChainLink | null,
    tier,
    settlement,
    allowance: readAllowance(allowance),
    embeddable_badge: textOr(embeddable_badge),
    proof_summary_markdown: textOr(proof_summary_markdown),
  }
}

/** Null for whatever is no allowance. */
export function readAllowance(value: unknown): Allowance | null {
  if (!isObject(value)) return null
  const { limit, remaining, resets_at } = value
  return typeof limit === 'number' && typeof remaining === 'number' && typeof resets_at === 'string'
    ? { limit, remaining, resets_at }
    : null
}

function isSettlement(value: unknown): value is Settlement {
  if (!isObject(value)) return false
  const { network, transaction } = value
  const onChain = typeof network === 'string' && typeof transaction === 'string'
  // A prepaid credit settles on no chain.
  const placed = onChain || (network === null && transaction === null)
  return placed && ['payer', 'amount_minor', 'method'].every((name) => typeof value[name] === 'string')
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
