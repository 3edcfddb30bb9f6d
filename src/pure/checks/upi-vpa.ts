import { type Check, finding, type Finding, type Validation } from './verdict.ts'
import { conclude, foreignCharacters } from './check-text.ts'
import table from '../../../data/upi-handles.json' with { type: 'json' }
import { dataDate, datesOf, isWords, orNull, referenceTable, rowOf } from '../datasets/table.ts'
import { MAX_CHARS, normalize, type Normalized, type NormalizeOptions, toAscii } from './normalize.ts'

const STATUSES = ['known', 'legacy', 'withdrawn'] as const

interface UpiHandle {
  handle: string
  /** legacy: redirected, or of a merged bank. withdrawn: of a bank that closed without a successor. */
  status: string
  /** Bank behind the handle; null where no source names it. */
  psp: string | null
  app: string | null
  /** List that names the handle, with its date. */
  source: string
}

/** Kinds of intermediaries, by the last word before a validated handle (SEBI circular 2025/86 of 11 June 2025, annexure B). */
const SEBI_CATEGORIES: Readonly<Record<string, string>> = {
  brk: 'Stock broker',
  bti: 'Banker to an issue',
  dp: 'Depository participant',
  ia: 'Investment adviser',
  invit: 'Infrastructure investment trust',
  mf: 'Mutual fund',
  pms: 'Portfolio manager',
  ra: 'Research analyst',
  reit: 'Real estate investment trust',
  sreit: 'Small and medium real estate investment trust',
}

/** NPCI publishes its registers as pages for people, so newer handles come by an import only. */
export const UPI_HANDLES = referenceTable(
  {
    id: 'upi_handles',
    version: 2,
    source_urls: [],
    licence: 'Facts, with the source of each row',
    limit_days: 200,
    rows_min: 200,
    rows_max: 1_500,
    removed_share_max: 0.05,
    present: ['okaxis', 'ptsbi', 'ptyes', 'paytm', 'birla', 'validhdfc'],
    isRow: rowOf<UpiHandle>({
      handle: /^[a-z][a-z0-9]{1,63}$/,
      status: (value) => STATUSES.some((one) => one === value),
      psp: orNull(isWords),
      app: orNull(isWords),
      source: isWords,
    }),
    key: ({ handle }) => handle,
  },
  () => table,
  (snapshot) => {
    const { sources } = snapshot as typeof snapshot & { sources?: Readonly<Record<string, string>> }
    const handles: ReadonlyMap<string, KnownHandle> = new Map(
      snapshot.rows.map(({ handle, status, psp, app, source }) => {
        const known = STATUSES.find((one) => one === status) ?? 'known'
        return [handle, { handle, status: known, psp, app, source: sources?.[source] ?? source }]
      }),
    )
    return { handles, as_of: dataDate(snapshot) }
  },
)

type KnownHandle = UpiHandle & { status: (typeof STATUSES)[number] }

function upiHandle(handle: string): KnownHandle | null {
  return UPI_HANDLES.view.handles.get(handle) ?? null
}

/** Fewer letters than these and one edit shows nothing: @axb is a separate handle, not a typing mistake for @axl. */
const LOOK_ALIKE_CHARS = 6

/**
 * The one handle in use that is a single edit away: a letter more, less or other, or two neighbours swapped. None where either is short, or
 * where the known handle is one end of the other, as airtel is in mairtel. Errs towards none.
 */
function lookAlike(handle: string): string | null {
  if (handle.length < LOOK_ALIKE_CHARS) return null
  let found: string | null = null
  for (const { handle: known, status } of UPI_HANDLES.view.handles.values()) {
    if (status !== 'known' || known.length < LOOK_ALIKE_CHARS || !oneEditApart(handle, known)) continue
    if (handle.startsWith(known) || handle.endsWith(known)) continue
    if (found !== null) return null
    found = known
  }
  return found
}

function oneEditApart(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const [left, right] = [one.slice(start), other.slice(start)]
  if (left.length !== right.length) return left.slice(1) === right || left === right.slice(1)
  return left.slice(1) === right.slice(1) || (left.slice(2) === right.slice(2) && left[0] === right[1] && left[1] === right[0])
}

/** Dates of the tables that an answer is read from. */
export const UPI_DATA_AS_OF = datesOf([UPI_HANDLES])

/** Set off by a space or colon: upi-name and vpa.name may begin an address. */
const WORDS = /^ {0,8}(?:UPI|VPA)(?:[ -](?:ID|ADDRESS))?[ :]{1,8}(?![ :]|(?:ID|ADDRESS)[ :-])/i
const OPTIONS: NormalizeOptions = { separators: '', label: { words: WORDS, fits: (value) => value.includes('@') }, field: 'vpa' }
const SUCCESS_REASON = 'The form is valid and the handle is in the registry; whether the address exists, and whose it is, was not checked.'
const EMAIL = 'A dot behind the @ marks an e-mail address (or an inner form of NPCI), not a UPI address.'
/** Also in the full-width form, which is folded first. */
const CAPITAL = /[A-ZＡ-Ｚ]/
const LOCAL_CHARS = 2
const HANDLE_CHARS = 2

/** Returns the same answer as `checkUpiVpa(text).valid`. */
export function isUpiVpa(text: string): boolean {
  // A text of the right form is its own normal form.
  if (text.length <= MAX_CHARS && matchesFormat(text)) return isRegistered(text)
  const { value, finding: unreadable } = normalizeVpa(text)
  return unreadable === null && matchesFormat(value) && isRegistered(value)
}

function isRegistered(value: string): boolean {
  const entry = upiHandle(value.slice(value.indexOf('@') + 1))
  return entry !== null && entry.status !== 'withdrawn'
}

function matchesFormat(value: string): boolean {
  const at = value.indexOf('@')
  if (at < LOCAL_CHARS || value.length - at - 1 < HANDLE_CHARS) return false
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    const letter = code >= 0x61 && code <= 0x7a
    const digit = code >= 0x30 && code <= 0x39
    const sign = code === 0x2e || code === 0x5f || code === 0x2d
    if (index < at ? !(letter || digit || sign) : index > at && !(letter || (digit && index > at + 1))) return false
  }
  return true
}

/**
 * Checks a virtual payment address of India's Unified Payments Interface (NPCI): two or more letters, digits, dots,
 * underscores or hyphens, one @, and a handle of letters and digits that begins with a letter. Capitals count as lowerCased letters, and only
 * space around the address is taken off.
 *
 * A handle of the registry is valid, with a warning where it is redirected or of a merged bank. The registry is partial and dated, so a
 * handle that it lacks is `well_formed_unverifiable`, `valid: false`, with the finding `handle_not_in_registry`; when a single long handle
 * in use is one edit away, it is the suggestion, because such look-alikes are a way to steal payments. A withdrawn handle is invalid.
 */
export function checkUpiVpa(text: string): Check<UpiVpaFacts> {
  const read = normalizeVpa(text)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isUpiVpa(read.suggestion) ? read.suggestion : null
    return conclude(read, SUCCESS_REASON, { findings: [read.finding] }, suggestion)
  }
  const validation = validate(read.value)
  const { facts } = validation
  const near = facts?.handle_status === 'unknown' ? lookAlike(facts.handle) : null
  const suggestion = facts && near !== null ? `${facts.local}@${near}` : null
  return conclude(read, SUCCESS_REASON, validation, suggestion)
}

/** Addresses are written lowerCased, and space inside one is a mistake. */
function normalizeVpa(text: string): Normalized {
  const { value, changes, finding: fault, suggestion } = normalize(text, OPTIONS)
  const trimmed = value.trim()
  const kept = changes.filter((change) => change !== 'uppercased')
  if (value !== trimmed) kept.push('stripped_spaces')
  const written = changes.includes('removed_prefix') ? toAscii(text).replace(WORDS, '') : text
  if (trimmed !== '' && CAPITAL.test(written)) kept.push('lowercased')
  if (fault !== null) {
    const ahead = value.length - value.trimStart().length
    const position: Finding['position'] = fault.position && [fault.position[0] - ahead, fault.position[1] - ahead]
    return {
      value: lowerCased(trimmed),
      changes: kept,
      finding: { ...fault, position },
      suggestion: suggestion && lowerCased(suggestion.trim()),
    }
  }
  const empty = trimmed === '' ? finding('empty', 'vpa', null, null) : null
  return { value: lowerCased(trimmed), changes: kept, finding: empty, suggestion: null }
}

/** Only A-Z; other letters are left to fail as they are. */
function lowerCased(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function validate(value: string): Validation<UpiVpaFacts> {
  const findings = formatFindings(value)
  if (findings.length > 0) return { findings }
  const facts = upiFacts(value)
  const place = { value, start: facts.local.length + 1, end: value.length }
  if (facts.handle_status === 'withdrawn') return { findings: [finding('withdrawn', 'handle', place, null, WITHDRAWN)] }
  const unconfirmed = facts.handle_status === 'unknown' ? notInRegistry(facts.handle, place) : null
  return { findings, unconfirmed, warnings: upiWarnings(value, facts), facts }
}

function notInRegistry(handle: string, place: { value: string; start: number; end: number }): Finding {
  const near = lookAlike(handle)
  const message = near === null ? partialRegistry() : `${partialRegistry()} It looks like @${near}.`
  return finding('handle_not_in_registry', 'handle', place, near, message)
}

function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacters(value, 'vpa', /[^0-9a-z@._-]+/gu, 'letters, digits, . _ - and one @')
  if (foreign.length > 0) return foreign
  const at = value.indexOf('@')
  if (at < 0 || at !== value.lastIndexOf('@')) return [finding('bad_structure', 'vpa', null, 'exactly one @')]
  const findings: Finding[] = []
  const place = at + 1 < value.length ? { value, start: at + 1, end: value.length } : null
  const local = at > 0 ? { value, start: 0, end: at } : null
  if (at < LOCAL_CHARS) findings.push(finding('too_short', 'local', local, `${LOCAL_CHARS} characters or more`))
  if (value.includes('.', at)) findings.push(finding('bad_component', 'handle', place, 'a handle without dots', EMAIL))
  else if (value.length - at - 1 < HANDLE_CHARS) findings.push(finding('too_short', 'handle', place, `${HANDLE_CHARS} characters or more`))
  else if (!/^[a-z][0-9a-z]*$/.test(value.slice(at + 1)))
    findings.push(finding('bad_structure', 'handle', place, 'a letter, then letters and digits'))
  return findings
}

function upiFacts(value: string) {
  const at = value.indexOf('@')
  const [local, handle] = [value.slice(0, at), value.slice(at + 1)]
  const entry = upiHandle(handle)
  return {
    local,
    local_kind: /^[0-9]{10}$/.test(local) ? ('mobile_number' as const) : ('name' as const),
    handle,
    handle_status: entry?.status ?? ('unknown' as const),
    psp: entry?.psp ?? null,
    app: entry?.app ?? null,
    handle_source: entry?.source ?? null,
    sebi_category: entry !== null && isValidated(handle) ? categoryOf(local) : null,
    parts: [
      { label: 'local', start: 0, end: at },
      { label: 'handle', start: at + 1, end: value.length },
    ],
  }
}

export type UpiVpaFacts = ReturnType<typeof upiFacts>

/** Only intermediaries of SEBI are given handles that begin so, since October 2025. */
function isValidated(handle: string): boolean {
  return handle.startsWith('valid')
}

/** The kind of intermediary that the last word of the local part names. */
function categoryOf(local: string): string | null {
  const dot = local.lastIndexOf('.')
  const word = local.slice(dot + 1)
  return dot > 0 && Object.hasOwn(SEBI_CATEGORIES, word) ? (SEBI_CATEGORIES[word] ?? null) : null
}

function upiWarnings(value: string, { local, handle, handle_status }: UpiVpaFacts): Finding[] {
  const place = { value, start: local.length + 1, end: value.length }
  const warnings: Finding[] = []
  if (handle_status === 'legacy') warnings.push(finding('withdrawn', 'handle', place, null, LEGACY))
  const category = categoryOf(local)
  if (isValidated(handle) && category === null)
    warnings.push(finding('bad_component', 'local', { value, start: 0, end: local.length }, 'a name that ends in .brk, .mf …', NO_CATEGORY))
  if (!isValidated(handle) && category !== null)
    warnings.push(finding('bad_component', 'handle', place, 'a handle that begins with valid', NOT_VALIDATED))
  return warnings
}

const partialRegistry = () =>
  `The registry of handles (${UPI_HANDLES.view.as_of}) does not list this one. The registry is partial: a handle in use may be missing.`
const WITHDRAWN = 'The handle was withdrawn: its bank has closed, and no other bank took the handle over.'
const LEGACY = 'The handle is a legacy one: it is redirected to another bank, or its bank was merged.'
const NO_CATEGORY = 'The name before a validated handle ends in a SEBI category, such as .brk or .mf; this one does not.'
const NOT_VALIDATED = 'The name ends in a SEBI category, but the handles of SEBI intermediaries begin with valid.'
