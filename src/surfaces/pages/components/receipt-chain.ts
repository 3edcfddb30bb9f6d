import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { SEAL_UNITS, sealPaths } from '../../../pure/receipts/seal.ts'
import { markOf } from '../../../pure/headline.ts'
import type { AssessedDocument } from '../client/verify/assess.ts'
import { html } from '../html.ts'
import { ListTable } from './facts.ts'
import { SmallVerdict } from './verdict.ts'

/** Digest and link of a document. Links form a graph: several receipts may link to one. */
type LinkedDocument = Pick<AssessedDocument, 'digest' | 'follows' | 'link_valid'>

interface ReceiptGraphRow {
  /** Index in the given list; null for an earlier receipt that a link names but that was not given. */
  entry: number | null
  digest: string | null
  lane: number
}

/** A line from an earlier receipt to one that links to it; both are indexes of rows. */
interface ReceiptGraphEdge {
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

interface Node extends LinkedDocument {
  entry: number | null
  children: Node[]
}

/**
 * Lays the receipts out in rows and lanes, earliest first. A single follower stays in the lane; several followers of one receipt move to
 * the next lane, in the given order. A receipt that was given twice has two rows; its followers are drawn from the first.
 */
export function layOutReceipts(receipts: readonly LinkedDocument[]): ReceiptGraph {
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

/** Pixels. The drawing and the list next to it have the same row height. */
const ROW = 72
const LANE = 52
const RADIUS = 24
const LEFT = 36
/** Further seals are plain rings, because thousands of curves make a phone slow. */
const SEALS = 60

interface ReceiptChainProps {
  graph: ReceiptGraph
  assessed: readonly AssessedDocument[]
  selected: number
  select(entry: number): void
}

/** Links of the documents: their drawing and list, the selected one next to them, and all of them as a table. */
export function ReceiptLinks({ children, ...chain }: ReceiptChainProps & { children: VNode }) {
  return html`<section class="chain" id="chain" aria-labelledby="chain-title">
    <h2 id="chain-title">How the receipts are linked</h2>
    <p class="measure hint">
      Earlier receipts come first. A line is a signed link: solid if it is valid, dashed and crossed out if not. A dashed ring is an
      earlier receipt that a link names but that you did not give; a changed receipt has another digest, so it may be one of these.
    </p>
    <div class="chain-halves">
      <${ReceiptChain} ...${chain} />
      ${children}
    </div>
    <details>
      <summary>As a table</summary>
      <div id="chain-table"><${ReceiptTable} graph=${chain.graph} assessed=${chain.assessed} /></div>
    </details>
  </section>`
}

/** Documents as seals joined by their links, with a list of buttons next to the drawing. */
function ReceiptChain({ graph, assessed, selected, select }: ReceiptChainProps) {
  const entries = graph.rows.flatMap(({ entry }) => (entry === null ? [] : [entry]))
  const [focused, setFocused] = useState(entries[0])
  // One button is in the tab order; arrow keys, Home and End move the focus.
  const moveFocus = (event: KeyboardEvent) => {
    const at = entries.findIndex((entry) => document.activeElement?.id === `row-${entry}`)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key]
    const entry = next === undefined ? undefined : entries[next]
    if (entry === undefined) return
    event.preventDefault()
    setFocused(entry)
    document.getElementById(`row-${entry}`)?.focus()
  }
  return html`<div class="chain-scroll" tabindex="-1">
    <div class="chain-paper">
      <svg
        class="links-drawing"
        role="img"
        aria-label=${describeGraph(graph)}
        width=${LEFT + graph.lanes * LANE}
        height=${graph.rows.length * ROW}
      >
        ${graph.edges.map((edge) => html`<${Link} graph=${graph} edge=${edge} />`)}
        ${graph.rows.map(({ entry, lane }, index) => html`<${Node} one=${entry === null ? null : assessed[entry]} lane=${lane} index=${index} />`)}
      </svg>
      <ol class="bare receipts" onKeyDown=${moveFocus}>
        ${graph.rows.map(({ entry, digest }, index) => {
          const one = entry === null ? undefined : assessed[entry]
          if (entry === null || one === undefined)
            return html`<li class="absent"><span class="row-title">earlier, not given</span><code>${shortHash(digest ?? '')}</code></li>`
          return html`<li>
            <button
              type="button"
              class="row"
              id=${`row-${entry}`}
              tabindex=${entry === focused ? 0 : -1}
              aria-pressed=${String(entry === selected)}
              onClick=${() => select(entry)}
            >
              <span class="row-title"><span class="number">${entry + 1}</span> ${one.title}</span>
              <${SmallVerdict} mark=${markOf(one.tone)} word=${one.word} />
              <span class="row-note">${linkNote(graph, index, assessed) || one.time}</span>
            </button>
          </li>`
        })}
      </ol>
    </div>
  </div>`
}

function describeGraph({ edges, rows }: ReceiptGraph): string {
  const broken = edges.filter(({ state }) => state === 'broken').length
  const missing = rows.filter(({ entry }) => entry === null).length
  const links = `${edges.length} links between ${rows.length - missing} documents: ${edges.length - broken} valid, ${broken} broken`
  return `${links}; ${missing} earlier receipts were not given. The table below has the same in words.`
}

function laneX(lane: number): number {
  return LEFT + lane * LANE
}

function rowY(row: number): number {
  return row * ROW + ROW / 2
}

/** A line down from the earlier receipt, and across to another lane. A broken link is dashed and crossed out. */
function Link({ graph: { rows }, edge: { from, to, state, missing } }: { graph: ReceiptGraph; edge: ReceiptGraphEdge }) {
  const [x1, x2] = [laneX(rows[from]?.lane ?? 0), laneX(rows[to]?.lane ?? 0)]
  const [y1, y2] = [rowY(from) + RADIUS, rowY(to)]
  const end = x1 === x2 ? `V${y2 - RADIUS}` : `V${y2 - 12}q0 12 12 12H${x2 - RADIUS}`
  const [cross_x, cross_y] = [x1, x1 === x2 ? (y1 + y2 - RADIUS) / 2 : y2 - 22]
  return html`<g class=${`edge ${state}${missing ? ' missing' : ''}`}>
    <path d=${`M${x1} ${y1}${end}`} />
    ${state === 'broken' && html`<path class="cross" d=${`M${cross_x - 5} ${cross_y - 5}l10 10m0-10l-10 10`} />`}
  </g>`
}

function Node({ one, lane, index }: { one: AssessedDocument | null | undefined; lane: number; index: number }) {
  const [x, y] = [laneX(lane), rowY(index)]
  const broken = one?.tone === 'bad'
  const paths = (one?.digest ?? null) === null || index >= SEALS ? [] : sealPaths(one?.digest ?? '', { broken })
  return html`<g class=${`node ${one ? markOf(one.tone) : 'absent'}`}>
    <circle class="ground" cx=${x} cy=${y} r=${RADIUS} />
    <g class="node-seal" transform=${`translate(${x - RADIUS} ${y - RADIUS}) scale(${(2 * RADIUS) / SEAL_UNITS})`}>
      ${paths.map(({ d, stroke_width }) => html`<path d=${d} stroke-width=${stroke_width * 2.4} />`)}
    </g>
  </g>`
}

/** Fault of the link of a row; empty without one. */
function linkNote(graph: ReceiptGraph, index: number, assessed: readonly AssessedDocument[]): string {
  const entry = graph.rows[index]?.entry ?? -1
  if (graph.circular.includes(entry)) return 'link closes a cycle'
  const one = assessed[entry]
  if (graph.edges.find(({ to }) => to === index)?.state === 'broken') return one?.link_valid === null ? 'link not checked' : 'link broken'
  const duplicate = one !== undefined && one.digest !== null && assessed.findIndex(({ digest }) => digest === one.digest) < entry
  return duplicate ? 'duplicate' : ''
}

const COLUMNS = ['Number', 'Decision', 'Tool', 'Issued', 'Digest', 'Signer', 'Follows', 'Link']

/** The same documents and links as a table. */
function ReceiptTable({ graph, assessed }: { graph: ReceiptGraph; assessed: readonly AssessedDocument[] }) {
  const rows = graph.rows.flatMap(({ entry }, index) => {
    const one = entry === null ? undefined : assessed[entry]
    if (entry === null || one === undefined) return []
    const edge = graph.edges.find(({ to }) => to === index)
    const earlier = edge === undefined ? null : (graph.rows[edge.from]?.entry ?? null)
    const missing = earlier === null ? `${one.follows}, not given` : `number ${earlier + 1}`
    const link = one.follows === null ? ['–', '–'] : [missing, linkNote(graph, index, assessed) || 'valid']
    const texts = [String(entry + 1), one.word, one.title, one.time || '–', one.digest ?? 'none', one.signer ?? 'none', ...link]
    return [{ cells: texts, texts }]
  })
  return html`<${ListTable} id="csv-documents" name="Every document, earliest first" columns=${COLUMNS} rows=${rows} />`
}

function shortHash(digest: string): string {
  return digest.length < 20 ? digest : `${digest.slice(0, 10)}…${digest.slice(-8)}`
}
