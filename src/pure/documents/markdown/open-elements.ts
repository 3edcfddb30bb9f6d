import { Tokenizer } from 'htmlparser2'
import { type DocumentNode, MARKDOWN_BOUNDS } from './document-model.ts'

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

/** Elements without content or end tag. */
export const VOID_ELEMENTS = nameSet('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr')

/** Elements that exist exactly once or have no content of interest; their tags are ignored. */
export const IGNORED_ELEMENTS = nameSet('html head body colgroup')

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
export const ENDS_FOREIGN_CONTENT = nameSet(
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

  /** Position of the innermost svg or math element. */
  get foreignRoot(): number {
    return this.#foreign.at(-1)?.at ?? -1
  }

  get lastSpecial(): number {
    return this.#specials.at(-1) ?? -1
  }

  /** An item does not end a previous item beyond this position. */
  get lastStop(): number {
    return this.#stops.at(-1) ?? -1
  }

  get lastBarrier(): number {
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
}

function dropLast(positions: number[], at: number): void {
  if (positions.at(-1) === at) positions.pop()
}

/** Effect of a tag: ends everything from a position, or one formatting element alone. */
export type ElementEnding = { kind: 'nothing' } | { kind: 'from'; at: number } | { kind: 'alone' }

const ENDS_NOTHING: ElementEnding = { kind: 'nothing' }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const DEFINITIONS = ['dd', 'dt']
const CELLS = ['td', 'th']
const SECTIONS = ['thead', 'tbody', 'tfoot']

function endingFrom(at: number, bound: number): ElementEnding {
  return at >= 0 && at > bound ? { kind: 'from', at } : ENDS_NOTHING
}

/** Elements that an end tag ends, by the scopes of the HTML standard. */
export function endedByEndTag(name: string, open: OpenElements): ElementEnding {
  const role = elementRole(name)
  const at = role === 'heading' ? open.lastOfAny(HEADINGS) : open.last(name)
  if (at < 0) return ENDS_NOTHING
  // A dropped element or table always ends, so that it cannot swallow what follows.
  if (role === 'dropped' || role === 'table') return endingFrom(at, -1)
  if (role === 'section' || role === 'row' || role === 'cell') return endingFrom(at, open.last('table'))
  if (FORMATTING.has(name)) return at <= open.lastBarrier ? ENDS_NOTHING : at > open.lastSpecial ? endingFrom(at, -1) : { kind: 'alone' }
  if (END_TAG_BOUNDARY.has(name)) return endingFrom(at, open.lastBarrier - 1)
  return endingFrom(at, open.lastSpecial)
}

/** Elements that a start tag ends before it opens its own. The caller repeats until there are none. */
export function endedByStartTag(name: string, open: OpenElements): ElementEnding {
  const by_kin = endedByKin(name, open)
  if (by_kin.kind !== 'nothing' || !ENDS_PARAGRAPH.has(name)) return by_kin
  const paragraph = endingFrom(open.last('p'), open.lastBarrier)
  if (paragraph.kind !== 'nothing' || elementRole(name) !== 'heading' || open.top === undefined) return paragraph
  return HEADINGS.includes(open.top) ? endingFrom(open.size - 1, -1) : ENDS_NOTHING
}

function endedByKin(name: string, open: OpenElements): ElementEnding {
  switch (name) {
    case 'li':
      return endingFrom(open.last('li'), open.lastStop - 1)
    case 'dd':
    case 'dt':
      return endingFrom(open.lastOfAny(DEFINITIONS), open.lastStop - 1)
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
      return open.top === 'option' || open.top === name ? endingFrom(open.size - 1, -1) : ENDS_NOTHING
    case 'button':
      return endingFrom(open.last('button'), open.lastBarrier)
    case 'a':
      return endedByEndTag('a', open)
    default:
      return ENDS_NOTHING
  }
}

/** Parts of a table end open parts of the same kind and smaller ones. */
function endedInTable(name: string, open: OpenElements): ElementEnding {
  const table = open.last('table')
  if (table < 0) return ENDS_NOTHING
  // A table directly inside another one, and not in a cell, is the next table.
  if (name === 'table') return open.lastBarrier === table ? endingFrom(table, -1) : ENDS_NOTHING
  const inner = [open.lastOfAny(CELLS), open.last('caption')]
  if (name !== 'td' && name !== 'th') inner.push(open.last('tr'))
  if (name !== 'td' && name !== 'th' && name !== 'tr') inner.push(open.lastOfAny(SECTIONS))
  return endingFrom(outermostInside(table, inner), table)
}

/** The outermost of the positions inside the bound. */
function outermostInside(bound: number, positions: readonly number[]): number {
  return positions.reduce((found, at) => (at > bound && (found < 0 || at < found) ? at : found), -1)
}

/** The attributes in use, the first one of each name. A value longer than the limit is cut one character beyond it. */
export type HtmlAttributes = ReadonlyMap<string, string>

export interface TagHandler {
  start(name: string, attributes: HtmlAttributes, self_closing: boolean): void
  end(name: string): void
  text(text: string): void
  comment(): void
  /** Inside SVG or MathML, where script and title are ordinary elements. */
  foreign(): boolean
}

const READ_ATTRIBUTES = new Set(
  'alt aria-hidden checked class colspan data-src data-srcset hidden href open popover role rowspan src srcset start style type value'.split(
    ' ',
  ),
)
const NO_ATTRIBUTES: HtmlAttributes = new Map()

/**
 * Splits HTML into tags and text with character references decoded. Never throws. Uses only the tokenizer of htmlparser2: its parser takes
 * quadratic time on hostile nesting.
 */
export function readTags(html: string, handler: TagHandler): void {
  let name = ''
  let attributes: Map<string, string> | null = null
  let attribute: string | null = null
  let value = ''
  const opened = (self_closing: boolean) => {
    const found = attributes ?? NO_ATTRIBUTES
    attributes = null
    handler.start(name, found, self_closing)
  }
  /** Interns names, so that later lookups are cheap. */
  const names = new Map<string, string>()
  const named = (start: number, end: number) => {
    const read = html.slice(start, end).toLowerCase()
    const known = names.get(read)
    if (known === undefined) names.set(read, read)
    return known ?? read
  }
  const keep = (text: string) => {
    if (attribute !== null && value.length <= MARKDOWN_BOUNDS.attribute_chars) value += text
  }
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (start, end) => handler.text(html.slice(start, end)),
      ontextentity: (point) => handler.text(String.fromCodePoint(point)),
      onopentagname(start, end) {
        name = named(start, end)
        attributes = null
      },
      onopentagend: () => opened(false),
      onselfclosingtag: () => opened(true),
      onclosetag: (start, end) => handler.end(named(start, end)),
      onattribname(start, end) {
        const read = end - start > MARKDOWN_BOUNDS.attribute_chars ? '' : html.slice(start, end).toLowerCase()
        attribute = READ_ATTRIBUTES.has(read) && attributes?.has(read) !== true ? read : null
        value = ''
      },
      onattribdata: (start, end) => keep(html.slice(start, Math.min(end, start + MARKDOWN_BOUNDS.attribute_chars + 1))),
      onattribentity: (point) => keep(String.fromCodePoint(point)),
      onattribend() {
        if (attribute === null) return
        attributes ??= new Map()
        attributes.set(attribute, value)
        attribute = null
      },
      oncomment: () => handler.comment(),
      oncdata(start, end, offset) {
        if (handler.foreign()) handler.text(html.slice(start, end - offset))
        else handler.comment()
      },
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
      isInForeignContext: () => handler.foreign(),
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}

/** Returns whether an element's own attributes hide it. `html` and `body` never count as hidden: scripts show them after loading. */
export function isHidden(name: string, attributes: HtmlAttributes): boolean {
  if (attributes.size === 0) return name === 'dialog'
  if (attributes.has('hidden') || attributes.get('aria-hidden')?.trim().toLowerCase() === 'true') return true
  if ((name === 'dialog' && !attributes.has('open')) || attributes.has('popover')) return true
  const style = attributes.get('style')
  return style !== undefined && isHiddenBy(parseDeclarations(style))
}

/** Properties of a style attribute in lower case; the last value of a repeated property counts. */
type Declarations = ReadonlyMap<string, string>

function parseDeclarations(style: string): Declarations {
  const found = new Map<string, string>()
  const text = style.replace(/\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g, '').toLowerCase()
  for (const declaration of text.split(';')) {
    const colon = declaration.indexOf(':')
    const value = declaration.slice(colon + 1).trim()
    if (colon > 0) found.set(declaration.slice(0, colon).trim(), value.endsWith('!important') ? value.slice(0, -10).trim() : value)
  }
  return found
}

/** Distance in pixels beyond which content is off screen, and length in pixels that counts as a dot. */
const FAR_PX = 500
const DOT_PX = 1
/** Pixels per unit, for a usual window and text size. */
const UNIT_PX: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, em: 16, rem: 16, ex: 8, ch: 8, vw: 10, vh: 10, '%': 10 }
/** A number without a unit is a length in clip(), and zero everywhere. */
const LENGTH = /^([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|pt|r?em|ex|ch|v[wh]|%)?$/

function pixels(value: string | undefined): number | null {
  const found = value === undefined ? null : LENGTH.exec(value)
  return found === null ? null : Number(found[1]) * (UNIT_PX[found[2] ?? 'px'] ?? 1)
}

function isHiddenBy(style: Declarations): boolean {
  const is = (property: string, ...values: string[]) => values.includes(style.get(property) ?? '')
  if (is('display', 'none') || is('visibility', 'hidden', 'collapse') || is('content-visibility', 'hidden')) return true
  if (isZero(style.get('opacity')) || isZero(style.get('font-size')) || isZero(style.get('scale'))) return true
  if (isZero(/opacity\(([^)]{1,20})\)/.exec(style.get('filter') ?? '')?.[1]?.trim())) return true
  return isClipped(style) || isFlat(style) || isMovedAway(style) || isScaledAway(style.get('transform')) || isTransparent(style)
}

function isZero(value: string | undefined): boolean {
  return value !== undefined && /^[+-]?0*(?:\.0*)?(?:px|pt|r?em|%)?$/.test(value) && /0/.test(value)
}

/** A box without area that clips its overflow. */
function isFlat(style: Declarations): boolean {
  const clips = /^(?:hidden|clip)/
  const hides = [style.get('overflow'), style.get('overflow-x'), style.get('overflow-y')].some((value) => clips.test(value ?? ''))
  return (
    hides && ['height', 'max-height', 'width', 'max-width'].some((property) => Math.abs(pixels(style.get(property)) ?? Infinity) <= DOT_PX)
  )
}

/** `clip` only applies to positioned elements. */
function isClipped(style: Declarations): boolean {
  const rectangle = /^rect\(([^)]{0,200})\)$/.exec(style.get('clip') ?? '')?.[1]
  if (rectangle !== undefined && isOutOfFlow(style)) {
    const [top = null, right = null, bottom = null, left = null] = rectangle.split(/[\s,]+/).map(pixels)
    const dot = (from: number | null, to: number | null) => from !== null && to !== null && to - from <= DOT_PX
    if (dot(top, bottom) || dot(left, right)) return true
  }
  const path = style.get('clip-path') ?? ''
  const inset = /^inset\(\s*(\d{1,3})(?:\.\d{0,9})?%/.exec(path)?.[1]
  return (inset !== undefined && Number(inset) >= 50) || /^(?:circle|ellipse)\(\s*0(?:px|%)?[\s)]/.test(path)
}

function isOutOfFlow(style: Declarations): boolean {
  return ['absolute', 'fixed'].includes(style.get('position') ?? '')
}

function isMovedAway(style: Declarations): boolean {
  const far = (property: string) => (pixels(style.get(property)) ?? 0) <= -FAR_PX
  if (['text-indent', 'margin-left', 'margin-top', 'margin-right'].some(far)) return true
  return (isOutOfFlow(style) || style.get('position') === 'relative') && ['left', 'top', 'right', 'bottom'].some(far)
}

function isScaledAway(transform = ''): boolean {
  for (const [, name, inside = ''] of transform.matchAll(
    /(scale|scalex|scaley|scale3d|translate|translatex|translatey)\(([^)]{0,100})\)/g,
  )) {
    const values = inside.split(',').map((one) => one.trim())
    if (name?.startsWith('scale') === true && values.slice(0, 2).some((one) => isZero(one))) return true
    if (name?.startsWith('translate') === true && values.some((one) => (pixels(one) ?? 0) <= -FAR_PX * 2)) return true
  }
  return false
}

/** Transparent text. With `background-clip: text` the background shows through the text, so that does not count. */
function isTransparent(style: Declarations): boolean {
  const cut = [style.get('background-clip'), style.get('-webkit-background-clip'), style.get('background')]
  if (cut.some((value) => /(?:^|\s)text(?:$|\s)/.test(value ?? ''))) return false
  const color = style.get('color') ?? ''
  return (
    color === 'transparent' ||
    /^#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)$/.test(color) ||
    /^(?:rgb|hsl)a?\([^)]{1,60}[,/]\s*(?:0+(?:\.0*)?|\.0+)%?\s*\)$/.test(color)
  )
}
