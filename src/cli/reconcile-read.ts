import { parseArgs } from 'node:util'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { ReadFindings, ReadFinding, StatementBook } from '../pure/documents/reconcile/records.ts'
import { documentReader, type DocumentKind, type RecordSink } from '../pure/documents/reconcile/reconcile-documents.ts'
import { CliError } from './errors.ts'
import { progressLine, printable } from './terminal.ts'

/** An input file. `instructions` can be pain.001 or pacs.008, detected when it is read. */
export interface InputFile {
  path: string
  side: 'instructions' | 'statement' | 'ach'
}

/** File numbers are stored in a byte. */
const FILES_MAX = 255

/** Reads the files of repeatable options from the command line, because an invocation keeps only the last value of each. */
export function readFileOptions(names: readonly InputFile['side'][]): InputFile[] {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string', multiple: true } as const]))
  const { values } = parseArgs({ args: process.argv.slice(3), options, strict: false, allowPositionals: true })
  const paths = (name: string) => (values[name] === undefined ? [] : [values[name]].flat()).filter((one) => typeof one === 'string')
  const files = names.flatMap((side) => paths(side).map((path): InputFile => ({ path, side })))
  if (files.some(({ path }) => path === '-'))
    throw new CliError('usage', 'Standard input ("-") cannot be used here, because large inputs are read twice; pass file names.')
  if (files.length > FILES_MAX)
    throw new CliError('usage', `${files.length} files were given; at most ${FILES_MAX} are possible in one run.`)
  return files
}

/** Bytes in which the message kind is searched. */
const HEAD_BYTES = 65_536
const CHUNK_BYTES = 262_144
const EVERY_MS = 250
const CLEAR_LINE = '\r\u001b[K'
const SHOWN_FINDINGS = 20

/**
 * Streams every file into the sink, statements and ACH files first, so that only ids of instructions which some entry has need to be
 * stored. Returns false if a finding rules out verdicts.
 */
export function readFiles(files: readonly InputFile[], findings: ReadFindings, book: StatementBook, sink: RecordSink): boolean {
  const progress = new FileProgress(files)
  const counted: RecordSink = {
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
  { path, side, file }: InputFile & { file: number },
  findings: ReadFindings,
  book: StatementBook,
  sink: RecordSink,
  progress: FileProgress,
): void {
  let reader: ReturnType<typeof documentReader> | null = null
  for (const chunk of chunksIn(path)) {
    reader ??= documentReader(documentKind(side, chunk), file, findings, book, sink)
    if (!reader.write(chunk)) return
    progress.addBytes(chunk.length)
  }
  reader ??= documentReader(documentKind(side, new Uint8Array()), file, findings, book, sink)
  reader.end()
}

/** Chunks of a file in one reused buffer. Reads synchronously, because nothing else runs meanwhile. */
function* chunksIn(path: string): Generator<Uint8Array> {
  const bytes = new Uint8Array(CHUNK_BYTES)
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) yield bytes.subarray(0, read)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === undefined) throw error
    throw new CliError('no_input', `Cannot read ${printable(path)} (${code}). Check the path and its permissions.`)
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** A pacs.008 is recognized by its name; other files are read as pain.001, which reports what is wrong. */
function documentKind(side: InputFile['side'], head: Uint8Array): DocumentKind {
  if (side !== 'instructions') return side === 'ach' ? 'nacha' : 'camt.053'
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, HEAD_BYTES)).toString('latin1')
  return text.includes('pacs.008.') && !text.includes('pain.001.') ? 'pacs.008' : 'pain.001'
}

/** Error of a run without verdicts, with the findings that caused it. */
export function unreadableError(files: readonly InputFile[], findings: ReadFindings): CliError {
  const errors = findings.list.filter(({ severity }) => severity === 'error').slice(0, SHOWN_FINDINGS)
  return new CliError(
    'data',
    'No verdicts: a file could not be read completely.',
    errors.map((one) => findingLine(files, one)),
  )
}

export function findingLine(files: readonly InputFile[], { code, file, line, message }: ReadFinding): string {
  return `  ${printable(files[file]?.path ?? '')}${line === null ? '' : `:${line}`} ${code} ${printable(message)}`
}

/** Progress line on standard error; nothing if it is not a terminal. */
class FileProgress {
  records = 0
  private readonly shown: boolean
  private readonly total_bytes: number | null
  private readonly started_ms = performance.now()
  private drawn_ms = performance.now()
  private bytes = 0

  constructor(files: readonly InputFile[]) {
    this.shown = process.stderr.isTTY
    const sizes = files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    this.total_bytes = sizes.includes(0) ? null : sizes.reduce((sum, one) => sum + one, 0)
  }

  addBytes(more: number): void {
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
