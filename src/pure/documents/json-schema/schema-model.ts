import { cutText } from '../../cut-text.ts'
import type { SchemaDialect } from './keywords.ts'
import { pointerStep, printableExcerpt, type JsonRecord } from './json.ts'

/** A schema with its own identifier, or a whole document. */
export interface SchemaResource {
  /** Absolute if its parents are; without fragment. Empty for a document without `$id`. */
  uri: string
  /** URI of the document that contains it; empty for the caller's own. */
  document: string
  /** Null only while it is being read. */
  root: SchemaNode | null
  dialect: SchemaDialect
  /** Reason why the resource cannot be applied, if any. */
  gap: GapCode | null
  /** Null for a name that occurs twice. */
  anchors: Map<string, SchemaNode | null>
  dynamic_anchors: Map<string, SchemaNode>
}

export type ChildSchemas =
  | { kind: 'one'; node: SchemaNode }
  | { kind: 'list'; nodes: SchemaNode[] }
  | { kind: 'map'; nodes: Map<string, SchemaNode> }

/** A schema at its place in a document. */
export interface SchemaNode {
  schema: boolean | JsonRecord
  resource: SchemaResource
  parent: SchemaNode | null
  /** Path from the parent. */
  steps: readonly string[]
  children: Map<string, ChildSchemas>
  /** Compiled when it is first applied. */
  rules: readonly KeywordRule[] | null
}

/** True, false, or null for undecided (Kleene's logic: a certain failure outweighs an undecided part). */
export type Truth = boolean | null

/** A compiled keyword. */
export interface KeywordRule {
  keyword: string
  /** Runs after all others; skipped once one of them has failed. */
  last: boolean
  apply(call: SchemaCall): Truth
}

/** A value of the data and where it is. */
export interface InstanceLocation {
  value: unknown
  parent: InstanceLocation | null
  step: string
  /** Names of an object and comparison key, computed when first needed. */
  names: readonly string[] | null
  key: string | null
  /** Reference targets currently being applied here. */
  active: SchemaNode[] | null
  /** Outcomes of reference targets at this location. */
  target_outcomes: Map<SchemaNode, Truth> | null
}

/** Resources entered on the way here, innermost first. */
export interface DynamicScope {
  resource: SchemaResource
  outer: DynamicScope | null
  /** Number of scopes up to the outermost, including this one. */
  depth: number
}

/** Application of one schema to one location. */
export interface SchemaCall {
  run: SchemaRun
  node: SchemaNode
  place: InstanceLocation
  scope: DynamicScope
  /** Null if no schema tracks evaluated locations. */
  evaluated: Evaluated | null
  depth: number
}

export interface SchemaRun {
  /** Failures are reported. False inside a schema that may fail without making the data invalid. */
  reports_errors: boolean
  readonly budget: Budget
  evaluate(node: SchemaNode, call: SchemaCall, place: InstanceLocation, evaluated: Evaluated | null): Truth
  /** `before` inserts it ahead of everything reported since that mark. */
  reportError(call: SchemaCall, keyword: string, code: ErrorCode, message: ErrorMessage, before?: ReportMark): false
  reportGap(node: SchemaNode, keyword: string | null, code: GapCode): null
  mark(): ReportMark
  /** Discards reports since the mark: they were not errors of the data. */
  reset(mark: ReportMark): void
}

/** Message, or a function that makes it, since most reports are discarded. */
export type ErrorMessage = string | (() => string)

/** A position in the list of reports. */
export interface ReportMark {
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

/** JSON pointer from the document's root, preceded by the document's URI unless it is the caller's own. */
export function schemaPath(node: SchemaNode, ...steps: string[]): string {
  const all: string[] = [...steps]
  for (let at: SchemaNode | null = node; at !== null; at = at.parent) all.unshift(...at.steps)
  const { document } = node.resource
  return (document === '' ? '' : `${printableExcerpt(document)}#`) + pointerText(all)
}

export function instancePath(place: InstanceLocation): string {
  const steps: string[] = []
  for (let at = place; at.parent !== null; at = at.parent) steps.unshift(at.step)
  return pointerText(steps)
}

/** Cuts long paths and replaces unprintable characters, so that the path is readable but may not resolve. */
function pointerText(steps: readonly string[]): string {
  return cutText(steps.map((step) => pointerStep(printableExcerpt(step))).join(''), PATH_CHARS)
}

export function kleeneAnd(a: Truth, b: Truth): Truth {
  if (a === false || b === false) return false
  return a === null || b === null ? null : true
}

/** Evaluated locations of one object or array. */
interface Locations {
  /** Null if empty. */
  properties: Set<string> | null
  all_properties: boolean
  /** Null if empty. */
  items: Set<number> | null
  /** All items before this index. */
  items_before: number
}

/**
 * Evaluated locations of one instance, for `unevaluatedProperties` and `unevaluatedItems`. Undecided schemas add to `possible` instead of
 * `certain`; everything outside both is certainly not evaluated.
 */
export class Evaluated {
  private readonly certain = newLocations()
  /** Null while nothing is undecided. */
  private possible: Locations | null = null
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  addProperty(name: string): void {
    ;(this.certain.properties ??= new Set()).add(name)
  }

  addPossibleProperty(name: string): void {
    const possible = (this.possible ??= newLocations())
    ;(possible.properties ??= new Set()).add(name)
  }

  addAllProperties(): void {
    this.certain.all_properties = true
  }

  addItem(index: number): void {
    ;(this.certain.items ??= new Set()).add(index)
  }

  addPossibleItem(index: number): void {
    const possible = (this.possible ??= newLocations())
    ;(possible.items ??= new Set()).add(index)
  }

  addItemsBefore(index: number): void {
    this.certain.items_before = Math.max(this.certain.items_before, index)
  }

  /** An unknown or unfinished schema may evaluate everything. */
  addUnknown(): void {
    const possible = (this.possible ??= newLocations())
    possible.all_properties = true
    possible.items_before = Infinity
  }

  /** Adds the locations of a schema applied in place: it passed, or with `certain` false it may have. */
  absorb(from: Evaluated, certain: boolean): void {
    if (!this.budget.spend(from.size * TICKS.name)) return this.addUnknown()
    if (certain) mergeLocations(this.certain, from.certain)
    else mergeLocations((this.possible ??= newLocations()), from.certain)
    if (from.possible !== null) mergeLocations((this.possible ??= newLocations()), from.possible)
  }

  get allProperties(): boolean {
    return this.certain.all_properties
  }

  /** True, false, or null if undecided. */
  hasProperty(name: string): boolean | null {
    if (includesProperty(this.certain, name)) return true
    return this.possible !== null && includesProperty(this.possible, name) ? null : false
  }

  hasItem(index: number): boolean | null {
    if (includesItem(this.certain, index)) return true
    return this.possible !== null && includesItem(this.possible, index) ? null : false
  }

  private get size(): number {
    return countLocations(this.certain) + (this.possible === null ? 0 : countLocations(this.possible))
  }
}

function newLocations(): Locations {
  return { properties: null, all_properties: false, items: null, items_before: 0 }
}

function countLocations({ properties, items }: Locations): number {
  return (properties?.size ?? 0) + (items?.size ?? 0)
}

/** A merged set is not used again, so the first one can be reused. */
function mergeLocations(into: Locations, from: Locations): void {
  into.all_properties ||= from.all_properties
  into.items_before = Math.max(into.items_before, from.items_before)
  if (into.properties === null) into.properties = from.properties
  else for (const name of from.properties ?? []) into.properties.add(name)
  if (into.items === null) into.items = from.items
  else for (const index of from.items ?? []) into.items.add(index)
}

function includesProperty({ properties, all_properties }: Locations, name: string): boolean {
  return all_properties || properties?.has(name) === true
}

function includesItem({ items, items_before }: Locations, index: number): boolean {
  return index < items_before || items?.has(index) === true
}

/**
 * Work limit of one validation, charged before the work is done. Counted in ticks of about ten nanoseconds; ten ticks are one step, the
 * unit of limits and answers. Every loop over a schema or data charges ticks in proportion to its length.
 */
export class Budget {
  exhausted = false
  #ticks = 0
  readonly #limit: number

  constructor(steps: number) {
    this.#limit = steps * STEP_TICKS
  }

  get steps(): number {
    return Math.ceil(this.#ticks / STEP_TICKS)
  }

  /** Returns false once the limit is exceeded; the work must then not be done. */
  spend(ticks: number): boolean {
    this.#ticks += ticks
    if (this.#ticks > this.#limit) this.exhausted = true
    return !this.exhausted
  }
}

const STEP_TICKS = 10

/** Cost of each kind of work, in ticks. */
export const TICKS = {
  /** One schema applied to one location, and each of its keywords. */
  schema: 10,
  keyword: 10,
  /** One turn of a trivial loop. */
  turn: 2,
  /** One object name listed, looked up or added to a set. */
  name: 8,
  /** Characters read per tick. */
  chars: 2,
  /** Part of a comparison key, in addition to its characters. */
  key_part: 10,
  /** One schema read, and each of its keywords. */
  load_schema: 60,
  load_keyword: 30,
  /** One element of a keyword's list. */
  load_element: 8,
  /** One character of a reference or of its base URI during resolution. */
  uri_char: 5,
  /** One path written. */
  path: 800,
} as const

/** Reasons why an answer cannot be given. Each is a property of the schema or a limit, never a verdict on the data. */
export const GAP_CODES = {
  schema_malformed: 'A keyword of the schema has a value that its draft does not allow.',
  schema_not_json: 'The schema is not a JSON object or boolean.',
  schema_too_deep: 'The schema is nested deeper than 64 levels.',
  schema_too_large: 'The schema is longer than 262,144 characters.',
  data_not_json: 'The data contain a value that is not JSON.',
  data_too_deep: 'The data are nested deeper than 64 levels.',
  data_too_large: 'The data are longer than 5,242,880 characters.',
  dialect_unknown: 'The schema names an unknown dialect in $schema; supported are 2020-12, 2019-09 and draft-07.',
  vocabulary_unknown: 'The metaschema of the schema requires an unknown vocabulary.',
  ref_unresolvable: 'A reference has no target within the schema; other documents are not fetched.',
  reference_loop: 'A reference leads back to itself at the same place in the data.',
  pattern_unsupported:
    'A pattern uses look-around, back references or very large repetitions, which linear-time matching does not support.',
  pattern_invalid: 'A pattern is not a valid regular expression (ECMA-262).',
  budget_exceeded: 'Checking these data against this schema exceeds the work limit.',
} as const

export type GapCode = keyof typeof GAP_CODES

export interface SchemaGap {
  code: GapCode
  /** JSON pointer into the schema; preceded by a URI and `#` for another document. */
  schema_path: string
  /** Null if the whole schema is meant. */
  keyword: string | null
  message: string
}
