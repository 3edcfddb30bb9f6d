import { el, svg } from '../dom.ts'
import { gridLines, xOf, type TimeAxis } from './axis.ts'
import { stepArea, stepLine, type Step } from './paths.ts'

/** A row of values over time. */
export interface Row {
  name: string
  /** The value now, in words with its unit. */
  now: string
  values: readonly (number | null)[]
  /** What the height of the strip stands for; labels say it in the row's own unit. */
  scale: { from: number; to: number; from_label: string; to_label: string }
  /** Filled down to the ground, for what is counted; a bare line for what is measured. */
  form: 'counted' | 'measured'
  /** Worth a second look when it is not zero. */
  bad?: boolean
}

const HEIGHT = 44
const PAD = 6

/** A narrow chart of one row, with its name and its value now above it. */
export function strip(row: Row, times: readonly number[], every_s: number, axis: TimeAxis, words: string): HTMLElement {
  const { scale, form } = row
  const ground = HEIGHT - PAD
  const yOf = (value: number) => ground - ((value - scale.from) / (scale.to - scale.from || 1)) * (ground - PAD)
  const steps = times.map((at_s, index): Step => {
    const value = row.values[index] ?? null
    return { from: xOf(axis, at_s), to: xOf(axis, at_s + every_s), y: value === null ? null : yOf(value) }
  })
  const kind = row.bad === true ? 'bad' : 'plain'
  return el(
    'div',
    { class: 'strip' },
    el('p', { class: 'strip-head' }, el('b', {}, row.name), ' ', el('span', {}, row.now)),
    frame(
      words,
      axis,
      HEIGHT,
      ...gridLines(axis, 0, HEIGHT),
      svg('line', { class: 'ground', x1: String(axis.left), x2: String(axis.right), y1: String(ground + 0.5), y2: String(ground + 0.5) }),
      form === 'counted' ? svg('path', { class: `area ${kind}`, d: stepArea(steps, ground) }) : null,
      svg('path', { class: `trace ${kind}`, d: stepLine(steps) }),
      svg('text', { class: 'tick-label', x: String(axis.left - 8), y: String(PAD + 8), 'text-anchor': 'end' }, scale.to_label),
      svg('text', { class: 'tick-label', x: String(axis.left - 8), y: String(ground + 2), 'text-anchor': 'end' }, scale.from_label),
    ),
  )
}

/** Whether something was up: a line while it was, a hatched block while it was not, nothing where nobody knows. */
export function upStrip(
  name: string,
  now: string,
  up: readonly (boolean | null)[],
  times: readonly number[],
  every_s: number,
  axis: TimeAxis,
  words: string,
): HTMLElement {
  const [height, middle] = [24, 12]
  const hatch_id = `hatch-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
  const place = (index: number) => [xOf(axis, times[index] ?? 0), xOf(axis, (times[index] ?? 0) + every_s)] as const
  const line = stepLine(up.map((one, index): Step => ({ from: place(index)[0], to: place(index)[1], y: one === true ? middle : null })))
  const blocks = up
    .map((one, index) => ({ one, place: place(index) }))
    .filter(({ one }) => one === false)
    .map(({ place: [from, to] }) =>
      svg('rect', {
        class: 'down',
        fill: `url(#${hatch_id})`,
        x: from.toFixed(1),
        y: '3',
        width: Math.max(2, to - from).toFixed(1),
        height: String(height - 6),
      }),
    )
  return el(
    'div',
    { class: 'strip' },
    el('p', { class: 'strip-head' }, el('b', {}, name), ' ', el('span', {}, now)),
    frame(words, axis, height, hatch(hatch_id), ...gridLines(axis, 0, height), svg('path', { class: 'trace plain', d: line }), ...blocks),
  )
}

function hatch(id: string): SVGElement {
  return svg(
    'pattern',
    { id, width: '6', height: '6', patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('line', { class: 'hatch', x1: '0', y1: '0', x2: '0', y2: '6' }),
  )
}

/** A drawing as wide as its place, described in words. */
export function frame(words: string, { right }: TimeAxis, height: number, ...parts: (SVGElement | null)[]): SVGElement {
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': words, width: String(right + 1), height: String(height) }, ...parts)
}
