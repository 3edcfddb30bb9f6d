import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
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
  receipt: { ...OBJECT, description: 'Signed XDR-1 receipt of this call; receipt-verify checks it.' },
  chain: { ...OBJECT, description: 'Signed link to the receipt that the request named.' },
  tier: { enum: ['free', 'paid'] },
  settlement: { ...OBJECT_OR_NULL, description: 'The payment; null on a free call.' },
  allowance: { ...OBJECT_OR_NULL, description: 'Free calls left today; null where they are not counted.' },
  embeddable_badge: TEXT,
  proof_summary_markdown: TEXT,
}

/** The schema of the whole structured answer of a tool, around the schema of its own result. */
export function answerSchema(result: JsonSchema): JsonSchema & { type: 'object' } {
  const { $schema: _, $defs, ...bare } = result
  const shared = shareParts(bare)
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
