import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Findings, ReadFinding } from '../pure/documents/reconcile/extract/findings.ts'
import { documentReader, type DocumentKind, type Sink } from '../pure/documents/reconcile/report.ts'
import type { StatementBook } from '../pure/documents/reconcile/statements.ts'
import { CliError } from './exit-codes.ts'
import { progressLine } from './progress.ts'
import { printable } from './terminal.ts'

/** A file of one side. `instructions` are told apart when they are read. */
export interface GivenFile {
  path: string
  side: 'instructions' | 'statement' | 'ach'
}

/** What the first bytes of a file are looked at for. */
const HEAD_BYTES = 65_536
const CHUNK_BYTES = 262_144
const EVERY_MS = 250
const CLEAR_LINE = '\r\u001b[K'
const SHOWN_FINDINGS = 20

/**
 * Streams every file into the sink, what the bank says first: then only those ids of instructions need to be kept that some entry has.
 * False when a finding forbids any verdict.
 */
export function readFiles(files: readonly GivenFile[], findings: Findings, book: StatementBook, sink: Sink): boolean {
  const progress = new FileProgress(files)
  const counted: Sink = {
    keep_remittance: sink.keep_remittance === true,
    instruction(instruction) {
      progress.records++
      sink.instruction(instruction)
    },
    entry(entry) {
      progress.records++
      sink.entry(entry)
    },
  }
  const numbered = files.map((given, file) => ({ ...given, file }))
  const told = numbered.filter(({ side }) => side !== 'instructions')
  for (const given of [...told, ...numbered.filter(({ side }) => side === 'instructions')]) {
    readFile(given, findings, book, counted, progress)
  }
  progress.end()
  return findings.errors === 0
}

function readFile(
  { path, side, file }: GivenFile & { file: number },
  findings: Findings,
  book: StatementBook,
  sink: Sink,
  progress: FileProgress,
): void {
  let reader: ReturnType<typeof documentReader> | null = null
  for (const chunk of chunksIn(path)) {
    reader ??= documentReader(kindOf(side, chunk), file, findings, book, sink)
    if (!reader.write(chunk)) return
    progress.passed(chunk.length)
  }
  reader ??= documentReader(kindOf(side, new Uint8Array()), file, findings, book, sink)
  reader.end()
}

/** The bytes of a file, each piece in the place of the one before. Read at once: there is nothing else to do while the disk turns. */
function* chunksIn(path: string): Generator<Uint8Array> {
  const bytes = new Uint8Array(CHUNK_BYTES)
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) yield bytes.subarray(0, read)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new CliError('no_input', `${printable(path)} cannot be read (${code}).`)
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** Transfers between banks are known by the name of their message; everything else is taken for a pain.001, which then says what is wrong. */
function kindOf(side: GivenFile['side'], head: Uint8Array): DocumentKind {
  if (side !== 'instructions') return side === 'ach' ? 'nacha' : 'camt.053'
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, HEAD_BYTES)).toString('latin1')
  return text.includes('pacs.008.') && !text.includes('pain.001.') ? 'pacs.008' : 'pain.001'
}

/** How a run ends that may give no verdict: what is wrong, and where. */
export function unreadable(files: readonly GivenFile[], findings: Findings): CliError {
  const errors = findings.list.filter(({ severity }) => severity === 'error').slice(0, SHOWN_FINDINGS)
  return new CliError(
    'data',
    'Nothing was judged, since a file cannot be read whole.',
    errors.map((one) => shownFinding(files, one)),
  )
}

export function shownFinding(files: readonly GivenFile[], { code, file, line, message }: ReadFinding): string {
  return `  ${printable(files[file]?.path ?? '')}${line === null ? '' : `:${line}`} ${code} ${printable(message)}`
}

/** One line on standard error while files are read; nothing where no person is looking. */
class FileProgress {
  records = 0
  private readonly shown: boolean
  private readonly total_bytes: number | null
  private readonly started_ms = performance.now()
  private drawn_ms = performance.now()
  private bytes = 0

  constructor(files: readonly GivenFile[]) {
    this.shown = process.stderr.isTTY
    const sizes = files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    this.total_bytes = sizes.includes(0) ? null : sizes.reduce((sum, one) => sum + one, 0)
  }

  passed(more: number): void {
    this.bytes += more
    const now_ms = performance.now()
    if (!this.shown || now_ms - this.drawn_ms < EVERY_MS) return
    this.drawn_ms = now_ms
    this.draw('')
  }

  end(): void {
    if (this.shown) this.draw('\n')
  }

  private draw(end: string): void {
    const elapsed_ms = performance.now() - this.started_ms
    const line = progressLine({ lines: this.records, elapsed_ms, bytes: this.bytes, total_bytes: this.total_bytes })
    process.stderr.write(`${CLEAR_LINE}${line.replace(' lines', ' records')}${end}`)
  }
}
