/**
 * Payments as the store keeps them. One row for each authorization that was ever claimed here, for calls and invoices alike; bindings stay
 * for good. Everything that makes a payment exactly-once is a conditional write behind this port, never the memory of a process. Payers and
 * nonces are 0x-prefixed lower-case hex; times are milliseconds since 1970 by the store's clock unless they say `_s`.
 */
import type { PaymentState } from '../pure/payments/states.ts'

export interface PaymentKey {
  payer: string
  nonce: string
}

/** First use of an authorization. */
export interface Binding {
  purpose: 'call' | 'invoice' | 'deposit'
  /** Tool id, invoice id, or the id of the payment channel. */
  subject: string
  /** keccak-256 of the canonical input. */
  input_hash: string
}

/** Written by every claim of an authorization. */
interface ClaimTerms {
  /** CAIP-19 id of the token, such as eip155:137/erc20:0x…; null for USDC on the network of the deployment. */
  asset: string | null
  to: string
  value_minor: bigint
  valid_after_s: bigint
  valid_before_s: bigint
  signature: string
  /** Keyed hash of the client network that sent the claim; null after a day, and for rows older than the column. */
  network_hash: string | null
  /** Keyed hash of the payment-identifier id that belongs to the payment; null without one. No two payments of a payer have the same. */
  identifier_hash: string | null
  /** The payer is a contract, so that only the token can verify the signature; such payments settle alone. */
  contract_payer: boolean
  /** Price class whose price it paid, for the count of sales. */
  price_class: string
  /** The claimer may be running until then; afterwards any process may release the claim. */
  claim_until_ms: number
}

export interface Payment extends PaymentKey, Binding, ClaimTerms {
  state: PaymentState
  /** Counts the claims; a write of an earlier claim finds another number and does nothing. */
  fence: number
  created_ms: number
  updated_ms: number
  /** Settlement method: `self`, the facilitator, or a voucher of a payment channel. Null before settling. */
  method: 'self' | 'facilitator' | 'channel' | null
  /** The gas wallet, the origin of the facilitator, or the id of the channel. */
  settler: string | null
  /** The wallet's transaction that carries it, once it is signed. */
  account_nonce: number | null
  /** Hash of the transaction that settled it, or of the last one that was meant to. */
  transaction: string | null
  block_number: number | null
  block_hash: string | null
  settled_ms: number | null
  /** The block is final: no reorganisation can take it away. */
  final: boolean
  /** Why it was refused, released, lost or is unknown: a code. */
  reason: string | null
  /** Calldata that deposits into a payment channel; null for every other payment, which is a transfer of the token. */
  deposit_call: string | null
  /** Total charged with the voucher of a channel; null for every other payment. */
  cumulative_minor: bigint | null
}

export interface ClaimRequest extends PaymentKey, Binding, ClaimTerms {
  /** Balance of the payer a moment ago; claims in flight may not exceed it. */
  balance_minor: bigint
  /** Nonces of this payer that were used when it held that: what they move has left the balance already. None where it is left out. */
  spent?: readonly string[]
  now_ms: number
  /** Digest under which the answer can be fetched; a claim with one that another payment has is refused by the store. */
  token_hash: string
}

/** A payment that the chain shows as settled while the store has no row of it, with the answer that it buys. */
export interface RestoreRequest extends PaymentKey, Binding, ClaimTerms, SettledAt {
  token_hash: string
  method: 'self' | 'facilitator'
  settler: string
  /** Time of the block. */
  created_ms: number
  settled_ms: number
  /** By what right it was restored; rows with one of the reasons in `replaces` are restored again, for this request. */
  reason: string
  replaces: readonly string[]
  answer: StoredAnswer
  now_ms: number
}

/**
 * `claimed`: a new claim; or the same request again after it was released or its claimer's time was over, then under the next fence,
 * with the terms of the new claim and without the earlier answer. `exists`: the stored payment, of this or another request; the caller
 * compares binding and state. `over_reserved`: payments in flight and this one exceed the balance. `over_due`: the invoice is void, or
 * its payments, those under way and this one exceed its amount. `identifier_taken`: its id belongs to this other payment of the payer.
 */
export type ClaimResult =
  | { kind: 'claimed'; fence: number }
  | { kind: 'exists'; payment: Payment }
  | { kind: 'over_reserved' }
  | { kind: 'over_due' }
  | { kind: 'identifier_taken'; payment: Payment }

/** An answer at rest: encrypted text around the place of the settlement. */
export interface StoredAnswer {
  /** Base64 of what the sealing room made; the store cannot read it. */
  sealed: string
  expires_ms: number
}

/** Transaction and block of a settlement. */
export interface SettledAt {
  transaction: string
  block_number: number
  block_hash: string
}

/**
 * Transition of one payment, applied when the table of transitions allows it from the stored state. Without a transaction the known one
 * stays; every transition except the one to settled clears block, time and finality.
 */
export type PaymentTransition =
  | ({ to: 'settled'; settled_at: SettledAt } & PaymentKey)
  | ({ to: 'refused' | 'unknown' | 'lost'; reason: string; transaction: string | null } & PaymentKey)

/** Guards a write: it happens only while this holder has the lease under this number. */
export interface LeaseGuard {
  lease: string
  fence: number
}

/** A transaction of a gas wallet: stored, with its raw bytes, before it is sent. */
export interface WalletSending {
  wallet: string
  account_nonce: number
  kind: 'single' | 'batch' | 'deploy' | 'sweep' | 'channel' | 'cancel'
  to: string
  data: string
  gas: bigint
  state: 'open' | 'done'
  created_ms: number
  attempts: SendingAttempt[]
}

export interface SendingAttempt {
  hash: string
  raw: string
  max_fee_wei: bigint
  priority_fee_wei: bigint
  stored_ms: number
}

export interface LedgerQuery {
  /** Payments created from then on, and before that; both by `created_ms`. */
  from_ms?: number
  to_ms?: number
  /** Tool of calls; `invoice` for all invoices. */
  tool?: string
  state?: PaymentState
  /** Null for USDC on the network of the deployment. */
  asset?: string | null
  /** Rows after this key in the order of creation. */
  after?: { created_ms: number; payer: string; nonce: string }
  limit: number
}

export interface LedgerSum {
  /** UTC day of creation, YYYY-MM-DD. */
  day: string
  /** Tool of calls; `invoice` for all invoices. */
  tool: string
  state: PaymentState
  asset: string | null
  count: number
  value_minor: bigint
}

export interface Sale {
  price_class: string
  epoch: number
  payers: number
}

export interface PriceMark {
  price_class: string
  epoch: number
  amount_minor: bigint
}

export interface PaymentStore {
  claim(request: ClaimRequest): Promise<ClaimResult>
  find(key: PaymentKey): Promise<Payment | null>
  find_by_token(token_hash: string): Promise<Payment | null>
  /**
   * Writes a settled row with its answer, in one durable write: a new one, or in the place of one that was released, whose claim has run out, or
   * whose reason it replaces. False when another row is there.
   */
  restore(request: RestoreRequest): Promise<boolean>
  find_by_identifier(payer: string, identifier_hash: string): Promise<Payment | null>
  /** Takes the payment-identifier id from a payment. False when its state or its claim is no longer this one. */
  free_identifier(payment: Pick<Payment, 'payer' | 'nonce' | 'state' | 'fence'>): Promise<boolean>
  /** Sum of payments claimed for an invoice, other than `except`, that are in flight, or have arrived and are not attributed to it. */
  under_way(invoice_id: string, except?: PaymentKey): Promise<bigint>
  /** Nonces of payments that may still reduce the payer's last known balance of the asset; at most `limit`. */
  nonces_in_flight(payer: string, asset: string | null, limit: number): Promise<string[]>
  /** Null when nothing was prepared, or the answer has been purged. */
  answer(key: PaymentKey): Promise<StoredAnswer | null>
  /** claimed → prepared, with the answer. False when the claim is no longer this one. */
  prepare(key: PaymentKey, fence: number, answer: StoredAnswer, now_ms: number): Promise<boolean>
  /** The same for a deposit into a payment channel, which has no answer, with the calldata that sends it. */
  prepare_deposit(key: PaymentKey, fence: number, deposit_call: string, now_ms: number): Promise<boolean>
  /** prepared → settling. False when the claim is no longer this one. Durable before it resolves, and before anything is sent. */
  begin_settling(key: PaymentKey, fence: number, by: { method: 'self' | 'facilitator'; settler: string }, now_ms: number): Promise<boolean>
  /** claimed or prepared → released, and the answer is forgotten. False when the claim is no longer this one. */
  release(key: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean>
  /**
   * settling → released, deleting the answer, for a payment that was never sent. False when the claim is no longer this one, or a
   * transaction is known.
   */
  take_back(key: PaymentKey, fence: number, reason: string, now_ms: number): Promise<boolean>
  /** Releases claims that ran out before `now_ms`; returns how many. */
  release_abandoned(now_ms: number): Promise<number>
  /**
   * Moves payments, all in one transaction; true for each that moved. A move to settled counts one sale of its class and payer in `epoch`
   * (once a payer and epoch). With a guard nothing is written unless the lease is held and has not run out by `now_ms`.
   */
  apply_transitions(transitions: readonly PaymentTransition[], epoch: number, now_ms: number, guard?: LeaseGuard): Promise<boolean[]>
  /** Marks settled payments, and refused ones whose authorization has run out, as final. */
  finalize(keys: readonly PaymentKey[], now_ms: number): Promise<void>

  /** Payments in state settling that wait for this settler and have no transaction yet, oldest first. */
  waiting(settler: string, limit: number): Promise<Payment[]>
  /** Payments in any of these states, oldest update first; `final` null for both, `asset` left out for all. */
  in_states(
    states: readonly PaymentState[],
    options: { final: boolean | null; updated_before_ms: number; limit: number; asset?: string | null },
  ): Promise<Payment[]>
  /** Payments of a payer that were refused since then for what the payer did (`PAYER_ACTS`). */
  refused_since(payer: string, since_ms: number): Promise<number>

  /**
   * Stores a signed transaction and ties these payments to it, in one transaction under the guard. False when the lease is gone, the
   * account nonce is taken, or one of the payments no longer waits: then nothing was written.
   */
  add_sending(
    sending: Omit<WalletSending, 'state' | 'attempts'>,
    attempt: SendingAttempt,
    payments: readonly PaymentKey[],
    guard: LeaseGuard,
  ): Promise<boolean>
  /**
   * Stores a replacement with the same account nonce under the guard; `change` when it is another transaction (a cancel). Without a
   * change its payments get the new transaction hash. False when the lease is lost or no such sending is open.
   */
  add_attempt(
    wallet: string,
    account_nonce: number,
    attempt: SendingAttempt,
    change: Pick<WalletSending, 'kind' | 'to' | 'data' | 'gas'> | null,
    guard: LeaseGuard,
  ): Promise<boolean>
  /** Sendings that are not done, by account nonce. */
  open_sendings(wallet: string): Promise<WalletSending[]>
  /** Payments of a sending, in their order within it. */
  carried_by(wallet: string, account_nonce: number): Promise<Payment[]>
  finish_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean>
  /**
   * Puts payments whose sending can never be mined back in line, under the guard; those that are no longer settling stay as they are.
   * False when the lease is gone.
   */
  requeue(keys: readonly PaymentKey[], guard: LeaseGuard): Promise<boolean>
  /** Reopens a finished sending whose block a reorganisation removed, under the guard. */
  reopen_sending(wallet: string, account_nonce: number, guard: LeaseGuard): Promise<boolean>
  /** The highest account nonce that was ever stored for the wallet; null for none. */
  last_account_nonce(wallet: string): Promise<number | null>
  /** Adds to what a wallet spent on gas on a UTC day, or to what a client network cost, and returns the day's sum. */
  spend_gas(account: string, day: number, wei: bigint): Promise<bigint>
  /** Gas booked for the account on that day. */
  gas_spent(account: string, day: number): Promise<bigint>

  /** True where the payer has paid for calls, or an invoice that the merchant signed was paid before that second. */
  paid_before(payer: string, merchant: string, before_s: number): Promise<boolean>

  sales(from_epoch: number): Promise<Sale[]>
  /** The newest mark of each class at or before the epoch. */
  price_marks(epoch: number): Promise<PriceMark[]>
  /** Writes marks that are not there yet. */
  mark_prices(marks: readonly PriceMark[]): Promise<void>

  ledger(query: LedgerQuery): Promise<Payment[]>
  ledger_sums(query: Omit<LedgerQuery, 'after' | 'limit'>): Promise<LedgerSum[]>

  /**
   * Deletes expired answers, client networks after a day, and sales and marks before the epoch; never a binding, the answer of a payment
   * that may still settle, or the mark that applies at the epoch. Returns the number of deleted rows.
   */
  purge_payments(now_ms: number, before_epoch: number): Promise<number>
}
