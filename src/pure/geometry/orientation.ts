/** A place on the plate carrée in E7 integers: x is longitude, y latitude, in ten-millionths of a degree. */
export interface PointE7 {
  readonly x: number
  readonly y: number
}

/**
 * Both products stay below 2^63, where doubles are at most 2^10 apart, and their difference below 2^64: three roundings are off by less
 * than 2^12 together. A larger result has the right sign.
 */
const SURE = 4_096

/**
 * On which side of the line from `a` to `b` the point `c` lies: 1 left, -1 right, 0 on it. Exact for integers whose differences stay within
 * 3.6e9 in x and 1.8e9 in y; a double alone takes some points off the line for points on it.
 */
export function orientation(a: PointE7, b: PointE7, c: PointE7): -1 | 0 | 1 {
  // Differences of such integers are exact in doubles.
  const [run, rise, along, up] = [b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y]
  const rounded = run * up - rise * along
  if (rounded > SURE) return 1
  if (rounded < -SURE) return -1
  const exact = BigInt(run) * BigInt(up) - BigInt(rise) * BigInt(along)
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
}

/** Whether a point known to be on the line from `a` to `b` lies between them, ends included. */
export function between(a: PointE7, b: PointE7, c: PointE7): boolean {
  return Math.min(a.x, b.x) <= c.x && c.x <= Math.max(a.x, b.x) && Math.min(a.y, b.y) <= c.y && c.y <= Math.max(a.y, b.y)
}
