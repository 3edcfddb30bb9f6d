import type { TargetedEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { durationText } from '../../../pure/duration-text.ts'
import type { HistoryView, Span } from '../../../service/telemetry/history.ts'
import { html } from '../html.ts'
import { chartsOf, SPAN_S } from './status-plots.ts'

export interface StatusChartsProps {
  bounds: Parameters<typeof chartsOf>[0]
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
    ${chartsOf(bounds, takes_payments).map((chart) => html`<${Chart} key=${chart.id} chart=${chart} view=${view} width=${width} />`)}
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

interface ChartProps {
  chart: ReturnType<typeof chartsOf>[number]
  view: HistoryView | null
  width: number | null
}

/** A chart with its table, which is filled while it is open. The style sheet reserves the height of the drawing. */
function Chart({ chart: { id, title, hint, draw, columns }, view, width }: ChartProps) {
  const [open, setOpen] = useState(false)
  return html`<figure class=${`chart ${id}`} aria-labelledby=${`title-${id}`}>
    <figcaption>
      <h3 id=${`title-${id}`}>${title}</h3>
      <p class="hint">${hint}</p>
    </figcaption>
    <div class="drawing" id=${`chart-${id}`}>${view !== null && width !== null && draw(view, width)}</div>
    <details id=${`table-${id}`} onToggle=${(event: TargetedEvent<HTMLDetailsElement>) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      <div class="rows">${open && view !== null && html`<${PointTable} view=${view} columns=${columns(view)} />`}</div>
    </details>
  </figure>`
}

/** Every point of a chart, newest first. Scrolls inside itself, so the keyboard must reach it. */
function PointTable({ view, columns }: { view: HistoryView; columns: ReturnType<ChartProps['chart']['columns']> }) {
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

/** Reads a span; later than a time when one is given. Rejects when the service does not answer as it should. */
async function readHistory(span: Span, after_s: number | null, signal: AbortSignal): Promise<HistoryView> {
  const response = await fetch(`/status/history.json?span=${span}${after_s === null ? '' : `&after=${after_s}`}`, { signal })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return (await response.json()) as HistoryView
}

/**
 * The older view continued by the newer one, which begins where the older was not yet complete. Points that have left the span go. Every
 * list of a view is as long as its times, so the same cuts serve all.
 */
function continued(older: HistoryView, newer: HistoryView): HistoryView {
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
