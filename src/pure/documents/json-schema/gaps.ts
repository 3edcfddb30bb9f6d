/** Why an answer cannot be given, from a closed list. Each is a property of the schema or of a bound, never a verdict on the data. */
export const GAP_CODES = {
  schema_malformed: 'A keyword of the schema has a value that its draft does not permit.',
  schema_not_json: 'The schema is not a JSON object or boolean.',
  schema_too_deep: 'The schema is nested too deep.',
  schema_too_large: 'The schema is too large.',
  data_not_json: 'The data are not JSON.',
  data_too_deep: 'The data are nested too deep.',
  data_too_large: 'The data are too large.',
  dialect_unknown: 'The schema names a dialect that is not one of ours.',
  vocabulary_unknown: 'The schema needs a vocabulary that is not one of ours.',
  ref_unresolvable: 'A reference leads to nothing within the schema; nothing is fetched.',
  reference_loop: 'A reference leads back to itself without a step into the data.',
  pattern_unsupported: 'A pattern uses what a linear matcher cannot do: look-around, back references or very large repetitions.',
  pattern_invalid: 'A pattern is not a regular expression of ECMA-262.',
  budget_exceeded: 'The work for this schema and these data is beyond the bound.',
} as const

export type GapCode = keyof typeof GAP_CODES

export interface Gap {
  code: GapCode
  /** JSON pointer into the schema; a URI before `#` where the place is in another document. */
  schema_path: string
  /** The keyword that is meant, null when the whole is. */
  keyword: string | null
  message: string
}
