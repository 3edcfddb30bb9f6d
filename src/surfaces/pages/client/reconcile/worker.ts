import { DEFAULT_WINDOW } from '../../../../pure/documents/reconcile/dates.ts'
import { Findings } from '../../../../pure/documents/reconcile/extract/findings.ts'
import { reconcile } from '../../../../pure/documents/reconcile/reconcile.ts'
import { defectRows } from '../../../../pure/documents/reconcile/rows.ts'
import { StatementBook } from '../../../../pure/documents/reconcile/statements.ts'
import { csvBlob, jsonBlob, type Exported } from './export.ts'
import { withExcerpts } from './excerpts.ts'
import type { Asked, Told } from './messages.ts'
import { Rows } from './query.ts'
import { readFiles } from './read.ts'
import { totalsShown } from './shown.ts'

/** What runs beside the page: the engine of the service itself, over files that never leave this machine. */

const PROGRESS_MS = 100

let rows: Rows | null = null
let exported: Exported | null = null

addEventListener('message', ({ data }: MessageEvent<Asked>) => void answer(data))

function tell(told: Told): void {
  postMessage(told)
}

async function answer(asked: Asked): Promise<void> {
  try {
    switch (asked.kind) {
      case 'run':
        return await run(asked)
      case 'query':
        return tell({ kind: 'found', turn: asked.turn, total: rows?.ask(asked.query) ?? 0 })
      case 'rows':
        return tell({ kind: 'rows', turn: asked.turn, from: asked.from, rows: rows?.list(asked.from, asked.to) ?? [] })
      case 'export':
        if (exported === null) return
        return tell({ kind: 'exported', format: asked.format, blob: asked.format === 'csv' ? csvBlob(exported) : jsonBlob(exported) })
    }
  } catch {
    // A file that was taken away while it was read, or memory that ran out.
    tell({ kind: 'failed' })
  }
}

async function run({ instructions, statement, require_settlement_evidence }: Asked & { kind: 'run' }): Promise<void> {
  rows = null
  exported = null
  const findings = new Findings()
  const book = new StatementBook()
  const total_bytes = instructions.size + statement.size
  let told_ms = -PROGRESS_MS
  const { ledger, kinds } = await readFiles({ instructions, statement }, findings, book, (bytes, records) => {
    if (performance.now() - told_ms < PROGRESS_MS) return
    told_ms = performance.now()
    tell({ kind: 'progress', bytes, total_bytes, records })
  })
  const { repeated, overlaps, remarks: judged } = book.judge()
  for (const { code, file } of judged) findings.add(code, file, null)
  const listed = findings.list.map(({ file, line, severity, code, message }) => ({ file, line, severity, code, message }))
  const remarks = await withExcerpts(listed, [instructions, statement])
  if (findings.errors > 0) return tell({ kind: 'unreadable', remarks, remark_count: findings.count, kinds })
  tell({ kind: 'judging' })
  const outcome = reconcile(ledger, { require_settlement_evidence, window: DEFAULT_WINDOW, repeated, overlaps })
  rows = new Rows(outcome)
  exported = { outcome, files: [instructions.name, statement.name], findings: findings.list }
  const { totals, conserved } = totalsShown(outcome)
  const [ambiguous, repeated_ids] = [outcome.ambiguous.length, defectRows(outcome).length]
  const summary = { counts: rows.counts(), totals, conserved, ambiguous, repeated_ids, remarks, remark_count: findings.count, kinds }
  tell({ kind: 'done', summary })
}
