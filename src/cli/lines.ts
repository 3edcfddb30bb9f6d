import { isAscii, isUtf8 } from 'node:buffer'
import { limits } from '../service/limits.ts'

/** A line of a stream, without its end, or why it cannot be read. */
export type Line = string | LineFault

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
/** A UTF-16 unit takes at most three bytes of UTF-8: beyond so many times its characters a line is too long, whatever it holds. */
const BYTES_PER_CHAR = 3

/**
 * Cuts a stream of bytes into lines. A line ends at LF or CR LF; the last may lack its end; a byte order mark before a line is dropped,
 * since files that are put together keep theirs. Never holds more than one line of the longest length, however long a line of the stream
 * is. Chunks are decoded as a whole where possible, since a decoding for each line would cost more than reading its JSON.
 */
export class LineSplitter {
  readonly #line_chars: number
  #pieces: Uint8Array[] = []
  #bytes = 0
  #too_long = false

  constructor(line_chars: number = limits.jsonl_line_chars) {
    this.#line_chars = line_chars
  }

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): Line[] {
    const last = chunk.lastIndexOf(LINE_FEED)
    if (last === -1) {
      this.#keep(chunk)
      return []
    }
    const lines: Line[] = []
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

  /** The last line, where the stream did not end it. */
  end(): Line[] {
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

  #finish(): Line {
    const line = this.#too_long ? TOO_LONG : lineOf(decode(Buffer.concat(this.#pieces)), this.#line_chars)
    this.#pieces = []
    this.#bytes = 0
    this.#too_long = false
    return line
  }
}

/** The lines of a block that begins with a line and ends before the end of one. */
function linesOf(block: Uint8Array, line_chars: number): Line[] {
  const text = decode(block)
  if (text !== null) return text.split('\n').map((line) => lineOf(line, line_chars))
  // Some line is at fault; only then are they decoded one by one.
  const lines: Line[] = []
  for (let start = 0; start <= block.length;) {
    const found = block.indexOf(LINE_FEED, start)
    const end = found === -1 ? block.length : found
    lines.push(lineOf(decode(block.subarray(start, end)), line_chars))
    start = end + 1
  }
  return lines
}

function lineOf(text: string | null, line_chars: number): Line {
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
