import { MARKDOWN_BOUNDS } from './bounds.ts'
import type { Inline, Link } from './inline.ts'
import type { TableNode } from './nodes.ts'

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
    return [line(head), line(head.map(() => '---')), ...body.map(line)]
  }

  plain(): string {
    return this.#plain.join(' ')
  }
}

function line(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}
