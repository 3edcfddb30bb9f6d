import type { DepositOrigin, WaitingDeposit } from '../../ports/invoices.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Gauge } from '../../ports/telemetry.ts'
import { INVOICE_RULES } from '../limits.ts'
import type { GasWatch } from '../payments/gas-watch.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Sweeps or relays of this UTC day: those made, and the number that the day's gas allows for. */
interface SponsoredCount {
  used: number
  limit: number
}

/** State of the day. */
export interface SponsoredState {
  sweeps: SponsoredCount
  /** Of signed and of unsigned invoices, which have separate budgets. */
  relays: SponsoredCount
  relays_unsigned: SponsoredCount
}

/** A payment that is to be relayed. */
interface Relayed {
  payer: string
  value_minor: bigint
  merchant: string
  is_signed: boolean
  /** Keyed hash of the network that created the invoice; null for one of an earlier release. */
  creator: string | null
  /** True for a payer that has paid for calls, and for a merchant that was paid days ago. */
  is_known: boolean
}

/**
 * Work of the gas wallet for others at no charge: it forwards deposits of invoices and relays payments of them. Both have a number a day, the
 * share of a creator, sender and merchant of it, and a minimum amount, all of which follow from gas.
 */
export interface Sponsoring {
  /** Smallest amounts that are forwarded and relayed now. */
  sweepMinimum(): bigint
  relayMinimum(): bigint
  /** Budgets that a sweep of this deposit takes a unit of, those of one party first. */
  sweepBudgets(deposit: WaitingDeposit, origin: Pick<DepositOrigin, 'creator' | 'funder'> | null, now_ms: number): AllowanceRequest[]
  /** Time in ms after which a deposit beyond a share is tried again: the next day, or sooner while gas lowers the number of the day. */
  sweepAgainMs(now_ms: number): number
  /** Budgets that a relay takes in addition to those of the client that asks for it. */
  relayBudgets(relayed: Relayed, now_ms: number): AllowanceRequest[]
  /** Reads the state of the day, and keeps it for `last`. */
  look(): Promise<SponsoredState>
  /** The state at the last look; null before the first. */
  last(): SponsoredState | null
}

interface SponsoringParts {
  /** Absent where gas costs nothing. */
  gas?: Pick<GasWatch, 'now' | 'itemsWithin'> | undefined
  /** Gas that the wallet may spend a day, in wei. */
  daily_gas_wei?: bigint | undefined
  store: Pick<Store, 'used'>
  clock: Clock
}

export function createSponsoring({ gas, daily_gas_wei = 0n, store, clock }: SponsoringParts): Sponsoring {
  const budget_wei = daily_gas_wei / INVOICE_RULES.sweep_gas_parts
  const numberOf = (item: 'sweep' | 'relay', most: number) => gas?.itemsWithin(budget_wei, item, most) ?? most
  let last: SponsoredState | null = null
  const countOf = async (bucket: string, limit: number): Promise<SponsoredCount> => {
    return { used: await store.used({ day: dayOf(clock.now_ms()), bucket, client: 'all', limit }), limit }
  }
  return {
    sweepMinimum: () => largest(INVOICE_RULES.sweep_minimum_minor, gas?.now().minimums.sweep_minor ?? 0n),
    relayMinimum: () => largest(INVOICE_RULES.relay_minimum_minor, gas?.now().minimums.relay_minor ?? 0n),
    sweepBudgets: (deposit, origin, now_ms) => sweepBudgets(deposit, origin, dayOf(now_ms), numberOf('sweep', INVOICE_RULES.sweeps_daily)),
    sweepAgainMs(now_ms) {
      const tomorrow_ms = (dayOf(now_ms) + 1) * DAY_MS
      const is_lowered = numberOf('sweep', INVOICE_RULES.sweeps_daily) < INVOICE_RULES.sweeps_daily
      return is_lowered ? Math.min(tomorrow_ms, now_ms + HOUR_MS) : tomorrow_ms
    },
    relayBudgets: (relayed, now_ms) => relayBudgets(relayed, dayOf(now_ms), numberOf('relay', INVOICE_RULES.relays_daily)),
    async look() {
      const relays = numberOf('relay', INVOICE_RULES.relays_daily)
      const counts = await Promise.all([
        countOf('invoice-sweep', numberOf('sweep', INVOICE_RULES.sweeps_daily)),
        countOf('invoice-relay', relays),
        countOf('invoice-relay-unsigned', relays),
      ])
      return (last = { sweeps: counts[0], relays: counts[1], relays_unsigned: counts[2] })
    },
    last: () => last,
  }
}

function dayOf(now_ms: number): number {
  return Math.floor(now_ms / DAY_MS)
}

function largest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** One part of so many, at least one. */
function partOf(all: number, parts: number): number {
  return Math.max(1, Math.floor(all / parts))
}

/** Half of a shared budget is kept for larger amounts, so that many small ones of one party never stop those. */
function forAmount(limit: number, amount_minor: bigint): number {
  return amount_minor >= INVOICE_RULES.sponsored_large_minor ? limit : partOf(limit, 2)
}

function forKnown(limit: number, amount_minor: bigint): number {
  const { sponsored_large_minor, relay_known_small_parts } = INVOICE_RULES
  return amount_minor >= sponsored_large_minor ? limit : Math.max(1, limit - partOf(limit, relay_known_small_parts))
}

function sweepBudgets(
  { merchant, waiting_minor }: WaitingDeposit,
  origin: Pick<DepositOrigin, 'creator' | 'funder'> | null,
  day: number,
  all: number,
): AllowanceRequest[] {
  const { sponsored_network_parts, sponsored_payer_parts, sweeps_daily_merchant } = INVOICE_RULES
  const [creator, funder] = [origin?.creator ?? null, origin?.funder ?? null]
  const share = partOf(all, sponsored_payer_parts)
  const network = creator === null ? partOf(all, 2) : partOf(all, sponsored_network_parts)
  return [
    { day, bucket: 'invoice-sweep-merchant', client: merchant, limit: Math.min(sweeps_daily_merchant, share) },
    ...(funder === null ? [] : [{ day, bucket: 'invoice-sweep-funder', client: funder, limit: share }]),
    { day, bucket: 'invoice-sweep-network', client: creator ?? 'unknown', limit: forAmount(network, waiting_minor) },
    { day, bucket: 'invoice-sweep', client: 'all', limit: forAmount(all, waiting_minor) },
  ]
}

/**
 * Wallets are free, and one coin can be sent around in a circle of them, so that a number for each does not end its way. New ones therefore
 * share a part of the day, and the rest is kept for known payers and merchants.
 */
function relayBudgets(
  { payer, value_minor, merchant, is_signed, creator, is_known }: Relayed,
  day: number,
  all: number,
): AllowanceRequest[] {
  const { sponsored_network_parts, sponsored_payer_parts, relays_daily_merchant, relay_new_parts } = INVOICE_RULES
  const unsigned = is_signed ? '' : '-unsigned'
  const share = partOf(all, sponsored_payer_parts)
  const network = partOf(all, sponsored_network_parts)
  return [
    { day, bucket: 'invoice-relay-payer', client: payer, limit: share },
    ...(creator === null ? [] : [{ day, bucket: 'invoice-relay-creator', client: creator, limit: forAmount(network, value_minor) }]),
    { day, bucket: `invoice-relay-merchant${unsigned}`, client: merchant, limit: Math.min(relays_daily_merchant, share) },
    ...(is_known ? [] : [{ day, bucket: `invoice-relay-new${unsigned}`, client: 'all', limit: partOf(all, relay_new_parts) }]),
    { day, bucket: `invoice-relay${unsigned}`, client: 'all', limit: is_known ? forKnown(all, value_minor) : forAmount(all, value_minor) },
  ]
}

/** Metric of the rest of the day's budgets, as of the last look. */
export function sponsoredGauges({ last }: Pick<Sponsoring, 'last'>): Gauge[] {
  const leftOf = (state: SponsoredState) =>
    Object.entries(state).map(([kind, { used, limit }]: [string, SponsoredCount]) => ({
      labels: { kind },
      value: Math.max(0, limit - used),
    }))
  const read = () => {
    const state = last()
    return state === null ? [] : leftOf(state)
  }
  return [
    {
      name: 'assay_sponsored_left',
      help: 'Deposits and payments of invoices that are still forwarded without a fee on this UTC day.',
      kind: 'gauge',
      read,
    },
  ]
}

/** Sentences for the operator about budgets of the day that are used up. */
export function sponsoredNotices(state: SponsoredState | null): string[] {
  if (state === null) return []
  return (Object.keys(SPONSORED_WORDS) as (keyof SponsoredState)[]).flatMap((kind) => {
    const { used, limit } = state[kind]
    const words = SPONSORED_WORDS[kind]
    if (used >= limit) return [`All ${limit} ${words} of this UTC day are used up; more wait for the next day.`]
    return used >= partOf(limit, 2)
      ? [`Half of the ${limit} ${words} of this UTC day are used up; the rest is for amounts from 10 USDC.`]
      : []
  })
}

const SPONSORED_WORDS: Readonly<Record<keyof SponsoredState, string>> = {
  sweeps: 'sponsored sweeps of deposits',
  relays: 'sponsored payments of signed invoices',
  relays_unsigned: 'sponsored payments of unsigned invoices',
}
