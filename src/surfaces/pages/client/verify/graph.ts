/** Digest and link of a receipt. Links form a graph: several receipts may link to one. */
export interface LinkedReceipt {
  /** Null if the receipt has no digest. */
  digest: string | null
  /** Digest that its link names; null without a link. */
  follows: string | null
  /** Null if the link could not be verified. */
  link_valid: boolean | null
}

interface ReceiptGraphRow {
  /** Index in the given list; null for an earlier receipt that a link names but that was not given. */
  entry: number | null
  digest: string | null
  lane: number
}

/** A line from an earlier receipt to one that links to it; both are indexes of rows. */
export interface ReceiptGraphEdge {
  from: number
  to: number
  /** `broken` also if the link could not be verified. */
  state: 'good' | 'broken'
  /** The earlier receipt was not given, so only the link itself was verified. */
  missing: boolean
}

export interface ReceiptGraph {
  rows: ReceiptGraphRow[]
  edges: ReceiptGraphEdge[]
  lanes: number
  /** Entries whose link closes a cycle. It is not drawn; a correct issuer never makes one. */
  circular: number[]
}

interface Node extends LinkedReceipt {
  entry: number | null
  children: Node[]
}

/**
 * Lays the receipts out in rows and lanes, earliest first. A single follower stays in the lane; several followers of one receipt move to
 * the next lane, in the given order. A receipt that was given twice has two rows; its followers are drawn from the first.
 */
export function layOutReceipts(receipts: readonly LinkedReceipt[]): ReceiptGraph {
  const nodes = receipts.map((receipt, entry): Node => ({ ...receipt, entry, children: [] }))
  const by_digest = new Map<string, Node>()
  for (const node of nodes) if (node.digest !== null && !by_digest.has(node.digest)) by_digest.set(node.digest, node)
  const roots: Node[] = []
  const missing = new Map<string, Node>()
  for (const node of nodes) {
    if (node.follows === null || node.follows === node.digest) roots.push(node)
    else (by_digest.get(node.follows) ?? missingReceipt(node.follows, missing, roots)).children.push(node)
  }
  const graph: ReceiptGraph = {
    rows: [],
    edges: [],
    lanes: 1,
    circular: nodes.flatMap((node, index) => (node.follows !== null && node.follows === node.digest ? [index] : [])),
  }
  const seen = new Set<Node>()
  addRows(graph, roots, seen)
  // Receipts that no root leads to form a cycle, which is opened at the first of them.
  for (const node of nodes) {
    if (seen.has(node)) continue
    if (node.entry !== null) graph.circular.push(node.entry)
    addRows(graph, [node], seen)
  }
  return graph
}

/** Returns the node of an earlier receipt that was not given; one for all links that name it. */
function missingReceipt(digest: string, missing: Map<string, Node>, roots: Node[]): Node {
  const known = missing.get(digest)
  if (known !== undefined) return known
  const node: Node = { digest, follows: null, link_valid: null, entry: null, children: [] }
  missing.set(digest, node)
  roots.push(node)
  return node
}

/** Adds rows for each root and its followers, depth first, without recursion because chains may be long. */
function addRows(graph: ReceiptGraph, roots: readonly Node[], seen: Set<Node>): void {
  const stack = roots.toReversed().map((node) => ({ node, lane: 0, from: null as number | null }))
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, lane, from } = next
    if (seen.has(node)) continue
    seen.add(node)
    const to = graph.rows.push({ entry: node.entry, digest: node.digest, lane }) - 1
    graph.lanes = Math.max(graph.lanes, lane + 1)
    if (from !== null)
      graph.edges.push({ from, to, state: node.link_valid === true ? 'good' : 'broken', missing: graph.rows[from]?.entry === null })
    const below = lane + (node.children.length > 1 ? 1 : 0)
    stack.push(...node.children.toReversed().map((child) => ({ node: child, lane: below, from: to })))
  }
}
