import { Evaluated } from './evaluated.ts'
import { and, every, type Call, type SchemaNode, type Truth } from './nodes.ts'
import type { Apply } from './rules-values.ts'

/** Keywords that join schemas on one and the same place. */

function apply(call: Call, node: SchemaNode): Truth {
  return call.run.evaluate(node, call, call.place, call.evaluated)
}

/** Without reports: a failure here is no fault of the data. */
function applyQuietly(call: Call, node: SchemaNode): Truth {
  const { run } = call
  const { loud } = run
  run.loud = false
  const outcome = apply(call, node)
  run.loud = loud
  return outcome
}

export function applyAllOf(nodes: readonly SchemaNode[]): Apply {
  return (call) => every(call.run, nodes, (node) => apply(call, node))
}

/** All branches are tried where somebody asks what they looked at; else the first that accepts will do. */
export function applyAnyOf(nodes: readonly SchemaNode[]): Apply {
  return (call) => {
    const { run, evaluated } = call
    const mark = run.mark()
    let outcome: Truth = false
    for (const node of nodes) {
      if (outcome === true && evaluated === null) break
      const one = run.budget.exhausted ? null : apply(call, node)
      if (outcome !== true && one !== false) outcome = one
    }
    if (outcome !== false) run.reset(mark)
    if (outcome !== false) return outcome
    return run.fail(call, 'anyOf', 'no_branch_matches', 'None of the schemas in anyOf accepts the value.', mark)
  }
}

export function applyOneOf(nodes: readonly SchemaNode[]): Apply {
  return (call) => {
    const { run } = call
    const mark = run.mark()
    let [accepted, doubtful] = [0, 0]
    for (const node of nodes) {
      const one = run.budget.exhausted ? null : apply(call, node)
      if (one === true) accepted++
      if (one === null) doubtful++
      if (accepted > 1) break
    }
    if (accepted + doubtful > 0) run.reset(mark)
    if (accepted > 1) return run.fail(call, 'oneOf', 'several_branches_match', 'More than one of the schemas in oneOf accepts the value.')
    if (accepted + doubtful > 0) return doubtful > 0 ? null : true
    return run.fail(call, 'oneOf', 'no_branch_matches', 'None of the schemas in oneOf accepts the value.', mark)
  }
}

/** What a schema under `not` looked at does not count: it is there to fail. */
export function applyNot(node: SchemaNode): Apply {
  return (call) => {
    const outcome = applyQuietly({ ...call, evaluated: null }, node)
    if (outcome === null) return null
    return !outcome || call.run.fail(call, 'not', 'match_forbidden', 'The schema in not accepts the value.')
  }
}

export function applyIf(condition: SchemaNode, then: SchemaNode | null, otherwise: SchemaNode | null): Apply {
  return (call) => {
    const holds = applyQuietly(call, condition)
    if (holds !== null) {
      const branch = holds ? then : otherwise
      return branch === null ? true : apply(call, branch)
    }
    // Not known which branch counts: what both say is certain.
    const possible = call.evaluated === null ? null : new Evaluated(call.run.budget)
    const both = [then, otherwise].map((branch) => (branch === null ? true : applyQuietly({ ...call, evaluated: possible }, branch)))
    if (possible !== null) call.evaluated?.absorb(possible, false)
    if (both.every((one) => one === true)) return true
    return both.every((one) => one === false) ? failBoth(call) : null
  }
}

function failBoth(call: Call): false {
  return call.run.fail(call, 'if', 'no_branch_matches', 'Neither then nor else accepts the value.')
}

export function applyBoth(first: Apply, second: Apply): Apply {
  return (call) => and(first(call), second(call))
}
