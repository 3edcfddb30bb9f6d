import type { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding } from '../protocol.ts'
import { describeChoices, expectOneOf, expectTypeIfPresent, expectPresent, expectObjectIfPresent, expectStringIfPresent } from './expect.ts'
import { expectInteger as integerIn } from './money.ts'
import { describeUriFault } from './url.ts'

/** Shapes of members that no other rule checks. A shape is finite, so checking it takes bounded time for any document. */
export type JsonShape =
  | { kind: 'known' | 'text' | 'text_or_null' | 'boolean' | 'number' }
  | { kind: 'integer'; min: bigint }
  /** A text with a format; `fault` describes what is wrong with it, or returns null. */
  | { kind: 'form'; fault: (found: string) => string | null; expected: string }
  | { kind: 'one_of'; values: readonly string[] }
  | { kind: 'list'; of: JsonShape }
  | { kind: 'object'; required: ShapeMembers; optional: ShapeMembers; closed: boolean }
  /** Another rule asks for the list or object itself. */
  | { kind: 'within'; of: JsonShape }

export type ShapeMembers = Readonly<Record<string, JsonShape>>

/** Checked by another rule. */
export const anyValue: JsonShape = { kind: 'known' }
export const text: JsonShape = { kind: 'text' }

/** A text with a format. */
export function textWith(fault: (found: string) => string | null, expected: string): JsonShape {
  return { kind: 'form', fault, expected }
}

/** An absolute URI, as `format: uri` of JSON Schema. */
export const uri = textWith(describeUriFault, 'an absolute URL, such as https://shop.example.com/terms')
/** `format: email` of JSON Schema, letters of every script allowed. */
export const email = textWith(
  (found) => (/^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(found) ? null : 'is not an e-mail address'),
  'an e-mail address, such as ada@example.com',
)
export const boolean: JsonShape = { kind: 'boolean' }
export const number: JsonShape = { kind: 'number' }

export function integer(min: bigint): JsonShape {
  return { kind: 'integer', min }
}

export function oneOfTexts(...values: string[]): JsonShape {
  return { kind: 'one_of', values }
}

export function list(of: JsonShape): JsonShape {
  return { kind: 'list', of }
}

export function object(required: ShapeMembers, more: ShapeMembers = {}): JsonShape {
  return { kind: 'object', required, optional: more, closed: false }
}

/** An object whose schema knows no other members. */
export function closed(required: ShapeMembers, more: ShapeMembers = {}): JsonShape {
  return { kind: 'object', required, optional: more, closed: true }
}

export function contentsOf(of: JsonShape): JsonShape {
  return { kind: 'within', of }
}

/** The same shape for several names. */
export function each(shape: JsonShape, ...names: string[]): ShapeMembers {
  return Object.fromEntries(names.map((name) => [name, shape]))
}

/** Reporters for the kinds of faults. `rule` defaults to `type`; without `stray`, unknown members are not reported. */
export interface ShapeReporters {
  type: ReportFinding
  /** A value outside a closed set, or a required member that is missing. */
  rule?: ReportFinding
  /** A member that a closed schema does not know. */
  stray?: (member: JsonCursor) => void
}

/** Reports where a value differs from a shape; silent about absent and redacted values. */
export function expectShape(says: ReportFinding | ShapeReporters, cursor: JsonCursor, shape: JsonShape): void {
  checkShape(typeof says === 'function' ? { type: says } : says, cursor, shape)
}

function checkShape(says: ShapeReporters, cursor: JsonCursor, shape: JsonShape): void {
  const { type } = says
  switch (shape.kind) {
    case 'known':
      return
    case 'text':
      expectTypeIfPresent(type, cursor, 'string')
      return
    case 'text_or_null':
      if (cursor.kind !== 'null') expectTypeIfPresent(type, cursor, 'string')
      return
    case 'form':
      checkTextForm(type, cursor, shape)
      return
    case 'boolean':
    case 'number':
      expectTypeIfPresent(type, cursor, shape.kind)
      return
    case 'integer':
      integerIn(type, cursor, { min: shape.min })
      return
    case 'one_of':
      if (cursor.kind === 'string' || says.rule === undefined) expectOneOf(says.rule ?? type, cursor, shape.values)
      else expectTypeIfPresent(type, cursor, 'string')
      return
    case 'list':
      expectTypeIfPresent(type, cursor, 'array')
      for (const item of cursor.items()) checkShape(says, item, shape.of)
      return
    case 'object':
      if (expectObjectIfPresent(type, cursor)) checkMembers(says, cursor, shape)
      return
    case 'within':
      if (cursor.kind === (shape.of.kind === 'list' ? 'array' : 'object')) checkShape(says, cursor, shape.of)
  }
}

/** Describes the expected value of a shape; null if another rule does. */
function describeShape(shape: JsonShape): string | null {
  switch (shape.kind) {
    case 'known':
      return null
    case 'text':
      return 'a string'
    case 'text_or_null':
      return 'a string or null'
    case 'boolean':
      return 'true or false'
    case 'number':
      return 'a number'
    case 'integer':
      return 'an integer'
    case 'form':
      return shape.expected
    case 'one_of':
      return describeChoices(shape.values)
    case 'list':
      return 'an array'
    case 'object':
      return 'an object'
    case 'within':
      return describeShape(shape.of)
  }
}

function checkTextForm(report: ReportFinding, cursor: JsonCursor, { fault, expected }: Extract<JsonShape, { kind: 'form' }>): void {
  const found = expectStringIfPresent(report, cursor)
  const words = found === null ? null : fault(found)
  if (words !== null) report(cursor, words, { expected })
}

function checkMembers(
  says: ShapeReporters,
  cursor: JsonCursor,
  { required, optional: more, closed: isClosed }: Extract<JsonShape, { kind: 'object' }>,
): void {
  for (const [name, shape] of Object.entries(required)) {
    const member = cursor.get(name)
    const expected = describeShape(shape)
    if (expectPresent(says.rule ?? says.type, member, expected === null ? {} : { expected })) checkShape(says, member, shape)
  }
  for (const [name, shape] of Object.entries(more)) checkShape(says, cursor.get(name), shape)
  if (!isClosed || says.stray === undefined) return
  for (const member of cursor.members()) if (!Object.hasOwn(required, member.key) && !Object.hasOwn(more, member.key)) says.stray(member)
}
