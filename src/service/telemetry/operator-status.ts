import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { PriceBook } from '../payments/price-book.ts'
import { RECONCILE_RULES } from '../payments/reconcile.ts'
import { byName, OPEN_STATES, type Standing } from './history.ts'

/** The newest block that was seen, and when it says it was made. */
export interface ChainHead {
  number: bigint
  timestamp_s: number
}

/** Parts whose state is read. */
export interface OperatorStatusParts {
  clock: Clock
  store: Pick<Store, 'ping'> & { payments: Pick<Store['payments'], 'in_states'> }
  prices: Pick<PriceBook, 'prices'>
  /** A source without a probe is not watched. */
  probes: { chain?: () => Promise<boolean>; prices?: () => Promise<boolean> }
  takes_payments: boolean
  chain_head(): ChainHead | null
}

/** Payments are counted up to here; beyond it there are at least so many. */
export const BACKLOG_MAX = 1_000

/** Current state. Asks no outside source; a part that cannot be determined is null. Never rejects. */
export async function standingNow(parts: OperatorStatusParts): Promise<Standing> {
  const { store, prices, probes, takes_payments } = parts
  const [store_up, chain_up, prices_up, now, backlog] = await Promise.all([
    isUp(() => store.ping().then(() => true)),
    isUp(probes.chain),
    isUp(probes.prices),
    prices.prices().catch(() => null),
    takes_payments ? backlogOf(parts).catch(() => NOT_KNOWN) : NOT_KNOWN,
  ])
  return {
    sources: { store: store_up, chain: chain_up, prices: prices_up },
    prices: now?.amounts ?? null,
    ...backlog,
    head_age_s: headAge(parts),
  }
}

const NOT_KNOWN = { waiting: null, overdue: null, open: null }

/** A probe that fails says that its source is down. */
async function isUp(probe: (() => Promise<boolean>) | undefined): Promise<boolean | null> {
  return probe === undefined ? null : probe().catch(() => false)
}

async function backlogOf({ store, clock }: OperatorStatusParts): Promise<Pick<Standing, 'waiting' | 'overdue' | 'open'>> {
  const now_ms = clock.now_ms()
  const options = { final: null, updated_before_ms: now_ms + 1, limit: BACKLOG_MAX }
  const [early, sent] = await Promise.all([
    store.payments.in_states(['claimed', 'prepared'], options),
    store.payments.in_states(['settling', 'unknown'], options),
  ])
  const all = [...early, ...sent]
  const open = byName(OPEN_STATES, (name) => all.filter(({ state }) => state === name).length)
  return { open, waiting: sent.length, overdue: sent.filter(({ updated_ms }) => updated_ms < now_ms - RECONCILE_RULES.overdue_ms).length }
}

function headAge({ clock, chain_head }: OperatorStatusParts): number | null {
  const head = chain_head()
  return head === null ? null : Math.max(0, Math.floor(clock.now_ms() / 1_000) - head.timestamp_s)
}
