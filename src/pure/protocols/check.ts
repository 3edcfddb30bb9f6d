import { COMMON_RULES, type CommonView } from './common-rules.ts'
import { coverageOf } from './coverage.ts'
import { Findings, type Finding } from './findings.ts'
import { Place, type NumberLiterals } from './place.ts'
import { PROTOCOLS } from './registry.ts'
import type { Context, Detection, Exceeded, Protocol, ProtocolId, Rule, RuleHead, VersionSource } from './rule.ts'
import type { Secret } from './secrets.ts'
import { survey, type DocumentBounds, type Survey } from './survey.ts'

export interface CheckOptions {
  /** Whom the caller means to pay: an address, an id, a host; each protocol says what it compares. */
  expected_payee: string | null
  /** Type and version that the caller states; what the document shows counts where they are left out. */
  document_type?: string | null
  version?: string | null
  /** Unix time in seconds. */
  now_s: number
  literals: NumberLiterals
  bounds: DocumentBounds
}

export interface PreflightReport {
  /** `fail` with at least one error, `warn` with warnings alone; `not_covered` where no rule set covers the type or version. */
  status: 'pass' | 'warn' | 'fail' | 'not_covered'
  protocol: ProtocolId
  document_type: string
  version: string
  version_source: VersionSource
  errors: Finding[]
  warnings: Finding[]
  /** Codes of the rules that were applied. */
  checked: string[]
  not_checked: string[]
  /** There were more findings than are shown. */
  truncated: boolean
  statement: string
}

export type CheckResult = { kind: 'report'; report: PreflightReport } | { kind: 'exceeded'; exceeded: Exceeded }

export const STATEMENT =
  'A structural preflight of selected rules. It is no conformance result, verifies no signature and no settlement, and fetches nothing.'

const SCHEMA_STEPS = 500_000

/** Documents inside documents inside documents: MCP around UCP around AP2 is the deepest that is met. */
const MOST_NESTED = 3

interface Run {
  findings: Findings
  checked: Set<string>
  not_checked: Set<string>
  exceeded: Exceeded | null
  budget: { schema_steps: number }
  options: CheckOptions
}

/**
 * Holds a document against the selected rules of its protocol, and the documents in it against theirs. Decides nothing else: it fetches
 * nothing and verifies no signature. Never throws; work grows in proportion to the document. Where a rule of a protocol is open to
 * readings, it errs towards silence or a warning.
 */
export function checkDocument(id: ProtocolId, document: unknown, options: CheckOptions): CheckResult {
  const protocol = PROTOCOLS[id]
  const root = Place.root(document, options.literals)
  const run = newRun(protocol, options)
  const seen = survey(root, options.bounds)
  if (seen.exceeded !== null) {
    const { bound, place } = seen.exceeded
    return { kind: 'exceeded', exceeded: { bound, limit: options.bounds[bound], path: place.path() } }
  }
  const { is_covered, detection, other_declared } = coverageOf(protocol, root, {
    document_type: options.document_type ?? null,
    version: options.version ?? null,
  })
  if (!is_covered) {
    runUncovered(run, protocol, seen, root, detection)
    return { kind: 'report', report: { ...reportOf(run, protocol, detection), status: 'not_covered' } }
  }
  const other = otherProtocol(protocol, root)
  runCommon(run, COMMON_RULES, { ...commonView(protocol, seen, root, other), other_declared })
  if (other === null) runProtocol(run, protocol, root, detection, { level: 0, secrets: seen.secrets })
  if (run.exceeded !== null) return { kind: 'exceeded', exceeded: run.exceeded }
  return { kind: 'report', report: reportOf(run, protocol, detection) }
}

function newRun(protocol: Protocol, options: CheckOptions): Run {
  const not_checked = new Set(protocol.not_checked)
  return { findings: new Findings(), checked: new Set(), not_checked, exceeded: null, budget: { schema_steps: SCHEMA_STEPS }, options }
}

/** Protocols whose documents are read out of JSON-RPC. MCP has rules of its own about its messages. */
const IN_MESSAGES: ReadonlySet<ProtocolId> = new Set(['ucp', 'acp', 'ap2', 'a2a'])

/** The protocol whose mark a document bears when it bears none of the chosen one. */
function otherProtocol(chosen: Protocol, document: Place): Protocol | null {
  if (chosen.marks(document)) return null
  return Object.values(PROTOCOLS).find((other) => other.id !== chosen.id && other.marks(document)) ?? null
}

function commonView(protocol: Protocol, seen: Survey, document: Place, other: Protocol | null): CommonView {
  return {
    document,
    other_protocol: other === null ? null : `${other.title} ("${other.id}")`,
    other_declared: null,
    first_redacted: seen.first_redacted,
    redacted_count: seen.redacted_count,
    secrets: protocol.secret_rule === undefined ? seen.secrets : [],
    odd_numbers: seen.odd_numbers,
    message: other === null && IN_MESSAGES.has(protocol.id) && document.has('jsonrpc') ? document : null,
  }
}

function runCommon(run: Run, rules: readonly Rule<CommonView>[], view: CommonView): void {
  for (const one of rules) {
    run.checked.add(one.code)
    one.check(run.findings.reportOf(one), view)
  }
}

/** Runs on a document without a rule set what holds for every document: redaction, secrets and numbers, which draw warnings alone. */
function runUncovered(run: Run, protocol: Protocol, seen: Survey, document: Place, { type, version }: Detection): void {
  const rules = COMMON_RULES.filter(({ severity }) => severity === 'warning')
  runCommon(run, rules, { ...commonView(protocol, seen, document, null), secrets: seen.secrets })
  run.not_checked.add(`rules of the protocol: none covers the type ${printableType(type)} in version ${printableType(version)}`)
}

/** A type or version that a caller states may be any text. */
function printableType(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : 'that was stated'
}

interface Nesting {
  level: number
  secrets: readonly Secret[]
}

function runProtocol(run: Run, protocol: Protocol, document: Place, detection: Detection, nesting: Nesting): void {
  const context = contextOf(run, protocol, document, detection, nesting)
  const check = protocol.open(context)
  for (const [index, head] of protocol.rules.entries()) {
    if (run.exceeded !== null) return
    if (!applies(protocol, head, detection)) continue
    run.checked.add(head.code)
    const spec = protocol.specAt?.(head.spec, detection.version) ?? head.spec
    check(index, run.findings.reportOf({ ...head, spec }))
  }
}

/** Whether a rule is about documents of this type and version. */
function applies(protocol: Protocol, head: RuleHead, { type, version }: Detection): boolean {
  const { types, since, until } = head
  if (types !== undefined && !types.includes(type)) return false
  const age = (one: string) => protocol.versions.indexOf(one)
  if (since !== undefined && age(version) > age(since)) return false
  return until === undefined || age(version) >= age(until)
}

function contextOf(run: Run, protocol: Protocol, document: Place, detection: Detection, { level, secrets }: Nesting): Context {
  const { expected_payee, now_s } = run.options
  const takes: Context['takes'] = (id, place, type) => level < MOST_NESTED && (type !== undefined || PROTOCOLS[id].marks(place))
  return {
    ...detection,
    protocol: protocol.id,
    document,
    nested: level > 0,
    expected_payee,
    now_s,
    secrets,
    budget: run.budget,
    atLeast: (version) => protocol.versions.indexOf(detection.version) <= protocol.versions.indexOf(version),
    takes,
    delegate(id, place, type) {
      if (!takes(id, place, type)) return false
      const inner = PROTOCOLS[id]
      const found = inner.detect(place)
      for (const phrase of inner.not_checked) run.not_checked.add(phrase)
      runProtocol(run, inner, place, type === undefined ? found : { ...found, type }, { level: level + 1, secrets: [] })
      return true
    },
    exceed(place, bound, limit) {
      run.exceeded ??= { bound, limit, path: place.path() }
    },
    notChecked: (phrase) => void run.not_checked.add(phrase),
  }
}

function reportOf(run: Run, protocol: Protocol, { type, version, version_source }: Detection): PreflightReport {
  const { counts } = run.findings
  const { errors, warnings, truncated } = run.findings.result()
  return {
    status: counts.error > 0 ? 'fail' : counts.warning > 0 ? 'warn' : 'pass',
    protocol: protocol.id,
    document_type: type,
    version,
    version_source,
    errors,
    warnings,
    checked: [...run.checked],
    not_checked: [...run.not_checked],
    truncated,
    statement: STATEMENT,
  }
}
