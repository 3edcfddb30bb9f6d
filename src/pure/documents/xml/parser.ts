import { type SaxesOptions, SaxesParser } from 'saxes'
import { FastLane, type ParserState } from './fast-lane.ts'

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

/** Where reading stops; it never leaves this folder. */
export class Stop extends Error {
  readonly code: XmlFaultCode
  constructor(code: XmlFaultCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Handlers are properties that saxes adds to itself; from the eighth on V8 turns the parser into a dictionary and reading takes six times
 * as long. So errors are met by overriding, and `doctype` has no handler: none can come once the prolog is clear.
 */
export class Parser extends SaxesParser<{ xmlns: false } & SaxesOptions> {
  override fail(message: string): this {
    return stop('XML_NOT_WELLFORMED', `The XML is not well-formed: ${clean(message)}`)
  }
}

/** What saxes does at text, and where it keeps the lane. */
interface TextState extends ParserState {
  handleTextInRoot(): void
  handleTextOutsideRoot(): void
}

const lanes = new WeakMap<object, FastLane>()

/** Lets a parser take the fast lane. It must have handlers for text, attributes and tags. */
export function widen(parser: Parser): void {
  lanes.set(parser, new FastLane())
}

/** The method that saxes enters for each text, which it takes from here once for its table of states. */
Object.defineProperty(Parser.prototype, 'sText', {
  value(this: TextState) {
    if (this.tags.length === 0) this.handleTextOutsideRoot()
    else if (lanes.get(this)?.run(this) !== true) this.handleTextInRoot()
  },
})

export function stop(code: XmlFaultCode, message: string): never {
  throw new Stop(code, message)
}

/** The parser's own words without what it quotes of the document. */
function clean(message: string): string {
  return message
    .replace(/:.*$/s, '.')
    .replace(/[^ -~]/g, '?')
    .slice(0, 80)
}
