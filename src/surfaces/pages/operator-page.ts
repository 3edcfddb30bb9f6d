import { renderToString } from 'preact-render-to-string'
import { ageState } from '../../pure/datasets/table.ts'
import { csvText } from '../../pure/documents/csv-cell.ts'
import { durationText } from '../../pure/duration-text.ts'
import { currencyOf, type Currency } from '../../pure/networks.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { sponsoredNotices } from '../../service/invoices/sponsored.ts'
import { boundTexts } from '../../service/scarce/resource.ts'
import type { DayReport, Money, OperatorReport } from '../../service/telemetry/operator-report.ts'
import { assetPath } from './assets.ts'
import { SmallVerdict } from './components/verdict.ts'
import { html } from './html.ts'
import { MarkSprite } from './layout.ts'

/** The operator page: rendered on the server, without a script, on the operator port alone. */

type Cell = string | number

interface ReportTable {
  head: readonly string[]
  /** Index of the first column of numbers, which are aligned right. */
  numbers_from: number
  rows: readonly (readonly Cell[])[]
}

/** Tables that can be downloaded as CSV, by file name. */
export const REPORT_TABLES: Readonly<Record<string, (report: OperatorReport) => ReportTable>> = {
  'days.csv': dayTable,
  'tools.csv': toolTable,
  'payments.csv': stateTable,
  'gas.csv': gasTable,
  'gas-prices.csv': gasPriceTable,
  'datasets.csv': datasetTable,
  'resources.csv': resourceTable,
  'webhooks.csv': webhookTable,
  'leases.csv': leaseTable,
}

export function tableCsv({ head, rows }: ReportTable): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => (typeof cell === 'string' ? csvText(cell) : String(cell))).join(','))
  return `${lines.join('\r\n')}\r\n`
}

export function operatorPage(report: OperatorReport, notice: string | null): string {
  const page = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>Operator · assay</title>
      <link rel="icon" type="image/svg+xml" href=${assetPath('icon.svg')} />
      <link rel="stylesheet" href=${assetPath('style.css')} />
      <link rel="stylesheet" href=${assetPath('styles/operator.css')} />
    </head>
    <body>
      ${notice !== null && html`<p class="mark" role="note"><span>${notice}</span></p>`}
      <${MarkSprite} />
      <main id="main" class="operator">
        <div class="lead">
          <h1>Operator</h1>
          <p>Income, payments, gas and load of this deployment, for the last ${report.days.length} days. Days are UTC; as of ${timeText(report.at)}. Counts of calls are stored
            once a minute; reload the page for new figures.</p>
        </div>
        <${Attention} report=${report} />
        <${Income} report=${report} />
        <${Calls} report=${report} />
        <${Section} id="payments" title="Payments by state" file="payments.csv" table=${stateTable(report)}>
          <${Refunds} report=${report} />
        <//>
        <${Section} id="gas" title="Gas wallets" file="gas.csv" table=${gasTable(report)} none="No gas wallet settles here, or none was read yet." />
        <${Section} id="gas-prices" title="Gas against prices" file="gas-prices.csv" table=${gasPriceTable(report)} none="No gas wallet settles here." />
        <${Section} id="tools" title="Tools" file="tools.csv" table=${toolTable(report)} none="No calls yet." />
        <${Section} id="datasets" title="Reference tables" file="datasets.csv" table=${datasetTable(report)} />
        <${Section} id="resources" title="Scarce resources" file="resources.csv" table=${resourceTable(report)} />
        <${Section} id="webhooks" title="Webhook deliveries" file="webhooks.csv" table=${webhookTable(report)} />
        <${Section} id="leases" title="Leases" file="leases.csv" table=${leaseTable(report)} none="No process has a lease." />
      </main>
    </body>
  </html>`
  return `<!doctype html>\n${renderToString(page)}`
}

/** Conditions that need an action now, first. */
function Attention({ report }: { report: OperatorReport }) {
  const conditions = [
    ...report.gas.flatMap(({ wallet, days_left }) =>
      days_left !== null && days_left < 7
        ? [`Gas wallet ${shortHex(wallet)} has gas for ${days_left} days at the present rate: refill it.`]
        : [],
    ),
    ...report.gas_prices.flatMap(({ state, offered, detail }) => (state === 'above' || state === 'unknown' || !offered ? [detail] : [])),
    ...sponsoredNotices(report.sponsored),
    ...report.states.flatMap(({ state, oldest_s }) =>
      oldest_s !== null && oldest_s > OVERDUE_S
        ? [`A payment has been ${state} for ${durationText(oldest_s)}: check the chain and the gas wallet.`]
        : [],
    ),
    ...report.datasets.flatMap(({ name, age_days, limit_days }) =>
      ageState(age_days, limit_days) === 'fresh' ? [] : [`${name} is ${age_days} days old; refresh it (limit ${limit_days} days).`],
    ),
    ...(report.webhooks.dead > 0
      ? [`${report.webhooks.dead} webhook deliveries were given up (dead letters): their subscribers have missed events.`]
      : []),
    ...(report.refund_candidates.length > 0
      ? [`${report.refund_candidates.length} answered payments were lost by a reorg; see “Payments by state”.`]
      : []),
  ]
  return html`<section aria-labelledby="attention-title">
    <h2 id="attention-title">Needs attention</h2>
    ${
      conditions.length === 0
        ? html`<p><${SmallVerdict} mark="valid" word="nothing" /></p>`
        : html`<ul class="bare attention">
            ${conditions.map((one) => html`<li><${SmallVerdict} mark="invalid" word="act" /> ${one}</li>`)}
          </ul>`
    }
  </section>`
}

/** Open payments are overdue after this. */
const OVERDUE_S = 600

function Income({ report: { days } }: { report: OperatorReport }) {
  const total = (currency: Currency) => days.reduce((sum, { revenue }) => sum + revenue[currency], 0n)
  const euro = total('EURC')
  return html`<section aria-labelledby="income-title">
    <h2 id="income-title">Income</h2>
    <p>${usdcText(total('USDC'))} USDC${euro > 0n && ` and ${usdcText(euro)} EURC`} from ${days.reduce((sum, { settled }) => sum + settled, 0)} settled payments.</p>
    <${BarChart} label="USDC per day" bars=${days.map((day) => ({ day: day.day, value: day.revenue.USDC, text: `${usdcText(day.revenue.USDC)} USDC` }))} />
  </section>`
}

function Calls({ report }: { report: OperatorReport }) {
  const sum = (of: (day: DayReport) => number) => report.days.reduce((total, day) => total + of(day), 0)
  const [asked, paid, failed] = [sum(({ payment_required }) => payment_required), sum((day) => day.paid), sum(({ calls }) => calls.failed)]
  const all = sum(({ calls }) => callsOf(calls))
  return html`<section aria-labelledby="calls-title">
    <h2 id="calls-title">Calls</h2>
    <dl class="figures">
      <div><dt>Calls</dt><dd>${all}</dd></div>
      <div><dt>Free answers</dt><dd>${sum(({ free }) => free)}</dd></div>
      <div><dt>Asked to pay (402)</dt><dd>${asked}</dd></div>
      <div><dt>Paid</dt><dd>${paid}</dd></div>
      <div><dt>Paid per 402</dt><dd>${percentText(paid, asked)}</dd></div>
      <div><dt>Failed by the service</dt><dd>${percentText(failed, all)}</dd></div>
    </dl>
    <${BarChart} label="Calls per day" bars=${report.days.map(({ day, calls }) => ({ day, value: BigInt(callsOf(calls)), text: `${callsOf(calls)} calls` }))} />
    <details>
      <summary>Table by day</summary>
      <${Table} table=${dayTable(report)} />
    </details>
    <p><a href="/operator/days.csv" download>CSV</a></p>
  </section>`
}

function Refunds({ report: { refund_candidates } }: { report: OperatorReport }) {
  if (refund_candidates.length === 0)
    return html`<p>No refund is due by the records here. <code>assay ledger prove</code> compares them with the chain.</p>`
  return html`<p>
      Answered payments whose transfer a reorg removed. <code>assay ledger prove</code> shows which of their payers paid nevertheless and are owed a refund.
    </p>
    <ul>
      ${refund_candidates.map(
        ({ payer, nonce, value_minor, asset }) =>
          html`<li><code>${payer}</code>, ${usdcText(value_minor)} ${currencyOf(asset)}, nonce <code>${nonce}</code></li>`,
      )}
    </ul>`
}

interface SectionProps {
  id: string
  title: string
  file: string
  table: ReportTable
  none?: string
  children?: unknown
}

function Section({ id, title, file, table, none = 'None.', children }: SectionProps) {
  return html`<section aria-labelledby=${`${id}-title`}>
    <h2 id=${`${id}-title`}>${title}</h2>
    ${children}
    ${table.rows.length === 0 ? html`<p>${none}</p>` : html`<${Table} table=${table} /><p><a href=${`/operator/${file}`} download>CSV</a></p>`}
  </section>`
}

function Table({ table: { head, numbers_from, rows } }: { table: ReportTable }) {
  const cellClass = (column: number) => (column >= numbers_from ? 'number' : undefined)
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>${head.map((name, column) => html`<th scope="col" class=${cellClass(column)}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<tr>${row.map((cell, column) => html`<td class=${cellClass(column)}>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`
}

interface Bar {
  day: string
  value: bigint
  text: string
}

const BAR_WIDTH = 20
const CHART_HEIGHT = 120

/** One bar a day; the table next to it has the same numbers. */
function BarChart({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const highest = bars.filter(({ value }) => value > 0n).toSorted((one, other) => (one.value > other.value ? -1 : 1))[0]
  const most = highest?.value ?? 1n
  return html`<figure class="bars">
    <figcaption>${label}; ${highest === undefined ? 'none yet' : `highest ${highest.text}`}</figcaption>
    <svg viewBox=${`0 0 ${bars.length * BAR_WIDTH} ${CHART_HEIGHT}`} role="img" aria-label=${label} preserveAspectRatio="none">
      ${bars.map(({ day, value, text }, index) => {
        const height = Number((value * BigInt(CHART_HEIGHT - 2)) / most)
        return html`<rect x=${index * BAR_WIDTH + 2} y=${CHART_HEIGHT - height} width=${BAR_WIDTH - 4} height=${height}>
          <title>${day}: ${text}</title>
        </rect>`
      })}
    </svg>
    <p class="ends"><span>${bars[0]?.day}</span><span>${bars.at(-1)?.day}</span></p>
  </figure>`
}

/** Heads and cells of amounts: a column of EURC only where there is some, and never a sum of both. */
function moneyColumns(rows: readonly Money[], name = '') {
  const has_euro = rows.some(({ EURC }) => EURC > 0n)
  return {
    heads: [`${name}USDC`, ...(has_euro ? [`${name}EURC`] : [])],
    cells: ({ USDC, EURC }: Money) => [usdcText(USDC), ...(has_euro ? [usdcText(EURC)] : [])],
  }
}

function dayTable({ days }: OperatorReport): ReportTable {
  const { heads, cells } = moneyColumns(
    days.map(({ revenue }) => revenue),
    'income ',
  )
  return {
    head: ['day', ...heads, 'settled', 'calls', 'free', 'asked to pay', 'paid', 'refused', 'failed'],
    numbers_from: 1,
    rows: days
      .toReversed()
      .map(({ day, revenue, settled, calls, free, paid, payment_required }) => [
        day,
        ...cells(revenue),
        settled,
        callsOf(calls),
        free,
        payment_required,
        paid,
        calls.refused,
        calls.failed,
      ]),
  }
}

function toolTable({ tools }: OperatorReport): ReportTable {
  const { heads, cells } = moneyColumns(
    tools.map(({ revenue }) => revenue),
    'income ',
  )
  return {
    head: ['tool', 'calls', 'failed', ...heads],
    numbers_from: 1,
    rows: tools.map(({ tool, calls, failed, revenue }) => [tool, calls, failed, ...cells(revenue)]),
  }
}

function stateTable({ states }: OperatorReport): ReportTable {
  const { heads, cells } = moneyColumns(states.map(({ value }) => value))
  return {
    head: ['state', 'payments', ...heads, 'oldest open'],
    numbers_from: 1,
    rows: states.map(({ state, count, value, oldest_s }) => [
      state,
      count,
      ...cells(value),
      oldest_s === null ? '' : durationText(oldest_s),
    ]),
  }
}

function gasTable({ gas }: OperatorReport): ReportTable {
  return {
    head: ['wallet', 'balance (coin of its network)', 'budget left today', 'spent per day (7 days)', 'days left'],
    numbers_from: 1,
    rows: gas.map(({ wallet, balance_wei, budget_left_wei, spent_daily_wei, days_left }) => [
      wallet,
      etherText(balance_wei),
      etherText(budget_left_wei),
      etherText(spent_daily_wei),
      days_left ?? 'no spending yet',
    ]),
  }
}

function gasPriceTable({ gas_prices }: OperatorReport): ReportTable {
  return {
    head: ['network', 'state', 'in the terms', 'gas of a payment (USDC)', 'cheapest call (USDC)', 'since'],
    numbers_from: 3,
    rows: gas_prices.map(({ network, state, offered, cost_minor, price_minor, since_ms }) => [
      network,
      state === 'off' ? 'not compared' : state,
      offered ? 'yes' : 'no',
      cost_minor === null ? 'not known' : usdcText(cost_minor),
      usdcText(price_minor),
      since_ms === null ? '' : new Date(since_ms).toISOString(),
    ]),
  }
}

function datasetTable({ datasets }: OperatorReport): ReportTable {
  return {
    head: ['table', 'dated', 'rows', 'age in days', 'refresh after days'],
    numbers_from: 2,
    rows: datasets.map(({ name, dated, rows, age_days, limit_days }) => [name, dated, rows, age_days, limit_days]),
  }
}

function leaseTable({ leases }: OperatorReport): ReportTable {
  return {
    head: ['lease', 'process', 'expires in seconds'],
    numbers_from: 2,
    rows: leases.map(({ name, holder, expires_in_s }) => [name, holder, expires_in_s]),
  }
}

function webhookTable({ webhooks }: OperatorReport): ReportTable {
  return {
    head: ['deliveries', 'number'],
    numbers_from: 1,
    rows: [
      ['waiting', webhooks.pending],
      ['dead letters', webhooks.dead],
    ],
  }
}

/** Use of this process where it is in memory; the bounds are those of docs/operating/limits.md. */
function resourceTable({ resources }: OperatorReport): ReportTable {
  return {
    head: ['resource', 'bounds', 'of', 'refusal', 'in use'],
    numbers_from: 4,
    rows: resources.map(({ name, scope, per, bounds, code, used }) => [
      name,
      `${boundTexts(bounds).join(', ')}${per === 'held' ? '' : ` per ${per}`}`,
      scope,
      code ?? '',
      used === null ? '' : Math.round(used),
    ]),
  }
}

function callsOf(calls: DayReport['calls']): number {
  return calls.answered + calls.payment_required + calls.refused + calls.failed
}

function percentText(part: number, whole: number): string {
  return whole === 0 ? 'no data' : `${((100 * part) / whole).toFixed(1)} %`
}

const WEI_DIGITS = 18

/** Six decimals, rounded down. */
function etherText(wei: bigint): string {
  const digits = wei.toString().padStart(WEI_DIGITS + 1, '0')
  return `${digits.slice(0, -WEI_DIGITS)}.${digits.slice(-WEI_DIGITS, -WEI_DIGITS + 6)}`
}

function shortHex(text: string): string {
  return `${text.slice(0, 8)}…${text.slice(-4)}`
}

function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
