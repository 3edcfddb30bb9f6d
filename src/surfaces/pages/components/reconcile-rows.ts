import type { TargetedEvent, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  ROW_BLOCK,
  type ExportFormat,
  type CurrencySums,
  type EntryCells,
  type PaymentCells,
  type ReconcileSummary,
  type ReportCells,
  type RowDetail,
  type RowFilter,
  type RowOrder,
  type RowQuery,
} from '../client/reconcile/messages.ts'
import type { WorkerClient } from '../client/reconcile/worker-client.ts'
import { saveFile } from '../client/files.ts'
import { html } from '../html.ts'
import { KeyFacts } from './facts.ts'
import { countText, FILTER_LABELS, Money, PaymentVerdictMark, VERDICT_ORDER } from './reconcile-parts.ts'

const FILTERS: readonly RowFilter[] = ['all', ...VERDICT_ORDER, 'unmatched', 'ignored']
const FIRST_QUERY: RowQuery = { filter: 'all', text: '', currency: '', from: '', to: '', order: 'id', descending: false }
const SEARCH_DELAY_MS = 150

interface RowsProps {
  summary: ReconcileSummary
  worker: WorkerClient
  announce: (text: string) => void
}

/** All rows: filters, search, table, details of one row, and the report as a file. */
export function ReconcileRows({ summary, worker, announce }: RowsProps) {
  const [query, setQuery] = useState(FIRST_QUERY)
  const [opened, setOpened] = useState<{ at: number; detail: RowDetail } | null>(null)
  const found = useFoundRows(worker, query)
  const change = (changed: Partial<RowQuery>) => {
    setOpened(null)
    setQuery((old) => ({ ...old, ...changed }))
  }
  const choose = (filter: RowFilter) =>
    change({
      filter,
      ...(listsEntries(filter) === listsEntries(query.filter) ? {} : { order: listsEntries(filter) ? 'place' : 'id', descending: false }),
    })
  const open = async (at: number) => setOpened(opened?.at === at ? null : { at, detail: await worker.request({ kind: 'detail', at }) })
  const save = async (format: ExportFormat) => {
    saveFile(await worker.request({ kind: 'export', format }), `reconciliation.${format}`)
    announce(`reconciliation.${format} is saved by your browser.`)
  }
  const { counts, totals } = summary
  return html`<section id="rows" aria-labelledby="rows-title">
    <div class="bar">
      <h2 id="rows-title">${FILTER_LABELS[query.filter]}</h2>
      <p class="acts">
        <button type="button" class="plain" id="export-xlsx" onClick=${() => void save('xlsx')}>Save as XLSX</button>
        <button type="button" class="plain" id="export-csv" onClick=${() => void save('csv')}>Save as CSV</button>
        <button type="button" class="plain" id="export-json" onClick=${() => void save('json')}>Save as JSON</button>
      </p>
    </div>
    <fieldset class="chips" id="views">
      <legend class="heard">Rows to show</legend>
      ${FILTERS.map((filter) => html`<${FilterChoice} filter=${filter} count=${counts[filter]} chosen=${query.filter} choose=${choose} />`)}
    </fieldset>
    <${RowSearch} query=${query} currencies=${totals.map(({ currency }) => currency)} total=${found.total} change=${change} />
    <${RowTable}
      found=${found}
      columns=${listsEntries(found.query.filter) ? entryColumns(totals) : paymentColumns(totals)}
      most=${Math.max(counts.all, counts.unmatched, counts.ignored)}
      opened=${opened?.at ?? null}
      open=${(at: number) => void open(at)}
      sort=${(order: RowOrder) => change({ order, descending: query.order === order && !query.descending })}
    />
    <div aria-live="polite">${opened !== null && html`<${Detail} detail=${opened.detail} close=${() => setOpened(null)} />`}</div>
  </section>`
}

function listsEntries(filter: RowFilter): boolean {
  return filter === 'unmatched' || filter === 'ignored'
}

interface FilterChoiceProps {
  filter: RowFilter
  count: number
  chosen: RowFilter
  choose: (filter: RowFilter) => void
}

function FilterChoice({ filter, count, chosen, choose }: FilterChoiceProps) {
  const verdict = VERDICT_ORDER.find((one) => one === filter)
  return html`<label>
    <input
      type="radio"
      name="view"
      value=${filter}
      checked=${filter === chosen}
      disabled=${count === 0 && filter !== 'all'}
      onChange=${() => choose(filter)}
    />
    <span>
      ${verdict === undefined ? FILTER_LABELS[filter] : html`<${PaymentVerdictMark} verdict=${verdict} />`}
      <b>${count.toLocaleString('en')}</b>
    </span>
  </label>`
}

interface SearchProps {
  query: RowQuery
  currencies: readonly string[]
  total: number
  change: (changed: Partial<RowQuery>) => void
}

function RowSearch({ query, currencies, total, change }: SearchProps) {
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const search = ({ currentTarget: { value } }: TargetedEvent<HTMLInputElement>) => {
    clearTimeout(waiting.current)
    waiting.current = setTimeout(() => change({ text: value }), SEARCH_DELAY_MS)
  }
  const field =
    (name: 'currency' | 'from' | 'to') =>
    ({ currentTarget }: TargetedEvent<HTMLInputElement | HTMLSelectElement>) =>
      change({ [name]: currentTarget.value })
  return html`
    <p class="search">
      <label for="row-search" class="heard">Search rows</label>
      <input
        type="search"
        id="row-search"
        placeholder="Search: id, amount, account, reason"
        autocomplete="off"
        spellcheck="false"
        maxlength="64"
        onInput=${search}
      />
      <span class="hint" id="found" role="status">${countText(total, 'row')}</span>
    </p>
    <details class="filters">
      <summary>Filter by date and currency</summary>
      <label for="row-from">From</label><input type="date" id="row-from" value=${query.from} onChange=${field('from')} />
      <label for="row-to">To</label><input type="date" id="row-to" value=${query.to} onChange=${field('to')} />
      <label for="row-currency">Currency</label>
      <select id="row-currency" onChange=${field('currency')}>
        <option value="">All</option>
        ${currencies.map((currency) => html`<option value=${currency} selected=${currency === query.currency}>${currency}</option>`)}
      </select>
    </details>
  `
}

/** Rows of the latest query; blocks are requested as they come into view. */
interface FoundRows {
  turn: number
  query: RowQuery
  total: number
  blocks: ReadonlyMap<number, readonly ReportCells[]>
  want: (block: number) => void
}

const BLOCKS_KEPT = 40

function useFoundRows(worker: WorkerClient, query: RowQuery): FoundRows {
  const [found, setFound] = useState<Omit<FoundRows, 'want'>>({ turn: 0, query, total: 0, blocks: new Map() })
  const turn = useRef(0)
  const requested = useRef(new Set<number>())
  const ask = async () => {
    const current = ++turn.current
    const { total, rows } = await worker.request({ kind: 'query', query })
    if (current !== turn.current) return
    requested.current = new Set([0])
    setFound({ turn: current, query, total, blocks: new Map([[0, rows]]) })
  }
  useEffect(() => void ask(), [query])
  const load = async (block: number) => {
    const { turn: current, total } = found
    if (current !== turn.current || requested.current.has(block)) return
    requested.current.add(block)
    const rows = await worker.request({ kind: 'rows', from: block * ROW_BLOCK, to: Math.min(total, (block + 1) * ROW_BLOCK) })
    if (current !== turn.current) return
    setFound((old) => {
      const blocks = new Map(old.blocks).set(block, rows)
      const [oldest] = blocks.size > BLOCKS_KEPT ? blocks.keys() : []
      if (oldest !== undefined && blocks.delete(oldest)) requested.current.delete(oldest)
      return { ...old, blocks }
    })
  }
  return { ...found, want: (block) => void load(block) }
}

interface Column {
  title: string
  /** Null if rows cannot be sorted by it. */
  order: RowOrder | null
  /** Width in characters. */
  width: number
  number?: boolean
  cell: (row: ReportCells) => VNode | string
}

const NONE = '–'

function paymentColumns(totals: readonly CurrencySums[]): Column[] {
  const { digits, amount_chars } = amountWidths(totals)
  const cell = (content: (row: PaymentCells) => VNode | string) => (row: ReportCells) => ('verdict' in row ? content(row) : '')
  const amount = (text: string | null) => (text === null ? NONE : html`<${Money} text=${text} digits=${digits} />`)
  const difference = (text: string | null) =>
    text !== null && /^0(?:\.0+)?$/.test(text) ? html`<span class="none"><${Money} text="0" digits=${digits} /></span>` : amount(text)
  return [
    { title: 'Id', order: 'id', width: 16, cell: cell(({ id }) => id ?? NONE) },
    { title: 'Verdict', order: 'verdict', width: 22, cell: cell(({ verdict }) => html`<${PaymentVerdictMark} verdict=${verdict} />`) },
    { title: 'Instructed', order: 'amount', width: amount_chars, number: true, cell: cell((row) => amount(row.amount)) },
    { title: 'Paid', order: null, width: amount_chars, number: true, cell: cell((row) => amount(row.net)) },
    { title: 'Difference', order: 'difference', width: amount_chars, number: true, cell: cell((row) => difference(row.difference)) },
    { title: '', order: null, width: 5, cell: cell(({ currency }) => currency) },
    { title: 'Reason', order: 'reason', width: 22, cell: cell(({ why }) => why) },
    { title: 'Due', order: 'date', width: 12, cell: cell(({ date }) => date ?? NONE) },
    { title: 'Creditor account', order: null, width: 29, cell: cell(({ account }) => account ?? NONE) },
    { title: 'Position', order: 'place', width: 9, number: true, cell: cell(({ place }) => place) },
  ]
}

function entryColumns(totals: readonly CurrencySums[]): Column[] {
  const { digits, amount_chars } = amountWidths(totals)
  const cell = (content: (row: EntryCells) => VNode | string) => (row: ReportCells) => ('direction' in row ? content(row) : '')
  return [
    { title: 'Entry', order: 'place', width: 9, cell: cell(({ entry }) => entry) },
    { title: 'Booked', order: 'date', width: 12, cell: cell(({ date }) => date ?? NONE) },
    {
      title: 'Amount',
      order: 'amount',
      width: amount_chars,
      number: true,
      cell: cell((row) => html`<${Money} text=${row.amount} digits=${digits} />`),
    },
    { title: '', order: null, width: 5, cell: cell(({ currency }) => currency) },
    { title: 'Direction', order: null, width: 10, cell: cell(({ direction }) => direction) },
    { title: 'Reason', order: 'reason', width: 20, cell: cell(({ reason }) => reason) },
    { title: 'Id', order: 'id', width: 18, cell: cell(({ id }) => id ?? NONE) },
    { title: 'Reference', order: null, width: 24, cell: cell(({ reference }) => reference ?? NONE) },
    { title: 'Counterparty account', order: null, width: 29, cell: cell(({ account }) => account ?? NONE) },
  ]
}

const LEAST_AMOUNT_CHARS = 13

/** Decimal places of the finest currency, and the width of the largest sum: no amount is larger. */
function amountWidths(totals: readonly CurrencySums[]): { digits: number; amount_chars: number } {
  const digits = totals.reduce((most, one) => Math.max(most, one.digits), 0)
  const sums = totals.flatMap(({ instructions, debits, credits }) => [instructions, debits.all, credits.all])
  const whole = sums.reduce((most, { amount }) => Math.max(most, amount.replace(/\..*/, '').length), 0)
  // A sign, a point, and the margin between thousands.
  return { digits, amount_chars: Math.max(LEAST_AMOUNT_CHARS, 2 + whole + Math.ceil(whole / 6) + digits) }
}

/** Height of a row in pixels, as in the style sheet. */
const ROW_PX = 36
/** Rows that exist above and below those in view. */
const MARGIN_ROWS = 10

interface TableProps {
  found: FoundRows
  columns: readonly Column[]
  /** Rows of the largest list; the table keeps this height when a search finds fewer. */
  most: number
  opened: number | null
  open: (at: number) => void
  sort: (order: RowOrder) => void
}

/** Table of which only the rows in view exist, however many there are. Screen readers get the number of all rows and the position of each. */
function RowTable({ found, columns, most, opened, open, sort }: TableProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ from: 0, to: 40 })
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = frame.current ?? {}
    const from = Math.max(0, Math.floor(scrollTop / ROW_PX) - MARGIN_ROWS)
    const to = Math.ceil((scrollTop + clientHeight) / ROW_PX) + MARGIN_ROWS
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }))
  }
  useLayoutEffect(() => {
    frame.current?.scrollTo(0, 0)
    measure()
  }, [found.turn])
  useEffect(() => {
    if (frame.current === null) return
    const observer = new ResizeObserver(measure)
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])
  const from = Math.min(range.from, found.total)
  const to = Math.min(range.to, found.total)
  useEffect(() => {
    for (let block = Math.floor(from / ROW_BLOCK); block * ROW_BLOCK < to; block++) found.want(block)
  })
  const { order, descending } = found.query
  const rowAt = (at: number) => found.blocks.get(Math.floor(at / ROW_BLOCK))?.[at % ROW_BLOCK]
  return html`<div class="grid" id="grid" tabindex="0" role="region" aria-label="Rows" ref=${frame} style=${{ '--rows': most }} onScroll=${measure}>
    <table aria-rowcount=${found.total + 1} style=${{ '--characters': columns.reduce((sum, { width }) => sum + width, 0) }}>
      <thead>
        <tr>
          ${columns.map((column) => html`<${ColumnHead} column=${column} sorted=${column.order === order && (descending ? 'descending' : 'ascending')} sort=${sort} />`)}
        </tr>
      </thead>
      <tbody>
        <${Space} rows=${from} columns=${columns.length} />
        ${Array.from({ length: to - from }, (_, index) => from + index).map(
          (at) => html`<${Row} key=${at} at=${at} row=${rowAt(at)} columns=${columns} opened=${opened === at} open=${open} />`,
        )}
        <${Space} rows=${found.total - to} columns=${columns.length} />
      </tbody>
    </table>
  </div>`
}

interface ColumnHeadProps {
  column: Column
  sorted: 'ascending' | 'descending' | false
  sort: (order: RowOrder) => void
}

function ColumnHead({ column: { title, order, width, number }, sorted, sort }: ColumnHeadProps) {
  const button = html`<button type="button" class="order" data-sort=${order} onClick=${() => order !== null && sort(order)}>
    ${title}<span class="arrow" aria-hidden="true"></span>
  </button>`
  return html`<th
    scope="col"
    class=${number === true ? 'n' : undefined}
    aria-sort=${order === null ? undefined : sorted || 'none'}
    style=${{ '--width': width }}
    >${order === null ? title : button}</th
  >`
}

interface RowProps {
  at: number
  row: ReportCells | undefined
  columns: readonly Column[]
  opened: boolean
  open: (at: number) => void
}

function Row({ at, row, columns, opened, open }: RowProps) {
  return html`<tr aria-rowindex=${at + 2} class=${opened ? 'opened' : undefined}>
    ${columns.map(({ cell, number }, column) => {
      const content = row === undefined ? '…' : cell(row)
      const title = typeof content === 'string' ? content : undefined
      if (column > 0) return html`<td class=${number === true ? 'n' : undefined} title=${title}>${content}</td>`
      return html`<th scope="row" title=${title}><button type="button" class="open" aria-expanded=${opened} onClick=${() => open(at)}>${content}</button></th>`
    })}
  </tr>`
}

/** Takes the height of rows out of view. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  return html`<tr class="space" aria-hidden="true"><td colspan=${columns} style=${{ height: `${rows * ROW_PX}px` }}></td></tr>`
}

function Detail({ detail: { title, facts, entries }, close }: { detail: RowDetail; close: () => void }) {
  return html`<section class="answer" id="row-detail" aria-label=${`Details of ${title}`}>
    <div class="bar">
      <h3>${title}</h3>
      <button type="button" class="plain" onClick=${close}>Close</button>
    </div>
    <${KeyFacts} facts=${facts} />
    ${
      entries.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Matched entries">
        <table class="list">
          <thead>
            <tr>${['Entry', 'Booked', 'Direction', 'Amount', 'Counterparty account', 'Reference'].map((name) => html`<th scope="col">${name}</th>`)}</tr>
          </thead>
          <tbody>
            ${entries.map(
              ({ entry, date, direction, amount, currency, account, reference }) =>
                html`<tr>${[entry, date, direction, `${amount} ${currency}`, account, reference].map((text) => html`<td>${text ?? NONE}</td>`)}</tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
  </section>`
}
