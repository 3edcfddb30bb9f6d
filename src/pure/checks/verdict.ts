/**
 * The one shape in which every check answers. A wrong identifier is a good answer: checks never throw.
 *
 * `valid` is true for the verdict `valid`, and for `well_formed_unverifiable` without findings. Neither says that the thing exists.
 */

/**
 * `well_formed_unverifiable` is for identifiers that have no public checksum. With `valid: false` it means that the form is right and that a
 * finding names the published list or series that does not confirm the value.
 */
type Verdict = 'valid' | 'well_formed_unverifiable' | 'invalid'

/** The closed vocabulary, in order of stage: input, characters, length, parts, checksum, then knowledge of the world. */
export const REASON_CODES = {
  empty: 'The value is empty.',
  too_long_input: 'The text is longer than this check reads.',
  non_ascii_digits: 'The value has digits other than 0-9.',
  bad_charset: 'The value has a character that this identifier never has.',
  bad_separator: 'A separator is in the wrong position.',
  too_short: 'The value is too short.',
  too_long: 'The value is too long.',
  bad_length: 'The value has a length that this identifier never has.',
  bad_country: 'The country part is not a country that uses this identifier.',
  unsupported_country: 'The country is not in the registry that this check reads.',
  bad_prefix: 'The first characters are not a prefix that is in use.',
  reserved_range: 'The value lies in a reserved range.',
  bad_structure: 'A character is of the wrong kind for its place.',
  bad_component: 'A part of the value does not fit this identifier.',
  bad_date: 'The date inside the value does not exist.',
  all_zero: 'The value is all zeros.',
  bad_checksum: 'The check digits do not match the rest.',
  checksum_out_of_range: 'The check digits lie outside the range that is ever issued.',
  bad_national_checksum: 'The national check digits inside the value do not match.',
  unassigned_range: 'The value lies in a range that is not assigned yet.',
  withdrawn: 'The value has been withdrawn.',
  test_only: 'The value is marked as a test value.',
  not_listed: 'The value is not on the list.',
  series_newer: 'The value is of a newer series than the published ones.',
  handle_not_in_registry: 'The handle is not in the registry.',
} as const

export type ReasonCode = keyof typeof REASON_CODES

/** Changes by normalization, in the order of the steps. */
export type Change =
  | 'removed_invisible'
  | 'folded_fullwidth'
  | 'stripped_spaces'
  | 'stripped_hyphens'
  | 'stripped_dots'
  | 'stripped_slashes'
  | 'stripped_parentheses'
  | 'uppercased'
  | 'lowercased'
  | 'removed_prefix'
  | 'removed_suffix'
  | 'padded_zeros'

export interface Finding {
  code: ReasonCode
  /** The part that is wrong: `country`, `check`, `bban` …; the identifier's own name when it is the whole value. */
  field: string
  /** Half-open range of characters in `normalized`; null when the value as a whole is meant. */
  position: [start: number, end: number] | null
  /** The expected characters or digits; null when there is no single answer. */
  expected: string | null
  /** The characters found: at most 34 characters of the normalized value, or its length; null when the whole is meant. */
  found: string | null
  message: string
}

export interface Check<Facts> {
  valid: boolean
  verdict: Verdict
  /** `ok`, or the code of the first finding. */
  reason_code: 'ok' | ReasonCode
  /** One sentence for people. */
  reason: string
  normalized: string
  changes: Change[]
  /** The findings of the earliest stage that failed; one that only could not be confirmed leaves the verdict `well_formed_unverifiable`. */
  findings: Finding[]
  /** Not fatal. */
  warnings: Finding[]
  /** The check digits that the rest of the value calls for, whenever that rest is well formed. */
  expected_check: string | null
  /** The one single-edit repair that passes; null when there is none or more than one. Never apply it to a payment unasked. */
  suggestion: string | null
  /** Facts of a well-formed value; null otherwise. */
  facts: Facts | null
}

/** Longest `found` of a finding, in UTF-16 units. */
const FOUND_CHARS = 34

/** A labelled half-open range of `normalized`, from which pages render the parts apart. */
export interface IdentifierPart {
  label: string
  start: number
  end: number
}

interface TextRange {
  value: string
  start: number
  end: number
}

/** Builds a finding about a range of the value, or about the whole value without a range. */
export function finding(code: ReasonCode, field: string, range: TextRange | null, expected: string | null, message?: string): Finding {
  return {
    code,
    expected,
    field,
    found: range === null ? null : range.value.slice(range.start, range.end).slice(0, FOUND_CHARS).toWellFormed(),
    message: message ?? REASON_CODES[code],
    position: range === null ? null : [range.start, range.end],
  }
}

/** Builds a finding about the length of the whole value, with the number of characters found and expected. */
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

/** Result of validating a normalized value. */
export interface Validation<Facts> {
  findings: Finding[]
  warnings?: Finding[]
  expected_check?: string | null
  facts?: Facts | null
  /** Set for identifiers without a checksum. */
  unverifiable?: boolean
  /** Keeps a value without findings from being valid: its form is right, but no published list or series confirms it. */
  unconfirmed?: Finding | null
}
