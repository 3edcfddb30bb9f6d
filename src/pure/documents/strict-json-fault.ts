/** What strict reading of JSON refuses, and where. Messages never quote the text. */

/** How much one text may hold. Both bounds count what stands in the text. */
export interface StrictJsonBounds {
  /** Arrays and objects inside one another; a bare scalar has depth 0. At most 1,000. */
  depth: number
  /** Values: every scalar, array and object; keys do not count. */
  nodes: number
}

export interface StrictJsonOptions {
  /** `keep_text` hands on the literal of an unsafe number as text; `refuse` is the default. */
  unsafe_numbers?: 'refuse' | 'keep_text'
}

/** One reader of a text, with the bounds under which it reads. */
export interface StrictJsonReader extends StrictJsonBounds {
  readonly unsafe_numbers: 'refuse' | 'keep_text'
}

export type StrictJsonCode =
  | 'not_json'
  | 'too_deep'
  | 'too_many_nodes'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'forbidden_key'
  | 'unsafe_number'

export interface StrictJsonFault {
  ok: false
  code: StrictJsonCode
  /**
   * Offset in UTF-16 units of the first fault: the character that cannot stand there, the bracket that is too much, or the start of the
   * key, text or number that is refused.
   */
  position: number
  /** Both from 1; lines end at line feeds, columns count UTF-16 units. */
  line: number
  column: number
  message: string
}

export type StrictJson = { ok: true; value: unknown } | StrictJsonFault

export function fault(code: StrictJsonCode, text: string, position: number, bounds: StrictJsonBounds): StrictJsonFault {
  let line = 1
  let line_start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < position; end = text.indexOf('\n', line_start)) {
    line++
    line_start = end + 1
  }
  return { ok: false, code, position, line, column: position - line_start + 1, message: messageOf(code, bounds) }
}

function messageOf(code: StrictJsonCode, bounds: StrictJsonBounds): string {
  switch (code) {
    case 'not_json':
      return 'The text is not JSON from here on.'
    case 'too_deep':
      return `The JSON is nested deeper than ${bounds.depth} levels.`
    case 'too_many_nodes':
      return `The JSON holds more than ${bounds.nodes} values.`
    case 'duplicate_key':
      return 'An object names this key a second time.'
    case 'lone_surrogate':
      return 'This text holds half of a surrogate pair.'
    case 'forbidden_key':
      return 'The key __proto__ is refused.'
    case 'unsafe_number':
      return 'This number lies beyond 2^53 - 1, where readers round differently; send it as text.'
  }
}
