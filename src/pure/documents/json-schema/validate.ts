/**
 * JSON Schema 2020-12, 2019-09 and draft-07, interpreted: no code is made from a schema, nothing is fetched, and what cannot be decided is
 * said to be undecided. The rules are those of the specifications of March 2018, September 2019 and June 2022.
 *
 * `format` and the content keywords are notes, as the specifications have it by default; they are listed with every other name that does
 * not decide. Numbers are judged by their shortest decimal text, lengths by code points, patterns by RE2 (see `pattern.ts`). A schema with
 * a malformed keyword is not applied. Doubts are carried through by Kleene's logic, so `valid` and `invalid` hold whatever the part in
 * doubt would have said.
 */
import { Evaluation, type SchemaError } from './evaluate.ts'
import type { Gap } from './gaps.ts'
import { survey } from './json.ts'
import type { SchemaNode } from './nodes.ts'
import { gapOf, openSchema, type DialectUsed, type SchemaOptions } from './open.ts'

export interface SchemaVerdict extends DialectUsed {
  outcome: 'valid' | 'invalid' | 'undetermined'
  /** At most 100, in the order of the walk; empty unless invalid. */
  errors: SchemaError[]
  /** There were more errors than are listed. */
  truncated: boolean
  /** What could not be judged. With a verdict, it did not matter. */
  unsupported: Gap[]
  /** Keywords that were met and did not decide: notes such as format, and names that the dialect does not know. */
  annotations_only: string[]
  /** Work done; the same for the same input. */
  steps: number
}

const DATA_DEPTH = 64
const DATA_CHARS = 5 * 1_048_576

/** Whether data are valid under a schema. Never throws; work and memory are bounded. */
export function validateJsonSchema(schema: unknown, data: unknown, options: SchemaOptions = {}): SchemaVerdict {
  const { load, root, used, gaps } = openSchema(schema, options)
  const verdict = { ...used, errors: [], truncated: false, annotations_only: [...load.annotations], steps: load.budget.steps }
  const fault = survey(data, DATA_DEPTH, DATA_CHARS)
  const unsupported = fault === null ? gaps : [...gaps, gapOf(`data_${fault}`)]
  if (root === null || unsupported.length > 0) return { ...verdict, outcome: 'undetermined', unsupported }
  return { ...verdict, ...evaluated(new Evaluation(load), root, data) }
}

function evaluated(evaluation: Evaluation, root: SchemaNode, data: unknown) {
  const truth = evaluation.start(root, data)
  const { gaps, truncated, budget } = evaluation
  const { steps } = budget
  const unsupported = budget.exhausted ? [...gaps, gapOf('budget_exceeded')] : gaps
  if (truth === false) return { outcome: 'invalid', errors: evaluation.errors, truncated, unsupported, steps } as const
  return { outcome: truth === null ? 'undetermined' : 'valid', unsupported, steps } as const
}
