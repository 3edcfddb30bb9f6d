import type { Normalized } from './normalize.ts'
import { type Check, type Finding, REASON_CODES, type ReasonCode } from './verdict.ts'

/** Longest `found` of a finding, in UTF-16 units. */
const FOUND_CHARS = 34

/** A labelled half-open range of `normalized`, so that a page can set the parts apart. */
export interface Part {
  label: string
  start: number
  end: number
}

interface Place {
  value: string
  start: number
  end: number
}

/** A finding about a range of the value, or about the whole when there is no place. */
export function finding(code: ReasonCode, field: string, place: Place | null, expected: string | null, message?: string): Finding {
  return {
    code,
    expected,
    field,
    found: place === null ? null : place.value.slice(place.start, place.end).slice(0, FOUND_CHARS).toWellFormed(),
    message: message ?? REASON_CODES[code],
    position: place === null ? null : [place.start, place.end],
  }
}

/** A finding about the length of the whole value: says how many characters there are and how many are expected. */
export function lengthFinding(
  field: string,
  value: string,
  expected: string,
  { code = 'bad_length', hint = null }: { code?: 'bad_length' | 'too_short' | 'too_long'; hint?: string | null } = {},
): Finding {
  const unit = /^[0-9]+$/.test(value) ? 'digit' : 'character'
  const found = `${value.length} ${unit}${value.length === 1 ? '' : 's'}`
  const message = `${hint === null ? '' : `${hint} `}The value has ${found}; expected: ${expected}.`
  return { code, expected, field, found, message, position: null }
}

/** What a rule says of a value that could be read. */
export interface Judgement<Facts> {
  findings: Finding[]
  warnings?: Finding[]
  expected_check?: string | null
  facts?: Facts | null
  /** Set for identifiers without a checksum. */
  unverifiable?: boolean
  /** Keeps a value without findings from being valid: its form is right, but no published list or series confirms it. */
  unconfirmed?: Finding | null
}

interface Outcome<Facts> extends Judgement<Facts> {
  /** One sentence for a value without findings. */
  praise: string
  suggestion: string | null
}

/** Returns the answer: invalid by its first finding, not confirmed, or good. */
export function conclude<Facts>(text: Normalized, outcome: Outcome<Facts>): Check<Facts> {
  const unconfirmed = outcome.findings.length === 0 ? (outcome.unconfirmed ?? null) : null
  const findings = unconfirmed === null ? outcome.findings : [unconfirmed]
  const first = findings[0]
  const good = outcome.unverifiable === true || unconfirmed !== null ? 'well_formed_unverifiable' : 'valid'
  return {
    valid: first === undefined,
    verdict: outcome.findings.length === 0 ? good : 'invalid',
    reason_code: first?.code ?? 'ok',
    reason: first?.message ?? outcome.praise,
    normalized: text.value,
    changes: text.changes,
    findings,
    warnings: outcome.warnings ?? [],
    expected_check: outcome.expected_check ?? null,
    suggestion: outcome.suggestion,
    facts: outcome.facts ?? null,
  }
}
