/**
 * Canonical JSON text, RFC 8785 (June 2020): members in code-unit order, numbers and strings as ECMAScript writes them, no spaces.
 *
 * Values that JSON parsing cannot yield have no canonical text and throw `CanonicalError`; nothing is dropped or turned to null in
 * silence. When every object already has its members in order, the engine's own JSON.stringify gives the canonical text; that costs
 * one look at the value and is several times faster than writing it by hand. When not, it gives that of an ordered copy, which is
 * faster still, unless a name is one that an engine puts where it likes.
 */

/** Deepest nesting of arrays and objects that is written; far above what the service reads, far below any engine's stack. */
export const CANONICAL_DEPTH_MAX = 1_000

export class CanonicalError extends Error {
  override name = 'CanonicalError'
}

/** RFC 8785 text of a JSON value. Throws `CanonicalError` and nothing else. */
export function canonicalText(value: unknown): string {
  const found = survey(value, 0)
  if ((found & UNORDERED) === 0) return JSON.stringify(value)
  return (found & UNCOPYABLE) === 0 ? JSON.stringify(ordered(value)) : write(value)
}

/** What a survey finds, as bits. */
const NOTHING = 0
/** Some members do not stand in code-unit order. */
const UNORDERED = 1
/** A copy would not keep its members where they are put, or not as members. */
const UNCOPYABLE = 2

/** What stands in the way of the engine's own text; throws for whatever is not JSON. */
function survey(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      assertWellFormed(value)
      return NOTHING
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalError('A number that is not finite has no canonical text.')
      return NOTHING
    case 'boolean':
      return NOTHING
    case 'object':
      if (value === null) return NOTHING
      if (depth === CANONICAL_DEPTH_MAX) throw new CanonicalError(`The value is nested deeper than ${CANONICAL_DEPTH_MAX} levels.`)
      return Array.isArray(value) ? surveyItems(value, depth + 1) : surveyMembers(value, depth + 1)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new CanonicalError(`A value of type ${typeof value} has no canonical text.`)
  }
}

function surveyItems(items: readonly unknown[], depth: number): number {
  let found = NOTHING
  // By index and not by iterator: a hole reads as undefined, which the survey refuses.
  for (let index = 0; index < items.length; index++) found |= survey(items[index], depth)
  return found
}

function surveyMembers(value: object, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Date, Map, boxed values and classes with toJSON would be written as something else than they are.
  if (prototype !== Object.prototype && prototype !== null) throw new CanonicalError('Only plain objects have a canonical text.')
  const record = value as Record<string, unknown>
  let found = NOTHING
  let previous = ''
  for (const name of Object.keys(record)) {
    assertWellFormed(name)
    // Comparison of strings is by code units, as RFC 8785 §3.2.3 asks. Engines put integer-like names first in number order, so
    // 9 before 10 shows up here as out of order.
    if (name < previous) found |= UNORDERED
    if (isUncopyable(name)) found |= UNCOPYABLE
    previous = name
    found |= survey(record[name], depth)
  }
  return found
}

/** Integer-like names, and all others that begin with a digit, which is quicker to see; and the one name that sets no member. */
function isUncopyable(name: string): boolean {
  const first = name.charCodeAt(0)
  return (first >= 0x30 && first <= 0x39) || name === '__proto__'
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new CanonicalError('A text with a lone surrogate has no canonical text.')
}

/** The same value with all members in code-unit order; the survey has passed it and its names. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const record = value as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(record).sort()) copy[name] = ordered(record[name])
  return copy
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
