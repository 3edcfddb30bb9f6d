import { Tokenizer } from 'htmlparser2'
import { MARKDOWN_BOUNDS } from './bounds.ts'

/** The attributes that are read, first one of each name. Values beyond the bound end one character behind it. */
export type Attributes = ReadonlyMap<string, string>

export interface TagHandler {
  start(name: string, attributes: Attributes, self_closing: boolean): void
  end(name: string): void
  text(text: string): void
  comment(): void
  /** Whether SVG or MathML is being read, where script and title are names like others. */
  foreign(): boolean
}

const READ = new Set(
  'alt aria-hidden checked class colspan data-src data-srcset hidden href open popover role rowspan src srcset start style type value'.split(
    ' ',
  ),
)
const NONE: Attributes = new Map()

/**
 * Cuts HTML into tags and text, character references decoded, never throws. Only the tokenizer of the library is used: its parser keeps
 * the open elements in a list whose handling takes quadratic time under hostile nesting.
 */
export function readTags(html: string, handler: TagHandler): void {
  let name = ''
  let attributes: Map<string, string> | null = null
  let attribute: string | null = null
  let value = ''
  const opened = (self_closing: boolean) => {
    const found = attributes ?? NONE
    attributes = null
    handler.start(name, found, self_closing)
  }
  /** The same text for the same name, so that looking it up is cheap. */
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
        attribute = READ.has(read) && attributes?.has(read) !== true ? read : null
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

/** An element that its own attributes hide. `html` and `body` never count as hidden: scripts show them once they have loaded. */
export function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.size === 0) return name === 'dialog'
  if (attributes.has('hidden') || attributes.get('aria-hidden')?.trim().toLowerCase() === 'true') return true
  if ((name === 'dialog' && !attributes.has('open')) || attributes.has('popover')) return true
  const style = attributes.get('style')
  return style !== undefined && isHiddenBy(declarationsOf(style))
}

/** Values of the properties in a style attribute, in lower case; of one that is given twice the last counts. */
type Declarations = ReadonlyMap<string, string>

function declarationsOf(style: string): Declarations {
  const found = new Map<string, string>()
  const text = style.replace(/\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g, '').toLowerCase()
  for (const declaration of text.split(';')) {
    const colon = declaration.indexOf(':')
    const value = declaration.slice(colon + 1).trim()
    if (colon > 0) found.set(declaration.slice(0, colon).trim(), value.endsWith('!important') ? value.slice(0, -10).trim() : value)
  }
  return found
}

/** Pixels beyond which nothing is meant to be seen, and lengths that are taken for a dot. */
const FAR_PX = 500
const DOT_PX = 1
/** Pixels of one unit, for a usual window and text. */
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
  return isClipped(style) || isFlat(style) || isAway(style) || isScaledAway(style.get('transform')) || isTransparent(style)
}

function isZero(value: string | undefined): boolean {
  return value !== undefined && /^[+-]?0*(?:\.0*)?(?:px|pt|r?em|%)?$/.test(value) && /0/.test(value)
}

/** A box without area that shows nothing beyond its edges. */
function isFlat(style: Declarations): boolean {
  const clips = /^(?:hidden|clip)/
  const hides = [style.get('overflow'), style.get('overflow-x'), style.get('overflow-y')].some((value) => clips.test(value ?? ''))
  return (
    hides && ['height', 'max-height', 'width', 'max-width'].some((property) => Math.abs(pixels(style.get(property)) ?? Infinity) <= DOT_PX)
  )
}

/** `clip` cuts only what is taken out of the flow. */
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

/** Moved out of the window. */
function isAway(style: Declarations): boolean {
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

/** Text without colour; where the background is cut to the text, it is the background that shows. */
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

/** Control characters but white space, overrides and isolates of the writing direction, tag characters. */
const INVISIBLE = /[[\p{Cc}--[\t\n\f\r]]\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gv

/** Not one of the UTF-16 units that none of these has: what most texts are held against, being faster. */
const SUSPICIOUS = /[^\t\n\f\r -~\xa0-\u2029\u202f-\u2065\u206a-\udb3f\udb41-\ufefe\uff00-\uffff]/

/** The text without characters that are not seen and serve to hide or disguise, and how many there were. */
export function seen(text: string): { text: string; removed: number } {
  if (!SUSPICIOUS.test(text)) return { text, removed: 0 }
  const found = text.match(INVISIBLE)
  return found === null ? { text, removed: 0 } : { text: text.replace(INVISIBLE, ''), removed: found.length }
}
