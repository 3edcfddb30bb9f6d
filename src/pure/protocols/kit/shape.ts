import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'
import { listed, oneOf, optional, present } from './expect.ts'
import { integer as integerIn } from './money.ts'
import { uriFault } from './url.ts'

/** Shapes of members that no rule looks at more closely. A shape is finite, so walking it is bounded whatever the document is. */
export type Shape =
  | { kind: 'known' | 'text' | 'text_or_null' | 'boolean' | 'number' }
  | { kind: 'integer'; min: bigint }
  /** A text with a format; `fault` says in words what is wrong with it, or null. */
  | { kind: 'form'; fault: (found: string) => string | null; expected: string }
  | { kind: 'one_of'; values: readonly string[] }
  | { kind: 'list'; of: Shape }
  | { kind: 'object'; required: Members; optional: Members; closed: boolean }
  /** Another rule asks for the list or object itself. */
  | { kind: 'within'; of: Shape }

export type Members = Readonly<Record<string, Shape>>

/** Looked at by another rule. */
export const known: Shape = { kind: 'known' }
export const text: Shape = { kind: 'text' }
export const text_or_null: Shape = { kind: 'text_or_null' }
/** A text with a format. */
export function form(fault: (found: string) => string | null, expected: string): Shape {
  return { kind: 'form', fault, expected }
}

/** An absolute URI, as `format: uri` of JSON Schema. */
export const uri = form(uriFault, 'an absolute URL, such as https://shop.example.com/terms')
/** `format: email` of JSON Schema, letters of every script allowed. */
export const email = form(
  (found) => (/^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(found) ? null : 'is not an e-mail address'),
  'an e-mail address, such as ada@example.com',
)
export const boolean: Shape = { kind: 'boolean' }
export const number: Shape = { kind: 'number' }

export function integer(min: bigint): Shape {
  return { kind: 'integer', min }
}

export function oneOfTexts(...values: string[]): Shape {
  return { kind: 'one_of', values }
}

export function list(of: Shape): Shape {
  return { kind: 'list', of }
}

export function object(required: Members, more: Members = {}): Shape {
  return { kind: 'object', required, optional: more, closed: false }
}

/** An object whose schema knows no other members. */
export function closed(required: Members, more: Members = {}): Shape {
  return { kind: 'object', required, optional: more, closed: true }
}

export function within(of: Shape): Shape {
  return { kind: 'within', of }
}

/** The same shape for several names. */
export function each(shape: Shape, ...names: string[]): Members {
  return Object.fromEntries(names.map((name) => [name, shape]))
}

/** How to say what is wrong; all but `type` may be left to it, and strange members to nobody. */
export interface ShapeSays {
  type: Say
  /** A value outside a closed set, or a required member that is missing. */
  rule?: Say
  /** A member that a closed schema does not know. */
  stray?: (member: Place) => void
}

/** Says where what stands here departs from a shape; nothing is said of what is absent or redacted. */
export function expectShape(says: Say | ShapeSays, place: Place, shape: Shape): void {
  walk(typeof says === 'function' ? { type: says } : says, place, shape)
}

function walk(says: ShapeSays, place: Place, shape: Shape): void {
  const { type } = says
  switch (shape.kind) {
    case 'known':
      return
    case 'text':
      optional(type, place, 'string')
      return
    case 'text_or_null':
      if (place.kind !== 'null') optional(type, place, 'string')
      return
    case 'form':
      formOf(type, place, shape)
      return
    case 'boolean':
    case 'number':
      optional(type, place, shape.kind)
      return
    case 'integer':
      integerIn(type, place, { min: shape.min })
      return
    case 'one_of':
      if (place.kind === 'string' || says.rule === undefined) oneOf(says.rule ?? type, place, shape.values)
      else optional(type, place, 'string')
      return
    case 'list':
      optional(type, place, 'array')
      for (const item of place.items()) walk(says, item, shape.of)
      return
    case 'object':
      if (optional(type, place, 'object') && !place.redacted) members(says, place, shape)
      return
    case 'within':
      if (place.kind === (shape.of.kind === 'list' ? 'array' : 'object')) walk(says, place, shape.of)
  }
}

/** What a shape asks for, in words; null where another rule knows. */
function expectedOf(shape: Shape): string | null {
  switch (shape.kind) {
    case 'known':
      return null
    case 'text':
      return 'a text'
    case 'text_or_null':
      return 'a text or null'
    case 'boolean':
      return 'true or false'
    case 'number':
      return 'a number'
    case 'integer':
      return 'an integer'
    case 'form':
      return shape.expected
    case 'one_of':
      return listed(shape.values)
    case 'list':
      return 'an array'
    case 'object':
      return 'an object'
    case 'within':
      return expectedOf(shape.of)
  }
}

function formOf(say: Say, place: Place, { fault, expected }: Extract<Shape, { kind: 'form' }>): void {
  const found = optional(say, place, 'string') ? place.text() : null
  const words = found === null ? null : fault(found)
  if (words !== null) say(place, words, { expected })
}

function members(says: ShapeSays, place: Place, { required, optional: more, closed: isClosed }: Extract<Shape, { kind: 'object' }>): void {
  for (const [name, shape] of Object.entries(required)) {
    const member = place.get(name)
    const expected = expectedOf(shape)
    if (present(says.rule ?? says.type, member, expected === null ? {} : { expected })) walk(says, member, shape)
  }
  for (const [name, shape] of Object.entries(more)) walk(says, place.get(name), shape)
  if (!isClosed || says.stray === undefined) return
  for (const member of place.members()) if (!Object.hasOwn(required, member.key) && !Object.hasOwn(more, member.key)) says.stray(member)
}
