import { conclude, finding, type Judgement, type Part } from './check-result.ts'
import { strangers } from './digits.ts'
import { MAX_CHARS, normalize, type Normalized, type NormalizeOptions, shown } from './normalize.ts'
import { lookAlike, SEBI_CATEGORIES, UPI_HANDLES_AS_OF, upiHandle } from './upi-handles.ts'
import type { Check, Finding } from './verdict.ts'

export interface UpiVpaFacts {
  local: string
  local_kind: 'mobile_number' | 'name'
  handle: string
  handle_status: 'known' | 'legacy' | 'unknown'
  /** The bank behind the handle; null when the handle is unknown. */
  psp: string | null
  app: string | null
  /** Set for a listed valid* handle whose name ends in a category of SEBI: the payee is a registered intermediary of this kind. */
  sebi_category: string | null
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const UPI_DATA_AS_OF = { upi_handles: UPI_HANDLES_AS_OF } as const

/** Set off by a space or colon: upi-name and vpa.name may begin an address. */
const WORDS = /^ {0,8}(?:UPI|VPA)(?:[ -](?:ID|ADDRESS))?[ :]{1,8}(?![ :]|(?:ID|ADDRESS)[ :-])/i
const OPTIONS: NormalizeOptions = { separators: '', label: { words: WORDS, fits: (value) => value.includes('@') }, field: 'vpa' }
const PRAISE = 'The form holds; nobody was asked whether the address exists or whose it is.'
const EMAIL = 'A dot behind the @ marks an e-mail address (or an inner form of NPCI), not a UPI address.'
/** Also in the full-width form, which is folded first. */
const CAPITAL = /[A-ZＡ-Ｚ]/
const LOCAL_CHARS = 2
const HANDLE_CHARS = 2

/** Always the same answer as `checkUpiVpa(text).valid`. */
export function isUpiVpa(text: string): boolean {
  // What holds as it stands would be left as it is.
  if (text.length <= MAX_CHARS && holds(text)) return true
  const { value, finding: unreadable } = readVpa(text)
  return unreadable === null && holds(value)
}

function holds(value: string): boolean {
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
 * Decides whether text is built like a virtual payment address of India's Unified Payments Interface (NPCI): two or more letters,
 * digits, dots, underscores or hyphens, one @, and a handle of letters and digits that begins with a letter. Capitals count as small
 * letters, and only space around the address is taken off.
 *
 * The list of handles is partial and moves, so an unknown one is the warning `not_listed`; when a single long handle in use is one edit
 * away, it is the suggestion, for such look-alikes are a way to steal payments. There is no checksum and nobody is asked, so the
 * verdict is never more than well_formed_unverifiable.
 */
export function checkUpiVpa(text: string): Check<UpiVpaFacts> {
  const read = readVpa(text)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && holds(read.suggestion) ? read.suggestion : null
    return conclude(read, { praise: PRAISE, findings: [read.finding], suggestion })
  }
  const judged = judge(read.value)
  const { facts } = judged
  const near = facts?.handle_status === 'unknown' ? lookAlike(facts.handle) : null
  const suggestion = facts && near !== null ? `${facts.local}@${near}` : null
  return conclude(read, { praise: PRAISE, ...judged, suggestion })
}

/** Addresses are written small, and space inside one is a mistake. */
function readVpa(text: string): Normalized {
  const { value, changes, finding: fault, suggestion } = normalize(text, OPTIONS)
  const trimmed = value.trim()
  const kept = changes.filter((change) => change !== 'uppercased')
  if (value !== trimmed) kept.push('stripped_spaces')
  const written = changes.includes('removed_prefix') ? shown(text).replace(WORDS, '') : text
  if (trimmed !== '' && CAPITAL.test(written)) kept.push('lowercased')
  if (fault !== null) {
    const ahead = value.length - value.trimStart().length
    const position: Finding['position'] = fault.position && [fault.position[0] - ahead, fault.position[1] - ahead]
    return { value: small(trimmed), changes: kept, finding: { ...fault, position }, suggestion: suggestion && small(suggestion.trim()) }
  }
  const empty = trimmed === '' ? finding('empty', 'vpa', null, null) : null
  return { value: small(trimmed), changes: kept, finding: empty, suggestion: null }
}

/** Only A-Z; other letters are left to fail as they are. */
function small(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function judge(value: string): Judgement<UpiVpaFacts> {
  const findings = shapeFindings(value)
  if (findings.length > 0) return { findings }
  const facts = factsOf(value)
  return { unverifiable: true, findings, warnings: warningsOf(value, facts), facts }
}

function shapeFindings(value: string): Finding[] {
  const foreign = strangers(value, 'vpa', /[^0-9a-z@._-]+/gu, 'letters, digits, . _ - and one @')
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

function factsOf(value: string): UpiVpaFacts {
  const at = value.indexOf('@')
  const [local, handle] = [value.slice(0, at), value.slice(at + 1)]
  const listed = upiHandle(handle)
  return {
    local,
    local_kind: /^[0-9]{10}$/.test(local) ? 'mobile_number' : 'name',
    handle,
    handle_status: listed?.status ?? 'unknown',
    psp: listed?.psp ?? null,
    app: listed?.app ?? null,
    sebi_category: listed !== null && isValidated(handle) ? categoryOf(local) : null,
    parts: [
      { label: 'local', start: 0, end: at },
      { label: 'handle', start: at + 1, end: value.length },
    ],
  }
}

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

function warningsOf(value: string, { local, handle, handle_status }: UpiVpaFacts): Finding[] {
  const place = { value, start: local.length + 1, end: value.length }
  const warnings: Finding[] = []
  const near = handle_status === 'unknown' ? lookAlike(handle) : null
  if (handle_status === 'unknown') {
    const message = near === null ? 'Our partial list lacks this handle.' : `Our partial list lacks this handle; it looks like @${near}.`
    warnings.push(finding('not_listed', 'handle', place, near, message))
  }
  if (handle_status === 'legacy')
    warnings.push(finding('withdrawn', 'handle', place, null, 'The handle is old: its bank was merged or closed, or it is redirected.'))
  const category = categoryOf(local)
  if (isValidated(handle) && category === null)
    warnings.push(finding('bad_component', 'local', { value, start: 0, end: local.length }, 'a name that ends in .brk, .mf …', NO_CATEGORY))
  if (!isValidated(handle) && category !== null)
    warnings.push(finding('bad_component', 'handle', place, 'a handle that begins with valid', NOT_VALIDATED))
  return warnings
}

const NO_CATEGORY = 'Validated handles stand behind a name that ends in a category of SEBI.'
const NOT_VALIDATED = 'The name ends like that of an intermediary of SEBI, whose handles begin with valid.'
