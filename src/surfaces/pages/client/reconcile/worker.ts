import { ISO4217 } from '../../../../pure/checks/currency.ts'
import { readSnapshot, snapshotHash } from '../../../../pure/datasets/definition.ts'
import { Ledger } from '../../../../pure/documents/reconcile/ledger.ts'
import { isConserved, TotalsCollector, totalsJson, type ReconcileOutcome } from '../../../../pure/documents/reconcile/outcome.ts'
import { documentReader, type DocumentKind, type RecordSink } from '../../../../pure/documents/reconcile/reconcile-documents.ts'
import { reconcileLedger } from '../../../../pure/documents/reconcile/reconcile.ts'
import {
  ReadFindings,
  StatementBook,
  type BankEntry,
  type PaymentInstruction,
  type ReadFinding,
} from '../../../../pure/documents/reconcile/records.ts'
import {
  ambiguousRows,
  csvHeader,
  defectRows,
  entryCsv,
  entryOrder,
  entryRow,
  instructionOrder,
  verdictCsv,
  verdictRow,
  verdictRowJson,
} from '../../../../pure/documents/reconcile/report-rows.ts'
import { DEFAULT_WINDOW } from '../../../../pure/documents/reconcile/values.ts'
import {
  documentKind,
  ROW_BLOCK,
  type CurrentTable,
  type ExportFormat,
  type FileRemark,
  type FileSide,
  type RunResult,
  type WorkerMessage,
  type WorkerReplies,
  type WorkerRequest,
} from './messages.ts'
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
    const value = request.kind === 'run' ? await run(request) : await reply(request)
    if (value !== null) send({ kind: 'reply', id, value })
  } catch {
    // A file was removed while it was read, or memory ran out.
    send({ kind: 'failed' })
  }
}

async function reply(request: Exclude<WorkerRequest, { kind: 'run' }>): Promise<WorkerReplies[keyof WorkerReplies] | null> {
  if (finished === null) return null
  const { rows } = finished
  switch (request.kind) {
    case 'query':
      return { total: rows.find(request.query), rows: rows.list(0, ROW_BLOCK) }
    case 'rows':
      return rows.list(request.from, request.to)
    case 'detail':
      return rows.detail(request.at)
    case 'export':
      return exported(request.format, finished)
  }
}

async function exported(format: ExportFormat, { rows, source }: NonNullable<typeof finished>): Promise<Blob> {
  switch (format) {
    case 'csv':
      return csvBlob(source)
    case 'json':
      return jsonBlob(source)
    case 'xlsx':
      return (await import('./workbook.ts')).workbookBlob(rows)
  }
}

/**
 * Binds the table of currencies that the service uses now, so that both decide from the same decimal places. Returns false if it was not sent or is not what
 * its hash says; the table of the release then stays.
 */
function bindCurrencies(current: CurrentTable | null): boolean {
  if (current === null) return false
  const { sha256, text } = current
  if (text === null) return sha256 === snapshotHash(ISO4217.bundled())
  const found = readSnapshot(ISO4217.definition, text, '9999-12-31')
  if (!found.ok || snapshotHash(found.snapshot) !== sha256) return false
  ISO4217.bind({ snapshot: found.snapshot, sha256 })
  return true
}

async function run({ files, require_settlement_evidence, currencies }: WorkerRequest & { kind: 'run' }): Promise<RunResult> {
  finished = null
  const of_service = bindCurrencies(currencies)
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
      currencies: { date: ISO4217.date(), of_service },
      counts: rows.counts(),
      totals: totals.map(currencySums),
      conserved: isConserved(totals),
      ambiguous: outcome.ambiguous.length,
      repeated_ids: defectRows(outcome).length,
    },
  }
}

/** Lines shown of each file, and their length. Longer lines are left out: they are files without line feeds. */
const MOST_LINES = 60
const LINE_CHARS = 240

/** A finding is about an element that begins on its line. */
const SHOWN_LINES = 3

type BareRemark = Omit<FileRemark, 'excerpt'>

/** Adds to each finding the lines that it is about, read from the file again. */
export async function withExcerpts(remarks: readonly BareRemark[], files: readonly File[]): Promise<FileRemark[]> {
  const found = await Promise.all(
    files.map((file, index) => readLines(file, remarks.filter((one) => one.file === index).flatMap(remarkLines))),
  )
  return remarks.map((remark) => {
    const lines = remarkLines(remark).map((line) => found[remark.file]?.get(line) ?? '')
    return { ...remark, excerpt: lines[0] === '' ? [] : lines.filter((text) => text !== '') }
  })
}

function remarkLines({ line }: BareRemark): number[] {
  return line === null ? [] : Array.from({ length: SHOWN_LINES }, (_, index) => line + index)
}

async function readLines(file: File, wanted: readonly number[]): Promise<Map<number, string>> {
  const left = new Set([...new Set(wanted)].toSorted((one, other) => one - other).slice(0, MOST_LINES))
  const found = new Map<number, string>()
  if (left.size === 0) return found
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader()
  let [line, rest] = [1, '']
  while (left.size > 0) {
    const { done, value = '' } = await reader.read()
    const pieces = (rest + value).split('\n')
    rest = done ? '' : (pieces.pop() ?? '')
    for (const piece of pieces) {
      if (left.delete(line) && piece.length <= LINE_CHARS) found.set(line, printable(piece))
      line++
    }
    // The rest of a longer line is not collected; its end still counts as a line.
    if (rest.length > LINE_CHARS) rest = rest.slice(0, LINE_CHARS + 1)
    if (done) break
  }
  await reader.cancel()
  return found
}

/** Untrusted text without control characters, which could change its reading direction. */
function printable(line: string): string {
  return line.trim().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
}

interface ReadLedger {
  ledger: Ledger
  /** Formats of the payments and of the statement. */
  kinds: [DocumentKind, DocumentKind]
}

/**
 * Streams both files into one ledger, the statement first, so that only ids of instructions that some entry has are stored. Neither file is
 * in memory as a whole.
 */
export async function readFiles(
  files: Record<FileSide, File>,
  findings: ReadFindings,
  book: StatementBook,
  passed: (bytes: number, records: number) => void,
): Promise<ReadLedger> {
  const ledger = new Ledger()
  let [bytes, records] = [0, 0]
  const sink: RecordSink = {
    instruction(instruction: PaymentInstruction) {
      records++
      ledger.addInstructionLast(instruction)
    },
    entry(entry: BankEntry) {
      records++
      ledger.entries.add(entry)
    },
  }
  const read = async (side: FileSide): Promise<DocumentKind> => {
    const kind = await documentKind(side, files[side])
    const reader = documentReader(kind, side === 'instructions' ? 0 : 1, findings, book, sink)
    for await (const chunk of chunksOf(files[side])) {
      if (!reader.write(chunk)) return kind
      bytes += chunk.length
      passed(bytes, records)
    }
    reader.end()
    return kind
  }
  const statement = await read('statement')
  return { kinds: [await read('instructions'), statement], ledger }
}

/** Not every browser supports `for await` on a stream. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

interface ExportSource {
  outcome: ReconcileOutcome
  /** Names of the files by their number in the rows. */
  files: readonly string[]
  findings: readonly ReadFinding[]
}

/** Lines are joined into blocks, so that a large report is not a million strings. */
const BLOCK_LINES = 2_000

/** Report as the command line writes it with `--csv`. */
function csvBlob({ outcome, files }: ExportSource): Blob {
  return blobOf('text/csv;charset=utf-8', csvLines(outcome, files))
}

function* csvLines(outcome: ReconcileOutcome, files: readonly string[]): Generator<string> {
  yield `${csvHeader()}\n`
  for (const row of instructionOrder(outcome)) yield `${verdictCsv(verdictRow(outcome, row), files)}\n`
  for (const kind of ['unmatched', 'ignored'] as const)
    for (const { row, reason } of entriesOf(outcome, kind)) yield `${entryCsv(kind, entryRow(outcome, row, reason), files)}\n`
}

/** Report as one JSON document: the answer of the tool, with the names of the files. */
function jsonBlob(source: ExportSource): Blob {
  return blobOf('application/json', jsonLines(source))
}

function* jsonLines({ outcome, files, findings }: ExportSource): Generator<string> {
  const collector = new TotalsCollector()
  collector.add(outcome)
  const totals = collector.totals()
  const head = { files, window: DEFAULT_WINDOW, totals: totals.map(totalsJson), conserved: isConserved(totals), findings }
  yield `${JSON.stringify(head).slice(0, -1)},\n"verdicts":[`
  yield* jsonItems(instructionOrder(outcome), (row) => verdictRowJson(outcome, row))
  for (const kind of ['unmatched', 'ignored'] as const) {
    yield `],\n"${kind}":[`
    yield* jsonItems(entriesOf(outcome, kind), ({ row, reason }) => JSON.stringify(entryRow(outcome, row, reason)))
  }
  yield `],\n"ambiguous":${JSON.stringify(ambiguousRows(outcome))},\n"input_defects":${JSON.stringify(defectRows(outcome))}}\n`
}

function* jsonItems<Item>(items: Iterable<Item>, write: (item: Item) => string): Generator<string> {
  let before = '\n'
  for (const item of items) {
    yield before + write(item)
    before = ',\n'
  }
}

function* entriesOf(outcome: ReconcileOutcome, kind: 'unmatched' | 'ignored'): Generator<{ row: number; reason: string }> {
  for (const row of entryOrder(outcome)) {
    const found = outcome.entryOutcome(row)
    if (found.kind !== 'matched' && found.kind === kind) yield { row, reason: found.reason }
  }
}

function blobOf(type: string, lines: Iterable<string>): Blob {
  const blocks: string[] = []
  let block: string[] = []
  for (const line of lines) {
    block.push(line)
    if (block.length < BLOCK_LINES) continue
    blocks.push(block.join(''))
    block = []
  }
  return new Blob([...blocks, ...block], { type })
}
