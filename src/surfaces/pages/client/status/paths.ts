/** One value of a row, and the stretch of time for which it holds. */
export interface Step {
  from: number
  to: number
  y: number | null
}

/** SVG path of a step line: each value spans its whole interval. The line breaks at null values and at gaps in time. */
export function stepLine(steps: readonly Step[]): string {
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
export function stepArea(steps: readonly Step[], ground: number): string {
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
