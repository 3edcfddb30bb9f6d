import { createReadStream } from 'node:fs'
import { readBounded } from '../pure/read-bounded.ts'
import type { ReadBounds } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { readJsonBody } from '../surfaces/http/body.ts'
import { CliError } from './errors.ts'
import { printable } from './terminal.ts'
import { isAscii, isUtf8 } from 'node:buffer'
import { linkIn, resultIn } from '../pure/receipts/chain.ts'
import { looksCompact } from '../pure/receipts/compact.ts'
import { readDocuments } from '../surfaces/pages/client/verify/documents.ts'

/** Bytes of a file, or of standard input for `-`. Throws a CliError if it cannot be read. */
export async function* readChunks(name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* name === '-' ? process.stdin : createReadStream(name)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new CliError('no_input', `${name === '-' ? 'Standard input' : printable(name)} cannot be read (${code}).`)
  }
}

/** Limits of a document that belongs to no tool. A number beyond 2^53 keeps its digits as text. */
const DOCUMENT: ReadBounds = {
  body_bytes: limits.document_body_bytes,
  depth: limits.json_depth,
  nodes: limits.document_body_bytes,
  unsafe_numbers: 'keep_text',
}

/** Reads a JSON value from a file, or from standard input for `-`. Throws a CliError with the place of a fault. */
export async function readJsonFile(name: string): Promise<unknown> {
  const bytes = await readBounded(readChunks(name), DOCUMENT.body_bytes)
  if (bytes === null) throw new CliError('data', `${printable(name)} is larger than ${DOCUMENT.body_bytes} bytes.`)
  return parseDocument(name, bytes)
}

const TEXT_BYTES = 262_144

/** Reads a small text file, or standard input. */
export async function readTextFile(name: string): Promise<string> {
  const bytes = await readBounded(readChunks(name), TEXT_BYTES)
  if (bytes === null) throw new CliError('data', `${printable(name)} is larger than ${TEXT_BYTES} bytes.`)
  return Buffer.from(bytes).toString('utf8')
}

function parseDocument(name: string, bytes: Uint8Array): unknown {
  const read = readJsonBody(bytes, DOCUMENT)
  if (!read.ok) throw new CliError('data', `${name === '-' ? 'Standard input' : printable(name)}: ${read.problem.detail}`)
  return read.value
}

/** Line without its terminator, or the reason why it cannot be read. */
export type InputLine = string | LineFault

export class LineFault {
  readonly code: 'not_utf8' | 'too_long'
  constructor(code: 'not_utf8' | 'too_long') {
    this.code = code
  }
}

const NOT_UTF8 = new LineFault('not_utf8')
const TOO_LONG = new LineFault('too_long')

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = 0xfeff
/** A UTF-16 unit has at most three bytes in UTF-8, so a line with more bytes than this per character is too long. */
const BYTES_PER_CHAR = 3

/**
 * Splits a byte stream into lines. Lines end with LF or CR LF, except the last. A byte order mark before a line is dropped, because
 * concatenated files keep theirs. Buffers at most one line of the maximum length. Chunks are decoded as a whole where possible: decoding
 * each line would cost more than parsing its JSON.
 */
export class LineSplitter {
  readonly #line_chars: number
  #pieces: Uint8Array[] = []
  #bytes = 0
  #too_long = false

  constructor(line_chars: number = limits.jsonl_line_chars) {
    this.#line_chars = line_chars
  }

  /** Returns the lines that end in this chunk. */
  push(chunk: Uint8Array): InputLine[] {
    const last = chunk.lastIndexOf(LINE_FEED)
    if (last === -1) {
      this.#keep(chunk)
      return []
    }
    const lines: InputLine[] = []
    let start = 0
    if (this.#bytes > 0) {
      start = chunk.indexOf(LINE_FEED) + 1
      this.#keep(chunk.subarray(0, start - 1))
      lines.push(this.#finish())
    }
    if (start <= last) for (const line of linesOf(chunk.subarray(start, last), this.#line_chars)) lines.push(line)
    this.#keep(chunk.subarray(last + 1))
    return lines
  }

  /** Returns the last line if it has no terminator. */
  end(): InputLine[] {
    return this.#bytes > 0 ? [this.#finish()] : []
  }

  #keep(piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes > BYTES_PER_CHAR * this.#line_chars) {
      this.#too_long = true
      this.#pieces = []
    }
    if (!this.#too_long && piece.length > 0) this.#pieces.push(piece)
  }

  #finish(): InputLine {
    const line = this.#too_long ? TOO_LONG : lineOf(decode(Buffer.concat(this.#pieces)), this.#line_chars)
    this.#pieces = []
    this.#bytes = 0
    this.#too_long = false
    return line
  }
}

/** Decodes complete lines. */
function linesOf(block: Uint8Array, line_chars: number): InputLine[] {
  const text = decode(block)
  if (text !== null) return text.split('\n').map((line) => lineOf(line, line_chars))
  // A line is invalid; only then is each line decoded separately.
  const lines: InputLine[] = []
  for (let start = 0; start <= block.length;) {
    const found = block.indexOf(LINE_FEED, start)
    const end = found === -1 ? block.length : found
    lines.push(lineOf(decode(block.subarray(start, end)), line_chars))
    start = end + 1
  }
  return lines
}

function lineOf(text: string | null, line_chars: number): InputLine {
  if (text === null) return NOT_UTF8
  const start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
  const line = start === 0 && !text.endsWith('\r') ? text : text.slice(start, text.endsWith('\r') ? -1 : undefined)
  return line.length > line_chars ? TOO_LONG : line
}

function decode(bytes: Uint8Array): string | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(view)) return view.toString('latin1')
  return isUtf8(view) ? view.toString('utf8') : null
}

/** Receipt with the other members of its answer. */
export interface ReceiptFile {
  receipt: unknown
  /** Result of the answer; undefined if absent. */
  result: unknown
  /** Signed link to an earlier receipt; undefined if absent. */
  chain: unknown
}

/**
 * Receipts of a file: a bare one, one under `receipt` or in an answer, an array of these, or one per line; a line may also be a compact receipt
 * or the link of a badge, and so may the argument itself. Lines are streamed, so such a file may have any length.
 */
export async function* readReceipts(name: string): AsyncGenerator<ReceiptFile> {
  if (isReceiptLink(name)) {
    yield* linkedReceipts('The link', name)
    return
  }
  for await (const document of readJsonDocuments(name)) yield receiptOf(document)
}

/** JSON documents of a file: one, the elements of an array, or one per line; a compact receipt is an object with `receipt`. Lines are streamed. */
export async function* readJsonDocuments(name: string): AsyncGenerator {
  const chunks = readChunks(name)[Symbol.asyncIterator]()
  const head = await firstLine(chunks)
  if (isWholeJson(head.line) || isReceiptLink(head.line)) yield* readLines(name, head.bytes, chunks)
  else yield* elements(await readWhole(name, head.bytes, chunks))
}

/** Reads a file that contains exactly one receipt. */
export async function readReceipt(name: string): Promise<ReceiptFile> {
  const found: ReceiptFile[] = []
  for await (const one of readReceipts(name)) found.push(one)
  const [first] = found
  if (first === undefined || found.length > 1) throw new CliError('data', `${printable(name)} must hold exactly one receipt.`)
  return first
}

type Chunks = AsyncIterator<Uint8Array>

/** Reads the first line and returns it with all bytes read so far. */
async function firstLine(chunks: Chunks): Promise<{ line: string; bytes: Uint8Array }> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    pieces.push(next.value)
    bytes += next.value.length
    if (next.value.includes(0x0a) || bytes > limits.document_body_bytes) break
  }
  const read = Buffer.concat(pieces)
  const end = read.indexOf(0x0a)
  return { line: read.toString('utf8', 0, end === -1 ? read.length : end), bytes: read }
}

/** True if the first line is a complete JSON value, so that further lines contain further values. */
function isWholeJson(line: string): boolean {
  try {
    JSON.parse(line.replace(/^\uFEFF/, ''))
    return true
  } catch {
    return false
  }
}

async function* chained(first: Uint8Array, rest: Chunks): AsyncGenerator<Uint8Array> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

async function readWhole(name: string, head: Uint8Array, rest: Chunks): Promise<unknown> {
  const bytes = await readBounded(chained(head, rest), limits.document_body_bytes)
  if (bytes !== null) return parseDocument(name, bytes)
  throw new CliError(
    'data',
    `${printable(name)} is larger than ${limits.document_body_bytes} bytes; write one receipt a line, and it may have any length.`,
  )
}

async function* readLines(name: string, head: Uint8Array, rest: Chunks): AsyncGenerator {
  const splitter = new LineSplitter()
  let number = 0
  for await (const chunk of chained(head, rest)) for (const line of splitter.push(chunk)) yield* documentsOfLine(name, line, ++number)
  for (const line of splitter.end()) yield* documentsOfLine(name, line, ++number)
}

function documentsOfLine(name: string, line: InputLine, number: number): unknown[] {
  const place = `${name === '-' ? 'Standard input' : name}, line ${number}`
  if (typeof line !== 'string')
    throw new CliError('data', `${printable(place)}: the line ${line.code === 'not_utf8' ? 'is not UTF-8' : 'is too long'}.`)
  if (line.trim() === '') return []
  return isReceiptLink(line) ? linkedReceipts(place, line) : elements(parseDocument(place, Buffer.from(line)))
}

/** True for a compact receipt, and for the Markdown or address of a badge; JSON may contain such an address, but begins otherwise. */
function isReceiptLink(text: string): boolean {
  const trimmed = text.replace(/^\uFEFF/, '').trim()
  if (trimmed.length >= COMPACT_CHARS_MIN && looksCompact(trimmed)) return true
  return !/^(?:\{|\[\s*[{\]])/.test(trimmed) && /#r=[\w-]/.test(trimmed)
}

/** Shorter texts are names of files. */
const COMPACT_CHARS_MIN = 200

function linkedReceipts(place: string, text: string): ReceiptFile[] {
  return readDocuments(text, '').map((document) => {
    if (document.kind === 'receipt') return { result: undefined, chain: undefined, ...document.input }
    throw new CliError('data', `${printable(place)}: ${document.kind === 'unreadable' ? document.reason : 'a link holds receipts only.'}`)
  })
}

function elements(document: unknown): unknown[] {
  return Array.isArray(document) ? document : [document]
}

function receiptOf(document: unknown): ReceiptFile {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, 'receipt'))
    return { receipt: document, result: undefined, chain: undefined }
  const answer = document as Record<string, unknown>
  return { receipt: answer['receipt'], result: resultIn(answer), chain: linkIn(answer) }
}
