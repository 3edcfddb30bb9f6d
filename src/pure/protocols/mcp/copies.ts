import { canonicalText, holdsRedaction } from '../kit/expect.ts'
import type { Call } from './view.ts'

/** What the text content of an answer repeats of its structured content. `unknown` where something is redacted or there is nothing to repeat. */
type Copy = 'same' | 'none' | 'other' | 'unknown'

/** Servers repeat structured content as JSON in a text, for clients that read texts only. */
export function copyOf({ place, structured, values }: Call): Copy {
  if (!structured.present || place.get('content').kind !== 'array') return 'unknown'
  if (holdsRedaction(structured) || holdsRedaction(place.get('content'))) return 'unknown'
  const wanted = canonicalText(structured.value)
  let other = false
  for (const { value } of values) {
    if (value === undefined) continue
    if (canonicalText(value) === wanted) return 'same'
    if (typeof value === 'object' && value !== null) other = true
  }
  return other ? 'other' : 'none'
}
