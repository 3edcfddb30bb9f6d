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

/** Tests whether a point on the line from `a` to `b` lies between them, ends included. */
function between(a: PointE7, b: PointE7, c: PointE7): boolean {
  return Math.min(a.x, b.x) <= c.x && c.x <= Math.max(a.x, b.x) && Math.min(a.y, b.y) <= c.y && c.y <= Math.max(a.y, b.y)
}

interface Edge {
  readonly from: PointE7
  readonly to: PointE7
}

/** The edges of a ring; the last one closes it. */
function edgesOf(vertices: readonly PointE7[]): Edge[] {
  return vertices.map((from, index) => ({ from, to: vertices[(index + 1) % vertices.length] ?? from }))
}

/**
 * Tests whether a ring without repeated neighbours meets itself: two edges cross, touch or overlap anywhere but where neighbours join. Exact;
 * work grows with the square of the vertices, so the caller bounds them.
 */
function meetsItself(vertices: readonly PointE7[]): boolean {
  const edges = edgesOf(vertices)
  return edges.some((edge, index) => {
    const next = edges[(index + 1) % edges.length]
    if (next !== undefined && turnsBack(edge, next)) return true
    for (let other = index + 2; other < edges.length; other++) {
      const far = edges[other]
      // The last edge joins the first one.
      const joined = index === 0 && other === edges.length - 1
      if (far !== undefined && !joined && touch(edge, far)) return true
    }
    return false
  })
}

/** Tests whether the second edge runs back along the first. */
function turnsBack({ from, to }: Edge, next: Edge): boolean {
  if (orientation(from, to, next.to) !== 0) return false
  const opposite = (a: number, b: number) => Math.sign(a) === -Math.sign(b)
  return opposite(to.x - from.x, next.to.x - to.x) && opposite(to.y - from.y, next.to.y - to.y)
}

function touch(one: Edge, other: Edge): boolean {
  if (apart(one.from.x, one.to.x, other.from.x, other.to.x) || apart(one.from.y, one.to.y, other.from.y, other.to.y)) return false
  const [a, b] = [orientation(one.from, one.to, other.from), orientation(one.from, one.to, other.to)]
  const [c, d] = [orientation(other.from, other.to, one.from), orientation(other.from, other.to, one.to)]
  if (a !== b && c !== d) return true
  return (
    (a === 0 && between(one.from, one.to, other.from)) ||
    (b === 0 && between(one.from, one.to, other.to)) ||
    (c === 0 && between(other.from, other.to, one.from)) ||
    (d === 0 && between(other.from, other.to, one.to))
  )
}

function apart(a: number, b: number, c: number, d: number): boolean {
  return Math.max(a, b) < Math.min(c, d) || Math.max(c, d) < Math.min(a, b)
}

/** Degrees in E7: a quarter and a half turn, and a whole one. */
const POLE = 900_000_000
const MERIDIAN = 1_800_000_000
const TURN = 3_600_000_000

/** More vertices than these are not read: the test whether a ring meets itself looks at pairs of edges. */
export const RING_VERTICES_MAX = 1_000

/** A place as it is written: latitude and longitude in ten-millionths of a degree. */
export interface PlaceE7 {
  readonly lat_e7: number
  readonly lon_e7: number
}

export type RingFault =
  | 'ring_out_of_range'
  | 'ring_too_few_vertices'
  | 'ring_reaches_pole'
  | 'ring_edge_too_long'
  | 'ring_zero_area'
  | 'ring_self_crossing'

/** A ring that encloses one area. */
export interface Geofence {
  readonly vertices: readonly PointE7[]
  /** Longitudes run from 0 to 360 degrees instead of from -180 to 180. */
  readonly crosses_antimeridian: boolean
}

/**
 * Reads a ring of at most `RING_VERTICES_MAX` integer places. It closes by itself; a repeated last vertex, and neighbours that are the same,
 * count once. Edges are straight in longitude and latitude. Refused: places off the globe, fewer than three distinct vertices, a vertex at a
 * pole (where longitude means nothing), an edge that spans 180 degrees of longitude or more, no area, and a ring that meets itself. A ring
 * over the antimeridian has to say so; -180 and 180 degrees are one meridian. Errs towards refusing: what it reads has one inside.
 */
export function readGeofence(
  ring: readonly PlaceE7[],
  crosses_antimeridian: boolean,
): { ok: true; fence: Geofence } | { ok: false; code: RingFault } {
  const refuse = (code: RingFault) => ({ ok: false, code }) as const
  if (!ring.every(onGlobe)) return refuse('ring_out_of_range')
  const vertices = withoutRepeats(onOneSheet(ring, crosses_antimeridian))
  if (new Set(vertices.map(({ x, y }) => `${x} ${y}`)).size < 3) return refuse('ring_too_few_vertices')
  if (ring.some(({ lat_e7 }) => Math.abs(lat_e7) === POLE)) return refuse('ring_reaches_pole')
  if (edgesOf(vertices).some(({ from, to }) => Math.abs(from.x - to.x) >= MERIDIAN)) return refuse('ring_edge_too_long')
  // A ring that does not meet itself has area unless all of it lies on one line.
  if (vertices.every((vertex) => orientation(vertices[0] ?? vertex, vertices[1] ?? vertex, vertex) === 0)) return refuse('ring_zero_area')
  if (meetsItself(vertices)) return refuse('ring_self_crossing')
  return { ok: true, fence: { vertices, crosses_antimeridian } }
}

export function onGlobe({ lat_e7, lon_e7 }: PlaceE7): boolean {
  return Math.abs(lat_e7) <= POLE && Math.abs(lon_e7) <= MERIDIAN
}

/** Locates a place on the globe; the boundary has no width. Exact. */
export function locate({ vertices, crosses_antimeridian }: Geofence, place: PlaceE7): 'inside' | 'boundary' | 'outside' {
  const y = place.lat_e7
  if (crosses_antimeridian) return locatePoint(vertices, { x: eastOf(place.lon_e7), y })
  if (Math.abs(place.lon_e7) !== MERIDIAN) return locatePoint(vertices, { x: place.lon_e7, y })
  // One meridian with two names: the ring may have used either.
  const found = [MERIDIAN, -MERIDIAN].map((x) => locatePoint(vertices, { x, y }))
  return found.find((one) => one !== 'outside') ?? 'outside'
}

/** The even-odd rule, an edge counting from its lower end up to, and without, its upper one; the boundary is tested apart. */
function locatePoint(vertices: readonly PointE7[], point: PointE7): 'inside' | 'boundary' | 'outside' {
  let inside = false
  for (const { from, to } of edgesOf(vertices)) {
    const crosses = from.y > point.y !== to.y > point.y
    const near = between(from, to, point)
    if (!crosses && !near) continue
    const side = orientation(from, to, point)
    if (side === 0 && near) return 'boundary'
    if (crosses && to.y > from.y === side > 0) inside = !inside
  }
  return inside ? 'inside' : 'outside'
}

function eastOf(lon_e7: number): number {
  return lon_e7 < 0 ? lon_e7 + TURN : lon_e7
}

/** Vertices on one sheet: longitudes of one turn, the antimeridian under the name of the side that the others are on. */
function onOneSheet(ring: readonly PlaceE7[], crosses_antimeridian: boolean): PointE7[] {
  const points = ring.map(({ lat_e7, lon_e7 }) => ({ x: lon_e7, y: lat_e7 }))
  if (crosses_antimeridian) return points.map(({ x, y }) => ({ x: eastOf(x), y }))
  const others = points.filter(({ x }) => Math.abs(x) !== MERIDIAN)
  const side = others.every(({ x }) => x >= 0) ? MERIDIAN : others.every(({ x }) => x <= 0) ? -MERIDIAN : null
  return side === null ? points : points.map(({ x, y }) => ({ x: Math.abs(x) === MERIDIAN ? side : x, y }))
}

function withoutRepeats(points: readonly PointE7[]): PointE7[] {
  return points.filter(({ x, y }, index) => {
    const before = points[index === 0 ? points.length - 1 : index - 1]
    return before === undefined || points.length === 1 || before.x !== x || before.y !== y
  })
}
