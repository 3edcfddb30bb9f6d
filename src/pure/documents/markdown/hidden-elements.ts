/** Returns whether an element's own attributes hide it. `html` and `body` never count as hidden: scripts show them after loading. */
export function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
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
