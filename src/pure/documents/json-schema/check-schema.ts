import { isObject } from '../../is-object.ts'
import type { Gap, GapCode } from './gaps.ts'
import { member } from './json.ts'
import type { Loaded } from './load.ts'
import { schemaPath, type SchemaNode } from './nodes.ts'
import { gapOf, openSchema, type DialectUsed, type SchemaOptions } from './open.ts'
import { compilePattern } from './pattern.ts'
import { findTarget } from './references.ts'

export interface SchemaCheck extends DialectUsed {
  /** Every keyword has a value that its draft permits. Null when the dialect is not ours or the schema is out of bounds. */
  well_formed: boolean | null
  /** Keywords whose values are not permitted; at most 20. */
  findings: Gap[]
  /** What a validation could come to a halt at: references to nowhere, patterns beyond the matcher. At most 20. */
  unsupported: Gap[]
  /** Keywords that do not decide: notes such as format, and names that the dialect does not know. */
  annotations_only: string[]
}

const LISTED = 20

/** Whether a schema is well-formed, and what in it could not be applied. It is not held against any data. Never throws. */
export function checkSchema(schema: unknown, options: SchemaOptions = {}): SchemaCheck {
  const { used, load, gaps, root } = openSchema(schema, options)
  const findings = gaps.filter(({ code }) => code === 'schema_malformed')
  const others = gaps.filter(({ code }) => code !== 'schema_malformed')
  const unsupported = others.length > 0 || root === null ? others : gapsInside(load)
  const well_formed = others.length > 0 ? null : findings.length === 0
  return { ...used, well_formed, findings, unsupported, annotations_only: [...load.annotations] }
}

/** References and patterns of every schema in the document, looked at without data. */
function gapsInside(load: Loaded): Gap[] {
  const found: Gap[] = []
  // A copy: following a reference may take in more.
  for (const node of load.nodes.slice()) {
    for (const [keyword, code] of [...faultyReferences(load, node), ...faultyPatterns(load, node)]) {
      if (found.length < LISTED) found.push(gapOf(code, schemaPath(node, keyword), keyword))
    }
    if (found.length === LISTED || load.budget.exhausted) break
  }
  return load.budget.exhausted ? [...found.slice(0, LISTED - 1), gapOf('budget_exceeded')] : found
}

type Fault = [keyword: string, code: GapCode]

function faultyReferences(load: Loaded, node: SchemaNode): Fault[] {
  const { schema } = node
  const { draft } = node.resource.dialect
  const keywords = ['$ref', ...(draft === '2020-12' ? ['$dynamicRef'] : []), ...(draft === '2019-09' ? ['$recursiveRef'] : [])]
  return keywords.flatMap((keyword): Fault[] => {
    const reference = isObject(schema) ? member(schema, keyword) : undefined
    return typeof reference === 'string' && findTarget(load, node, reference) === null ? [[keyword, 'ref_unresolvable']] : []
  })
}

function faultyPatterns({ budget }: Loaded, { schema }: SchemaNode): Fault[] {
  if (!isObject(schema)) return []
  const named = member(schema, 'patternProperties')
  const sources = [
    ['pattern', member(schema, 'pattern')],
    ...Object.keys(isObject(named) ? named : {}).map((one) => ['patternProperties', one]),
  ]
  return sources.flatMap(([keyword, source]): Fault[] => {
    const state = typeof source === 'string' ? (compilePattern(source, budget)?.state ?? 'ready') : 'ready'
    return state === 'ready' ? [] : [[String(keyword), state === 'broken' ? 'pattern_invalid' : 'pattern_unsupported']]
  })
}
