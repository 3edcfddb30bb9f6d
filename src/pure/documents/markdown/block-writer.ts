import { type DocumentNode, MARKDOWN_BOUNDS, type TableNode } from './document-model.ts'
import type { InlineMarkdown, MarkdownLink } from './inline-writer.ts'

/** An open list, item or quote. */
interface Container {
  node: DocumentNode | null
  kind: 'quote' | 'list' | 'item'
  /** Line prefix inside this container, including its parents'. The first line of an item starts with `marker` instead. */
  rest: string
  marker: string
  /** A block has been written in it. */
  started: boolean
  /** List that ended here last. A list that follows needs another sign, or CommonMark would join the two. */
  last_list: ListSigns | null
  list: ListState | null
}

interface ListSigns {
  ordered: boolean
  sign: string
}

interface ListState extends ListSigns {
  next: number
  /** Its items are separated by blank lines. */
  loose: boolean
  /** Width of the last item's marker. */
  width: number
}

interface MarkdownBlock {
  kind: 'paragraph' | 'other'
  lines: readonly string[]
}

/** Writes blocks with the prefixes of their lists and quotes. */
export class BlockWriter {
  readonly #lines: string[] = []
  readonly #containers: Container[] = []
  readonly #root: Pick<Container, 'last_list'> = { last_list: null }
  #chars = 0
  /** Number of containers that have been open since the last block. */
  #shared = 0
  /** Item that directly contains the last block, if that block is a paragraph. */
  #last_paragraph_in: Container | null = null
  flattened = 0
  truncated = false

  markdown(): string {
    return this.#lines.length === 0 ? '' : `${this.#lines.join('\n')}\n`
  }

  openQuote(node: DocumentNode): void {
    if (this.#isDeep()) return
    this.#itemForStray()
    this.#push({ node, kind: 'quote', rest: `${this.#rest}> `, marker: '> ', list: null })
  }

  openList(node: DocumentNode, ordered: boolean, start: number): void {
    if (this.#isDeep()) return
    this.#itemForStray()
    const { last_list } = this.#containers.at(-1) ?? this.#root
    const [sign, other] = ordered ? (['.', ')'] as const) : (['-', '*'] as const)
    const follows = last_list?.ordered === ordered && last_list.sign === sign
    const list: ListState = { ordered, sign: follows ? other : sign, next: start, loose: false, width: 0 }
    this.#push({ node, kind: 'list', rest: this.#rest, marker: '', list })
  }

  /** With `value`, an ordered item states its number; an item out of sequence starts a new list, marked by the other sign. */
  openItem(node: DocumentNode, value: number | null = null): void {
    if (this.#containers.at(-1)?.node === null) this.#pop()
    const top = this.#containers.at(-1)
    if (top?.kind !== 'list' || this.#isDeep()) return
    if (value !== null && value >= 0 && top.list?.ordered === true && top.list.next !== value) {
      if (top.started) top.list.sign = top.list.sign === '.' ? ')' : '.'
      top.list.next = value
    }
    this.#pushItem(node)
  }

  /** Ends the container of the node. Has no effect if the node opened none (too deep, or an item outside a list). */
  close(node: DocumentNode): void {
    if (this.#containers.at(-1)?.node === null && this.#containers.at(-2)?.node === node) this.#pop()
    if (this.#containers.at(-1)?.node === node) this.#pop()
  }

  /** Writes a block completely or not at all; returns whether it was written. */
  write(block: MarkdownBlock): boolean {
    this.#itemForStray()
    const separator = this.#separator()
    const rest = this.#rest
    const begun = separator === null ? 0 : separator.length + 1
    const chars = block.lines.reduce((sum, line) => sum + rest.length + line.length + 1, begun)
    if (this.truncated || this.#chars + chars > MARKDOWN_BOUNDS.output_chars) {
      this.truncated = true
      return false
    }
    this.#chars += chars
    if (separator !== null) this.#lines.push(separator)
    const first = this.#firstPrefix()
    for (const [at, line] of block.lines.entries()) {
      const prefix = at === 0 ? first : rest
      this.#lines.push(line === '' ? prefix.trimEnd() : prefix + line)
    }
    this.#written(block.kind)
    return true
  }

  get #rest(): string {
    return this.#containers.at(-1)?.rest ?? ''
  }

  #isDeep(): boolean {
    const deep = this.#containers.length >= MARKDOWN_BOUNDS.depth
    if (deep) this.flattened++
    return deep
  }

  /** Puts content that is in a list but in no item into the previous item, or into a new one. */
  #itemForStray(): void {
    const top = this.#containers.at(-1)
    if (top?.kind !== 'list') return
    const width = top.list?.width ?? 0
    if (width === 0) this.#pushItem(null)
    else this.#push({ node: null, kind: 'item', rest: `${top.rest}${' '.repeat(width)}`, marker: ' '.repeat(width), list: null }, true)
  }

  #pushItem(node: DocumentNode | null): void {
    const list = this.#containers.at(-1)?.list
    if (list === null || list === undefined) return
    const marker = list.ordered ? `${Math.min(list.next, 999_999_999)}${list.sign} ` : `${list.sign} `
    list.next++
    this.#push({ node, kind: 'item', rest: `${this.#rest}${' '.repeat(marker.length)}`, marker, list: null })
  }

  #push(container: Omit<Container, 'started' | 'last_list'>, started = false): void {
    this.#containers.push({ ...container, started, last_list: null })
  }

  #pop(): void {
    const ended = this.#containers.pop()
    this.#shared = Math.min(this.#shared, this.#containers.length)
    if (ended?.list && ended.started) (this.#containers.at(-1) ?? this.#root).last_list = ended.list
  }

  /** Returns the line between two blocks: null for none, otherwise blank apart from the prefixes of quotes that continue. */
  #separator(): string | null {
    if (this.#lines.length === 0 || this.#isTight()) return null
    // A second block in an item makes the whole list loose.
    const list = this.#containers[this.#shared - 1]?.kind === 'item' ? this.#containers[this.#shared - 2]?.list : null
    if (list) list.loose = true
    return (this.#containers[this.#shared - 1]?.rest ?? '').trimEnd()
  }

  /** Returns true before the next item of a tight list, and before a list directly below the text of its item. */
  #isTight(): boolean {
    const next = this.#containers[this.#shared]
    const around = this.#containers[this.#shared - 1]
    if (next === undefined || next.started || around === undefined) return false
    if (around.list !== null) return !around.list.loose
    const { list } = next
    return list !== null && around === this.#last_paragraph_in && (!list.ordered || list.next === 2)
  }

  /** Markers of containers opened since the last block are written on the first line of this one. */
  #firstPrefix(): string {
    const begun = this.#containers.slice(this.#shared).map(({ marker }) => marker)
    return (this.#containers[this.#shared - 1]?.rest ?? '') + begun.join('')
  }

  #written(kind: MarkdownBlock['kind']): void {
    this.#root.last_list = null
    for (let at = Math.max(0, this.#shared - 1); at < this.#containers.length; at++) {
      const container = this.#containers[at]
      if (container === undefined) break
      container.started = true
      container.last_list = null
      const list = this.#containers[at - 1]?.list
      if (list) list.width = container.marker.length
    }
    this.#shared = this.#containers.length
    const top = this.#containers.at(-1)
    this.#last_paragraph_in = kind === 'paragraph' && top?.kind === 'item' ? top : null
  }
}

interface TableRow {
  /** The row is in the head of the table. */
  head: boolean
  /** All cells so far are header cells. */
  headers: boolean
  texts: string[]
}

/** Collects the cells of a GFM table. */
export class TableWriter {
  readonly node: TableNode
  readonly links: MarkdownLink[] = []
  readonly #rows: TableRow[] = []
  readonly #plain: string[] = []
  /** By column: number of rows below that a cell above still covers. */
  #spans: number[] = []

  constructor(node: TableNode) {
    this.node = node
  }

  openRow(head: boolean): void {
    this.#rows.push({ head, headers: true, texts: [] })
  }

  addCell(cell: { head: boolean; colspan: number; rowspan: number }, text: InlineMarkdown | null): void {
    if (this.#rows.length === 0) this.openRow(false)
    const row = this.#rows.at(-1)
    if (row === undefined) return
    this.#passSpans(row)
    row.headers &&= cell.head
    // A cell is one line of Markdown, so line breaks in it are written as HTML.
    const shown = text?.lines.join('<br>') ?? ''
    if (text !== null) {
      for (const link of text.links) this.links.push(link)
      this.#plain.push(text.plain)
    }
    const at = row.texts.length
    if (at >= MARKDOWN_BOUNDS.columns) {
      const last = MARKDOWN_BOUNDS.columns - 1
      if (shown !== '') row.texts[last] = `${row.texts[last] ?? ''} ${shown}`
      return
    }
    for (let column = at; column < Math.min(at + cell.colspan, MARKDOWN_BOUNDS.columns); column++) {
      row.texts.push(column === at ? shown : '')
      this.#spans[column] = cell.rowspan - 1
    }
  }

  /** Leaves columns empty that a cell above covers. */
  #passSpans(row: TableRow): void {
    for (let column = row.texts.length; (this.#spans[column] ?? 0) > 0; column++) {
      this.#spans[column] = (this.#spans[column] ?? 0) - 1
      row.texts.push('')
    }
  }

  closeRow(): void {
    const row = this.#rows.at(-1)
    if (row === undefined) return
    // Spans to the right of the last cell count down as well.
    for (let column = row.texts.length; column < this.#spans.length; column++) {
      this.#spans[column] = Math.max(0, (this.#spans[column] ?? 0) - 1)
    }
  }

  /** Lines of the table, none if it has no text. GFM requires a head, so an empty one is written where the table has none. */
  lines(): string[] {
    const rows = this.#rows.filter(({ texts }) => texts.some((text) => text !== ''))
    const [first] = rows
    if (first === undefined) return []
    const has_head = first.head || first.headers
    const columns = rows.reduce((most, { texts }) => Math.max(most, texts.findLastIndex((text) => text !== '') + 1), 1)
    const head = Array.from({ length: columns }, (_, column) => (has_head ? (first.texts[column] ?? '') : ''))
    const body = (has_head ? rows.slice(1) : rows).map(({ texts }) => texts.slice(0, texts.findLastIndex((text) => text !== '') + 1))
    return [tableRowLine(head), tableRowLine(head.map(() => '---')), ...body.map(tableRowLine)]
  }

  plain(): string {
    return this.#plain.join(' ')
  }
}

function tableRowLine(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}
