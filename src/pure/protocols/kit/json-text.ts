import type { JsonCursor } from '../json-cursor.ts'
import { readProtocolDocument } from '../read-document.ts'

/** The bounds of whole documents, so that comparing and checking need no further bound. */
const BOUNDS = { depth: 64, nodes: 20_000 }

/** The JSON that a text contains, with the literals of its numbers; absent if it contains none. */
export function parseJsonText(text: JsonCursor): JsonCursor {
  const json = text.text()?.trim() ?? ''
  // Most texts start with another character and cannot be JSON.
  const read = json !== '' && '{["-0123456789tfn'.includes(json.charAt(0)) ? readProtocolDocument(json, BOUNDS) : null
  return read?.ok === true ? text.inside(read.value, read.literals) : text.inside(undefined)
}
