import { el, svg } from '../dom.ts'
import { gridLines, GUTTERS, timeLabels, xOf, type TimeAxis } from './axis.ts'
import type { HistoryView } from './history.ts'
import { stepLine, type Step } from './paths.ts'
import { frame } from './strip.ts'

const SHARES = ['p50', 'p95', 'p99'] as const

const NAMES = { p50: 'half', p95: '95 %', p99: '99 %' } as const

const [TOP, BOTTOM, HEIGHT] = [12, 212, 240]

/** Least and greatest bound that the scale shows; it grows by whole decades. */
const LEAST_MS = 0.5

/** The bounds under which half, 95 % and 99 % of the calls stayed: three lines, told apart by their strokes and by the words at their ends. */
export function latencyChart(view: HistoryView, axis: TimeAxis): HTMLElement {
  const top_ms = scaleTop(view)
  const yOf = (ms: number) => BOTTOM - (Math.log10(ms / LEAST_MS) / Math.log10(top_ms / LEAST_MS)) * (BOTTOM - TOP)
  const traces = SHARES.map((share) => {
    const steps = view.at_s.map((at_s, index): Step => {
      const ms = view.latency_ms[share][index] ?? null
      return { from: xOf(axis, at_s), to: xOf(axis, at_s + view.every_s), y: ms === null ? null : yOf(Math.max(LEAST_MS, ms)) }
    })
    return { share, d: stepLine(steps), end: steps.findLast(({ y }) => y !== null)?.y ?? null }
  })
  return el(
    'div',
    { class: 'latency-plot' },
    frame(
      wordsOf(view),
      { ...axis, right: axis.right + GUTTERS.right - 1 },
      HEIGHT,
      ...gridLines(axis, TOP, BOTTOM),
      ...levels(top_ms).flatMap((ms) => level(axis, yOf(ms), ms)),
      ...traces.map(({ share, d }) => svg('path', { class: `trace ${share}`, d })),
      ...endLabels(traces, axis),
      ...timeLabels(axis, HEIGHT - 8),
    ),
    view.latency_ms.p50.every((ms) => ms === null) ? el('p', { class: 'nothing' }, 'No call in this span.') : null,
  )
}

function scaleTop({ latency_ms }: HistoryView): number {
  const most = latency_ms.p99.reduce<number>((found, ms) => Math.max(found, ms ?? 0), 0)
  return Math.max(100, 10 ** Math.ceil(Math.log10(Math.max(1, most))))
}

function levels(top_ms: number): number[] {
  return Array.from({ length: Math.round(Math.log10(top_ms)) + 1 }, (_, power) => 10 ** power)
}

function level(axis: TimeAxis, y: number, ms: number): SVGElement[] {
  const at = String(Math.round(y) + 0.5)
  const label = ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`
  return [
    svg('line', { class: 'grid', x1: String(axis.left), x2: String(axis.right), y1: at, y2: at }),
    svg('text', { class: 'tick-label', x: String(axis.left - 8), y: String(Math.round(y) + 5), 'text-anchor': 'end' }, label),
  ]
}

/** Words at the ends of the lines, moved apart where they would lie on one another. */
function endLabels(traces: readonly { share: (typeof SHARES)[number]; end: number | null }[], axis: TimeAxis): SVGElement[] {
  let free = BOTTOM + 8
  return traces.flatMap(({ share, end }) => {
    if (end === null) return []
    const y = Math.min(end + 5, free)
    free = y - 16
    return [svg('text', { class: `end-label ${share}`, x: String(axis.right + 6), y: String(Math.round(y)) }, NAMES[share])]
  })
}

function wordsOf({ latency_ms }: HistoryView): string {
  const last = (share: (typeof SHARES)[number]) => latency_ms[share].findLast((ms) => ms !== null)
  const [half, most] = [last('p50'), last('p99')]
  return half === undefined || half === null
    ? 'Time to answer: no call in this span.'
    : `Time to answer at last: half of the calls within ${half} ms, 99 % within ${most ?? 'more than 60,000'} ms. The table below has every point.`
}
