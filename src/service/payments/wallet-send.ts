import type { ChainRead, FeesNow, SendResult, TransactionReceipt } from '../../ports/chain.ts'
import type { PaymentTransition, Payment, PaymentKey, WalletSending, SendingAttempt } from '../../ports/payments.ts'
import { decodeBool, decodeUint, balanceCall, blacklistedCall, PAUSED_CALL } from '../../pure/payments/token-calls.ts'
import {
  type WalletCall,
  applyTransitions,
  paymentKeyText,
  type OpenSending,
  type WriterDeps,
  type WriterState,
  feesFor,
  type GasBudget,
} from './writer-rules.ts'
import { type Evidence, chainEvidence, settlementProof, tokenOf, usedStates } from './settlement.ts'

/** Reason of an unknown payment whose block a reorganisation removed; its transaction is sent again. */
export const REORGANISED = 'reorganised'
const EXPIRED = 'authorization_expired'

/** Result of a sending for its payments. Those to requeue are unused and still valid for long enough. */
interface SendingOutcome {
  transitions: PaymentTransition[]
  requeue: PaymentKey[]
}

/** Thrown when another process has the lease, or the store has newer data than this process: all state is read again. */
export class StaleWriterStateError extends Error {
  override name = 'OutOfStepError'
}

/**
 * Throws unless the store confirms the write. A write without an answer may have been executed, so it is treated like a refused one: all
 * state is read again.
 */
async function requireWrite(write: Promise<boolean>, message: string): Promise<void> {
  const written = await write.catch((error: unknown) => {
    throw new StaleWriterStateError(message, { cause: error })
  })
  if (!written) throw new StaleWriterStateError(message)
}

/** keccak-256 of Failed(uint256). */
const FAILED_TOPIC = '0xc77ea6414b21b2cf2170f259ee35ec16a7cbf16eeace77cc3ae8c6d52556881a'
const SELF_TRANSFER_GAS = 21_000n

/** Returns a transaction that moves nothing, to use up an account nonce. */
function selfTransfer(wallet: string): WalletCall {
  return { kind: 'cancel', to: wallet, data: '0x', gas: SELF_TRANSFER_GAS }
}

/**
 * Returns the items that the contract tried and the token refused. An item with neither a failure nor a transfer was not started: too
 * little gas was left, or there was no contract.
 */
export function failedItems(receipt: TransactionReceipt, contract: string | null): Set<number> {
  const failed = receipt.logs.filter(({ address, topics }) => address === contract && topics.length === 1 && topics[0] === FAILED_TOPIC)
  return new Set(failed.map(({ data }) => Number(decodeUint(data) ?? -1n)))
}

/**
 * Decides on the payments of a mined transaction by the logs of its receipt. A payment without proof there may have been settled by another
 * sender of the same authorization, which counts too. A payment is refused only when it was tried and is unused, or when its authorization
 * was used for something else. Null when the chain gave no clear answer: ask again. Rejects when the chain cannot be read.
 */
async function outcomeOfMined(
  deps: WriterDeps,
  { sending, payments }: OpenSending,
  receipt: TransactionReceipt,
): Promise<SendingOutcome | null> {
  const proofs = payments.map((payment) => settlementProof(receipt, payment, tokenOf(deps.source, payment)))
  const transitions = payments.flatMap((payment, index): PaymentTransition[] => {
    const settled_at = proofs[index] ?? null
    return settled_at === null ? [] : [{ ...pickPaymentKey(payment), to: 'settled', settled_at }]
  })
  const missing = payments.filter((_, index) => (proofs[index] ?? null) === null)
  if (missing.length === 0) return { transitions, requeue: [] }
  const failed = failedItems(receipt, deps.batch?.address ?? null)
  const tried = (payment: Payment) => sending.kind === 'single' || failed.has(payments.indexOf(payment))
  const rest = await outcomeWithoutProof(deps, missing, receipt, tried)
  return rest === null ? null : { transitions: [...transitions, ...rest.transitions], requeue: rest.requeue }
}

/** Decides on payments whose transaction can never be mined, because another one has its account nonce. */
async function outcomeOfUnmined(deps: WriterDeps, payments: readonly Payment[]): Promise<SendingOutcome | null> {
  return payments.length === 0 ? { transitions: [], requeue: [] } : outcomeWithoutProof(deps, payments, null, () => false)
}

async function outcomeWithoutProof(
  deps: WriterDeps,
  payments: readonly Payment[],
  receipt: TransactionReceipt | null,
  tried: (payment: Payment) => boolean,
): Promise<SendingOutcome | null> {
  // Read at the block of the receipt, so that a lagging node reports an error instead of unused authorizations.
  const at = receipt?.block_number
  const used = await usedStates(deps.source, payments, at)
  if (used.includes(null)) return null
  const outcome: SendingOutcome = { transitions: [], requeue: [] }
  for (const [index, payment] of payments.entries()) {
    // Settled before, and its answer was delivered: until the authorization expires any sender may execute it, and the reconciler decides.
    const answered = payment.reason === REORGANISED
    if (used[index] === true) {
      outcome.transitions.push(lostIfAnswered(payment, transitionFor(payment, await chainEvidence(deps.source, payment, true))))
    } else if (receipt !== null && tried(payment)) {
      const reason = await refusalReason(deps, payment, receipt)
      if (answered && reason !== EXPIRED) continue
      outcome.transitions.push(
        lostIfAnswered(payment, { ...pickPaymentKey(payment), to: 'refused', reason, transaction: receipt.transaction_hash }),
      )
    } else if (hasTimeToSettle(deps, payment)) {
      outcome.requeue.push(pickPaymentKey(payment))
    } else if (!answered) {
      outcome.transitions.push({ ...pickPaymentKey(payment), to: 'refused', reason: 'out_of_time', transaction: payment.transaction })
    }
  }
  return outcome
}

/**
 * Turns the refusal of a payment that was settled and answered before into `lost`, for any cause of the missing transfer: the ledger must
 * show it.
 */
export function lostIfAnswered(payment: Payment, transition: PaymentTransition): PaymentTransition {
  return transition.to === 'refused' && payment.reason === REORGANISED ? { ...transition, to: 'lost' } : transition
}

/** Returns true when the authorization is valid for long enough to be sent now. */
export function hasTimeToSettle({ clock, rules }: Pick<WriterDeps, 'clock' | 'rules'>, payment: Payment): boolean {
  return BigInt(Math.ceil(clock.now_ms() / 1_000) + rules.life_s) <= payment.valid_before_s
}

/** Returns the transition that the evidence allows. */
export function transitionFor(payment: Payment, evidence: Evidence): PaymentTransition {
  const key = pickPaymentKey(payment)
  switch (evidence.kind) {
    case 'settled':
      return { ...key, to: 'settled', settled_at: evidence.at }
    case 'used_without_transfer':
      return { ...key, to: 'refused', reason: evidence.reason, transaction: evidence.transaction }
    case 'unused_and_expired':
      return { ...key, to: 'refused', reason: 'expired_unused', transaction: payment.transaction }
    case 'open':
      return { ...key, to: 'unknown', reason: evidence.used ? 'used_unproven' : 'no_receipt', transaction: payment.transaction }
  }
}

export function pickPaymentKey({ payer, nonce }: PaymentKey): PaymentKey {
  return { payer, nonce }
}

/** Returns the most likely reason for the refusal from the state at that block, which separates acts of the payer from outside causes. */
async function refusalReason(deps: WriterDeps, payment: Payment, receipt: TransactionReceipt): Promise<string> {
  const { chain } = deps.source
  const token = tokenOf(deps.source, payment)
  const header = await chain.header(receipt.block_number)
  if (header !== null && BigInt(header.timestamp_s) >= payment.valid_before_s) return EXPIRED
  const calldata = [PAUSED_CALL, blacklistedCall(payment.payer), blacklistedCall(payment.to), balanceCall(payment.payer)]
  const reads: ChainRead[] = calldata.map((data) => ({ kind: 'call', to: token, data }))
  const [code, ...answers] = await chain.read([{ kind: 'code', address: payment.payer }, ...reads], receipt.block_number)
  const [paused, payer_blocked, recipient_blocked] = answers.map((answer) => answer.ok && decodeBool(answer.data) === true)
  if (paused === true) return 'token_paused'
  if (payer_blocked === true) return 'payer_blocked'
  if (recipient_blocked === true) return 'recipient_blocked'
  const held = answers[3]
  const balance = held?.ok === true ? decodeUint(held.data) : null
  if (balance !== null && balance < payment.value_minor) return 'insufficient_balance'
  // An account without code cannot withdraw a signature.
  return code?.ok === true && code.data !== '0x' ? 'signature_withdrawn' : 'transfer_refused'
}

type Fees = Pick<SendingAttempt, 'max_fee_wei' | 'priority_fee_wei'>

/**
 * Signs a call with the next account nonce, stores it with its bytes and its payments, and only then sends it to a node. Throws a
 * StaleWriterStateError when the store refuses or does not answer; then nothing was sent.
 */
export async function sendNew(deps: WriterDeps, state: WriterState, call: WalletCall, payments: Payment[], fees: FeesNow): Promise<void> {
  const account_nonce = state.next_nonce ?? (await nextNonce(deps))
  await storeSending(deps, state, call, payments, account_nonce, capFees(feesFor(fees), deps.rules.max_fee_wei))
}

/** Uses up an account nonce without stored bytes, because later transactions could not be mined otherwise. */
async function plugGap(deps: WriterDeps, state: WriterState, account_nonce: number, call: WalletCall): Promise<void> {
  await storeSending(deps, state, call, [], account_nonce, capFees(feesFor(await deps.sender.fees()), deps.rules.max_fee_wei))
}

/** Returns the first account nonce that is used neither in the store nor on the chain. */
async function nextNonce({ store: { payments }, sender, wallet }: WriterDeps): Promise<number> {
  const [stored, mined] = await Promise.all([payments.last_account_nonce(wallet.account), sender.account_nonce(wallet.address)])
  return Math.max(mined, stored === null ? 0 : stored + 1)
}

async function storeSending(
  deps: WriterDeps,
  state: WriterState,
  call: WalletCall,
  payments: Payment[],
  account_nonce: number,
  fees: Fees,
): Promise<void> {
  const now_ms = deps.clock.now_ms()
  const attempt = attemptOf(deps, { ...call, account_nonce }, fees)
  const sending = { ...call, wallet: deps.wallet.account, account_nonce, created_ms: now_ms }
  const write = deps.store.payments.add_sending(sending, attempt, payments.map(pickPaymentKey), state.guard)
  await requireWrite(write, 'the store did not take the transaction')
  if (account_nonce >= (state.next_nonce ?? 0)) state.next_nonce = account_nonce + 1
  const open: OpenSending = {
    sending: { ...sending, state: 'open', attempts: [attempt] },
    payments,
    broadcast_ms: deps.clock.steady_ms(),
    overdue: false,
  }
  state.open.push(open)
  state.open.sort((one, other) => one.sending.account_nonce - other.sending.account_nonce)
  await deps.reach('before_send')
  await broadcast(deps, state, open)
  await deps.reach('after_send')
}

/** Signs one attempt of a sending; the same fields give the same bytes. */
function attemptOf(
  { wallet, clock }: Pick<WriterDeps, 'wallet' | 'clock'>,
  { account_nonce, to, data, gas }: Pick<WalletSending, 'account_nonce' | 'to' | 'data' | 'gas'>,
  fees: Fees,
): SendingAttempt {
  const { raw, hash } = wallet.sign({ account_nonce, to, data, gas, ...fees })
  return { raw, hash, ...fees, stored_ms: clock.now_ms() }
}

/**
 * Sends the newest bytes to a node. The node's answer decides nothing: receipts do. Never rejects; without an answer the sending stays as
 * it is.
 */
async function broadcast(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const { sending } = open
  open.broadcast_ms = deps.clock.steady_ms()
  const raw = sending.attempts.at(-1)?.raw
  if (raw === undefined) return
  let sent: SendResult
  try {
    sent = await deps.sender.send(raw)
  } catch (error) {
    deps.log.warn({ account_nonce: sending.account_nonce, error: String(error) }, 'no answer to a transaction that was sent')
    return
  }
  switch (sent.kind) {
    case 'accepted':
    case 'known':
    case 'underpriced':
      return
    case 'nonce_used':
      // Used by these bytes, or by another transaction when the wallet's key is used elsewhere.
      state.next_nonce = null
      return
    case 'refused':
      deps.log.warn({ account_nonce: sending.account_nonce, message: sent.message.slice(0, 200) }, 'a node did not take a transaction')
  }
}

/** Limits both fees to the maximum of this service, and the tip to the total fee. */
function capFees({ max_fee_wei, priority_fee_wei }: Fees, most_wei: bigint): Fees {
  const max_wei = max_fee_wei < most_wei ? max_fee_wei : most_wei
  return { max_fee_wei: max_wei, priority_fee_wei: priority_fee_wei < max_wei ? priority_fee_wei : max_wei }
}

/** Fraction by which a replacement raises both fees: nodes require 10 %, and 12.5 % covers those that require slightly more. */
const BUMP_PART = 8n
/** More than the clocks of two machines differ. */
const AHEAD_MS = 60_000
/** Maximum number of gaps filled in one run; the next run fills more. */
const GAP_MAX = 16

/**
 * Resends the bytes of transactions that are in no block, replaces the first one by one with higher fees, and finally by one that does
 * nothing, so that its account nonce is used up and later transactions can be mined. `mined` is the number of account nonces used in
 * blocks. Rejects when the chain cannot be read.
 */
async function rebroadcastUnmined(deps: WriterDeps, state: WriterState, mined: number): Promise<void> {
  const { clock, rules, sender } = deps
  const [front] = state.open
  const now_ms = clock.now_ms()
  const idle = state.open.filter(({ broadcast_ms }) => clock.steady_ms() - broadcast_ms >= rules.rebroadcast_ms)
  if (front === undefined || idle.length === 0) return
  const { base_fee_wei } = await sender.fees()
  if (mined < front.sending.account_nonce && ageOf(front.sending.created_ms, now_ms) >= rules.gap_ms) await fillGap(deps, state, mined)
  for (const open of idle) {
    const last = open.sending.attempts.at(-1)
    if (last === undefined || open.sending.account_nonce < mined) continue
    const first = open.sending.account_nonce === mined
    const stuck = ageOf(last.stored_ms, now_ms) >= rules.bump_after_ms && (first || last.max_fee_wei < base_fee_wei)
    if (stuck) await replace(deps, state, open, last)
    await broadcast(deps, state, open)
  }
}

/**
 * Returns the milliseconds since a stored time. A time in the future was written while a clock was ahead; it counts as old, so that the
 * sending does not wait for it.
 */
function ageOf(stored_ms: number, now_ms: number): number {
  return stored_ms > now_ms + AHEAD_MS ? Number.POSITIVE_INFINITY : now_ms - stored_ms
}

/**
 * Returns true when the account nonce of the first open sending is used up although none of its attempts has a receipt, for longer than a
 * node can lag.
 */
function isNonceLost({ clock, rules }: WriterDeps, { sending }: OpenSending, mined: number): boolean {
  const last_ms = sending.attempts.at(-1)?.stored_ms ?? sending.created_ms
  return mined > sending.account_nonce && ageOf(last_ms, clock.now_ms()) >= rules.slot_lost_ms
}

/** Returns true when an attempt of a cancelled sending is the cancelling transaction itself: signing it again gives the same bytes. */
function isCancel(deps: WriterDeps, { sending }: OpenSending, attempt: SendingAttempt): boolean {
  const again = { ...selfTransfer(deps.wallet.address), account_nonce: sending.account_nonce }
  return sending.kind === 'cancel' && attemptOf(deps, again, feesOf(attempt)).raw === attempt.raw
}

async function replace(deps: WriterDeps, state: WriterState, open: OpenSending, last: SendingAttempt): Promise<void> {
  const { sending } = open
  const cancels = sending.kind !== 'cancel' && sending.attempts.length > deps.rules.bumps_max
  const wanted = feesFor(await deps.sender.fees())
  const fees = capFees(
    {
      max_fee_wei: max(bumpFee(last.max_fee_wei), wanted.max_fee_wei),
      priority_fee_wei: max(bumpFee(last.priority_fee_wei), wanted.priority_fee_wei),
    },
    deps.rules.max_fee_wei,
  )
  // At the fee limit no node would accept it as a replacement, so the sending waits for lower fees.
  if (fees.max_fee_wei < bumpFee(last.max_fee_wei) || fees.priority_fee_wei < bumpFee(last.priority_fee_wei)) return
  const change: WalletCall | null = cancels ? selfTransfer(deps.wallet.address) : null
  const attempt = attemptOf(deps, { ...sending, ...change }, fees)
  const write = deps.store.payments.add_attempt(sending.wallet, sending.account_nonce, attempt, change, state.guard)
  await requireWrite(write, 'the store did not take the replacement')
  open.sending = { ...sending, ...change, attempts: [...sending.attempts, attempt] }
}

/**
 * Fills the account nonces before the first open sending that the chain has not used: sends their stored bytes again, or a transaction that
 * moves nothing.
 */
async function fillGap(deps: WriterDeps, state: WriterState, mined: number): Promise<void> {
  const { wallet, store, log } = deps
  const first = state.open[0]?.sending.account_nonce ?? mined
  log.warn({ wallet: wallet.account, from: mined, to: first }, 'account nonces are missing on the chain')
  let reopened = false
  for (let nonce = mined; nonce < Math.min(first, mined + GAP_MAX); nonce++) {
    if (await store.payments.reopen_sending(wallet.account, nonce, state.guard)) reopened = true
    else await plugGap(deps, state, nonce, selfTransfer(wallet.address))
  }
  if (reopened) throw new StaleWriterStateError('a finished transaction is open again')
}

function feesOf({ max_fee_wei, priority_fee_wei }: SendingAttempt): Pick<SendingAttempt, 'max_fee_wei' | 'priority_fee_wei'> {
  return { max_fee_wei, priority_fee_wei }
}

function bumpFee(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / BUMP_PART + 1n
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

interface Mined {
  open: OpenSending
  receipt: TransactionReceipt
  cancelled: boolean
}

/** Reads receipts of all attempts of open sendings, records the results, and resends the rest. Rejects when the chain cannot be read. */
export async function trackSendings(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<void> {
  if (state.open.length === 0) return
  // First, since the chain reads below may fail for a long time.
  await markOverdueUnknown(deps, state)
  // One read instead of one for each attempt: a transaction whose account nonce is unused has no receipt.
  const used = await deps.sender.account_nonce(deps.wallet.address)
  const candidates = state.open.filter(({ sending }) => sending.account_nonce < used)
  const found = await Promise.all(candidates.map((open) => minedAttempt(deps, open)))
  for (const mined of found.filter((one) => one !== null)) await finishMined(deps, state, mined, budget)
  const [front] = state.open
  if (front !== undefined && isNonceLost(deps, front, used)) await finishLost(deps, state, front)
  await rebroadcastUnmined(deps, state, used)
}

async function minedAttempt(deps: WriterDeps, open: OpenSending): Promise<Mined | null> {
  const { attempts } = open.sending
  const receipts = await Promise.all(attempts.map(({ hash }) => deps.chain.receipt(hash)))
  for (const [index, attempt] of attempts.entries()) {
    const receipt = receipts[index] ?? null
    if (receipt !== null) return { open, receipt, cancelled: isCancel(deps, open, attempt) }
  }
  return null
}

async function finishMined(deps: WriterDeps, state: WriterState, { open, receipt, cancelled }: Mined, budget: GasBudget): Promise<void> {
  const outcome = cancelled ? await outcomeOfUnmined(deps, open.payments) : await outcomeOfMined(deps, open, receipt)
  if (outcome === null) return
  await writeOutcome(deps, state, open, outcome, !cancelled)
  const raw_chars = open.sending.attempts.at(-1)?.raw.length ?? 0
  await budget.recordCost(receipt.gas_used * receipt.effective_gas_price, raw_chars)
  await finish(deps, state, open)
}

/**
 * Finishes a sending whose account nonce was used by an unknown transaction of the wallet. Even when another party has the key, no payment
 * is lost.
 */
async function finishLost(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const outcome = await outcomeOfUnmined(deps, open.payments)
  if (outcome === null) return
  const { account_nonce } = open.sending
  deps.log.error(
    { wallet: deps.wallet.account, account_nonce },
    'an account nonce was used by a transaction that this service does not know',
  )
  await writeOutcome(deps, state, open, outcome, false)
  await finish(deps, state, open)
}

/** Writes the rows first, then the sending: after a crash between the two both are repeated without effect. */
async function writeOutcome(
  deps: WriterDeps,
  state: WriterState,
  open: OpenSending,
  outcome: SendingOutcome,
  tried: boolean,
): Promise<void> {
  await deps.reach('before_settled_row')
  // A payment that failed in a batch settles in a separate transaction, so that it cannot fail with others again.
  if (tried) for (const key of outcome.requeue) state.settle_alone.add(paymentKeyText(key))
  for (const transition of outcome.transitions) state.settle_alone.delete(paymentKeyText(transition))
  await applyTransitions(deps, state.guard, outcome.transitions)
  if (outcome.requeue.length > 0 && !(await deps.store.payments.requeue(outcome.requeue, state.guard))) {
    throw new StaleWriterStateError('the store did not put payments back in line')
  }
  deps.log.info(outcomeLogFields(open, outcome), 'a settlement transaction is done')
}

async function finish(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const { wallet, account_nonce } = open.sending
  if (!(await deps.store.payments.finish_sending(wallet, account_nonce, state.guard))) {
    throw new StaleWriterStateError('the store did not finish the transaction')
  }
  state.open = state.open.filter((one) => one !== open)
  // Checked in the next round, since batches wait for it.
  if (open.sending.kind === 'deploy') state.batch_checked_ms = Number.NEGATIVE_INFINITY
}

/** Marks the payments of old open sendings as unknown; the sending stays open and may still settle them. */
async function markOverdueUnknown(deps: WriterDeps, state: WriterState): Promise<void> {
  const before_ms = deps.clock.now_ms() - deps.rules.unknown_ms
  const overdue = state.open.filter((open) => !open.overdue && open.sending.created_ms <= before_ms)
  const transitions = overdue.flatMap(({ payments, sending }): PaymentTransition[] => {
    const transaction = sending.attempts.at(-1)?.hash ?? null
    return payments.map((payment) => ({ ...pickPaymentKey(payment), to: 'unknown', reason: 'no_receipt', transaction }))
  })
  await applyTransitions(deps, state.guard, transitions)
  for (const open of overdue) open.overdue = true
}

function outcomeLogFields({ sending, payments }: OpenSending, { transitions, requeue }: SendingOutcome): Record<string, unknown> {
  const settled = transitions.filter(({ to }) => to === 'settled').length
  const { kind, account_nonce, attempts } = sending
  return { kind, account_nonce, attempts: attempts.length, payments: payments.length, settled, requeued: requeue.length }
}

/** Reads the open transactions and sends all of them again: the previous writer may have died between storing and sending. */
export async function takeOver(deps: WriterDeps, guard: WriterState['guard']): Promise<WriterState> {
  const state: WriterState = {
    guard,
    open: [],
    next_nonce: null,
    settle_alone: new Set(),
    batch_there: false,
    batch_checked_ms: Number.NEGATIVE_INFINITY,
    deploys: 0,
    reorg_checked_ms: Number.NEGATIVE_INFINITY,
  }
  const sendings = await deps.store.payments.open_sendings(deps.wallet.account)
  state.open = await Promise.all(sendings.map((sending) => loadSending(deps, sending)))
  for (const open of state.open) await broadcast(deps, state, open)
  return state
}

async function loadSending({ store }: WriterDeps, sending: WalletSending): Promise<OpenSending> {
  const payments = await store.payments.carried_by(sending.wallet, sending.account_nonce)
  return { sending, payments, broadcast_ms: Number.NEGATIVE_INFINITY, overdue: false }
}
