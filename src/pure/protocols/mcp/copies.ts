import { readStrictJson } from '../../documents/strict-json.ts'
import { canonicalText, holdsRedaction } from '../kit/expect.ts'
import type { Call } from './view.ts'

/** What the text content of an answer repeats of its structured content. `unknown` where something is redacted or there is nothing to repeat. */
type Copy = 'same' | 'none' | 'other' | 'unknown'

/** Servers repeat structured content as JSON in a text, for clients that read texts only. */
export function copyOf({ place, structured, texts }: Call): Copy {
  if (!structured.present || place.get('content').kind !== 'array') return 'unknown'
  if (holdsRedaction(structured) || holdsRedaction(place.get('content'))) return 'unknown'
  const wanted = canonicalText(structured.value)
  let other = false
  for (const text of texts) {
    const value = readCopy(text.text() ?? '')
    if (value === undefined) continue
    if (canonicalText(value) === wanted) return 'same'
    if (typeof value === 'object' && value !== null) other = true
  }
  return other ? 'other' : 'none'
}

/** As deep and large as a document may be, so that comparing needs no bound of its own. */
const BOUNDS = { depth: 64, nodes: 20_000 }

function readCopy(text: string): unknown {
  const head = text.trimStart().charAt(0)
  // Whatever begins otherwise is no JSON, and most texts do.
  if (!'{["-0123456789tfn'.includes(head) || head === '') return undefined
  const read = readStrictJson(text.trim(), BOUNDS)
  return read.ok ? read.value : undefined
}
