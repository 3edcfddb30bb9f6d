import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocument, type PreflightReport, type PreflightFinding } from '../../src/pure/protocols/check.ts'
import { readProtocolDocument } from '../../src/pure/protocols/read-document.ts'
import { PROTOCOLS } from '../../src/pure/protocols/registry.ts'
import {
  listDocumentTypes,
  type ProtocolId,
  type Protocol,
  type RuleDescription,
  type Detection,
  type FindingSeverity,
} from '../../src/pure/protocols/protocol.ts'

/**
 * What every protocol is held against. `protocolSuite(id, { clean, cases })` asserts:
 *
 * - a clean document draws no finding but those it names in `warnings`, and its type and version are detected;
 * - a case changes one clean document and adds findings of exactly its code and severity, at `at` if it says so;
 * - a text that is redacted draws no error, whichever it is but those named in `needed`;
 * - every rule of the protocol has a case for each severity that it declares, and no case names a code or severity that no rule declares;
 * - every rule says why, what to do, and where it comes from.
 */
export interface CleanDocument {
  document: unknown
  type: string
  version: string
  version_source: Detection['version_source']
  /** Codes of warnings that even a right document of this kind draws, such as that its version is a legacy one. */
  warnings?: readonly string[]
  expected_payee?: string
  /** Pointers of texts by which the document is recognised, so that it reads differently without them. */
  needed?: readonly string[]
}

export interface RuleCase {
  code: string
  severity: FindingSeverity
  /** Name of the clean document. */
  from: string
  change: Change
  /** JSON pointer of at least one of the findings. */
  at?: string
  /** Codes that cannot but come along, such as PRE-002 with a redacted value. */
  also?: readonly string[]
  expected_payee?: string
  now_s?: number
  /** What the caller states of the changed document. */
  stated?: Stated
}

export interface Stated {
  document_type?: string
  version?: string
}

/** Changes the text of a JSON document: through its value, or as text where the value cannot say it. */
export type Change = (text: string) => string

/** 2026-11-21T12:00:00Z. */
export const NOW_S = 1_795_262_400

export const BOUNDS = { string_chars: 65_536, array_items: 5_000 }

/** Puts a value at a JSON pointer; holders must be there. `-` appends to an array. */
export function set(pointer: string, value: unknown): Change {
  return edit(pointer, (holder, key) => {
    if (Array.isArray(holder) && key === '-') holder.push(value)
    else (holder as Record<string, unknown>)[key] = value
  })
}

/** Takes a member or an item away. */
export function drop(pointer: string): Change {
  return edit(pointer, (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  })
}

/** Replaces one piece of the text, for literals that a value cannot hold. */
export function literally(from: string, to: string): Change {
  return (text) => {
    assert.ok(text.includes(from), `the document does not hold ${from}`)
    return text.replace(from, () => to)
  }
}

/** One change after the other. */
export function all(...changes: Change[]): Change {
  return (text) => changes.reduce((changed, change) => change(changed), text)
}

function edit(pointer: string, act: (holder: unknown[] | Record<string, unknown>, key: string) => void): Change {
  return (text) => {
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const key = steps.pop()
    assert.ok(key !== undefined, 'the root cannot be changed')
    const root = JSON.parse(text) as Record<string, unknown>
    let holder: unknown = root
    for (const step of steps) holder = (holder as Record<string, unknown>)[step]
    assert.ok(typeof holder === 'object' && holder !== null, `nothing holds ${pointer}`)
    act(holder as Record<string, unknown>, key)
    return JSON.stringify(root)
  }
}

/** Reads and checks a text as the endpoint does. */
export function checkText(
  id: ProtocolId,
  text: string,
  expected_payee: string | null = null,
  now_s = NOW_S,
  stated: Stated = {},
): PreflightReport {
  const read = readProtocolDocument(text, { depth: 64, nodes: 20_000 })
  assert.ok(read.ok, 'the document is not JSON')
  const result = checkDocument(id, read.value, { ...stated, expected_payee, now_s, literals: read.literals, bounds: BOUNDS })
  assert.ok(result.kind === 'report', 'the document breaks a bound')
  return result.report
}

/** Findings as `CODE severity`, sorted. */
export function codesOf({ errors, warnings }: Pick<PreflightReport, 'errors' | 'warnings'>): string[] {
  return [...errors, ...warnings].map(({ code, severity }) => `${code} ${severity}`).toSorted()
}

/** What a case draws beyond its clean document. */
function added(clean: PreflightReport, changed: PreflightReport): PreflightFinding[] {
  const known = new Set([...clean.errors, ...clean.warnings].map(({ code, path }) => `${code} ${path}`))
  return [...changed.errors, ...changed.warnings].filter(({ code, path }) => !known.has(`${code} ${path}`))
}

export interface Suite {
  clean: Readonly<Record<string, CleanDocument>>
  cases: readonly RuleCase[]
}

export function protocolSuite(id: ProtocolId, { clean, cases }: Suite): void {
  const protocol = PROTOCOLS[id]
  for (const [name, one] of Object.entries(clean)) test(`${id}: ${name} is clean`, () => assertClean(id, one))
  for (const [name, one] of Object.entries(clean)) test(`${id}: ${name} may be redacted anywhere`, () => assertRedactable(id, one))
  for (const [index, one] of cases.entries()) test(`${id}: ${one.code} ${one.severity} (${index + 1})`, () => assertCase(id, clean, one))
  test(`${id}: every rule has its cases, and every case its rule`, () => {
    const declared = protocol.rules.flatMap((rule) => severitiesOf(rule).map((severity) => `${rule.code} ${severity}`))
    assert.equal(new Set(protocol.rules.map(({ code }) => code)).size, protocol.rules.length, 'a code stands twice in the table')
    const met = [...new Set(cases.map(({ code, severity }) => `${code} ${severity}`))]
    assert.deepEqual(
      declared.filter((one) => !met.includes(one)),
      [],
      'rules without a case',
    )
    assert.deepEqual(
      met.filter((one) => !declared.includes(one)),
      [],
      'cases without a rule',
    )
  })
  test(`${id}: every rule is documented, and names types and versions that there are`, () => {
    for (const rule of protocol.rules) assertDocumented(rule, protocol)
  })
}

function assertClean(id: ProtocolId, one: CleanDocument): void {
  const report = checkText(id, JSON.stringify(one.document), one.expected_payee ?? null)
  assert.deepEqual(report.errors, [])
  assert.deepEqual([...new Set(report.warnings.map(({ code }) => code))].toSorted(), [...(one.warnings ?? [])].toSorted())
  const { document_type, version, version_source } = report
  assert.deepEqual(
    { document_type, version, version_source },
    { document_type: one.type, version: one.version, version_source: one.version_source },
  )
}

function assertRedactable(id: ProtocolId, one: CleanDocument): void {
  const text = JSON.stringify(one.document)
  for (const pointer of textPointers(one.document)) {
    if (one.needed?.includes(pointer) === true) continue
    const { errors } = checkText(id, set(pointer, '[REDACTED]')(text), one.expected_payee ?? null)
    assert.deepEqual(errors, [], `with ${pointer} redacted`)
  }
}

/** Pointers of all texts in a document. */
function textPointers(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    textPointers(inner, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}

function assertCase(id: ProtocolId, clean: Suite['clean'], one: RuleCase): void {
  const start = clean[one.from]
  assert.ok(start !== undefined, `there is no clean document ${one.from}`)
  const text = JSON.stringify(start.document)
  const payee = one.expected_payee ?? start.expected_payee ?? null
  const before = checkText(id, text, start.expected_payee ?? null)
  const report = checkText(id, one.change(text), payee, one.now_s ?? NOW_S, one.stated)
  const found = added(before, report).filter(({ code }) => one.also?.includes(code) !== true)
  assert.deepEqual(
    [...new Set(found.map(({ code, severity }) => `${code} ${severity}`))],
    [`${one.code} ${one.severity}`],
    JSON.stringify(found),
  )
  if (one.at !== undefined)
    assert.ok(
      found.some(({ path }) => path === one.at),
      `found at ${found.map(({ path }) => path).join(', ')}`,
    )
}

export function severitiesOf({ severity }: RuleDescription): FindingSeverity[] {
  return severity === 'both' ? ['error', 'warning'] : [severity]
}

function assertDocumented(rule: RuleDescription, protocol: Protocol): void {
  const { versions } = protocol
  assert.match(rule.code, /^[A-Z0-9]+-[0-9]{3}$/)
  for (const words of [rule.why, rule.hint]) {
    assert.match(words, /^[A-Z].*[.?]$/s, `${rule.code}: "${words}" is no sentence`)
    assert.ok(words.length <= 200 && !words.includes('\n'), `${rule.code}: "${words}" is too long`)
  }
  assert.match(rule.spec.url, /^(?:https:\/\/|\/v1\/protocols\/)/)
  assert.notEqual(rule.spec.section, '')
  assert.notDeepEqual(rule.good, rule.bad, `${rule.code}: the examples are the same`)
  for (const type of rule.types ?? []) assert.ok(listDocumentTypes(protocol).includes(type), `${rule.code} names the type ${type}`)
  for (const version of [rule.since, rule.until])
    assert.ok(version === undefined || versions.includes(version), `${rule.code} names version ${version}`)
}
