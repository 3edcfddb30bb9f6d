import type { Gauge, GaugeValue, Telemetry } from '../../ports/telemetry.ts'
import type { FeedState } from '../../ports/datasets.ts'
import { FEED_NAMES } from '../../pure/datasets/feeds.ts'
import type { ListAge } from '../../pure/checks/ofac.ts'
import type { Store } from '../../ports/store.ts'
import type { Bodies } from '../admission/bodies.ts'
import type { AdmissionLoad } from '../admission/slots.ts'
import { ADMISSION_RULES, limits, LOG_RULES } from '../limits.ts'
import { gasPriceGauges } from '../payments/gas-report.ts'
import type { GasView } from '../payments/gas-watch.ts'
import { type Sponsoring, sponsoredGauges } from '../invoices/sponsored.ts'
import type { GasStatus } from '../payments/writer-rules.ts'
import type { ReplicationWatch } from '../replication.ts'
import { type History, WATCHED } from './history.ts'

/**
 * Values of a process that are exported in addition to its counters. All of them are in memory or read every ten seconds, so that reading
 * the metrics sends no request.
 */
export interface RoomParts {
  history: Pick<History, 'record' | 'last'>
  store: Pick<Store, 'waiting' | 'breaker_open'> & { log: Pick<Store['log'], 'head' | 'waiting_since'> }
  /** Null where no receipts log is kept. */
  log_state: (() => { stopped: object | null }) | null
  signing: { waiting(): number } | null
  heavy: { waiting(): number }
  /** Null where no receipts log is kept. */
  log_queue: { waiting(): number; dropped(): number } | null
  held(): ReadonlyMap<string, boolean>
  following(): number
  gas(): readonly (GasStatus | null)[]
  gas_prices(): readonly GasView[]
  /** Null where the gas wallet forwards and relays nothing. */
  sponsoring: Pick<Sponsoring, 'look' | 'last'> | null
  connections: { count(): number; closed(): Readonly<Record<string, number>> }
  /** Ages of the lists that limit clean answers, and the last result of each feed. */
  lists(): readonly ListAge[]
  feeds(): readonly FeedState[]
  source_reads_daily: number
  source_reads_used(): Promise<number>
  /** Asks the chain what the gas wallets hold; remembered for seconds. Never rejects. */
  lookAtGas(): Promise<unknown>
  replication: Pick<ReplicationWatch, 'look' | 'gauge'>
  now_ms(): number
}

type Parts = Pick<Telemetry, 'watch'>

/** Looking at a gas wallet costs requests of a chain that may count them; replication is changed by people. */
const SELDOM_EVERY = 6

function one(value: number | null): GaugeValue[] {
  return value === null ? [] : [{ labels: {}, value }]
}

function gauge(name: string, help: string, read: Gauge['read'], kind: Gauge['kind'] = 'gauge'): Gauge {
  return { name, help, kind, read }
}

/** Calls under way, and how late the process runs. */
export function watchFlow(
  telemetry: Parts,
  { in_flight, waiting, clients }: AdmissionLoad,
  bodies: Pick<Bodies, 'held_bytes'>,
  lag_ms: () => number,
): void {
  const tiers = () => Object.entries(in_flight()).map(([tier, value]) => ({ labels: { tier }, value }))
  telemetry.watch(gauge('assay_calls_in_flight', 'Calls that are running now, by who is to pay.', tiers))
  telemetry.watch(gauge('assay_calls_waiting', 'Free calls and requests other than calls that wait for a slot.', () => one(waiting())))
  telemetry.watch(gauge('assay_request_bodies_bytes', 'Memory used by request bodies, in bytes.', () => one(bodies.held_bytes())))
  telemetry.watch(gauge('assay_call_clients', 'Clients with calls in flight.', () => one(clients())))
  const lag = gauge('assay_event_loop_lag_ms', 'Event-loop delay in ms, the smallest of three readings.', () => one(lag_ms()))
  // It shows whether an attack has an effect, so the public port does not have it.
  telemetry.watch({ ...lag, operator: true })
}

/** Queues, settlement, chain, log, leases and streams. What it returns reads what has to be asked for, and is called every ten seconds. */
export function watchRooms(telemetry: Parts, parts: RoomParts): Pick<History, 'record'> {
  const log: LogSeen = { size: null, oldest_ms: null }
  const sources: SourceReadsSeen = { used: null }
  for (const found of [
    parts.replication.gauge,
    ...queues(parts),
    ...standing(parts),
    ...receiptsLog(parts, log),
    ...datasets(parts),
    ...others(parts),
    ...gasPriceGauges(parts.gas_prices),
  ])
    telemetry.watch(found)
  const sponsored = parts.sponsoring === null ? [] : sponsoredGauges(parts.sponsoring)
  for (const found of [...gas(parts), sourceReads(parts, sources), ...sponsored]) telemetry.watch({ ...found, operator: true })
  let round = 0
  return {
    record: async () => {
      if (round++ % SELDOM_EVERY === 0) await Promise.all([parts.lookAtGas(), parts.replication.look()])
      const reading = parts.source_reads_used().catch(() => null)
      // The store's own gauge says that it is down.
      await parts.sponsoring?.look().catch(() => null)
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
    gauge('assay_queue_depth', 'Entries that wait in this process, by queue.', depths),
    gauge('assay_queue_limit', 'Maximum number of waiting entries, by queue.', () => bounds),
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
    gauge('assay_source_up', '1 when the store or source answers, 0 when it does not.', sources),
    gauge('assay_payments_open', 'Payments that are not closed, by state; 1000 means 1000 or more.', open),
    gauge('assay_payments_overdue', 'Payments that are open for longer than expected.', () => one(now()?.overdue ?? null)),
    gauge('assay_chain_head_age_s', 'Age of the newest block that was seen, in seconds.', () => one(now()?.head_age_s ?? null)),
  ]
}

function gas({ gas: wallets }: RoomParts): Gauge[] {
  const row = (valueOf: (seen: GasStatus) => bigint) => () =>
    wallets().flatMap((seen, index) => (seen === null ? [] : [{ labels: { wallet: String(index) }, value: gwei(valueOf(seen)) }]))
  return [
    gauge(
      'assay_gas_balance_gwei',
      'Balance of each gas wallet at the last check, in gwei.',
      row((seen) => seen.balance_wei),
    ),
    gauge(
      'assay_gas_comfort_gwei',
      'Recommended minimum balance of the gas wallet, in gwei.',
      row((seen) => seen.comfort_wei),
    ),
    gauge(
      'assay_gas_budget_left_gwei',
      'Gas that each gas wallet may still spend on this UTC day, in gwei.',
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

function receiptsLog({ log_queue, log_state }: RoomParts, seen: LogSeen): Gauge[] {
  const wait_s = () => (seen.oldest_ms === null ? null : seen.oldest_ms / 1_000)
  const dropped = () => one(log_queue?.dropped() ?? null)
  return [
    gauge('assay_receipts_log_size', 'Entries of the receipts log.', () => one(seen.size)),
    gauge('assay_receipts_log_oldest_waiting_s', 'Waiting time of the oldest entry not yet appended, in seconds; 0 when none waits.', () =>
      one(wait_s()),
    ),
    gauge('assay_receipts_log_stopped', '1 while the receipts log is stopped because the store lost published entries, otherwise 0.', () =>
      one(log_state === null ? null : Number(log_state().stopped !== null)),
    ),
    gauge('assay_receipts_log_dropped_total', 'Receipts dropped because the queue of the log was full.', dropped, 'counter'),
  ]
}

function datasets({ lists, feeds }: RoomParts): Gauge[] {
  const days = (valueOf: (list: ListAge) => number) => () => lists().map((list) => ({ labels: { dataset: list.id }, value: valueOf(list) }))
  const accepted = () =>
    FEED_NAMES.map((feed) => {
      const outcome = feeds().find((state) => state.feed === feed)?.outcome
      return { labels: { feed }, value: outcome === 'failed' || outcome === 'refused' ? 0 : 1 }
    })
  return [
    gauge(
      'assay_dataset_age_days',
      'Days since the publication of a list that limits clean answers.',
      days(({ age_days }) => age_days),
    ),
    gauge(
      'assay_dataset_limit_days',
      'Age in days beyond which a live deployment refuses clean answers from the list.',
      days(({ limit_days }) => limit_days),
    ),
    gauge('assay_dataset_feed_ok', '0 when the last document of the feed was not accepted, otherwise 1.', accepted),
  ]
}

function others({ held, following, connections, store }: RoomParts): Gauge[] {
  // Not `job`: Prometheus puts the name of its scrape there, and renames what a process calls so.
  const leases = () => Array.from(held(), ([name, mine]) => ({ labels: { lease: name.split(':')[0] ?? name }, value: Number(mine) }))
  const closed = () => Object.entries(connections.closed()).map(([reason, value]) => ({ labels: { reason }, value }))
  return [
    gauge('assay_lease_held', '1 when this process has the lease of the job, otherwise 0; exactly one process should have it.', leases),
    gauge('assay_store_breaker_open', '1 while the circuit breaker of the store is open, otherwise 0.', () =>
      one(Number(store.breaker_open())),
    ),
    gauge('assay_event_streams', 'Open event streams of followed invoices.', () => one(following())),
    gauge('assay_connections', 'Open connections.', () => one(connections.count())),
    gauge('assay_connections_limit', 'Maximum number of open connections.', () => [{ labels: {}, value: limits.connections }]),
    gauge('assay_connections_closed_total', 'Connections closed to make room for others, and new ones refused.', closed, 'counter'),
  ]
}
