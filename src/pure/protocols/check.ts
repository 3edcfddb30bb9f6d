import { COMMON_RULES, type CommonView } from './common-rules.ts'
import { JsonCursor, type NumberLiterals } from './json-cursor.ts'
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
  VersionSpan,
} from './protocol.ts'
import { type DetectedSecret, detectSecret } from './secrets.ts'
import { cutText } from '../cut-text.ts'

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
  checked: Set<string>
  not_checked: Set<string>
  exceeded: ExceededBound | null
  budget: { schema_steps: number }
  options: CheckOptions
}

/** Type and version that the caller states; null to detect them from the document. */
interface StatedDocument {
  document_type: string | null
  version: string | null
}

interface Coverage {
  /** False where no rule set covers the type or the version, so that the document neither passes nor fails. */
  is_covered: boolean
  detection: Detection
  /** Version that the document declares, where the caller states another one. */
  other_declared: string | null
}

/** Characters of a stated version that are shown. */
const VERSION_CHARS = 32

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

/** Decides type and version by which a document is checked: stated ones take precedence over detected ones. */
function decideCoverage(protocol: Protocol, document: JsonCursor, stated: StatedDocument): Coverage {
  const detected = protocol.detect(document)
  const uncovered = protocol.uncovered ?? []
  const known_uncovered = uncovered.find(({ type }) => type === stated.document_type)
  const recognised = stated.document_type === null ? uncovered.find((one) => one.recognises(document)) : known_uncovered
  const type = stated.document_type ?? recognised?.type ?? detected.type
  if (stated.version === null) {
    const isOutside = stated.document_type !== null && !existsInVersion(protocol, type, detected.version)
    const span = protocol.spans?.[type]
    // A type that is newer than the version that the shape was taken for is read by the oldest version that has it.
    const version = isOutside && detected.version_source !== 'declared' ? (span?.since ?? span?.until) : undefined
    const detection: Detection = version === undefined ? { ...detected, type } : { ...detected, type, version, version_source: 'assumed' }
    const is_covered = recognised === undefined && protocol.types.includes(type) && (version !== undefined || !isOutside)
    return { is_covered, detection, other_declared: null }
  }
  const version = readStatedVersion(protocol, stated.version)
  const detection: Detection = {
    ...detected,
    type,
    version: version ?? cutText(stated.version, VERSION_CHARS, ''),
    version_source: 'stated',
  }
  const isKnown = version !== null && existsInVersion(protocol, type, version)
  const is_declared = detected.version_source === 'declared' && detected.declared === undefined
  return {
    is_covered: isKnown && recognised === undefined && protocol.types.includes(type),
    detection,
    other_declared: is_declared && detected.version !== version ? detected.version : null,
  }
}

/** The version of the rules for a version as people write it: `v0.2`, `0.3.0`, `2026-04-08`; null for one that no rule set covers. */
function readStatedVersion(protocol: Protocol, text: string): string | null {
  const plain = text.trim().replace(/^v(?=[0-9])/i, '')
  const candidates = [plain, plain.replace(/\.0$/, ''), protocol.readVersion?.(plain) ?? plain]
  return candidates.find((one) => protocol.versions.includes(one)) ?? null
}

/** Returns whether documents of a type exist in a version of the protocol. */
function existsInVersion(protocol: Protocol, type: string, version: string): boolean {
  const { since, until }: VersionSpan = protocol.spans?.[type] ?? {}
  const age = (one: string) => protocol.versions.indexOf(one)
  return (since === undefined || age(version) <= age(since)) && (until === undefined || age(version) >= age(until))
}

function newRun(protocol: Protocol, options: CheckOptions): CheckRun {
  const not_checked = new Set(protocol.not_checked)
  return {
    findings: new FindingCollector(),
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

function commonView(protocol: Protocol, seen: DocumentSurvey, document: JsonCursor, other: Protocol | null): CommonView {
  return {
    document,
    other_protocol: other === null ? null : `${other.title} ("${other.id}")`,
    other_declared: null,
    first_redacted: seen.first_redacted,
    redacted_count: seen.redacted_count,
    secrets: protocol.secret_rule === undefined ? seen.secrets : [],
    imprecise_numbers: seen.imprecise_numbers,
    message: other === null && IN_MESSAGES.has(protocol.id) && document.has('jsonrpc') ? document : null,
  }
}

function runCommon(run: CheckRun, rules: readonly ProtocolRule<CommonView>[], view: CommonView): void {
  for (const one of rules) {
    run.checked.add(one.code)
    one.check(run.findings.reportOf(one), view)
  }
}

/** Runs only the common rules that report warnings, on a document without a rule set: redaction, secrets and numbers. */
function runUncovered(run: CheckRun, protocol: Protocol, seen: DocumentSurvey, document: JsonCursor, { type, version }: Detection): void {
  const rules = COMMON_RULES.filter(({ severity }) => severity === 'warning')
  runCommon(run, rules, { ...commonView(protocol, seen, document, null), secrets: seen.secrets })
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
  const check = protocol.open(context)
  for (const [index, head] of protocol.rules.entries()) {
    if (run.exceeded !== null) return
    if (!applies(protocol, head, detection)) continue
    run.checked.add(head.code)
    const spec = protocol.specForVersion?.(head.spec, detection.version) ?? head.spec
    check(index, run.findings.reportOf({ ...head, spec }))
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

/** Collects findings. Beyond the limits they are only counted; errors replace warnings, never the reverse. */
class FindingCollector {
  private readonly kept: Record<FindingSeverity, PreflightFinding[]> = { error: [], warning: [] }
  private readonly seen = new Map<string, number>()
  private dropped = false
  readonly counts: Record<FindingSeverity, number> = { error: 0, warning: 0 }

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
      path: cursor.path(),
      message,
      hint: hint ?? caseHint(rule, cursor, words, expected) ?? rule.hint,
      spec,
      ...(expected === undefined ? {} : { expected }),
    })
  }

  /** At most 200 together, errors first. */
  result(): { errors: PreflightFinding[]; warnings: PreflightFinding[]; truncated: boolean } {
    const errors = this.kept.error
    const warnings = this.kept.warning.slice(0, MOST_FINDINGS - errors.length)
    return { errors, warnings, truncated: this.dropped || warnings.length < this.kept.warning.length }
  }
}

/** The hint for one member, from its expected value. */
function caseHint({ hint_by_case }: RuleDescription, cursor: JsonCursor, words: string, expected: string | undefined): string | null {
  if (hint_by_case !== true || expected === undefined || cursor.parent === null) return null
  const name = cursor.label.replace(/^Item /, 'item ').replace(/^This member$/, 'this member')
  return words.startsWith('is missing') ? `Add ${name}: ${expected}.` : `Send ${name} as ${expected}.`
}
