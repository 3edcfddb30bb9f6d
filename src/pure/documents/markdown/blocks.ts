import { MARKDOWN_BOUNDS } from './bounds.ts'
import type { DocumentNode, TableNode } from './nodes.ts'
import type { Inline, Link } from './inline.ts'

/** A list, an item or a quote that is being written. */
interface Container {
  node: DocumentNode | null
  kind: 'quote' | 'list' | 'item'
  /** What its lines begin with, those of the containers around it included; an item's first line begins with `marker` instead. */
  rest: string
  marker: string
  /** Whether anything in it has been written. */
  started: boolean
  /** The list that has just ended here: one that follows needs another sign, or the two would be one. */
  last_list: ListSigns | null
  list: ListState | null
}

interface ListSigns {
  ordered: boolean
  sign: string
}

interface ListState extends ListSigns {
  next: number
  /** Blank lines stand between its items. */
  loose: boolean
  /** Width of the marker of its last item. */
  width: number
}

interface Block {
  kind: 'paragraph' | 'other'
  lines: readonly string[]
}

/** Puts blocks into lists and quotes, and lines below one another. */
export class BlockWriter {
  readonly #lines: string[] = []
  readonly #containers: Container[] = []
  readonly #root: Pick<Container, 'last_list'> = { last_list: null }
  #chars = 0
  /** How many of the containers were open ever since the last block. */
  #shared = 0
  /** The item that directly holds the last block, when that was a paragraph. */
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

  /** With `value`, an ordered item says its number; one that is out of order begins a list, which the other sign shows. */
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

  /** Ends what the node opened; nothing when it opened nothing, being too deep or outside of a list. */
  close(node: DocumentNode): void {
    if (this.#containers.at(-1)?.node === null && this.#containers.at(-2)?.node === node) this.#pop()
    if (this.#containers.at(-1)?.node === node) this.#pop()
  }

  /** Writes one block, whole or not at all. Returns whether it was written. */
  write(block: Block): boolean {
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

  /** What stands in a list but in no item goes on with the item before it, or begins one. */
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

  /** The line between the last block and the next one: none, or blank but for the quotes that go on. */
  #separator(): string | null {
    if (this.#lines.length === 0 || this.#isTight()) return null
    // The second block of an item parts the whole list.
    const list = this.#containers[this.#shared - 1]?.kind === 'item' ? this.#containers[this.#shared - 2]?.list : null
    if (list) list.loose = true
    return (this.#containers[this.#shared - 1]?.rest ?? '').trimEnd()
  }

  /** Whether the next block begins the next item of a tight list, or a list right below the text of its item. */
  #isTight(): boolean {
    const next = this.#containers[this.#shared]
    const around = this.#containers[this.#shared - 1]
    if (next === undefined || next.started || around === undefined) return false
    if (around.list !== null) return !around.list.loose
    const { list } = next
    return list !== null && around === this.#last_paragraph_in && (!list.ordered || list.next === 2)
  }

  /** What is open since the last block begins in the first line of this one. */
  #firstPrefix(): string {
    const begun = this.#containers.slice(this.#shared).map(({ marker }) => marker)
    return (this.#containers[this.#shared - 1]?.rest ?? '') + begun.join('')
  }

  #written(kind: Block['kind']): void {
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

interface Row {
  /** The row stands in the head of the table. */
  head: boolean
  /** All cells so far are headers. */
  headers: boolean
  texts: string[]
}

/** Collects a table of text, to be written as a GFM table. */
export class TableWriter {
  readonly node: TableNode
  readonly links: Link[] = []
  readonly #rows: Row[] = []
  readonly #plain: string[] = []
  /** For each column, how many rows below still belong to a cell above. */
  #spans: number[] = []

  constructor(node: TableNode) {
    this.node = node
  }

  openRow(head: boolean): void {
    this.#rows.push({ head, headers: true, texts: [] })
  }

  addCell(cell: { head: boolean; colspan: number; rowspan: number }, text: Inline | null): void {
    if (this.#rows.length === 0) this.openRow(false)
    const row = this.#rows.at(-1)
    if (row === undefined) return
    this.#passSpans(row)
    row.headers &&= cell.head
    // A cell is one line of Markdown, so its line breaks are written as HTML.
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

  /** Columns that a cell above still covers stay empty. */
  #passSpans(row: Row): void {
    for (let column = row.texts.length; (this.#spans[column] ?? 0) > 0; column++) {
      this.#spans[column] = (this.#spans[column] ?? 0) - 1
      row.texts.push('')
    }
  }

  closeRow(): void {
    const row = this.#rows.at(-1)
    if (row === undefined) return
    // A span behind the last cell of this row counts down as well.
    for (let column = row.texts.length; column < this.#spans.length; column++) {
      this.#spans[column] = Math.max(0, (this.#spans[column] ?? 0) - 1)
    }
  }

  /** The lines of the table; none when it has no text. A head is made up, empty, where the table has none. */
  lines(): string[] {
    const rows = this.#rows.filter(({ texts }) => texts.some((text) => text !== ''))
    const [first] = rows
    if (first === undefined) return []
    const has_head = first.head || first.headers
    const columns = rows.reduce((most, { texts }) => Math.max(most, texts.findLastIndex((text) => text !== '') + 1), 1)
    const head = Array.from({ length: columns }, (_, column) => (has_head ? (first.texts[column] ?? '') : ''))
    const body = (has_head ? rows.slice(1) : rows).map(({ texts }) => texts.slice(0, texts.findLastIndex((text) => text !== '') + 1))
    return [tableLine(head), tableLine(head.map(() => '---')), ...body.map(tableLine)]
  }

  plain(): string {
    return this.#plain.join(' ')
  }
}

function tableLine(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}
