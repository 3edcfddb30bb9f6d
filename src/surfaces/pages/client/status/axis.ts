import { svg } from '../dom.ts'

/** The stretch of time that is drawn, and its place on the paper, in pixels. */
export interface TimeAxis {
  from_s: number
  to_s: number
  left: number
  right: number
}

/** Room for what stands left and right of a chart. */
export const GUTTERS = { left: 64, right: 44 } as const

export function xOf({ from_s, to_s, left, right }: TimeAxis, at_s: number): number {
  return left + ((at_s - from_s) / (to_s - from_s)) * (right - left)
}

/** Whole steps of the clock that leave room for their labels. */
const STEPS_S = [300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600]
const LABEL_ROOM = 64

function ticksOf(axis: TimeAxis): number[] {
  const { from_s, to_s, left, right } = axis
  const fits = (step: number) => ((right - left) * step) / (to_s - from_s) >= LABEL_ROOM
  const step = STEPS_S.find(fits) ?? STEPS_S.at(-1) ?? 3_600
  const first = Math.ceil(from_s / step) * step
  return Array.from({ length: Math.floor((to_s - first) / step) + 1 }, (_, index) => first + index * step)
}

/** Hours and minutes in UTC, as the whole service counts time. */
function clockText(at_s: number): string {
  return new Date(at_s * 1_000).toISOString().slice(11, 16)
}

export function clockTextExact(at_s: number): string {
  return `${new Date(at_s * 1_000).toISOString().slice(11, 19)} UTC`
}

/** Upright hairlines at whole steps. */
export function gridLines(axis: TimeAxis, top: number, bottom: number): SVGElement[] {
  return ticksOf(axis).map((at_s) => {
    const x = String(Math.round(xOf(axis, at_s)) + 0.5)
    return svg('line', { class: 'grid', x1: x, x2: x, y1: String(top), y2: String(bottom) })
  })
}

/** The times under a chart. */
export function timeLabels(axis: TimeAxis, y: number): SVGElement[] {
  return ticksOf(axis).map((at_s) =>
    svg('text', { class: 'tick-label', x: String(Math.round(xOf(axis, at_s))), y: String(y), 'text-anchor': 'middle' }, clockText(at_s)),
  )
}
