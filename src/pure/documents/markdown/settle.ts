import type { FormatNode } from './nodes.ts'

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
export type Token =
  | { token: 'text'; text: string }
  | { token: 'code'; text: string; id: number }
  /** Opening and closing token of one format have the same number. */
  | { token: 'open' | 'close'; node: FormatNode; pair: number }
  | { token: 'break' }
  | { token: 'image'; alt: string; src: string }
  | { token: 'box'; ticked: boolean }
  | { token: 'empty'; href: string }

/** White space as HTML collapses it, and moves it out of formats, where Markdown does not take it. */
export function settle(pieces: readonly Piece[], keep_breaks: boolean): Token[] {
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
export function collapse(text: string): string {
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
