/**
 * How a protocol is written down here. One folder a protocol, `src/pure/protocols/<id>/`:
 *
 * - `index.ts` exports `defineProtocol<View>({ id, versions, types, marks, detect, view, rules, … })`;
 * - `rules-*.ts` export arrays of rules, each made by `rule<View>(head, check)` and reading like a line of a rule list.
 *
 * ```ts
 * rule<View>(
 *   {
 *     code: 'X402-017',
 *     severity: 'both',                      // may report errors and warnings; 'error' and 'warning' are the others
 *     types: ['payment_required'],           // document types it is about; all when left out
 *     since: '1', until: '2',                // versions it is about, both inclusive; all when left out
 *     why: 'A payer signs an authorization that lasts this long.',
 *     spec: { url: 'https://…', section: '5.1' },
 *     hint: 'Send whole seconds, such as 60.',
 *     good: { maxTimeoutSeconds: 60 },
 *     bad: { maxTimeoutSeconds: '60' },
 *   },
 *   ({ error, warning }, { entries }) => {
 *     for (const entry of entries) { … error(entry.get('maxTimeoutSeconds'), 'is not a positive integer', { expected: 'an integer' }) }
 *   },
 * )
 * ```
 *
 * What a rule gets. First `Report`: `error` and `warning` take a `Place` and the rest of a sentence, whose subject is the place's name
 * (`maxTimeoutSeconds is not a positive integer.`). Messages hold our words only: no value of the document. Second the protocol's `View`,
 * made once a document by `view(context)`: the places that its rules are about, gathered once. Put the `context` in it.
 *
 * `Place` (place.ts) is a cursor: `get`, `down`, `items`, `members`, `text`, `integer`, `kind`. It never throws, and an absent place is a
 * place. A redacted value has the kind `redacted`: `present` is true, `text()` is null, and the helpers of `kit/` skip it in silence, since
 * the engine says once that something was redacted.
 *
 * `kit/` has the helpers, each taking `error` or `warning` first: `need`, `optional`, `oneOf`, `minorUnits`, `unique`, `refersTo`, `sumOf`
 * (kit/expect.ts, kit/money.ts), URLs (kit/url.ts), dates (kit/dates.ts), base64url and JWK (kit/keys.ts), addresses and CAIP-2
 * (kit/addresses.ts), versions (kit/versions.ts), text hygiene (kit/words.ts), schemas of strangers (kit/schema.ts). One fault draws one
 * code: a rule about the form of a value is silent about its absence when another rule asks for it.
 *
 * The engine (check.ts) finds the protocol and the version, runs the rules that apply, and reports by itself under codes PRE-001…: the
 * wrong protocol, redacted values, secrets, numbers that readers round differently. A protocol with a rule of its own about secrets names
 * it in `secret_rule` and finds them in `context.secrets`. `context.delegate(id, place)` checks a subtree as a document of another protocol,
 * under that protocol's codes; what stands under a key of that protocol is handed on with its type, whatever it looks like. Rules must do
 * work in proportion to the document: gather into a Map, never search in a loop.
 */
import type { Place } from './place.ts'
import type { Secret } from './secrets.ts'

export const PROTOCOL_IDS = ['ucp', 'acp', 'mcp', 'ap2', 'x402', 'micro-ast', 'a2a'] as const

export type ProtocolId = (typeof PROTOCOL_IDS)[number]

export type Severity = 'error' | 'warning'

export interface SpecReference {
  /** https, or a path under the origin of this service for its own rules. */
  url: string
  section: string
}

/** What the rule catalogue shows of a rule. */
export interface RuleHead {
  /** Stable: `X402-017`. */
  code: string
  severity: Severity | 'both'
  /** Document types it is about; all when left out. */
  types?: readonly string[]
  /** Oldest and newest version it is about, inclusive. */
  since?: string
  until?: string
  /** One line: what goes wrong otherwise. */
  why: string
  spec: SpecReference
  /** What to do about it. */
  hint: string
  /** The rule looks at several members, so its findings say what to do about theirs where they know what was expected. */
  hint_by_case?: true
  /** Tiny pieces of JSON that keep and break the rule. */
  good: unknown
  bad: unknown
}

/** What a finding may say beyond its sentence. */
export interface FindingMore {
  /** What would have been right, in our words. */
  expected?: string
  /** Instead of the hint of the rule. */
  hint?: string
}

/** Reports one finding: the place, and the rest of a sentence that starts with its name; without a full stop. */
export type Say = (place: Place, message: string, more?: FindingMore) => void

export interface Report {
  readonly error: Say
  readonly warning: Say
}

export interface Rule<View> extends RuleHead {
  readonly check: (report: Report, view: View) => void
}

/** One rule; see the head of this file. */
export function rule<View>(head: RuleHead, check: (report: Report, view: View) => void): Rule<View> {
  return { ...head, check }
}

/**
 * `stated`: the caller says so. `declared`: the document says so. `inferred`: its shape says so. `assumed`: nothing says so, and the newest
 * rules are used.
 */
export type VersionSource = 'stated' | 'declared' | 'inferred' | 'assumed'

export interface Detection {
  /** One of the protocol's `types`. */
  type: string
  /** One of the protocol's `versions`: that of the rules that are used. */
  version: string
  version_source: VersionSource
  /** What the document itself says, where that is no version whose rules are known: a newer date. At most 32 characters. */
  declared?: string
}

/** A bound that a document breaks only when it is looked into, such as the size of a schema in it. */
export interface Exceeded {
  bound: string
  limit: number
  path: string
}

/** What every rule may know. */
export interface Context extends Detection {
  readonly protocol: ProtocolId
  /** The document, or the subtree that another protocol handed on. */
  readonly document: Place
  /** Whether another protocol's document carries this one. */
  readonly nested: boolean
  readonly expected_payee: string | null
  /** Unix time in seconds, from the caller. */
  readonly now_s: number
  /** Secrets in the whole document; empty for a nested one, since the outer one reports them. */
  readonly secrets: readonly Secret[]
  /** Steps that all schemas of strangers in the whole document have left together; see kit/schema.ts. */
  readonly budget: { schema_steps: number }
  /** Position of a version among the protocol's, so that `atLeast('2026-04-08')` holds for that version and newer ones. */
  atLeast(version: string): boolean
  /** Whether `delegate` would check a subtree: it has a mark of that protocol, or its type is known otherwise, and it lies not too deep. */
  takes(protocol: ProtocolId, place: Place, type?: string): boolean
  /** Checks a subtree as a document of another protocol, of the type that is known. False, and nothing said, when it does not take it. */
  delegate(protocol: ProtocolId, place: Place, type?: string): boolean
  /** Ends the check: the whole document is refused for this bound. */
  exceed(place: Place, bound: string, limit: number): void
  /** Adds a phrase to `not_checked` of the answer. */
  notChecked(phrase: string): void
}

/** A type of document of the protocol that no rule set covers, such as a request. */
export interface UncoveredType {
  type: string
  /** Returns whether a document is of this type, when the caller states none. */
  recognises(document: Place): boolean
}

/** The versions that have a type of document, inclusive; all when left out. */
export interface TypeSpan {
  since?: string
  until?: string
}

interface ProtocolHead {
  id: ProtocolId
  title: string
  /** Newest first. */
  versions: readonly string[]
  types: readonly string[]
  /** Types of documents that callers may state, or that are recognised, without any rules about them. */
  uncovered?: readonly UncoveredType[]
  /** Versions of the types that not every version has. */
  spans?: Readonly<Record<string, TypeSpan>>
  /** Returns the page of a version for a reference of a rule; the reference itself where there is one page for all versions. */
  specAt?(spec: SpecReference, version: string): SpecReference
  /** Returns the version of the rules for a version as callers write it, where that is not its own name. */
  readVersion?(text: string): string
  /** What no rule looks at, in short phrases. */
  not_checked: readonly string[]
  /** The rule that reports secrets, instead of the common one. */
  secret_rule?: string
  /** Whether the document is unmistakably of this protocol; used to name the right protocol when the wrong one was chosen. */
  marks(document: Place): boolean
  detect(document: Place): Detection
}

export interface ProtocolDefinition<View> extends ProtocolHead {
  view(context: Context): View
  rules: readonly Rule<View>[]
}

/** A protocol as the engine sees it. */
export interface Protocol extends ProtocolHead {
  readonly rules: readonly RuleHead[]
  /** Makes the view once, and runs any rule over it by its index. */
  open(context: Context): (index: number, report: Report) => void
}

export function defineProtocol<View>({ view, rules, ...head }: ProtocolDefinition<View>): Protocol {
  return {
    ...head,
    rules,
    open(context) {
      const made = view(context)
      return (index, report) => rules[index]?.check(report, made)
    },
  }
}
