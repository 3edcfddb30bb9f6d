import type { JsonSchema } from '../../service/catalogue/json-schema.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const TEXT: JsonSchema = { type: 'string' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const TIER: JsonSchema = { enum: ['free', 'paid'] }

/**
 * An object whose members are all there, but for those named in `optional`; further members may come with later versions. Members bear
 * no descriptions: this part stands in the schema of every tool, so each word of it is read as often as there are tools.
 */
function members(properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema & { type: 'object' } {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) }
}

function texts(...names: string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, TEXT]))
}

function orNull(description: string, schema: JsonSchema): JsonSchema {
  return { ...schema, type: ['object', 'null'], description }
}

const RECEIPT = members(
  {
    v: { const: 'XDR-1' },
    ...texts('tool', 'tool_version', 'input_hash', 'output_hash', 'payer', 'recipient', 'amount', 'nonce'),
    ts: COUNT,
    tier: TIER,
    ...texts('signer', 'signature', 'successor', 'stream_state'),
  },
  ['successor', 'stream_state'],
)

const PARTS: Record<string, JsonSchema> = {
  receipt: { ...RECEIPT, description: 'Signed XDR-1 receipt of this call; receipt-verify checks it.' },
  chain: {
    ...members(texts('link_digest', 'link_signature', 'prev_receipt_hash')),
    description: 'Signed link to the receipt that the request named.',
  },
  tier: TIER,
  settlement: orNull('The payment; null on a free call.', members(texts('network', 'transaction', 'payer', 'amount_minor', 'method'))),
  allowance: orNull(
    'Free calls of this UTC day; null where they are not counted.',
    members({ limit: COUNT, remaining: COUNT, resets_at: TEXT }),
  ),
  embeddable_badge: { ...TEXT, description: 'Markdown image that links to the receipt.' },
  proof_summary_markdown: { ...TEXT, description: 'What was found and who signed it, in a few lines of Markdown.' },
}

/** The schema of the whole structured answer of a tool, around the schema of its own result. */
export function answerSchema(result: JsonSchema): JsonSchema & { type: 'object' } {
  const { $schema: _, $defs, ...bare } = result
  // References such as #/$defs/x count from the root, so the definitions move there with them.
  return { $schema: DIALECT, ...members({ result: bare, ...PARTS }, ['chain']), ...($defs === undefined ? {} : { $defs }) }
}
