import type { SendingAttempt } from '../../ports/payments.ts'
import { selfTransfer, type Call } from './batch-contract.ts'
import { feesFor } from './gas-budget.ts'
import { attemptOf, broadcast, capped, plugGap } from './wallet-send.ts'
import { orOutOfStep, OutOfStepError, type OpenSending, type WriterDeps, type WriterState } from './writer-rules.ts'

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
export async function pushOn(deps: WriterDeps, state: WriterState, mined: number): Promise<void> {
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
export function slotLost({ clock, rules }: WriterDeps, { sending }: OpenSending, mined: number): boolean {
  const last_ms = sending.attempts.at(-1)?.stored_ms ?? sending.created_ms
  return mined > sending.account_nonce && ageOf(last_ms, clock.now_ms()) >= rules.slot_lost_ms
}

/** Whether an attempt of a cancelled sending is the cancelling transaction itself: signing that again gives the same bytes. */
export function isCancel(deps: WriterDeps, { sending }: OpenSending, attempt: SendingAttempt): boolean {
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
