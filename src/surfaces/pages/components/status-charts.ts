import type { TargetedEvent, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { durationText } from '../../../pure/duration-text.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import type { HistoryView, Span } from '../../../service/telemetry/history.ts'
import {
  callRow,
  CALLS,
  continued,
  headRow,
  perMinute,
  priceRow,
  rateText,
  readHistory,
  SETTLEMENT,
  settlementRow,
  SOURCES,
  SPAN_S,
  type PriceBounds,
  type Row,
} from '../client/status/rows.ts'
import { html } from '../html.ts'
import { GUTTERS, LatencyChart, SharedTimes, Strip, UpStrip, type TimeAxis } from './status-plots.ts'

export interface StatusChartsProps {
  bounds: PriceBounds
  takes_payments: boolean
}

const POLL_MS = 10_000
/** Answers without a new point after which the page says that nothing is counted. */
const UNCHANGED_MAX = 3

/** History of the service as charts and tables. Polls every ten seconds while the page is visible. */
export function StatusCharts({ bounds, takes_payments }: StatusChartsProps) {
  const [span, setSpan] = useState<Span>('hour')
  const { view, freshness } = useHistory(span)
  const room = useRef<HTMLElement>(null)
  const width = useDrawingWidth(room)
  const axis = view === null || width === null ? null : axisOf(view, width)
  const choose = (event: TargetedEvent<HTMLInputElement>) => setSpan(event.currentTarget.value === 'day' ? 'day' : 'hour')
  return html`<section
    class=${freshness.state === 'stalled' ? 'history stale' : 'history'}
    id="history"
    aria-labelledby="history-title"
    ref=${room}
  >
    <div class="history-head">
      <h2 id="history-title">History</h2>
      <fieldset class="spans">
        <legend class="heard">Span of the charts</legend>
        <label><input type="radio" name="span" value="hour" checked=${span === 'hour'} onChange=${choose} /> <span>1 hour</span></label>
        <label><input type="radio" name="span" value="day" checked=${span === 'day'} onChange=${choose} /> <span>24 hours</span></label>
      </fieldset>
      <p class="live" id="live" data-state=${freshness.state}><span id="live-words">${freshness.words}</span></p>
      <p class="heard" id="live-heard" role="status">${freshness.announced}</p>
    </div>
    <noscript>
      <p>The charts need JavaScript. <a href="/status/history.json">The numbers behind them</a> are JSON.</p>
    </noscript>
    ${chartsOf(bounds, takes_payments).map((chart) => html`<${Chart} key=${chart.id} chart=${chart} view=${view} axis=${axis} />`)}
  </section>`
}

interface Freshness {
  state: 'unread' | 'live' | 'paused' | 'stalled'
  words: string
  /** Text for screen readers: only changes to and from `stalled`. */
  announced: string
}

/** Polls the history of a span; an earlier answer stays until the next arrives. */
function useHistory(span: Span): { view: HistoryView | null; freshness: Freshness } {
  const [view, setView] = useState<HistoryView | null>(null)
  const [freshness, setFreshness] = useState<Freshness>({ state: 'unread', words: 'not yet read', announced: '' })
  const show = (state: Freshness['state'], words: string) =>
    setFreshness((before) => {
      const changed = before.state !== state && (state === 'stalled' || before.state === 'stalled')
      return { state, words, announced: changed ? words : before.announced }
    })
  useEffect(() => {
    const ended = new AbortController()
    let request = new AbortController()
    let timer = 0
    let latest: HistoryView | null = null
    let unchanged = 0
    const take = (next: HistoryView) => {
      const last = next.at_s.at(-1)
      unchanged = latest !== null && latest.at_s.at(-1) === last && next.span === 'hour' ? unchanged + 1 : 0
      latest = next
      setView(next)
      if (last === undefined) show('live', 'nothing was counted yet')
      else if (unchanged >= UNCHANGED_MAX) show('stalled', `The service answers, but has counted nothing since ${clockText(last)}.`)
      else show('live', `live, ${clockText(last + Math.min(next.every_s, next.counted_s.at(-1) ?? 0))}`)
    }
    const stop = () => {
      clearTimeout(timer)
      request.abort()
    }
    const poll = async () => {
      stop()
      const mine = new AbortController()
      request = mine
      try {
        // The last point may not have been complete when it was read.
        const newer = await readHistory(span, latest?.at_s.at(-2) ?? null, mine.signal)
        take(latest === null ? newer : continued(latest, newer))
      } catch {
        if (mine.signal.aborted) return
        show('stalled', lostWords(latest))
      }
      timer = window.setTimeout(() => void poll(), POLL_MS)
    }
    const pause = () => {
      stop()
      show('paused', 'paused while this tab is hidden')
    }
    const { signal } = ended
    document.addEventListener('visibilitychange', () => (document.hidden ? pause() : void poll()), { signal })
    window.addEventListener('online', () => void poll(), { signal })
    window.addEventListener('offline', () => show('stalled', lostWords(latest)), { signal })
    void poll()
    return () => {
      ended.abort()
      stop()
    }
  }, [span])
  return { view, freshness }
}

function lostWords(view: HistoryView | null): string {
  const last = view?.at_s.at(-1)
  const shown = last === undefined ? '' : ` The charts end at ${clockText(last)}.`
  return `The service does not answer.${shown} Next try in ${POLL_MS / 1_000} s.`
}

function clockText(at_s: number): string {
  return `${new Date(at_s * 1_000).toISOString().slice(11, 19)} UTC`
}

/** Width of the drawings in pixels, which all have the same; null before it is measured. */
function useDrawingWidth(room: { current: HTMLElement | null }): number | null {
  const [width, setWidth] = useState<number | null>(null)
  useLayoutEffect(() => {
    const measure = () => setWidth(room.current?.querySelector('.drawing')?.clientWidth ?? null)
    const observer = new ResizeObserver(measure)
    if (room.current !== null) observer.observe(room.current)
    measure()
    return () => observer.disconnect()
  }, [])
  return width
}

/** Time axis with the newest point at the right edge. */
function axisOf(view: HistoryView, width: number): TimeAxis {
  const to_s = (view.at_s.at(-1) ?? 0) + view.every_s
  return { from_s: to_s - SPAN_S[view.span], to_s, left: GUTTERS.left, right: Math.max(GUTTERS.left + 100, width - GUTTERS.right) }
}

interface ChartDefinition {
  id: string
  title: string
  hint: string
  draw(view: HistoryView, axis: TimeAxis): VNode
  /** Columns of the table: title, and the text at an index. */
  columns(view: HistoryView): readonly (readonly [title: string, textAt: (index: number) => string])[]
}

function chartsOf(bounds: PriceBounds, takes_payments: boolean): ChartDefinition[] {
  return [
    LATENCY,
    CALL_RATES,
    DEPENDENCIES,
    ...(takes_payments ? [SETTLEMENTS] : []),
    {
      id: 'prices',
      title: 'Price of a call',
      hint: 'USDC, by class of tool, between its floor and its cap. It follows the sales of the class.',
      draw: (view, axis) =>
        strips(
          PRICE_CLASSES.map((name) => priceRow(view, name, bounds[name] ?? ['0', '1'])),
          view,
          axis,
        ),
      columns: ({ prices_minor }) =>
        PRICE_CLASSES.map((name) => [name, (index) => known(prices_minor[name][index], (text) => `${usdcDecimal(BigInt(text))} USDC`)]),
    },
    HEAD_AGE,
  ]
}

const PRICE_CLASSES = ['check', 'chain', 'contract', 'document'] as const

const LATENCY: ChartDefinition = {
  id: 'latency',
  title: 'Time to answer',
  hint: 'Bounds under which half, 95 % and 99 % of the calls stayed. The scale is logarithmic.',
  draw: (view, axis) => html`<${LatencyChart} view=${view} axis=${axis} />`,
  columns: (view) =>
    (
      [
        ['p50', 'half within'],
        ['p95', '95 % within'],
        ['p99', '99 % within'],
      ] as const
    ).map(([share, title]) => [title, (index) => latencyText(view, share, index)]),
}

const CALL_RATES: ChartDefinition = {
  id: 'calls',
  title: 'Calls a minute',
  hint: 'Answered with a result, or with 202 while a payment settles; asked to pay with 402; refused because of the request; failed because of this service or a source.',
  draw: (view, axis) =>
    strips(
      entriesOf(CALLS).map(([name]) => callRow(view, name)),
      view,
      axis,
    ),
  columns: (view) =>
    entriesOf(CALLS).map(([name, title]) => {
      const rates = perMinute(view, name)
      return [title, (index) => known(rates[index], rateText)]
    }),
}

const DEPENDENCIES: ChartDefinition = {
  id: 'sources',
  title: 'Dependencies of the tools',
  hint: 'A line while it answers, a hatched block while it does not. A block covers its whole interval.',
  draw: (view, axis) => html`
    ${entriesOf(SOURCES).map(([name, title]) => {
      const up = view.sources[name]
      return html`<${UpStrip} name=${title} now=${upText(view, up)} up=${up} times=${view.at_s} every_s=${view.every_s} axis=${axis} />`
    })}
    <${SharedTimes} axis=${axis} />
  `,
  columns: ({ sources }) =>
    entriesOf(SOURCES).map(([name, title]) => [
      title,
      (index) => known(sources[name][index], (up) => (up ? 'answers' : 'does not answer')),
    ]),
}

function upText(view: HistoryView, up: readonly (boolean | null)[]): string {
  const last = up.findLast((one) => one !== null) ?? null
  const down_s = up.reduce((sum, one, index) => sum + (one === false ? (view.counted_s[index] ?? 0) : 0), 0)
  const now = last === null ? 'not watched' : last ? 'answers' : 'does not answer'
  return down_s === 0 ? now : `${now}; down for ${durationText(down_s)} of this span`
}

const SETTLEMENTS: ChartDefinition = {
  id: 'settlement',
  title: 'Settlements under way',
  hint: 'Payments whose transfer was sent or is unknown; overdue after ten minutes.',
  draw: (view, axis) =>
    strips(
      entriesOf(SETTLEMENT).map(([name]) => settlementRow(view, name)),
      view,
      axis,
    ),
  columns: ({ settlement }) => entriesOf(SETTLEMENT).map(([name, title]) => [title, (index) => known(settlement[name][index], String)]),
}

const HEAD_AGE: ChartDefinition = {
  id: 'head',
  title: 'Age of the newest block',
  hint: 'Seconds between the newest block that was seen and the clock of this machine.',
  draw: (view, axis) => strips([headRow(view)], view, axis),
  columns: ({ chain_head_age_s }) => [['age', (index) => known(chain_head_age_s[index], (seconds) => `${seconds} s`)]],
}

function strips(rows: readonly Row[], { at_s, every_s }: HistoryView, axis: TimeAxis): VNode {
  return html`
    ${rows.map((row) => html`<${Strip} row=${row} times=${at_s} every_s=${every_s} axis=${axis} />`)}
    <${SharedTimes} axis=${axis} />
  `
}

function entriesOf<Name extends string>(titles: Readonly<Record<Name, string>>): [Name, string][] {
  return Object.entries(titles) as [Name, string][]
}

function known<Value>(value: Value | null | undefined, text: (value: Value) => string): string {
  return value === null || value === undefined ? '–' : text(value)
}

/** No bound where calls were made means that it lies beyond the largest. */
function latencyText({ calls, latency_ms }: HistoryView, share: 'p50' | 'p95' | 'p99', index: number): string {
  const ms = latency_ms[share][index]
  if (ms !== null && ms !== undefined) return `${ms} ms`
  return Object.values(calls).some((counts) => (counts[index] ?? 0) > 0) ? 'over 60,000 ms' : '–'
}

interface ChartProps {
  chart: ChartDefinition
  view: HistoryView | null
  axis: TimeAxis | null
}

/** A chart with its table, which is filled while it is open. The style sheet reserves the height of the drawing. */
function Chart({ chart: { id, title, hint, draw, columns }, view, axis }: ChartProps) {
  const [open, setOpen] = useState(false)
  return html`<figure class=${`chart ${id}`} aria-labelledby=${`title-${id}`}>
    <figcaption>
      <h3 id=${`title-${id}`}>${title}</h3>
      <p class="hint">${hint}</p>
    </figcaption>
    <div class="drawing" id=${`chart-${id}`}>${view !== null && axis !== null && draw(view, axis)}</div>
    <details id=${`table-${id}`} onToggle=${(event: TargetedEvent<HTMLDetailsElement>) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      <div class="rows">${open && view !== null && html`<${PointTable} view=${view} columns=${columns(view)} />`}</div>
    </details>
  </figure>`
}

/** Every point of a chart, newest first. Scrolls inside itself, so the keyboard must reach it. */
function PointTable({ view, columns }: { view: HistoryView; columns: ReturnType<ChartDefinition['columns']> }) {
  if (view.at_s.length === 0) return html`<p>Nothing was counted yet.</p>`
  const caption = `One row for each ${durationText(view.every_s)}, newest first`
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="list">
      <caption>${caption}</caption>
      <thead><tr><th scope="col">from</th>${columns.map(([title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>
        ${view.at_s
          .map((at_s, index) => html`<tr><td>${clockText(at_s)}</td>${columns.map(([, textAt]) => html`<td>${textAt(index)}</td>`)}</tr>`)
          .toReversed()}
      </tbody>
    </table>
  </div>`
}
