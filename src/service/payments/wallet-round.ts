import { DETERMINISTIC_DEPLOYER, batchGas } from '../../pure/contracts/deployment.ts'
import type { PaymentTransition, Payment, WalletSending } from '../../ports/payments.ts'
import {
  StaleWriterStateError,
  transitionFor,
  hasTimeToSettle,
  pickPaymentKey,
  REORGANISED,
  sendNew,
  trackSendings,
} from './wallet-send.ts'
import {
  type BatchContract,
  type WalletCall,
  type GasBudget,
  applyTransitions,
  paymentKeyText,
  type CallSource,
  type WriterDeps,
  type WriterState,
} from './writer-rules.ts'
import { chainEvidence, inStatesOf, tokenOf, usedStates } from './settlement.ts'
import { ANY_TIME_MS } from './reconcile.ts'
import { INVOICE_RULES } from '../limits.ts'
import { CHANNEL_GAS, CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { addressWord, bytes32Word, uintWord, transferBytesCall, transferCall } from '../../pure/payments/token-calls.ts'
import { type Authorization, normaliseSignature } from '../../pure/payments/eip3009.ts'

/** Interval between checks for a missing batch contract. */
const BATCH_CHECK_MS = 10_000
/** Maximum number of deployments under one lease: after two without effect a third would have none either. */
const DEPLOYS_MAX = 2
/** Number of batches of rows that are read to fill the next batch. */
const LOOK_AHEAD_BATCHES = 4

/**
 * Sends waiting payments, oldest first: payers without code in batches, each other payment in a separate transaction. Returns the
 * milliseconds until the next round. Sends nothing while the wallet cannot pay or has its maximum of open transactions. Rejects as the
 * chain does.
 */
async function sendWaiting(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  const { rules, clock, store, wallet } = deps
  const resting_ms = () => (state.open.length > 0 ? rules.poll_ms : rules.idle_ms)
  for (;;) {
    if (state.open.length >= rules.open_max) return rules.poll_ms
    const waiting = await store.payments.waiting(wallet.account, LOOK_AHEAD_BATCHES * rules.batch_items)
    const [oldest] = waiting
    if (oldest === undefined) return resting_ms()
    const left_ms = gatheringLeft(oldest, rules.gather_ms, clock.now_ms())
    if (left_ms > 0 && waiting.length < rules.batch_items) return Math.min(left_ms, resting_ms())
    if (!(await budget.check()).ok) return rules.idle_ms
    if (state.open.length > 0 && !budget.covers(costOf(state))) return rules.poll_ms
    const groups = groupPayments(deps, state, waiting)
    // No progress: the token gave no clear answer, or the lease is lost. An immediate retry would not help.
    if (groups.length === 0 || (await sendGroups(deps, state, groups)) === 0) return rules.poll_ms
  }
}

/**
 * Returns the milliseconds that the oldest payment still waits for others. A row dated in the future was written by a machine whose clock
 * is ahead; it does not wait.
 */
function gatheringLeft({ updated_ms }: Payment, gather_ms: number, now_ms: number): number {
  return updated_ms - now_ms > gather_ms ? 0 : updated_ms + gather_ms - now_ms
}

/** Returns the maximum cost of the open transactions. */
function costOf({ open }: WriterState): bigint {
  return open.reduce((sum, { sending }) => sum + sending.gas * (sending.attempts.at(-1)?.max_fee_wei ?? 0n), 0n)
}

/** Groups payments that share a transaction: one full or partial batch, and as many single payments as may be open. */
function groupPayments({ batch, rules }: WriterDeps, state: WriterState, waiting: readonly Payment[]): Payment[][] {
  const isShared = (payment: Payment) =>
    batch !== null && state.batch_there && isBatchable(payment) && !state.settle_alone.has(paymentKeyText(payment))
  // A batch moves one token: that of the oldest payment.
  const batchable = waiting.filter(isShared)
  const shared = batchable.filter(({ asset }) => asset === batchable[0]?.asset).slice(0, rules.batch_items)
  const singles = waiting.filter((payment) => !isShared(payment))
  const open_singles = state.open.filter(({ sending }) => sending.kind !== 'batch').length
  const slots = Math.min(rules.open_singles_max - open_singles, rules.open_max - state.open.length - (shared.length > 0 ? 1 : 0))
  return [...(shared.length > 0 ? [shared] : []), ...singles.slice(0, Math.max(0, slots)).map((payment) => [payment])]
}

/** Returns how many payments were sent or decided. */
async function sendGroups(deps: WriterDeps, state: WriterState, groups: Payment[][]): Promise<number> {
  const { sendable, decided } = await findSendable(deps, state, groups.flat())
  if (sendable.size === 0) return decided
  const fees = await deps.sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  for (const group of groups) {
    const payments = group.filter((payment) => sendable.has(payment))
    if (payments.length > 0) await sendNew(deps, state, callFor(deps, state, payments), payments, fees)
  }
  return sendable.size + decided
}

function callFor({ batch, source }: WriterDeps, state: WriterState, payments: Payment[]): WalletCall {
  const [only] = payments
  if (only !== undefined && payments.length === 1) return singleCall(tokenOf(source, only), only)
  if (only === undefined || batch === null || !state.batch_there) throw new Error('there is no batch contract')
  return batchCall(batch, tokenOf(source, only), payments)
}

/** Selects payments that are unused at the newest block and valid for long enough. The others get a transition, on evidence. */
async function findSendable(
  deps: WriterDeps,
  state: WriterState,
  payments: Payment[],
): Promise<{ sendable: Set<Payment>; decided: number }> {
  const used = await usedStates(deps.source, payments)
  const transitions: PaymentTransition[] = []
  const sendable = new Set<Payment>()
  for (const [index, payment] of payments.entries()) {
    const is_used = used[index] ?? null
    if (is_used === true) transitions.push(transitionFor(payment, await chainEvidence(deps.source, payment, true)))
    else if (is_used === false && hasTimeToSettle(deps, payment)) sendable.add(payment)
    else if (is_used === false) transitions.push({ ...pickPaymentKey(payment), to: 'refused', reason: 'out_of_time', transaction: null })
  }
  return { sendable, decided: await applyTransitions(deps, state.guard, transitions) }
}

/**
 * Checks for the batch contract, and deploys it once where the deterministic deployer exists. Until then each payment settles in a separate
 * transaction.
 */
async function checkBatch(deps: WriterDeps, state: WriterState): Promise<void> {
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

interface CallsOfKind {
  kind: WalletSending['kind']
  source: CallSource | null
  isWithinBudget(): boolean
}

/** Sends the next transaction of a source, one at a time of each kind. */
async function sendFrom(
  deps: WriterDeps,
  state: WriterState,
  budget: GasBudget,
  { kind, source, isWithinBudget }: CallsOfKind,
): Promise<void> {
  const { rules, sender } = deps
  if (source === null || state.open.length >= rules.open_max || state.open.some(({ sending }) => sending.kind === kind)) return
  const isAffordable = async () => {
    const { ok } = await budget.check()
    return ok && budget.covers(costOf(state)) && isWithinBudget()
  }
  const call = await source.next(isAffordable)
  if (call === null) return
  const fees = await sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  await sendNew(deps, state, call, [], fees)
}

/** Interval between checks for payments that a reorganisation removed, and maximum number of rows of one check. */
const REORG_CHECK_MS = 5_000
const REORG_CHECK_ROWS = 500

/**
 * Runs one round of the writer: tracks what was sent, sends what waits, and returns the milliseconds until the next round. Rejects as the chain and
 * the store do.
 */
export async function runRound(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  await reopenReorganised(deps, state)
  await trackSendings(deps, state, budget)
  if (!state.batch_there && (await budget.check()).ok) await checkBatch(deps, state)
  const pause_ms = await sendWaiting(deps, state, budget)
  // Deposits of invoices are forwarded while enough of the day's gas budget is left for payments; a claim brings in more than it costs.
  const isWithinBudget = () => (budget.lastStatus()?.left_today_wei ?? 0n) * INVOICE_RULES.sweep_gas_parts >= deps.rules.daily_gas_wei
  await sendFrom(deps, state, budget, { kind: 'sweep', source: deps.sweeps, isWithinBudget })
  await sendFrom(deps, state, budget, { kind: 'channel', source: deps.channels, isWithinBudget: () => true })
  return pause_ms
}

/** Reopens the transactions of payments whose block a reorganisation removed, so that their bytes are sent again. */
async function reopenReorganised({ wallet, store, source, clock, log }: WriterDeps, state: WriterState): Promise<void> {
  const steady_ms = clock.steady_ms()
  if (steady_ms - state.reorg_checked_ms < REORG_CHECK_MS) return
  state.reorg_checked_ms = steady_ms
  const options = { final: null, updated_before_ms: ANY_TIME_MS, limit: REORG_CHECK_ROWS }
  const unknown = await inStatesOf(store, source, ['unknown'], options)
  const gone = unknown.filter(({ settler, reason }) => settler === wallet.account && reason === REORGANISED)
  const open = new Set(state.open.map(({ sending }) => sending.account_nonce))
  const nonces = new Set(gone.map(({ account_nonce }) => account_nonce).filter((nonce) => nonce !== null && !open.has(nonce)))
  let reopened = 0
  for (const nonce of nonces) {
    if (nonce !== null && (await store.payments.reopen_sending(wallet.account, nonce, state.guard))) reopened++
  }
  if (reopened === 0) return
  log.warn({ wallet: wallet.account, transactions: reopened }, 'transactions of a block that is gone are sent again')
  throw new StaleWriterStateError('finished transactions are open again')
}

/** settle(address,(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)[]) */
const SETTLE = '0xab347961'

/**
 * Fixed gas limits, so that settlement does not depend on a node's estimate. Measured on the test token: 83,200 for a first payment to a
 * recipient; the real token adds a proxy and blacklist reads. The signature check of a contract wallet comes on top.
 */
const GAS = { single: 150_000n, contract_payer: 350_000n, deploy: 1_500_000n }

function deployCall(contract: BatchContract): WalletCall {
  return { kind: 'deploy', to: DETERMINISTIC_DEPLOYER, data: contract.deploy_calldata, gas: GAS.deploy }
}

/** Returns the transaction of a single payment: the `bytes` function when only the token can verify the signature. */
export function singleCall(token: string, payment: Payment): WalletCall {
  if (payment.deposit_call !== null) {
    return { kind: 'single', to: CHANNEL_SETTLEMENT, data: payment.deposit_call, gas: CHANNEL_GAS.deposit }
  }
  const signature = payment.contract_payer ? null : normaliseSignature(payment.signature)
  const authorization = authorizationOf(payment)
  if (signature === null) {
    return { kind: 'single', to: token, data: transferBytesCall(authorization, payment.signature), gas: GAS.contract_payer }
  }
  return { kind: 'single', to: token, data: transferCall(authorization, signature), gas: GAS.single }
}

/** Returns the transaction of at most BATCH_ITEMS_MAX payments, all of payers without code. */
export function batchCall(contract: BatchContract, token: string, payments: readonly Payment[]): WalletCall {
  const items = payments.map((payment) => itemWords(payment)).join('')
  const data = SETTLE + addressWord(token) + uintWord(64n) + uintWord(BigInt(payments.length)) + items
  return { kind: 'batch', to: contract.address, data, gas: batchGas(payments.length) }
}

/** Returns true when a payment can be part of a batch. */
export function isBatchable(payment: Payment): boolean {
  return !payment.contract_payer && payment.deposit_call === null && normaliseSignature(payment.signature) !== null
}

function authorizationOf(payment: Payment): Authorization {
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  return { from: payer, to, value_minor, valid_after_s, valid_before_s, nonce }
}

/** Encodes an item in nine words, which are the arguments of the token call. */
function itemWords(payment: Payment): string {
  const signature = normaliseSignature(payment.signature)
  if (signature === null) throw new RangeError('no signature of an account')
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  const terms = addressWord(payer) + addressWord(to) + uintWord(value_minor) + uintWord(valid_after_s) + uintWord(valid_before_s)
  return terms + bytes32Word(nonce) + uintWord(BigInt(signature.v)) + bytes32Word(signature.r) + bytes32Word(signature.s)
}
