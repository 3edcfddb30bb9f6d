import type { DocumentNode, FormatNode, Step } from './nodes.ts'
import { type Link, type Piece, writeInline } from './inline.ts'
import { BlockWriter, TableWriter } from './blocks.ts'
import { fenceFor } from './escape.ts'

type Emphasis = Exclude<FormatNode, { kind: 'code' }>

/** Not what HTML calls white space. */
const SOLID = /[^ \t\n\f\r]/

/** Gathers the text of one block. Formats that are open when a block ends go on in the next one. */
class InlineBuffer {
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

export interface Heading {
  level: number
  text: string
}

/** What stands in the Markdown, in its order. */
interface Written {
  markdown: string
  headings: Heading[]
  links: Link[]
  word_count: number
  flattened: number
  truncated: boolean
}

/** Writes the steps of a document as CommonMark with the tables and deletions of GFM. Stops when the bound of the output is reached. */
export function writeDocument(steps: readonly Step[]): Written {
  const writer = new DocumentWriter()
  for (const step of steps) {
    if (writer.full) break
    writer.take(step)
  }
  return writer.finish()
}

/** What takes in everything until its node closes, as one line or as it stands. */
type Owner = Extract<DocumentNode, { kind: 'heading' | 'cell' | 'pre' }>

class DocumentWriter {
  readonly #blocks = new BlockWriter()
  readonly #headings: Heading[] = []
  readonly #links: Link[] = []
  readonly #tables: TableWriter[] = []
  #owner: Owner | null = null
  /** Text of the block of code that is being read. */
  #code_block: string[] = []
  readonly #inline = new InlineBuffer()
  #words = 0

  get full(): boolean {
    return this.#blocks.truncated
  }

  take(step: Step): void {
    if (this.#owner?.kind === 'pre') return this.#takeCode(step, this.#owner)
    switch (step.step) {
      case 'text':
        return this.#inline.text(step.text)
      case 'image':
        return this.#inline.image(step.alt, step.src)
      case 'box':
        return this.#inline.box(step.ticked)
      case 'break':
        return this.#break()
      case 'rule':
        this.#boundary()
        if (this.#owner === null) this.#blocks.write({ kind: 'other', lines: ['___'] })
        return
      case 'open':
        return isFormat(step.node) ? this.#inline.open(step.node) : this.#open(step.node)
      case 'close':
        return isFormat(step.node) ? this.#inline.close(step.node) : this.#close(step.node)
    }
  }

  finish(): Written {
    this.#boundary()
    const { flattened, truncated } = this.#blocks
    const [headings, links] = [this.#headings, this.#links]
    return { markdown: this.#blocks.markdown(), headings, links, word_count: this.#words, flattened, truncated }
  }

  #open(node: Exclude<DocumentNode, FormatNode>): void {
    this.#boundary()
    if (this.#owner !== null) return
    switch (node.kind) {
      case 'list':
        return this.#blocks.openList(node, node.ordered, node.start)
      case 'item':
        return this.#blocks.openItem(node, node.value)
      case 'quote':
        return this.#blocks.openQuote(node)
      case 'heading':
      case 'pre':
        this.#owner = node
        return
      case 'table':
        if (!node.layout) this.#tables.push(new TableWriter(node))
        return
      case 'row':
        if (!node.table.layout) this.#tables.at(-1)?.openRow(node.head)
        return
      case 'cell':
        if (!node.table.layout) this.#owner = node
        return
      case 'block':
    }
  }

  #close(node: Exclude<DocumentNode, FormatNode>): void {
    if (this.#owner !== null && node !== this.#owner) return this.#boundary()
    switch (node.kind) {
      case 'heading':
        return this.#closeHeading(node.level)
      case 'cell':
        if (this.#owner === null) return this.#boundary()
        this.#tables.at(-1)?.addCell(node, writeInline(this.#inline.take(), 'cell'))
        this.#owner = null
        return
      case 'row':
        this.#boundary()
        if (!node.table.layout) this.#tables.at(-1)?.closeRow()
        return
      case 'table':
        this.#boundary()
        return node.layout ? undefined : this.#closeTable()
      case 'list':
      case 'item':
      case 'quote':
        this.#boundary()
        return this.#blocks.close(node)
      case 'pre':
      case 'block':
        return this.#boundary()
    }
  }

  #closeHeading(level: number): void {
    this.#owner = null
    const inline = writeInline(this.#inline.take(), 'heading')
    if (inline === null || !this.#write('other', [`${'#'.repeat(level)} ${inline.lines.join(' ')}`], inline.plain, inline.links)) return
    this.#headings.push({ level, text: inline.plain })
  }

  #closeTable(): void {
    const table = this.#tables.pop()
    const lines = table?.lines() ?? []
    if (table !== undefined && lines.length > 0) this.#write('other', lines, table.plain(), table.links)
  }

  /** Code is kept as it stands; blocks in it begin new lines. */
  #takeCode(step: Step, owner: Extract<Owner, { kind: 'pre' }>): void {
    switch (step.step) {
      case 'text':
        this.#code_block.push(step.text)
        return
      case 'image':
        this.#code_block.push(step.alt)
        return
      case 'box':
        this.#code_block.push(step.ticked ? '[x] ' : '[ ] ')
        return
      case 'break':
        this.#code_block.push('\n')
        return
      case 'rule':
        return this.#codeBoundary()
      case 'open':
        if (!isFormat(step.node)) this.#codeBoundary()
        return
      case 'close':
        if (step.node === owner) this.#closeCode(owner.language)
        else if (!isFormat(step.node)) this.#codeBoundary()
    }
  }

  #codeBoundary(): void {
    if (!(this.#code_block.at(-1) ?? '\n').endsWith('\n')) this.#code_block.push('\n')
  }

  #closeCode(language: string): void {
    this.#owner = null
    const code = this.#code_block.join('').replace(/\r\n?/g, '\n').replace(/^\n/, '').replace(/\n$/, '')
    this.#code_block = []
    if (code.trim() === '') return
    const fence = fenceFor(code)
    this.#write('other', [`${fence}${language}`, ...code.split('\n'), fence], code, [])
  }

  /** Ends the paragraph; within a heading or a cell it parts words. */
  #boundary(): void {
    if (this.#owner !== null) return this.#inline.gap()
    if (this.#inline.empty) return
    const inline = writeInline(this.#inline.take(), 'paragraph')
    if (inline === null) return
    const lines = inline.lines.map((line, at) => (at < inline.lines.length - 1 ? `${line}\\` : line))
    this.#write('paragraph', lines, inline.plain, inline.links)
  }

  #write(kind: 'paragraph' | 'other', lines: readonly string[], plain: string, links: readonly Link[]): boolean {
    if (!this.#blocks.write({ kind, lines })) return false
    this.#words += wordsIn(plain)
    for (const link of links) this.#links.push(link)
    return true
  }

  /** Two breaks, with nothing but white space between them, part paragraphs. */
  #break(): void {
    if (this.#owner === null && this.#inline.broken) this.#boundary()
    else this.#inline.break()
  }
}

function isFormat(node: DocumentNode): node is FormatNode {
  switch (node.kind) {
    case 'strong':
    case 'em':
    case 'del':
    case 'code':
    case 'link':
      return true
    case 'block':
    case 'list':
    case 'item':
    case 'quote':
    case 'heading':
    case 'pre':
    case 'table':
    case 'row':
    case 'cell':
      return false
  }
}

/** Words: what white space parts, as long as a letter or a digit is in it. */
function wordsIn(text: string): number {
  let words = 0
  for (const [run] of text.matchAll(/\S+/g)) if (/[\p{L}\p{N}]/u.test(run)) words++
  return words
}
