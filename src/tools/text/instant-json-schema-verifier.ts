import { z } from 'zod'
import { GAP_CODES, type GapCode, ERROR_CODES } from '../../pure/documents/json-schema/schema-model.ts'
import { DRAFTS } from '../../pure/documents/json-schema/keywords.ts'
import type { SchemaVerdict } from '../../pure/documents/json-schema/validate.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

const GAPS = Object.keys(GAP_CODES) as [GapCode, ...GapCode[]]

const ANY_JSON = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.string(), z.number(), z.boolean(), z.null()])

/** Validates data with an interpreter for the three JSON Schema drafts in use; undecidable parts are reported as such. */
export default defineTool({
  id: 'instant-json-schema-verifier',
  title: 'Verify data against a JSON Schema',
  description:
    'Validates JSON data against a JSON Schema of draft 2020-12, 2019-09 or draft-07: all validation keywords, references within the ' +
    'schema, exact decimals, linear-time patterns. Nothing is fetched or executed. Answers valid, invalid with JSON pointers to each ' +
    'error, or undetermined with the reason. format is an annotation and not checked.',
  family: 'text',
  version: '1.1.0',
  price: 'document',
  annotations: PURE,
  scope: {
    checked: ['form of the schema', 'every keyword of its draft that asserts', 'references within the schema and to its metaschema'],
    not_checked: [
      'format and content keywords, which are annotations',
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
      .describe('The schema, at most 256 KiB. Its draft is the one in $schema, otherwise draft, otherwise 2020-12.'),
    draft: z.enum(DRAFTS).optional().describe('The draft of a schema without $schema.'),
  }),
  output: z.strictObject({
    valid: z.boolean().nullable().describe('True if the data are valid; null if undetermined.'),
    verdict: z.enum(['valid', 'invalid', 'undetermined']).describe('The verdict as a word.'),
    reason_code: z.enum(['ok', 'schema_violated', ...GAPS]).describe('ok, schema_violated, or why it is undetermined.'),
    reason: z.string().describe('The reason in one sentence.'),
    draft: z.enum(DRAFTS).nullable().describe('The draft applied; null if $schema names an unknown one.'),
    draft_source: z.enum(['schema', 'input', 'default']).describe('Where the draft was named: in the schema, in the input, or by default.'),
    error_count: z.int().min(0).max(100).describe('Errors listed.'),
    truncated: z.boolean().describe('True if there are more than 100 errors.'),
    errors: z
      .array(
        z.strictObject({
          instance_path: z.string().describe('JSON pointer into the data, for example /lines/0/sku.'),
          schema_path: z.string().describe('JSON pointer into the schema.'),
          keyword: z.string().describe('The keyword that failed, for example required.'),
          code: z.enum(ERROR_CODES).describe('Kind of error.'),
          message: z.string().describe('One sentence.'),
        }),
      )
      .describe('The errors; empty unless invalid. Errors of rejected branches follow their anyOf or oneOf.'),
    unsupported: z
      .array(
        z.strictObject({
          code: z.string().describe('One of the values of reason_code.'),
          schema_path: z.string().describe('JSON pointer into the schema.'),
          keyword: z.string().nullable().describe('The keyword; null if the whole schema is meant.'),
          message: z.string().describe('One sentence.'),
        }),
      )
      .describe('Parts that could not be decided. With a verdict, they made no difference.'),
    annotations_only: z
      .array(z.string())
      .describe('Keywords without effect on the verdict: annotations such as format, and unknown names.'),
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
      return { reason_code: 'ok' as const, reason: 'The data are valid.' }
    case 'invalid': {
      const [first] = errors
      const where = first === undefined || first.instance_path === '' ? 'At the root' : `At ${first.instance_path}`
      const reason = first === undefined ? 'The data are not valid.' : `${where}: ${first.message}`
      return { reason_code: 'schema_violated' as const, reason }
    }
    case 'undetermined': {
      const [first] = unsupported
      return { reason_code: first?.code ?? ('budget_exceeded' as const), reason: first?.message ?? GAP_CODES.budget_exceeded }
    }
  }
}
