import { COMMON_RULES, type CommonView, type UnknownShape } from './common-rules.ts'
import { JsonCursor, type NumberLiterals } from './json-cursor.ts'
import { decideCoverage, shownDetection } from './coverage.ts'
import { findNearName } from './kit/near-names.ts'
import { PROTOCOLS } from './registry.ts'
import type {
  RuleContext,
  Detection,
  ExceededBound,
  Protocol,
  ProtocolId,
  ProtocolRule,
  RuleDescription,
  FindingDetails,
  FindingReporter,
  FindingSeverity,
  SpecReference,
} from './protocol.ts'
import { type DetectedSecret, detectSecret } from './secrets.ts'

interface CheckOptions {
  /** Payee that the caller means to pay: an address, an id or a host. Each protocol defines what it compares. */
  expected_payee: string | null
  /** Type and version that the caller states; detected from the document if left out. */
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
  version_source: Detection['version_source']
  errors: PreflightFinding[]
  warnings: PreflightFinding[]
  /** Codes of the rules that were applied. */
  checked: string[]
  not_checked: string[]
  /** There were more findings than are shown. */
  truncated: boolean
  statement: string
}

type CheckResult = { kind: 'report'; report: PreflightReport } | { kind: 'exceeded'; exceeded: ExceededBound }

export const PREFLIGHT_STATEMENT =
  'A structural preflight of selected rules. It is not a conformance result, does not verify signatures or settlement, and fetches nothing.'

const SCHEMA_STEPS = 500_000

/** Maximum nesting of documents: MCP around UCP around AP2 is the deepest in use. */
const MOST_NESTED = 3

interface CheckRun {
  findings: FindingCollector
  /** A rule of some protocol had the chance to compare the expected payee. */
  compares_payee: boolean
  checked: Set<string>
  not_checked: Set<string>
  exceeded: ExceededBound | null
  budget: { schema_steps: number }
  options: CheckOptions
}

/**
 * Checks a document by selected rules of its protocol, and documents inside it by theirs. It fetches nothing and verifies no signature.
 * Never throws; the time is proportional to the document. Where a rule of a protocol is ambiguous, it warns or stays silent.
 */
export function checkDocument(id: ProtocolId, document: unknown, options: CheckOptions): CheckResult {
  const protocol = PROTOCOLS[id]
  const root = JsonCursor.root(document, options.literals)
  const run = newRun(protocol, options)
  const seen = surveyDocument(root, options.bounds)
  if (seen.exceeded !== null) {
    const { bound, cursor } = seen.exceeded
    return { kind: 'exceeded', exceeded: { bound, limit: options.bounds[bound], path: cursor.path() } }
  }
  const { is_covered, detection, other_declared } = decideCoverage(protocol, root, {
    document_type: options.document_type ?? null,
    version: options.version ?? null,
  })
  const { outside } = detection
  if (!is_covered) runUncovered(run, protocol, seen, root, detection)
  else {
    const other = otherProtocol(protocol, root)
    const unknown = outside === 'unknown' && other === null ? describeUnknown(protocol, root) : null
    const hasRules = other === null && protocol.types.includes(detection.type)
    run.compares_payee = hasRules
    const secrets = hasRules && protocol.secret_rule !== undefined ? [] : seen.secrets
    runCommon(run, COMMON_RULES, { ...commonView(run, protocol, seen, root, other), other_declared, unknown, secrets })
    if (hasRules) runProtocol(run, protocol, root, detection, { level: 0, secrets: seen.secrets })
  }
  if (run.exceeded !== null) return { kind: 'exceeded', exceeded: run.exceeded }
  const report = reportOf(run, protocol, shownDetection(detection))
  const isOpen = report.errors.length === 0 && (!is_covered || outside !== undefined)
  return { kind: 'report', report: isOpen ? { ...report, status: 'not_covered' } : report }
}

function newRun(protocol: Protocol, options: CheckOptions): CheckRun {
  const not_checked = new Set(protocol.not_checked)
  return {
    findings: new FindingCollector(),
    compares_payee: false,
    checked: new Set(),
    not_checked,
    exceeded: null,
    budget: { schema_steps: SCHEMA_STEPS },
    options,
  }
}

/** Protocols whose documents may be inside a JSON-RPC message. MCP has its own rules about messages. */
const IN_MESSAGES: ReadonlySet<ProtocolId> = new Set(['ucp', 'acp', 'ap2', 'a2a'])

/** The protocol that recognises a document which the chosen one does not recognise. */
function otherProtocol(chosen: Protocol, document: JsonCursor): Protocol | null {
  if (chosen.recognises(document)) return null
  return Object.values(PROTOCOLS).find((other) => other.id !== chosen.id && other.recognises(document)) ?? null
}

function commonView(run: CheckRun, protocol: Protocol, seen: DocumentSurvey, document: JsonCursor, other: Protocol | null): CommonView {
  return {
    document,
    other_protocol: other === null ? null : `${other.title} ("${other.id}")`,
    other_declared: null,
    first_redacted: seen.first_redacted,
    redacted_count: seen.redacted_count,
    secrets: seen.secrets,
    imprecise_numbers: seen.imprecise_numbers,
    message: other === null && IN_MESSAGES.has(protocol.id) && document.has('jsonrpc') ? document : null,
    unknown: null,
    uncompared: run.options.expected_payee === null || run.compares_payee ? null : document,
  }
}

/** Members of a document that are looked at for a known document. */
const MOST_CHILDREN = 100

/** Finds what a document of unknown shape may have been meant to be. */
function describeUnknown(protocol: Protocol, document: JsonCursor): UnknownShape {
  const cursor = protocol.body?.(document) ?? document
  const children = cursor
    .children()
    .slice(0, MOST_CHILDREN)
    .filter(({ kind }) => kind === 'object')
  const others = Object.values(PROTOCOLS).filter(({ id }) => id !== protocol.id)
  let inner: UnknownShape['inner'] = null
  for (const { recognises, title } of [protocol, ...others]) {
    const found: JsonCursor | undefined = children.find((child) => recognises(child))
    if (found !== undefined) inner ??= { cursor: found, title }
  }
  return { cursor, inner, near: findNearName(cursor, protocol.members), members: protocol.members.slice(0, 8) }
}

function runCommon(run: CheckRun, rules: readonly ProtocolRule<CommonView>[], view: CommonView): void {
  for (const one of rules) {
    run.checked.add(one.code)
    one.check(run.findings.reportOf(one), view)
  }
}

/**
 * Checks a document without a rule set: rules that name its type, which check documents of other protocols inside it, and the common rules
 * that report warnings.
 */
function runUncovered(run: CheckRun, protocol: Protocol, seen: DocumentSurvey, document: JsonCursor, detection: Detection): void {
  const { type, version } = detection
  if (protocol.versions.includes(version) && protocol.uncovered?.some((one) => one.type === type) === true)
    runProtocol(run, protocol, document, detection, { level: 0, secrets: [] })
  const rules = COMMON_RULES.filter(({ severity }) => severity === 'warning')
  runCommon(run, rules, commonView(run, protocol, seen, document, null))
  run.not_checked.add(`rules of the protocol: there are none for the type ${printableType(type)} in version ${printableType(version)}`)
}

/** A type or version that a caller states may be any text. */
function printableType(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : 'that was stated'
}

interface Nesting {
  level: number
  secrets: readonly DetectedSecret[]
}

function runProtocol(run: CheckRun, protocol: Protocol, document: JsonCursor, detection: Detection, nesting: Nesting): void {
  const context = contextOf(run, protocol, document, detection, nesting)
  const { type, version, outside, declared } = detection
  const isFuture = outside === 'future'
  if (isFuture) run.not_checked.add(`rules of version ${printableType(declared ?? '')}: findings follow version ${version}`)
  const isCovered = protocol.types.includes(type)
  if (isCovered) run.compares_payee = true
  const check = protocol.open(context)
  for (const [index, head] of protocol.rules.entries()) {
    if (run.exceeded !== null) return
    if (!applies(protocol, head, detection) || (!isCovered && head.types?.includes(type) !== true)) continue
    run.checked.add(head.code)
    const spec = protocol.specForVersion?.(head.spec, version) ?? head.spec
    const report = run.findings.reportOf({ ...head, spec })
    check(index, isFuture ? { error: report.warning, warning: report.warning } : report)
  }
}

/** Returns whether a rule applies to documents of this type and version. */
function applies(protocol: Protocol, head: RuleDescription, { type, version }: Detection): boolean {
  const { types, since, until } = head
  if (types !== undefined && !types.includes(type)) return false
  const age = (one: string) => protocol.versions.indexOf(one)
  if (since !== undefined && age(version) > age(since)) return false
  return until === undefined || age(version) >= age(until)
}

function contextOf(
  run: CheckRun,
  protocol: Protocol,
  document: JsonCursor,
  detection: Detection,
  { level, secrets }: Nesting,
): RuleContext {
  const { expected_payee, now_s } = run.options
  const takes: RuleContext['canDelegate'] = (id, cursor, type) =>
    level < MOST_NESTED && (type !== undefined || PROTOCOLS[id].recognises(cursor))
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
    canDelegate: takes,
    delegate(id, cursor, type) {
      if (!takes(id, cursor, type)) return false
      const inner = PROTOCOLS[id]
      const found = inner.detect(cursor)
      for (const phrase of inner.not_checked) run.not_checked.add(phrase)
      runProtocol(run, inner, cursor, type === undefined ? found : { ...found, type }, { level: level + 1, secrets: [] })
      return true
    },
    exceed(cursor, bound, limit) {
      run.exceeded ??= { bound, limit, path: cursor.path() }
    },
    isReported: (path) => run.findings.covers(path),
    addNotChecked: (phrase) => void run.not_checked.add(phrase),
  }
}

function reportOf(run: CheckRun, protocol: Protocol, { type, version, version_source }: Detection): PreflightReport {
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
    statement: PREFLIGHT_STATEMENT,
  }
}

/** Bounds that show only after parsing. */
interface DocumentBounds {
  /** UTF-16 units of any text or key. */
  string_chars: number
  array_items: number
}

/** One look at every value of a document. */
interface DocumentSurvey {
  first_redacted: JsonCursor | null
  redacted_count: number
  secrets: DetectedSecret[]
  imprecise_numbers: JsonCursor[]
  exceeded: { bound: 'string_chars' | 'array_items'; cursor: JsonCursor } | null
}

/** Further ones of a kind are not kept; the findings are cut long before. */
const MOST_OF_A_KIND = 1_000

/** Reads every value once, in document order and without recursion. Stops at the first value beyond a bound. */
function surveyDocument(document: JsonCursor, bounds: DocumentBounds): DocumentSurvey {
  const found: DocumentSurvey = { first_redacted: null, redacted_count: 0, secrets: [], imprecise_numbers: [], exceeded: null }
  // Each place with the name that it goes by: items of an array go by the name of the array.
  const open: [JsonCursor, string][] = [[document, '']]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [cursor, name] = next
    surveyValue(cursor, name, bounds, found)
    if (found.exceeded !== null) return found
    const children = cursor.children()
    for (const child of children.toReversed()) open.push([child, cursor.kind === 'array' ? name : child.key])
  }
  return found
}

function surveyValue(cursor: JsonCursor, name: string, bounds: DocumentBounds, found: DocumentSurvey): void {
  const { value } = cursor
  if (typeof value === 'string' ? value.length > bounds.string_chars : name.length > bounds.string_chars) {
    found.exceeded = { bound: 'string_chars', cursor }
  } else if (Array.isArray(value) && value.length > bounds.array_items) {
    found.exceeded = { bound: 'array_items', cursor }
  } else if (cursor.redacted) {
    found.first_redacted ??= cursor
    found.redacted_count++
  } else {
    if (isImprecise(cursor) && found.imprecise_numbers.length < MOST_OF_A_KIND) found.imprecise_numbers.push(cursor)
    const kind = detectSecret(cursor, name)
    if (kind !== null && found.secrets.length < MOST_OF_A_KIND) found.secrets.push({ cursor, kind })
  }
}

/** Returns whether readers round the number. Ordinary fractions pass: the rules decide where integers are required. */
function isImprecise(cursor: JsonCursor): boolean {
  const { value } = cursor
  if (typeof value !== 'number') return false
  const literal = cursor.literal()
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER || (literal !== null && /e/i.test(literal))
}

/** One fault with its pointer and hint. It never contains a value of the document. */
export interface PreflightFinding {
  code: string
  severity: FindingSeverity
  /** RFC 6901; empty for the whole document. */
  path: string
  message: string
  hint: string
  spec: SpecReference
  expected?: string
}

/** Maximum findings of one answer, and of one code and severity in it. */
const MOST_FINDINGS = 200
const MOST_OF_ONE = 40
/** Findings of one code and severity whose places are remembered. */
const MOST_TOUCHED = 1_000

/** Collects findings. Beyond the limits they are only counted; errors replace warnings, never the reverse. */
class FindingCollector {
  private readonly kept: Record<FindingSeverity, PreflightFinding[]> = { error: [], warning: [] }
  private readonly seen = new Map<string, number>()
  private dropped = false
  readonly counts: Record<FindingSeverity, number> = { error: 0, warning: 0 }
  /** Pointers of all findings, and of everything around them. */
  private readonly touched = new Set<string>()
  /** Pointers of errors. */
  private readonly wrong = new Set<string>()

  /** The reporter of one rule. */
  reportOf(rule: RuleDescription): FindingReporter {
    return {
      error: (cursor, message, more) => this.add(rule, 'error', cursor, message, more),
      warning: (cursor, message, more) => this.add(rule, 'warning', cursor, message, more),
    }
  }

  private add(
    rule: RuleDescription,
    severity: FindingSeverity,
    cursor: JsonCursor,
    words: string,
    { expected, hint }: FindingDetails = {},
  ): void {
    const { code, spec } = rule
    const key = `${code} ${severity}`
    const count = (this.seen.get(key) ?? 0) + 1
    const path = cursor.path()
    if (count <= MOST_TOUCHED) this.touch(path)
    if (count <= MOST_TOUCHED && severity === 'error') this.wrong.add(path)
    this.seen.set(key, count)
    this.counts[severity]++
    const list = this.kept[severity]
    if (count > MOST_OF_ONE || list.length === MOST_FINDINGS) {
      this.dropped = true
      return
    }
    const message = `${cursor.label} ${words}.`
    list.push({
      code,
      severity,
      path,
      message,
      hint: hint ?? nearHint(cursor, words) ?? caseHint(rule, cursor, words, expected) ?? rule.hint,
      spec,
      ...(expected === undefined ? {} : { expected }),
    })
  }

  /** Returns whether a finding is at this pointer or below it, or an error is at a value around it other than the document. */
  covers(path: string): boolean {
    if (this.touched.has(path)) return true
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) if (this.wrong.has(path.slice(0, end))) return true
    return false
  }

  private touch(path: string): void {
    for (let end = path.length; end >= 0 && !this.touched.has(path.slice(0, end)); end = path.lastIndexOf('/', end - 1)) {
      this.touched.add(path.slice(0, end))
      if (end === 0) return
    }
  }

  /** At most 200 together, errors first. */
  result(): { errors: PreflightFinding[]; warnings: PreflightFinding[]; truncated: boolean } {
    const errors = this.kept.error
    const warnings = this.kept.warning.slice(0, MOST_FINDINGS - errors.length)
    return { errors, warnings, truncated: this.dropped || warnings.length < this.kept.warning.length }
  }
}

/** The hint for a missing member whose holder has one with a similar name. */
function nearHint(cursor: JsonCursor, words: string): string | null {
  if (cursor.parent === null || cursor.present || !words.startsWith('is missing')) return null
  const near = findNearName(cursor.parent, [cursor.key])
  return near === null ? null : `Rename ${near.found} to ${near.wanted}, if that is the member that was meant.`
}

/** The hint for one member, from its expected value. */
function caseHint({ hint_by_case }: RuleDescription, cursor: JsonCursor, words: string, expected: string | undefined): string | null {
  if (hint_by_case !== true || expected === undefined || cursor.parent === null) return null
  const name = cursor.label.replace(/^Item /, 'item ').replace(/^This member$/, 'this member')
  return words.startsWith('is missing') ? `Add ${name}: ${expected}.` : `Send ${name} as ${expected}.`
}
