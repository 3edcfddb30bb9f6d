import type { PointE7 } from '../../src/pure/geometry/geofence.ts'

/** Plane geometry in exact fractions, by other formulas than the code under test: intersections are solved, nothing is rounded. */

type Exact = readonly [x: bigint, y: bigint]

const exact = ({ x, y }: PointE7): Exact => [BigInt(x), BigInt(y)]
const minus = (a: Exact, b: Exact): Exact => [a[0] - b[0], a[1] - b[1]]
const cross = (a: Exact, b: Exact) => a[0] * b[1] - a[1] * b[0]
const dot = (a: Exact, b: Exact) => a[0] * b[0] + a[1] * b[1]
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)

export function exactSide(a: PointE7, b: PointE7, c: PointE7): -1 | 0 | 1 {
  const turn = cross(minus(exact(b), exact(a)), minus(exact(c), exact(a)))
  return turn > 0n ? 1 : turn < 0n ? -1 : 0
}

function edges(ring: readonly PointE7[]): [Exact, Exact][] {
  return ring.map((from, index) => [exact(from), exact(ring[(index + 1) % ring.length] ?? from)])
}

/** Solves where the line of each edge meets the height of the point. */
export function exactLocation(ring: readonly PointE7[], point: PointE7): 'inside' | 'boundary' | 'outside' {
  const [px, py] = exact(point)
  let right = 0
  for (const [a, b] of edges(ring)) {
    const [low, high] = a[1] < b[1] ? [a, b] : [b, a]
    if (low[1] === high[1]) {
      if (py === low[1] && least(a[0], b[0]) <= px && px <= most(a[0], b[0])) return 'boundary'
      continue
    }
    if (py < low[1] || py > high[1]) continue
    // x at this height, times the rise of the edge, which is above zero.
    const rise = high[1] - low[1]
    const met = low[0] * rise + (py - low[1]) * (high[0] - low[0])
    if (met === px * rise) return 'boundary'
    if (py < high[1] && met > px * rise) right++
  }
  return right % 2 === 1 ? 'inside' : 'outside'
}

/** What is wrong with a ring of distinct vertices, by solving every pair of edges. */
export function ringFault(ring: readonly PointE7[]): 'ring_zero_area' | 'ring_self_crossing' | null {
  const [first, second] = ring
  if (first === undefined || second === undefined) throw new Error('A ring has vertices.')
  if (ring.every((point) => exactSide(first, second, point) === 0)) return 'ring_zero_area'
  const all = edges(ring)
  const meets = all.some((one, index) =>
    all.slice(index + 1).some((other, offset) => {
      const joined = offset === 0 || (index === 0 && offset === all.length - 2)
      return shared(one, other) > (joined ? 1 : 0)
    }),
  )
  return meets ? 'ring_self_crossing' : null
}

/** How many points two edges share: none, one, or 2 for a whole stretch. */
function shared([a, b]: [Exact, Exact], [c, d]: [Exact, Exact]): 0 | 1 | 2 {
  const [u, v, gap] = [minus(b, a), minus(d, c), minus(c, a)]
  const turn = cross(u, v)
  if (turn !== 0n) {
    const within = (part: bigint) => (turn > 0n ? 0n <= part && part <= turn : turn <= part && part <= 0n)
    return within(cross(gap, v)) && within(cross(gap, u)) ? 1 : 0
  }
  if (cross(gap, u) !== 0n) return 0
  // On one line: the stretch of the other edge, in parts of this one.
  const [from, to] = [dot(gap, u), dot(minus(d, a), u)]
  const [start, end] = [most(0n, least(from, to)), least(dot(u, u), most(from, to))]
  return start > end ? 0 : start === end ? 1 : 2
}

/**
 * A lattice point on the line of an edge (`side` 0) or as near to it as lattice points get (-1, 1; larger: a few steps away), within the
 * plane; null when there is none.
 */
export function besideEdge(from: PointE7, to: PointE7, along: number, side: number): PointE7 | null {
  const [run, rise] = [BigInt(to.x - from.x), BigInt(to.y - from.y)]
  const { divisor, x, y } = bezout(run, rise)
  if (divisor === 0n) return null
  const [step_x, step_y] = [run / divisor, rise / divisor]
  const steps = BigInt(along) % (divisor + 1n)
  // run * x + rise * y = divisor, so (-y, x) lies one row of the lattice to the left; the row repeats with every step along the edge.
  const [off_x, off_y] = [-y * BigInt(side), x * BigInt(side)]
  const point = { x: from.x + Number(steps * step_x + off_x), y: from.y + Number(steps * step_y + off_y) }
  return Math.abs(point.x) < 900_000_000 && Math.abs(point.y) < 900_000_000 ? point : null
}

/** run * x + rise * y = divisor, the greatest common one, not below zero. */
function bezout(run: bigint, rise: bigint): { divisor: bigint; x: bigint; y: bigint } {
  let [a, b, x, y, next_x, next_y] = [run, rise, 1n, 0n, 0n, 1n]
  while (b !== 0n) {
    const quotient = a / b
    ;[a, b] = [b, a - quotient * b]
    ;[x, next_x] = [next_x, x - quotient * next_x]
    ;[y, next_y] = [next_y, y - quotient * next_y]
  }
  return a < 0n ? { divisor: -a, x: -x, y: -y } : { divisor: a, x, y }
}
