import { cutText } from '../../cut-text.ts'
import { TICKS, type Budget } from './budget.ts'
import type { Dialect } from './dialects.ts'
import type { Evaluated } from './evaluated.ts'
import type { GapCode } from './gaps.ts'
import { shown, type JsonRecord } from './json.ts'
import { pointerStep } from './uri.ts'

/** A schema resource: a schema with an identifier of its own, or a whole document. */
export interface Resource {
  /** Absolute where its parents are; without fragment. Empty for a document that has no `$id`. */
  uri: string
  /** The document that it stands in: empty for the caller's own. */
  document: string
  /** Null only while it is being read. */
  root: SchemaNode | null
  dialect: Dialect
  /** Why nothing can be said of it; null when all is well. */
  gap: GapCode | null
  /** Null for a name that is given twice. */
  anchors: Map<string, SchemaNode | null>
  dynamic_anchors: Map<string, SchemaNode>
}

export type Children =
  | { kind: 'one'; node: SchemaNode }
  | { kind: 'list'; nodes: SchemaNode[] }
  | { kind: 'map'; nodes: Map<string, SchemaNode> }

/** A schema where it stands. */
export interface SchemaNode {
  schema: boolean | JsonRecord
  resource: Resource
  parent: SchemaNode | null
  /** From the parent to here. */
  steps: readonly string[]
  children: Map<string, Children>
  /** Filled when it is first applied. */
  rules: readonly Rule[] | null
}

/** True, false, or null for what cannot be known: Kleene's logic, in which a certain failure outweighs a doubt. */
export type Truth = boolean | null

/** A keyword, ready to be applied. */
export interface Rule {
  keyword: string
  /** It looks at what all others have seen, and says nothing of value once one of them has failed. */
  last: boolean
  apply(call: Call): Truth
}

/** A value of the data where it stands. */
export interface Place {
  value: unknown
  parent: Place | null
  step: string
  /** Names of an object, and text for comparison, once they were needed. */
  names: readonly string[] | null
  key: string | null
  /** Targets of references under way at this place; null for none so far. */
  active: SchemaNode[] | null
  /** What targets of references have said of this place. */
  told: Map<SchemaNode, Truth> | null
}

/** The resources that were entered on the way, innermost first. */
export interface Scope {
  resource: Resource
  outer: Scope | null
  /** Scopes up to the outermost, this one included. */
  depth: number
}

/** One schema applied to one place. */
export interface Call {
  run: Run
  node: SchemaNode
  place: Place
  scope: Scope
  /** Null when no schema asks. */
  evaluated: Evaluated | null
  depth: number
}

export interface Run {
  /** Whether failures are reported; not within what may fail without harm. */
  loud: boolean
  readonly budget: Budget
  evaluate(node: SchemaNode, call: Call, place: Place, evaluated: Evaluated | null): Truth
  /** `before` puts it ahead of what was reported since that mark. */
  fail(call: Call, keyword: string, code: ErrorCode, message: Message, before?: Mark): false
  doubt(node: SchemaNode, keyword: string | null, code: GapCode): null
  mark(): Mark
  /** Forgets what was reported since the mark: it was no fault after all. */
  reset(mark: Mark): void
}

/** A sentence of a report, or what makes it: most reports are forgotten. */
export type Message = string | (() => string)

/** How far the reports had come. */
export interface Mark {
  errors: number
  truncated: boolean
}

export const ERROR_CODES = [
  'type_mismatch',
  'not_in_enum',
  'not_const',
  'not_a_multiple',
  'too_large',
  'too_small',
  'too_long',
  'too_short',
  'pattern_mismatch',
  'too_many',
  'too_few',
  'not_unique',
  'property_missing',
  'property_not_allowed',
  'item_not_allowed',
  'nothing_allowed',
  'match_forbidden',
  'no_branch_matches',
  'several_branches_match',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

const PATH_CHARS = 512

/** JSON pointer from the document's root, with the document's URI before it where that is not the caller's own. */
export function schemaPath(node: SchemaNode, ...steps: string[]): string {
  const all: string[] = [...steps]
  for (let at: SchemaNode | null = node; at !== null; at = at.parent) all.unshift(...at.steps)
  const { document } = node.resource
  return (document === '' ? '' : `${shown(document)}#`) + pathOf(all)
}

export function instancePath(place: Place): string {
  const steps: string[] = []
  for (let at = place; at.parent !== null; at = at.parent) steps.unshift(at.step)
  return pathOf(steps)
}

/** Long names are cut and characters that print nothing replaced: then the path still leads the eye, if not a program. */
function pathOf(steps: readonly string[]): string {
  return cutText(steps.map((step) => pointerStep(shown(step))).join(''), PATH_CHARS)
}

export function and(a: Truth, b: Truth): Truth {
  if (a === false || b === false) return false
  return a === null || b === null ? null : true
}

/**
 * Whether all hold. Where failures are not reported the first one ends it; where the work is used up, the rest is in doubt. Turns are paid
 * by eights, since a turn costs less than counting it.
 */
export function every<Thing>({ budget, loud }: Run, things: Iterable<Thing>, judge: (thing: Thing) => Truth): Truth {
  let outcome: Truth = true
  let turns = 0
  for (const thing of things) {
    if (++turns === TURNS_AT_ONCE) {
      turns = 0
      budget.spend(TURNS_AT_ONCE * TICKS.turn)
    }
    if (budget.exhausted) return and(outcome, null)
    outcome = and(outcome, judge(thing))
    if (outcome === false && !loud) return false
  }
  return outcome
}

const TURNS_AT_ONCE = 8
