import { el } from './dom.ts'
import { isMembers, type Members } from './shapes.ts'

/** Facts as rows of a table. Members of an object stand under its name; lists of objects become tables of their own. A folded table opens at a click. */
export function factsTable(facts: Members, title: string, folded = false): HTMLElement | null {
  const rows = rowsOf(facts, '')
  if (rows.length === 0) return null
  const body = rows.map(([label, value]) => el('tr', {}, el('th', { scope: 'row' }, label), el('td', {}, value)))
  const caption = folded ? null : el('caption', {}, title)
  const table = scrolling(el('table', { class: 'facts' }, caption, el('tbody', {}, ...body)))
  return folded ? el('details', {}, el('summary', {}, title), table) : table
}

/** A table with a header that scrolls inside itself. */
export function listTable(caption: string, columns: readonly string[], rows: readonly (readonly (Node | string)[])[]): HTMLElement {
  const head = el('tr', {}, ...columns.map((column) => el('th', { scope: 'col' }, column)))
  const body = rows.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, cell))))
  return scrolling(el('table', { class: 'list' }, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, ...body)))
}

function scrolling(table: HTMLElement): HTMLElement {
  return el('div', { class: 'scroll' }, table)
}

function rowsOf(facts: Members, above: string): [label: string, value: Node | string][] {
  return Object.entries(facts).flatMap(([name, value]): [string, Node | string][] => {
    const label = above + name.replaceAll('_', ' ')
    if (isMembers(value)) return rowsOf(value, `${label} · `)
    return [[label, Array.isArray(value) ? listCell(value) : scalarCell(value)]]
  })
}

function listCell(values: readonly unknown[]): Node | string {
  if (values.length === 0) return 'none'
  const records = values.filter(isMembers)
  const first = records[0]
  if (first === undefined || records.length < values.length) return values.map(textOf).join('; ')
  const columns = Object.keys(first)
  const rows = records.map((record) => el('tr', {}, ...columns.map((column) => el('td', {}, scalarCell(record[column])))))
  return el('table', {}, el('tbody', {}, ...rows))
}

function scalarCell(value: unknown): Node | string {
  return value === null || value === undefined ? el('span', { class: 'none' }, 'none') : textOf(value)
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
