/** How receipts follow one another, as rows and lanes on paper. Links form a graph, not a line: several receipts may follow one. */

/** One receipt as the graph knows it. */
export interface Linked {
  /** Null when no digest could be formed. */
  digest: string | null
  /** The digest that its link names; null when it names none. */
  follows: string | null
  /** Whether the link holds; null when it could not be judged. */
  link_valid: boolean | null
}

interface Row {
  /** Place in the list that was given; null for an earlier receipt that is named but not here. */
  entry: number | null
  /** Null where none could be formed. */
  digest: string | null
  lane: number
}

/** A line from an earlier receipt to one that follows it; both are places in the rows. */
export interface Edge {
  from: number
  to: number
  /** `broken` also where it could not be judged. */
  state: 'good' | 'broken'
  /** The earlier one is not here, so only the link itself was judged. */
  missing: boolean
}

export interface Graph {
  rows: Row[]
  edges: Edge[]
  lanes: number
  /** Entries whose link closes a circle: it is not drawn, and no honest issuer makes one. */
  circular: number[]
}

interface Node extends Linked {
  entry: number | null
  children: Node[]
}

/**
 * Lays the receipts out from the earliest on, as a tree is listed: what follows alone stays in its lane, several that follow one stand in
 * the next lane below it, in the order in which they were given. A receipt that is given twice stands twice; what follows it hangs from the first.
 */
export function graphOf(receipts: readonly Linked[]): Graph {
  const nodes = receipts.map((receipt, entry): Node => ({ ...receipt, entry, children: [] }))
  const by_digest = new Map<string, Node>()
  for (const node of nodes) if (node.digest !== null && !by_digest.has(node.digest)) by_digest.set(node.digest, node)
  const roots: Node[] = []
  const ghosts = new Map<string, Node>()
  for (const node of nodes) {
    if (node.follows === null || node.follows === node.digest) roots.push(node)
    else (by_digest.get(node.follows) ?? ghostOf(node.follows, ghosts, roots)).children.push(node)
  }
  const graph: Graph = {
    rows: [],
    edges: [],
    lanes: 1,
    circular: nodes.flatMap((node, index) => (node.follows !== null && node.follows === node.digest ? [index] : [])),
  }
  const seen = new Set<Node>()
  place(graph, roots, seen)
  // Whatever no root leads to is a circle: it is opened at the first of its receipts.
  for (const node of nodes) {
    if (seen.has(node)) continue
    if (node.entry !== null) graph.circular.push(node.entry)
    place(graph, [node], seen)
  }
  return graph
}

/** The earlier receipt that is named and not here; one row for all that name it. */
function ghostOf(digest: string, ghosts: Map<string, Node>, roots: Node[]): Node {
  const known = ghosts.get(digest)
  if (known !== undefined) return known
  const ghost: Node = { digest, follows: null, link_valid: null, entry: null, children: [] }
  ghosts.set(digest, ghost)
  roots.push(ghost)
  return ghost
}

/** Walks each root and all that follows it, without recursion: a chain may be as long as it likes. */
function place(graph: Graph, roots: readonly Node[], seen: Set<Node>): void {
  const waiting = roots.toReversed().map((node) => ({ node, lane: 0, from: null as number | null }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, lane, from } = next
    if (seen.has(node)) continue
    seen.add(node)
    const to = graph.rows.push({ entry: node.entry, digest: node.digest, lane }) - 1
    graph.lanes = Math.max(graph.lanes, lane + 1)
    if (from !== null)
      graph.edges.push({ from, to, state: node.link_valid === true ? 'good' : 'broken', missing: graph.rows[from]?.entry === null })
    const below = lane + (node.children.length > 1 ? 1 : 0)
    waiting.push(...node.children.toReversed().map((child) => ({ node: child, lane: below, from: to })))
  }
}
