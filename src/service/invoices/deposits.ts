import type { Chain } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { WaitingDeposit } from '../../ports/invoices.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { DEPOSIT_FACTORY, depositAddress, sweepCall, sweepGas } from '../../pure/contracts/deployment.ts'
import { balanceCall, decodeUint } from '../../pure/payments/token-calls.ts'
import { isChainFault } from '../chain-fault.ts'
import { INVOICE_RULES } from '../limits.ts'
import { takeEach } from '../payments/allowance.ts'
import type { CallSource, WalletCall } from '../payments/writer-rules.ts'
import { createSponsoring, type Sponsoring } from './sponsored.ts'

/** Age at which a negative answer about the factory is checked again. A factory that is there stays: its code has no way to remove itself. */
const RECHECK_MS = 10_000

/** Returns whether the chain has the factory of deposit addresses. Only the first call waits for the chain; without an answer it is absent. */
export function createFactoryCheck(chain: Pick<Chain, 'read'>, clock: SteadyClock): () => Promise<boolean> {
  let present: boolean | null = null
  let checked_ms = 0
  let checking: Promise<boolean> | null = null
  const check = async (): Promise<boolean> => {
    checked_ms = clock.steady_ms()
    try {
      const [code] = await chain.read([{ kind: 'code', address: DEPOSIT_FACTORY.address }])
      return (present = code?.ok === true && code.data !== '0x')
    } catch (error) {
      if (!isChainFault(error)) throw error
      return (present = false)
    }
  }
  return async () => {
    if (present === true) return true
    if (present === null || clock.steady_ms() - checked_ms >= RECHECK_MS) checking ??= check().finally(() => (checking = null))
    return present ?? (await checking) ?? false
  }
}

interface SweeperParts {
  store: Pick<Store, 'invoices' | 'take' | 'give_back' | 'used'>
  chain: Pick<Chain, 'read'>
  /** Address of the token. */
  token: string
  hasFactory(): Promise<boolean>
  clock: Clock & SteadyClock
  log: Log
  /** Left out where gas costs nothing. */
  sponsoring?: Pick<Sponsoring, 'sweepMinimum' | 'sweepBudgets' | 'sweepAgainMs'>
}

/**
 * Deposits that the gas wallet forwards to their merchants, many in one transaction, the largest first, within the day's shares of their
 * creators, senders and merchants. One beyond a share waits for the next day.
 */
export function createSweeper(parts: SweeperParts): CallSource {
  const { store, clock, token, sponsoring = createSponsoring(parts) } = parts
  let searched_ms = Number.NEGATIVE_INFINITY
  return {
    async next(isAffordable) {
      if (clock.steady_ms() - searched_ms < INVOICE_RULES.sweep_every_ms) return null
      searched_ms = clock.steady_ms()
      const now_ms = clock.now_ms()
      const least_minor = sponsoring.sweepMinimum()
      const waiting = await store.invoices.waiting_deposits(least_minor, now_ms, INVOICE_RULES.sweep_items)
      if (waiting.length === 0 || !(await parts.hasFactory()) || !(await isAffordable())) return null
      const held = await heldNow(parts, waiting, least_minor)
      // Stored before the transaction: after a crash the pause delays the sweep, and nothing is sent twice.
      const ids = waiting.map(({ invoice_id }) => invoice_id)
      await store.invoices.try_sweep(ids, now_ms, INVOICE_RULES.sweep_pause_ms)
      const granted = await withinShares(parts, sponsoring, held, now_ms)
      return granted.length === 0 ? null : sweepOf(token, granted)
    },
  }
}

/** Returns the deposits that are within all shares of the day; the others are put off. */
async function withinShares(
  { store, log }: SweeperParts,
  sponsoring: Pick<Sponsoring, 'sweepBudgets' | 'sweepAgainMs'>,
  held: readonly WaitingDeposit[],
  now_ms: number,
): Promise<WaitingDeposit[]> {
  const granted: WaitingDeposit[] = []
  const put_off: Record<string, string[]> = {}
  for (const deposit of held) {
    const budgets = sponsoring.sweepBudgets(deposit, await store.invoices.deposit_origin(deposit.invoice_id), now_ms)
    const taken = await takeEach(store, budgets)
    if (taken.granted) granted.push(deposit)
    else (put_off[budgets[taken.grants.length - 1]?.bucket ?? ''] ??= []).push(deposit.invoice_id)
  }
  const waiting = Object.values(put_off).flat()
  if (waiting.length === 0) return granted
  await store.invoices.put_off_sweep(waiting, sponsoring.sweepAgainMs(now_ms))
  const deposits = Object.fromEntries(Object.entries(put_off).map(([bucket, ids]) => [bucket, ids.length]))
  log.warn({ deposits }, "deposits are beyond a share of the day's sweeps and wait")
  return granted
}

/** Deposits whose address has at least the minimum now. Another sweep may have forwarded them in a block that is not final yet. */
async function heldNow({ chain, token }: SweeperParts, waiting: readonly WaitingDeposit[], least_minor: bigint): Promise<WaitingDeposit[]> {
  const balances = await chain.read(waiting.map((deposit) => ({ kind: 'call', to: token, data: balanceCall(depositAddress(deposit)) })))
  return waiting.filter((_, index) => {
    const balance = balances[index]
    return balance?.ok === true && (decodeUint(balance.data) ?? 0n) >= least_minor
  })
}

function sweepOf(token: string, deposits: readonly WaitingDeposit[]): WalletCall {
  return { kind: 'sweep', to: DEPOSIT_FACTORY.address, data: sweepCall(token, deposits), gas: sweepGas(deposits.length) }
}
