import type { FormatNode } from './nodes.ts'
import type { Piece } from './settle.ts'

type Emphasis = Exclude<FormatNode, { kind: 'code' }>

/** Not what HTML calls white space. */
const SOLID = /[^ \t\n\f\r]/

/** Gathers the text of one block. Formats that are open when a block ends go on in the next one. */
export class InlineBuffer {
  #pieces: Piece[] = []
  /** Open formats, none twice. `used` says that a link has had something in it. */
  readonly #formats: { node: Emphasis; used: boolean }[] = []
  #codes = 0
  #code_id = 0

  get empty(): boolean {
    return this.#pieces.length === 0
  }

  text(text: string): void {
    const solid = SOLID.test(text)
    // White space between blocks is not the beginning of one.
    if (solid || !this.empty) this.#add({ piece: 'text', text, code: this.#codes > 0 ? this.#code_id : 0 }, solid)
  }

  image(alt: string, src: string | null): void {
    if (src !== null || SOLID.test(alt)) this.#add({ piece: 'image', alt, src }, true)
  }

  box(ticked: boolean): void {
    this.#add({ piece: 'box', ticked }, true)
  }

  /** A gap between words; nothing at the beginning. */
  gap(): void {
    if (!this.empty) this.#pieces.push({ piece: 'text', text: ' ', code: 0 })
  }

  /** A line break; nothing at the beginning. */
  break(): void {
    if (!this.empty) this.#pieces.push({ piece: 'break' })
  }

  /** Whether a break came last, but for white space. */
  get broken(): boolean {
    return this.#pieces.findLast((piece) => piece.piece !== 'text' || SOLID.test(piece.text))?.piece === 'break'
  }

  open(node: FormatNode): void {
    if (node.kind === 'code') {
      if (this.#codes++ === 0) this.#code_id++
      return
    }
    const same = this.#formats.find((format) => format.node.kind === node.kind)
    if (node.kind === 'link') {
      // Links do not nest: the inner one stays.
      if (same !== undefined) this.close(same.node)
    } else if (same !== undefined || this.#codes > 0) return
    this.#formats.push({ node, used: false })
    if (!this.empty) this.#pieces.push({ piece: 'open', node })
  }

  /** Ends a format, also below others: those end with it and begin anew. A link without content is kept for its address. */
  close(node: FormatNode): void {
    if (node.kind === 'code') {
      this.#codes--
      return
    }
    const at = this.#formats.findIndex((format) => format.node === node)
    if (at < 0) return
    const [format, ...inner] = this.#formats.splice(at)
    if (!this.empty) {
      for (const { node: ended } of inner.toReversed()) this.#pieces.push({ piece: 'close', node: ended })
      this.#pieces.push({ piece: 'close', node })
      for (const { node: begun } of inner) this.#pieces.push({ piece: 'open', node: begun })
    }
    this.#formats.push(...inner)
    if (node.kind === 'link' && format?.used === false) this.#add({ piece: 'empty', href: node.href }, true)
  }

  /** All of the block that ends, its formats closed. */
  take(): Piece[] {
    const pieces = this.#pieces
    this.#pieces = []
    if (pieces.length > 0) for (const { node } of this.#formats.toReversed()) pieces.push({ piece: 'close', node })
    return pieces
  }

  #add(piece: Piece, solid: boolean): void {
    if (this.empty) for (const { node } of this.#formats) this.#pieces.push({ piece: 'open', node })
    this.#pieces.push(piece)
    if (solid) for (const format of this.#formats) format.used = true
  }
}
