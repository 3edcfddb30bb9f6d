import { parseArgs } from 'node:util'
import { DEFAULT_WINDOW, MAX_WINDOW_DAYS, type DateWindow } from '../pure/documents/reconcile/dates.ts'
import { Findings } from '../pure/documents/reconcile/extract/findings.ts'
import { VERDICTS } from '../pure/documents/reconcile/verdicts.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { shownFinding, type GivenFile } from './reconcile-read.ts'
import { countsOf, type Reconciled } from './reconcile-result.ts'
import { reconcileFiles } from './reconcile-spool.ts'
import { FORMATS, linesOf, summaryOf, writeFolder, writeOut, type Format, type Frame } from './reconcile-write.ts'
import { paint, printable, remark, say, table, wantsJson } from './terminal.ts'

/** `assay reconcile`: payment files of any size against statements and ACH files of any size. */
export async function run(invocation: Invocation): Promise<Exit> {
  const files = filesOf()
  const format = formatOf(invocation)
  const folder = invocation.text('out')
  if (folder !== null && format !== null) throw new CliError('usage', '--out writes every format; leave out the other.')
  const findings = new Findings()
  const window = windowOf(invocation)
  const found = reconcileFiles(files, findings, { require_settlement_evidence: invocation.flag('require-settlement-evidence'), window })
  try {
    await show(found.report, frameOf(files, findings, window), { folder, format, json: wantsJson(invocation) })
  } finally {
    found.close()
  }
  return 'ok'
}

async function show(report: Reconciled, frame: Frame, how: { folder: string | null; format: Format | null; json: boolean }): Promise<void> {
  if (how.format !== null) return writeOut(linesOf(how.format, report, frame))
  const written = how.folder === null ? [] : writeFolder(how.folder, report, frame)
  for (const line of frame.remarks) remark(line)
  if (how.json) say(JSON.stringify({ ...summaryOf(report, frame), ...(how.folder === null ? {} : { written }) }))
  else say([...summaryLines(report), ...written.map((path) => `wrote ${path}`)].join('\n'))
}

function summaryLines({ totals }: Reconciled): string[] {
  const counts = countsOf(totals)
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

/** Days before and after the day of an instruction within which an entry counts. */
function windowOf(invocation: Invocation): DateWindow {
  const days = (name: string, usual: number): number => {
    const text = invocation.text(name)
    if (text === null) return usual
    const found = /^[0-9]{1,4}$/.test(text) ? Number.parseInt(text, 10) : NaN
    if (found <= MAX_WINDOW_DAYS) return found
    throw new CliError('usage', `--${name} takes a number of days from 0 to ${MAX_WINDOW_DAYS}; found ${JSON.stringify(printable(text))}.`)
  }
  return { days_before: days('days-before', DEFAULT_WINDOW.days_before), days_after: days('days-after', DEFAULT_WINDOW.days_after) }
}

function frameOf(files: readonly GivenFile[], { list, count }: Findings, window: DateWindow): Frame {
  return {
    window,
    files: files.map(({ path }) => path),
    findings: list,
    finding_count: count,
    remarks: list.map((one) => shownFinding(files, one).trim()),
  }
}

function formatOf(invocation: Invocation): Format | null {
  const asked = FORMATS.filter((format) => invocation.flag(format))
  if (asked.length > 1) throw new CliError('usage', 'Standard output takes one of --jsonl, --csv and --html; --out writes all of them.')
  return asked[0] ?? null
}

const SIDES = [
  ['instructions', 'instructions'],
  ['statement', 'statement'],
  ['ach', 'ach'],
] as const

/** The options that may be given more than once are read here: an invocation keeps the last of each. */
function filesOf(): GivenFile[] {
  const repeated = { type: 'string', multiple: true } as const
  const options = Object.fromEntries(SIDES.map(([name]) => [name, repeated]))
  const { values } = parseArgs({ args: process.argv.slice(3), options, strict: false, allowPositionals: true })
  const files = SIDES.flatMap(([name, side]) => pathsOf(values[name]).map((path): GivenFile => ({ path, side })))
  if (!files.some(({ side }) => side === 'instructions'))
    throw new CliError('usage', 'Name the payments: --instructions <pain.001 or pacs.008>.')
  if (!files.some(({ side }) => side !== 'instructions'))
    throw new CliError('usage', 'Name what the bank says: --statement <camt.053> or --ach <file>.')
  if (files.some(({ path }) => path === '-')) throw new CliError('usage', 'reconcile reads files only: large ones are read more than once.')
  if (files.length > FILES_MAX) throw new CliError('usage', `At most ${FILES_MAX} files go into one run.`)
  return files
}

/** The number of a file is kept in a byte. */
const FILES_MAX = 255

function pathsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
