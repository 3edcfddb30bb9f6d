import { DETERMINISTIC_DEPLOYER } from '../../pure/contracts/batch-settler.ts'
import type { Closing, Payment } from '../../ports/payments.ts'
import { batchable, batchCall, deployCall, singleCall, type BatchContract, type Call } from './batch-contract.ts'
import { evidenceOf, usedStates } from './evidence.ts'
import type { GasBudget } from './gas-budget.ts'
import { closingOf, hasLife, keyOf } from './wallet-outcome.ts'
import { sendNew } from './wallet-send.ts'
import { closeRows, keyText, type WriterDeps, type WriterState } from './writer-rules.ts'

/** How often a missing batch contract is looked for. */
const BATCH_CHECK_MS = 10_000
/** Deployments that are tried under one lease: where two did nothing, the third would not either. */
const DEPLOYS_MAX = 2
/** Rows that are looked through for the next batch, in batches. */
const LOOK_AHEAD = 4

/**
 * Sends what waits, oldest first: batches of payers without code, and each other payment alone. Returns when to look again, in
 * milliseconds; nothing more is sent while the wallet cannot pay or has all its slots open. Rejects as the chain does.
 */
export async function sendWaiting(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  const { rules, clock, store, wallet } = deps
  const resting_ms = () => (state.open.length > 0 ? rules.poll_ms : rules.idle_ms)
  for (;;) {
    if (state.open.length >= rules.open_max) return rules.poll_ms
    const waiting = await store.payments.waiting(wallet.address, LOOK_AHEAD * rules.batch_items)
    const [oldest] = waiting
    if (oldest === undefined) return resting_ms()
    const left_ms = gatheringLeft(oldest, rules.gather_ms, clock.now_ms())
    if (left_ms > 0 && waiting.length < rules.batch_items) return Math.min(left_ms, resting_ms())
    if (!(await budget.check()).ok) return rules.idle_ms
    if (state.open.length > 0 && !budget.covers(costOf(state))) return rules.poll_ms
    const groups = groupsOf(deps, state, waiting)
    // Nothing moved: the token gave no clear answer, or the lease is gone. Neither gets better at once.
    if (groups.length === 0 || (await sendGroups(deps, state, groups)) === 0) return rules.poll_ms
  }
}

/** Milliseconds that the oldest still waits for others. A row from the future was written by a machine whose clock is ahead; it waits no hour. */
function gatheringLeft({ updated_ms }: Payment, gather_ms: number, now_ms: number): number {
  return updated_ms - now_ms > gather_ms ? 0 : updated_ms + gather_ms - now_ms
}

/** What the open transactions may cost at most. */
function costOf({ open }: WriterState): bigint {
  return open.reduce((sum, { sending }) => sum + sending.gas * (sending.attempts.at(-1)?.max_fee_wei ?? 0n), 0n)
}

/** Payments that share a transaction: one full or partial batch, and as many singles as have a slot. */
function groupsOf({ batch, rules }: WriterDeps, state: WriterState, waiting: readonly Payment[]): Payment[][] {
  const together = (payment: Payment) => batch !== null && state.batch_there && batchable(payment) && !state.alone.has(keyText(payment))
  const shared = waiting.filter(together).slice(0, rules.batch_items)
  const singles = waiting.filter((payment) => !together(payment))
  const open_singles = state.open.filter(({ sending }) => sending.kind !== 'batch').length
  const slots = Math.min(rules.open_singles_max - open_singles, rules.open_max - state.open.length - (shared.length > 0 ? 1 : 0))
  return [...(shared.length > 0 ? [shared] : []), ...singles.slice(0, Math.max(0, slots)).map((payment) => [payment])]
}

/** How many payments were sent or closed. */
async function sendGroups(deps: WriterDeps, state: WriterState, groups: Payment[][]): Promise<number> {
  const { good, closed } = await stillGood(deps, state, groups.flat())
  if (good.size === 0) return closed
  const fees = await deps.sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  for (const group of groups) {
    const payments = group.filter((payment) => good.has(payment))
    if (payments.length > 0) await sendNew(deps, state, callFor(deps, state, payments), payments, fees)
  }
  return good.size + closed
}

function callFor({ batch, source }: WriterDeps, state: WriterState, payments: Payment[]): Call {
  const [only] = payments
  if (only !== undefined && payments.length === 1) return singleCall(source.token, only)
  if (batch === null || !state.batch_there) throw new Error('there is no batch contract')
  return batchCall(batch, source.token, payments)
}

/** Those that are unused at the newest block and have life left. The others are closed, on evidence. */
async function stillGood(deps: WriterDeps, state: WriterState, payments: Payment[]): Promise<{ good: Set<Payment>; closed: number }> {
  const used = await usedStates(deps.source, payments)
  const closings: Closing[] = []
  const good = new Set<Payment>()
  for (const [index, payment] of payments.entries()) {
    const now = used[index] ?? null
    if (now === true) closings.push(closingOf(payment, await evidenceOf(deps.source, payment, true)))
    else if (now === false && hasLife(deps, payment)) good.add(payment)
    else if (now === false) closings.push({ ...keyOf(payment), to: 'refused', reason: 'out_of_time', transaction: null })
  }
  return { good, closed: await closeRows(deps, state.guard, closings) }
}

/** Learns whether the batch contract is there, and deploys it once where the deterministic deployer is. Until then payments settle singly. */
export async function checkBatch(deps: WriterDeps, state: WriterState): Promise<void> {
  const { batch, clock, chain, deploys } = deps
  const steady_ms = clock.steady_ms()
  const deploying = state.open.some(({ sending }) => sending.kind === 'deploy')
  if (batch === null || state.batch_there || deploying || steady_ms - state.batch_checked_ms < BATCH_CHECK_MS) return
  state.batch_checked_ms = steady_ms
  const [there, deployer] = await chain.read([
    { kind: 'code', address: batch.address },
    { kind: 'code', address: DETERMINISTIC_DEPLOYER },
  ])
  state.batch_there = there?.ok === true && there.data !== '0x'
  const can = deploys && state.deploys < DEPLOYS_MAX && deployer?.ok === true && deployer.data !== '0x'
  if (!state.batch_there && can) await deploy(deps, state, batch)
}

async function deploy(deps: WriterDeps, state: WriterState, batch: BatchContract): Promise<void> {
  deps.log.info({ address: batch.address }, 'deploying the batch contract')
  state.deploys++
  await sendNew(deps, state, deployCall(batch), [], await deps.sender.fees())
}
