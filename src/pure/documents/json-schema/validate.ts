import {
  Budget,
  type SchemaGap,
  GAP_CODES,
  type GapCode,
  TICKS,
  Evaluated,
  kleeneAnd,
  type SchemaCall,
  type ErrorCode,
  instancePath,
  type ReportMark,
  type ErrorMessage,
  type InstanceLocation,
  type SchemaRun,
  type SchemaNode,
  schemaPath,
  type Truth,
  type ChildSchemas,
  type KeywordRule,
} from './schema-model.ts'
import { type DialectUsed, gapOf, isBareReference, type LoadedSchema, openSchema, resolveTarget, type SchemaOptions } from './load.ts'
import { checkJsonBounds, ownMember, type JsonRecord } from './json.ts'
import { KEYWORDS } from './keywords.ts'
import * as applicators from './rules-applicators.ts'
import * as assertions from './rules-assertions.ts'
import type { ApplyKeyword } from './rules-assertions.ts'

/** One violation of the schema by the data. */
interface SchemaError {
  /** JSON pointer into the data, for example /lines/0/sku. */
  instance_path: string
  schema_path: string
  keyword: string
  code: ErrorCode
  message: string
}

const ERRORS_MAX = 100
const GAPS_MAX = 20

/** Maximum nesting of applied schemas; far below the stack limit of engines. */
const DEPTH_MAX = 400

/** An error whose path and message are not written yet: most are discarded or beyond the limit. */
interface PendingError {
  place: InstanceLocation
  node: SchemaNode
  /** Null for the schema itself. */
  step: string | null
  keyword: string
  code: ErrorCode
  message: ErrorMessage
}

class Evaluation implements SchemaRun {
  readonly gaps: SchemaGap[] = []
  readonly budget: Budget
  reports_errors = true
  truncated = false
  private readonly load: LoadedSchema
  private readonly pending: PendingError[] = []
  /** Keywords with listed gaps, by schema. */
  private readonly doubted = new Map<SchemaNode, string[]>()

  constructor(load: LoadedSchema) {
    this.load = load
    this.budget = load.budget
  }

  get errors(): SchemaError[] {
    return this.pending.map(({ place, node, step, keyword, code, message }) => ({
      instance_path: instancePath(place),
      schema_path: step === null ? schemaPath(node) : schemaPath(node, step),
      keyword,
      code,
      message: typeof message === 'string' ? message : message(),
    }))
  }

  /** Applies the root of a document to the data. */
  start(node: SchemaNode, data: unknown): Truth {
    const place: InstanceLocation = { value: data, parent: null, step: '', names: null, key: null, active: null, target_outcomes: null }
    const scope = { resource: node.resource, outer: null, depth: 1 }
    const call: SchemaCall = { run: this, node, place, scope, evaluated: null, depth: 0 }
    return this.evaluate(node, call, place, null)
  }

  /** `from` is the enclosing call. What the schema evaluates is added to `evaluated`, unless it fails. */
  evaluate(node: SchemaNode, from: SchemaCall, place: InstanceLocation, evaluated: Evaluated | null): Truth {
    const own = this.load.tracks ? new Evaluated(this.budget) : null
    const outcome = this.apply(node, from, place, own)
    if (evaluated !== null && own !== null && outcome !== false) evaluated.absorb(own, outcome === true)
    return outcome
  }

  private apply(node: SchemaNode, from: SchemaCall, place: InstanceLocation, evaluated: Evaluated | null): Truth {
    const { schema, resource } = node
    if (!this.budget.spend(TICKS.schema)) return undecided(evaluated)
    if (schema === true) return true
    if (schema === false) return this.refuse(node, place)
    if (resource.gap !== null) return undecided(evaluated, this.reportGap(node, '$schema', resource.gap))
    if (from.depth >= DEPTH_MAX) return undecided(evaluated, this.reportGap(node, null, 'budget_exceeded'))
    const rules = (node.rules ??= compileRules(this.load, node, schema))
    if (!this.budget.spend(rules.length * TICKS.keyword)) return undecided(evaluated)
    const scope = from.scope.resource === resource ? from.scope : { resource, outer: from.scope, depth: from.scope.depth + 1 }
    const call: SchemaCall = { run: this, node, place, scope, evaluated, depth: from.depth + 1 }
    let outcome: Truth = true
    for (const rule of rules) {
      if (outcome === false && (rule.last || !this.reports_errors)) break
      outcome = kleeneAnd(outcome, rule.apply(call))
    }
    return outcome
  }

  private refuse(node: SchemaNode, place: InstanceLocation): false {
    if (!this.reports_errors) return false
    const keyword = node.steps[0] ?? 'false'
    const at = { place, node, step: null, keyword }
    if (/propert/i.test(keyword)) return this.report({ ...at, code: 'property_not_allowed', message: 'This property is not allowed.' })
    if (/items/i.test(keyword)) return this.report({ ...at, code: 'item_not_allowed', message: 'This item is not allowed.' })
    return this.report({ ...at, code: 'nothing_allowed', message: 'The schema is false, so no value is allowed here.' })
  }

  reportError({ node, place }: SchemaCall, keyword: string, code: ErrorCode, message: ErrorMessage, before?: ReportMark): false {
    return this.reports_errors ? this.report({ place, node, step: keyword, keyword, code, message }, before) : false
  }

  private report(error: PendingError, before?: ReportMark): false {
    const at = before?.errors ?? this.pending.length
    if (at === ERRORS_MAX) this.truncated = true
    else this.pending.splice(at, 0, error)
    if (this.pending.length > ERRORS_MAX) {
      this.pending.length = ERRORS_MAX
      this.truncated = true
    }
    return false
  }

  reportGap(node: SchemaNode, keyword: string | null, code: GapCode): null {
    if (this.gaps.length >= GAPS_MAX) return null
    const known = this.doubted.get(node) ?? []
    const name = `${code} ${keyword ?? ''}`
    if (known.includes(name) || !this.budget.spend(TICKS.path)) return null
    this.doubted.set(node, [...known, name])
    const schema_path = keyword === null ? schemaPath(node) : schemaPath(node, keyword)
    const listed = this.gaps.some((one) => one.code === code && one.schema_path === schema_path)
    if (!listed) this.gaps.push({ code, schema_path, keyword, message: GAP_CODES[code] })
    return null
  }

  mark(): ReportMark {
    return { errors: this.pending.length, truncated: this.truncated }
  }

  reset(mark: ReportMark): void {
    this.pending.length = mark.errors
    this.truncated = mark.truncated
  }
}

/** A schema that was not applied may evaluate anything. */
function undecided(evaluated: Evaluated | null, outcome: null = null): null {
  evaluated?.addUnknown()
  return outcome
}

/**
 * Interpreter for JSON Schema 2020-12 (June 2022), 2019-09 (September 2019) and draft-07 (March 2018): no code is generated from a schema
 * and nothing is fetched; undecidable parts are reported as such.
 *
 * `format` and the content keywords are annotations, the default of the specifications; they are listed with all other keywords that assert
 * nothing. Numbers are compared by their shortest decimal text, lengths by code points, patterns by RE2 (see `pattern.ts`). A schema with a
 * malformed keyword is not applied. Undecided parts follow Kleene's logic: `valid` and `invalid` are given only if no undecided part could
 * change them.
 */

export interface SchemaVerdict extends DialectUsed {
  outcome: 'valid' | 'invalid' | 'undetermined'
  /** At most 100, in the order of evaluation; empty unless invalid. */
  errors: SchemaError[]
  /** True if there are more than 100 errors. */
  truncated: boolean
  /** Undecided parts. With a verdict, they made no difference. */
  unsupported: SchemaGap[]
  /** Keywords without effect on the verdict: annotations such as format, and unknown names. */
  annotations_only: string[]
  /** Work done in steps; the same for the same input. */
  steps: number
}

const DATA_DEPTH = 64
const DATA_CHARS = 5 * 1_048_576

/** Validates data against a schema. Never throws; work and memory are bounded. */
export function validateJsonSchema(schema: unknown, data: unknown, options: SchemaOptions = {}): SchemaVerdict {
  const { load, root, used, gaps } = openSchema(schema, options)
  const verdict = { ...used, errors: [], truncated: false, annotations_only: [...load.annotations], steps: load.budget.steps }
  const fault = checkJsonBounds(data, DATA_DEPTH, DATA_CHARS)
  const unsupported = fault === null ? gaps : [...gaps, gapOf(`data_${fault}`)]
  if (root === null || unsupported.length > 0) return { ...verdict, outcome: 'undetermined', unsupported }
  return { ...verdict, ...evaluateRoot(new Evaluation(load), root, data) }
}

/** A schema that was read once and is applied to many values. */
export interface CompiledSchema {
  /** Never throws; the work is bounded by the steps. */
  validate(data: unknown, steps: number): Pick<SchemaVerdict, 'outcome' | 'errors'>
}

/** Reads a schema once. null if it cannot be applied; schemas that the caller does not trust are read for each value instead. */
export function compileJsonSchema(schema: unknown, options: SchemaOptions): CompiledSchema | null {
  const { load, root, gaps } = openSchema(schema, options)
  if (root === null || gaps.length > 0) return null
  return {
    validate(data, steps) {
      if (checkJsonBounds(data, DATA_DEPTH, DATA_CHARS) !== null) return { outcome: 'undetermined', errors: [] }
      load.budget = new Budget(steps)
      const verdict = evaluateRoot(new Evaluation(load), root, data)
      return { outcome: verdict.outcome, errors: verdict.outcome === 'invalid' ? [...verdict.errors] : [] }
    },
  }
}

function evaluateRoot(evaluation: Evaluation, root: SchemaNode, data: unknown) {
  const truth = evaluation.start(root, data)
  const { gaps, truncated, budget } = evaluation
  const { steps } = budget
  const unsupported = budget.exhausted ? [...gaps, gapOf('budget_exceeded')] : gaps
  if (truth === false) return { outcome: 'invalid', errors: evaluation.errors, truncated, unsupported, steps } as const
  return { outcome: truth === null ? 'undetermined' : 'valid', unsupported, steps } as const
}

/** Functions that compile a keyword, by the kind of its value. */

const ON_VALUE: Readonly<Record<string, (value: unknown) => ApplyKeyword>> = {
  type: assertions.applyType,
  enum: assertions.applyEnum,
  const: assertions.applyConst,
  multipleOf: assertions.applyMultipleOf,
  pattern: assertions.applyPattern,
  required: applicators.applyRequired,
  dependentRequired: applicators.applyDependentRequired,
  uniqueItems: applicators.applyUniqueItems,
}

const ON_LIST: Readonly<Record<string, (nodes: readonly SchemaNode[]) => ApplyKeyword>> = {
  allOf: applicators.applyAllOf,
  anyOf: applicators.applyAnyOf,
  oneOf: applicators.applyOneOf,
  prefixItems: applicators.applyItemList,
  items: applicators.applyItemList,
}

const ON_SCHEMA: Readonly<Record<string, (node: SchemaNode, child: SchemaNode) => ApplyKeyword>> = {
  not: (_node, child) => applicators.applyNot(child),
  if: (node, child) => applicators.applyIf(child, singleChild(node, 'then'), singleChild(node, 'else')),
  additionalProperties: applicators.applyAdditionalProperties,
  propertyNames: (_node, child) => applicators.applyPropertyNames(child),
  contains: applicators.applyContains,
  items: (node, child) => applicators.applyItems(child, applicators.listLength(node.children.get('prefixItems'))),
  additionalItems: (node, child) => {
    const items = node.children.get('items')
    return items?.kind === 'list' ? applicators.applyItems(child, items.nodes.length) : () => true
  },
  unevaluatedProperties: (_node, child) => applicators.applyUnevaluatedProperties(child),
  unevaluatedItems: (_node, child) => applicators.applyUnevaluatedItems(child),
}

const ON_MAP: Readonly<Record<string, (node: SchemaNode) => ApplyKeyword>> = {
  properties: applicators.applyProperties,
  patternProperties: applicators.applyPatternProperties,
  dependentSchemas: (node) => applicators.applyDependentSchemas(node, 'dependentSchemas'),
}

function singleChild(node: SchemaNode, keyword: string): SchemaNode | null {
  const children = node.children.get(keyword)
  return children?.kind === 'one' ? children.node : null
}

/** Compiles the keywords of a schema object, in the order in which they must run. */
function compileRules(load: LoadedSchema, node: SchemaNode, schema: JsonRecord): KeywordRule[] {
  const { draft, vocabularies } = node.resource.dialect
  const names = isBareReference(schema, node.resource.dialect) ? ['$ref'] : Object.keys(schema)
  const rules: KeywordRule[] = []
  for (const keyword of names) {
    const row = KEYWORDS[draft][keyword]
    if (row === undefined || row.retired || !vocabularies.has(row.vocabulary)) continue
    const apply = compileKeyword(load, node, keyword, ownMember(schema, keyword))
    if (apply !== null) rules.push({ keyword, last: keyword.startsWith('unevaluated'), apply })
  }
  return rules.sort((a, b) => Number(a.last) - Number(b.last))
}

function compileKeyword(load: LoadedSchema, node: SchemaNode, keyword: string, value: unknown): ApplyKeyword | null {
  const children = node.children.get(keyword)
  if (children !== undefined) return compileApplicator(node, keyword, children, value)
  switch (keyword) {
    case '$ref':
    case '$dynamicRef':
    case '$recursiveRef':
      return applyReference(load, node, keyword, value)
    case 'format':
      return assertions.applyFormat(typeof value === 'string' ? load.formats[value] : undefined)
    default:
      return ON_VALUE[keyword]?.(value) ?? assertions.applyBound(keyword, value)
  }
}

function compileApplicator(node: SchemaNode, keyword: string, children: ChildSchemas, value: unknown): ApplyKeyword | null {
  switch (children.kind) {
    case 'one':
      return ON_SCHEMA[keyword]?.(node, children.node) ?? null
    case 'list':
      return ON_LIST[keyword]?.(children.nodes) ?? null
    case 'map':
      return keyword === 'dependencies' ? applyDependencies(node, value) : (ON_MAP[keyword]?.(node) ?? null)
  }
}

function applyDependencies(node: SchemaNode, value: unknown): ApplyKeyword {
  const names = applicators.applyDependentRequired(value, 'dependencies')
  const schemas = applicators.applyDependentSchemas(node, 'dependencies')
  return applicators.applyBoth(names, schemas)
}

function applyReference(load: LoadedSchema, node: SchemaNode, keyword: string, value: unknown): ApplyKeyword {
  const targetIn = typeof value === 'string' ? resolveTarget(load, node, keyword, value) : null
  return (call) => {
    if (targetIn !== null) return applyTarget(load, call, keyword, targetIn(call.scope))
    call.evaluated?.addUnknown()
    return load.budget.exhausted ? null : call.run.reportGap(node, keyword, 'ref_unresolvable')
  }
}

/** Turns charged for the list and the map of a location. */
const CACHE_TURNS = 8

/**
 * Applies a reference target in place. A target already being applied there would loop. Outcomes are cached per location, so that schemas
 * which reference each other many times do not multiply; not if the target depends on the dynamic scope, evaluated locations are tracked,
 * or errors are needed.
 */
function applyTarget(load: LoadedSchema, call: SchemaCall, keyword: string, target: SchemaNode): Truth {
  const { run, place, evaluated } = call
  const active = (place.active ??= [])
  if (!run.budget.spend(TICKS.turn * (CACHE_TURNS + active.length + (load.dynamic ? call.scope.depth : 0)))) {
    evaluated?.addUnknown()
    return null
  }
  if (active.includes(target)) {
    evaluated?.addUnknown()
    return run.reportGap(call.node, keyword, 'reference_loop')
  }
  const cache = load.dynamic || evaluated !== null ? null : (place.target_outcomes ??= new Map())
  const cached = cache?.get(target)
  if (cached !== undefined && (cached !== false || !run.reports_errors)) return cached
  active.push(target)
  const outcome = run.evaluate(target, call, place, evaluated)
  active.pop()
  cache?.set(target, outcome)
  return outcome
}
