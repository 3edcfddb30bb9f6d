import { GAP_CODES, type Gap, type GapCode } from './gaps.ts'
import type { Loaded } from './load.ts'
import {
  and,
  instancePath,
  schemaPath,
  type Call,
  type ErrorCode,
  type Mark,
  type Place,
  type Run,
  type SchemaNode,
  type Seen,
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

/** One evaluation: its work, and what it found. */
export class Evaluation implements Run {
  readonly errors: SchemaError[] = []
  readonly gaps: Gap[] = []
  loud = true
  truncated = false
  exhausted = false
  steps = 0
  private readonly load: Loaded
  private readonly limit: number

  constructor(load: Loaded, limit: number) {
    this.load = load
    this.limit = limit
  }

  /** Applies the root of a document to the data. */
  start(node: SchemaNode, data: unknown): Truth {
    const place: Place = { value: data, parent: null, step: '', key: null, active: [], told: null }
    const scope = { resource: node.resource, outer: null }
    const call: Call = { run: this, node, place, scope, seen: null, depth: 0 }
    return this.evaluate(node, call, place, this.load.tracks ? newSeen() : null)
  }

  spend(steps: number): boolean {
    this.steps += steps
    if (this.steps > this.limit) this.exhausted = true
    return !this.exhausted
  }

  /** `from` is the call that led here. */
  evaluate(node: SchemaNode, from: Call, place: Place, seen: Seen | null): Truth {
    const { schema, resource } = node
    if (!this.spend(1)) return null
    if (schema === true) return true
    if (schema === false) return this.refuse(node, place)
    if (resource.gap !== null) return this.doubt(node, '$schema', resource.gap)
    if (from.depth >= DEPTH_MAX) return this.doubt(node, null, 'budget_exceeded')
    const rules = (node.rules ??= rulesOf(this.load, node, schema))
    if (!this.spend(rules.length)) return null
    const scope = from.scope.resource === resource ? from.scope : { resource, outer: from.scope }
    const tracks = this.load.tracks
    const call: Call = { run: this, node, place, scope, seen: tracks ? newSeen() : null, depth: from.depth + 1 }
    let outcome: Truth = true
    for (const rule of rules) {
      if (outcome === false && (rule.last || !this.loud)) break
      outcome = and(outcome, rule.apply(call))
    }
    if (seen !== null && call.seen !== null && outcome !== false) this.absorb(seen, call.seen, outcome === null)
    return outcome
  }

  private refuse(node: SchemaNode, place: Place): false {
    const keyword = node.steps[0] ?? 'false'
    const path = () => schemaPath(node)
    if (/propert/i.test(keyword)) return this.report(place, path, keyword, 'property_not_allowed', 'This property is not allowed.')
    if (/items/i.test(keyword)) return this.report(place, path, keyword, 'item_not_allowed', 'This item is not allowed.')
    return this.report(place, path, keyword, 'nothing_allowed', 'The schema false accepts nothing.')
  }

  /** What a schema looked at counts for the one that holds it, unless it failed or is in doubt. */
  private absorb(into: Seen, seen: Seen, doubt: boolean): void {
    into.unsure ||= seen.unsure || doubt
    if (doubt || !this.spend(seen.properties.size + seen.items.size)) return
    into.all_properties ||= seen.all_properties
    into.items_before = Math.max(into.items_before, seen.items_before)
    for (const name of seen.properties) into.properties.add(name)
    for (const index of seen.items) into.items.add(index)
  }

  fail({ node, place }: Call, keyword: string, code: ErrorCode, message: string, before?: Mark): false {
    return this.report(place, () => schemaPath(node, keyword), keyword, code, message, before)
  }

  private report(place: Place, path: () => string, keyword: string, code: ErrorCode, message: string, before?: Mark): false {
    if (!this.loud) return false
    const at = before?.errors ?? this.errors.length
    if (at === ERRORS_MAX) this.truncated = true
    else this.errors.splice(at, 0, { instance_path: instancePath(place), schema_path: path(), keyword, code, message })
    if (this.errors.length > ERRORS_MAX) {
      this.errors.length = ERRORS_MAX
      this.truncated = true
    }
    return false
  }

  doubt(node: SchemaNode, keyword: string | null, code: GapCode): null {
    if (this.gaps.length < GAPS_MAX) {
      const schema_path = keyword === null ? schemaPath(node) : schemaPath(node, keyword)
      const known = this.gaps.some((one) => one.code === code && one.schema_path === schema_path)
      if (!known) this.gaps.push({ code, schema_path, keyword, message: GAP_CODES[code] })
    }
    return null
  }

  mark(): Mark {
    return { errors: this.errors.length, truncated: this.truncated }
  }

  reset(mark: Mark): void {
    this.errors.length = mark.errors
    this.truncated = mark.truncated
  }
}

function newSeen(): Seen {
  return { properties: new Set(), all_properties: false, items: new Set(), items_before: 0, unsure: false }
}
