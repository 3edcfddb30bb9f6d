import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DateWindow } from '../pure/documents/reconcile/dates.ts'
import { isConserved, totalsRow } from '../pure/documents/reconcile/totals.ts'
import type { ReadFinding } from '../pure/documents/reconcile/extract/findings.ts'
import { CliError } from './exit-codes.ts'
import { LineWriter } from './line-writer.ts'
import { csvHead, entryCsv, verdictCsv } from '../pure/documents/reconcile/report-csv.ts'
import { htmlReport } from './reconcile-html.ts'
import { countsOf, type Reconciled } from './reconcile-result.ts'
import { printable } from './terminal.ts'

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
