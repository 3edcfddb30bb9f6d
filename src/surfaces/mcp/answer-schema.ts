import type { JsonSchema } from '../../service/catalogue/json-schema.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const text = (description: string): JsonSchema => ({ type: 'string', description })
const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description })

/** An object whose members are all there, but for those named in `optional`. Further members may come with later versions. */
function closed(description: string, properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', description, properties, required }
}

function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema['type'], 'null'] }
}

const RECEIPT = closed(
  'The signed XDR-1 receipt; receipt-verify checks it.',
  {
    v: { const: 'XDR-1' },
    tool: text('Tool id.'),
    tool_version: text('Semantic version.'),
    input_hash: text('keccak-256 of the RFC 8785 text of the arguments.'),
    output_hash: text('The same of `result`.'),
    payer: text('Zero address on a free call.'),
    recipient: text('Address that paid calls pay.'),
    amount: text('Minor units of USDC.'),
    nonce: text('32 bytes.'),
    ts: count('Unix time in seconds.'),
    tier: { enum: ['free', 'paid'] },
    signer: text('Address of the key.'),
    signature: text('65 bytes r, s, v.'),
    successor: text('The next signer, or the receipt that replaces this one.'),
    stream_state: text('State of the stream of receipts.'),
  },
  ['successor', 'stream_state'],
)

const PARTS: Record<string, JsonSchema> = {
  receipt: RECEIPT,
  chain: closed('The link to the receipt named in the request.', {
    link_digest: text('keccak-256 of the link.'),
    link_signature: text('65 bytes r, s, v.'),
    prev_receipt_hash: text('Digest of the earlier receipt.'),
  }),
  tier: { enum: ['free', 'paid'], description: 'What the call was served under.' },
  settlement: orNull(
    closed('The payment; null on a free call.', {
      network: text('CAIP-2 id.'),
      transaction: text('Transaction hash.'),
      payer: text('Who paid.'),
      amount_minor: text('Minor units of USDC.'),
      method: text('How it was settled.'),
    }),
  ),
  allowance: orNull(
    closed('Free calls of this UTC day; null where they are not counted.', {
      limit: count('Calls a day.'),
      remaining: count('Calls left.'),
      resets_at: text('RFC 3339 time of the next day.'),
    }),
  ),
  embeddable_badge: text('A Markdown badge that links to the receipt.'),
  proof_summary_markdown: text('A few lines of Markdown: what was found, who signed.'),
}

/** The schema of the whole structured answer of a tool, around the schema of its own result. */
export function answerSchema(result: JsonSchema): JsonSchema & { type: 'object' } {
  const { $schema: _, $defs, ...bare } = result
  const schema = closed('The answer with its receipt.', { result: bare, ...PARTS }, ['chain'])
  // References such as #/$defs/x count from the root, so the definitions move there with them.
  return { $schema: DIALECT, ...schema, type: 'object', ...($defs === undefined ? {} : { $defs }) }
}
