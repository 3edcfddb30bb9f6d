import type { VNode } from 'preact'
import { csvText } from '../../../pure/documents/csv-cell.ts'
import { isObject, objectsIn, type Members } from '../../../pure/is-object.ts'
import { labelOf } from '../../../service/catalogue/answer-view.ts'
import { html } from '../html.ts'

/** Facts as label and value. */
export function KeyFacts({ facts }: { facts: readonly [label: string, value: unknown][] }) {
  if (facts.length === 0) return null
  return html`<dl class="key-facts">
    ${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${valueText(value)}</dd></div>`)}
  </dl>`
}

/** Shows single facts in one table, then each list of objects in a separate table. Members of an object are listed under its name. */
export function FactTables({ facts }: { facts: Members }) {
  const rows = factRows(facts, '', false)
  const lists = Object.entries(facts).filter(([, value]) => isList(value))
  return html`
    ${
      rows.length > 0 &&
      html`<${Scroll} name="Details">
        <table class="facts">
          <tbody>${rows.map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`)}</tbody>
        </table>
      <//>`
    }
    ${lists.map(([name, value]) => html`<${RecordTable} id=${`csv-${name}`} name=${labelOf(name)} records=${objectsIn(value)} />`)}
  `
}

/** Rows of one list that a page shows; the rest is in the JSON and in the copied CSV. */
const ROWS_SHOWN = 200

/** Objects as a table, decimal points aligned, which can be copied as CSV. */
function RecordTable({ id, name, records }: { id: string; name: string; records: readonly Members[] }) {
  const flat = records.map((record) => new Map(factRows(record, '', true)))
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))].toSorted((a, b) => columnRank(a) - columnRank(b))
  const cells = columns.map((column) => alignedColumn(flat.map((row) => row.get(column) ?? null)))
  return html`<${CopiedTable}
    id=${id}
    name=${name}
    note=${records.length > ROWS_SHOWN ? ` The first ${ROWS_SHOWN} of ${records.length}.` : ''}
    csv=${csvOf([columns, ...flat.map((row) => columns.map((column) => row.get(column) ?? ''))])}
  >
    <thead>
      <tr>${columns.map((column, at) => html`<th scope="col" class=${amountClass(cells[at]?.amounts)}>${column}</th>`)}</tr>
    </thead>
    <tbody>
      ${flat.slice(0, ROWS_SHOWN).map(
        (_, row) => html`<tr>
          ${cells.map(({ texts, amounts }) => html`<td class=${amountClass(amounts)}>${texts[row] ?? html`<span class="none">none</span>`}</td>`)}
        </tr>`,
      )}
    </tbody>
  <//>`
}

function amountClass(amounts: boolean | undefined): string | undefined {
  return amounts === true ? 'amount' : undefined
}

interface ListTableProps {
  id: string
  name: string
  columns: readonly string[]
  rows: readonly { cells: readonly (VNode | string)[]; texts: readonly string[] }[]
}

/** A table whose cells are not all texts, with what is copied of it. */
export function ListTable({ id, name, columns, rows }: ListTableProps) {
  return html`<${CopiedTable} id=${id} name=${name} note="" csv=${csvOf([columns, ...rows.map(({ texts }) => texts)])}>
    <thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
    <tbody>${rows.map(({ cells }) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  <//>`
}

function CopiedTable({ id, name, note, csv, children }: { id: string; name: string; note: string; csv: string; children: VNode[] }) {
  return html`<figure class="sample records">
    <figcaption>
      <span><b>${name}</b>${note}</span>
      <button type="button" class="copy" data-copies=${id}>Copy as CSV</button>
    </figcaption>
    <${Scroll} name=${name}><table class="list">${children}</table><//>
    <pre id=${id} hidden>${csv}</pre>
  </figure>`
}

/** Scrolls inside itself; the keyboard reaches it, so it needs a name. */
function Scroll({ name, children }: { name: string; children: VNode }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}>${children}</div>`
}

function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(csvCell).join(',')).join('\r\n')
}

/** A cell by RFC 4180. One that a spreadsheet would run as a formula is led by an apostrophe, unless it is a number. */
function csvCell(text: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? text : csvText(text)
}

/** Columns that come first; answers name their members in alphabetical order. */
const LEADING = ['End to end ID', 'ID', 'Code', 'Verdict', 'Severity', 'Currency', 'Amount in minor units', 'Amount', 'Reason', 'Message']

function columnRank(column: string): number {
  const at = LEADING.indexOf(column)
  return at === -1 ? LEADING.length : at
}

/** Pads a column of decimal numbers after the point, so that the points are aligned. */
function alignedColumn(values: readonly (string | null)[]): { texts: readonly (string | null)[]; amounts: boolean } {
  const amounts =
    values.some((value) => value !== null) && values.every((value) => value === null || /^-?\d{1,30}(?:\.\d{1,30})?$/.test(value))
  if (!amounts) return { texts: values, amounts }
  const decimals = (value: string) => (value.includes('.') ? value.length - value.indexOf('.') : 0)
  const most = Math.max(...values.map((value) => (value === null ? 0 : decimals(value))))
  return { texts: values.map((value) => value && value + '\u00A0'.repeat(most - decimals(value))), amounts }
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isObject)
}

/** `inList`: the facts are one row of a table, so lists stay in their cell and what is missing is left out. */
function factRows(facts: Members, above: string, inList: boolean): [label: string, value: string][] {
  return Object.entries(facts).flatMap(([name, value]): [string, string][] => {
    const label = above === '' ? labelOf(name) : `${above} · ${labelOf(name).toLowerCase()}`
    if (isObject(value)) return factRows(value, label, inList)
    if (!inList && isList(value)) return []
    if (value === null || value === undefined) return inList ? [] : [[label, 'none']]
    return [[label, valueText(value)]]
  })
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join('; ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
