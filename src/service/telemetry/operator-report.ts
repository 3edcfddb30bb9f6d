import type { CallCount, CallCountStore } from '../../ports/call-counts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LedgerSum, Payment } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import { type Currency, currencyOf } from '../../pure/networks.ts'
import { PAYMENT_STATES, type PaymentState } from '../../pure/payments/states.ts'
import type { SponsoredState, Sponsoring } from '../invoices/sponsored.ts'
import type { GasView } from '../payments/gas-watch.ts'
import type { GasStatus } from '../payments/writer-rules.ts'
import { SCARCE_RESOURCES } from '../scarce/register.ts'
import type { ScarceResource } from '../scarce/resource.ts'
import { outcomeClass, type OutcomeClass } from './history.ts'
import type { Log } from '../../ports/log.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/** The facts of the operator page: income, payments, gas, conversion, tools, reference tables and leases. All days are UTC. */

/** Days that the page shows. */
const REPORT_DAYS = 30
const GAS_DAYS = 7
const OPEN_STATES: readonly PaymentState[] = ['claimed', 'prepared', 'settling', 'unknown']
const OPEN_ROWS = 1_000

/** Minor units of each currency; they are never added. */
export type Money = Readonly<Record<Currency, bigint>>

export interface DayReport {
  /** YYYY-MM-DD. */
  day: string
  revenue: Money
  settled: number
  calls: Record<OutcomeClass, number>
  /** Calls answered without a payment, answered with one, and asked to pay. */
  free: number
  paid: number
  payment_required: number
}

interface ToolReport {
  tool: string
  calls: number
  failed: number
  revenue: Money
}

interface StateReport {
  state: PaymentState
  count: number
  value: Money
  /** Age of the oldest payment that is still open, in seconds; null for states that are final, and where none is open. */
  oldest_s: number | null
}

interface GasReport {
  wallet: string
  balance_wei: bigint
  budget_left_wei: bigint
  /** Average of the last seven full days. */
  spent_daily_wei: bigint
  /** Null while nothing was spent. */
  days_left: number | null
}

interface DatasetReport {
  name: string
  /** Date of the publisher, or of the compilation. */
  dated: string
  rows: number
  age_days: number
  /** Age from which it should be refreshed. */
  limit_days: number
}

/** Use of a scarce resource in this process; null where it is counted elsewhere. */
interface ResourceReport extends Pick<ScarceResource, 'name' | 'scope' | 'per' | 'bounds' | 'code'> {
  used: number | null
}

/** Rows of the register with their use, as the gauges show it. */
export function resourceReports({ values }: Pick<Telemetry, 'values'>): ResourceReport[] {
  return SCARCE_RESOURCES.map(({ name, scope, per, bounds, code, metric }) => {
    const found = metric === undefined ? [] : values(metric.name)
    const own = found.filter(({ labels }) => metric?.queue === undefined || labels['queue'] === metric.queue)
    const used = own.length === 0 ? null : own.reduce((sum, { value }) => sum + value, 0)
    return { name, scope, per, bounds, code, used }
  })
}

export interface OperatorReport {
  at: string
  days: DayReport[]
  tools: ToolReport[]
  states: StateReport[]
  /** Payments that were answered and then lost by a reorg, or given up: their payers may be owed a refund if the chain moved the money. */
  refund_candidates: Payment[]
  gas: GasReport[]
  /** Gas against prices on each network. */
  gas_prices: readonly GasView[]
  /** Sweeps and relays of the day; null where the gas wallet makes none. */
  sponsored: SponsoredState | null
  datasets: DatasetReport[]
  resources: readonly ResourceReport[]
  /** Webhook deliveries in the store that wait, and those that were given up. */
  webhooks: { pending: number; dead: number }
  leases: { name: string; holder: string; expires_in_s: number }[]
}

export interface ReportSource {
  store: Pick<Store, 'call_counts' | 'leases' | 'payments' | 'webhooks'>
  clock: Clock
  /** Gas wallets as they were last read; null before. */
  gas(): readonly (GasStatus | null)[]
  gas_prices(): readonly GasView[]
  sponsoring: Pick<Sponsoring, 'look'> | null
  datasets(): readonly DatasetReport[]
  resources(): readonly ResourceReport[]
}

export async function operatorReport(source: ReportSource): Promise<OperatorReport> {
  const { store, clock } = source
  const now_ms = clock.now_ms()
  const today = Math.floor(now_ms / DAY_MS)
  const from_day = today - REPORT_DAYS + 1
  const [counts, sums, open, lost, leases, webhooks, gas] = await Promise.all([
    store.call_counts.since(from_day),
    store.payments.ledger_sums({ from_ms: from_day * DAY_MS }),
    store.payments.in_states(OPEN_STATES, { final: null, updated_before_ms: now_ms, limit: OPEN_ROWS }),
    store.payments.ledger({ state: 'lost', limit: 100 }),
    store.leases(now_ms),
    store.webhooks.counts(),
    Promise.all(source.gas().flatMap((seen) => (seen === null ? [] : [gasReport(store, seen, today)]))),
  ])
  return {
    at: new Date(now_ms).toISOString(),
    days: Array.from({ length: REPORT_DAYS }, (_, index) => dayReport(from_day + index, counts, sums)),
    tools: toolReports(counts, sums),
    states: PAYMENT_STATES.map((state) => stateReport(state, sums, open, now_ms)),
    refund_candidates: lost,
    gas,
    gas_prices: source.gas_prices(),
    sponsored: (await source.sponsoring?.look()) ?? null,
    datasets: source.datasets().toSorted((one, other) => other.age_days / other.limit_days - one.age_days / one.limit_days),
    resources: source.resources(),
    webhooks,
    leases: leases.map(({ name, holder, until_ms }) => ({ name, holder, expires_in_s: Math.ceil((until_ms - now_ms) / 1_000) })),
  }
}

function moneyOf(sums: readonly LedgerSum[]): Money {
  const total = { USDC: 0n, EURC: 0n }
  for (const { asset, value_minor } of sums) total[currencyOf(asset)] += value_minor
  return total
}

function dayReport(day: number, counts: readonly CallCount[], sums: readonly LedgerSum[]): DayReport {
  const text = new Date(day * DAY_MS).toISOString().slice(0, 10)
  const settled = sums.filter((sum) => sum.day === text && sum.state === 'settled')
  const own = counts.filter((one) => one.day === day)
  const callsWith = (accepts: (outcome: string) => boolean) =>
    own.reduce((sum, { outcome, calls }) => sum + (accepts(outcome) ? calls : 0), 0)
  const ofClass = (name: OutcomeClass) => callsWith((outcome) => outcomeClass(outcome) === name)
  return {
    day: text,
    revenue: moneyOf(settled),
    settled: settled.reduce((sum, { count }) => sum + count, 0),
    calls: {
      answered: ofClass('answered'),
      payment_required: ofClass('payment_required'),
      refused: ofClass('refused'),
      failed: ofClass('failed'),
    },
    free: callsWith((outcome) => outcome === 'answered'),
    paid: callsWith((outcome) => outcome === 'paid' || outcome === 'PAYMENT_PENDING'),
    payment_required: ofClass('payment_required'),
  }
}

/** Most called first. */
function toolReports(counts: readonly CallCount[], sums: readonly LedgerSum[]): ToolReport[] {
  const tools = new Set([...counts.map(({ tool }) => tool), ...sums.map(({ tool }) => tool)])
  const reports = [...tools].map((tool): ToolReport => {
    const own = counts.filter((one) => one.tool === tool)
    const failed = own.filter(({ outcome }) => outcomeClass(outcome) === 'failed')
    const settled = sums.filter((sum) => sum.tool === tool && sum.state === 'settled')
    return {
      tool,
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
      failed: failed.reduce((sum, { calls }) => sum + calls, 0),
      revenue: moneyOf(settled),
    }
  })
  return reports.toSorted((one, other) => other.calls - one.calls || (one.tool < other.tool ? -1 : 1))
}

function stateReport(state: PaymentState, sums: readonly LedgerSum[], open: readonly Payment[], now_ms: number): StateReport {
  const own = sums.filter((sum) => sum.state === state)
  const since_ms = open.filter((payment) => payment.state === state).map(({ created_ms }) => created_ms)
  return {
    state,
    count: own.reduce((sum, { count }) => sum + count, 0),
    value: moneyOf(own),
    oldest_s: since_ms.length === 0 ? null : Math.max(0, Math.round((now_ms - Math.min(...since_ms)) / 1_000)),
  }
}

async function gasReport({ payments }: ReportSource['store'], seen: GasStatus, today: number): Promise<GasReport> {
  const { wallet } = seen
  const days = Array.from({ length: GAS_DAYS }, (_, index) => today - 1 - index)
  const spent = await Promise.all(days.map((day) => payments.gas_spent(wallet, day)))
  const spent_daily_wei = spent.reduce((sum, wei) => sum + wei, 0n) / BigInt(GAS_DAYS)
  return {
    wallet,
    balance_wei: seen.balance_wei,
    budget_left_wei: seen.left_today_wei,
    spent_daily_wei,
    days_left: spent_daily_wei === 0n ? null : Number.parseInt((seen.balance_wei / spent_daily_wei).toString(), 10),
  }
}

const DAY_MS = 86_400_000
const WRITE_MS = 60_000

interface CallCountParts {
  telemetry: Pick<Telemetry, 'snapshot'>
  counts: Pick<CallCountStore, 'add'>
  clock: Clock
  log: Log
}

/**
 * Adds the calls that this process counted to the stored counts of the day, every minute and at the stop. What a killed process had not
 * written, at most a minute, is missing from the counts; payments are never counted by these. Returns the function that writes the rest and
 * ends it.
 */
export function keepCallCounts(parts: CallCountParts): () => Promise<void> {
  const written = new Map<string, number>()
  let last = Promise.resolve()
  const write = () => {
    last = last.then(() => writeCounts(parts, written))
    return last
  }
  const timer = setInterval(() => void write(), WRITE_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    return write()
  }
}

/** A failed write is logged, and its calls are part of the next one. */
async function writeCounts({ telemetry, counts, clock, log }: CallCountParts, written: Map<string, number>): Promise<void> {
  try {
    const { calls } = await telemetry.snapshot()
    const day = Math.floor(clock.now_ms() / DAY_MS)
    const added = calls.flatMap(({ tool, outcome, count }): CallCount[] => {
      const more = count - (written.get(`${tool} ${outcome}`) ?? 0)
      return more > 0 ? [{ day, tool, outcome, calls: more }] : []
    })
    if (added.length > 0) await counts.add(added)
    for (const { tool, outcome, count } of calls) written.set(`${tool} ${outcome}`, count)
  } catch (error) {
    log.warn({ error: String(error) }, 'call counts were not stored; they are added to the next write')
  }
}
