import { destination } from './addresses.ts'
import { unfitFormats } from './emphasis.ts'
import { codeSpan, escapeBeginning, escapeHeadingEnd, escapeInline, splitsCell } from './escape.ts'
import type { FormatNode } from './nodes.ts'
import { collapse, settle, type Piece, type Token } from './settle.ts'

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

export type Place = 'paragraph' | 'heading' | 'cell'

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
