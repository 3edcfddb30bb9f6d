// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Verify data against a JSON Schema. */
export interface InstantJsonSchemaVerifierInput {
  /** The data: an object, or any other JSON value. */
  data: Readonly<Record<string, unknown>> | readonly unknown[] | string | number | boolean | null
  /** The schema, at most 256 KiB. $schema in it names its draft; without it draft, or else 2020-12, holds. */
  schema: Readonly<Record<string, unknown>> | boolean
  /** The draft of a schema without $schema. */
  draft?: '2020-12' | '2019-09' | 'draft-07'
}

export interface InstantJsonSchemaVerifierOutput {
  /** Whether the data fit; null when that cannot be decided. */
  valid: boolean | null
  /** The same in a word. */
  verdict: 'valid' | 'invalid' | 'undetermined'
  /** ok, schema_violated, or why it is undetermined. */
  reason_code:
    | 'ok'
    | 'schema_violated'
    | 'schema_malformed'
    | 'schema_not_json'
    | 'schema_too_deep'
    | 'schema_too_large'
    | 'data_not_json'
    | 'data_too_deep'
    | 'data_too_large'
    | 'dialect_unknown'
    | 'vocabulary_unknown'
    | 'ref_unresolvable'
    | 'reference_loop'
    | 'pattern_unsupported'
    | 'pattern_invalid'
    | 'budget_exceeded'
  /** One sentence for people. */
  reason: string
  /** The draft that was applied; null when the schema names another. */
  draft: '2020-12' | '2019-09' | 'draft-07' | null
  /** Who named the draft. */
  draft_source: 'schema' | 'input' | 'default'
  /** Errors listed. */
  error_count: number
  /** There are more errors than are listed. */
  truncated: boolean
  /** The faults; empty unless invalid. Those of refused branches stand after their anyOf or oneOf. */
  errors: readonly {
    instance_path: string
    schema_path: string
    keyword: string
    code:
      | 'type_mismatch'
      | 'not_in_enum'
      | 'not_const'
      | 'not_a_multiple'
      | 'too_large'
      | 'too_small'
      | 'too_long'
      | 'too_short'
      | 'pattern_mismatch'
      | 'too_many'
      | 'too_few'
      | 'not_unique'
      | 'property_missing'
      | 'property_not_allowed'
      | 'item_not_allowed'
      | 'nothing_allowed'
      | 'match_forbidden'
      | 'no_branch_matches'
      | 'several_branches_match'
    message: string
  }[]
  /** What could not be judged. Beside a verdict, it made no difference. */
  unsupported: readonly { code: string; schema_path: string; keyword: string | null; message: string }[]
  /** Keywords met that decide nothing: notes, and unknown names. */
  annotations_only: readonly string[]
  /** Work done, in steps; at most about 2,000,000. */
  steps: number
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'instant-json-schema-verifier'
}
