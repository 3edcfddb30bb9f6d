import type { FormatNode } from './document-model.ts'

/** Link destination in Markdown. Parentheses are escaped unless they are balanced and not nested. */
function linkDestination(address: string): string {
  if (!/[()&]/.test(address)) return address
  const plain = /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(address)
  const guarded = plain ? address : address.replace(/[()]/g, String.raw`\$&`)
  return guarded.replace(/&(?=#?[a-zA-Z0-9]+;)/g, String.raw`\&`)
}

/** Content of one block in document order: opened and closed formats are nested and balanced. */
export type InlinePiece =
  /** `code` identifies the code element of the text; 0 if none. */
  | { piece: 'text'; text: string; code: number }
  | { piece: 'open' | 'close'; node: FormatNode }
  | { piece: 'break' }
  | { piece: 'image'; alt: string; src: string | null }
  | { piece: 'box'; ticked: boolean }
  /** A link without text. */
  | { piece: 'empty'; href: string }

/** The same with white space normalized: none at the edges or right inside a format, and no empty formats. */
type InlineToken =
  | { token: 'text'; text: string }
  | { token: 'code'; text: string; id: number }
  /** The opening and closing token of one format have the same number. */
  | { token: 'open' | 'close'; node: FormatNode; pair: number }
  | { token: 'break' }
  | { token: 'image'; alt: string; src: string }
  | { token: 'box'; ticked: boolean }
  | { token: 'empty'; href: string }

/** Collapses white space as HTML does and moves it out of formats, where Markdown does not allow it. */
function settleWhiteSpace(pieces: readonly InlinePiece[], keep_breaks: boolean): InlineToken[] {
  const settling = new WhiteSpaceSettler(keep_breaks)
  for (const piece of pieces) {
    switch (piece.piece) {
      case 'text':
        settling.text(piece.text, piece.code)
        break
      case 'open':
        settling.open(piece.node)
        break
      case 'close':
        settling.close(piece.node)
        break
      case 'break':
        settling.break()
        break
      case 'image':
        if (piece.src === null) settling.text(piece.alt, 0)
        else settling.solid({ token: 'image', alt: collapse(piece.alt).trim(), src: piece.src })
        break
      case 'box':
        settling.solid({ token: 'box', ticked: piece.ticked })
        // Text next to a checkbox is separate from it.
        settling.text(' ', 0)
        break
      case 'empty':
        settling.solid({ token: 'empty', href: piece.href })
        break
    }
  }
  return settling.tokens
}

/** Replaces each run of HTML white space with one space. */
function collapse(text: string): string {
  return /[\t\n\f\r]|  /.test(text) ? text.replace(/[ \t\n\f\r]+/g, ' ') : text
}

class WhiteSpaceSettler {
  readonly tokens: InlineToken[] = []
  /** Formats that have no content yet, and the pair numbers of those that have. */
  readonly #waiting: FormatNode[] = []
  readonly #pairs: number[] = []
  #next_pair = 1
  #space = false
  #break = false
  readonly #keep_breaks: boolean

  constructor(keep_breaks: boolean) {
    this.#keep_breaks = keep_breaks
  }

  text(raw: string, code: number): void {
    const text = collapse(raw)
    const body = text.slice(text.startsWith(' ') ? 1 : 0, text.endsWith(' ') ? -1 : undefined)
    if (text.startsWith(' ')) this.#space = true
    if (body === '') return
    const last = this.tokens.at(-1)
    if (code > 0 && last?.token === 'code' && last.id === code && this.#waiting.length === 0 && !this.#break) {
      last.text += this.#space ? ` ${body}` : body
      this.#space = false
    } else this.solid(code > 0 ? { token: 'code', text: body, id: code } : { token: 'text', text: body })
    if (text.endsWith(' ')) this.#space = true
  }

  /** Adds content after the white space and formats that precede it. */
  solid(token: InlineToken): void {
    if (this.tokens.length > 0) {
      if (this.#break) this.tokens.push({ token: 'break' })
      else if (this.#space) this.tokens.push({ token: 'text', text: ' ' })
    }
    this.#break = false
    this.#space = false
    for (const node of this.#waiting.splice(0)) {
      this.tokens.push({ token: 'open', node, pair: this.#next_pair })
      this.#pairs.push(this.#next_pair++)
    }
    this.tokens.push(token)
  }

  open(node: FormatNode): void {
    this.#waiting.push(node)
  }

  close(node: FormatNode): void {
    if (this.#waiting.pop() !== undefined) return
    const pair = this.#pairs.pop()
    if (pair !== undefined) this.tokens.push({ token: 'close', node, pair })
  }

  break(): void {
    if (this.#keep_breaks) this.#break = true
    else this.#space = true
  }
}

type EmphasisMark = Extract<InlineToken, { pair: number }> & { node: { kind: 'strong' | 'em' | 'del' } }

const STARS = { strong: 2, em: 1, del: 0 } as const

/**
 * Kind of character next to a run of `*` or `~`, by CommonMark's flanking rules. CommonMark versions and readers differ on symbols and some
 * white space: those are `odd`, and a format next to one is dropped.
 */
type Neighbour = 'space' | 'punctuation' | 'odd' | 'letter'

/**
 * Pair numbers of formats that Markdown cannot express at their place (within a word, next to punctuation, directly after another): their
 * marks would be read as text. Links always work. When in doubt a format is dropped; its text stays.
 */
function unfitFormats(tokens: readonly InlineToken[]): ReadonlySet<number> {
  const unfit = new Set<number>()
  /** By open format of stars: number of stars in its group. */
  const stars = new Map<number, number>()
  for (let at = 0; at < tokens.length; at++) {
    const group = groupAt(tokens, at)
    if (group.length === 0) continue
    const [before, after] = [neighbourBefore(tokens[at - 1]), neighbourAfter(tokens[at + group.length])]
    const mixed = new Set(group.map(({ node }) => node.kind === 'del')).size > 1
    const closes = group.some(({ token }) => token === 'close')
    const opens_here = !closes && isFlanking(after, before, mixed) && !([...stars.values()].includes(3) && mayClose(before, after, mixed))
    const closes_here = isFlanking(before, after, mixed)
    const width = group.reduce((sum, { node }) => sum + STARS[node.kind], 0)
    for (const { token, pair, node } of group) {
      if (!(token === 'open' ? opens_here : closes_here)) unfit.add(pair)
      if (token === 'close') stars.delete(pair)
      else if (opens_here && node.kind !== 'del') stars.set(pair, width)
    }
    at += group.length - 1
  }
  return unfit
}

/**
 * Returns whether a reader could take opening marks for closing ones. Where both are possible, runs whose lengths add up to a multiple of
 * three do not match (CommonMark 0.31, rules 9 and 10): `**` in `*` and `*` in `**` are safe, but either would close the rest of a `***`.
 * Stars next to tildes have punctuation there.
 */
function mayClose(before: Neighbour, after: Neighbour, mixed: boolean): boolean {
  return mixed || (before !== 'space' && (before !== 'punctuation' || after !== 'letter'))
}

/** Adjacent marks form one group: whether they work depends on the characters left and right of the group. */
function groupAt(tokens: readonly InlineToken[], start: number): EmphasisMark[] {
  const group: EmphasisMark[] = []
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || !isMark(token)) break
    group.push(token)
  }
  return group
}

function isMark(token: InlineToken): token is EmphasisMark {
  return (token.token === 'open' || token.token === 'close') && token.node.kind !== 'link'
}

function isFlanking(inner: Neighbour, outer: Neighbour, mixed: boolean): boolean {
  if (inner === 'letter' && !mixed) return true
  return inner !== 'space' && inner !== 'odd' && (outer === 'space' || outer === 'punctuation')
}

function neighbourBefore(token: InlineToken | undefined): Neighbour {
  if (token?.token === 'text') return neighbourKind(token.text.slice(-2).match(/.$/su)?.[0])
  return token === undefined || token.token === 'break' ? 'space' : 'punctuation'
}

function neighbourAfter(token: InlineToken | undefined): Neighbour {
  if (token?.token === 'text') return neighbourKind(token.text.slice(0, 2).match(/^./su)?.[0])
  return token === undefined ? 'space' : 'punctuation'
}

function neighbourKind(character: string | undefined): Neighbour {
  if (character !== undefined && /^[0-9A-Za-z]$/.test(character)) return 'letter'
  if (character === undefined || /[\t\n\f\r\p{Zs}]/u.test(character)) return 'space'
  if (/\s/.test(character)) return 'odd'
  if (/[\p{P}$+<=>^`|~]/u.test(character)) return character.length === 1 ? 'punctuation' : 'odd'
  return /\p{S}/u.test(character) ? 'odd' : 'letter'
}

export interface MarkdownLink {
  text: string
  href: string
}

/** Markdown of one block's text. */
export interface InlineMarkdown {
  /** Separated by hard breaks, which only paragraphs and cells have. */
  lines: string[]
  /** Visible text without marks. */
  plain: string
  links: MarkdownLink[]
}

type InlineContext = 'paragraph' | 'heading' | 'cell'

const FORMAT_MARKS: Record<Exclude<FormatNode['kind'], 'code' | 'link'>, string> = { strong: '**', em: '*', del: '~~' }

/** Writes the text of a block; null if there is none. */
export function writeInline(pieces: readonly InlinePiece[], place: InlineContext): InlineMarkdown | null {
  const [first] = pieces
  if (first === undefined) return null
  if (pieces.length === 1 && first.piece === 'text' && first.code === 0) return writePlain(first.text, place)
  const tokens = settleWhiteSpace(pieces, place !== 'heading')
  const unfit = unfitFormats(tokens)
  const line = new InlineWriter(place)
  for (const token of tokens) if (!('pair' in token && unfit.has(token.pair))) line.add(token)
  return line.finish()
}

/** Fast path: most blocks are plain text. */
function writePlain(text: string, place: InlineContext): InlineMarkdown | null {
  const plain = collapse(text).trim()
  if (plain === '') return null
  const escaped = escapeInline(plain, { in_cell: place === 'cell', before_bracket: false })
  const lines = [place === 'paragraph' ? escapeBeginning(escaped) : place === 'heading' ? escapeHeadingEnd(escaped) : escaped]
  return { lines, plain, links: [] }
}

class InlineWriter {
  readonly #place: InlineContext
  readonly #lines: string[] = []
  readonly #plain: string[] = []
  readonly #links: MarkdownLink[] = []
  #line: string[] = []
  /** Text and code that may continue in the next token, because dropped marks must not split it. */
  #text: string[] = []
  #code: string[] = []
  #link_text: string[] | null = null

  constructor(place: InlineContext) {
    this.#place = place
  }

  add(token: InlineToken): void {
    if (token.token !== 'code') this.#endCode(token)
    if (token.token !== 'text') this.#endText(token)
    switch (token.token) {
      case 'text':
        this.#text.push(token.text)
        return this.#show(token.text)
      case 'code':
        this.#code.push(token.text)
        return this.#show(token.text)
      case 'break':
        this.#endLine()
        return this.#show(' ')
      case 'image':
        this.#line.push(`![${this.#escaped(token.alt, false)}](${linkDestination(token.src)})`)
        return this.#show(token.alt)
      case 'box':
        // GFM task list item.
        this.#line.push(token.ticked ? '[x]' : '[ ]')
        return this.#show('')
      case 'empty':
        this.#line.push(`[](${linkDestination(token.href)})`)
        this.#links.push({ text: '', href: token.href })
        return
      case 'open':
      case 'close':
        this.#mark(token.token, token.node)
    }
  }

  finish(): InlineMarkdown | null {
    this.#endCode(null)
    this.#endText(null)
    this.#endLine()
    if (this.#lines.length === 0) return null
    const lines = this.#place === 'heading' ? this.#lines.map(escapeHeadingEnd) : this.#lines
    return { lines, plain: this.#plain.join('').trim(), links: this.#links }
  }

  #mark(side: 'open' | 'close', node: FormatNode): void {
    switch (node.kind) {
      case 'strong':
      case 'em':
      case 'del':
        this.#line.push(FORMAT_MARKS[node.kind])
        return
      case 'link':
        return side === 'open' ? this.#openLink(node.href) : this.#closeLink(node.href)
      case 'code':
    }
  }

  #openLink(href: string): void {
    this.#line.push('[')
    this.#links.push({ text: '', href })
    this.#link_text = []
  }

  #closeLink(href: string): void {
    this.#line.push(`](${linkDestination(href)})`)
    const link = this.#links.at(-1)
    if (link !== undefined) link.text = this.#link_text?.join('').trim() ?? ''
    this.#link_text = null
  }

  #show(text: string): void {
    this.#plain.push(text)
    this.#link_text?.push(text)
  }

  /** Readers strip more than HTML white space at line edges, so none is left there. */
  #endText(next: InlineToken | null): void {
    if (this.#text.length === 0) return
    const joined = this.#text.join('')
    this.#text = []
    const begins = this.#line.length === 0
    const started = begins ? joined.trimStart() : joined
    const text = next === null || next.token === 'break' ? started.trimEnd() : started
    if (text === '') return
    const escaped = this.#escaped(text, next !== null && beginsWithBracket(next))
    this.#line.push(begins && this.#place === 'paragraph' ? escapeBeginning(escaped) : escaped)
  }

  #escaped(text: string, before_bracket: boolean): string {
    return escapeInline(text, { in_cell: this.#place === 'cell', before_bracket })
  }

  #endCode(next: InlineToken | null): void {
    if (this.#code.length === 0) return
    const [text, in_cell] = [this.#code.join(''), this.#place === 'cell']
    this.#code = []
    const as_text = in_cell && endsCellEarly(text)
    this.#line.push(as_text ? this.#escaped(text, next !== null && beginsWithBracket(next)) : codeSpan(text, in_cell))
  }

  #endLine(): void {
    if (this.#line.length > 0) this.#lines.push(this.#line.join(''))
    this.#line = []
  }
}

function beginsWithBracket(token: InlineToken): boolean {
  return token.token === 'empty' || (token.token === 'open' && token.node.kind === 'link')
}

/**
 * Characters that can be markup within a line. Escaping follows CommonMark 0.31.2 (2024-01) and GFM 0.29 (2019-04): a reader returns the
 * same text.
 */
const INLINE_MARKUP = /[\\`*_[\]<&~!|]/
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const REFERENCE = /&#?[A-Za-z0-9]{1,32};/y

/** In a table cell `|` is markup too; before `[`, an exclamation mark turns a link into an image. */
interface Surroundings {
  in_cell: boolean
  before_bracket: boolean
}

/** Escapes markup within a line. */
function escapeInline(text: string, around: Surroundings): string {
  if (!INLINE_MARKUP.test(text)) return text
  const parts: string[] = []
  let written = 0
  for (let at = 0; at < text.length; at++) {
    const end = text[at] === '_' ? underscoresEnd(text, at) : at + 1
    if (isMarkup(text, at, end, around)) {
      for (let one = at; one < end; one++) {
        parts.push(text.slice(written, one), '\\')
        written = one
      }
    }
    at = end - 1
  }
  return parts.join('') + text.slice(written)
}

function underscoresEnd(text: string, start: number): number {
  let end = start + 1
  while (text[end] === '_') end++
  return end
}

function isMarkup(text: string, at: number, end: number, { in_cell, before_bracket }: Surroundings): boolean {
  switch (text.charAt(at)) {
    case '\\':
      return end === text.length || isPunctuation(text.charCodeAt(end))
    case '<':
      return /[A-Za-z/!?]/.test(text[end] ?? '')
    case '!':
      return before_bracket && end === text.length
    case '|':
      return in_cell
    case '&':
      REFERENCE.lastIndex = at
      return REFERENCE.test(text)
    case '`':
    case '*':
    case '[':
    case ']':
    case '~':
      return true
    case '_':
      // Underscores inside a word are text.
      return !(LETTER_OR_DIGIT.test(text[at - 1] ?? '') && LETTER_OR_DIGIT.test(text[end] ?? ''))
    default:
      return false
  }
}

/** ASCII punctuation, which a backslash can escape. */
function isPunctuation(code: number): boolean {
  return (
    (code >= 0x21 && code <= 0x2f) || (code >= 0x3a && code <= 0x40) || (code >= 0x5b && code <= 0x60) || (code >= 0x7b && code <= 0x7e)
  )
}

const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  // Headings, quotes, bullets.
  [/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$))/, '\\'],
  // Underlines of headings and delimiter rows of tables.
  [/^(?=[-:|][-:| ]*$|=+ *$)/, '\\'],
  // Numbers of a list.
  [/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\'],
]

/** Escapes markup at the beginning of a line. `text` is the escaped line up to its first mark. */
function escapeBeginning(text: string): string {
  for (const [pattern, escaped] of BEGINNINGS) if (pattern.test(text)) return text.replace(pattern, escaped)
  return text
}

/** Escapes hashes at the end of a heading, which would close it. */
function escapeHeadingEnd(text: string): string {
  return text.replace(/(?<=^|\s)(?=#+$)/, '\\')
}

/** Code span for text without line ends or surrounding space, delimited by more backticks than it contains. */
function codeSpan(text: string, in_cell: boolean): string {
  const ticks = '`'.repeat(longestRun(text) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${ticks}${pad}${in_cell ? text.replaceAll('|', String.raw`\|`) : text}${pad}${ticks}`
}

/**
 * Returns true if a code span with this text would end its table cell: a backslash that escapes `|` for the table would itself be escaped
 * by the backslash before it, and code has no other way to write `|`.
 */
function endsCellEarly(text: string): boolean {
  return text.split('|').slice(0, -1).some(endsWithEscape)
}

/** An odd number of backslashes at the end. */
function endsWithEscape(text: string): boolean {
  let end = text.length
  while (text.charCodeAt(end - 1) === BACKSLASH) end--
  return (text.length - end) % 2 === 1
}

const BACKSLASH = 0x5c

/** Shortest fence of at least three backticks that does not occur in the code. */
export function codeFence(code: string): string {
  return '`'.repeat(Math.max(3, longestRun(code) + 1))
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
