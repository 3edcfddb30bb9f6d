import { SEAL_UNITS, sealPaths } from '../../../../pure/receipts/seal.ts'
import { el, svg } from '../dom.ts'
import { listTable } from '../facts.ts'
import { markShape } from '../verdict.ts'
import type { Edge, Graph } from './graph.ts'
import type { Judged } from './judged.ts'

/** The height of a row in pixels; the drawing and the list beside it share it. */
const ROW = 72
const LANE = 52
const RADIUS = 24
const LEFT = 36
/** Seals beyond so many are plain rings: thousands of curves would make a phone slow. */
const SEALS = 60

/** Receipts as seals on their lines, each with its words beside it. `select` is told which one a reader wants to see. */
export function chainView(graph: Graph, judged: readonly Judged[], select: (entry: number) => void): HTMLElement {
  const width = LEFT + graph.lanes * LANE
  const height = graph.rows.length * ROW
  const drawing = svg(
    'svg',
    { class: 'links-drawing', role: 'img', 'aria-label': linksWords(graph), width: String(width), height: String(height) },
    ...graph.edges.map((edge) => edgeShape(graph, edge)),
    ...graph.rows.map((_, index) => nodeShape(graph, judged, index)),
  )
  const list = el('ol', { class: 'receipts' }, ...graph.rows.map((_, index) => rowOf(graph, judged, index, select)))
  list.addEventListener('keydown', moveFocus)
  return el('div', { class: 'chain-scroll', tabindex: '-1' }, el('div', { class: 'chain-paper' }, drawing, list))
}

function linksWords({ edges, rows }: Graph): string {
  const broken = edges.filter(({ state }) => state === 'broken').length
  const missing = rows.filter(({ entry }) => entry === null).length
  return `${edges.length} links between ${rows.length - missing} receipts: ${edges.length - broken} hold, ${broken} do not; ${missing} earlier receipts are not here. The table has them in words.`
}

function xOf(lane: number): number {
  return LEFT + lane * LANE
}

function yOf(row: number): number {
  return row * ROW + ROW / 2
}

/** From the earlier receipt down, and over where it follows in another lane. A broken link is dashed and crossed out. */
function edgeShape({ rows }: Graph, { from, to, state, missing }: Edge): SVGElement {
  const [x1, x2] = [xOf(rows[from]?.lane ?? 0), xOf(rows[to]?.lane ?? 0)]
  const [y1, y2] = [yOf(from) + RADIUS, yOf(to)]
  const end = x1 === x2 ? `V${y2 - RADIUS}` : `V${y2 - 12}q0 12 12 12H${x2 - RADIUS}`
  const [cross_x, cross_y] = [x1, x1 === x2 ? (y1 + y2 - RADIUS) / 2 : y2 - 22]
  return svg(
    'g',
    { class: `edge ${state}${missing ? ' missing' : ''}` },
    svg('path', { d: `M${x1} ${y1}${end}` }),
    state === 'good' ? null : svg('path', { class: 'cross', d: `M${cross_x - 5} ${cross_y - 5}l10 10m0-10l-10 10` }),
  )
}

function nodeShape({ rows }: Graph, judged: readonly Judged[], index: number): SVGElement {
  const row = rows[index]
  const one = row?.entry === null || row === undefined ? null : judged[row.entry]
  const [x, y] = [xOf(row?.lane ?? 0), yOf(index)]
  const ring = svg('circle', { class: 'ground', cx: String(x), cy: String(y), r: String(RADIUS) })
  if (one === null || one === undefined) return svg('g', { class: 'node absent' }, ring)
  const broken = one.mark === 'invalid'
  const scale = (2 * RADIUS) / SEAL_UNITS
  const seal =
    one.digest === null || index >= SEALS
      ? []
      : sealPaths(one.digest, { broken }).map(({ d, stroke_width }) => svg('path', { d, 'stroke-width': String(stroke_width * 2.4) }))
  const place = `translate(${x - RADIUS} ${y - RADIUS}) scale(${scale})`
  return svg('g', { class: `node ${one.mark}` }, ring, svg('g', { class: 'node-seal', transform: place }, ...seal))
}

function rowOf(graph: Graph, judged: readonly Judged[], index: number, select: (entry: number) => void): HTMLElement {
  const row = graph.rows[index]
  if (row === undefined || row.entry === null) {
    return el(
      'li',
      { class: 'absent' },
      el('span', { class: 'row-title' }, 'earlier, not here'),
      el('code', {}, shortHash(row?.digest ?? '')),
    )
  }
  const { entry } = row
  const one = judged[entry]
  if (one === undefined) return el('li', {})
  const button = el(
    'button',
    { type: 'button', class: `row ${one.mark}`, id: `row-${entry}`, tabindex: index === firstHere(graph) ? '0' : '-1' },
    el('span', { class: 'row-title' }, el('span', { class: 'number' }, String(entry + 1)), ' ', one.title),
    el('span', { class: 'row-word' }, markShape(one.mark), one.word),
    el('span', { class: 'row-note' }, linkWords(graph, index, judged) || one.time),
  )
  button.addEventListener('click', () => select(entry))
  return el('li', {}, button)
}

function firstHere({ rows }: Graph): number {
  return rows.findIndex(({ entry }) => entry !== null)
}

/** What is to be said of the link of a row; nothing when it holds. */
function linkWords(graph: Graph, index: number, judged: readonly Judged[]): string {
  const entry = graph.rows[index]?.entry ?? -1
  if (graph.circular.includes(entry)) return 'its link closes a circle'
  const edge = graph.edges.find(({ to }) => to === index)
  if (edge?.state === 'broken') return judged[entry]?.link_valid === null ? 'link cannot be judged' : 'link broken'
  const digest = judged[entry]?.digest
  return judged.findIndex((one) => one.digest !== null && one.digest === digest) < entry && digest !== null ? 'given before' : ''
}

/** Up and down, first and last: one row at a time is in the order of the Tab key. */
function moveFocus(event: KeyboardEvent): void {
  const list = event.currentTarget
  if (!(list instanceof HTMLElement)) return
  const buttons = [...list.querySelectorAll<HTMLButtonElement>('button.row')]
  const at = buttons.findIndex((button) => button === document.activeElement)
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key]
  const target = next === undefined ? undefined : buttons[next]
  if (target === undefined) return
  event.preventDefault()
  for (const button of buttons) button.tabIndex = button === target ? 0 : -1
  target.focus()
}

/** The same for those who do not see the drawing. */
export function chainTable(graph: Graph, judged: readonly Judged[]): HTMLElement {
  const rows = graph.rows.flatMap(({ entry }, index) => {
    const one = entry === null ? undefined : judged[entry]
    if (entry === null || one === undefined) return []
    const edge = graph.edges.find(({ to }) => to === index)
    const before = edge === undefined ? null : (graph.rows[edge.from]?.entry ?? null)
    const follows = one.follows === null ? 'nothing named' : before === null ? `${one.follows}, not here` : `number ${before + 1}`
    const link = one.follows === null ? '–' : linkWords(graph, index, judged) || 'holds'
    return [[String(entry + 1), one.word, one.title, one.time || '–', one.digest ?? 'none', one.signer ?? 'none', follows, link]]
  })
  return listTable('Every document, the earliest first', ['number', 'verdict', 'of', 'dated', 'digest', 'signer', 'follows', 'link'], rows)
}

function shortHash(digest: string): string {
  return digest.length < 20 ? digest : `${digest.slice(0, 10)}…${digest.slice(-8)}`
}
