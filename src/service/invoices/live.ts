import type { SteadyClock } from '../../ports/clock.ts'
import type { InvoiceDesk } from './desk.ts'
import { INVOICE_RULES } from './rules.ts'

/** Who follows an invoice. Nothing is called after `end`. */
export interface InvoiceFollower {
  /** The record changed; it is given as it goes out. */
  changed(record_json: string): void
  /** Nothing changed for a while. */
  still(): void
  end(): void
}

/**
 * Invoices that somebody follows. They are read from the store now and then, one reading for all who follow the same, so that it does not
 * matter which instance saw a payment. Bounded a client and in all; nobody follows for longer than ten minutes at a time.
 */
export interface InvoiceLive {
  /** The way to stop; null when no more may follow now. `record_json` is what the follower knows already. */
  follow(invoice_id: string, client: string, record_json: string, follower: InvoiceFollower): (() => void) | null
  /** How many follow now. */
  following(): number
  /** Reads what is followed, once; rounds never overlap. Rejects as the store does. */
  round(): Promise<void>
  /** Ends all, and lets nobody follow any more. */
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

export function createInvoiceLive({ desk, clock }: { desk: Pick<InvoiceDesk, 'read'>; clock: SteadyClock }): InvoiceLive {
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
  desk: Pick<InvoiceDesk, 'read'>,
  clock: SteadyClock,
  all: Set<Following>,
  end: (one: Following) => void,
): Promise<void> {
  for (const [invoice_id, group] of Map.groupBy(all, (one) => one.invoice_id)) {
    const view = await desk.read(invoice_id)
    const text = view === null ? null : JSON.stringify(view.record)
    const now_ms = clock.steady_ms()
    for (const one of group) if (all.has(one)) tell(one, text, now_ms)
  }
  const now_ms = clock.steady_ms()
  for (const one of all) if (now_ms - one.since_ms >= INVOICE_RULES.follow_longest_ms) end(one)
}

function tell(one: Following, text: string | null, now_ms: number): void {
  if (text !== null && text !== one.known) {
    one.known = text
    one.heard_ms = now_ms
    one.follower.changed(text)
  } else if (now_ms - one.heard_ms >= INVOICE_RULES.heartbeat_ms) {
    one.heard_ms = now_ms
    one.follower.still()
  }
}
