import { el } from '../dom.ts'
import type { RowShown } from './host.ts'
import type { SortKey } from './messages.ts'

export interface Column {
  title: string
  /** Null where rows are not sorted by it. */
  sort: SortKey | null
  /** Width in characters. */
  width: number
  number?: boolean
  cell(row: RowShown): Node | string
}

/** Height of a row in pixels, as the style sheet has it. */
const ROW = 36
const BLOCK = 100
const BLOCKS_KEPT = 40

interface Asks {
  rows(from: number, to: number): void
  sort(key: SortKey): void
}

/**
 * A table of which only the rows in sight exist, however many there are: rows are asked for in blocks as they come into view. Screen readers
 * are told the number of all rows and the place of each.
 */
export class Grid {
  private readonly frame: HTMLElement
  private readonly table: HTMLTableElement
  private readonly asks: Asks
  private columns: readonly Column[] = []
  private total = 0
  private blocks = new Map<number, readonly RowShown[]>()
  private asked = new Set<number>()
  private drawn = ''

  constructor(frame: HTMLElement, asks: Asks) {
    const table = frame.querySelector('table')
    if (table === null) throw new Error('the page has no table')
    this.frame = frame
    this.table = table
    this.asks = asks
    frame.addEventListener('scroll', () => this.draw(), { passive: true })
    new ResizeObserver(() => this.draw()).observe(frame)
  }

  /** Shows the head with its order; rows follow. */
  head(columns: readonly Column[], sort: SortKey, descending: boolean): void {
    this.columns = columns
    const cells = columns.map((column) => this.headCell(column, column.sort === sort ? (descending ? 'descending' : 'ascending') : 'none'))
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['sort'] : undefined
    this.table.querySelector('thead')?.replaceChildren(el('tr', {}, ...cells))
    if (focused !== undefined) this.table.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus()
    const width = columns.reduce((sum, column) => sum + column.width, 0)
    this.table.style.setProperty('--characters', String(width))
  }

  /** Keeps room for so many rows, whatever is searched, up to what the style sheet allows. */
  room(rows: number): void {
    this.frame.style.setProperty('--rows', String(rows))
  }

  /** There are so many rows now, and none of the old ones is left. */
  reset(total: number): void {
    this.total = total
    this.blocks = new Map()
    this.asked = new Set()
    this.drawn = ''
    this.frame.scrollTop = 0
    this.table.setAttribute('aria-rowcount', String(total + 1))
    this.draw()
  }

  take(from: number, rows: readonly RowShown[]): void {
    const block = Math.floor(from / BLOCK)
    this.asked.delete(block)
    this.blocks.set(block, rows)
    const [oldest] = this.blocks.size > BLOCKS_KEPT ? this.blocks.keys() : []
    if (oldest !== undefined) this.blocks.delete(oldest)
    this.drawn = ''
    this.draw()
  }

  private headCell({ title, sort, width, number }: Column, order: 'ascending' | 'descending' | 'none'): HTMLElement {
    const cell = el('th', { scope: 'col', class: number === true ? 'n' : '', 'aria-sort': sort === null ? false : order })
    cell.style.setProperty('--width', String(width))
    if (sort === null) cell.append(title)
    else {
      const button = el(
        'button',
        { type: 'button', class: 'order', 'data-sort': sort },
        title,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }),
      )
      button.addEventListener('click', () => this.asks.sort(sort))
      cell.append(button)
    }
    return cell
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.frame
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 10)
    const last = Math.min(this.total, Math.ceil((scrollTop + clientHeight) / ROW) + 10)
    for (let block = Math.floor(first / BLOCK); block * BLOCK < last; block++) this.want(block)
    const state = `${first} ${last}`
    if (state === this.drawn) return
    this.drawn = state
    const rows: HTMLElement[] = [this.space(first)]
    for (let index = first; index < last; index++) rows.push(this.row(index))
    rows.push(this.space(this.total - last))
    this.table.querySelector('tbody')?.replaceChildren(...rows)
  }

  private want(block: number): void {
    if (this.blocks.has(block) || this.asked.has(block)) return
    this.asked.add(block)
    this.asks.rows(block * BLOCK, Math.min(this.total, (block + 1) * BLOCK))
  }

  private row(index: number): HTMLElement {
    const row = this.blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK]
    const cells = this.columns.map(({ cell, number }, at) => {
      const content = row === undefined ? '…' : cell(row)
      const attributes = { class: number === true ? 'n' : '', title: typeof content === 'string' && content !== '…' ? content : false }
      return at === 0 ? el('th', { scope: 'row', ...attributes }, content) : el('td', attributes, content)
    })
    return el('tr', { 'aria-rowindex': String(index + 2), class: index % 2 === 1 ? 'odd' : '' }, ...cells)
  }

  /** What stands for the rows out of sight. */
  private space(rows: number): HTMLElement {
    const cell = el('td', { colspan: String(Math.max(1, this.columns.length)) })
    cell.style.setProperty('height', `${rows * ROW}px`)
    return el('tr', { class: 'space', 'aria-hidden': 'true' }, cell)
  }
}
