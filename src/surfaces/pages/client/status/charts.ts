import { byId, el } from '../dom.ts'
import { GUTTERS, timeLabels, type TimeAxis } from './axis.ts'
import { SPAN_S, type HistoryView } from './history.ts'
import { latencyChart } from './latency.ts'
import {
  ageText,
  CALLS,
  callRow,
  headRow,
  priceRow,
  SETTLEMENT,
  settlementRow,
  SOURCES,
  type CallName,
  type SettlementName,
  type SourceName,
} from './rows.ts'
import { frame, strip, upStrip, type Row } from './strip.ts'

/** Floor and cap of each class of tools, as the page says them. */
export type PriceBounds = Readonly<Record<string, readonly [floor: string, cap: string]>>

const LABELS_HEIGHT = 22

/** Draws every chart that the page has a place for. */
export function drawCharts(view: HistoryView, bounds: PriceBounds): void {
  const strips = (rows: readonly Row[], axis: TimeAxis) => [
    ...rows.map((row) => strip(row, view.at_s, view.every_s, axis, wordsOf(row))),
    timeRow(axis),
  ]
  const rows: Record<string, (axis: TimeAxis) => Element[]> = {
    latency: (axis) => [latencyChart(view, axis)],
    calls: (axis) =>
      strips(
        names(CALLS).map((name) => callRow(view, name)),
        axis,
      ),
    sources: (axis) => [...names(SOURCES).map((name) => sourceStrip(view, name, axis)), timeRow(axis)],
    settlement: (axis) =>
      strips(
        names(SETTLEMENT).map((name) => settlementRow(view, name)),
        axis,
      ),
    prices: (axis) =>
      strips(
        Object.keys(view.prices_minor).map((name) => priceRow(view, name as keyof HistoryView['prices_minor'], bounds[name] ?? ['0', '1'])),
        axis,
      ),
    head: (axis) => strips([headRow(view)], axis),
  }
  for (const [id, draw] of Object.entries(rows)) {
    const place = document.getElementById(`chart-${id}`)
    if (place !== null) place.replaceChildren(...draw(axisOf(view, place.clientWidth)))
  }
}

/** The newest point stands at the right edge. */
function axisOf(view: HistoryView, width: number): TimeAxis {
  const to_s = (view.at_s.at(-1) ?? 0) + view.every_s
  return { from_s: to_s - SPAN_S[view.span], to_s, left: GUTTERS.left, right: Math.max(GUTTERS.left + 100, width - GUTTERS.right) }
}

function names<Name extends CallName | SourceName | SettlementName>(words: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(words) as Name[]
}

function wordsOf({ name, now, scale }: Row): string {
  return `${name}: ${now}; the strip reaches from ${scale.from_label} to ${scale.to_label}.`
}

function sourceStrip(view: HistoryView, name: SourceName, axis: TimeAxis): HTMLElement {
  const up = view.sources[name]
  const last = up.findLast((one) => one !== null)
  const down_s = up.reduce((sum, one, index) => sum + (one === false ? (view.counted_s[index] ?? 0) : 0), 0)
  const now = last === undefined || last === null ? 'not watched' : last ? 'answers' : 'does not answer'
  const text = down_s === 0 ? now : `${now}; down for ${ageText(down_s)} of this span`
  return upStrip(SOURCES[name], text, up, view.at_s, view.every_s, axis, `${SOURCES[name]}: ${text}.`)
}

/** The times that the strips above share. */
function timeRow(axis: TimeAxis): Element {
  const drawing = frame('', { ...axis, right: axis.right + GUTTERS.right - 1 }, LABELS_HEIGHT, ...timeLabels(axis, 16))
  drawing.removeAttribute('role')
  drawing.removeAttribute('aria-label')
  drawing.setAttribute('aria-hidden', 'true')
  return el('div', { class: 'times' }, drawing)
}

/** The places of the charts, so that they are drawn anew when their width changes. */
export function chartRoom(): HTMLElement {
  return byId('history', HTMLElement)
}
