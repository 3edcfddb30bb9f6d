import { XML_BOUNDS, type XmlFaultCode } from './fault.ts'

/** What stands before the root element, looked at before any parser sees it. */
export type Prolog =
  | { kind: 'clear' }
  /** Nothing is wrong so far, but the root element has not begun. */
  | { kind: 'open' }
  | { kind: 'refused'; code: XmlFaultCode; offset: number; message: string }

const DECLARATION = /^<\?xml[ \t\r\n]/
const ENCODING = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)["']/
const SPACE = /[ \t\r\n]*/y

/**
 * Looks for what must never reach a parser: a document type declaration, which parsers may read whole before they report it, and any
 * encoding but UTF-8, in which such a look would see nothing. What is merely broken is left to the parser.
 */
export function lookAtProlog(text: string): Prolog {
  if (isWide(text)) return refused('XML_ENCODING', 0, 'The bytes look like UTF-16 or UTF-32; send UTF-8.')
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
    if (text.length - at < '<!DOCTYPE'.length && '<'.startsWith(text.charAt(at))) return open(text, at)
    const item = itemAt(text, at)
    if (item.kind !== 'item') return item
    at = item.end
  }
}

/** A zero among the first characters, or the two halves of a byte order mark swapped. */
function isWide(text: string): boolean {
  return text.slice(0, 4).includes('\0') || text.charCodeAt(0) === 0xfffe
}

type Item = Prolog | { kind: 'item'; end: number }

/** One instruction or comment that is passed over, or how the look ends. */
function itemAt(text: string, at: number): Item {
  if (text.startsWith('<?', at)) {
    const end = text.indexOf('?>', at + 2)
    if (end === -1) return open(text, at)
    const encoding = at === 0 && DECLARATION.test(text) ? ENCODING.exec(text.slice(0, end))?.[1] : undefined
    if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
      return refused('XML_ENCODING', 0, 'The declaration names another encoding than UTF-8.')
    }
    return { kind: 'item', end: end + 2 }
  }
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    return end === -1 ? open(text, at) : { kind: 'item', end: end + 3 }
  }
  if (/^<!doctype$/i.test(text.slice(at, at + '<!DOCTYPE'.length))) {
    return refused('XML_DOCTYPE', at, 'A document type declaration is refused: it can hide entities and outside files.')
  }
  return { kind: 'clear' }
}

function open(text: string, at: number): Prolog {
  if (text.length <= XML_BOUNDS.prolog_chars) return { kind: 'open' }
  return refused('XML_LIMIT', at, `More than ${XML_BOUNDS.prolog_chars} characters stand before the root element.`)
}

function refused(code: XmlFaultCode, offset: number, message: string): Prolog {
  return { kind: 'refused', code, offset, message }
}
