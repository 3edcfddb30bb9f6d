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
  non_ascii_digits: 'The value holds digits that are not 0-9.',
  bad_charset: 'The value holds a character that this identifier never has.',
  bad_separator: 'A separator stands where none belongs.',
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

/** What normalization altered, in the order in which it was done. */
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
  /** What would have been right, in our own words or digits; null when there is no single answer. */
  expected: string | null
  /** What stands there: at most 34 characters of the normalized value, or its length; null when the whole is meant. */
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
  /** Everything that can be read off a well-formed value; null otherwise. */
  facts: Facts | null
}
