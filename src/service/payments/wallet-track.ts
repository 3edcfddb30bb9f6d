import type { TransactionReceipt } from '../../ports/chain.ts'
import type { Closing } from '../../ports/payments.ts'
import type { GasBudget } from './gas-budget.ts'
import { keyOf, outcomeOf, outcomeOfUnmined, type Outcome } from './wallet-outcome.ts'
import { isCancel, pushOn, slotLost } from './wallet-replace.ts'
import { closeRows, keyText, OutOfStepError, type OpenSending, type WriterDeps, type WriterState } from './writer-rules.ts'

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
  await write(deps, state, open, outcome, !cancelled)
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
  await write(deps, state, open, outcome, false)
  await finish(deps, state, open)
}

/** Rows first, then the sending: a crash between the two makes both happen again, to no effect. */
async function write(deps: WriterDeps, state: WriterState, open: OpenSending, outcome: Outcome, tried: boolean): Promise<void> {
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
