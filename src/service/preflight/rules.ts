import { STATEMENT } from '../../pure/protocols/check.ts'
import { ruleSpan } from '../../pure/protocols/coverage.ts'
import { COMMON_RULES } from '../../pure/protocols/common-rules.ts'
import { PROTOCOLS } from '../../pure/protocols/registry.ts'
import { PROTOCOL_IDS, type Protocol, type ProtocolId, type RuleHead } from '../../pure/protocols/rule.ts'
import { limits } from '../limits.ts'
import { absoluteUrl } from './request.ts'

/** A part of the catalogue of rules: one protocol, or what holds for all of them. */
export const RULE_PARTS = ['common', ...PROTOCOL_IDS] as const

export type RulePart = (typeof RULE_PARTS)[number]

/** What the catalogue says of one rule. */
export type RuleShown = Required<Omit<RuleHead, 'types' | 'since' | 'until' | 'hint_by_case'>> & {
  /** null: all of the protocol. */
  types: readonly string[] | null
  /** null: holds for every version of every protocol. */
  since: string | null
  until: string | null
}

export interface PartShown {
  id: RulePart
  title: string
  versions: readonly string[]
  document_types: readonly string[]
  /** Types that may be stated and that no rule looks at. */
  uncovered_types: readonly string[]
  not_checked: readonly string[]
  rules: RuleShown[]
}

/** The rules of one part, or of all; derived from the tables that the checks run on. */
export function ruleCatalogue(only: RulePart | null, base_url: string) {
  const parts = RULE_PARTS.filter((part) => only === null || part === only).map((part) => partShown(part, base_url))
  return {
    statement: STATEMENT,
    count: parts.reduce((sum, { rules }) => sum + rules.length, 0),
    bounds: {
      body_bytes: limits.preflight_body_bytes,
      depth: limits.preflight_depth,
      nodes: limits.preflight_nodes,
      string_chars: limits.preflight_string_chars,
      array_items: limits.preflight_array_items,
    },
    protocols: parts,
  }
}

export function partShown(part: RulePart, base_url: string): PartShown {
  const shown = (rule: RuleHead) => ruleShown(rule, base_url)
  if (part === 'common')
    return {
      id: part,
      title: 'Rules for every protocol',
      versions: [],
      document_types: [],
      uncovered_types: [],
      not_checked: [],
      rules: COMMON_RULES.map(shown),
    }
  const protocol = PROTOCOLS[part satisfies ProtocolId]
  const { title, versions, types, uncovered = [], not_checked, rules } = protocol
  const uncovered_types = uncovered.map(({ type }) => type)
  return {
    id: part,
    title,
    versions,
    document_types: types,
    uncovered_types,
    not_checked,
    rules: rules.map((rule) => shown(atVersions(protocol, rule))),
  }
}

/** A rule with the versions that it is about, and the page of the newest of them. */
function atVersions(protocol: Protocol, rule: RuleHead): RuleHead {
  const span = ruleSpan(protocol, rule)
  return { ...rule, ...span, spec: protocol.specAt?.(rule.spec, span.until) ?? rule.spec }
}

function ruleShown({ code, severity, types, since, until, why, spec, hint, good, bad }: RuleHead, base_url: string): RuleShown {
  const place = { ...spec, url: absoluteUrl(spec.url, base_url) }
  return { code, severity, types: types ?? null, since: since ?? null, until: until ?? null, why, spec: place, hint, good, bad }
}
