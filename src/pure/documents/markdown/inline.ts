import type { FormatNode } from './nodes.ts'
import { destination } from './addresses.ts'
import { codeSpan, escapeBeginning, escapeHeadingEnd, escapeInline, splitsCell } from './escape.ts'

/** What stands in one line of the document, as the steps bring it: opened and closed formats are nested and balanced. */
export type Piece =
  /** `code` numbers the code element that the text stands in; 0 is none. */
  | { piece: 'text'; text: string; code: number }
  | { piece: 'open' | 'close'; node: FormatNode }
  | { piece: 'break' }
  | { piece: 'image'; alt: string; src: string | null }
  | { piece: 'box'; ticked: boolean }
  /** A link without any text. */
  | { piece: 'empty'; href: string }

/** The same with white space settled: none at the edges, none right inside a format, no format around nothing. */
type Token =
  | { token: 'text'; text: string }
  | { token: 'code'; text: string; id: number }
  /** Opening and closing token of one format have the same number. */
  | { token: 'open' | 'close'; node: FormatNode; pair: number }
  | { token: 'break' }
  | { token: 'image'; alt: string; src: string }
  | { token: 'box'; ticked: boolean }
  | { token: 'empty'; href: string }

/** White space as HTML collapses it, and moves it out of formats, where Markdown does not take it. */
function settle(pieces: readonly Piece[], keep_breaks: boolean): Token[] {
  const settling = new Settling(keep_breaks)
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
        // What is beside a box is apart from it.
        settling.text(' ', 0)
        break
      case 'empty':
        settling.solid({ token: 'empty', href: piece.href })
        break
    }
  }
  return settling.tokens
}

/** Each run of what HTML takes for white space as one space. */
function collapse(text: string): string {
  return /[\t\n\f\r]|  /.test(text) ? text.replace(/[ \t\n\f\r]+/g, ' ') : text
}

class Settling {
  readonly tokens: Token[] = []
  /** Formats that wait for content, and the numbers of those that have it. */
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

  /** Content: first comes what waited for it. */
  solid(token: Token): void {
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

type Mark = Extract<Token, { pair: number }> & { node: { kind: 'strong' | 'em' | 'del' } }

const STARS = { strong: 2, em: 1, del: 0 } as const

/**
 * Kinds of neighbours of a run of `*` or `~`, as CommonMark tells them apart. Versions and readers differ on symbols and on some white
 * space: those are `odd`, and count for nothing.
 */
type Neighbour = 'space' | 'punctuation' | 'odd' | 'letter'

/**
 * Numbers of the formats that Markdown cannot show where they stand (in the middle of a word, next to punctuation, one right after
 * another): their marks would be read as text. Links are always fit. Errs towards leaving a format out, its text stays.
 */
function unfitFormats(tokens: readonly Token[]): ReadonlySet<number> {
  const unfit = new Set<number>()
  /** Of each open format of stars, how many its group has. */
  const stars = new Map<number, number>()
  for (let at = 0; at < tokens.length; at++) {
    const group = groupAt(tokens, at)
    if (group.length === 0) continue
    const [before, after] = [endOf(tokens[at - 1]), beginningOf(tokens[at + group.length])]
    const mixed = new Set(group.map(({ node }) => node.kind === 'del')).size > 1
    const closes = group.some(({ token }) => token === 'close')
    const opens_here = !closes && fits(after, before, mixed) && !([...stars.values()].includes(3) && mayClose(before, after, mixed))
    const closes_here = fits(before, after, mixed)
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
 * Whether a reader may take marks that open for marks that close. Where both can be, lengths that add up to a multiple of three do not
 * belong together (CommonMark 0.31, rules 9 and 10). So ** in * and * in ** are safe, but either would close what is left of a ***. Stars
 * beside tildes have punctuation there.
 */
function mayClose(before: Neighbour, after: Neighbour, mixed: boolean): boolean {
  return mixed || (before !== 'space' && (before !== 'punctuation' || after !== 'letter'))
}

/** Marks that stand side by side are one group: whether they work depends on what is left and right of all of them. */
function groupAt(tokens: readonly Token[], start: number): Mark[] {
  const group: Mark[] = []
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || !isMark(token)) break
    group.push(token)
  }
  return group
}

function isMark(token: Token): token is Mark {
  return (token.token === 'open' || token.token === 'close') && token.node.kind !== 'link'
}

function fits(inner: Neighbour, outer: Neighbour, mixed: boolean): boolean {
  if (inner === 'letter' && !mixed) return true
  return inner !== 'space' && inner !== 'odd' && (outer === 'space' || outer === 'punctuation')
}

function endOf(token: Token | undefined): Neighbour {
  if (token?.token === 'text') return kindOf(token.text.slice(-2).match(/.$/su)?.[0])
  return token === undefined || token.token === 'break' ? 'space' : 'punctuation'
}

function beginningOf(token: Token | undefined): Neighbour {
  if (token?.token === 'text') return kindOf(token.text.slice(0, 2).match(/^./su)?.[0])
  return token === undefined ? 'space' : 'punctuation'
}

function kindOf(character: string | undefined): Neighbour {
  if (character !== undefined && /^[0-9A-Za-z]$/.test(character)) return 'letter'
  if (character === undefined || /[\t\n\f\r\p{Zs}]/u.test(character)) return 'space'
  if (/\s/.test(character)) return 'odd'
  if (/[\p{P}$+<=>^`|~]/u.test(character)) return character.length === 1 ? 'punctuation' : 'odd'
  return /\p{S}/u.test(character) ? 'odd' : 'letter'
}

export interface Link {
  text: string
  href: string
}

/** Markdown of the text of one block. */
export interface Inline {
  /** Parted by hard breaks, which paragraphs and cells have. */
  lines: string[]
  /** What a reader sees, without marks. */
  plain: string
  links: Link[]
}

type Place = 'paragraph' | 'heading' | 'cell'

const MARK: Record<Exclude<FormatNode['kind'], 'code' | 'link'>, string> = { strong: '**', em: '*', del: '~~' }

/** Writes the text of a block; null when there is none. */
export function writeInline(pieces: readonly Piece[], place: Place): Inline | null {
  const [first] = pieces
  if (first === undefined) return null
  if (pieces.length === 1 && first.piece === 'text' && first.code === 0) return writePlain(first.text, place)
  const tokens = settle(pieces, place !== 'heading')
  const unfit = unfitFormats(tokens)
  const line = new InlineWriter(place)
  for (const token of tokens) if (!('pair' in token && unfit.has(token.pair))) line.add(token)
  return line.finish()
}

/** Most blocks are text and nothing else. */
function writePlain(text: string, place: Place): Inline | null {
  const plain = collapse(text).trim()
  if (plain === '') return null
  const escaped = escapeInline(plain, { in_cell: place === 'cell', before_bracket: false })
  const lines = [place === 'paragraph' ? escapeBeginning(escaped) : place === 'heading' ? escapeHeadingEnd(escaped) : escaped]
  return { lines, plain, links: [] }
}

class InlineWriter {
  readonly #place: Place
  readonly #lines: string[] = []
  readonly #plain: string[] = []
  readonly #links: Link[] = []
  #line: string[] = []
  /** Text and code that may go on with the next token: marks that were left out must not part it. */
  #text: string[] = []
  #code: string[] = []
  #link_text: string[] | null = null

  constructor(place: Place) {
    this.#place = place
  }

  add(token: Token): void {
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
        this.#line.push(`![${this.#escaped(token.alt, false)}](${destination(token.src)})`)
        return this.#show(token.alt)
      case 'box':
        // As GFM writes it at the beginning of an item.
        this.#line.push(token.ticked ? '[x]' : '[ ]')
        return this.#show('')
      case 'empty':
        this.#line.push(`[](${destination(token.href)})`)
        this.#links.push({ text: '', href: token.href })
        return
      case 'open':
      case 'close':
        this.#mark(token.token, token.node)
    }
  }

  finish(): Inline | null {
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
        this.#line.push(MARK[node.kind])
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
    this.#line.push(`](${destination(href)})`)
    const link = this.#links.at(-1)
    if (link !== undefined) link.text = this.#link_text?.join('').trim() ?? ''
    this.#link_text = null
  }

  #show(text: string): void {
    this.#plain.push(text)
    this.#link_text?.push(text)
  }

  /** Readers strip more than HTML's white space at the edges of a line, so none is left there. */
  #endText(next: Token | null): void {
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

  #endCode(next: Token | null): void {
    if (this.#code.length === 0) return
    const [text, in_cell] = [this.#code.join(''), this.#place === 'cell']
    this.#code = []
    const as_text = in_cell && splitsCell(text)
    this.#line.push(as_text ? this.#escaped(text, next !== null && beginsWithBracket(next)) : codeSpan(text, in_cell))
  }

  #endLine(): void {
    if (this.#line.length > 0) this.#lines.push(this.#line.join(''))
    this.#line = []
  }
}

function beginsWithBracket(token: Token): boolean {
  return token.token === 'empty' || (token.token === 'open' && token.node.kind === 'link')
}
