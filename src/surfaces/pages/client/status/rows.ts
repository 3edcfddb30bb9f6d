import { durationText } from '../../../../pure/duration-text.ts'
import { usdcDecimal } from '../../../../pure/payments/usdc.ts'
import type { HistoryView, Span } from '../../../../service/telemetry/history.ts'

/** Values of one strip over time. */
export interface Row {
  name: string
  /** Current value, in words with its unit. */
  now: string
  values: readonly (number | null)[]
  /** Values at the bottom and the top of the strip, with their labels in the unit of the row. */
  scale: { from: number; to: number; from_label: string; to_label: string }
  /** Filled down to the ground for counts; a line for measurements. */
  form: 'counted' | 'measured'
  /** A value other than zero deserves attention. */
  bad?: boolean
}

/** Floor and cap of each class of tools, in minor units. */
export type PriceBounds = Readonly<Record<string, readonly [floor: string, cap: string]>>

export const CALLS = { answered: 'answered', payment_required: 'asked to pay', refused: 'refused', failed: 'failed' } as const

export const SOURCES = { store: 'store', chain: 'chain', prices: 'market prices' } as const

export const SETTLEMENT = { waiting: 'under way', overdue: 'overdue' } as const

type CallName = keyof typeof CALLS
type SettlementName = keyof typeof SETTLEMENT

/** Calls a minute; null for a stretch of which nothing was counted. */
export function perMinute(view: HistoryView, name: CallName): (number | null)[] {
  return view.calls[name].map((count, index) => {
    const counted_s = view.counted_s[index] ?? 0
    return counted_s === 0 ? null : (count * 60) / counted_s
  })
}

export function callRow(view: HistoryView, name: CallName): Row {
  const values = perMinute(view, name)
  return { name: CALLS[name], now: lastText(values, rateText), values, scale: upTo(values, 1), form: 'counted', bad: name === 'failed' }
}

export function settlementRow(view: HistoryView, name: SettlementName): Row {
  const values = view.settlement[name]
  return { name: SETTLEMENT[name], now: lastText(values, String), values, scale: upTo(values, 1), form: 'counted', bad: name === 'overdue' }
}

/** Amounts stay whole numbers; only their place on the paper is a fraction. */
export function priceRow(view: HistoryView, name: keyof HistoryView['prices_minor'], bounds: readonly [floor: string, cap: string]): Row {
  const [floor, cap] = [BigInt(bounds[0]), BigInt(bounds[1])]
  const heightOf = (text: string) => Number(((BigInt(text) - floor) * 1_000n) / (cap - floor || 1n)) / 1_000
  const amounts = view.prices_minor[name]
  const last = amounts.findLast((text) => text !== null)
  return {
    name,
    now: last === undefined || last === null ? 'not known' : `${usdcDecimal(BigInt(last))} USDC`,
    values: amounts.map((text) => (text === null ? null : heightOf(text))),
    scale: { from: 0, to: 1, from_label: usdcDecimal(floor), to_label: usdcDecimal(cap) },
    form: 'measured',
  }
}

export function headRow(view: HistoryView): Row {
  const values = view.chain_head_age_s
  const scale = upTo(values, 10)
  return {
    name: 'newest block',
    now: lastText(values, (seconds) => `${durationText(seconds)} old`),
    values,
    scale: { ...scale, from_label: '0 s', to_label: durationText(scale.to) },
    form: 'measured',
  }
}

/** From zero to the next round number above the largest value. */
function upTo(values: readonly (number | null)[], least: number): Row['scale'] {
  const most = values.reduce<number>((found, value) => Math.max(found, value ?? 0), least)
  const decade = 10 ** Math.floor(Math.log10(most))
  const to = decade * (([1, 2, 5, 10] as const).find((factor) => decade * factor >= most) ?? 10)
  return { from: 0, to, from_label: '0', to_label: String(to) }
}

function lastText(values: readonly (number | null)[], text: (value: number) => string): string {
  const last = values.findLast((value) => value !== null)
  return last === undefined || last === null ? 'not known' : text(last)
}

export function rateText(rate: number): string {
  return `${rate >= 10 || Number.isInteger(rate) ? Math.round(rate) : rate.toFixed(1)} a minute`
}

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
