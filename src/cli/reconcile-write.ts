import { type DateWindow, windowSentence } from '../pure/documents/reconcile/dates.ts'
import { type CurrencyTotals, type EntryShare, isConserved, totalsRow } from '../pure/documents/reconcile/totals.ts'
import { decimalText } from '../pure/documents/reconcile/minor-units.ts'
import { amountText, type EntryRow, type VerdictRow } from '../pure/documents/reconcile/rows.ts'
import { type Verdict, VERDICTS } from '../pure/documents/reconcile/verdicts.ts'
import { countsOf, type Reconciled } from './reconcile-result.ts'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadFinding } from '../pure/documents/reconcile/extract/findings.ts'
import { CliError } from './exit-codes.ts'
import { LineWriter } from './line-writer.ts'
import { csvHead, entryCsv, verdictCsv } from '../pure/documents/reconcile/report-csv.ts'
import { printable } from './terminal.ts'

/** The look of the report: paper and ink on a screen, black on white in print, where tables keep their head and rows stay whole. */
const REPORT_STYLE = `
:root{color-scheme:light dark;--paper:#faf8f3;--ink:#1b1d21;--muted:#5a5f66;--rule:#ddd8cc;--valid:#17693e;--unsure:#7a5a00;--invalid:#a3261b}
@media (prefers-color-scheme:dark){:root{--paper:#111315;--ink:#ece9e2;--muted:#a3a7ad;--rule:#30343a;--valid:#63c98f;--unsure:#e0b84a;--invalid:#f0857a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 ui-sans-serif,system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 16px}
h1{font-size:28px;margin:0 0 8px}
h2{font-size:20px;margin:32px 0 8px}
small{color:var(--muted);font-weight:400}
.lead{font-size:16px;margin:0 0 16px}
.counts{list-style:none;display:flex;flex-wrap:wrap;gap:8px 24px;margin:0;padding:12px 0;border-block:1px solid var(--rule)}
.settled>span,h2.settled{color:var(--valid)}
.unpaid>span,h2.unpaid{color:var(--invalid)}
.duplicate_payment>span,h2.duplicate_payment{color:var(--invalid)}
.amount_mismatch>span,h2.amount_mismatch{color:var(--unsure)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule)}
th{color:var(--muted);font-weight:500;white-space:nowrap}
.n{text-align:right;font-family:ui-monospace,Menlo,Consolas,monospace;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-family:ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.note,footer{color:var(--muted)}
footer{margin-top:32px;padding-top:8px;border-top:1px solid var(--rule)}
@media print{
:root{--paper:#fff;--ink:#000;--muted:#444;--rule:#999;--valid:#000;--unsure:#000;--invalid:#000;color-scheme:light}
@page{margin:15mm}
body{font-size:9pt}
main{max-width:none;padding:0}
.wide{overflow:visible}
thead{display:table-header-group}
tr,li{break-inside:avoid}
h2{break-after:avoid}
}
`

/** Rows of one table; the rest is in the CSV. A page of a million rows opens nowhere. */
const ROWS = 2_000

const TITLES: Record<Verdict, string> = {
  UNPAID: 'Unpaid',
  AMOUNT_MISMATCH: 'Other amount than instructed',
  DUPLICATE_PAYMENT: 'Paid more than once',
  SETTLED: 'Settled',
}
/** What needs a person comes first. */
const ORDER = ['DUPLICATE_PAYMENT', 'AMOUNT_MISMATCH', 'UNPAID', 'SETTLED'] as const satisfies readonly Verdict[]
const MARKS: Record<Verdict, string> = { SETTLED: '●', UNPAID: '○', AMOUNT_MISMATCH: '◐', DUPLICATE_PAYMENT: '◆' }

interface ReportFrame {
  window: DateWindow
  files: readonly string[]
  remarks: readonly string[]
}

/** The whole report as one page that needs nothing beside it, line by line. Every text that comes from a file is escaped. */
function* htmlReport(report: Reconciled, { window, files, remarks }: ReportFrame): Generator<string> {
  const counts = countsOf(report.totals)
  const all = VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0)
  yield `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Reconciliation</title>`
  yield `<style>${REPORT_STYLE}</style></head><body><main><h1>Reconciliation</h1>`
  yield `<p class="lead">${all === 0 ? 'No instructions.' : `${grouped(counts.SETTLED)} of ${grouped(all)} instructions are settled.`}</p>`
  yield `<ul class="counts">${ORDER.map((verdict) => countItem(verdict, counts[verdict])).join('')}</ul>`
  yield `<p class="note">${windowSentence(window)}</p>`
  yield `<h2>Files</h2><ol start="0">${files.map((name) => `<li><code>${escaped(name)}</code></li>`).join('')}</ol>`
  if (remarks.length > 0) yield `<h2>Remarks on the files</h2><ul>${remarks.map((one) => `<li>${escaped(one)}</li>`).join('')}</ul>`
  yield* totalsTables(report.totals)
  for (const verdict of ORDER) yield* verdictTable(verdict, counts[verdict], report.verdicts())
  yield* ambiguousList(report)
  yield* entryTable('Entries that stand for no instruction', 'unmatched', report)
  yield* entryTable('Entries that do not count', 'ignored', report)
  yield '<footer>Amounts are exact. An entry is named file:entry.detail. What an ACH file shows is origination, not settlement.</footer>'
  yield '</main></body></html>'
}

function countItem(verdict: Verdict, count: number): string {
  return `<li class="${verdict.toLowerCase()}"><span>${MARKS[verdict]}</span> <b>${grouped(count)}</b> ${TITLES[verdict].toLowerCase()}</li>`
}

function* totalsTables(totals: readonly CurrencyTotals[]): Generator<string> {
  yield '<h2>Totals</h2><div class="wide"><table><thead><tr><th>Currency</th><th>What</th><th class="n">Count</th><th class="n">Amount</th></tr></thead><tbody>'
  for (const total of totals) {
    const row = (what: string, { count, sum }: { count: number; sum: bigint }) =>
      `<tr><td>${escaped(total.currency)}</td><td>${what}</td><td class="n">${grouped(count)}</td><td class="n">${money(sum, total.minor_units)}</td></tr>`
    yield row('instructed', total.instructions)
    for (const verdict of ORDER)
      if (total.verdicts[verdict].count > 0) yield row(`– ${TITLES[verdict].toLowerCase()}`, total.verdicts[verdict])
    for (const [name, shares] of [['debits', total.debits] as const, ['credits', total.credits] as const]) {
      if (shares.all.count === 0) continue
      yield row(`${name} of the statements`, shares.all)
      for (const share of ['matched', 'unmatched', 'ignored'] as const satisfies readonly EntryShare[]) {
        if (shares[share].count > 0) yield row(`– ${share}`, shares[share])
      }
    }
  }
  const kept = isConserved(totals)
    ? 'Matched, unmatched and ignored entries add up to all entries.'
    : 'The sums do not add up; this report is faulty.'
  yield `</tbody></table></div><p class="note">${kept}</p>`
}

function* verdictTable(verdict: Verdict, count: number, rows: Iterable<VerdictRow>): Generator<string> {
  if (count === 0) return
  yield `<h2 class="${verdict.toLowerCase()}">${MARKS[verdict]} ${TITLES[verdict]} <small>${grouped(count)}</small></h2>`
  yield '<div class="wide"><table><thead><tr><th>Id</th><th>Place</th><th class="n">Instructed</th><th class="n">Paid</th><th class="n">Difference</th><th>Why</th><th>Entries</th></tr></thead><tbody>'
  let written = 0
  for (const row of rows) {
    if (row.verdict !== verdict) continue
    if (++written > ROWS) break
    yield verdictLine(row)
  }
  yield '</tbody></table></div>'
  yield more(count)
}

function verdictLine(row: VerdictRow): string {
  const amount = (amount_minor: string | null) =>
    amount_minor === null ? '–' : `${spaced(amountText(amount_minor, row.currency))} ${escaped(row.currency)}`
  const first = row.verdict === 'DUPLICATE_PAYMENT' ? `paid ${row.payments} times` : (row.kind ?? row.basis)
  const why = [first, row.reason, ...row.warnings].filter((text) => text !== null)
  return (
    `<tr><td><code>${escaped(row.end_to_end_id ?? '–')}</code></td><td>${row.file}:${row.position}</td><td class="n">${amount(row.amount_minor)}</td>` +
    `<td class="n">${amount(row.net_minor)}</td><td class="n">${row.delta_minor === '0' ? '' : amount(row.delta_minor)}</td>` +
    `<td>${escaped(why.join(', ').replaceAll('_', ' ').toLowerCase())}</td><td>${row.entries.slice(0, 20).join(' ')}</td></tr>`
  )
}

function* ambiguousList({ ambiguous }: Reconciled): Generator<string> {
  if (ambiguous.length === 0) return
  yield `<h2>Cannot be told apart <small>${grouped(ambiguous.length)}</small></h2><div class="wide"><table><thead><tr><th>Why</th><th>Instructions</th><th>Entries</th></tr></thead><tbody>`
  for (const { kind, instructions, entries } of ambiguous.slice(0, ROWS)) {
    yield `<tr><td>${kind.replaceAll('_', ' ')}</td><td>${listed(instructions)}</td><td>${listed(entries)}</td></tr>`
  }
  yield '</tbody></table></div>'
  yield more(ambiguous.length)
}

function* entryTable(title: string, kind: 'unmatched' | 'ignored', report: Reconciled): Generator<string> {
  const count = report.totals.reduce((sum, { debits, credits }) => sum + debits[kind].count + credits[kind].count, 0)
  if (count === 0) return
  yield `<h2>${title} <small>${grouped(count)}</small></h2><div class="wide"><table><thead><tr><th>Entry</th><th>Id</th><th>Reference</th><th>Direction</th><th class="n">Amount</th><th>Why</th></tr></thead><tbody>`
  let written = 0
  for (const row of report[kind]()) {
    if (++written > ROWS) break
    yield entryLine(row)
  }
  yield '</tbody></table></div>'
  yield more(count)
}

function entryLine(row: EntryRow): string {
  return (
    `<tr><td>${row.entry}</td><td><code>${escaped(row.end_to_end_id ?? '–')}</code></td><td><code>${escaped(row.reference ?? '')}</code></td>` +
    `<td>${row.direction === 'DBIT' ? 'debit' : 'credit'}</td><td class="n">${spaced(amountText(row.amount_minor, row.currency))} ${escaped(row.currency)}</td>` +
    `<td>${row.reason.replaceAll('_', ' ')}</td></tr>`
  )
}

function more(count: number): string {
  return count > ROWS ? `<p class="note">The first ${grouped(ROWS)} of ${grouped(count)}; the CSV and the JSON lines have all.</p>` : ''
}

function listed(places: readonly string[]): string {
  return places.length > 20 ? `${places.slice(0, 20).join(' ')} and ${grouped(places.length - 20)} more` : places.join(' ')
}

function money(sum: bigint, digits: number): string {
  return spaced(decimalText(sum, digits))
}

/** Thousands apart by a narrow space that does not break. */
function spaced(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, '\u202F')
  return fraction === undefined ? parted : `${parted}.${fraction}`
}

function grouped(count: number): string {
  return spaced(String(count))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

export const FORMATS = ['jsonl', 'csv', 'html'] as const
export type Format = (typeof FORMATS)[number]

/** What stands around the rows. */
export interface Frame {
  window: DateWindow
  files: readonly string[]
  findings: readonly ReadFinding[]
  finding_count: number
  /** The findings in words, for people. */
  remarks: readonly string[]
}

const BLOCK_CHARS = 262_144

/** Lines of one format. */
export function linesOf(format: Format, report: Reconciled, frame: Frame): Iterable<string> {
  switch (format) {
    case 'jsonl':
      return jsonLines(report, frame)
    case 'csv':
      return csvLines(report, frame)
    case 'html':
      return htmlReport(report, frame)
  }
}

export async function writeOut(lines: Iterable<string>): Promise<void> {
  const writer = new LineWriter()
  for (const line of lines) {
    const taken = writer.write(line)
    if (taken !== null) await taken
  }
  await writer.flush()
}

/** Every format and the summary into a folder, which is made if it is missing. */
export function writeFolder(folder: string, report: Reconciled, frame: Frame): string[] {
  try {
    mkdirSync(folder, { recursive: true })
    const formats = FORMATS.map((format) => ({ path: join(folder, `report.${format}`), lines: linesOf(format, report, frame) }))
    const all = [...formats, { path: join(folder, 'summary.json'), lines: [JSON.stringify(summaryOf(report, frame), null, 2)] }]
    for (const { path, lines } of all) writeLines(path, lines)
    return all.map(({ path }) => path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new CliError('output', `${printable(folder)} cannot be written (${code}).`)
  }
}

function writeLines(path: string, lines: Iterable<string>): void {
  const file = openSync(path, 'w')
  try {
    let block = ''
    for (const line of lines) {
      block += `${line}\n`
      if (block.length < BLOCK_CHARS) continue
      writeSync(file, block)
      block = ''
    }
    writeSync(file, block)
  } finally {
    closeSync(file)
  }
}

function* jsonLines(report: Reconciled, frame: Frame): Generator<string> {
  for (const line of report.verdictLines()) yield `{"record":"verdict",${line.slice(1)}`
  for (const row of report.unmatched()) yield recordLine('unmatched', row)
  for (const row of report.ignored()) yield recordLine('ignored', row)
  for (const row of report.ambiguous) yield recordLine('ambiguous', row)
  for (const row of report.input_defects) yield recordLine('input_defect', row)
  yield recordLine('summary', summaryOf(report, frame))
}

/** The row with its kind before it; copying the row for that would take longer than writing it. */
function recordLine(record: string, row: object): string {
  return `{"record":"${record}",${JSON.stringify(row).slice(1)}`
}

function* csvLines(report: Reconciled, { files }: Frame): Generator<string> {
  yield csvHead()
  for (const row of report.verdicts()) yield verdictCsv(row, files)
  for (const row of report.unmatched()) yield entryCsv('unmatched', row, files)
  for (const row of report.ignored()) yield entryCsv('ignored', row, files)
}

/** What a run came to, without its rows. */
export function summaryOf({ totals }: Reconciled, { window, files, findings, finding_count }: Frame) {
  return { counts: countsOf(totals), totals: totals.map(totalsRow), conserved: isConserved(totals), window, files, findings, finding_count }
}
