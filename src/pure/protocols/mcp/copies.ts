import { canonicalText, holdsRedaction } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Call } from './view.ts'

/** What the text content of an answer repeats of its structured content. `unknown` where something is redacted or there is nothing to repeat. */
type Copy = 'same' | 'none' | 'other' | 'unknown'

/** Servers repeat structured content as JSON in a text, for clients that read texts only. */
export function copyOf(call: Call): Copy {
  const { place, structured, values } = call
  if (!structured.present || place.get('content').kind !== 'array') return 'unknown'
  if (holdsRedaction(structured) || holdsRedaction(place.get('content'))) return 'unknown'
  const wanted = canonicalText(structured.value)
  let other = false
  for (const { value } of values) {
    if (value === undefined) continue
    if (canonicalText(value) === wanted) return 'same'
    if (typeof value === 'object' && value !== null) other = true
  }
  if (isUnwrapped(call)) return 'same'
  return other ? 'other' : 'none'
}

/**
 * Libraries put what is no object into one, as `result`, and repeat it in texts without that: as one text, or a list as one text an item
 * (the official SDK for Python).
 */
function isUnwrapped({ structured, texts, values }: Call): boolean {
  const [inner, ...others] = structured.members()
  if (inner?.key !== 'result' || others.length > 0) return false
  // Of nothing there is nothing to repeat.
  if (inner.kind === 'null' && texts.length === 0) return true
  const says = (index: number, value: unknown) => {
    const [text, read] = [texts[index]?.text(), values[index]?.value]
    return text === value || (read !== undefined && canonicalText(read) === canonicalText(value))
  }
  if (texts.some((_text, index) => says(index, inner.value))) return true
  const items = flatItems(inner)
  return inner.kind === 'array' && items.length === texts.length && items.every((item, index) => says(index, item))
}

/** The items of a list, and of lists in it. */
function flatItems(list: Place): unknown[] {
  return list.items().flatMap((item) => (item.kind === 'array' ? flatItems(item) : [item.value]))
}
