import type { FeesNow, Sent } from '../../ports/chain.ts'
import type { Payment, Sending, SendingAttempt } from '../../ports/payments.ts'
import type { Call } from './batch-contract.ts'
import { feesFor } from './gas-budget.ts'
import { keyOf } from './wallet-outcome.ts'
import { orOutOfStep, type OpenSending, type WriterDeps, type WriterState } from './writer-rules.ts'

type Fees = Pick<SendingAttempt, 'max_fee_wei' | 'priority_fee_wei'>

/**
 * Signs a call with the next account nonce, stores it with its bytes, ties the payments to it, and only then gives it to a node. Throws an
 * OutOfStepError when the store refuses or does not answer, in which case nothing was sent.
 */
export async function sendNew(deps: WriterDeps, state: WriterState, call: Call, payments: Payment[], fees: FeesNow): Promise<void> {
  const account_nonce = state.next_nonce ?? (await nextNonce(deps))
  await store(deps, state, call, payments, account_nonce, capped(feesFor(fees), deps.rules.max_fee_wei))
}

/** Uses up an account nonce for which no bytes are kept: nothing behind it could be mined otherwise. */
export async function plugGap(deps: WriterDeps, state: WriterState, account_nonce: number, call: Call): Promise<void> {
  await store(deps, state, call, [], account_nonce, capped(feesFor(await deps.sender.fees()), deps.rules.max_fee_wei))
}

/** The first account nonce that neither the store nor the chain has seen used. */
async function nextNonce({ store: { payments }, sender, wallet }: WriterDeps): Promise<number> {
  const [stored, mined] = await Promise.all([payments.last_account_nonce(wallet.address), sender.account_nonce(wallet.address)])
  return Math.max(mined, stored === null ? 0 : stored + 1)
}

async function store(
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
export function attemptOf(
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
export function capped({ max_fee_wei, priority_fee_wei }: Fees, most_wei: bigint): Fees {
  const max = max_fee_wei < most_wei ? max_fee_wei : most_wei
  return { max_fee_wei: max, priority_fee_wei: priority_fee_wei < max ? priority_fee_wei : max }
}
