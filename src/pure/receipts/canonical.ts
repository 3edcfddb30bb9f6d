/**
 * Canonical JSON text, RFC 8785 (June 2020): members in code-unit order, numbers and strings as ECMAScript writes them, no spaces.
 *
 * Values that JSON parsing cannot yield have no canonical text and throw `CanonicalError`; nothing is dropped or turned to null in
 * silence. When every object already has its members in order, the engine's own JSON.stringify gives the canonical text; that costs
 * one look at the value and is several times faster than writing it by hand.
 */

/** Deepest nesting of arrays and objects that is written; far above what the service reads, far below any engine's stack. */
export const CANONICAL_DEPTH_MAX = 1_000

export class CanonicalError extends Error {
  override name = 'CanonicalError'
}

/** RFC 8785 text of a JSON value. Throws `CanonicalError` and nothing else. */
export function canonicalText(value: unknown): string {
  return survey(value, 0) ? JSON.stringify(value) : write(value)
}

/** Whether all members below stand in code-unit order already; throws for whatever is not JSON. */
function survey(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      assertWellFormed(value)
      return true
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalError('A number that is not finite has no canonical text.')
      return true
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (depth === CANONICAL_DEPTH_MAX) throw new CanonicalError(`The value is nested deeper than ${CANONICAL_DEPTH_MAX} levels.`)
      return Array.isArray(value) ? surveyItems(value, depth + 1) : surveyMembers(value, depth + 1)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new CanonicalError(`A value of type ${typeof value} has no canonical text.`)
  }
}

function surveyItems(items: readonly unknown[], depth: number): boolean {
  let sorted = true
  // By index and not by iterator: a hole reads as undefined, which the survey refuses.
  for (let index = 0; index < items.length; index++) {
    if (!survey(items[index], depth)) sorted = false
  }
  return sorted
}

function surveyMembers(value: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Date, Map, boxed values and classes with toJSON would be written as something else than they are.
  if (prototype !== Object.prototype && prototype !== null) throw new CanonicalError('Only plain objects have a canonical text.')
  const record = value as Record<string, unknown>
  let sorted = true
  let previous = ''
  for (const name of Object.keys(record)) {
    assertWellFormed(name)
    // Comparison of strings is by code units, as RFC 8785 §3.2.3 asks. Engines put integer-like names first in number order, so
    // 9 before 10 shows up here as out of order.
    if (name < previous) sorted = false
    previous = name
    if (!survey(record[name], depth)) sorted = false
  }
  return sorted
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new CanonicalError('A text with a lone surrogate has no canonical text.')
}

/** Writes what the survey has passed: plain, bounded in depth, every leaf fit for JSON. */
function write(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  const record = value as Record<string, unknown>
  let text = '{'
  for (const name of Object.keys(record).sort()) {
    text += `${text === '{' ? '' : ','}${quote(name)}:${write(record[name])}`
  }
  return `${text}}`
}

function quote(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}
