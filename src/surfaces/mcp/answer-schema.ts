import { isObject } from '../../pure/is-object.ts'
import { type JsonSchema, withoutWords } from '../../service/catalogue/json-schema.ts'

/** Shorter parts are not worth a reference. */
const LEAST_CHARS = 160

/**
 * The same schema with each object that it describes more than once told once, under `$defs` of `root`, and referred to: a list of tools is
 * read whole by models. Only whole schemas of objects are shared, so that every reference stands where a schema may stand.
 */
function shareParts(schema: JsonSchema): { schema: JsonSchema; $defs: Record<string, unknown> } {
  const counts = new Map<string, number>()
  count(schema, counts)
  const $defs: Record<string, unknown> = {}
  const names = new Map<string, string>()
  const replace = (value: unknown, at_root: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => replace(item, false))
    if (!isObject(value)) return value
    const text = !at_root && value['type'] === 'object' ? JSON.stringify(value) : ''
    if (text.length < LEAST_CHARS || (counts.get(text) ?? 0) < 2) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner, false)]))
    }
    const name = names.get(text) ?? `part_${names.size + 1}`
    names.set(text, name)
    $defs[name] = value
    return { $ref: `#/$defs/${name}` }
  }
  return { schema: replace(schema, true) as JsonSchema, $defs }
}

function count(value: unknown, counts: Map<string, number>): void {
  if (Array.isArray(value)) for (const item of value) count(item, counts)
  if (!isObject(value)) return
  const text = value['type'] === 'object' ? JSON.stringify(value) : ''
  if (text.length >= LEAST_CHARS) counts.set(text, (counts.get(text) ?? 0) + 1)
  for (const inner of Object.values(value)) count(inner, counts)
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const TEXT: JsonSchema = { type: 'string' }
const OBJECT: JsonSchema = { type: 'object' }
const OBJECT_OR_NULL: JsonSchema = { type: ['object', 'null'] }

/**
 * What surrounds every result. Its members are told by name alone: this part stands in the schema of every tool, so that each word of it is
 * read as often as there are tools, by readers who pay for each. The whole of it is in /openapi.json.
 */
const PARTS: Record<string, JsonSchema> = {
  receipt: OBJECT,
  chain: OBJECT,
  tier: { enum: ['free', 'paid'] },
  settlement: OBJECT_OR_NULL,
  allowance: OBJECT_OR_NULL,
  embeddable_badge: TEXT,
  proof_summary_markdown: TEXT,
}

/** Longer lists of codes are left to the whole schema: a code of a result is read, not chosen. */
const CODES_MOST = 12

/** Any text where the whole schema lists many. */
function withoutCodes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withoutCodes(one))
  if (!isObject(schema)) return schema
  const kept = Object.entries(schema).filter(([key, inner]) => key !== 'enum' || !Array.isArray(inner) || inner.length <= CODES_MOST)
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutCodes(inner)]))
}

/**
 * The schema of the whole structured answer of a tool, around the schema of its own result. The list of tools is read whole by models, so the
 * schema validates and says no words: /v1/tools/{id} and /openapi.json have them.
 */
export function answerSchema(result: JsonSchema): JsonSchema & { type: 'object' } {
  const { $schema: _, $defs, ...bare } = result
  const shared = shareParts(withoutCodes(withoutWords(bare)) as JsonSchema)
  // References such as #/$defs/x count from the root, so the definitions move there with them.
  const definitions = { ...($defs as Record<string, unknown> | undefined), ...shared.$defs }
  const properties = { result: shared.schema, ...PARTS }
  const required = Object.keys(PARTS).filter((name) => name !== 'chain')
  return {
    $schema: DIALECT,
    type: 'object',
    properties,
    // Clients of 2025 hold the terms of an unpaid call against this schema too: those have no result.
    dependentRequired: { result: required },
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}
