import { isConserved, TotalsCollector } from '../../../../pure/documents/reconcile/outcome.ts'
import { reconcileLedger } from '../../../../pure/documents/reconcile/reconcile.ts'
import { ReadFindings, StatementBook } from '../../../../pure/documents/reconcile/records.ts'
import { defectRows } from '../../../../pure/documents/reconcile/report-rows.ts'
import { DEFAULT_WINDOW } from '../../../../pure/documents/reconcile/values.ts'
import { withExcerpts } from './excerpts.ts'
import { csvBlob, jsonBlob, type ExportSource } from './export.ts'
import { ROW_BLOCK, type RunResult, type WorkerMessage, type WorkerReplies, type WorkerRequest } from './messages.ts'
import { readFiles } from './read.ts'
import { currencySums, ReportRows } from './report-rows.ts'

/** Worker of the page: the engine of the service, over files that stay on this machine. */

const PROGRESS_MS = 100

let finished: { rows: ReportRows; source: ExportSource } | null = null

addEventListener('message', ({ data }: MessageEvent<{ id: number; request: WorkerRequest }>) => void handle(data.id, data.request))

function send(message: WorkerMessage): void {
  postMessage(message)
}

async function handle(id: number, request: WorkerRequest): Promise<void> {
  try {
    const value = request.kind === 'run' ? await run(request) : reply(request)
    if (value !== null) send({ kind: 'reply', id, value })
  } catch {
    // A file was removed while it was read, or memory ran out.
    send({ kind: 'failed' })
  }
}

function reply(request: Exclude<WorkerRequest, { kind: 'run' }>): WorkerReplies[keyof WorkerReplies] | null {
  if (finished === null) return null
  const { rows, source } = finished
  switch (request.kind) {
    case 'query':
      return { total: rows.find(request.query), rows: rows.list(0, ROW_BLOCK) }
    case 'rows':
      return rows.list(request.from, request.to)
    case 'detail':
      return rows.detail(request.at)
    case 'export':
      return request.format === 'csv' ? csvBlob(source) : jsonBlob(source)
  }
}

async function run({ files, require_settlement_evidence }: WorkerRequest & { kind: 'run' }): Promise<RunResult> {
  finished = null
  const findings = new ReadFindings()
  const book = new StatementBook()
  const { instructions, statement } = files
  const total_bytes = instructions.size + statement.size
  let sent_ms = -PROGRESS_MS
  const { ledger, kinds } = await readFiles(files, findings, book, (bytes, records) => {
    if (performance.now() - sent_ms < PROGRESS_MS) return
    sent_ms = performance.now()
    send({ kind: 'progress', progress: { step: 'reading', bytes, total_bytes, records } })
  })
  const { repeated, overlaps, remarks: repeats } = book.findRepeats()
  for (const { code, file } of repeats) findings.add(code, file, null)
  const listed = findings.list.map(({ file, line, severity, code, message }) => ({ file, line, severity, code, message }))
  const found = { remarks: await withExcerpts(listed, [instructions, statement]), remark_count: findings.count }
  if (findings.errors > 0) return { kind: 'unreadable', ...found }
  send({ kind: 'progress', progress: { step: 'matching' } })
  const outcome = reconcileLedger(ledger, { require_settlement_evidence, window: DEFAULT_WINDOW, repeated, overlaps })
  const rows = new ReportRows(outcome)
  finished = { rows, source: { outcome, files: [instructions.name, statement.name], findings: findings.list } }
  const collector = new TotalsCollector()
  collector.add(outcome)
  const totals = collector.totals()
  return {
    kind: 'done',
    summary: {
      ...found,
      kinds,
      counts: rows.counts(),
      totals: totals.map(currencySums),
      conserved: isConserved(totals),
      ambiguous: outcome.ambiguous.length,
      repeated_ids: defectRows(outcome).length,
    },
  }
}
