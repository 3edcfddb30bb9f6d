import { checkSchema, type SchemaCheck } from '../../documents/json-schema/check-schema.ts'
import { validateJsonSchema, type SchemaVerdict } from '../../documents/json-schema/validate.ts'
import type { Place } from '../place.ts'
import { holdsRedaction } from './expect.ts'
import type { Context } from '../rule.ts'

/** Schemas that strangers put into their documents: counted before they are looked at, never run as code, never fetched from anywhere. */

/** Objects that one schema of a stranger may be made of. */
const MOST_SUBSCHEMAS = 2_000

/** Whether a schema is small enough to be looked at; else the whole document is refused. Counts every object in it. */
function isBounded(context: Context, schema: Place): boolean {
  let count = 0
  const open: Place[] = [schema]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.kind === 'object' && ++count > MOST_SUBSCHEMAS) {
      context.exceed(schema, 'subschemas', MOST_SUBSCHEMAS)
      return false
    }
    for (const inner of place.kind === 'array' ? place.items() : place.members()) open.push(inner)
  }
  return true
}

/** What a schema is by itself: well-formed or not, and what in it leads nowhere. null when it is beyond the bound, which ends the check. */
export function inspectSchema(context: Context, schema: Place): SchemaCheck | null {
  return isBounded(context, schema) ? checkSchema(schema.value) : null
}

/**
 * Holds data of a document against a schema of the same document. `undetermined` where the schema asks what is not read here, where either
 * holds redacted values, or where all schemas of the document together have used up their steps.
 */
export function judgeBySchema(context: Context, schema: Place, data: Place): 'valid' | 'invalid' | 'undetermined' {
  return verdictOf(context, schema, data)?.outcome ?? 'undetermined'
}

/** The same for data that another party completes: `incomplete` where all that is wrong is that members are missing. */
export function judgeDeclaration(context: Context, schema: Place, data: Place): 'valid' | 'incomplete' | 'invalid' | 'undetermined' {
  const verdict = verdictOf(context, schema, data)
  const isIncomplete = verdict?.outcome === 'invalid' && verdict.errors.every(({ code }) => code === 'property_missing')
  return isIncomplete ? 'incomplete' : (verdict?.outcome ?? 'undetermined')
}

function verdictOf(context: Context, schema: Place, data: Place): SchemaVerdict | null {
  const { budget } = context
  if (budget.schema_steps <= 0 || !isBounded(context, schema) || holdsRedaction(schema) || holdsRedaction(data)) return null
  const verdict = validateJsonSchema(schema.value, data.value, { steps: budget.schema_steps })
  budget.schema_steps -= verdict.steps + 1
  return verdict
}
