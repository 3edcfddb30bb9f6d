/** What reading of XML refuses, and where. Messages never quote the text. */

/** The bounds of every document; no payment message comes near them. */
export const XML_BOUNDS = {
  /** Elements inside one another. */
  depth: 64,
  /** Attributes of one element, declarations of namespaces among them. */
  attributes: 16,
  /** Text of one element, or one attribute value, in UTF-16 units. */
  text_chars: 65_536,
  /** What stands before the root element. */
  prolog_chars: 65_536,
} as const

export type XmlFaultCode = 'XML_DOCTYPE' | 'XML_ENCODING' | 'XML_NOT_WELLFORMED' | 'XML_LIMIT'

export interface XmlFault {
  code: XmlFaultCode
  /** Both from 1; lines end at line feeds, columns count characters. Where reading stopped, at or just behind the fault. */
  line: number
  column: number
  message: string
}

/** The place of an offset in a text that starts at line 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
    start = at + 1
  }
  return { line, column: offset - start + 1 }
}
