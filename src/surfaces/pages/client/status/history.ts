import type { HistoryView, Span } from '../../../../service/telemetry/history.ts'

/** Data of the charts. The browser imports only the types. */
export type { HistoryView, Span } from '../../../../service/telemetry/history.ts'

/** Seconds that a chart of this span shows. */
export const SPAN_S: Record<Span, number> = { hour: 3_600, day: 86_400 }

/** Reads a span; later than a time when one is given. Rejects when the service does not answer as it should. */
export async function readHistory(span: Span, after_s: number | null, signal: AbortSignal): Promise<HistoryView> {
  const response = await fetch(`/status/history.json?span=${span}${after_s === null ? '' : `&after=${after_s}`}`, { signal })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return (await response.json()) as HistoryView
}

/**
 * The older view continued by the newer one, which begins where the older was not yet complete. Points that have left the span go. Every
 * list of a view is as long as its times, so the same cuts serve all.
 */
export function continued(older: HistoryView, newer: HistoryView): HistoryView {
  const first = newer.at_s[0] ?? Number.POSITIVE_INFINITY
  const last = newer.at_s.at(-1) ?? older.at_s.at(-1) ?? 0
  const end = older.at_s.findIndex((at_s) => at_s >= first)
  const kept = end === -1 ? older.at_s.length : end
  const start = older.at_s.findIndex((at_s) => at_s > last - SPAN_S[older.span])
  const joined = (one: unknown, other: unknown): unknown => {
    if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]).slice(Math.max(0, start), kept), ...(other as unknown[])]
    if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return other
    return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, joined(value, (other as Record<string, unknown>)[name])]))
  }
  return joined(older, newer) as HistoryView
}
