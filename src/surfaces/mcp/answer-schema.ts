import { isObject } from '../../pure/is-object.ts'
import { withoutWords, type JsonSchema } from '../../service/catalogue/json-schema.ts'
import { shareParts } from './shared-parts.ts'

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
