import { usdcText } from '../../../../service/payments/price.ts'
import type { HistoryView } from './history.ts'
import type { Row } from './strip.ts'

/** The rows that strips and tables show, made from a history. */

export const CALLS = { answered: 'answered', payment_required: 'asked to pay', refused: 'refused', failed: 'failed' } as const

export const SOURCES = { store: 'store', chain: 'chain', prices: 'market prices' } as const

export const SETTLEMENT = { waiting: 'under way', overdue: 'overdue' } as const

export type CallName = keyof typeof CALLS
export type SourceName = keyof typeof SOURCES
export type SettlementName = keyof typeof SETTLEMENT

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
    now: last === undefined || last === null ? 'not known' : `${usdcText(BigInt(last))} USDC`,
    values: amounts.map((text) => (text === null ? null : heightOf(text))),
    scale: { from: 0, to: 1, from_label: usdcText(floor), to_label: usdcText(cap) },
    form: 'measured',
  }
}

export function headRow(view: HistoryView): Row {
  const values = view.chain_head_age_s
  const scale = upTo(values, 10)
  return {
    name: 'newest block',
    now: lastText(values, (seconds) => `${ageText(seconds)} old`),
    values,
    scale: { ...scale, from_label: '0 s', to_label: ageText(scale.to) },
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

export function ageText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
