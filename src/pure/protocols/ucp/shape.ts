import { oneOf, optional, present } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

/** Shapes of members that no rule looks at more closely. A shape is finite, so walking it is bounded whatever the document is. */
export type Shape =
  | { kind: 'text' | 'text_or_null' | 'boolean' | 'number' }
  | { kind: 'one_of'; values: readonly string[] }
  | { kind: 'list'; of: Shape }
  | { kind: 'object'; required: Members; optional: Members }

type Members = Readonly<Record<string, Shape>>

export const text: Shape = { kind: 'text' }
export const text_or_null: Shape = { kind: 'text_or_null' }
export const boolean: Shape = { kind: 'boolean' }
export const number: Shape = { kind: 'number' }

export function oneOfTexts(...values: string[]): Shape {
  return { kind: 'one_of', values }
}

export function list(of: Shape): Shape {
  return { kind: 'list', of }
}

export function object(required: Members, more: Members = {}): Shape {
  return { kind: 'object', required, optional: more }
}

/** The same shape for several names. */
export function each(shape: Shape, ...names: string[]): Members {
  return Object.fromEntries(names.map((name) => [name, shape]))
}

/** Says where what stands here departs from a shape; nothing is said of what is absent or redacted. */
export function expectShape(say: Say, place: Place, shape: Shape): void {
  switch (shape.kind) {
    case 'text':
      optional(say, place, 'string')
      return
    case 'text_or_null':
      if (place.kind !== 'null') optional(say, place, 'string')
      return
    case 'boolean':
    case 'number':
      optional(say, place, shape.kind)
      return
    case 'one_of':
      oneOf(say, place, shape.values)
      return
    case 'list':
      optional(say, place, 'array')
      for (const item of place.items()) expectShape(say, item, shape.of)
      return
    case 'object':
      if (!optional(say, place, 'object') || place.redacted) return
      expectMembers(say, place, shape.required, true)
      expectMembers(say, place, shape.optional, false)
  }
}

function expectMembers(say: Say, place: Place, members: Members, required: boolean): void {
  for (const [name, shape] of Object.entries(members)) {
    const member = place.get(name)
    if (!required || present(say, member)) expectShape(say, member, shape)
  }
}
