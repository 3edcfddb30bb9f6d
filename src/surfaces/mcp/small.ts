import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { isObject } from '../../pure/is-object.ts'
import { FAMILIES, type Family, type Tool } from '../../service/catalogue/define.ts'
import type { JsonSchema, SchemaList, ToolSchemas } from '../../service/catalogue/json-schema.ts'
import { searchTools } from '../../service/catalogue/search.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import { problem, type Problem } from '../../service/problems.ts'
import { answerSchema } from './answer-schema.ts'

/** For models with little room: two tools that stand for all others. Their names have underscores, which no id has. */

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

const QUERY_CHARS = 200
const MOST = 10
const USUAL = 5

const TEXT = { type: 'string' } as const

const FOUND: JsonSchema = {
  type: 'object',
  properties: {
    tool: { ...TEXT, description: 'Id for call_tool.' },
    title: TEXT,
    description: TEXT,
    family: TEXT,
    price: { ...TEXT, description: 'Bounds of the price, once the free calls are used up.' },
    input_schema: { type: 'object', description: 'JSON Schema of input.' },
    example_input: { type: 'object' },
  },
  required: ['tool', 'title', 'description', 'family', 'price', 'input_schema', 'example_input'],
}

/** The whole answer to `tools/list` in the small form. */
export const SMALL_LIST: ListedTool[] = [
  {
    name: FIND_TOOLS,
    title: 'Find a tool',
    description: 'Finds tools by plain words, best first, each with its input schema. Free. Call the one that fits with call_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { ...TEXT, maxLength: QUERY_CHARS, description: 'What to check or compute, such as: european vat number.' },
        family: { enum: Object.keys(FAMILIES), description: 'Only tools of this family.' },
        limit: { type: 'integer', minimum: 1, maximum: MOST, description: `Most tools to return; ${USUAL} if left out.` },
      },
      required: ['query'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { tools: { type: 'array', items: FOUND }, found: { type: 'integer', description: 'How many fit in all.' } },
      required: ['tools', 'found'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: CALL_TOOL,
    title: 'Call a tool',
    description: 'Calls the tool of this id. Counted, paid and answered as that tool itself; the signed receipt names it.',
    inputSchema: {
      type: 'object',
      properties: {
        tool: { ...TEXT, maxLength: 64, description: 'Id as find_tools gives it.' },
        input: { type: 'object', description: 'What the input schema of the tool asks for.' },
      },
      required: ['tool', 'input'],
      additionalProperties: false,
    },
    outputSchema: answerSchema({ type: 'object', description: 'The result of the tool.' }),
    // Among the tools are some that leave a record, and some that read the world.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
]

export type Finder = (given: unknown) => { ok: true; value: Record<string, unknown> } | { ok: false; problem: Problem }

/** Answers `find_tools` over these tools, or those of some families. */
export function createFinder(tools: readonly Tool[], schemas: SchemaList, families: ReadonlySet<Family> | null): Finder {
  return (given) => {
    const read = readQuery(given)
    if (!read.ok) return read
    const { query, family, limit } = read
    const within = family === null ? families : new Set([family].filter((one) => families === null || families.has(one)))
    const found = searchTools(tools, { words: query, families: within })
    return { ok: true, value: { tools: found.slice(0, limit).map((tool) => shown(tool, schemas.get(tool.id))), found: found.length } }
  }
}

function shown(tool: Tool, schemas: ToolSchemas | undefined): Record<string, unknown> {
  const { id, title, description, family, example } = tool
  const { $schema: _, ...input_schema } = schemas?.input ?? {}
  return { tool: id, title, description, family, price: priceWords(tool), input_schema, example_input: example }
}

type Query = { ok: true; query: string; family: Family | null; limit: number } | { ok: false; problem: Problem }

function readQuery(given: unknown): Query {
  if (!isObject(given)) return fault('', 'Send an object with the key query.')
  const { query, family, limit = USUAL, ...others } = given
  if (Object.keys(others).length > 0) return fault('', 'It takes query, family and limit, and nothing else.')
  if (typeof query !== 'string' || query.length > QUERY_CHARS)
    return fault('/query', `query is a text of at most ${QUERY_CHARS} characters.`)
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MOST) return fault('/limit', `limit is 1 to ${MOST}.`)
  const known = (Object.keys(FAMILIES) as Family[]).find((name) => name === family)
  if (family !== undefined && known === undefined) return fault('/family', `Families are ${Object.keys(FAMILIES).join(', ')}.`)
  return { ok: true, query, family: known ?? null, limit }
}

function fault(pointer: string, message: string): { ok: false; problem: Problem } {
  const errors = [{ pointer: `/input${pointer}`, code: 'invalid', message }]
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', message, { errors }) }
}
