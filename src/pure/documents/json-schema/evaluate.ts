import { TICKS, type Budget } from './budget.ts'
import { Evaluated } from './evaluated.ts'
import { GAP_CODES, type Gap, type GapCode } from './gaps.ts'
import type { Loaded } from './load.ts'
import {
  and,
  instancePath,
  schemaPath,
  type Call,
  type ErrorCode,
  type Mark,
  type Message,
  type Place,
  type Run,
  type SchemaNode,
  type Truth,
} from './nodes.ts'
import { rulesOf } from './rules.ts'

/** One way in which the data break the schema. */
export interface SchemaError {
  /** JSON pointer into the data. */
  instance_path: string
  schema_path: string
  keyword: string
  code: ErrorCode
  message: string
}

const ERRORS_MAX = 100
const GAPS_MAX = 20

/** Schemas applied within one another; far below what an engine's stack holds. */
const DEPTH_MAX = 400

/** A report whose path and message are not written out yet: most are forgotten, or beyond the list. */
interface PendingError {
  place: Place
  node: SchemaNode
  /** Null for the schema itself. */
  step: string | null
  keyword: string
  code: ErrorCode
  message: Message
}

/** One evaluation: its work, and what it found. */
export class Evaluation implements Run {
  readonly gaps: Gap[] = []
  readonly budget: Budget
  loud = true
  truncated = false
  private readonly load: Loaded
  private readonly pending: PendingError[] = []
  /** Keywords of schemas whose gaps are listed. */
  private readonly doubted = new Map<SchemaNode, string[]>()

  constructor(load: Loaded) {
    this.load = load
    this.budget = load.budget
  }

  /** The errors, written out. */
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
    const place: Place = { value: data, parent: null, step: '', names: null, key: null, active: null, told: null }
    const scope = { resource: node.resource, outer: null, depth: 1 }
    const call: Call = { run: this, node, place, scope, evaluated: null, depth: 0 }
    return this.evaluate(node, call, place, null)
  }

  /** `from` is the call that led here. What the schema evaluates goes to `evaluated`, unless it fails. */
  evaluate(node: SchemaNode, from: Call, place: Place, evaluated: Evaluated | null): Truth {
    const own = this.load.tracks ? new Evaluated(this.budget) : null
    const outcome = this.apply(node, from, place, own)
    if (evaluated !== null && own !== null && outcome !== false) evaluated.absorb(own, outcome === true)
    return outcome
  }

  private apply(node: SchemaNode, from: Call, place: Place, evaluated: Evaluated | null): Truth {
    const { schema, resource } = node
    if (!this.budget.spend(TICKS.schema)) return unknown(evaluated)
    if (schema === true) return true
    if (schema === false) return this.refuse(node, place)
    if (resource.gap !== null) return unknown(evaluated, this.doubt(node, '$schema', resource.gap))
    if (from.depth >= DEPTH_MAX) return unknown(evaluated, this.doubt(node, null, 'budget_exceeded'))
    const rules = (node.rules ??= rulesOf(this.load, node, schema))
    if (!this.budget.spend(rules.length * TICKS.keyword)) return unknown(evaluated)
    const scope = from.scope.resource === resource ? from.scope : { resource, outer: from.scope, depth: from.scope.depth + 1 }
    const call: Call = { run: this, node, place, scope, evaluated, depth: from.depth + 1 }
    let outcome: Truth = true
    for (const rule of rules) {
      if (outcome === false && (rule.last || !this.loud)) break
      outcome = and(outcome, rule.apply(call))
    }
    return outcome
  }

  private refuse(node: SchemaNode, place: Place): false {
    if (!this.loud) return false
    const keyword = node.steps[0] ?? 'false'
    const at = { place, node, step: null, keyword }
    if (/propert/i.test(keyword)) return this.report({ ...at, code: 'property_not_allowed', message: 'This property is not allowed.' })
    if (/items/i.test(keyword)) return this.report({ ...at, code: 'item_not_allowed', message: 'This item is not allowed.' })
    return this.report({ ...at, code: 'nothing_allowed', message: 'The schema false accepts nothing.' })
  }

  fail({ node, place }: Call, keyword: string, code: ErrorCode, message: Message, before?: Mark): false {
    return this.loud ? this.report({ place, node, step: keyword, keyword, code, message }, before) : false
  }

  private report(error: PendingError, before?: Mark): false {
    const at = before?.errors ?? this.pending.length
    if (at === ERRORS_MAX) this.truncated = true
    else this.pending.splice(at, 0, error)
    if (this.pending.length > ERRORS_MAX) {
      this.pending.length = ERRORS_MAX
      this.truncated = true
    }
    return false
  }

  doubt(node: SchemaNode, keyword: string | null, code: GapCode): null {
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

  mark(): Mark {
    return { errors: this.pending.length, truncated: this.truncated }
  }

  reset(mark: Mark): void {
    this.pending.length = mark.errors
    this.truncated = mark.truncated
  }
}

/** Of a schema that was not applied nothing is known. */
function unknown(evaluated: Evaluated | null, outcome: null = null): null {
  evaluated?.addUnknown()
  return outcome
}
