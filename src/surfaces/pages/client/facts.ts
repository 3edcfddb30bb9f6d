import { csvText } from '../../../pure/documents/csv-cell.ts'
import { el } from './dom.ts'
import { isMembers, listOf, type Members } from './shapes.ts'

/** Facts as rows of a table. Members of an object stand under its name. A folded table opens at a click. Lists of objects are left to `recordTables`. */
export function factsTable(facts: Members, title: string, folded = false): HTMLElement | null {
  const rows = rowsOf(facts, '')
  if (rows.length === 0) return null
  const body = rows.map(([label, value]) => el('tr', {}, el('th', { scope: 'row' }, label), el('td', {}, value)))
  const caption = folded ? null : el('caption', {}, title)
  const table = scrolling(el('table', { class: 'facts' }, caption, el('tbody', {}, ...body)), title)
  return folded ? el('details', {}, el('summary', {}, title), table) : table
}

/** A table with a header that scrolls inside itself. */
export function listTable(caption: string, columns: readonly string[], rows: readonly (readonly (Node | string)[])[]): HTMLElement {
  const head = el('tr', {}, ...columns.map((column) => el('th', { scope: 'col' }, column)))
  const body = rows.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, cell))))
  return scrolling(el('table', { class: 'list' }, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, ...body)), caption)
}

/** Rows that a page shows of one list; the rest stands in the JSON and in what is copied. */
const ROWS_SHOWN = 200

/** Lists of objects among the facts, each as a table of its own that can be copied as CSV. */
export function recordTables(facts: Members): HTMLElement[] {
  return Object.entries(facts)
    .filter(([, value]) => isRecords(value))
    .map(([name, value], index) => recordTable(name.replaceAll('_', ' '), `csv-${index}`, listOf(value)))
}

function isRecords(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isMembers)
}

function recordTable(name: string, id: string, records: readonly Members[]): HTMLElement {
  const flat = records.map((record) => new Map(rowsOf(record, '', true)))
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))].toSorted((a, b) => rankOf(a) - rankOf(b))
  const cells = columns.map((column) => aligned(flat.map((row) => row.get(column) ?? null)))
  const head = el(
    'tr',
    {},
    ...columns.map((column, at) => el('th', { scope: 'col', class: cells[at]?.amounts ? 'amount' : false }, column)),
  )
  const body = flat
    .slice(0, ROWS_SHOWN)
    .map((_, row) =>
      el('tr', {}, ...cells.map(({ texts, amounts }) => el('td', { class: amounts ? 'amount' : false }, texts[row] ?? none()))),
    )
  const csv = csvOf([columns, ...flat.map((row) => columns.map((column) => row.get(column) ?? ''))])
  const more = records.length > ROWS_SHOWN ? ` The first ${ROWS_SHOWN} of ${records.length}.` : ''
  const table = el('table', { class: 'list' }, el('thead', {}, head), el('tbody', {}, ...body))
  return copiedTable({ name, more, id, csv }, scrolling(table, name))
}

/** A table whose cells are not all texts, with what is copied of it. */
export function copiedList(
  name: string,
  columns: readonly string[],
  rows: readonly { cells: readonly (Node | string)[]; texts: readonly string[] }[],
): HTMLElement {
  const table = listTable(
    name,
    columns,
    rows.map(({ cells }) => cells),
  )
  return copiedTable({ name, more: '', id: 'csv-rows', csv: csvOf([columns, ...rows.map(({ texts }) => texts)]) }, table)
}

function copiedTable({ name, more, id, csv }: { name: string; more: string; id: string; csv: string }, table: HTMLElement): HTMLElement {
  return el(
    'figure',
    { class: 'sample records' },
    el(
      'figcaption',
      {},
      el('span', {}, el('b', {}, name), more),
      el('button', { type: 'button', class: 'copy', 'data-copies': id }, 'Copy as CSV'),
    ),
    table,
    el('pre', { id, hidden: true }, csv),
  )
}

function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(csvCell).join(',')).join('\r\n')
}

/** Columns that are looked at first; answers name their members in the order of the alphabet. */
const LEADING = ['end to end id', 'id', 'code', 'verdict', 'severity', 'currency', 'amount minor', 'amount', 'reason', 'message']

function rankOf(column: string): number {
  const at = LEADING.indexOf(column)
  return at === -1 ? LEADING.length : at
}

/** A column of decimal numbers is padded behind the point, so that the points stand in one line. */
function aligned(values: readonly (string | null)[]): { texts: readonly (string | null)[]; amounts: boolean } {
  const amounts =
    values.some((value) => value !== null) && values.every((value) => value === null || /^-?\d{1,30}(?:\.\d{1,30})?$/.test(value))
  if (!amounts) return { texts: values, amounts }
  const behind = (value: string) => (value.includes('.') ? value.length - value.indexOf('.') : 0)
  const most = Math.max(...values.map((value) => (value === null ? 0 : behind(value))))
  return { texts: values.map((value) => value && value + '\u00A0'.repeat(most - behind(value))), amounts }
}

/** A cell by RFC 4180. One that a spreadsheet would run as a formula is led by an apostrophe, unless it is a number. */
function csvCell(text: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? text : csvText(text)
}

/** What scrolls inside itself can be reached by keys, and so needs a name. */
function scrolling(table: HTMLElement, name: string): HTMLElement {
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name }, table)
}

function rowsOf(facts: Members, above: string, lists = false): [label: string, value: string][] {
  return Object.entries(facts).flatMap(([name, value]): [string, string][] => {
    const label = above + name.replaceAll('_', ' ')
    if (isMembers(value)) return rowsOf(value, `${label} · `, lists)
    if (!lists && isRecords(value)) return []
    if (value === null || value === undefined) return lists ? [] : [[label, 'none']]
    return [[label, Array.isArray(value) ? listText(value) : textOf(value)]]
  })
}

function none(): HTMLElement {
  return el('span', { class: 'none' }, 'none')
}

function listText(values: readonly unknown[]): string {
  return values.length === 0 ? 'none' : values.map(textOf).join('; ')
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
