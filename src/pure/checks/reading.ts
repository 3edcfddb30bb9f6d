import { NEEDS_NORMALIZING, readPlain } from './characters.ts'
import { MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'

/** How a boolean check reads an identifier and judges it. */
export interface Reading {
  options: NormalizeOptions
  /** As long as the longest value; written anew by each check, which is synchronous. */
  values: Uint8Array
  /** Values of the first character from here on need normalizing: 10 for identifiers of digits, where a letter in front may be a prefix. */
  first_below: 10 | 36
  /** Whether these values of letters and digits pass, of which there are `length`. */
  holds(read: Uint8Array, length: number): boolean
}

/** The frame of the boolean checks: what is written plainly is judged without making strings, all else is normalized first. */
export function passes(text: string, { options, values, first_below, holds }: Reading): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readPlain(text, values)
  // Something that sets words off may stand behind a label.
  const labelled = options.label !== undefined && length !== text.length
  if (length !== NEEDS_NORMALIZING && !labelled && (values[0] ?? 0) < first_below) return holds(values, length)
  const { value, finding: unreadable } = normalize(text, options)
  return unreadable === null && holds(values, readPlain(value, values))
}
