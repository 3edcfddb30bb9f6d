import { z } from 'zod'
import { GAP_CODES, type GapCode } from '../../pure/documents/json-schema/gaps.ts'
import { DRAFTS } from '../../pure/documents/json-schema/keywords.ts'
import { ERROR_CODES } from '../../pure/documents/json-schema/nodes.ts'
import type { SchemaVerdict } from '../../pure/documents/json-schema/validate.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

const GAPS = Object.keys(GAP_CODES) as [GapCode, ...GapCode[]]

const ANY_JSON = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.string(), z.number(), z.boolean(), z.null()])

/** Data held against a JSON Schema by an interpreter of the three drafts in use; what cannot be decided is said to be undecided. */
export default defineTool({
  id: 'instant-json-schema-verifier',
  title: 'Verify data against a JSON Schema',
  description:
    'Validates JSON data against a JSON Schema of draft 2020-12, 2019-09 or draft-07: all validation keywords, references within the ' +
    'schema, exact decimals, linear-time patterns. Nothing is fetched or executed. Answers valid, invalid with JSON pointers to each ' +
    'fault, or undetermined with the reason. format is a note, not checked.',
  family: 'text',
  version: '1.1.0',
  price: 'document',
  annotations: PURE,
  scope: {
    checked: ['form of the schema', 'every keyword of its draft that asserts', 'references within the schema and to its metaschema'],
    not_checked: [
      'format and content keywords, which are notes',
      'references to other documents',
      'patterns with look-around or back references',
      'whether the schema says what its author meant',
    ],
  },
  bounds: { body_bytes: limits.document_body_bytes, nodes: limits.document_nodes },
  heavy: true,
  headline: [
    { when: { verdict: 'valid' }, tone: 'good', word: 'valid' },
    { when: { verdict: 'invalid' }, tone: 'bad', word: 'invalid' },
    { when: { verdict: 'undetermined' }, tone: 'caution', word: 'undetermined' },
  ],
  sources: [],
  input: z.strictObject({
    data: ANY_JSON.describe('The data: an object, or any other JSON value.'),
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .describe('The schema, at most 256 KiB. $schema in it names its draft; without it draft, or else 2020-12, holds.'),
    draft: z.enum(DRAFTS).optional().describe('The draft of a schema without $schema.'),
  }),
  output: z.strictObject({
    valid: z.boolean().nullable().describe('Whether the data fit; null when that cannot be decided.'),
    verdict: z.enum(['valid', 'invalid', 'undetermined']).describe('The same in a word.'),
    reason_code: z.enum(['ok', 'schema_violated', ...GAPS]).describe('ok, schema_violated, or why it is undetermined.'),
    reason: z.string().describe('One sentence for people.'),
    draft: z.enum(DRAFTS).nullable().describe('The draft that was applied; null when the schema names another.'),
    draft_source: z.enum(['schema', 'input', 'default']).describe('Who named the draft.'),
    error_count: z.int().min(0).max(100).describe('Errors listed.'),
    truncated: z.boolean().describe('There are more errors than are listed.'),
    errors: z
      .array(
        z.strictObject({
          instance_path: z.string().describe('JSON pointer into the data.'),
          schema_path: z.string().describe('JSON pointer into the schema.'),
          keyword: z.string().describe('The keyword that failed.'),
          code: z.enum(ERROR_CODES).describe('Kind of fault.'),
          message: z.string().describe('One sentence.'),
        }),
      )
      .describe('The faults; empty unless invalid. Those of refused branches stand after their anyOf or oneOf.'),
    unsupported: z
      .array(
        z.strictObject({
          code: z.string().describe('One of the values of reason_code.'),
          schema_path: z.string().describe('JSON pointer into the schema.'),
          keyword: z.string().nullable().describe('The keyword, or null for the whole.'),
          message: z.string().describe('One sentence.'),
        }),
      )
      .describe('What could not be judged. Beside a verdict, it made no difference.'),
    annotations_only: z.array(z.string()).describe('Keywords met that decide nothing: notes, and unknown names.'),
    steps: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe('Work done, in steps; at most about 2,000,000.'),
  }),
  example: {
    data: { id: 'inv-7', amount: 19.99, lines: [{ sku: 'A1' }] },
    schema: {
      type: 'object',
      required: ['id', 'amount'],
      properties: {
        id: { type: 'string', pattern: '^inv-[0-9]+$' },
        amount: { type: 'number', multipleOf: 0.01 },
        lines: { type: 'array', items: { type: 'object', required: ['sku'] } },
      },
    },
  },
  async run({ data, schema, draft }) {
    const { validateJsonSchema } = await import('../../pure/documents/json-schema/validate.ts')
    const { outcome, ...verdict } = validateJsonSchema(schema, data, draft === undefined ? {} : { draft })
    return { valid: VALID[outcome], verdict: outcome, ...reasonOf(outcome, verdict), ...verdict, error_count: verdict.errors.length }
  },
})

const VALID = { valid: true, invalid: false, undetermined: null } as const

function reasonOf(outcome: SchemaVerdict['outcome'], { errors, unsupported }: Omit<SchemaVerdict, 'outcome'>) {
  switch (outcome) {
    case 'valid':
      return { reason_code: 'ok' as const, reason: 'The data fit the schema.' }
    case 'invalid': {
      const [first] = errors
      const where = first === undefined || first.instance_path === '' ? 'At the root' : `At ${first.instance_path}`
      const reason = first === undefined ? 'The data do not fit the schema.' : `${where}: ${first.message}`
      return { reason_code: 'schema_violated' as const, reason }
    }
    case 'undetermined': {
      const [first] = unsupported
      return { reason_code: first?.code ?? ('budget_exceeded' as const), reason: first?.message ?? GAP_CODES.budget_exceeded }
    }
  }
}
