import type { DocumentNode } from './document-model.ts'

/**
 * Nesting of HTML elements and their role in Markdown, by the parsing rules of the HTML Living Standard (read 2026-10) as far as they
 * matter without a DOM. Names are in lower case.
 */

/** Role of an element in Markdown; elements without a role are transparent. */
const ROLES = {
  block:
    'address article aside caption center dd details dialog div dl fieldset figcaption figure footer form frameset header hgroup legend ' +
    'main marquee nav optgroup option p search section select summary title',
  term: 'dt',
  list: 'ul ol menu dir',
  item: 'li',
  quote: 'blockquote',
  heading: 'h1 h2 h3 h4 h5 h6',
  pre: 'pre listing xmp plaintext',
  table: 'table',
  section: 'thead tbody tfoot',
  row: 'tr',
  cell: 'td th',
  strong: 'b strong',
  em: 'i em',
  del: 'del s strike',
  code: 'code kbd samp tt',
  link: 'a',
  raised: 'sup',
  lowered: 'sub',
  dropped: 'script style template noscript svg iframe object applet noembed noframes canvas audio video datalist',
} as const

export type ElementRole = keyof typeof ROLES

const ROLE_OF: ReadonlyMap<string, ElementRole> = new Map(
  Object.entries(ROLES).flatMap(([role, names]) => names.split(' ').map((name) => [name, role as ElementRole] as const)),
)

export function elementRole(name: string): ElementRole | undefined {
  return ROLE_OF.get(name)
}

function nameSet(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Inline end tags do not reach beyond these. End tags of formatting elements do, and end only that element. */
const END_TAG_BOUNDARY = nameSet(
  'address applet article aside blockquote button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'frameset h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main marquee menu nav noembed noframes noscript object ol p plaintext pre ' +
    'script search section select style summary table tbody td template textarea tfoot th thead title tr ul xmp',
)

/** An item ends the previous item even through these elements. */
const PASSED_BY_ITEMS = nameSet('address div p')

/** End tags inside do not reach beyond these, except those of the table itself. */
const BARRIER = nameSet('applet caption marquee object table td template th')

/** Formatting elements of the adoption agency algorithm: they end at their end tag, even with elements open inside. */
const FORMATTING = nameSet('a b big code em font i nobr s small strike strong tt u')

/** Each ends an open paragraph. */
const ENDS_PARAGRAPH = nameSet(
  'address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
)

/** Within SVG or MathML, each of these tags ends the foreign content, which was not closed. */
const ENDS_FOREIGN_CONTENT = nameSet(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s ' +
    'small span strong strike sub sup table tt u ul var',
)

/** Elements of SVG or MathML whose content is HTML again. */
const HTML_INSIDE_FOREIGN = nameSet('foreignobject desc title mi mo mn ms mtext annotation-xml')

export interface OpenElement {
  readonly name: string
  /** Nodes that it opened, outermost first. */
  readonly nodes: readonly DocumentNode[]
  /** Index of the step with the sign of a superscript or subscript. */
  readonly script?: number
  /** Its content is left out. */
  readonly hides: boolean
}

/** `ended`: a formatting element that ended while others inside it were open. */
interface StackedElement extends OpenElement {
  ended: boolean
}

/** Effect of a tag: ends everything from a position, or one formatting element alone. */
type ElementEnding = { kind: 'nothing' } | { kind: 'from'; at: number } | { kind: 'alone' }

const ENDS_NOTHING: ElementEnding = { kind: 'nothing' }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const DEFINITIONS = ['dd', 'dt']
const CELLS = ['td', 'th']
const SECTIONS = ['thead', 'tbody', 'tfoot']

function endingFrom(at: number, bound: number): ElementEnding {
  return at >= 0 && at > bound ? { kind: 'from', at } : ENDS_NOTHING
}

/** The outermost of the positions inside the bound. */
function outermostInside(bound: number, positions: readonly number[]): number {
  return positions.reduce((found, at) => (at > bound && (found < 0 || at < found) ? at : found), -1)
}

/**
 * Stack of open elements with an index by name, so that no tag searches: constant work per element at any depth. Positions count from the
 * outermost; -1 is none.
 */
export class OpenElements {
  readonly #slots: StackedElement[] = []
  readonly #places = new Map<string, number[]>()
  readonly #specials: number[] = []
  readonly #stops: number[] = []
  readonly #barriers: number[] = []
  /** Roots of SVG and MathML, and the points where HTML starts again inside them. */
  readonly #foreign: { at: number; html: boolean }[] = []
  #hiding = 0

  /** Content is currently left out. */
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

  /** Position of the svg or math element that a start tag ends, since it cannot be inside; -1 if there is none. */
  foreignEndedBy(name: string): number {
    return this.foreign && ENDS_FOREIGN_CONTENT.has(name) ? (this.#foreign.at(-1)?.at ?? -1) : -1
  }

  get #lastSpecial(): number {
    return this.#specials.at(-1) ?? -1
  }

  /** An item does not end a previous item beyond this position. */
  get #lastStop(): number {
    return this.#stops.at(-1) ?? -1
  }

  get #lastBarrier(): number {
    return this.#barriers.at(-1) ?? -1
  }

  /** Innermost element of this name. */
  last(name: string): number {
    return this.#places.get(name)?.at(-1) ?? -1
  }

  /** Innermost element of any of these names. */
  lastOfAny(names: readonly string[]): number {
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
    if (END_TAG_BOUNDARY.has(name)) {
      this.#specials.push(at)
      if (!PASSED_BY_ITEMS.has(name)) this.#stops.push(at)
    }
    if (BARRIER.has(name)) this.#barriers.push(at)
    if (element.hides) this.#hiding++
  }

  /** Ends the innermost element; undefined if it had ended before. */
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

  /** Ends the innermost element of a name and leaves open what is inside. */
  end(name: string): OpenElement | undefined {
    const slot = this.#slots[this.last(name)]
    if (slot === undefined) return undefined
    slot.ended = true
    this.#forget(slot)
    return slot
  }

  #forget(slot: StackedElement): void {
    this.#places.get(slot.name)?.pop()
    if (slot.hides) this.#hiding--
  }

  /** Elements that an end tag ends, by the scopes of the HTML standard. */
  endedByEndTag(name: string): ElementEnding {
    const role = elementRole(name)
    const at = role === 'heading' ? this.lastOfAny(HEADINGS) : this.last(name)
    if (at < 0) return ENDS_NOTHING
    // A dropped element or table always ends, so that it cannot swallow what follows.
    if (role === 'dropped' || role === 'table') return endingFrom(at, -1)
    if (role === 'section' || role === 'row' || role === 'cell') return endingFrom(at, this.last('table'))
    if (FORMATTING.has(name))
      return at <= this.#lastBarrier ? ENDS_NOTHING : at > this.#lastSpecial ? endingFrom(at, -1) : { kind: 'alone' }
    if (END_TAG_BOUNDARY.has(name)) return endingFrom(at, this.#lastBarrier - 1)
    return endingFrom(at, this.#lastSpecial)
  }

  /** Elements that a start tag ends before it opens its own. The caller repeats until there are none. */
  endedByStartTag(name: string): ElementEnding {
    const by_kin = this.#endedByKin(name)
    if (by_kin.kind !== 'nothing' || !ENDS_PARAGRAPH.has(name)) return by_kin
    const paragraph = endingFrom(this.last('p'), this.#lastBarrier)
    if (paragraph.kind !== 'nothing' || elementRole(name) !== 'heading' || this.top === undefined) return paragraph
    return HEADINGS.includes(this.top) ? endingFrom(this.size - 1, -1) : ENDS_NOTHING
  }

  #endedByKin(name: string): ElementEnding {
    switch (name) {
      case 'li':
        return endingFrom(this.last('li'), this.#lastStop - 1)
      case 'dd':
      case 'dt':
        return endingFrom(this.lastOfAny(DEFINITIONS), this.#lastStop - 1)
      case 'td':
      case 'th':
      case 'tr':
      case 'thead':
      case 'tbody':
      case 'tfoot':
      case 'caption':
      case 'table':
        return this.#endedInTable(name)
      case 'option':
      case 'optgroup':
        return this.top === 'option' || this.top === name ? endingFrom(this.size - 1, -1) : ENDS_NOTHING
      case 'button':
        return endingFrom(this.last('button'), this.#lastBarrier)
      case 'a':
        return this.endedByEndTag('a')
      default:
        return ENDS_NOTHING
    }
  }

  /** Parts of a table end open parts of the same kind and smaller ones. */
  #endedInTable(name: string): ElementEnding {
    const table = this.last('table')
    if (table < 0) return ENDS_NOTHING
    // A table directly inside another one, and not in a cell, is the next table.
    if (name === 'table') return this.#lastBarrier === table ? endingFrom(table, -1) : ENDS_NOTHING
    const inner = [this.lastOfAny(CELLS), this.last('caption')]
    if (name !== 'td' && name !== 'th') inner.push(this.last('tr'))
    if (name !== 'td' && name !== 'th' && name !== 'tr') inner.push(this.lastOfAny(SECTIONS))
    return endingFrom(outermostInside(table, inner), table)
  }
}

function dropLast(positions: number[], at: number): void {
  if (positions.at(-1) === at) positions.pop()
}
