import type { DocumentNode } from './nodes.ts'

/**
 * How the elements of HTML nest and what they become, after the parsing rules of the HTML Living Standard (read 2026-10), reduced to what
 * matters without a DOM. Names are in lower case.
 */

/** What an element becomes in Markdown; what is not listed is transparent. */
export type Role =
  | 'block'
  | 'term'
  | 'list'
  | 'item'
  | 'quote'
  | 'heading'
  | 'pre'
  | 'table'
  | 'section'
  | 'row'
  | 'cell'
  | 'strong'
  | 'em'
  | 'del'
  | 'code'
  | 'link'
  | 'raised'
  | 'lowered'
  | 'dropped'

const ROLES: readonly (readonly [Role, string])[] = [
  [
    'block',
    'address article aside caption center dd details dialog div dl fieldset figcaption figure footer form frameset header hgroup legend ' +
      'main marquee nav optgroup option p search section select summary title',
  ],
  ['term', 'dt'],
  ['list', 'ul ol menu dir'],
  ['item', 'li'],
  ['quote', 'blockquote'],
  ['heading', 'h1 h2 h3 h4 h5 h6'],
  ['pre', 'pre listing xmp plaintext'],
  ['table', 'table'],
  ['section', 'thead tbody tfoot'],
  ['row', 'tr'],
  ['cell', 'td th'],
  ['strong', 'b strong'],
  ['em', 'i em'],
  ['del', 'del s strike'],
  ['code', 'code kbd samp tt'],
  ['link', 'a'],
  ['raised', 'sup'],
  ['lowered', 'sub'],
  ['dropped', 'script style template noscript svg iframe object applet noembed noframes canvas audio video datalist'],
]

const ROLE_OF: ReadonlyMap<string, Role> = new Map(ROLES.flatMap(([role, names]) => names.split(' ').map((name) => [name, role] as const)))

export function roleOf(name: string): Role | undefined {
  return ROLE_OF.get(name)
}

function named(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Elements without content or end tag. */
export const VOID = named('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr')

/** There is one of each whatever the tags say; they carry nothing. */
export const IGNORED = named('html head body colgroup')

/** An inline end tag does not reach beyond these; those of formatting elements do, and end only themselves. */
const SPECIAL = named(
  'address applet article aside blockquote button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'frameset h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main marquee menu nav noembed noframes noscript object ol p plaintext pre ' +
    'script search section select style summary table tbody td template textarea tfoot th thead title tr ul xmp',
)

/** Through these an item still ends the one before it. */
const PASSED_BY_ITEMS = named('address div p')

/** No end tag within reaches beyond these, except those of the table itself. */
const BARRIER = named('applet caption marquee object table td template th')

/** Their end tags work by the adoption agency in browsers: they end where they stand, whatever is open inside. */
const FORMATTING = named('a b big code em font i nobr s small strike strong tt u')

/** Each ends an open paragraph. */
const ENDS_PARAGRAPH = named(
  'address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
)

/** Within SVG or MathML each of these ends the picture: it was not closed. */
export const ENDS_FOREIGN = named(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s ' +
    'small span strong strike sub sup table tt u ul var',
)

/** Within SVG or MathML, HTML again. */
const HTML_INSIDE_FOREIGN = named('foreignobject desc title mi mo mn ms mtext annotation-xml')

/** One open element. */
export interface OpenElement {
  readonly name: string
  /** What it has opened in the document, outermost first. */
  readonly nodes: readonly DocumentNode[]
  /** Of a superscript or subscript, where its sign stands among the steps. */
  readonly script?: number
  /** Its content is left out. */
  readonly hides: boolean
}

/** A formatting element that ended while others inside it were open. */
interface Slot extends OpenElement {
  ended: boolean
}

/**
 * The stack of open elements. It knows where each name is open, so that no tag makes it search: work is constant for each element, however
 * deep they nest. Positions count from the outermost; -1 is nowhere.
 */
export class OpenElements {
  readonly #slots: Slot[] = []
  readonly #places = new Map<string, number[]>()
  readonly #specials: number[] = []
  readonly #stops: number[] = []
  readonly #barriers: number[] = []
  /** Roots of SVG and MathML, and where HTML begins again within. */
  readonly #foreign: { at: number; html: boolean }[] = []
  #hiding = 0

  /** Whether what comes now is left out. */
  get hidden(): boolean {
    return this.#hiding > 0
  }

  get size(): number {
    return this.#slots.length
  }

  get top(): string | undefined {
    return this.#slots.at(-1)?.name
  }

  get foreign(): boolean {
    return this.#foreign.at(-1)?.html === false
  }

  /** Where the picture or formula begins that is being read. */
  get foreignRoot(): number {
    return this.#foreign.at(-1)?.at ?? -1
  }

  get lastSpecial(): number {
    return this.#specials.at(-1) ?? -1
  }

  /** Beyond this an item does not end the item before it. */
  get lastStop(): number {
    return this.#stops.at(-1) ?? -1
  }

  get lastBarrier(): number {
    return this.#barriers.at(-1) ?? -1
  }

  /** The innermost of this name. */
  last(name: string): number {
    return this.#places.get(name)?.at(-1) ?? -1
  }

  /** The innermost of several names. */
  lastOf(names: readonly string[]): number {
    let found = -1
    for (const name of names) found = Math.max(found, this.last(name))
    return found
  }

  push(element: OpenElement): void {
    const at = this.#slots.length
    const { name } = element
    if (name === 'svg' || name === 'math') this.#foreign.push({ at, html: false })
    else if (this.foreign && HTML_INSIDE_FOREIGN.has(name)) this.#foreign.push({ at, html: true })
    this.#slots.push({ ...element, ended: false })
    const places = this.#places.get(name)
    if (places === undefined) this.#places.set(name, [at])
    else places.push(at)
    if (SPECIAL.has(name)) {
      this.#specials.push(at)
      if (!PASSED_BY_ITEMS.has(name)) this.#stops.push(at)
    }
    if (BARRIER.has(name)) this.#barriers.push(at)
    if (element.hides) this.#hiding++
  }

  /** Ends the innermost element; undefined when it had ended before. */
  pop(): OpenElement | undefined {
    const slot = this.#slots.pop()
    const at = this.#slots.length
    dropLast(this.#specials, at)
    dropLast(this.#stops, at)
    dropLast(this.#barriers, at)
    if (this.#foreign.at(-1)?.at === at) this.#foreign.pop()
    if (slot === undefined || slot.ended) return undefined
    this.#forget(slot)
    return slot
  }

  /** Ends the innermost element of a name where it stands, and leaves open what is inside. */
  end(name: string): OpenElement | undefined {
    const slot = this.#slots[this.last(name)]
    if (slot === undefined) return undefined
    slot.ended = true
    this.#forget(slot)
    return slot
  }

  #forget(slot: Slot): void {
    this.#places.get(slot.name)?.pop()
    if (slot.hides) this.#hiding--
  }
}

function dropLast(positions: number[], at: number): void {
  if (positions.at(-1) === at) positions.pop()
}

/** What a tag ends: everything from a position on, or one formatting element alone. */
export type Ending = { kind: 'nothing' } | { kind: 'from'; at: number } | { kind: 'alone' }

const NOTHING: Ending = { kind: 'nothing' }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const DEFINITIONS = ['dd', 'dt']
const CELLS = ['td', 'th']
const SECTIONS = ['thead', 'tbody', 'tfoot']

function from(at: number, bound: number): Ending {
  return at >= 0 && at > bound ? { kind: 'from', at } : NOTHING
}

/** What an end tag ends, by the scopes of the HTML standard. */
export function endedByEndTag(name: string, open: OpenElements): Ending {
  const role = roleOf(name)
  const at = role === 'heading' ? open.lastOf(HEADINGS) : open.last(name)
  if (at < 0) return NOTHING
  // What is left out must not swallow what follows, whatever was left open inside.
  if (role === 'dropped' || role === 'table') return from(at, -1)
  if (role === 'section' || role === 'row' || role === 'cell') return from(at, open.last('table'))
  if (FORMATTING.has(name)) return at <= open.lastBarrier ? NOTHING : at > open.lastSpecial ? from(at, -1) : { kind: 'alone' }
  if (SPECIAL.has(name)) return from(at, open.lastBarrier - 1)
  return from(at, open.lastSpecial)
}

/** What a start tag ends before it opens its own element; asked again until it is nothing. */
export function endedByStartTag(name: string, open: OpenElements): Ending {
  const by_kin = endedByKin(name, open)
  if (by_kin.kind !== 'nothing' || !ENDS_PARAGRAPH.has(name)) return by_kin
  const paragraph = from(open.last('p'), open.lastBarrier)
  if (paragraph.kind !== 'nothing' || roleOf(name) !== 'heading' || open.top === undefined) return paragraph
  return HEADINGS.includes(open.top) ? from(open.size - 1, -1) : NOTHING
}

function endedByKin(name: string, open: OpenElements): Ending {
  switch (name) {
    case 'li':
      return from(open.last('li'), open.lastStop - 1)
    case 'dd':
    case 'dt':
      return from(open.lastOf(DEFINITIONS), open.lastStop - 1)
    case 'td':
    case 'th':
    case 'tr':
    case 'thead':
    case 'tbody':
    case 'tfoot':
    case 'caption':
    case 'table':
      return endedInTable(name, open)
    case 'option':
    case 'optgroup':
      return open.top === 'option' || open.top === name ? from(open.size - 1, -1) : NOTHING
    case 'button':
      return from(open.last('button'), open.lastBarrier)
    case 'a':
      return endedByEndTag('a', open)
    default:
      return NOTHING
  }
}

/** Parts of a table end the parts of their own kind, and what is smaller. */
function endedInTable(name: string, open: OpenElements): Ending {
  const table = open.last('table')
  if (table < 0) return NOTHING
  // A table right inside another one, and not in a cell, is the next one.
  if (name === 'table') return open.lastBarrier === table ? from(table, -1) : NOTHING
  const inner = [open.lastOf(CELLS), open.last('caption')]
  if (name !== 'td' && name !== 'th') inner.push(open.last('tr'))
  if (name !== 'td' && name !== 'th' && name !== 'tr') inner.push(open.lastOf(SECTIONS))
  return from(firstOf(table, inner), table)
}

/** The outermost of the positions inside the bound. */
function firstOf(bound: number, positions: readonly number[]): number {
  return positions.reduce((found, at) => (at > bound && (found < 0 || at < found) ? at : found), -1)
}
