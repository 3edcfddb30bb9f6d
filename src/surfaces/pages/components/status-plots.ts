import type { VNode } from 'preact'
import { durationText } from '../../../pure/duration-text.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import type { HistoryView, Span } from '../../../service/telemetry/history.ts'
import { html } from '../html.ts'

/** Values of one strip over time. */
interface Row {
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

const CALLS = { answered: 'answered', payment_required: 'asked to pay', refused: 'refused', failed: 'failed' } as const

const SOURCES = { store: 'store', chain: 'chain', prices: 'market prices' } as const

const SETTLEMENT = { waiting: 'under way', overdue: 'overdue' } as const

type CallName = keyof typeof CALLS
type SettlementName = keyof typeof SETTLEMENT

/** Calls a minute; null for a stretch of which nothing was counted. */
function perMinute(view: HistoryView, name: CallName): (number | null)[] {
  return view.calls[name].map((count, index) => {
    const counted_s = view.counted_s[index] ?? 0
    return counted_s === 0 ? null : (count * 60) / counted_s
  })
}

function callRow(view: HistoryView, name: CallName): Row {
  const values = perMinute(view, name)
  return { name: CALLS[name], now: lastText(values, rateText), values, scale: upTo(values, 1), form: 'counted', bad: name === 'failed' }
}

function settlementRow(view: HistoryView, name: SettlementName): Row {
  const values = view.settlement[name]
  return { name: SETTLEMENT[name], now: lastText(values, String), values, scale: upTo(values, 1), form: 'counted', bad: name === 'overdue' }
}

/** Amounts stay whole numbers; only their place on the paper is a fraction. */
function priceRow(view: HistoryView, name: keyof HistoryView['prices_minor'], bounds: readonly [floor: string, cap: string]): Row {
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

function headRow(view: HistoryView): Row {
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

function rateText(rate: number): string {
  return `${rate >= 10 || Number.isInteger(rate) ? Math.round(rate) : rate.toFixed(1)} a minute`
}

/** The period that is drawn, and its place in the drawing, in pixels. */
interface TimeAxis {
  from_s: number
  to_s: number
  left: number
  right: number
}

/** Width in pixels of the label columns left and right of a chart. */
const GUTTERS = { left: 64, right: 44 } as const

/** Seconds that a chart of this span shows. */
export const SPAN_S: Record<Span, number> = { hour: 3_600, day: 86_400 }

/** Time axis with the newest point at the right edge. */
function axisOf(view: HistoryView, width: number): TimeAxis {
  const to_s = (view.at_s.at(-1) ?? 0) + view.every_s
  return { from_s: to_s - SPAN_S[view.span], to_s, left: GUTTERS.left, right: Math.max(GUTTERS.left + 100, width - GUTTERS.right) }
}

function xOf({ from_s, to_s, left, right }: TimeAxis, at_s: number): number {
  return left + ((at_s - from_s) / (to_s - from_s)) * (right - left)
}

/** Label steps in seconds; the first that leaves room for the labels is used. */
const STEPS_S = [300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600]
const LABEL_ROOM = 64

function ticksOf(axis: TimeAxis): number[] {
  const { from_s, to_s, left, right } = axis
  const fits = (step: number) => ((right - left) * step) / (to_s - from_s) >= LABEL_ROOM
  const step = STEPS_S.find(fits) ?? STEPS_S.at(-1) ?? 3_600
  const first = Math.ceil(from_s / step) * step
  return Array.from({ length: Math.floor((to_s - first) / step) + 1 }, (_, index) => first + index * step)
}

/** Upright hairlines at the ticks. */
function GridLines({ axis, top, bottom }: { axis: TimeAxis; top: number; bottom: number }) {
  return html`<g>
    ${ticksOf(axis).map((at_s) => {
      const x = Math.round(xOf(axis, at_s)) + 0.5
      return html`<line class="grid" x1=${x} x2=${x} y1=${top} y2=${bottom} />`
    })}
  </g>`
}

/** Hours and minutes in UTC under a chart. */
function TimeLabels({ axis, y }: { axis: TimeAxis; y: number }) {
  return html`<g>
    ${ticksOf(axis).map(
      (at_s) => html`<text class="tick-label" x=${Math.round(xOf(axis, at_s))} y=${y} text-anchor="middle"
        >${new Date(at_s * 1_000).toISOString().slice(11, 16)}</text
      >`,
    )}
  </g>`
}

function ScaleLabel({ axis, y, text }: { axis: TimeAxis; y: number; text: string }) {
  return html`<text class="tick-label" x=${axis.left - 8} y=${Math.round(y)} text-anchor="end">${text}</text>`
}

/** A drawing as wide as its container, described in words. */
function Plot({ label, axis, height, children }: { label: string; axis: TimeAxis; height: number; children: VNode[] }) {
  return html`<svg class="plot" role="img" aria-label=${label} width=${axis.right + 1} height=${height}>${children}</svg>`
}

interface StripProps {
  row: Row
  times: readonly number[]
  every_s: number
  axis: TimeAxis
}

const STRIP_HEIGHT = 44
const PAD = 6

/** A narrow chart of one row, with its name and its current value above it. */
function Strip({ row, times, every_s, axis }: StripProps) {
  const { name, now, scale, form } = row
  const ground = STRIP_HEIGHT - PAD
  const yOf = (value: number) => ground - ((value - scale.from) / (scale.to - scale.from || 1)) * (ground - PAD)
  const steps = times.map((at_s, index): Step => {
    const value = row.values[index] ?? null
    return { from: xOf(axis, at_s), to: xOf(axis, at_s + every_s), y: value === null ? null : yOf(value) }
  })
  const kind = row.bad === true ? 'bad' : 'plain'
  const label = `${name}: ${now}; the strip reaches from ${scale.from_label} to ${scale.to_label}.`
  return html`<div class="strip">
    <p class="strip-head"><b>${name}</b> <span>${now}</span></p>
    <${Plot} label=${label} axis=${axis} height=${STRIP_HEIGHT}>
      <${GridLines} axis=${axis} top=${0} bottom=${STRIP_HEIGHT} />
      <line class="ground" x1=${axis.left} x2=${axis.right} y1=${ground + 0.5} y2=${ground + 0.5} />
      ${form === 'counted' && html`<path class=${`area ${kind}`} d=${stepArea(steps, ground)} />`}
      <path class=${`trace ${kind}`} d=${stepLine(steps)} />
      <${ScaleLabel} axis=${axis} y=${PAD + 8} text=${scale.to_label} />
      <${ScaleLabel} axis=${axis} y=${ground + 2} text=${scale.from_label} />
    <//>
  </div>`
}

interface UpStripProps {
  name: string
  now: string
  up: readonly (boolean | null)[]
  times: readonly number[]
  every_s: number
  axis: TimeAxis
}

const UP_HEIGHT = 24

/** Availability over time: a line while up, a hatched block while down, empty where unknown (null). */
function UpStrip({ name, now, up, times, every_s, axis }: UpStripProps) {
  const hatch_id = `hatch-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
  const stretch = (index: number) => [xOf(axis, times[index] ?? 0), xOf(axis, (times[index] ?? 0) + every_s)] as const
  const steps = up.map((one, index): Step => {
    const [from, to] = stretch(index)
    return { from, to, y: one === true ? UP_HEIGHT / 2 : null }
  })
  return html`<div class="strip">
    <p class="strip-head"><b>${name}</b> <span>${now}</span></p>
    <${Plot} label=${`${name}: ${now}.`} axis=${axis} height=${UP_HEIGHT}>
      <pattern id=${hatch_id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line class="hatch" x1="0" y1="0" x2="0" y2="6" />
      </pattern>
      <${GridLines} axis=${axis} top=${0} bottom=${UP_HEIGHT} />
      <path class="trace plain" d=${stepLine(steps)} />
      ${up.map((one, index) => {
        const [from, to] = stretch(index)
        const width = Math.max(2, to - from).toFixed(1)
        return (
          one === false &&
          html`<rect class="down" fill=${`url(#${hatch_id})`} x=${from.toFixed(1)} y="3" width=${width} height=${UP_HEIGHT - 6} />`
        )
      })}
    <//>
  </div>`
}

const LABELS_HEIGHT = 22

/** Time labels that the strips above share. Hidden from screen readers, which have the tables. */
function SharedTimes({ axis }: { axis: TimeAxis }) {
  return html`<div class="times">
    <svg class="plot" aria-hidden="true" width=${axis.right + GUTTERS.right} height=${LABELS_HEIGHT}>
      <${TimeLabels} axis=${axis} y=${16} />
    </svg>
  </div>`
}

const SHARES = ['p50', 'p95', 'p99'] as const
const SHARE_NAMES = { p50: 'half', p95: '95 %', p99: '99 %' } as const
const [TOP, BOTTOM, LATENCY_HEIGHT] = [12, 212, 240]
/** Lowest value of the latency scale; the highest grows by whole decades. */
const LEAST_MS = 0.5

/** Latency percentiles (50, 95, 99) as three lines, distinguished by stroke and by the labels at their ends. */
function LatencyChart({ view, axis }: { view: HistoryView; axis: TimeAxis }) {
  const most_ms = view.latency_ms.p99.reduce<number>((most, ms) => Math.max(most, ms ?? 0), 1)
  const decades = Math.max(2, Math.ceil(Math.log10(most_ms)))
  const yOf = (ms: number) => BOTTOM - (Math.log10(ms / LEAST_MS) / Math.log10(10 ** decades / LEAST_MS)) * (BOTTOM - TOP)
  const traces = SHARES.map((share) => {
    const steps = view.at_s.map((at_s, index): Step => {
      const ms = view.latency_ms[share][index] ?? null
      return { from: xOf(axis, at_s), to: xOf(axis, at_s + view.every_s), y: ms === null ? null : yOf(Math.max(LEAST_MS, ms)) }
    })
    return { share, d: stepLine(steps), end: steps.findLast(({ y }) => y !== null)?.y ?? null }
  })
  const levels = Array.from({ length: decades + 1 }, (_, power) => 10 ** power)
  return html`<div class="latency-plot">
    <${Plot} label=${latencyWords(view)} axis=${{ ...axis, right: axis.right + GUTTERS.right - 1 }} height=${LATENCY_HEIGHT}>
      <${GridLines} axis=${axis} top=${TOP} bottom=${BOTTOM} />
      ${levels.map((ms) => {
        const y = Math.round(yOf(ms)) + 0.5
        return html`<line class="grid" x1=${axis.left} x2=${axis.right} y1=${y} y2=${y} />
          <${ScaleLabel} axis=${axis} y=${yOf(ms) + 5} text=${ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`} />`
      })}
      ${traces.map(({ share, d }) => html`<path class=${`trace ${share}`} d=${d} />`)}
      ${endLabels(traces).map(
        ({ share, y }) => html`<text class=${`end-label ${share}`} x=${axis.right + 6} y=${y}>${SHARE_NAMES[share]}</text>`,
      )}
      <${TimeLabels} axis=${axis} y=${LATENCY_HEIGHT - 8} />
    <//>
    ${view.latency_ms.p50.every((ms) => ms === null) && html`<p class="nothing">No call in this span.</p>`}
  </div>`
}

/** Labels at the ends of the lines, moved apart where they would overlap. */
function endLabels(traces: readonly { share: (typeof SHARES)[number]; end: number | null }[]) {
  let free = BOTTOM + 8
  return traces.flatMap(({ share, end }) => {
    if (end === null) return []
    const y = Math.min(end + 5, free)
    free = y - 16
    return [{ share, y: Math.round(y) }]
  })
}

function latencyWords({ latency_ms }: HistoryView): string {
  const last = (share: (typeof SHARES)[number]) => latency_ms[share].findLast((ms) => ms !== null) ?? null
  const [half, most] = [last('p50'), last('p99')]
  return half === null
    ? 'Time to answer: no call in this span.'
    : `Time to answer at last: half of the calls within ${half} ms, 99 % within ${most ?? 'more than 60,000'} ms. The table below has every point.`
}

/** One value of a row, and the stretch of time for which it holds. */
interface Step {
  from: number
  to: number
  y: number | null
}

/** SVG path of a step line: each value spans its whole interval. The line breaks at null values and at gaps in time. */
function stepLine(steps: readonly Step[]): string {
  let text = ''
  let pen: { x: number; y: number } | null = null
  for (const { from, to, y } of steps) {
    if (y === null) {
      pen = null
      continue
    }
    const [x, end, height] = [round(from), round(to), round(y)]
    if (pen === null || x - pen.x > GAP) text += `M${x} ${height}`
    else if (height !== pen.y) text += `H${x}V${height}`
    text += `H${end}`
    pen = { x: end, y: height }
  }
  return text
}

/** The same as a filled shape down to the ground. */
function stepArea(steps: readonly Step[], ground: number): string {
  return steps
    .filter((step): step is Step & { y: number } => step.y !== null && step.y < ground)
    .map(({ from, to, y }) => `M${round(from)} ${round(ground)}V${round(y)}H${round(to)}V${round(ground)}z`)
    .join('')
}

/** Pixels that two stretches may be apart and still be one line. */
const GAP = 3

function round(value: number): number {
  return Math.round(value * 10) / 10
}

interface ChartDefinition {
  id: string
  title: string
  hint: string
  draw(view: HistoryView, axis: TimeAxis): VNode
  /** Columns of the table: title, and the text at an index. */
  columns(view: HistoryView): readonly (readonly [title: string, textAt: (index: number) => string])[]
}

/** Charts of the page, each drawn in a width in pixels. `bounds` has floor and cap of each class of tools, in minor units. */
export function chartsOf(bounds: Readonly<Record<string, readonly [floor: string, cap: string]>>, takes_payments: boolean) {
  const charts: ChartDefinition[] = [
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
  return charts.map(({ draw, ...chart }) => ({
    ...chart,
    draw: (view: HistoryView, width: number) => draw(view, axisOf(view, width)),
  }))
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
