import { decodeLine, wideDecoder } from './encodings.ts'

/** Maximum length of a line; a longer one is cut, because no format has it. */
const LINE_CHARS = 65_536

/** Splits a file of a text format into lines; detects the encoding and takes any line end. */
export class LineSplitter {
  private readonly emit: (text: string, line: number) => void
  private rest = ''
  private line = 0
  private after_cr = false
  private wide: TextDecoder | null | undefined
  private readonly bytes = new TextDecoder('latin1')
  private is_text = false

  constructor(emit: (text: string, line: number) => void) {
    this.emit = emit
  }

  write(chunk: string | Uint8Array): void {
    if (typeof chunk === 'string') {
      this.is_text = true
      return this.take(chunk)
    }
    if (this.wide === undefined) this.wide = wideDecoder(chunk)
    if (this.wide !== null) {
      this.is_text = true
      return this.take(this.wide.decode(chunk, { stream: true }))
    }
    // Every other encoding writes line ends and tags as ASCII; each line is decoded by itself.
    this.take(latinText(chunk, this.bytes))
  }

  end(): void {
    if (this.rest !== '') this.put(this.rest)
    this.rest = ''
  }

  private take(text: string): void {
    let from = 0
    const all = this.rest + text
    let start = this.after_cr && all.startsWith('\n') ? 1 : 0
    this.after_cr = false
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = start
    for (let found = ends.exec(all); found !== null; found = ends.exec(all)) {
      this.put(all.slice(start, found.index))
      start = from = ends.lastIndex
      if (found[0] === '\r' && start === all.length) this.after_cr = true
    }
    this.rest = all.slice(Math.max(start, from))
    if (this.rest.length > LINE_CHARS) this.rest = this.rest.slice(0, LINE_CHARS)
  }

  private put(text: string): void {
    const line = ++this.line
    const decoded = this.is_text ? text : decodeLine(text)
    this.emit(line === 1 ? decoded.replace(/^\uFEFF/, '') : decoded, line)
  }
}

/** Bytes as characters of the same number. The label latin1 means windows-1252 to a TextDecoder, so bytes above 127 are mapped by hand. */
function latinText(bytes: Uint8Array, decoder: TextDecoder): string {
  let plain = true
  for (let index = 0; index < bytes.length && plain; index++) plain = (bytes[index] ?? 0) < 0x80
  if (plain) return decoder.decode(bytes)
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return text
}
