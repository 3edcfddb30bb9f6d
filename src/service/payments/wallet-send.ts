import type { ChainRead, FeesNow, Sent, TransactionReceipt } from '../../ports/chain.ts'
import type { Closing, Payment, PaymentKey, Sending, SendingAttempt } from '../../ports/payments.ts'
import { decodeBool, decodeUint } from '../../pure/payments/abi.ts'
import { balanceCall, blacklistedCall, PAUSED_CALL } from '../../pure/payments/token-calls.ts'
import { type Call, failedItems, selfTransfer } from './batch-contract.ts'
import { type Evidence, evidenceOf, proofIn, usedStates } from './evidence.ts'
import { closeRows, keyText, type OpenSending, orOutOfStep, OutOfStepError, type WriterDeps, type WriterState } from './writer-rules.ts'
import { feesFor, type GasBudget } from './gas-budget.ts'

/** Why a payment is unknown whose block is gone; its transaction is to be sent again. */
export const REORGANISED = 'reorganised'
const EXPIRED = 'authorization_expired'

/** What becomes of the payments of a sending. Those to requeue are unused and have life left. */
interface Outcome {
  closings: Closing[]
  requeue: PaymentKey[]
}

/**
 * Judges the payments of a mined transaction by the logs of its receipt. A payment without proof there may have been settled by a stranger
 * who sent the same authorization, which is as good. Refused is said only of what was tried and stands unused, and of what was used for
 * something else. Null when the chain gave no clear answer: to be asked again. Rejects as the chain does.
 */
async function outcomeOf(deps: WriterDeps, { sending, payments }: OpenSending, receipt: TransactionReceipt): Promise<Outcome | null> {
  const proofs = payments.map((payment) => proofIn(receipt, payment, deps.source.token))
  const closings = payments.flatMap((payment, index): Closing[] => {
    const settled_at = proofs[index] ?? null
    return settled_at === null ? [] : [{ ...keyOf(payment), to: 'settled', settled_at }]
  })
  const missing = payments.filter((_, index) => (proofs[index] ?? null) === null)
  if (missing.length === 0) return { closings, requeue: [] }
  const failed = failedItems(receipt, deps.batch?.address ?? null)
  const tried = (payment: Payment) => sending.kind === 'single' || failed.has(payments.indexOf(payment))
  const rest = await withoutProof(deps, missing, receipt, tried)
  return rest === null ? null : { closings: [...closings, ...rest.closings], requeue: rest.requeue }
}

/** Judges payments whose transaction was never mined and never will be, as its account nonce went to another. */
async function outcomeOfUnmined(deps: WriterDeps, payments: readonly Payment[]): Promise<Outcome | null> {
  return payments.length === 0 ? { closings: [], requeue: [] } : withoutProof(deps, payments, null, () => false)
}

async function withoutProof(
  deps: WriterDeps,
  payments: readonly Payment[],
  receipt: TransactionReceipt | null,
  tried: (payment: Payment) => boolean,
): Promise<Outcome | null> {
  // The block of the receipt, so that a node that is behind says that it is, and not that nothing was used.
  const at = receipt?.block_number
  const used = await usedStates(deps.source, payments, at)
  if (used.includes(null)) return null
  const outcome: Outcome = { closings: [], requeue: [] }
  for (const [index, payment] of payments.entries()) {
    // It was settled once and its answer left: until it has run out anybody may execute it, and the reconciler closes it.
    const answered = payment.reason === REORGANISED
    if (used[index] === true) {
      outcome.closings.push(lostIfAnswered(payment, closingOf(payment, await evidenceOf(deps.source, payment, true))))
    } else if (receipt !== null && tried(payment)) {
      const reason = await refusalReason(deps, payment, receipt)
      if (answered && reason !== EXPIRED) continue
      outcome.closings.push(lostIfAnswered(payment, { ...keyOf(payment), to: 'refused', reason, transaction: receipt.transaction_hash }))
    } else if (hasLife(deps, payment)) {
      outcome.requeue.push(keyOf(payment))
    } else if (!answered) {
      outcome.closings.push({ ...keyOf(payment), to: 'refused', reason: 'out_of_time', transaction: payment.transaction })
    }
  }
  return outcome
}

/** What was settled and answered once is lost and never called refused, whatever took its transfer away: the ledger must show it. */
export function lostIfAnswered(payment: Payment, closing: Closing): Closing {
  return closing.to === 'refused' && payment.reason === REORGANISED ? { ...closing, to: 'lost' } : closing
}

/** Enough of its window is left to send it now. */
export function hasLife({ clock, rules }: Pick<WriterDeps, 'clock' | 'rules'>, payment: Payment): boolean {
  return BigInt(Math.ceil(clock.now_ms() / 1_000) + rules.life_s) <= payment.valid_before_s
}

/** The move that evidence of a used authorization allows. */
export function closingOf(payment: Payment, evidence: Evidence): Closing {
  const key = keyOf(payment)
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

export function keyOf({ payer, nonce }: PaymentKey): PaymentKey {
  return { payer, nonce }
}

/** Why the token most likely refused it, by what stands at that block: acts of the payer are told apart from what befell it. */
async function refusalReason(deps: WriterDeps, payment: Payment, receipt: TransactionReceipt): Promise<string> {
  const { chain, token } = deps.source
  const header = await chain.header(receipt.block_number)
  if (header !== null && BigInt(header.timestamp_s) >= payment.valid_before_s) return EXPIRED
  const asked = [PAUSED_CALL, blacklistedCall(payment.payer), blacklistedCall(payment.to), balanceCall(payment.payer)]
  const reads: ChainRead[] = asked.map((data) => ({ kind: 'call', to: token, data }))
  const [code, ...answers] = await chain.read([{ kind: 'code', address: payment.payer }, ...reads], receipt.block_number)
  const [paused, payer_blocked, recipient_blocked] = answers.map((answer) => answer.ok && decodeBool(answer.data) === true)
  if (paused === true) return 'token_paused'
  if (payer_blocked === true) return 'payer_blocked'
  if (recipient_blocked === true) return 'recipient_blocked'
  const held = answers[3]
  const balance = held?.ok === true ? decodeUint(held.data) : null
  if (balance !== null && balance < payment.value_minor) return 'insufficient_balance'
  // An account without code cannot take a signature back.
  return code?.ok === true && code.data !== '0x' ? 'signature_withdrawn' : 'transfer_refused'
}

type Fees = Pick<SendingAttempt, 'max_fee_wei' | 'priority_fee_wei'>

/**
 * Signs a call with the next account nonce, stores it with its bytes, ties the payments to it, and only then gives it to a node. Throws an
 * OutOfStepError when the store refuses or does not answer, in which case nothing was sent.
 */
export async function sendNew(deps: WriterDeps, state: WriterState, call: Call, payments: Payment[], fees: FeesNow): Promise<void> {
  const account_nonce = state.next_nonce ?? (await nextNonce(deps))
  await storeSending(deps, state, call, payments, account_nonce, capped(feesFor(fees), deps.rules.max_fee_wei))
}

/** Uses up an account nonce for which no bytes are kept: nothing behind it could be mined otherwise. */
async function plugGap(deps: WriterDeps, state: WriterState, account_nonce: number, call: Call): Promise<void> {
  await storeSending(deps, state, call, [], account_nonce, capped(feesFor(await deps.sender.fees()), deps.rules.max_fee_wei))
}

/** The first account nonce that neither the store nor the chain has seen used. */
async function nextNonce({ store: { payments }, sender, wallet }: WriterDeps): Promise<number> {
  const [stored, mined] = await Promise.all([payments.last_account_nonce(wallet.address), sender.account_nonce(wallet.address)])
  return Math.max(mined, stored === null ? 0 : stored + 1)
}

async function storeSending(
  deps: WriterDeps,
  state: WriterState,
  call: Call,
  payments: Payment[],
  account_nonce: number,
  fees: Fees,
): Promise<void> {
  const now_ms = deps.clock.now_ms()
  const attempt = attemptOf(deps, { ...call, account_nonce }, fees)
  const sending = { ...call, wallet: deps.wallet.address, account_nonce, created_ms: now_ms }
  const write = deps.store.payments.add_sending(sending, attempt, payments.map(keyOf), state.guard)
  await orOutOfStep(write, 'the store did not take the transaction')
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

/** Signs one attempt of a sending. The same fields give the same bytes. */
function attemptOf(
  { wallet, clock }: Pick<WriterDeps, 'wallet' | 'clock'>,
  { account_nonce, to, data, gas }: Pick<Sending, 'account_nonce' | 'to' | 'data' | 'gas'>,
  fees: Fees,
): SendingAttempt {
  const { raw, hash } = wallet.sign({ account_nonce, to, data, gas, ...fees })
  return { raw, hash, ...fees, stored_ms: clock.now_ms() }
}

/** Gives the newest bytes to a node. What it says closes nothing: receipts do. Never rejects; a lost answer leaves the sending as it is. */
export async function broadcast(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const { sending } = open
  open.broadcast_ms = deps.clock.steady_ms()
  const raw = sending.attempts.at(-1)?.raw
  if (raw === undefined) return
  let sent: Sent
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
      // By these very bytes, perhaps; by others when the wallet's key is used elsewhere.
      state.next_nonce = null
      return
    case 'refused':
      deps.log.warn({ account_nonce: sending.account_nonce, message: sent.message.slice(0, 200) }, 'a node did not take a transaction')
  }
}

/** Never above what this service pays, and no tip above the whole. */
function capped({ max_fee_wei, priority_fee_wei }: Fees, most_wei: bigint): Fees {
  const max = max_fee_wei < most_wei ? max_fee_wei : most_wei
  return { max_fee_wei: max, priority_fee_wei: priority_fee_wei < max ? priority_fee_wei : max }
}

/** Nodes ask for 10 % more on both fees; 12.5 % leaves room for those that ask for a little more. */
const BUMP_PART = 8n
/** More than clocks of machines that are set differ by. */
const AHEAD_MS = 60_000
/** Gaps that are closed in one go; more will be closed in the next. */
const GAP_MAX = 16

/**
 * Looks after the transactions that no block has: gives their bytes to a node again, replaces the first in line by one that pays more, and
 * in the end by one that does nothing, so that the account nonce is used up and those behind it can be mined. `mined` counts the account
 * nonces that blocks have. Rejects as the chain does.
 */
async function pushOn(deps: WriterDeps, state: WriterState, mined: number): Promise<void> {
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

/** Milliseconds since a stored time. One from the future was written while a clock was ahead; it is taken for old, so that it does not wait for it. */
function ageOf(stored_ms: number, now_ms: number): number {
  return stored_ms > now_ms + AHEAD_MS ? Number.POSITIVE_INFINITY : now_ms - stored_ms
}

/** The first in line whose account nonce is used up though none of its attempts has a receipt, for long enough to be no delay of a node. */
function slotLost({ clock, rules }: WriterDeps, { sending }: OpenSending, mined: number): boolean {
  const last_ms = sending.attempts.at(-1)?.stored_ms ?? sending.created_ms
  return mined > sending.account_nonce && ageOf(last_ms, clock.now_ms()) >= rules.slot_lost_ms
}

/** Whether an attempt of a cancelled sending is the cancelling transaction itself: signing that again gives the same bytes. */
function isCancel(deps: WriterDeps, { sending }: OpenSending, attempt: SendingAttempt): boolean {
  const again = { ...selfTransfer(deps.wallet.address), account_nonce: sending.account_nonce }
  return sending.kind === 'cancel' && attemptOf(deps, again, feesOf(attempt)).raw === attempt.raw
}

async function replace(deps: WriterDeps, state: WriterState, open: OpenSending, last: SendingAttempt): Promise<void> {
  const { sending } = open
  const cancels = sending.kind !== 'cancel' && sending.attempts.length > deps.rules.bumps_max
  const wanted = feesFor(await deps.sender.fees())
  const fees = capped(
    {
      max_fee_wei: larger(bumped(last.max_fee_wei), wanted.max_fee_wei),
      priority_fee_wei: larger(bumped(last.priority_fee_wei), wanted.priority_fee_wei),
    },
    deps.rules.max_fee_wei,
  )
  // At the ceiling no node would take it as a replacement: it waits for cheaper times.
  if (fees.max_fee_wei < bumped(last.max_fee_wei) || fees.priority_fee_wei < bumped(last.priority_fee_wei)) return
  const change: Call | null = cancels ? selfTransfer(deps.wallet.address) : null
  const attempt = attemptOf(deps, { ...sending, ...change }, fees)
  const write = deps.store.payments.add_attempt(sending.wallet, sending.account_nonce, attempt, change, state.guard)
  await orOutOfStep(write, 'the store did not take the replacement')
  open.sending = { ...sending, ...change, attempts: [...sending.attempts, attempt] }
}

/** Account nonces before the first open sending that the chain has not used: their bytes are sent again, or nothing is sent in their place. */
async function fillGap(deps: WriterDeps, state: WriterState, mined: number): Promise<void> {
  const { wallet, store, log } = deps
  const first = state.open[0]?.sending.account_nonce ?? mined
  log.warn({ wallet: wallet.address, from: mined, to: first }, 'account nonces are missing on the chain')
  let reopened = false
  for (let nonce = mined; nonce < Math.min(first, mined + GAP_MAX); nonce++) {
    if (await store.payments.reopen_sending(wallet.address, nonce, state.guard)) reopened = true
    else await plugGap(deps, state, nonce, selfTransfer(wallet.address))
  }
  if (reopened) throw new OutOfStepError('a finished transaction is open again')
}

function feesOf({ max_fee_wei, priority_fee_wei }: SendingAttempt): Pick<SendingAttempt, 'max_fee_wei' | 'priority_fee_wei'> {
  return { max_fee_wei, priority_fee_wei }
}

function bumped(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / BUMP_PART + 1n
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

interface Mined {
  open: OpenSending
  receipt: TransactionReceipt
  cancelled: boolean
}

/** Looks for receipts of open sendings, by all their attempts, closes what they prove, and looks after the rest. Rejects as the chain does. */
export async function track(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<void> {
  if (state.open.length === 0) return
  // First, since the chain may not answer for long.
  await callUnknown(deps, state)
  // One question in place of one for each attempt: a transaction whose account nonce is not used up yet has no receipt.
  const used = await deps.sender.account_nonce(deps.wallet.address)
  const candidates = state.open.filter(({ sending }) => sending.account_nonce < used)
  const found = await Promise.all(candidates.map((open) => minedAttempt(deps, open)))
  for (const mined of found.filter((one) => one !== null)) await finishMined(deps, state, mined, budget)
  const [front] = state.open
  if (front !== undefined && slotLost(deps, front, used)) await finishLost(deps, state, front)
  await pushOn(deps, state, used)
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
  const outcome = cancelled ? await outcomeOfUnmined(deps, open.payments) : await outcomeOf(deps, open, receipt)
  if (outcome === null) return
  await writeOutcome(deps, state, open, outcome, !cancelled)
  const raw_chars = open.sending.attempts.at(-1)?.raw.length ?? 0
  await budget.book(receipt.gas_used * receipt.effective_gas_price, raw_chars)
  await finish(deps, state, open)
}

/** Another transaction of the wallet has the account nonce. Whoever has the key besides us, no payment suffers. */
async function finishLost(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const outcome = await outcomeOfUnmined(deps, open.payments)
  if (outcome === null) return
  const { account_nonce } = open.sending
  deps.log.error(
    { wallet: deps.wallet.address, account_nonce },
    'an account nonce was used by a transaction that this service does not know',
  )
  await writeOutcome(deps, state, open, outcome, false)
  await finish(deps, state, open)
}

/** Rows first, then the sending: a crash between the two makes both happen again, to no effect. */
async function writeOutcome(deps: WriterDeps, state: WriterState, open: OpenSending, outcome: Outcome, tried: boolean): Promise<void> {
  await deps.reach('before_settled_row')
  // What was in a batch that did not carry it through goes alone, so that it cannot fail with others again.
  if (tried) for (const key of outcome.requeue) state.alone.add(keyText(key))
  for (const closing of outcome.closings) state.alone.delete(keyText(closing))
  await closeRows(deps, state.guard, outcome.closings)
  if (outcome.requeue.length > 0 && !(await deps.store.payments.requeue(outcome.requeue, state.guard))) {
    throw new OutOfStepError('the store did not put payments back in line')
  }
  deps.log.info(counts(open, outcome), 'a settlement transaction is done')
}

async function finish(deps: WriterDeps, state: WriterState, open: OpenSending): Promise<void> {
  const { wallet, account_nonce } = open.sending
  if (!(await deps.store.payments.finish_sending(wallet, account_nonce, state.guard))) {
    throw new OutOfStepError('the store did not finish the transaction')
  }
  state.open = state.open.filter((one) => one !== open)
  // Looked for at once, since batches wait for it.
  if (open.sending.kind === 'deploy') state.batch_checked_ms = Number.NEGATIVE_INFINITY
}

/** After so long nobody should wait for them; the sending stays open and may settle them yet. */
async function callUnknown(deps: WriterDeps, state: WriterState): Promise<void> {
  const before_ms = deps.clock.now_ms() - deps.rules.unknown_ms
  const overdue = state.open.filter((open) => !open.overdue && open.sending.created_ms <= before_ms)
  const closings = overdue.flatMap(({ payments, sending }): Closing[] => {
    const transaction = sending.attempts.at(-1)?.hash ?? null
    return payments.map((payment) => ({ ...keyOf(payment), to: 'unknown', reason: 'no_receipt', transaction }))
  })
  await closeRows(deps, state.guard, closings)
  for (const open of overdue) open.overdue = true
}

function counts({ sending, payments }: OpenSending, { closings, requeue }: Outcome): Record<string, unknown> {
  const settled = closings.filter(({ to }) => to === 'settled').length
  const { kind, account_nonce, attempts } = sending
  return { kind, account_nonce, attempts: attempts.length, payments: payments.length, settled, requeued: requeue.length }
}
