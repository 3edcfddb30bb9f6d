import {
  digitAt,
  isPlain,
  MAX_CHARS,
  NEEDS_NORMALIZING,
  normalize,
  type Normalized,
  type NormalizeOptions,
  readPlain,
} from './normalize.ts'
import { type Check, finding, type Finding, type Validation } from './verdict.ts'

/** Value 0–35 of the digit or capital letter at an index. */
export function alphanumericValue(text: string, index: number): number {
  const digit = digitAt(text, index)
  return digit > 9 ? digit - 7 : digit
}

/** Findings about runs of foreign characters that one answer lists at most. */
const MAX_FOREIGN_RUNS = 8

/** Returns a finding for every run of characters that an identifier never has: ASCII punctuation is a separator in the wrong place. */
export function foreignCharacters(value: string, field: string, foreign: RegExp, expected: string): Finding[] {
  return [...value.matchAll(foreign)].slice(0, MAX_FOREIGN_RUNS).map((run) => {
    const code = /^[ -/:-@[-`{-~]+$/.test(run[0]) ? 'bad_separator' : 'bad_charset'
    return finding(code, field, { value, start: run.index, end: run.index + run[0].length }, expected)
  })
}

/** Returns a finding for every run of characters that are neither 0-9 nor A-Z. */
export function foreignCharacterFindings(value: string, field: string): Finding[] {
  return isPlain(value) ? [] : foreignCharacters(value, field, /[^0-9A-Z]+/gu, 'letters A-Z and digits 0-9')
}

/** Pairs of characters that people and scanners confuse. */
const LOOKALIKES: Readonly<Record<string, string>> = { O: '0', 0: 'O', I: '1', 1: 'I', S: '5', 5: 'S', B: '8', 8: 'B', Z: '2', 2: 'Z' }

/** Longest value that is repaired: no identifier is longer, and trying every edit takes quadratic time. */
const MAX_REPAIRED_CHARS = 64

/**
 * Returns the one valid value that is a single edit away from `value`, or null when none or several are. Edits are one look-alike
 * (O/0, I/1, S/5, B/8, Z/2) or one swap of neighbours. A proposal for people: a valid value need not be the intended one.
 */
export function repair(value: string, isValid: (candidate: string) => boolean): string | null {
  let repaired: string | null = null
  if (value.length > MAX_REPAIRED_CHARS) return null
  for (const candidate of edits(value)) {
    if (candidate === repaired || !isValid(candidate)) continue
    if (repaired !== null) return null
    repaired = candidate
  }
  return repaired
}

function* edits(value: string): Generator<string> {
  for (let index = 0; index < value.length; index++) {
    const here = value.charAt(index)
    const next = value.charAt(index + 1)
    const twin = LOOKALIKES[here]
    if (twin !== undefined) yield value.slice(0, index) + twin + value.slice(index + 1)
    if (next !== '' && next !== here) yield value.slice(0, index) + next + here + value.slice(index + 2)
  }
}

interface TextRule<Facts> {
  options: NormalizeOptions
  /** Sentence that answers for a value without findings. */
  success_reason: string
  /** Test of suggestions. */
  isValid(value: string): boolean
  /** Validates a normalized value, stage by stage. */
  validate(value: string): Validation<Facts>
}

/** Frame of every check with details: normalizes, validates what can be read, and suggests the one repair that is valid. */
export function checkText<Facts>(text: string, { options, success_reason, isValid, validate }: TextRule<Facts>): Check<Facts> {
  const read = normalize(text, options)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isValid(read.suggestion) ? read.suggestion : null
    return conclude(read, success_reason, { findings: [read.finding] }, suggestion)
  }
  const validated = validate(read.value)
  const suggestion = validated.findings.length === 0 ? null : repair(read.value, isValid)
  return conclude(read, success_reason, validated, suggestion)
}

/** Builds the answer: invalid by its first finding, unconfirmed, or valid, for which `success_reason` is the sentence. */
export function conclude<Facts>(
  text: Normalized,
  success_reason: string,
  { findings, unconfirmed = null, unverifiable, warnings = [], expected_check = null, facts = null }: Validation<Facts>,
  suggestion: string | null,
): Check<Facts> {
  const valid_form = findings.length === 0
  const first = valid_form ? unconfirmed : findings[0]
  const verdict = unverifiable === true || unconfirmed !== null ? 'well_formed_unverifiable' : 'valid'
  return {
    valid: first === null || first === undefined,
    verdict: valid_form ? verdict : 'invalid',
    reason_code: first?.code ?? 'ok',
    reason: first?.message ?? success_reason,
    normalized: text.value,
    changes: text.changes,
    findings: valid_form && unconfirmed !== null ? [unconfirmed] : findings,
    warnings,
    expected_check,
    suggestion,
    facts,
  }
}

/**
 * Suggests a zero in front where the length is wrong and the value is valid with it: spreadsheets drop that zero. No other repair is
 * possible then, since look-alikes and swaps keep the length.
 */
export function withLeadingZero<Facts>(check: Check<Facts>, isValid: (candidate: string) => boolean): Check<Facts> {
  if (check.reason_code !== 'bad_length') return check
  const suggestion = `0${check.normalized}`
  return isValid(suggestion) ? { ...check, suggestion } : check
}

/**
 * Frame of the boolean checks: text of letters, digits, spaces and hyphens is tested without creating strings, all other text is
 * normalized first. `values` is as long as the longest value and overwritten by each call.
 */
export function booleanCheck(
  options: NormalizeOptions,
  values: Uint8Array,
  first_below: 10 | 36,
  isValidFormat: (values: Uint8Array, length: number) => boolean,
): (text: string) => boolean {
  return (text) => {
    if (text.length > MAX_CHARS) return false
    const length = readPlain(text, values)
    // A separator may follow a label such as "IBAN".
    const labelled = options.label !== undefined && length !== text.length
    // More characters than the identifier has may begin with a word such as "SEDOL".
    const plain = length !== NEEDS_NORMALIZING && length <= values.length && !labelled && (values[0] ?? 0) < first_below
    if (plain) return isValidFormat(values, length)
    const { value, finding: unreadable } = normalize(text, options)
    return unreadable === null && isValidFormat(values, readPlain(value, values))
  }
}
