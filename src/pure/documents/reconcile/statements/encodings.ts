/**
 * Encodings of bank files. A byte order mark or zero bytes mean UTF-16; an XML declaration names its encoding; a line of a text format is
 * UTF-8 if it is valid as such, otherwise the single-byte encoding that decodes its letters next to letters.
 */

/** Decoder of UTF-16, or null for encodings with ASCII bytes. */
export function wideDecoder(head: Uint8Array): TextDecoder | null {
  const [first = 0, second = 0] = head
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be')
  if (head.length < 2 || (first !== 0) === (second !== 0)) return null
  return new TextDecoder(second === 0 ? 'utf-16le' : 'utf-16be')
}

/** Characters 128 to 255 of code page 850 (IBM, as published by the Unicode Consortium in CP850.TXT), which TextDecoder does not know. */
const CODE_PAGE_850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤' +
  'ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00AD±‗¾¶§÷¸°¨·¹³²■\u00A0'

function decode850(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : CODE_PAGE_850.charAt(byte - 0x80))).join('')
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })
const SINGLE_BYTE: readonly ((bytes: Uint8Array) => string)[] = [
  ...['windows-1252', 'windows-1250'].map((label) => {
    const decoder = new TextDecoder(label)
    return (bytes: Uint8Array) => decoder.decode(bytes)
  }),
  decode850,
]

/** Decodes a line given as bytes in characters 0 to 255. */
function decodeLine(line: string): string {
  if (!/\P{ASCII}/u.test(line)) return line
  const bytes = Uint8Array.from(line, (character) => character.charCodeAt(0))
  try {
    return UTF_8.decode(bytes)
  } catch {
    const [first = line, ...others] = SINGLE_BYTE.map((decode) => decode(bytes))
    return others.reduce((best, next) => (oddCharacters(next) < oddCharacters(best) ? next : best), first)
  }
}

/** Counts non-ASCII characters other than letters next to a letter, and control characters. */
function oddCharacters(text: string): number {
  const inside = text.match(/(?<=\p{L})(?!\p{L})\P{ASCII}|(?!\p{L})\P{ASCII}(?=\p{L})/gu)?.length ?? 0
  return inside + 2 * (text.match(/[\x80-\x9F\uFFFD]/g)?.length ?? 0)
}

const DECLARATION = /^\s*<\?xml[ \t\r\n][^>]{0,200}?encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._-]{1,40})["']/

/** Encoding that an XML declaration names; null without one. */
export function declaredEncoding(head: string): string | null {
  return DECLARATION.exec(head)?.[1] ?? null
}

/** The text with blanks in place of the encoding, so that the line and column of everything else stay. */
export function withoutEncoding(text: string): string {
  return text.replace(
    /^(\s*<\?xml[ \t\r\n][^>]{0,200}?)(encoding[ \t\r\n]*=[ \t\r\n]*["'][A-Za-z0-9._-]{1,40}["'])/,
    (_, before: string, named: string) => before + ' '.repeat(named.length),
  )
}

/** Decoder of a named encoding; null for UTF-8, which needs none, and for names that are not known. */
export function namedDecoder(name: string): { decode(bytes: Uint8Array, stream: boolean): string } | null {
  const label = name.toLowerCase()
  if (/^utf-?8$/.test(label)) return null
  if (/^(?:ibm|cp)?-?0*850$/.test(label)) return { decode: decode850 }
  try {
    const decoder = new TextDecoder(/^(?:us-)?ascii$/.test(label) ? 'utf-8' : label)
    return { decode: (bytes, stream) => decoder.decode(bytes, { stream }) }
  } catch {
    return null
  }
}

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
