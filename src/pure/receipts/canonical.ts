/**
 * Canonical JSON text, RFC 8785 (June 2020): members in code-unit order, numbers and strings as ECMAScript serializes them, no spaces.
 * Values that JSON cannot represent throw `CanonicalError`; nothing is dropped or converted to null. If the members of every object are
 * in order, JSON.stringify gives the canonical text; checking that is several times faster than serializing here. Otherwise an ordered
 * copy is serialized, unless it has names that engines reorder.
 */

/** Maximum nesting; far above the service's limit and far below the stack limit of any engine. */
export const CANONICAL_DEPTH_MAX = 1_000

export class CanonicalError extends Error {
  override name = 'CanonicalError'
}

/** RFC 8785 text of a JSON value. Throws only `CanonicalError`. */
export function canonicalText(value: unknown): string {
  const found = survey(value, 0)
  if ((found & UNORDERED) === 0) return JSON.stringify(value)
  return (found & UNCOPYABLE) === 0 ? JSON.stringify(ordered(value)) : write(value)
}

/** Results of a survey, as bits. */
const NOTHING = 0
/** Some members are not in code-unit order. */
const UNORDERED = 1
/** A copy would reorder or lose members. */
const UNCOPYABLE = 2

/** Finds obstacles to JSON.stringify; throws for values that are not JSON. */
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
  // By index: a hole reads as undefined, which the survey refuses.
  for (let index = 0; index < items.length; index++) found |= survey(items[index], depth)
  return found
}

function surveyMembers(value: object, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Date, Map, boxed values and classes with toJSON would be serialized as other values.
  if (prototype !== Object.prototype && prototype !== null) throw new CanonicalError('Only plain objects have a canonical text.')
  const record = value as Record<string, unknown>
  let found = NOTHING
  let previous = ''
  for (const name of Object.keys(record)) {
    assertWellFormed(name)
    // Strings compare by code units, as RFC 8785 §3.2.3 requires. Engines put integer-like names first in numeric order, so 9 before 10
    // is out of order here.
    if (name < previous) found |= UNORDERED
    if (isUncopyable(name)) found |= UNCOPYABLE
    previous = name
    found |= survey(record[name], depth)
  }
  return found
}

/** True for names that begin with a digit, which include all integer-like ones, and for `__proto__`. */
function isUncopyable(name: string): boolean {
  const first = name.charCodeAt(0)
  return (first >= 0x30 && first <= 0x39) || name === '__proto__'
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new CanonicalError('A text with a lone surrogate has no canonical text.')
}

/** Copies a surveyed value with its members in code-unit order. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const record = value as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(record).sort()) copy[name] = ordered(record[name])
  return copy
}

/** Serializes a surveyed value: plain objects, limited depth, JSON leaves. */
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
