import type { Headline } from '../../pure/headline.ts'
import { isObject, objectsIn } from '../../pure/is-object.ts'

/**
 * View of an answer for people, shared by the command line and the pages, which only lay it out: the members that are shown, in which
 * order, and the headline above them. Members that cannot be read are left out, because receipts and answers from other issuers are shown
 * too.
 */

type Members = Readonly<Record<string, unknown>>

/** A half-open range of characters. */
export interface Range {
  start: number
  end: number
}

export interface Part extends Range {
  label: string
}

export interface ShownFinding {
  field: string | null
  /** Null when the value as a whole is meant. */
  range: Range | null
  expected: string | null
  message: string
}

/** One item of a batch. */
export interface ItemView {
  index: string
  tool: string
  /** Null for an item that was not checked. */
  headline: Headline | null
  value: string
  /** The sentence of the headline, or why the item was not checked. */
  sentence: string
}

export interface AnswerView {
  headline: Headline
  /** Null where the result states none. */
  scope: { checked: string[]; not_checked: string[] } | null
  /** The checked value in its normal form; null where the tool checks no single value. */
  value: string | null
  parts: Part[]
  /** Faults first, then warnings. */
  findings: ShownFinding[]
  warnings: ShownFinding[]
  /** The one repair that would pass. */
  suggestion: string | null
  /** Items of a batch. */
  items: ItemView[]
  /** All further members, those of `facts` first. */
  facts: Readonly<Record<string, unknown>>
}

/** Members that the view shows in another place, or that only machines use. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'tool',
  'scope',
  'valid',
  'verdict',
  'reason',
  'reason_code',
  'normalized',
  'findings',
  'warnings',
  'facts',
  'results',
  'parts',
  'suggestion',
  'register',
])

/** `headlineOf` reads the headline of a result, also of one item of a batch. */
export function viewAnswer(result: Members, headlineOf: (result: Members) => Headline): AnswerView {
  const headline = headlineOf(result)
  const facts = isObject(result['facts']) ? result['facts'] : {}
  return {
    headline,
    scope: scopeOf(result['scope']),
    value: textOf(result['normalized']) || null,
    parts: partsOf(facts['parts']),
    findings: findingsOf(result['findings']),
    warnings: findingsOf(result['warnings']),
    suggestion: textOf(result['suggestion']),
    items: objectsIn(result['results']).map((item) => itemOf(item, headlineOf)),
    facts: { ...registerFacts(result['register']), ...factsOf(facts, result, headline.sentence) },
  }
}

/** The view shows the sentence of the headline above the facts, so the member with the same text is left out. */
function factsOf(facts: Members, result: Members, sentence: string): Record<string, unknown> {
  const rest = Object.entries(result).filter(
    ([name, value]) => !ELSEWHERE.has(name) && !Object.hasOwn(facts, name) && (sentence === '' || value !== sentence),
  )
  return Object.fromEntries([...Object.entries(facts).filter(([name]) => name !== 'parts'), ...rest])
}

/** Why the decision is what it is: one flag, rule or component that counted. */
export interface Reason {
  label: string | null
  message: string
  points: string | null
}

/** Facts by their use for a reader. */
export interface ArrangedFacts {
  reasons: Reason[]
  /** Recommended next steps. */
  advice: string[]
  /** Checks that the tool made itself, one line each; their full results stay in `details`. */
  checks: ItemView[]
  /** At most eight single values, in the tool's own order. */
  key_facts: [label: string, value: unknown][]
  /** Everything else, and everything of the above that is shown shortened. */
  details: Readonly<Record<string, unknown>>
}

const MOST_KEY_FACTS = 8

/** Members that identify or date the answer, which few readers need first. */
const BACKGROUND =
  /^(?:standard|evaluated_at|chain_id|sandbox|truncated|ok|changes|expected_check|steps|reason_code|bban|registry_release|print_form|.*_alpha3|.*(?:_hash|_digest|_checksum|_notice|_as_of|_truncated)|notice|data_as_of|policy_notice)$/

/** Sorts the facts of an answer; the word of its headline is not repeated. `order` names the members in the order of the tool's schema. */
export function arrangeFacts(
  { facts, headline: { word }, value: checked, parts }: AnswerView,
  order: readonly string[],
  headlineOf: (result: Members) => Headline,
): ArrangedFacts {
  // Facts of a register come first.
  const own = [...Object.keys(facts).filter((name) => 'live_register' in facts && REGISTER_FACTS.has(name)), ...order]
  const rank = (name: string) => (own.includes(name) ? own.indexOf(name) : own.length)
  const entries = Object.entries(facts).toSorted(([a], [b]) => rank(a) - rank(b))
  const arranged: ArrangedFacts = { reasons: [], advice: [], checks: [], key_facts: [], details: {} }
  const details: Record<string, unknown> = {}
  const labelled = parts.map(({ start, end }) => checked?.slice(start, end))
  for (const [name, value] of entries) {
    const reasons = reasonsOf(value)
    if (reasons !== null) arranged.reasons.push(...reasons)
    else if (name === 'recommendations' && Array.isArray(value)) arranged.advice.push(...value.map(String))
    else if (typeof value === 'string' && value.toLowerCase() === word.toLowerCase()) continue
    else if (
      isKeyFact(name, value) &&
      !(typeof value === 'string' && labelled.includes(value)) &&
      arranged.key_facts.length < MOST_KEY_FACTS
    )
      arranged.key_facts.push([labelOf(name), value])
    else details[name] = value
    if (name === 'checks' && isObject(value)) arranged.checks.push(...checksOf(value, headlineOf))
  }
  return { ...arranged, details }
}

/** Objects that each explain themselves in a sentence and say little more; null for any other value. */
function reasonsOf(value: unknown): Reason[] | null {
  const objects = objectsIn(value)
  if (!Array.isArray(value) || value.length === 0 || objects.length !== value.length) return null
  const reasons = objects.map((one): Reason | null => {
    const message = textOf(one['reason']) ?? textOf(one['explanation']) ?? textOf(one['message'])
    const label = textOf(one['factor']) ?? textOf(one['component']) ?? textOf(one['check'])
    if (message === null || Object.keys(one).length > 5) return null
    return {
      label: label === null ? null : labelOf(label),
      message,
      points: typeof one['points'] === 'number' ? String(one['points']) : null,
    }
  })
  return reasons.every((reason) => reason !== null) ? reasons : null
}

function checksOf(checks: Members, headlineOf: (result: Members) => Headline): ItemView[] {
  return Object.entries(checks).flatMap(([name, result]) => {
    if (!isObject(result) || typeof result['verdict'] !== 'string') return []
    const headline = headlineOf(result)
    return [{ index: labelOf(name), tool: '', headline, value: textOf(result['normalized']) ?? '', sentence: headline.sentence }]
  })
}

function isKeyFact(name: string, value: unknown): boolean {
  if (value === null || value === '' || BACKGROUND.test(name)) return false
  if (Array.isArray(value))
    return value.length > 0 && value.length <= 6 && value.every((one) => typeof one === 'string' && one.length <= 24)
  return (typeof value === 'string' && value.length <= 80) || typeof value === 'number' || typeof value === 'boolean'
}

/** Words that are written in capitals, or otherwise than their member is named. */
const LABEL_WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      'aba abn ach ap2 bban bic cnpj ean ein eip eur gst gstin iban id ifsc ip isbn isin iso json jwt kra lei mcc mcp ofac pan pin pos rfc rpc ' +
      'sdn sedol sepa swift tls trn uae ubo uk upi url us usd usdc uscc utc vat vpa xml'
    )
      .split(' ')
      .map((word) => [word, word.toUpperCase()]),
  ),
  bp: 'in basis points',
  bps: 'in basis points',
  pct: 'in %',
  ms: 'in ms',
  s: 'in seconds',
  minor: 'in minor units',
  nacha: 'Nacha',
  ok: 'OK',
  tx: 'transaction',
  camt053: 'camt.053',
  pacs008: 'pacs.008',
  pain001: 'pain.001',
}

/** A member name in words: `vendor_domain` is "Vendor domain", `tx_hash` is "Transaction hash". */
export function labelOf(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
    .filter(Boolean)
    .map((word) => (Object.hasOwn(LABEL_WORDS, word) ? LABEL_WORDS[word] : word))
  const label = words.join(' ')
  return /^(?:camt|pacs|pain)\./.test(label) ? label : label.charAt(0).toUpperCase() + label.slice(1)
}

function itemOf(item: Members, headlineOf: (result: Members) => Headline): ItemView {
  const answer = isObject(item['result']) ? item['result'] : {}
  const error = isObject(item['error']) ? textOf(item['error']['message']) : null
  const headline = error === null ? headlineOf(answer) : null
  return {
    index: String(item['index']),
    tool: textOf(item['tool']) ?? '',
    headline,
    value: textOf(answer['normalized']) ?? '',
    sentence: error ?? headline?.sentence ?? '',
  }
}

function scopeOf(scope: unknown): AnswerView['scope'] {
  if (!isObject(scope) || !Array.isArray(scope['checked']) || !Array.isArray(scope['not_checked'])) return null
  return { checked: scope['checked'].map(String), not_checked: scope['not_checked'].map(String) }
}

/** Returns what an answer does not say: as its scope states, or else as its tool does. */
export function notChecked(tool: { scope: { not_checked: readonly string[] } }, result: Members): readonly string[] {
  return scopeOf(result['scope'])?.not_checked ?? tool.scope.not_checked
}

/** Names under which the view shows the answer of a live register. */
const REGISTER_FACTS: ReadonlySet<string> = new Set(
  (
    'live_register registered_name registered_address register_status entity_status registered_on ended_on renewal_due register_updated_on ' +
    'register_checked_at register_record_url'
  ).split(' '),
)

/** Facts of the live register under names that say whose they are; none for an answer without one. */
function registerFacts(register: unknown): Record<string, unknown> {
  if (!isObject(register)) return {}
  const { register: id, status, checked_at, url } = register
  const { name, address, register_status, entity_status, registered_on, ended_on, renewal_due, updated_on } = isObject(register['record'])
    ? register['record']
    : {}
  const facts = {
    live_register: `${textOf(id) ?? ''}: ${(textOf(status) ?? '').replaceAll('_', ' ')}`,
    registered_name: name,
    registered_address: address,
    register_status,
    entity_status,
    registered_on,
    ended_on,
    renewal_due,
    register_updated_on: updated_on,
    register_checked_at: checked_at,
    register_record_url: url,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => typeof value === 'string'))
}

/** The parts of an identifier, in order; a part that overlaps an earlier one is left out. */
function partsOf(given: unknown): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const { label, start, end } of objectsIn(given)) {
    if (typeof label !== 'string' || typeof start !== 'number' || typeof end !== 'number' || start < from || end <= start) continue
    parts.push({ label, start, end })
    from = end
  }
  return parts
}

/** Findings and warnings; some tools give a warning as a plain sentence. */
function findingsOf(value: unknown): ShownFinding[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  return list.flatMap((one) => {
    if (typeof one === 'string') return [{ field: null, range: null, expected: null, message: one }]
    if (!isObject(one)) return []
    const { field, position, expected, message } = one
    return [{ field: textOf(field), range: rangeOf(position), expected: textOf(expected), message: textOf(message) ?? '' }]
  })
}

function rangeOf(position: unknown): Range | null {
  if (!Array.isArray(position)) return null
  const [start, end]: unknown[] = position
  return typeof start === 'number' && typeof end === 'number' && end > start ? { start, end } : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
