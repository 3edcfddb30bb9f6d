import { linkIn, resultIn } from '../pure/receipts/chain.ts'
import { limits } from '../service/limits.ts'
import { CliError } from './exit-codes.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { chunksOf, parseDocument } from './input.ts'
import { LineSplitter, type Line } from './lines.ts'
import { printable } from './terminal.ts'

/** A receipt with what travelled beside it. */
export interface ReceiptFile {
  receipt: unknown
  /** The result that the receipt should cover; undefined when it is not there. */
  result: unknown
  /** The signed link to an earlier receipt; undefined when there is none. */
  chain: unknown
}

/**
 * The receipts of a file: one bare, one under `receipt` alone or within a whole answer, an array of these, or one a line. Lines are read as
 * they come, so a file of them may be of any length.
 */
export async function* readReceipts(name: string): AsyncGenerator<ReceiptFile> {
  const chunks = chunksOf(name)[Symbol.asyncIterator]()
  const head = await firstLine(chunks)
  if (isWholeJson(head.line)) yield* readLines(name, head.bytes, chunks)
  else yield* receiptsIn(await readWhole(name, head.bytes, chunks))
}

/** The only receipt of a file. */
export async function readReceipt(name: string): Promise<ReceiptFile> {
  const found: ReceiptFile[] = []
  for await (const one of readReceipts(name)) found.push(one)
  const [first] = found
  if (first === undefined || found.length > 1) throw new CliError('data', `${printable(name)} must hold exactly one receipt.`)
  return first
}

type Chunks = AsyncIterator<Uint8Array>

/** Reads until a line has ended, and hands back all that was read. */
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

/** Whether a document ends with its first line: then the next lines hold further ones. */
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

async function* readLines(name: string, head: Uint8Array, rest: Chunks): AsyncGenerator<ReceiptFile> {
  const splitter = new LineSplitter()
  let number = 0
  for await (const chunk of chained(head, rest)) for (const line of splitter.push(chunk)) yield* receiptsOfLine(name, line, ++number)
  for (const line of splitter.end()) yield* receiptsOfLine(name, line, ++number)
}

function receiptsOfLine(name: string, line: Line, number: number): ReceiptFile[] {
  const place = `${name === '-' ? 'Standard input' : name}, line ${number}`
  if (typeof line !== 'string')
    throw new CliError('data', `${printable(place)}: the line ${line.code === 'not_utf8' ? 'is not UTF-8' : 'is too long'}.`)
  return line.trim() === '' ? [] : receiptsIn(parseDocument(place, Buffer.from(line)))
}

function receiptsIn(document: unknown): ReceiptFile[] {
  return (Array.isArray(document) ? document : [document]).map(receiptOf)
}

function receiptOf(document: unknown): ReceiptFile {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, 'receipt'))
    return { receipt: document, result: undefined, chain: undefined }
  const answer = document as Record<string, unknown>
  return { receipt: answer['receipt'], result: resultIn(answer), chain: linkIn(answer) }
}
