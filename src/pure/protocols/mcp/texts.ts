import { NO_LITERALS, type Place } from '../place.ts'
import { readDocument } from '../read-document.ts'

/** As deep and large as a document may be, so that neither comparing nor checking needs a bound of its own. */
const BOUNDS = { depth: 64, nodes: 20_000 }

/** The JSON that a text holds, with the literals of its numbers; absent where it is none. */
export function jsonIn(text: Place): Place {
  const json = text.text()?.trim() ?? ''
  // Whatever begins otherwise is no JSON, and most texts do.
  const read = json !== '' && '{["-0123456789tfn'.includes(json.charAt(0)) ? readDocument(json, BOUNDS) : null
  return read?.ok === true ? text.inside(read.value, read.literals) : text.inside(undefined, NO_LITERALS)
}
