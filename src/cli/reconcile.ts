import {
  DEFAULT_WINDOW,
  MAX_WINDOW_DAYS,
  type BookingWindow,
  windowSentence,
  formatMinorUnits,
} from '../pure/documents/reconcile/values.ts'
import { ReadFindings, type ReadFinding } from '../pure/documents/reconcile/records.ts'
import { VERDICTS, type Verdict } from '../pure/documents/reconcile/verdicts.ts'
import { isConserved, totalsJson, type CurrencyTotals, type EntryShare } from '../pure/documents/reconcile/outcome.ts'
import { formatAmount, csvHeader, entryCsv, type EntryRow, type VerdictRow, verdictCsv } from '../pure/documents/reconcile/report-rows.ts'
import { findingLine, type InputFile, readFileOptions } from './reconcile-read.ts'
import { type ReconcileReportLists, reconcileFiles } from './reconcile-spool.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { paint, printable, remark, say, table, wantsJson } from './terminal.ts'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { LineWriter } from './line-writer.ts'

/** `assay reconcile`: payment files of any size against statements and ACH files of any size. */
export async function run(invocation: Invocation): Promise<Exit> {
  const files = readInputFiles()
  const format = readFormat(invocation)
  const folder = invocation.text('out')
  if (folder !== null && format !== null) throw new CliError('usage', '--out already writes every format; remove --jsonl, --csv or --html.')
  const findings = new ReadFindings()
  const window = readWindow(invocation)
  const found = reconcileFiles(files, findings, { require_settlement_evidence: invocation.flag('require-settlement-evidence'), window })
  try {
    await writeReport(found.report, buildFrame(files, findings, window), { folder, format, json: wantsJson(invocation) })
  } finally {
    found.close()
  }
  return 'ok'
}

async function writeReport(
  report: ReconcileReportLists,
  frame: ReconcileFrame,
  how: { folder: string | null; format: ReportFormat | null; json: boolean },
): Promise<void> {
  if (how.format !== null) return writeOut(formatLines(how.format, report, frame))
  const written = how.folder === null ? [] : writeFolder(how.folder, report, frame)
  for (const line of frame.remarks) remark(line)
  if (how.json) say(JSON.stringify({ ...summaryJson(report, frame), ...(how.folder === null ? {} : { written }) }))
  else say([...summaryLines(report), ...written.map((path) => `wrote ${path}`)].join('\n'))
}

function summaryLines({ totals }: ReconcileReportLists): string[] {
  const counts = countVerdicts(totals)
  const rows = VERDICTS.map((verdict) => [verdict, String(counts[verdict])])
  const entries = totals.flatMap(({ debits, credits }) => [debits, credits])
  const unmatched = entries.reduce((sum, one) => sum + one.unmatched.count, 0)
  const ignored = entries.reduce((sum, one) => sum + one.ignored.count, 0)
  return [
    paint('strong', 'Instructions'),
    ...table(rows),
    paint('strong', 'Entries'),
    ...table([
      ['unmatched', String(unmatched)],
      ['ignored', String(ignored)],
    ]),
  ]
}

/** Number of instructions by verdict, over all currencies. */
function countVerdicts(totals: readonly CurrencyTotals[]): Record<Verdict, number> {
  const count = (verdict: Verdict) => totals.reduce((sum, { verdicts }) => sum + verdicts[verdict].count, 0)
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)])) as Record<Verdict, number>
}

/** Reads the day window from --days-before and --days-after. */
function readWindow(invocation: Invocation): BookingWindow {
  const days = (name: string, usual: number): number => {
    const text = invocation.text(name)
    if (text === null) return usual
    const found = /^[0-9]{1,4}$/.test(text) ? Number.parseInt(text, 10) : NaN
    if (found <= MAX_WINDOW_DAYS) return found
    throw new CliError('usage', `--${name} takes a number of days from 0 to ${MAX_WINDOW_DAYS}; found ${JSON.stringify(printable(text))}.`)
  }
  return { days_before: days('days-before', DEFAULT_WINDOW.days_before), days_after: days('days-after', DEFAULT_WINDOW.days_after) }
}

function buildFrame(files: readonly InputFile[], { list, count }: ReadFindings, window: BookingWindow): ReconcileFrame {
  return {
    window,
    files: files.map(({ path }) => path),
    findings: list,
    finding_count: count,
    remarks: list.map((one) => findingLine(files, one).trim()),
  }
}

function readFormat(invocation: Invocation): ReportFormat | null {
  const asked = REPORT_FORMATS.filter((format) => invocation.flag(format))
  if (asked.length > 1)
    throw new CliError('usage', 'Standard output takes only one of --jsonl, --csv and --html; use --out FOLDER for all of them.')
  return asked[0] ?? null
}

function readInputFiles(): InputFile[] {
  const files = readFileOptions(['instructions', 'statement', 'ach'])
  const has_instructions = files.some(({ side }) => side === 'instructions')
  if (!has_instructions) throw new CliError('usage', 'Payments are missing: add --instructions FILE (pain.001 or pacs.008).')
  if (files.every(({ side }) => side === 'instructions'))
    throw new CliError('usage', 'Bank data are missing: add --statement FILE (camt.053) or --ach FILE.')
  return files
}

/** Style of the HTML report: light and dark on screen; black on white in print, where table heads repeat and rows are not split. */
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

/** Maximum rows per table; the CSV has all. Browsers cannot open a page with a million rows. */
const REPORT_ROWS_MAX = 2_000

const VERDICT_TITLES: Record<Verdict, string> = {
  UNPAID: 'Unpaid',
  AMOUNT_MISMATCH: 'Other amount than instructed',
  DUPLICATE_PAYMENT: 'Paid more than once',
  SETTLED: 'Settled',
}
/** Verdicts that need action come first. */
const VERDICT_ORDER = ['DUPLICATE_PAYMENT', 'AMOUNT_MISMATCH', 'UNPAID', 'SETTLED'] as const satisfies readonly Verdict[]
const VERDICT_MARKS: Record<Verdict, string> = { SETTLED: '●', UNPAID: '○', AMOUNT_MISMATCH: '◐', DUPLICATE_PAYMENT: '◆' }

interface HtmlFrame {
  window: BookingWindow
  files: readonly string[]
  remarks: readonly string[]
}

/** Self-contained HTML report, line by line. Every text from a file is escaped. */
function* htmlReport(report: ReconcileReportLists, { window, files, remarks }: HtmlFrame): Generator<string> {
  const counts = countVerdicts(report.totals)
  const all = VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0)
  yield `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Reconciliation</title>`
  yield `<style>${REPORT_STYLE}</style></head><body><main><h1>Reconciliation</h1>`
  yield `<p class="lead">${all === 0 ? 'No instructions.' : `${formatCount(counts.SETTLED)} of ${formatCount(all)} instructions are settled.`}</p>`
  yield `<ul class="counts">${VERDICT_ORDER.map((verdict) => countItem(verdict, counts[verdict])).join('')}</ul>`
  yield `<p class="note">${windowSentence(window)}</p>`
  yield `<h2>Files</h2><ol start="0">${files.map((name) => `<li><code>${escapeHtml(name)}</code></li>`).join('')}</ol>`
  if (remarks.length > 0) yield `<h2>Remarks on the files</h2><ul>${remarks.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`
  yield* totalsTables(report.totals)
  for (const verdict of VERDICT_ORDER) yield* verdictTable(verdict, counts[verdict], report.verdicts())
  yield* ambiguousList(report)
  yield* entryTable('Entries without an instruction', 'unmatched', report)
  yield* entryTable('Ignored entries', 'ignored', report)
  yield '<footer>Amounts are exact. An entry is named file:entry.detail. ACH files show origination, not settlement.</footer>'
  yield '</main></body></html>'
}

function countItem(verdict: Verdict, count: number): string {
  return `<li class="${verdict.toLowerCase()}"><span>${VERDICT_MARKS[verdict]}</span> <b>${formatCount(count)}</b> ${VERDICT_TITLES[verdict].toLowerCase()}</li>`
}

function* totalsTables(totals: readonly CurrencyTotals[]): Generator<string> {
  yield '<h2>Totals</h2><div class="wide"><table><thead><tr><th>Currency</th><th>Item</th><th class="n">Count</th><th class="n">Amount</th></tr></thead><tbody>'
  for (const total of totals) {
    const row = (what: string, { count, sum }: { count: number; sum: bigint }) =>
      `<tr><td>${escapeHtml(total.currency)}</td><td>${what}</td><td class="n">${formatCount(count)}</td><td class="n">${formatMoney(sum, total.minor_units)}</td></tr>`
    yield row('instructed', total.instructions)
    for (const verdict of VERDICT_ORDER)
      if (total.verdicts[verdict].count > 0) yield row(`– ${VERDICT_TITLES[verdict].toLowerCase()}`, total.verdicts[verdict])
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
    : 'Error: the sums do not add up; do not use this report.'
  yield `</tbody></table></div><p class="note">${kept}</p>`
}

function* verdictTable(verdict: Verdict, count: number, rows: Iterable<VerdictRow>): Generator<string> {
  if (count === 0) return
  yield `<h2 class="${verdict.toLowerCase()}">${VERDICT_MARKS[verdict]} ${VERDICT_TITLES[verdict]} <small>${formatCount(count)}</small></h2>`
  yield '<div class="wide"><table><thead><tr><th>Id</th><th>Place</th><th class="n">Instructed</th><th class="n">Paid</th><th class="n">Difference</th><th>Why</th><th>Entries</th></tr></thead><tbody>'
  let written = 0
  for (const row of rows) {
    if (row.verdict !== verdict) continue
    if (++written > REPORT_ROWS_MAX) break
    yield verdictLine(row)
  }
  yield '</tbody></table></div>'
  yield moreRowsNote(count)
}

function verdictLine(row: VerdictRow): string {
  const amount = (amount_minor: string | null) =>
    amount_minor === null ? '–' : `${groupThousands(formatAmount(amount_minor, row.currency))} ${escapeHtml(row.currency)}`
  const first = row.verdict === 'DUPLICATE_PAYMENT' ? `paid ${row.payments} times` : (row.kind ?? row.basis)
  const why = [first, row.reason, ...row.warnings].filter((text) => text !== null)
  return (
    `<tr><td><code>${escapeHtml(row.end_to_end_id ?? '–')}</code></td><td>${row.file}:${row.position}</td><td class="n">${amount(row.amount_minor)}</td>` +
    `<td class="n">${amount(row.net_minor)}</td><td class="n">${row.delta_minor === '0' ? '' : amount(row.delta_minor)}</td>` +
    `<td>${escapeHtml(why.join(', ').replaceAll('_', ' ').toLowerCase())}</td><td>${row.entries.slice(0, 20).join(' ')}</td></tr>`
  )
}

function* ambiguousList({ ambiguous }: ReconcileReportLists): Generator<string> {
  if (ambiguous.length === 0) return
  yield `<h2>Ambiguous <small>${formatCount(ambiguous.length)}</small></h2><div class="wide"><table><thead><tr><th>Why</th><th>Instructions</th><th>Entries</th></tr></thead><tbody>`
  for (const { kind, instructions, entries } of ambiguous.slice(0, REPORT_ROWS_MAX)) {
    yield `<tr><td>${kind.replaceAll('_', ' ')}</td><td>${joinLabels(instructions)}</td><td>${joinLabels(entries)}</td></tr>`
  }
  yield '</tbody></table></div>'
  yield moreRowsNote(ambiguous.length)
}

function* entryTable(title: string, kind: 'unmatched' | 'ignored', report: ReconcileReportLists): Generator<string> {
  const count = report.totals.reduce((sum, { debits, credits }) => sum + debits[kind].count + credits[kind].count, 0)
  if (count === 0) return
  yield `<h2>${title} <small>${formatCount(count)}</small></h2><div class="wide"><table><thead><tr><th>Entry</th><th>Id</th><th>Reference</th><th>Direction</th><th class="n">Amount</th><th>Why</th></tr></thead><tbody>`
  let written = 0
  for (const row of report[kind]()) {
    if (++written > REPORT_ROWS_MAX) break
    yield entryLine(row)
  }
  yield '</tbody></table></div>'
  yield moreRowsNote(count)
}

function entryLine(row: EntryRow): string {
  return (
    `<tr><td>${row.entry}</td><td><code>${escapeHtml(row.end_to_end_id ?? '–')}</code></td><td><code>${escapeHtml(row.reference ?? '')}</code></td>` +
    `<td>${row.direction === 'DBIT' ? 'debit' : 'credit'}</td><td class="n">${groupThousands(formatAmount(row.amount_minor, row.currency))} ${escapeHtml(row.currency)}</td>` +
    `<td>${row.reason.replaceAll('_', ' ')}</td></tr>`
  )
}

function moreRowsNote(count: number): string {
  return count > REPORT_ROWS_MAX
    ? `<p class="note">First ${formatCount(REPORT_ROWS_MAX)} of ${formatCount(count)} rows; the CSV and JSON Lines formats contain all.</p>`
    : ''
}

function joinLabels(places: readonly string[]): string {
  return places.length > 20 ? `${places.slice(0, 20).join(' ')} and ${formatCount(places.length - 20)} more` : places.join(' ')
}

function formatMoney(sum: bigint, digits: number): string {
  return groupThousands(formatMinorUnits(sum, digits))
}

/** Groups thousands by a narrow no-break space. */
function groupThousands(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, '\u202F')
  return fraction === undefined ? parted : `${parted}.${fraction}`
}

function formatCount(count: number): string {
  return groupThousands(String(count))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

const REPORT_FORMATS = ['jsonl', 'csv', 'html'] as const
type ReportFormat = (typeof REPORT_FORMATS)[number]

/** Context of the rows. */
interface ReconcileFrame {
  window: BookingWindow
  files: readonly string[]
  findings: readonly ReadFinding[]
  finding_count: number
  /** Findings as text for people. */
  remarks: readonly string[]
}

const BLOCK_CHARS = 262_144

function formatLines(format: ReportFormat, report: ReconcileReportLists, frame: ReconcileFrame): Iterable<string> {
  switch (format) {
    case 'jsonl':
      return jsonLines(report, frame)
    case 'csv':
      return csvLines(report, frame)
    case 'html':
      return htmlReport(report, frame)
  }
}

async function writeOut(lines: Iterable<string>): Promise<void> {
  const writer = new LineWriter()
  for (const line of lines) {
    const taken = writer.write(line)
    if (taken !== null) await taken
  }
  await writer.flush()
}

/** Writes every format and the summary to a folder, which is created if missing. */
function writeFolder(folder: string, report: ReconcileReportLists, frame: ReconcileFrame): string[] {
  try {
    mkdirSync(folder, { recursive: true })
    const formats = REPORT_FORMATS.map((format) => ({ path: join(folder, `report.${format}`), lines: formatLines(format, report, frame) }))
    const all = [...formats, { path: join(folder, 'summary.json'), lines: [JSON.stringify(summaryJson(report, frame), null, 2)] }]
    for (const { path, lines } of all) writeLines(path, lines)
    return all.map(({ path }) => path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new CliError('output', `Cannot write to ${printable(folder)} (${code}). Check the path and its permissions.`)
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

function* jsonLines(report: ReconcileReportLists, frame: ReconcileFrame): Generator<string> {
  for (const line of report.verdictLines()) yield `{"record":"verdict",${line.slice(1)}`
  for (const row of report.unmatched()) yield recordLine('unmatched', row)
  for (const row of report.ignored()) yield recordLine('ignored', row)
  for (const row of report.ambiguous) yield recordLine('ambiguous', row)
  for (const row of report.input_defects) yield recordLine('input_defect', row)
  yield recordLine('summary', summaryJson(report, frame))
}

/** Puts the record kind in front of the row's JSON; copying the row would take longer. */
function recordLine(record: string, row: object): string {
  return `{"record":"${record}",${JSON.stringify(row).slice(1)}`
}

function* csvLines(report: ReconcileReportLists, { files }: ReconcileFrame): Generator<string> {
  yield csvHeader()
  for (const row of report.verdicts()) yield verdictCsv(row, files)
  for (const row of report.unmatched()) yield entryCsv('unmatched', row, files)
  for (const row of report.ignored()) yield entryCsv('ignored', row, files)
}

/** Summary of a run without rows. */
function summaryJson({ totals }: ReconcileReportLists, { window, files, findings, finding_count }: ReconcileFrame) {
  return {
    counts: countVerdicts(totals),
    totals: totals.map(totalsJson),
    conserved: isConserved(totals),
    window,
    files,
    findings,
    finding_count,
  }
}
