import type { JsonCursor } from '../json-cursor.ts'
import type { FindingDetails, ReportFinding } from '../protocol.ts'
import { SECRET_DESCRIPTIONS, type DetectedSecret } from '../secrets.ts'

/**
 * Expectations for values of any protocol. Each takes `error` or `warning` first and returns the value if it is as expected, else null or
 * false. A redacted value is accepted silently; as it has no value to return, null is returned.
 */

export type JsonType = Exclude<JsonCursor['kind'], 'absent' | 'redacted'>

const TYPE_NAMES: Readonly<Record<JsonType, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
}

/** Reports an absent value. */
export function expectPresent(report: ReportFinding, cursor: JsonCursor, more?: FindingDetails): boolean {
  if (!cursor.present) report(cursor, 'is missing', more)
  return cursor.present
}

/** Reports an absent value or one of another type. Returns true for a value of this type and for a redacted one. */
export function expectType(report: ReportFinding, cursor: JsonCursor, kind: JsonType): boolean {
  return expectPresent(report, cursor, { expected: TYPE_NAMES[kind] }) && expectTypeIfPresent(report, cursor, kind)
}

/** Reports a present value of another type. Returns true for a value of this type and for a redacted one. */
export function expectTypeIfPresent(report: ReportFinding, cursor: JsonCursor, kind: JsonType): boolean {
  if (cursor.kind === 'absent') return false
  if (cursor.kind === kind || cursor.kind === 'redacted') return true
  report(cursor, `is not ${TYPE_NAMES[kind]}`, { expected: TYPE_NAMES[kind] })
  return false
}

/** Expects an object. Returns whether its members can be read: false also for a redacted one. */
export function expectObject(report: ReportFinding, cursor: JsonCursor): boolean {
  return expectType(report, cursor, 'object') && !cursor.redacted
}

/** The same as `expectObject`, but silent about an absent value. */
export function expectObjectIfPresent(report: ReportFinding, cursor: JsonCursor): boolean {
  return expectTypeIfPresent(report, cursor, 'object') && !cursor.redacted
}

/** Expects a string. Returns it; null for other types and for a redacted one. */
export function expectString(report: ReportFinding, cursor: JsonCursor): string | null {
  return expectType(report, cursor, 'string') ? cursor.text() : null
}

/** The same as `expectString`, but silent about an absent value. */
export function expectStringIfPresent(report: ReportFinding, cursor: JsonCursor): string | null {
  return expectTypeIfPresent(report, cursor, 'string') ? cursor.text() : null
}

/** Reports each item of the array here that has another type. */
export function expectItemTypes(report: ReportFinding, cursor: JsonCursor, kind: JsonType): void {
  for (const item of cursor.items()) expectTypeIfPresent(report, item, kind)
}

/** Reports a value that is not an array, and items of another type; nothing about an absent or redacted value. Returns whether the array can be read. */
export function expectArrayIfPresent(report: ReportFinding, cursor: JsonCursor, kind: JsonType): boolean {
  if (!expectTypeIfPresent(report, cursor, 'array')) return false
  expectItemTypes(report, cursor, kind)
  return true
}

/** Reports an array without items. */
export function expectNotEmpty(report: ReportFinding, cursor: JsonCursor, expected: string): void {
  if (cursor.kind === 'array' && cursor.items().length === 0) report(cursor, 'is empty', { expected })
}

/** Reports anything but a string that is not blank. Returns the string. */
export function expectText(report: ReportFinding, cursor: JsonCursor): string | null {
  if (!expectType(report, cursor, 'string')) return null
  const text = cursor.text()
  if (text === null || text.trim() !== '') return text
  report(cursor, 'is an empty string', { expected: 'a non-empty string' })
  return null
}

/** The same as `expectText`, but silent about an absent value. */
export function expectTextIfPresent(report: ReportFinding, cursor: JsonCursor): void {
  if (cursor.present) expectText(report, cursor)
}

export interface TextForm {
  pattern?: RegExp
  max_chars?: number
  /** Description of the form, such as "0x and 40 hexadecimal digits". */
  expected: string
}

/** The text here must have a form; silent about absent and redacted values. Patterns must be linear and anchored. */
export function expectTextForm(report: ReportFinding, cursor: JsonCursor, { pattern, max_chars, expected }: TextForm): string | null {
  if (!expectTypeIfPresent(report, cursor, 'string')) return null
  const text = cursor.text()
  if (text === null) return null
  if ((max_chars === undefined || text.length <= max_chars) && pattern?.test(text) !== false) return text
  report(cursor, 'does not have the expected form', { expected })
  return null
}

/** Expects the text to be one of these; silent about absent and redacted values. */
export function expectOneOf<const Value extends string>(
  report: ReportFinding,
  cursor: JsonCursor,
  values: readonly Value[],
  more?: FindingDetails,
): Value | null {
  if (!cursor.present || cursor.redacted) return null
  const found = values.find((value) => value === cursor.text())
  if (found === undefined) report(cursor, 'is not one of the allowed values', { expected: describeChoices(values), ...more })
  return found ?? null
}

/** Describes the allowed values, for `expected`. */
export function describeChoices(values: readonly string[]): string {
  return values.length <= 1 ? values.join('') : `one of ${values.join(', ')}`
}

/** Expects an array with at least one item. Returns the items. */
export function expectItems(report: ReportFinding, cursor: JsonCursor): JsonCursor[] {
  if (!expectType(report, cursor, 'array')) return []
  expectNotEmpty(report, cursor, 'at least one item')
  return cursor.items()
}

/** Reports every cursor but the first with the same text; cursors without a text are skipped. Returns the texts. */
export function expectUnique(
  report: ReportFinding,
  cursors: readonly JsonCursor[],
  what: string,
  fold: (text: string) => string = (text) => text,
): Set<string> {
  const seen = new Set<string>()
  for (const cursor of cursors) {
    const text = cursor.text()
    if (text === null) continue
    const key = fold(text)
    if (seen.has(key)) report(cursor, `repeats ${what}`)
    seen.add(key)
  }
  return seen
}

/** `expectUnique` for the member of this name in several objects. */
export function expectUniqueMembers(report: ReportFinding, holders: readonly JsonCursor[], name: string, what: string): void {
  const cursors = holders.map((holder) => holder.get(name))
  expectUnique(report, cursors, what)
}

/**
 * Expects one of the ids that the document declares elsewhere; silent about absent and redacted values. Do not call it if one of those ids
 * may be redacted: the reference may be to it.
 */
export function expectReference(report: ReportFinding, cursor: JsonCursor, known: ReadonlySet<string>, what: string): void {
  const text = cursor.text()
  if (text !== null && !known.has(text)) report(cursor, `refers to ${what} that is not in the document`)
}

/** Reports members that are not among the known ones, each at its own pointer. */
export function expectKnownMembers(
  report: ReportFinding,
  cursor: JsonCursor,
  known: ReadonlySet<string>,
  words = 'is not a known member',
): void {
  for (const member of cursor.members()) if (!known.has(member.key)) report(member, words)
}

/** Depths and cycles of nodes that name their parent. */
interface ParentTree {
  /** Nodes whose parents lead back to themselves. */
  in_cycle: ReadonlySet<string>
  /** Number of ancestors; nodes in or below a cycle have none. */
  depth: ReadonlyMap<string, number>
}

/** Computes depths and cycles in time proportional to the number of nodes. */
export function buildParentTree(parents: ReadonlyMap<string, string | null>): ParentTree {
  const depth = new Map<string, number>()
  const in_cycle = new Set<string>()
  const done = new Set<string>()
  for (const start of parents.keys()) {
    const trail: string[] = []
    const on_trail = new Set<string>()
    let id: string | null = start
    while (id !== null && parents.has(id) && !done.has(id) && !on_trail.has(id)) {
      trail.push(id)
      on_trail.add(id)
      id = parents.get(id) ?? null
    }
    if (id !== null && on_trail.has(id)) for (const one of trail.slice(trail.indexOf(id))) in_cycle.add(one)
    const above = id === null || !parents.has(id) ? -1 : on_trail.has(id) ? null : (depth.get(id) ?? null)
    trail.toReversed().forEach((one, index) => {
      done.add(one)
      if (above !== null) depth.set(one, above + 1 + index)
    })
  }
  return { in_cycle, depth }
}

/** Returns whether this value or anything inside it is redacted, so that it cannot be compared as a whole. */
export function containsRedaction(cursor: JsonCursor): boolean {
  for (const inner of cursor.descendants()) if (inner.redacted) return true
  return false
}

/** Returns a text that is equal for equal JSON values. For documents of bounded depth. */
export function comparableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(comparableText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value as Record<string, unknown>).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${comparableText(member)}`).join(',')}}`
}

/** Reports secrets, but for those at places that another finding names already. */
export function reportSecrets(warning: ReportFinding, secrets: readonly DetectedSecret[], reported: ReadonlySet<string> = new Set()): void {
  for (const { cursor, kind } of secrets) if (!reported.has(cursor.path())) warning(cursor, `looks like ${SECRET_DESCRIPTIONS[kind]}`)
}
