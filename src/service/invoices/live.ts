import type { SteadyClock } from '../../ports/clock.ts'
import type { InvoiceService } from './invoice-service.ts'
import { INVOICE_RULES } from '../limits.ts'

/** Follower of an invoice. No method is called after `end`. */
export interface InvoiceFollower {
  /** Called with the changed record, as JSON text. */
  changed(record_json: string): void
  /** Called as a heartbeat when the record has not changed for a while. */
  still(): void
  end(): void
}

/**
 * Invoices with followers. They are read from the store periodically, one read for all followers of the same invoice, so that it does not
 * matter which instance saw a payment. Bounded for each client and in total; one following lasts at most ten minutes.
 */
export interface InvoiceLive {
  /**
   * Returns a function that ends the following; null when the limit of followers is reached. `record_json` is the record that the follower
   * already has.
   */
  follow(invoice_id: string, client: string, record_json: string, follower: InvoiceFollower): (() => void) | null
  /** Number of followers. */
  following(): number
  /** Reads each followed invoice once; rounds never overlap. Rejects when the store fails. */
  round(): Promise<void>
  /** Ends all followings and refuses new ones. */
  stop(): void
}

interface Following {
  invoice_id: string
  client: string
  follower: InvoiceFollower
  known: string
  since_ms: number
  heard_ms: number
}

export function createInvoiceLive({ desk, clock }: { desk: Pick<InvoiceService, 'read'>; clock: SteadyClock }): InvoiceLive {
  const all = new Set<Following>()
  let running: Promise<void> | null = null
  let stopped = false
  const end = (one: Following) => {
    if (all.delete(one)) one.follower.end()
  }
  return {
    follow(invoice_id, client, record_json, follower) {
      const own = [...all].filter((one) => one.client === client).length
      if (stopped || all.size >= INVOICE_RULES.followers || own >= INVOICE_RULES.followers_client) return null
      const now_ms = clock.steady_ms()
      const one: Following = { invoice_id, client, follower, known: record_json, since_ms: now_ms, heard_ms: now_ms }
      all.add(one)
      return () => void all.delete(one)
    },
    following: () => all.size,
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
