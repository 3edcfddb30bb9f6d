/**
 * How structure tables are written. A table maps a type to its elements, in order, as one line of words:
 *
 *   Name        exactly once               Name?    at most once
 *   Name+       once or more               Name*    any number
 *   Name?=Type  with a type of the table or a leaf of `leaves.ts`; without one the type has the element's name
 *   Name*7      at most seven, Name+2 one or two
 *   A=x|B=y     exactly one of them, ?A=x|B=y at most one
 *   word@19-    only from that generation of the shared types on; word@-13 only up to it
 *   word#11-    the same by version of the message
 *
 * A generation is the year of the release that brought the shared types: 9, 13, 19 or 23. Written by hand from the message definitions;
 * where two releases differ in what is rarely used, the wider form stands for both, so that the tables err towards valid.
 */
import { leafOf, type Leaf } from './leaves.ts'

export type TypeTable = Readonly<Record<string, string>>

export interface Schema {
  readonly types: TypeTable
  /** Version of the message. */
  readonly version: number
  /** Year of the shared types. */
  readonly generation: number
}

/** One element of a type. Alternatives of a choice share a slot. */
export interface Member {
  readonly name: string
  readonly type: string
  readonly slot: number
  readonly max: number
}

export interface TypeDefinition {
  readonly members: ReadonlyMap<string, Member>
  /** For each slot whether it must be filled, and the words for a finding. */
  readonly required: readonly boolean[]
  readonly labels: readonly string[]
}

export type Content = { kind: 'leaf'; leaf: Leaf } | { kind: 'complex'; type: TypeDefinition } | { kind: 'any' }

/** What a type name stands for in this version. */
export function contentOf(schema: Schema, type: string): Content {
  if (type === 'any') return { kind: 'any' }
  const line = schema.types[type]
  if (line !== undefined) return { kind: 'complex', type: parsed(schema, line) }
  const leaf = leafOf(type, schema.generation)
  if (leaf === null) throw new Error(`The structure tables name an unknown type: ${type}.`)
  return { kind: 'leaf', leaf }
}

const WORD = /^(\?)?([^@#]+)(?:@(\d*)(-?)(\d*))?(?:#(\d*)(-?)(\d*))?$/
const ELEMENT = /^([A-Za-z0-9]+)([?*+]?)(\d*)(?:=([A-Za-z0-9]+))?$/

function parsed(schema: Schema, line: string): TypeDefinition {
  const members = new Map<string, Member>()
  const required: boolean[] = []
  const labels: string[] = []
  for (const word of line.split(' ')) {
    const [, optional, body = '', from = '', dash = '', to = '', version_from = '', version_dash = '', version_to = ''] =
      WORD.exec(word) ?? []
    if (!within(schema.generation, from, dash, to) || !within(schema.version, version_from, version_dash, version_to)) continue
    const alternatives = body.split('|').map(elementOf)
    for (const { name, max, type } of alternatives) members.set(name, { name, type, slot: required.length, max })
    required.push(optional === undefined && alternatives.every(({ min }) => min > 0))
    labels.push(alternatives.map(({ name }) => name).join(' or '))
  }
  return { members, required, labels }
}

function elementOf(text: string): { name: string; type: string; min: number; max: number } {
  const [, name = '', mark = '', most = '', type = name] = ELEMENT.exec(text) ?? []
  if (name === '') throw new Error(`The structure tables have an unreadable word: ${text}.`)
  const min = mark === '?' || mark === '*' ? 0 : 1
  const many = mark === '*' || mark === '+'
  return { name, type, min, max: !many ? 1 : most === '' ? Infinity : Number.parseInt(most, 10) }
}

/** Whether a number lies in a range as `19-`, `-13` or `8` write it. No range holds every number. */
function within(value: number, from: string, dash: string, to: string): boolean {
  if (from === '' && to === '') return true
  if (dash === '') return value === Number.parseInt(from, 10)
  return (from === '' || value >= Number.parseInt(from, 10)) && (to === '' || value <= Number.parseInt(to, 10))
}
