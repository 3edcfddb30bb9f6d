import { between, orientation, type PointE7 } from './orientation.ts'

interface Edge {
  readonly from: PointE7
  readonly to: PointE7
}

/** The edges of a ring; the last one closes it. */
export function edgesOf(vertices: readonly PointE7[]): Edge[] {
  return vertices.map((from, index) => ({ from, to: vertices[(index + 1) % vertices.length] ?? from }))
}

/**
 * Whether a ring without repeated neighbours meets itself: two edges cross, touch or overlap anywhere but where neighbours join. Exact;
 * work grows with the square of the vertices, so the caller bounds them.
 */
export function meetsItself(vertices: readonly PointE7[]): boolean {
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

/** Whether the second edge runs back along the first. */
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
