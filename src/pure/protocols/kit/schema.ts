import { checkSchema, type SchemaCheck } from '../../documents/json-schema/load.ts'
import { validateJsonSchema, type SchemaVerdict } from '../../documents/json-schema/validate.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { containsRedaction } from './expect.ts'
import type { RuleContext } from '../protocol.ts'

/** JSON Schemas inside documents: their size is bounded before use; they are never run as code or fetched. */

/** Maximum number of objects in one schema of a document. */
const MOST_SUBSCHEMAS = 2_000

/** Counts the objects of a schema. Refuses the whole document and returns false beyond the bound. */
function checkSchemaSize(context: RuleContext, schema: JsonCursor): boolean {
  let count = 0
  for (const cursor of schema.descendants()) {
    if (cursor.kind === 'object' && ++count > MOST_SUBSCHEMAS) {
      context.exceed(schema, 'subschemas', MOST_SUBSCHEMAS)
      return false
    }
  }
  return true
}

/** Checks a schema by itself: form and references. null beyond the bound, which ends the check. */
export function inspectSchema(context: RuleContext, schema: JsonCursor): SchemaCheck | null {
  return checkSchemaSize(context, schema) ? checkSchema(schema.value) : null
}

/**
 * Validates data of a document by a schema of the same document. `undetermined` if the schema uses unsupported features, either contains
 * redacted values, or all schemas of the document have used up the step budget.
 */
export function validateBySchema(context: RuleContext, schema: JsonCursor, data: JsonCursor): 'valid' | 'invalid' | 'undetermined' {
  return runSchema(context, schema, data)?.outcome ?? 'undetermined'
}

/** The same for data that another party completes: `incomplete` if only missing members are wrong. */
export function validateDeclaration(
  context: RuleContext,
  schema: JsonCursor,
  data: JsonCursor,
): 'valid' | 'incomplete' | 'invalid' | 'undetermined' {
  const verdict = runSchema(context, schema, data)
  const isIncomplete = verdict?.outcome === 'invalid' && verdict.errors.every(({ code }) => code === 'property_missing')
  return isIncomplete ? 'incomplete' : (verdict?.outcome ?? 'undetermined')
}

function runSchema(context: RuleContext, schema: JsonCursor, data: JsonCursor): SchemaVerdict | null {
  const { budget } = context
  if (budget.schema_steps <= 0 || !checkSchemaSize(context, schema) || containsRedaction(schema) || containsRedaction(data)) return null
  const verdict = validateJsonSchema(schema.value, data.value, { steps: budget.schema_steps })
  budget.schema_steps -= verdict.steps + 1
  return verdict
}
