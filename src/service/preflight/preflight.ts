import { z } from 'zod'
import { isObject } from '../../pure/is-object.ts'
import { checkDocument, type PreflightReport, type PreflightFinding, PREFLIGHT_STATEMENT } from '../../pure/protocols/check.ts'
import type { NumberLiterals } from '../../pure/protocols/json-cursor.ts'
import { readArtefact } from '../../pure/protocols/artefacts/artefact.ts'
import { readProtocolDocument } from '../../pure/protocols/read-document.ts'
import { recogniseProtocol } from '../../pure/protocols/recognise.ts'
import { PROTOCOLS } from '../../pure/protocols/registry.ts'
import {
  PROTOCOL_IDS,
  type ExceededBound,
  type Protocol,
  type ProtocolId,
  type RuleDescription,
  listDocumentTypes,
  type VersionSpan,
} from '../../pure/protocols/protocol.ts'
import { limits } from '../limits.ts'
import { decode } from '../catalogue/decode.ts'
import { problem, type Problem, type ProblemError } from '../problems.ts'
import { COMMON_RULES } from '../../pure/protocols/common-rules.ts'

/** The oldest and the newest version that a rule is about, by its own bounds and by the types that it is about. */
export function versionsOfRule(
  protocol: Pick<Protocol, 'versions' | 'spans'>,
  { types, since, until }: RuleDescription,
): Required<VersionSpan> {
  const { versions, spans = {} } = protocol
  const [newest = ''] = versions
  const oldest = versions.at(-1) ?? newest
  const age = (version: string) => versions.indexOf(version)
  const starts = types?.map((type) => spans[type]?.since ?? oldest) ?? []
  const ends = types?.map((type) => spans[type]?.until ?? newest) ?? []
  const first = starts.length === 0 ? oldest : starts.reduce((one, other) => (age(one) >= age(other) ? one : other))
  const last = ends.length === 0 ? newest : ends.reduce((one, other) => (age(one) <= age(other) ? one : other))
  return {
    since: since !== undefined && age(since) < age(first) ? since : first,
    until: until !== undefined && age(until) > age(last) ? until : last,
  }
}

/** A body that was read, with the numbers in it as they were written. */
export interface ReadValue {
  value: unknown
  literals: NumberLiterals
}

/** A report, with the place of the document where a text was sent. */
interface PreflightAnswer extends PreflightReport {
  part?: string
}

export type Preflight = { ok: true; report: PreflightAnswer } | { ok: false; problem: Problem }

/**
 * Bounds of the whole body, in which the document is one level down, next to at most four text members; two of these count against the
 * values of the document.
 */
export const BODY_BOUNDS = { depth: limits.preflight_depth + 1, nodes: limits.preflight_nodes + 3 }

export const DOCUMENT_BOUNDS = { string_chars: limits.preflight_string_chars, array_items: limits.preflight_array_items }

export const VERSION_EXPECTED = `a text of 1 to ${limits.preflight_version_chars} characters, such as 2026-04-08 or 1.0`

/** Document types of all protocols; each protocol takes its own. */
const ALL_TYPES = [...new Set(PROTOCOL_IDS.flatMap((id) => listDocumentTypes(PROTOCOLS[id])))]

const isDocument = z.custom<Record<string, unknown> | string>((value) => isObject(value) || typeof value === 'string', {
  error: 'document is the JSON object to be checked, or a text that contains it.',
  params: { code: 'wrong_type' },
})

/** The request of a preflight. */
export const PREFLIGHT_REQUEST = z
  .strictObject({
    protocol: z.enum(PROTOCOL_IDS).describe('The protocol that the document belongs to.'),
    document: isDocument.meta({
      type: ['object', 'string'],
      description:
        'The document as JSON; or a text that contains it: a header in Base64, the output of curl -i, an HTTP message, a HAR, events, JSON Lines or ' +
        'a token, of which the first part that belongs to the protocol is checked. Redacted profile, checkout response, MCP response, decoded AP2 claim, x402 requirements, Micro-AST catalogue or agent card. ' +
        'Put [REDACTED] in the place of secrets and personal data.',
    }),
    document_type: z
      .custom<string>((value) => typeof value === 'string', {
        error: `document_type is one of ${ALL_TYPES.join(', ')}.`,
        params: { code: 'wrong_type' },
      })
      .optional()
      .meta({
        type: 'string',
        enum: ALL_TYPES,
        description:
          'Kind of the document, where its shape could mean another; each protocol has its own list at /v1/protocols/rules. A type without ' +
          'rules, such as request, gets the status not_covered.',
      }),
    version: z
      .custom<string>(isVersion, { error: `version is ${VERSION_EXPECTED}.`, params: { code: 'wrong_type' } })
      .optional()
      .meta({
        type: 'string',
        minLength: 1,
        maxLength: limits.preflight_version_chars,
        description: 'Version of the protocol to check by, such as 2026-04-08 or 1.0. One without rules gets the status not_covered.',
      }),
    expected_payee: z
      .string()
      .min(1)
      .max(limits.preflight_payee_chars)
      .optional()
      .describe('Whom you mean to pay: an address, a merchant id or a host. It is compared with what the document says.'),
  })
  .check(({ value, issues }) => {
    const { protocol, document_type } = value
    if (document_type === undefined || listDocumentTypes(PROTOCOLS[protocol]).includes(document_type)) return
    const message = `document_type of ${protocol} is one of ${listDocumentTypes(PROTOCOLS[protocol]).join(', ')}.`
    issues.push({ code: 'custom', input: undefined, path: ['document_type'], message, params: { code: 'not_allowed' } })
  })

/** One preflight: validates the request against its schema and the document against the rules. Relative links get the origin in front. */
export function preflight({ value, literals }: ReadValue, now_s: number, base_url: string): Preflight {
  const read = decode(PREFLIGHT_REQUEST, value, {
    pointer: '',
    name: 'The body',
    hint: 'Send a JSON object with "protocol" and "document".',
  })
  if (!read.ok) return invalid(read.errors)
  const { protocol, document, document_type = null, version = null, expected_payee = null } = read.value
  const found = typeof document === 'string' ? readPart(document, protocol) : { value: document, literals, part: null }
  if (found === null) return invalid([{ pointer: '/document', code: 'wrong_type', message: NO_PART }])
  const stated = { document_type, version, expected_payee }
  const result = checkDocument(protocol, found.value, { ...stated, now_s, literals: found.literals, bounds: DOCUMENT_BOUNDS })
  if (result.kind === 'exceeded') return { ok: false, problem: boundProblem(result.exceeded) }
  const { errors, warnings, ...report } = result.report
  const rest = found.part === null ? report : { ...report, part: found.part }
  const absolute = (finding: PreflightFinding) => ({ ...finding, spec: { ...finding.spec, url: absoluteUrl(finding.spec.url, base_url) } })
  return { ok: true, report: { ...rest, errors: errors.map(absolute), warnings: warnings.map(absolute) } }
}

const NO_PART =
  'document is a text without a document. Send JSON, a header in Base64, the output of curl -i, an HTTP message, a HAR, events (data: lines), JSON Lines or a token.'

const PART_BOUNDS = { depth: limits.preflight_depth, nodes: limits.preflight_nodes }

/** The first document in a text that belongs to the protocol; else the first one. null if there is none. */
function readPart(text: string, protocol: ProtocolId): (ReadValue & { part: string }) | null {
  const parts = readArtefact(text).flatMap(({ part, text: json }) => {
    const read = readProtocolDocument(json, PART_BOUNDS)
    return read.ok ? [{ ...read, part: part ?? 'the text' }] : []
  })
  return parts.find(({ value }) => recogniseProtocol(value) === protocol) ?? parts[0] ?? null
}

/** Rules of this service name a path; those of others a URL. */
function absoluteUrl(url: string, base_url: string): string {
  return url.startsWith('/') ? `${base_url}${url}` : url
}

const BOUND_WORDS: Readonly<Record<string, string>> = {
  string_chars: 'A text or key of the document has more characters than the bound of',
  array_items: 'An array of the document has more items than the bound of',
  subschemas: 'A schema in the document has more objects than the bound of',
}

export function boundProblem({ bound, limit, path }: ExceededBound): Problem {
  const words = `${BOUND_WORDS[bound] ?? 'The document exceeds a bound:'} ${limit}.`
  return problem('PREFLIGHT_BOUND_EXCEEDED', words, {
    errors: [{ pointer: `/document${path}`, code: bound, message: words }],
    extra: { bound, limit, path },
  })
}

export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= limits.preflight_version_chars
}

function invalid(errors: ProblemError[]): { ok: false; problem: Problem } {
  const detail = errors.map(({ message }) => message).join(' ')
  return { ok: false, problem: problem('PREFLIGHT_REQUEST_INVALID', detail, { errors }) }
}

/** Section of the rule catalogue: one protocol, or the rules common to all of them. */
export const RULE_PARTS = ['common', ...PROTOCOL_IDS] as const

export type RulePart = (typeof RULE_PARTS)[number]

/** Entry of the rule catalogue. */
export type RuleShown = Required<Omit<RuleDescription, 'types' | 'since' | 'until' | 'hint_by_case'>> & {
  /** null: all of the protocol. */
  types: readonly string[] | null
  /** null: applies to every version of every protocol. */
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
    statement: PREFLIGHT_STATEMENT,
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
  const shown = (rule: RuleDescription) => ruleShown(rule, base_url)
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
function atVersions(protocol: Protocol, rule: RuleDescription): RuleDescription {
  const span = versionsOfRule(protocol, rule)
  return { ...rule, ...span, spec: protocol.specForVersion?.(rule.spec, span.until) ?? rule.spec }
}

function ruleShown({ code, severity, types, since, until, why, spec, hint, good, bad }: RuleDescription, base_url: string): RuleShown {
  const place = { ...spec, url: absoluteUrl(spec.url, base_url) }
  return { code, severity, types: types ?? null, since: since ?? null, until: until ?? null, why, spec: place, hint, good, bad }
}
