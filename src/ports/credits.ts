/**
 * Prepaid credits as the store keeps them. A code is never stored, only its keyed hash. Every call that a credit pays for is a use, bound
 * for good to its key and request; reserving, debiting and taking back are conditional writes, so that a credit is never overdrawn and no
 * use debited twice, over all processes. Times are milliseconds since 1970; hashes are lower-case hexadecimal digits.
 */
import type { StoredAnswer } from './payments.ts'

/** Unit of the amounts of a credit: minor units of USDC, or calls of any price. */
type CreditUnit = 'usdc_minor' | 'calls'

/** All amounts in the unit, none below zero; what they leave is in pure/credits/credits.ts. */
export interface Credit {
  unit: CreditUnit
  /** Minor units of USDC that one unit was paid with: 1, or the share of one prepaid call. */
  unit_minor: bigint
  granted: bigint
  /** Taken back by refunds and disputes; at most what was granted. */
  reversed: bigint
  spent: bigint
  /** Maximum cost of the calls that are running. */
  reserved: bigint
  origin: 'card' | 'invoice'
  created_ms: number
}

export interface CreditUseKey {
  code_hash: string
  /** Keyed hash of the caller's idempotency key. */
  use_hash: string
}

/** claimed: the amount is reserved and the tool may be running; settled: debited, the answer stored; released: given up, may be claimed again. */
type CreditUseState = 'claimed' | 'settled' | 'released'

export interface CreditUse {
  tool: string
  input_hash: string
  /** In the unit of the credit. */
  amount: bigint
  state: CreditUseState
  /** Counts the claims; a write of an earlier claim finds another number and does nothing. */
  fence: number
  /** Until then the claimer may be running; afterwards anyone may release the claim. */
  claim_until_ms: number
  updated_ms: number
}

export interface CreditClaim extends CreditUseKey {
  tool: string
  input_hash: string
  /** Price of the call in minor units; a credit of calls pays one unit. */
  price_minor: bigint
  now_ms: number
  claim_until_ms: number
}

/**
 * `claimed`: the amount is reserved, for a new use, or for one of the same request that was released or whose claimer's time is over,
 * under the next fence. `exists`: the use as stored, of this or another request. `insufficient`: the amount that is available besides
 * running calls.
 */
export type CreditClaimResult =
  | { kind: 'claimed'; fence: number; amount: bigint; unit_minor: bigint }
  | { kind: 'exists'; use: CreditUse }
  | { kind: 'insufficient'; unit: CreditUnit; available: bigint }
  | { kind: 'unknown' }

/** A card payment that was made. */
export interface CardPurchase {
  /** Names the notice of it; a notice is heeded once. */
  event_id: string
  session_id: string
  /** By which a reversal names the payment. */
  payment_ref: string
  /** keccak-256 of the secret that the buyer's browser holds. */
  claim_hash: string
  amount_minor: bigint
  code_hash: string
  /** The code, encrypted, until the buyer has seen it. */
  sealed_code: string
  now_ms: number
}

/** A card payment that was taken back, in whole or in part, or whose dispute came to its end. */
export interface CardReversal {
  event_id: string
  payment_ref: string
  /** The charge, or the dispute: of each the notices may come in any order. */
  reference: string
  /** Refunded so far, or disputed. */
  amount_minor: bigint
  /** `won` gives back what was taken; `open` takes until the end is known; the end is not changed by what comes late. */
  standing: 'open' | 'won' | 'lost'
  now_ms: number
}

export interface Purchase {
  claim_hash: string
  code_hash: string
  amount_minor: bigint
  /** Null once the buyer has seen the code. */
  sealed_code: string | null
  paid_ms: number
}

/** Uses of a credit, without inputs. */
export interface CreditStatement {
  credit: Credit
  /** Settled uses, newest first. */
  uses: { tool: string; amount: bigint; updated_ms: number }[]
  reversals: { amount_minor: bigint; standing: CardReversal['standing']; updated_ms: number }[]
}

export interface CreditStore {
  /** A credit that no card paid for. False when it is there already. */
  grant(code_hash: string, credit: Pick<Credit, 'unit' | 'unit_minor' | 'granted' | 'created_ms'>): Promise<boolean>
  /** Grants what a card paid for, less what was taken back before. False when the notice or the payment was heeded before. */
  purchase(purchase: CardPurchase): Promise<boolean>
  /** Takes back, or gives back; before the purchase is known it is remembered. False when the notice was heeded before. */
  reverse(reversal: CardReversal): Promise<boolean>
  find_purchase(session_id: string): Promise<Purchase | null>
  /** Forgets the code of a purchase. */
  forget_code(session_id: string): Promise<void>

  find_use(key: CreditUseKey): Promise<CreditUse | null>
  claim(claim: CreditClaim): Promise<CreditClaimResult>
  /**
   * claimed → settled: books the debit and keeps the answer, and counts one sale of the class in the epoch (once a credit and epoch), all in
   * one transaction. False when the claim is no longer this one: then nothing was written.
   */
  settle(
    key: CreditUseKey,
    fence: number,
    answer: StoredAnswer,
    sale: { price_class: string; epoch: number },
    now_ms: number,
  ): Promise<boolean>
  /** claimed → released, and gives back what was reserved. False when the claim is no longer this one. */
  release(key: CreditUseKey, fence: number, now_ms: number): Promise<boolean>
  /** Releases claims that ran out before `now_ms`; returns how many. */
  release_abandoned(now_ms: number): Promise<number>
  /** Null when nothing was settled, or the answer has been purged. */
  answer(key: CreditUseKey): Promise<StoredAnswer | null>
  statement(code_hash: string, entries: number): Promise<CreditStatement | null>
  /** Forgets answers past their time; never a binding. Returns how many. */
  purge_credits(now_ms: number): Promise<number>
}
