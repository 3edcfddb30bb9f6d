import type { SteadyClock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { InvoiceService } from './invoice-service.ts'
import type { InvoiceView } from './invoice-view.ts'
import { createSharedPlaces, type PlaceBounds, type PlaceLimit } from '../admission/shared-places.ts'
import { INVOICE_RULES } from '../limits.ts'

/** Follower of an invoice. No method is called after `end`. */
export interface InvoiceFollower {
  /** Called with the changed record, as JSON text. */
  changed(record_json: string): void
  /** Called as a heartbeat when the record has not changed for a while. */
  still(): void
  end(): void
}

/** An invoice that is to be followed. */
interface FollowRequest {
  invoice_id: string
  /** Address of the client. */
  address: string
  /** True for an invoice that was paid, or whose merchant was paid before: a part of the streams is kept for these. */
  is_favoured: boolean
  /** The record that the follower already has, as JSON text. */
  record_json: string
  follower: InvoiceFollower
}

/** `limit`: the limit that refused the stream; `stopping` while the service stops. */
export type FollowResult = { kind: 'followed'; leave: () => void } | { kind: 'refused'; limit: PlaceLimit | 'stopping' }

/**
 * Invoices with followers. They are read from the store periodically, one read for all followers of the same invoice, so that it does not
 * matter which instance saw a payment. Bounded for each client, network and provider and in total (`createSharedPlaces`); one following lasts at
 * most ten minutes.
 */
export interface InvoiceLive {
  /** True for an invoice with a payment that is worth relaying, and for those of a merchant that was paid here before. */
  favours(view: Pick<InvoiceView, 'invoice' | 'standing'>): Promise<boolean>
  follow(request: FollowRequest): FollowResult
  /** Number of followers. */
  following(): number
  /** Reads each followed invoice once; rounds never overlap. Rejects when the store fails. */
  round(): Promise<void>
  /** Ends all followings and refuses new ones. */
  stop(): void
}

interface Following {
  invoice_id: string
  follower: InvoiceFollower
  known: string
  since_ms: number
  heard_ms: number
  leave(): void
}

const BOUNDS: PlaceBounds = {
  all: INVOICE_RULES.followers,
  client: INVOICE_RULES.followers_client,
  network: INVOICE_RULES.followers_network,
  provider: INVOICE_RULES.followers_provider,
  kept: INVOICE_RULES.followers_kept,
}

interface LiveParts {
  desk: Pick<InvoiceService, 'read'>
  invoices: Pick<InvoiceStore, 'was_paid'>
  clock: SteadyClock
}

export function createInvoiceLive({ desk, invoices, clock }: LiveParts): InvoiceLive {
  const places = createSharedPlaces(BOUNDS)
  const all = new Set<Following>()
  let running: Promise<void> | null = null
  let stopped = false
  const leave = (one: Following) => {
    all.delete(one)
    one.leave()
  }
  const end = (one: Following) => {
    if (!all.has(one)) return
    leave(one)
    one.follower.end()
  }
  return {
    favours: async ({ invoice, standing }) =>
      standing.paid_minor >= INVOICE_RULES.relay_minimum_minor || (await invoices.was_paid(invoice.merchant)),
    follow({ invoice_id, address, is_favoured, record_json, follower }) {
      if (stopped) return { kind: 'refused', limit: 'stopping' }
      const now_ms = clock.steady_ms()
      const one: Following = { invoice_id, follower, known: record_json, since_ms: now_ms, heard_ms: now_ms, leave: () => {} }
      const place = places.take({ address, is_favoured, end: () => end(one) })
      if (place.kind === 'refused') return place
      one.leave = place.leave
      all.add(one)
      return { kind: 'followed', leave: () => leave(one) }
    },
    following: () => places.count(),
    round() {
      running ??= round(desk, clock, all, end).finally(() => (running = null))
      return running
    },
    stop() {
      stopped = true
      for (const one of all) end(one)
    },
  }
}

async function round(
  desk: Pick<InvoiceService, 'read'>,
  clock: SteadyClock,
  all: Set<Following>,
  end: (one: Following) => void,
): Promise<void> {
  for (const [invoice_id, group] of Map.groupBy(all, (one) => one.invoice_id)) {
    const view = await desk.read(invoice_id)
    const text = view === null ? null : JSON.stringify(view.record)
    const now_ms = clock.steady_ms()
    for (const one of group) if (all.has(one)) notifyFollower(one, text, now_ms)
  }
  const now_ms = clock.steady_ms()
  for (const one of all) if (now_ms - one.since_ms >= INVOICE_RULES.follow_longest_ms) end(one)
}

function notifyFollower(one: Following, text: string | null, now_ms: number): void {
  if (text !== null && text !== one.known) {
    one.known = text
    one.heard_ms = now_ms
    one.follower.changed(text)
  } else if (now_ms - one.heard_ms >= INVOICE_RULES.heartbeat_ms) {
    one.heard_ms = now_ms
    one.follower.still()
  }
}
