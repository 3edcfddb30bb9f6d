import { type SaxesOptions, SaxesParser } from 'saxes'
import { FastLane, type ParserState } from './fast-lane.ts'
import type { XmlFaultCode } from './fault.ts'

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
