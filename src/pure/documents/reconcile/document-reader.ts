import { AchReader } from './ach-reader.ts'
import type { DocumentKind } from './document-kinds.ts'
import { InstructionReader } from './instruction-reader.ts'
import type { BankEntry, PaymentInstruction, ReadFindings } from './records.ts'
import type { StatementBook } from './statement-book.ts'
import { StatementReader } from './statement-reader.ts'
import { Bai2Reader } from './statements/bai2.ts'
import { CsvReader, type CsvColumns } from './statements/csv.ts'
import { declaredEncoding, namedDecoder, wideDecoder, withoutEncoding } from './statements/encodings.ts'
import { OfxReader } from './statements/ofx.ts'
import type { PlainTarget } from './statements/plain-entries.ts'
import { SwiftPaymentReader } from './statements/swift-payments.ts'
import { SwiftStatementReader } from './statements/swift-statement.ts'
import { StatusReader } from './status-reader.ts'

/** Receives records as they are read. */
export interface RecordSink {
  /** Entries of statements keep their remittance information. */
  readonly keep_remittance?: boolean
  /** Columns of CSV files whose headers are not known. */
  readonly csv_columns?: CsvColumns
  /** Called before any file is read: status messages name whole blocks, so their ids must be kept. */
  keepBlocks?(keep: boolean): void
  instruction(instruction: PaymentInstruction): void
  entry(entry: BankEntry): void
}

/** Incremental reader of one file. */
export interface DocumentReader {
  /** Returns false if the rest of the file cannot be read. */
  write(chunk: string | Uint8Array): boolean
  end(): boolean
}

export function documentReader(
  kind: DocumentKind,
  file: number,
  findings: ReadFindings,
  book: StatementBook,
  sink: RecordSink,
): DocumentReader {
  const keep_remittance = sink.keep_remittance === true
  const take = (entry: BankEntry) => sink.entry(entry)
  const order = (instruction: PaymentInstruction) => sink.instruction(instruction)
  const target: PlainTarget = { file, findings, book, take, keep_remittance }
  switch (kind) {
    case 'pain.001':
    case 'pain.008':
    case 'pacs.008':
    case 'pacs.003':
      return new DecodedXml(new InstructionReader(kind, file, findings, order), file, findings)
    case 'camt.052':
    case 'camt.053':
    case 'camt.054':
      return new DecodedXml(new StatementReader(file, findings, book, take, { message: kind, remittance: keep_remittance }), file, findings)
    case 'pain.002':
    case 'pacs.002':
    case 'pain.007':
    case 'pacs.004':
      return new DecodedXml(new StatusReader(kind, file, findings, book), file, findings)
    case 'nacha':
      return new AchReader(file, findings, book, take)
    case 'ach':
      return new AchReader(file, findings, book, take, order)
    case 'mt101':
    case 'mt103':
      return new SwiftPaymentReader(kind, file, findings, order)
    case 'mt940':
      return new SwiftStatementReader(false, target)
    case 'mt942':
      return new SwiftStatementReader(true, target)
    case 'bai2':
      return new Bai2Reader(target)
    case 'ofx':
      return new OfxReader(target)
    case 'csv':
      return new CsvReader(target, sink.csv_columns ?? null)
  }
}

/** Characters in which the XML declaration ends. */
const HEAD_CHARS = 1_024

/** Decodes an XML file whose byte order mark or declaration names an encoding that the XML reader does not take, which is all but UTF-8. */
class DecodedXml implements DocumentReader {
  private readonly reader: DocumentReader
  private readonly file: number
  private readonly findings: ReadFindings
  private held: (string | Uint8Array)[] | null = []
  private decode: ((bytes: Uint8Array, stream: boolean) => string) | null = null
  private readonly view = new TextDecoder('latin1')

  constructor(reader: DocumentReader, file: number, findings: ReadFindings) {
    this.reader = reader
    this.file = file
    this.findings = findings
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.held === null) return this.pass(chunk)
    // Chunks share one buffer, so a held one is copied.
    this.held.push(typeof chunk === 'string' ? chunk : chunk.slice())
    const head = this.headText()
    return this.mayGoOn(head) ? true : this.release(head)
  }

  end(): boolean {
    if (this.held !== null && this.held.length > 0 && !this.release(this.headText())) return false
    return this.reader.end()
  }

  private headText(): string {
    const parts = (this.held ?? []).map((part) =>
      typeof part === 'string' ? part.slice(0, HEAD_CHARS) : this.view.decode(part.subarray(0, HEAD_CHARS)),
    )
    return parts.join('').slice(0, HEAD_CHARS)
  }

  /** The declaration is not complete yet. */
  private mayGoOn(head: string): boolean {
    if (head.length >= HEAD_CHARS || head.includes('?>')) return false
    const start = head.trimStart()
    return '<?xml'.startsWith(start.slice(0, 5)) || head.length < 4
  }

  private release(head: string): boolean {
    const parts = this.held ?? []
    this.held = null
    const [first] = parts
    const encoding = declaredEncoding(head)
    const is_utf8 = encoding === null || /^utf-?8$/i.test(encoding)
    if (typeof first === 'string') {
      if (is_utf8) return parts.every((part) => this.pass(part))
      this.findings.add('ENCODING_IGNORED', this.file, 1)
      return this.reader.write(withoutEncoding(parts.join('')))
    }
    const wide = first === undefined ? null : wideDecoder(first)
    const named = is_utf8 || encoding === null ? null : namedDecoder(encoding)
    if (wide !== null) this.decode = (bytes, stream) => wide.decode(bytes, { stream })
    else if (named !== null) this.decode = (bytes, stream) => named.decode(bytes, stream)
    if (this.decode === null) return parts.every((part) => this.pass(part))
    const { decode } = this
    const text = parts.map((part) => (typeof part === 'string' ? part : decode(part, true))).join('')
    return this.reader.write(withoutEncoding(text))
  }

  private pass(chunk: string | Uint8Array): boolean {
    return this.reader.write(this.decode === null || typeof chunk === 'string' ? chunk : this.decode(chunk, true))
  }
}
