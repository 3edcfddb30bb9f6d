import type { Kind, Place } from '../place.ts'
import type { FindingMore, Say } from '../rule.ts'

/**
 * What may be asked of a place, whatever the protocol. Each takes `error` or `warning` first, and hands back the value where it is as asked,
 * else null or false. A redacted value is as asked, but has no value to hand back: null, and nothing is said.
 */

export type JsonKind = Exclude<Kind, 'absent' | 'redacted'>

const KIND_WORDS: Readonly<Record<JsonKind, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'a text',
  array: 'an array',
  object: 'an object',
}

/** Says that the place is missing, unless something stands there. */
export function present(say: Say, place: Place, more?: FindingMore): boolean {
  if (!place.present) say(place, 'is missing', more)
  return place.present
}

/** Something of this type must stand here. True when its inside can be looked at, or is redacted. */
export function need(say: Say, place: Place, kind: JsonKind): boolean {
  return present(say, place, { expected: KIND_WORDS[kind] }) && optional(say, place, kind)
}

/** What stands here must have this type; nothing need stand here. True when it has, or is redacted. */
export function optional(say: Say, place: Place, kind: JsonKind): boolean {
  if (place.kind === 'absent') return false
  if (place.kind === kind || place.kind === 'redacted') return true
  say(place, `is not ${KIND_WORDS[kind]}`, { expected: KIND_WORDS[kind] })
  return false
}

/** A text that is not empty or blank must stand here. */
export function needText(say: Say, place: Place): string | null {
  if (!need(say, place, 'string')) return null
  const text = place.text()
  if (text === null || text.trim() !== '') return text
  say(place, 'is an empty text', { expected: 'a text that says something' })
  return null
}

/** A text that stands here must not be empty or blank; nothing need stand here. */
export function optionalText(say: Say, place: Place): void {
  if (place.present) needText(say, place)
}

export interface TextForm {
  pattern?: RegExp
  max_chars?: number
  /** The form in words: "0x and 40 hexadecimal digits". */
  expected: string
}

/** The text here must have a form; nothing is said of what is absent or redacted. Patterns must be linear and anchored. */
export function textForm(say: Say, place: Place, { pattern, max_chars, expected }: TextForm): string | null {
  if (!optional(say, place, 'string')) return null
  const text = place.text()
  if (text === null) return null
  if ((max_chars === undefined || text.length <= max_chars) && pattern?.test(text) !== false) return text
  say(place, 'does not have the form that is asked for', { expected })
  return null
}

/** The text here must be one of these; nothing is said of what is absent or redacted. */
export function oneOf<const Value extends string>(say: Say, place: Place, values: readonly Value[], more?: FindingMore): Value | null {
  if (!place.present || place.redacted) return null
  const found = values.find((value) => value === place.text())
  if (found === undefined) say(place, 'is none of the values that the protocol knows', { expected: listed(values), ...more })
  return found ?? null
}

/** Values of a closed set, for `expected`. */
export function listed(values: readonly string[]): string {
  return values.length <= 1 ? values.join('') : `one of ${values.join(', ')}`
}

/** Each of these must be an array with at least one item. */
export function needItems(say: Say, place: Place): Place[] {
  if (!need(say, place, 'array')) return []
  const items = place.items()
  if (items.length === 0 && place.kind === 'array') say(place, 'is empty', { expected: 'at least one item' })
  return items
}

/** Says of every place but the first with the same text that it repeats. Places without a text are passed over. Returns the texts. */
export function unique(say: Say, places: readonly Place[], what: string, fold: (text: string) => string = (text) => text): Set<string> {
  const seen = new Set<string>()
  for (const place of places) {
    const text = place.text()
    if (text === null) continue
    const key = fold(text)
    if (seen.has(key)) say(place, `repeats ${what}`)
    seen.add(key)
  }
  return seen
}

/**
 * The text here must be one of those that the document declares elsewhere; nothing is said of what is absent or redacted. Where one of those
 * may itself be redacted, leave the question out: the reference may lead there.
 */
export function refersTo(say: Say, place: Place, known: ReadonlySet<string>, what: string): void {
  const text = place.text()
  if (text !== null && !known.has(text)) say(place, `refers to ${what} that the document does not have`)
}

/** Says of each place whose members are not all known that it has others; the place of the finding is the member. */
export function onlyMembers(say: Say, place: Place, known: ReadonlySet<string>, words = 'is not known here'): void {
  for (const member of place.members()) if (!known.has(member.key)) say(member, words)
}

/** Walks parents by id. Each node is looked at a bounded number of times: the depth of every node is kept. */
export interface Tree {
  /** Nodes whose parents lead back to themselves. */
  in_cycle: ReadonlySet<string>
  /** Number of ancestors; nodes in or below a cycle have none. */
  depth: ReadonlyMap<string, number>
}

/** Depths and cycles of nodes that name their parent, in time proportional to their number. */
export function treeOf(parents: ReadonlyMap<string, string | null>): Tree {
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

/** Whether anything here or below was redacted: then it cannot be compared with anything as a whole. */
export function holdsRedaction(place: Place): boolean {
  const open = [place]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.redacted) return true
    for (const inner of next.kind === 'array' ? next.items() : next.members()) open.push(inner)
  }
  return false
}

/** A text that two JSON values share exactly when they are the same value. For documents whose depth is bounded. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value as Record<string, unknown>).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`
}
