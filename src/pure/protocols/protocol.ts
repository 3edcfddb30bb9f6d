/**
 * Types of protocols and of their rules. `registry.ts` defines every protocol: what is not checked, and the order of its rules. Each has a
 * folder `src/pure/protocols/<id>/`:
 *
 * - `view.ts` has the `DocumentReader<View>`: it detects type and version, and collects the parts of a document that the rules read;
 * - `rules-*.ts` export tables of rules by their code, named after the protocol. They import the view and `kit/`, never one another.
 *
 * ```ts
 * export const X402_TERMS_RULES: RuleTable<View> = {
 *   'X402-017': {
 *     severity: 'both',                      // may report errors and warnings, 'warning': warnings alone; errors alone if left out
 *     types: ['payment_required'],           // document types that it applies to; all if left out
 *     since: '1', until: '2',                // versions that it applies to, both inclusive; all if left out
 *     why: 'A payer signs an authorization that lasts this long.',
 *     spec: { url: 'https://…', section: '5.1' },
 *     hint: 'Send whole seconds, such as 60.',
 *     good: { maxTimeoutSeconds: 60 },
 *     bad: { maxTimeoutSeconds: '60' },
 *     check({ error }, { entries }) {
 *       for (const { cursor } of entries) error(cursor.get('maxTimeoutSeconds'), 'is not a positive integer', { expected: 'an integer' })
 *     },
 *   },
 * }
 * ```
 *
 * `error` and `warning` take a `JsonCursor` and the rest of a sentence whose subject is the cursor's name. A message never contains a value of
 * the document. The second parameter is the `View` that `view(context)` made once for the document.
 *
 * `kit/` has helpers that take `error` or `warning` first: expectations of types and values (kit/expect.ts, kit/money.ts, kit/url.ts), readers
 * of dates, keys, addresses and versions, and JSON Schemas inside documents (kit/schema.ts). They skip redacted values silently. One fault has
 * one code: a rule about the form of a value is silent about its absence if another rule requires it.
 *
 * The engine (check.ts) detects protocol and version, runs the rules that apply, and adds the common rules PRE-001…: wrong protocol, redacted
 * values, secrets, rounded numbers. A protocol with its own rule about secrets names it in `secret_rule` and reads `context.secrets`.
 * `context.delegate(id, cursor)` checks a subtree by the rules of another protocol. The work of a rule must be proportional to the document:
 * collect into a Map, do not search in a loop.
 */
import type { JsonCursor } from './json-cursor.ts'
import type { DetectedSecret } from './secrets.ts'

export const PROTOCOL_IDS = ['ucp', 'acp', 'mcp', 'ap2', 'x402', 'micro-ast', 'a2a'] as const

export type ProtocolId = (typeof PROTOCOL_IDS)[number]

export type FindingSeverity = 'error' | 'warning'

export interface SpecReference {
  /** https, or a path under the origin of this service for its own rules. */
  url: string
  section: string
}

export function rfc(number: number, section: string): SpecReference {
  return { url: `https://www.rfc-editor.org/rfc/rfc${number}`, section }
}

/** Description of a rule in the catalogue of rules. */
export interface RuleDescription {
  /** Stable: `X402-017`. */
  code: string
  severity: FindingSeverity | 'both'
  /** Document types it is about; all when left out. */
  types?: readonly string[]
  /** Oldest and newest version it is about, inclusive. */
  since?: string
  until?: string
  /** One line: what goes wrong otherwise. */
  why: string
  spec: SpecReference
  /** Correction of the document. */
  hint: string
  /** The rule looks at several members, so its findings say what to do about theirs where they know what was expected. */
  hint_by_case?: true
  /** Tiny pieces of JSON that keep and break the rule. */
  good: unknown
  bad: unknown
}

/** Optional details of a finding. */
export interface FindingDetails {
  /** The expected value, described without values of the document. */
  expected?: string
  /** Instead of the hint of the rule. */
  hint?: string
}

/** Reports one finding: the place, and the rest of a sentence that starts with its name; without a full stop. */
export type ReportFinding = (cursor: JsonCursor, message: string, more?: FindingDetails) => void

export interface FindingReporter {
  readonly error: ReportFinding
  readonly warning: ReportFinding
}

export interface ProtocolRule<View> extends RuleDescription {
  readonly check: (report: FindingReporter, view: View) => void
}

/** Rules by their code, in the order in which they run; see the head of this file. */
export type RuleTable<View> = Readonly<Record<string, RuleInTable<View>>>

interface RuleInTable<View> extends Omit<ProtocolRule<View>, 'code' | 'severity'> {
  /** `error` when left out. */
  severity?: ProtocolRule<View>['severity']
}

export function listRules<View>(table: RuleTable<View>): ProtocolRule<View>[] {
  return Object.entries(table).map(([code, rule]) => ({ code, severity: 'error', ...rule }))
}

export interface Detection {
  /** One of the protocol's `types`. */
  type: string
  /** One of the protocol's `versions`: that of the rules that are used. */
  version: string
  /**
   * `stated`: the caller says so. `declared`: the document says so. `inferred`: its shape says so. `assumed`: nothing says so, and the newest
   * rules are used.
   */
  version_source: 'stated' | 'declared' | 'inferred' | 'assumed'
  /** The version that the document declares, if there are no rules for it, such as a newer date. At most 32 characters. */
  declared?: string
  /**
   * Why the document neither passes nor fails. `future`: it declares a version that is newer than all known ones, and `version` is the newest
   * of these. `unknown`: its shape is not a known type of document; `type` is `unknown` then, or one whose rules apply to any shape.
   */
  outside?: 'future' | 'unknown'
}

/** Returns whether there is nothing by which a document could be known: then rules say what it lacks. */
export function isBlank(document: JsonCursor): boolean {
  return document.children().every(({ kind }) => document.kind === 'array' && kind !== 'object')
}

/** Type of a document whose shape is not known. */
export const UNKNOWN_TYPE = 'unknown'

/** A bound that a document breaks only when it is looked into, such as the size of a schema in it. */
export interface ExceededBound {
  bound: string
  limit: number
  path: string
}

/** Input of every rule. */
export interface RuleContext extends Detection {
  readonly protocol: ProtocolId
  /** The document, or the subtree that another protocol handed on. */
  readonly document: JsonCursor
  /** True if the document is inside a document of another protocol. */
  readonly nested: boolean
  readonly expected_payee: string | null
  /** Unix time in seconds, from the caller. */
  readonly now_s: number
  /** Secrets in the whole document; empty for a nested one, since the outer one reports them. */
  readonly secrets: readonly DetectedSecret[]
  /** Remaining validation steps for all schemas in the whole document together; see kit/schema.ts. */
  readonly budget: { schema_steps: number }
  /** Returns whether the version is this one or a newer one of the protocol. */
  atLeast(version: string): boolean
  /** Returns whether `delegate` would check a subtree: the protocol recognises it or its type is given, and it is not nested too deep. */
  canDelegate(protocol: ProtocolId, cursor: JsonCursor, type?: string): boolean
  /** Checks a subtree as a document of another protocol, of the type that is known. False, and nothing said, when it does not take it. */
  delegate(protocol: ProtocolId, cursor: JsonCursor, type?: string): boolean
  /** Ends the check: the whole document is refused for this bound. */
  exceed(cursor: JsonCursor, bound: string, limit: number): void
  /** Returns whether a finding was reported at this pointer or below it, or an error at a value around it. */
  isReported(path: string): boolean
  /** Adds a phrase to `not_checked` of the answer. */
  addNotChecked(phrase: string): void
}

/** A type of document of the protocol that no rule set covers, such as a request. */
interface UncoveredType {
  type: string
  /** Returns whether a document is of this type, when the caller states none. */
  recognises(document: JsonCursor): boolean
}

/** The versions that have a type of document, inclusive; all when left out. */
export interface VersionSpan {
  since?: string
  until?: string
}

/** Documents of a protocol: its versions and types, and how to recognise them. */
interface DocumentForms {
  /** Newest first. */
  versions: readonly string[]
  types: readonly string[]
  /** Types of documents that callers may state, or that are recognised, without any rules about them. */
  uncovered?: readonly UncoveredType[]
  /** Returns the page of a version for a reference of a rule; the reference itself where there is one page for all versions. */
  specForVersion?(spec: SpecReference, version: string): SpecReference
  /** Returns the version of the rules for a version as callers write it, where that is not its own name. */
  readVersion?(text: string): string
  /** Names of the members by which documents are known; used to name the right one if a document has a similar one. */
  members: readonly string[]
  /** Returns the part of a document that has these members, where that is not the document itself. */
  body?(document: JsonCursor): JsonCursor
  /** Returns whether the document can only be of this protocol; used to name the right protocol if another one was chosen. */
  recognises(document: JsonCursor): boolean
  detect(document: JsonCursor): Detection
}

/** Everything of a protocol that reads documents; its rules read the view. */
export interface DocumentReader<View> extends DocumentForms {
  view(context: RuleContext): View
}

interface ProtocolDescription extends DocumentForms {
  id: ProtocolId
  title: string
  /** Versions of the types that not every version has. */
  spans?: Readonly<Record<string, VersionSpan>>
  /** Properties that no rule checks, in short phrases. */
  not_checked: readonly string[]
  /** The rule that reports secrets, instead of the common one. */
  secret_rule?: string
}

/** A protocol as the engine sees it. */
export interface Protocol extends ProtocolDescription {
  readonly rules: readonly RuleDescription[]
  /** Makes the view once, and runs any rule over it by its index. */
  open(context: RuleContext): (index: number, report: FindingReporter) => void
}

/** Every document type that a caller may state, those first that rules cover. */
export function listDocumentTypes({ types, uncovered = [] }: Pick<Protocol, 'types' | 'uncovered'>): readonly string[] {
  return [...types, ...uncovered.map(({ type }) => type)]
}

/** A JSON-RPC request or notification: it names a method and answers nothing. */
export function isJsonRpcRequest(document: JsonCursor): boolean {
  return document.has('jsonrpc') && document.has('method') && !document.has('result') && !document.has('error')
}
