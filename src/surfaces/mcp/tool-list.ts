import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { FAMILIES, type Family, type Tool } from '../../service/catalogue/define.ts'
import type { SchemaList, JsonSchema, ToolSchemas } from '../../service/catalogue/wire-schemas.ts'
import { answerSchema, listedDescription, listedInput } from './list-schemas.ts'
import { once } from '../../pure/once.ts'
import { isObject } from '../../pure/is-object.ts'
import { searchTools } from '../../service/catalogue/search.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import { problem, type Problem } from '../../service/problems.ts'

/** Answer to `tools/list`. */
export function toolList(tools: readonly Tool[], schemas: SchemaList): ListedTool[] {
  return tools.map((tool) => {
    const own = schemas.get(tool.id)
    if (own === undefined) throw new Error(`no schemas were derived for ${tool.id}`)
    return {
      name: tool.id,
      title: tool.title,
      description: listedDescription(tool.description),
      inputSchema: listedInput(own.input),
      outputSchema: answerSchema(own.output, tool.family === 'packs' ? ['scope', 'names'] : ['scope']),
      annotations: {
        readOnlyHint: tool.annotations.read_only,
        destructiveHint: tool.annotations.destructive,
        idempotentHint: tool.annotations.idempotent,
        openWorldHint: tool.annotations.open_world,
      },
    }
  })
}

/** Tools that one client sees. A view shortens only the list; tools that are not listed can still be called. */
export interface ToolView {
  listed: ListedTool[]
  /** Set if the list has find_tool and call_tool. */
  find: FindTools | null
  /** Maximum number of tools of one page of the list. */
  page: number
}

/** Short forms of the list: two tools that find and call all others, without and with the most used ones. */
export const SHORT_FORMS = ['search', 'small'] as const
type ShortForm = (typeof SHORT_FORMS)[number]

/** View that a client requested. */
export interface ToolViewRequest {
  /** Families separated by commas; null for all. */
  family: string | null
  /** Null for all tools. */
  form: ShortForm | null
  /** Number of tools of one page; null for all on one. */
  page: number | null
}

type ToolViewResult = { ok: true; view: ToolView } | { ok: false; message: string }

/** Returns views over one catalogue; the complete list is built on first use. */
export function createViews(tools: readonly Tool[], schemas: SchemaList): (asked: ToolViewRequest) => ToolViewResult {
  const derived = once(() => toolList(tools, schemas))
  const named = (names: readonly string[]) => derived().filter(({ name }) => names.includes(name))
  const short = { search: once(() => finders('find_tools')), small: once(() => [...finders('find_tool'), ...named(MOST_USED)]) }
  return ({ family, form, page }) => {
    const families = family === null ? null : readFamilies(family)
    if (family !== null && families === null)
      return { ok: false, message: `Families are ${Object.keys(FAMILIES).join(', ')}, separated by commas.` }
    const size = page ?? tools.length
    if (form !== null) return { ok: true, view: { listed: short[form](), find: createFindTools(tools, schemas, families), page: size } }
    const whole = derived()
    const listed = families === null ? whole : whole.filter((_, index) => isIn(families, tools[index]))
    return { ok: true, view: { listed, find: null, page: size } }
  }
}

/** Tools of the small list, for checking a payee and what it sends, in the order of the catalogue. */
const MOST_USED = (
  'iban-check swift-bic-check vat-mod97-check lei-check e164-check ofac-sdn-check vendor-onboarding-pack pre-disbursement-guard ' +
  'receipt-verify token-contract-risk'
).split(' ')

/**
 * One page of the list. The cursor is the base64url of the last name of the page before, so it stays valid when tools are added. Null for a
 * cursor that names no listed tool.
 */
export function listPage({ listed, page }: Pick<ToolView, 'listed' | 'page'>, cursor: string | undefined): ListedPage | null {
  const last = cursor === undefined ? null : Buffer.from(cursor, 'base64url').toString()
  const start = last === null ? 0 : listed.findIndex(({ name }) => name === last) + 1
  if (last !== null && (start === 0 || cursor !== cursorOf(last))) return null
  const tools = listed.slice(start, start + page)
  const end = tools.at(-1)
  return end === undefined || start + page >= listed.length ? { tools } : { tools, nextCursor: cursorOf(end.name) }
}

type ListedPage = {
  tools: ListedTool[]
  nextCursor?: string
}

function cursorOf(name: string): string {
  return Buffer.from(name).toString('base64url')
}

function isIn(families: ReadonlySet<Family>, tool: Tool | undefined): boolean {
  return tool !== undefined && families.has(tool.family)
}

const FAMILY_CHARS = 400

function readFamilies(text: string): ReadonlySet<Family> | null {
  if (text.length > FAMILY_CHARS) return null
  const named = text.split(',').map((name) => name.trim())
  return named.every((name): name is Family => Object.hasOwn(FAMILIES, name)) ? new Set(named) : null
}

/** Tools that find and call the others. Tool ids have no underscores, so the names cannot collide. */

const FIND_NAMES = ['find_tool', 'find_tools'] as const

/** Returns true for the name of the search in either short form. */
export function isFindTool(name: unknown): boolean {
  return FIND_NAMES.some((one) => one === name)
}

export const CALL_TOOL = 'call_tool'

const QUERY_CHARS = 200
const FOUND_MAX = 10
const FOUND_DEFAULT = 5

const TEXT = { type: 'string' } as const

const FOUND_TOOL_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    tool: { ...TEXT, description: 'Id for call_tool.' },
    title: TEXT,
    description: TEXT,
    family: TEXT,
    price: { ...TEXT, description: 'Price range after the free calls are used up.' },
    input_schema: { type: 'object', description: 'JSON Schema of input.' },
    example_input: { type: 'object' },
  },
  required: ['tool', 'title', 'description', 'family', 'price', 'input_schema', 'example_input'],
}

/** The two tools, with the name of the search in this form of the list. */
const finders = (find: (typeof FIND_NAMES)[number]): ListedTool[] => [
  {
    name: find,
    title: 'Find a tool',
    description: 'Finds tools for a task, best match first, each with price and input. Free. Call the tool that fits with call_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { ...TEXT, maxLength: QUERY_CHARS, description: 'The task in words, for example: is this supplier safe to pay?' },
        family: { enum: Object.keys(FAMILIES), description: 'Only tools of this family.' },
        limit: { type: 'integer', minimum: 1, maximum: FOUND_MAX, description: `Maximum number of tools; default ${FOUND_DEFAULT}.` },
      },
      required: ['query'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        tools: { type: 'array', items: FOUND_TOOL_SCHEMA },
        found: { type: 'integer', description: 'Total number of matching tools.' },
      },
      required: ['tools', 'found'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: CALL_TOOL,
    title: 'Call a tool',
    description: 'Calls the tool with this id, at its price.',
    inputSchema: {
      type: 'object',
      properties: {
        tool: { ...TEXT, maxLength: 64, description: 'Id, such as iban-check.' },
        input: { type: 'object', description: 'Input of that tool.' },
      },
      required: ['tool', 'input'],
      additionalProperties: false,
    },
    outputSchema: answerSchema({ type: 'object', description: 'The result of the tool.' }),
    // Some tools store records, and some read external sources.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
]

/** `brief`: what was found as text for a model. */
export type FindTools = (given: unknown) => { ok: true; value: Record<string, unknown>; brief: string } | { ok: false; problem: Problem }

/** Answers `find_tools` for all tools or some families. */
function createFindTools(tools: readonly Tool[], schemas: SchemaList, families: ReadonlySet<Family> | null): FindTools {
  return (given) => {
    const read = readQuery(given)
    if (!read.ok) return read
    const { query, family, limit } = read
    const within = family === null ? families : new Set([family].filter((one) => families === null || families.has(one)))
    const found = searchTools(tools, { words: query, families: within })
    const shown = found.slice(0, limit).map((tool) => ({ tool, own: schemas.get(tool.id) }))
    const lines = shown.map(({ tool, own }) => foundLine(tool, own))
    return {
      ok: true,
      value: { tools: shown.map(({ tool, own }) => describeFoundTool(tool, own)), found: found.length },
      brief:
        lines.length === 0 ? 'No tool matches these words. Use other words, such as the name of a number or document.' : lines.join('\n'),
    }
  }
}

/** One tool as a line: id, price, purpose and the fields of its input; optional ones have a question mark. */
function foundLine(tool: Tool, schemas: ToolSchemas | undefined): string {
  const { properties, required } = listedInput(schemas?.input ?? {})
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, one]) => {
    const { description, enum: choices, type } = isObject(one) ? one : {}
    const kind = Array.isArray(choices)
      ? choices.join('|')
      : [type]
          .flat()
          .filter((each) => typeof each === 'string')
          .join('|')
    const words = typeof description === 'string' ? ` (${description})` : ''
    return `${name}${needed.includes(name) ? '' : '?'}: ${kind === '' ? 'any' : kind}${words}`
  })
  return `${tool.id}, ${priceWords(tool)}: ${listedDescription(tool.description)}. Input: ${fields.join(', ')}`
}

function describeFoundTool(tool: Tool, schemas: ToolSchemas | undefined): Record<string, unknown> {
  const { id, title, description, family, example } = tool
  const { $schema: _, ...input_schema } = schemas?.input ?? {}
  return { tool: id, title, description, family, price: priceWords(tool), input_schema, example_input: example }
}

type FindToolsQuery = { ok: true; query: string; family: Family | null; limit: number } | { ok: false; problem: Problem }

function readQuery(given: unknown): FindToolsQuery {
  if (!isObject(given)) return invalidQuery('', 'Send an object with the key query, such as {"query": "vat number"}.')
  const { query, family, limit = FOUND_DEFAULT, ...others } = given
  if (Object.keys(others).length > 0) return invalidQuery('', 'Unknown key. The search accepts query, family and limit.')
  if (typeof query !== 'string' || query.length > QUERY_CHARS)
    return invalidQuery('/query', `query must be a string of at most ${QUERY_CHARS} characters.`)
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > FOUND_MAX)
    return invalidQuery('/limit', `limit must be a whole number from 1 to ${FOUND_MAX}.`)
  const known = (Object.keys(FAMILIES) as Family[]).find((name) => name === family)
  if (family !== undefined && known === undefined) return invalidQuery('/family', `Families are ${Object.keys(FAMILIES).join(', ')}.`)
  return { ok: true, query, family: known ?? null, limit }
}

function invalidQuery(pointer: string, message: string): { ok: false; problem: Problem } {
  const errors = [{ pointer: `/input${pointer}`, code: 'invalid', message }]
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', message, { errors }) }
}
