import type { Gauge, GaugeValue, Telemetry } from '../../ports/telemetry.ts'
import type { Store } from '../../ports/store.ts'
import type { Bodies } from '../admission/bodies.ts'
import type { ObservedFlow } from '../admission/slots.ts'
import { ADMISSION_RULES } from '../admission/rules.ts'
import { limits } from '../limits.ts'
import { LOG_RULES } from '../log/rules.ts'
import type { GasSeen } from '../payments/gas-budget.ts'
import type { History } from './history.ts'
import { WATCHED } from './ring.ts'

/** What is shown of a process beside its counters. All of it is in memory already, or read every ten seconds; reading the metrics asks nobody. */
export interface RoomParts {
  history: Pick<History, 'record' | 'last'>
  store: Pick<Store, 'waiting'> & { log: Pick<Store['log'], 'head' | 'waiting_since'> }
  signing: { waiting(): number } | null
  heavy: { waiting(): number }
  /** Null where no receipts log is kept. */
  log_queue: { waiting(): number; dropped(): number } | null
  held(): ReadonlyMap<string, boolean>
  following(): number
  gas(): readonly (GasSeen | null)[]
  connections: { count(): number; closed(): Readonly<Record<string, number>> }
  source_reads_daily: number
  source_reads_used(): Promise<number>
  /** Asks the chain what the gas wallets hold; remembered for seconds. Never rejects. */
  lookAtGas(): Promise<unknown>
  now_ms(): number
}

type Parts = Pick<Telemetry, 'watch'>

/** Looking at a gas wallet costs requests of a chain that may count them. */
const GAS_EVERY = 6

function one(value: number | null): GaugeValue[] {
  return value === null ? [] : [{ labels: {}, value }]
}

function gauge(name: string, help: string, read: Gauge['read'], kind: Gauge['kind'] = 'gauge'): Gauge {
  return { name, help, kind, read }
}

/** Calls under way, and how late the process runs. */
export function watchFlow(
  telemetry: Parts,
  { in_flight, waiting, clients }: ObservedFlow,
  bodies: Pick<Bodies, 'held_bytes'>,
  lag_ms: () => number,
): void {
  const tiers = () => Object.entries(in_flight()).map(([tier, value]) => ({ labels: { tier }, value }))
  telemetry.watch(gauge('assay_calls_in_flight', 'Calls that are running now, by who is to pay.', tiers))
  telemetry.watch(
    gauge('assay_calls_waiting', 'Free calls, and requests that are no calls, that wait for their turn.', () => one(waiting())),
  )
  telemetry.watch(gauge('assay_request_bodies_bytes', 'Memory that request bodies hold.', () => one(bodies.held_bytes())))
  telemetry.watch(gauge('assay_call_clients', 'Clients with calls in flight.', () => one(clients())))
  telemetry.watch(gauge('assay_event_loop_lag_ms', 'How late the event loop runs, the least of three readings.', () => one(lag_ms())))
}

/** Queues, settlement, chain, log, leases and streams. What it returns reads what has to be asked for, and is called every ten seconds. */
export function watchRooms(telemetry: Parts, parts: RoomParts): Pick<History, 'record'> {
  const log: LogSeen = { size: null, oldest_ms: null }
  const sources: SourceReadsSeen = { used: null }
  for (const found of [...queues(parts), ...standing(parts), ...receiptsLog(parts, log), ...others(parts)]) telemetry.watch(found)
  for (const found of [...gas(parts), sourceReads(parts, sources)]) telemetry.watch({ ...found, operator: true })
  let round = 0
  return {
    record: async () => {
      if (round++ % GAS_EVERY === 0) await parts.lookAtGas()
      const reading = parts.source_reads_used().catch(() => null)
      await Promise.all([parts.history.record(), parts.log_queue === null ? null : lookAtLog(parts, log)])
      sources.used = await reading
    },
  }
}

interface LogSeen {
  size: number | null
  oldest_ms: number | null
}

async function lookAtLog({ store, now_ms }: RoomParts, seen: LogSeen): Promise<void> {
  try {
    const [head, since_ms] = await Promise.all([store.log.head(), store.log.waiting_since()])
    seen.size = head?.size ?? 0
    seen.oldest_ms = since_ms === null ? 0 : Math.max(0, now_ms() - since_ms)
  } catch {
    // The store's own gauge says that it is down; how long entries wait is then not known.
    seen.size = null
    seen.oldest_ms = null
  }
}

function queues({ store, signing, heavy, log_queue }: RoomParts): Gauge[] {
  const depths = () => [
    { labels: { queue: 'store' }, value: store.waiting() },
    { labels: { queue: 'signing' }, value: signing?.waiting() ?? 0 },
    { labels: { queue: 'heavy' }, value: heavy.waiting() },
    { labels: { queue: 'receipts_log' }, value: log_queue?.waiting() ?? 0 },
  ]
  const bounds = Object.entries({
    calls: ADMISSION_RULES.free_in_flight,
    store: limits.store_waiting,
    signing: limits.calls_in_flight,
    heavy: limits.heavy_queue,
    receipts_log: LOG_RULES.gathered,
  }).map(([queue, value]) => ({ labels: { queue }, value }))
  return [
    gauge('assay_queue_depth', 'What waits inside this process, by queue.', depths),
    gauge('assay_queue_limit', 'How much may wait, by queue.', () => bounds),
  ]
}

function standing({ history }: RoomParts): Gauge[] {
  const now = () => history.last()
  const sources = () => {
    const stands = now()
    return WATCHED.flatMap((source) => {
      const up = stands?.sources[source] ?? null
      return up === null ? [] : [{ labels: { source }, value: Number(up) }]
    })
  }
  const open = () => Object.entries(now()?.open ?? {}).map(([state, value]) => ({ labels: { state }, value }))
  return [
    gauge('assay_source_up', 'Whether the store and the sources answer.', sources),
    gauge('assay_payments_open', 'Payments that are not closed, by state; a thousand stands for more.', open),
    gauge('assay_payments_overdue', 'Payments that are open for longer than they should be.', () => one(now()?.overdue ?? null)),
    gauge('assay_chain_head_age_s', 'Age of the newest block that was seen.', () => one(now()?.head_age_s ?? null)),
  ]
}

function gas({ gas: wallets }: RoomParts): Gauge[] {
  const row = (valueOf: (seen: GasSeen) => bigint) => () =>
    wallets().flatMap((seen, index) => (seen === null ? [] : [{ labels: { wallet: String(index) }, value: gwei(valueOf(seen)) }]))
  return [
    gauge(
      'assay_gas_balance_gwei',
      'What each gas wallet held when it was last looked at.',
      row((seen) => seen.balance_wei),
    ),
    gauge(
      'assay_gas_comfort_gwei',
      'What it should hold at least.',
      row((seen) => seen.comfort_wei),
    ),
    gauge(
      'assay_gas_budget_left_gwei',
      'What each gas wallet may still spend on this UTC day.',
      row((seen) => seen.left_today_wei),
    ),
  ]
}

/** Whole gwei fit into the numbers of the format. */
function gwei(wei: bigint): number {
  return Number.parseInt((wei / 1_000_000_000n).toString(), 10)
}

interface SourceReadsSeen {
  used: number | null
}

function sourceReads({ source_reads_daily }: RoomParts, seen: SourceReadsSeen): Gauge {
  const left = () => one(seen.used === null ? null : Math.max(0, source_reads_daily - seen.used))
  return gauge('assay_source_reads_left', 'Free calls that may still read sources on this UTC day, of all callers.', left)
}

function receiptsLog({ log_queue }: RoomParts, seen: LogSeen): Gauge[] {
  const wait_s = () => (seen.oldest_ms === null ? null : seen.oldest_ms / 1_000)
  const dropped = () => one(log_queue?.dropped() ?? null)
  return [
    gauge('assay_receipts_log_size', 'Entries of the receipts log.', () => one(seen.size)),
    gauge('assay_receipts_log_oldest_waiting_s', 'How long the oldest entry waits to be appended; 0 when none does.', () => one(wait_s())),
    gauge('assay_receipts_log_dropped_total', 'Receipts that the log could not take.', dropped, 'counter'),
  ]
}

function others({ held, following, connections }: RoomParts): Gauge[] {
  // Not `job`: Prometheus puts the name of its scrape there, and renames what a process calls so.
  const leases = () => Array.from(held(), ([name, mine]) => ({ labels: { lease: name.split(':')[0] ?? name }, value: Number(mine) }))
  const closed = () => Object.entries(connections.closed()).map(([reason, value]) => ({ labels: { reason }, value }))
  return [
    gauge('assay_lease_held', 'Whether this process holds the lease; over all processes exactly one should.', leases),
    gauge('assay_event_streams', 'Invoices that are followed now.', () => one(following())),
    gauge('assay_connections', 'Open connections.', () => one(connections.count())),
    gauge('assay_connections_limit', 'How many may be open.', () => [{ labels: {}, value: limits.connections }]),
    gauge('assay_connections_closed_total', 'Connections closed to make room, and new ones that found none.', closed, 'counter'),
  ]
}
