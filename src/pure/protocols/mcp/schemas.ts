import { holdsRedaction } from '../kit/expect.ts'
import { inspectSchema } from '../kit/schema.ts'
import type { Place } from '../place.ts'
import type { Context } from '../rule.ts'

/** A keyword that is not as its draft asks, and where it stands. */
interface SchemaFault {
  place: Place
  keyword: string
  /** Steps from the root of the schema. */
  depth: number
}

/** The schema of a tool, and what is wrong with it by itself, sorted by the rule that speaks of it. */
export interface ToolSchema {
  place: Place
  /** `properties` that is no map of schemas. */
  properties: SchemaFault[]
  /** `required` that is no list of different names. */
  required: SchemaFault[]
  /** References to nothing within the schema. */
  references: SchemaFault[]
  /** Whatever else is malformed. */
  others: SchemaFault[]
  /** Whether it is written in a dialect that is read here. */
  is_known_dialect: boolean
}

/** What of a schema can be told without data. null where there is no object, something in it is redacted, or it is beyond a bound. */
export function readSchema(context: Context, place: Place): ToolSchema | null {
  if (place.kind !== 'object') return null
  if (holdsRedaction(place)) {
    context.notChecked('schemas with redacted parts')
    return null
  }
  const check = inspectSchema(context, place)
  if (check === null) return null
  const schema: ToolSchema = { place, properties: [], required: [], references: [], others: [], is_known_dialect: true }
  for (const { schema_path, keyword } of check.findings) {
    const fault = faultAt(place, schema_path, keyword)
    if (keyword === 'properties') schema.properties.push(fault)
    else if (keyword === 'required') schema.required.push(fault)
    else schema.others.push(fault)
  }
  for (const { code, schema_path, keyword } of check.unsupported) {
    if (code === 'ref_unresolvable') schema.references.push(faultAt(place, schema_path, keyword))
    else if (code === 'pattern_invalid') schema.others.push(faultAt(place, schema_path, keyword))
    else if (code === 'dialect_unknown' || code === 'vocabulary_unknown') schema.is_known_dialect = false
    else context.notChecked('schemas, and patterns in them, that are beyond the reader')
  }
  return schema
}

function faultAt(schema: Place, pointer: string, keyword: string | null): SchemaFault {
  const steps = pointer.split('/').slice(1)
  let place = schema
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    place = (place.kind === 'array' ? place.items()[Number(key)] : undefined) ?? place.get(key)
  }
  return { place, keyword: keyword ?? '', depth: steps.length }
}
