import { cutText } from '../../cut-text.ts'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import {
  type DroppedCounts,
  MARKDOWN_BOUNDS,
  httpAddress,
  type DocumentNode,
  type FormatNode,
  type DocumentStep,
} from './document-model.ts'
import { type MarkdownLink, type InlinePiece, writeInline, codeFence } from './inline-writer.ts'
import { readHtml } from './html-reader.ts'
import { BlockWriter, TableWriter } from './block-writer.ts'

export interface MarkdownDocument {
  markdown: string
  /** keccak-256 of the UTF-8 bytes of the Markdown: 0x and 64 lower-case hex digits. */
  markdown_hash: string
  title: string | null
  /** In document order; at most 1,000, texts cut at 1,000 characters. */
  headings: Heading[]
  headings_total: number
  links: MarkdownLink[]
  links_total: number
  /** Words of the visible text: runs between white space that contain a letter or a digit. */
  word_count: number
  dropped: DroppedCounts
  /** Lists, items and quotes beyond the maximum depth, which are written without structure. */
  flattened: number
  /** The output limit was reached; the Markdown ends after a whole block. */
  truncated: boolean
}

/**
 * Converts HTML to CommonMark 0.31 with the tables and strikethrough of GFM. Never throws; time and memory grow linearly with the text,
 * also for hostile nesting.
 *
 * Elements nest by the HTML Living Standard (read 2026-10) without its rarest repairs. Headings, links, lists, quotes, tables, code and
 * emphasis are kept; text is escaped so that a CommonMark reader returns the same text. Scripts, styles, images without address, frames,
 * comments and elements hidden by their own attributes are left out; style sheets are not read, so content that only they hide stays.
 * Tables that contain headings, code or tables, or have one column, are layout: their cells become blocks. In other tables a line break is
 * written `<br>`, and code that a cell cannot contain (`\|` in it) as text. Emphasis that Markdown cannot express is dropped; its text
 * stays.
 *
 * An http(s) `base_url` resolves relative addresses until the document names its own base. The result is untrusted text of the page.
 */
export function htmlToMarkdown(html: string, base_url: string | null = null): MarkdownDocument {
  const read = readHtml(html.toWellFormed(), base_url === null ? null : httpAddress(base_url))
  const { markdown, headings, links, word_count, flattened, truncated } = writeDocument(read.steps)
  return {
    markdown,
    markdown_hash: `0x${bytesToHex(keccak_256(utf8ToBytes(markdown)))}`,
    title: read.title === null ? null : listedText(read.title),
    headings: headings.slice(0, MARKDOWN_BOUNDS.listed).map(({ level, text }) => ({ level, text: listedText(text) })),
    headings_total: headings.length,
    links: links.slice(0, MARKDOWN_BOUNDS.listed).map(({ text, href }) => ({ text: listedText(text), href })),
    links_total: links.length,
    word_count,
    dropped: read.dropped,
    flattened,
    truncated,
  }
}

function listedText(text: string): string {
  return cutText(text.replace(/\s+/g, ' ').trim(), MARKDOWN_BOUNDS.listed_chars, '')
}

type Emphasis = Exclude<FormatNode, { kind: 'code' }>

/** Anything except HTML white space. */
const SOLID = /[^ \t\n\f\r]/

/** Collects the text of one block. Formats that are open when a block ends continue in the next one. */
class InlineBuffer {
  #pieces: InlinePiece[] = []
  /** Open formats, each kind once. `used`: the link has content. */
  readonly #formats: { node: Emphasis; used: boolean }[] = []
  #codes = 0
  #code_id = 0

  get empty(): boolean {
    return this.#pieces.length === 0
  }

  text(text: string): void {
    const solid = SOLID.test(text)
    // White space between blocks does not start one.
    if (solid || !this.empty) this.#add({ piece: 'text', text, code: this.#codes > 0 ? this.#code_id : 0 }, solid)
  }

  image(alt: string, src: string | null): void {
    if (src !== null || SOLID.test(alt)) this.#add({ piece: 'image', alt, src }, true)
  }

  box(ticked: boolean): void {
    this.#add({ piece: 'box', ticked }, true)
  }

  /** Adds a space between words, except at the beginning. */
  gap(): void {
    if (!this.empty) this.#pieces.push({ piece: 'text', text: ' ', code: 0 })
  }

  /** Adds a line break, except at the beginning. */
  break(): void {
    if (!this.empty) this.#pieces.push({ piece: 'break' })
  }

  /** A break came last, apart from white space. */
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

  /** Ends a format. Formats opened inside it end and start again. A link without content is kept for its address. */
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

  /** Returns the finished block with all formats closed. */
  take(): InlinePiece[] {
    const pieces = this.#pieces
    this.#pieces = []
    if (pieces.length > 0) for (const { node } of this.#formats.toReversed()) pieces.push({ piece: 'close', node })
    return pieces
  }

  #add(piece: InlinePiece, solid: boolean): void {
    if (this.empty) for (const { node } of this.#formats) this.#pieces.push({ piece: 'open', node })
    this.#pieces.push(piece)
    if (solid) for (const format of this.#formats) format.used = true
  }
}

interface Heading {
  level: number
  text: string
}

/** Result of writing: headings and links in document order. */
interface WrittenMarkdown {
  markdown: string
  headings: Heading[]
  links: MarkdownLink[]
  word_count: number
  flattened: number
  truncated: boolean
}

/** Writes the steps of a document. Stops when the output limit is reached. */
function writeDocument(steps: readonly DocumentStep[]): WrittenMarkdown {
  const writer = new DocumentWriter()
  for (const step of steps) {
    if (writer.full) break
    writer.take(step)
  }
  return writer.finish()
}

/** Node that captures everything until it closes: headings and cells as one line, `pre` verbatim. */
type CapturingNode = Extract<DocumentNode, { kind: 'heading' | 'cell' | 'pre' }>

class DocumentWriter {
  readonly #blocks = new BlockWriter()
  readonly #headings: Heading[] = []
  readonly #links: MarkdownLink[] = []
  readonly #tables: TableWriter[] = []
  #owner: CapturingNode | null = null
  /** Text of the current code block. */
  #code_block: string[] = []
  readonly #inline = new InlineBuffer()
  #words = 0

  get full(): boolean {
    return this.#blocks.truncated
  }

  take(step: DocumentStep): void {
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

  finish(): WrittenMarkdown {
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

  /** Code is kept verbatim; blocks inside it start new lines. */
  #takeCode(step: DocumentStep, owner: Extract<CapturingNode, { kind: 'pre' }>): void {
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
    const fence = codeFence(code)
    this.#write('other', [`${fence}${language}`, ...code.split('\n'), fence], code, [])
  }

  /** Ends the paragraph; within a heading or a cell it separates words. */
  #boundary(): void {
    if (this.#owner !== null) return this.#inline.gap()
    if (this.#inline.empty) return
    const inline = writeInline(this.#inline.take(), 'paragraph')
    if (inline === null) return
    const lines = inline.lines.map((line, at) => (at < inline.lines.length - 1 ? `${line}\\` : line))
    this.#write('paragraph', lines, inline.plain, inline.links)
  }

  #write(kind: 'paragraph' | 'other', lines: readonly string[], plain: string, links: readonly MarkdownLink[]): boolean {
    if (!this.#blocks.write({ kind, lines })) return false
    this.#words += countWords(plain)
    for (const link of links) this.#links.push(link)
    return true
  }

  /** Two breaks with only white space between them separate paragraphs. */
  #break(): void {
    if (this.#owner === null && this.#inline.broken) this.#boundary()
    else this.#inline.break()
  }
}

const FORMAT_KINDS: ReadonlySet<DocumentNode['kind']> = new Set<FormatNode['kind']>(['strong', 'em', 'del', 'code', 'link'])

function isFormat(node: DocumentNode): node is FormatNode {
  return FORMAT_KINDS.has(node.kind)
}

/** Counts the runs between white space that contain a letter or a digit. */
function countWords(text: string): number {
  let words = 0
  for (const [run] of text.matchAll(/\S+/g)) if (/[\p{L}\p{N}]/u.test(run)) words++
  return words
}
