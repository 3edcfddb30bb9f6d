import type { VNode } from 'preact'
import type { HistoryView } from '../../../service/telemetry/history.ts'
import type { Row } from '../client/status/rows.ts'
import { html } from '../html.ts'

/** The period that is drawn, and its place in the drawing, in pixels. */
export interface TimeAxis {
  from_s: number
  to_s: number
  left: number
  right: number
}

/** Width in pixels of the label columns left and right of a chart. */
export const GUTTERS = { left: 64, right: 44 } as const

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
export function Strip({ row, times, every_s, axis }: StripProps) {
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
export function UpStrip({ name, now, up, times, every_s, axis }: UpStripProps) {
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
export function SharedTimes({ axis }: { axis: TimeAxis }) {
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
export function LatencyChart({ view, axis }: { view: HistoryView; axis: TimeAxis }) {
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
