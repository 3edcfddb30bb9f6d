import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { isObject } from '../../pure/is-object.ts'
import { once } from '../../pure/once.ts'
import { FAMILIES, type Family, type Tool } from '../../service/catalogue/define.ts'
import { searchTools } from '../../service/catalogue/search.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import type { JsonSchema, SchemaList, ToolSchemas } from '../../service/catalogue/wire-schemas.ts'
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
type FindTools = (given: unknown) => { ok: true; value: Record<string, unknown>; brief: string } | { ok: false; problem: Problem }

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

/**
 * Schemas as `tools/list` shows them. Models read the whole list, so it leaves out what the service checks anyway and explains when a value
 * is wrong: bounds, patterns, aliases and repeated words. Every value that the full schema accepts and that uses the listed names is accepted
 * by the listed one. /v1/tools/{id}, find_tool and /openapi.json have the full schemas.
 */

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Keywords about bounds and annotations. */
const OMITTED = new Set(
  (
    '$schema title default examples readOnly propertyNames pattern format minLength maxLength minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf prefixItems minItems maxItems uniqueItems maxProperties if then else'
  ).split(' '),
)

/** Longer choices are omitted: the problem of a wrong value lists what is accepted. */
const CHOICES_MAX = 20
const OUTPUT_CHOICES_MAX = 12

function without(schema: JsonSchema, ...keys: string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))
}

/** Returns the schema with every subschema rewritten, innermost first. Names of properties are never taken for keywords. */
function rewrite(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inner = (value: unknown) => (isObject(value) ? rewrite(value, change) : value)
  const parts = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if ((key === 'properties' || key === '$defs') && isObject(value))
      return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))]
    if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') return [key, Array.isArray(value) ? value.map(inner) : value]
    return key === 'items' || key === 'additionalProperties' ? [key, inner(value)] : [key, value]
  })
  return change(Object.fromEntries(parts))
}

function withoutBounds(schema: JsonSchema): JsonSchema {
  const named = Object.entries(schema).filter(([key, value]) => !OMITTED.has(key) && !(key === 'items' && value === false))
  const { additionalProperties, ...kept } = Object.fromEntries(named)
  const is_map = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0
  return mergedTypes(is_map ? { ...kept, additionalProperties } : kept)
}

/** Alternatives that are only types become a list of types. */
function mergedTypes({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return schema
  const types = anyOf.map((one: unknown) => (isObject(one) && Object.keys(one).join() === 'type' ? one['type'] : null))
  if (types.includes(null)) return { ...schema, anyOf }
  const names = [...new Set(types.flat())]
  return { ...schema, type: names.length === 1 ? names[0] : names }
}

/**
 * Keeps one spelling of each choice; a long list of them becomes any value of the type. Choices of an input that have several spellings become
 * examples, because hosts validate arguments against the listed schema and would refuse the other spellings.
 */
function withInputChoices(schema: JsonSchema): JsonSchema {
  const { enum: choices, ...rest } = schema
  const listed = withChoices(schema, CHOICES_MAX)
  const distinct = listed['enum']
  if (!Array.isArray(choices) || !Array.isArray(distinct) || distinct.length === choices.length) return listed
  const types = choices.every((one) => typeof one === 'string') ? { type: 'string' } : {}
  return { ...rest, ...types, examples: distinct }
}

function withChoices(schema: JsonSchema, most: number): JsonSchema {
  const { enum: choices, type, ...rest } = schema
  if (!Array.isArray(choices)) return schema
  const spellings = new Map(choices.toReversed().map((one: unknown) => [typeof one === 'string' ? one.toLowerCase() : one, one]))
  const distinct = [...spellings.values()].toReversed()
  return distinct.length > most ? { ...rest, ...(type === undefined ? {} : { type }) } : { ...rest, enum: distinct }
}

const ALIAS = /^The same by /

/** Input schema for models: one name for each field, with a description only where it adds to the name. */
function listedInput(full: JsonSchema): JsonSchema & { type: 'object' } {
  const schema = withDescriptions(rewrite(full, (one) => withoutAliases(withInputChoices(withoutBounds(one)))))
  return { ...requiredOf(full, schema), type: 'object' }
}

function withDescriptions(schema: JsonSchema): JsonSchema {
  const fields = Object.entries(isObject(schema['properties']) ? schema['properties'] : {})
  return { ...schema, properties: Object.fromEntries(fields.map(([name, one]) => [name, isObject(one) ? briefly(name, one) : one])) }
}

function withoutAliases(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  if (!isObject(properties)) return schema
  const listed = Object.entries(properties).filter(([, one]) => !isAlias(one))
  return { ...schema, properties: Object.fromEntries(listed) }
}

function isAlias(schema: unknown): boolean {
  return isObject(schema) && ALIAS.test(String(schema['description']))
}

/** Requires the field that its aliases may replace: with the aliases gone it is the only way to send the value. */
function requiredOf(full: JsonSchema, { minProperties, ...schema }: JsonSchema): JsonSchema {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
  const only = minProperties === 1 && names.length === 1 ? names : []
  const choice = isObject(full['if']) && Array.isArray(full['if']['anyOf']) ? full['if']['anyOf'] : []
  const ways = choice.map((one: unknown) => (isObject(one) && Array.isArray(one['required']) ? one['required'].map(String) : []))
  const open = ways.filter((way) => way.every((name) => names.includes(name)))
  const required = [...new Set([...(Array.isArray(schema['required']) ? schema['required'].map(String) : []), ...only])]
  const all = open.length === 1 ? [...new Set([...required, ...open.flat()])] : required
  return {
    ...schema,
    ...(all.length === 0 ? {} : { required: all }),
    ...(minProperties === undefined || only.length > 0 ? {} : { minProperties }),
  }
}

/** First clause of the description, left out if the name of the field says it already; inner fields show by name and type. */
function briefly(name: string, { description, ...schema }: JsonSchema): JsonSchema {
  const bare = rewrite(schema, (inner) => without(inner, 'description', 'required'))
  const clause = typeof description === 'string' ? firstClause(description, FIELD_CHARS) : ''
  const known = new Set([...wordsOf(name.replace(/([a-z])([A-Z])/g, '$1 $2')), ...FILLERS])
  return wordsOf(clause).every((word) => known.has(word) || /^[0-9]+$/.test(word)) ? bare : { ...bare, description: clause }
}

const FIELD_CHARS = 50
const TOOL_CHARS = 90
const FILLERS = 'a an the of to its it is that this in by for as which with was be value text number code characters digits or such'.split(
  ' ',
)

/** One line about a tool, for lists. */
function listedDescription(description: string): string {
  return firstClause(description, TOOL_CHARS)
}

/** First sentence up to a semicolon; a longer one ends at a colon or comma that leaves enough of it to be understood. */
function firstClause(text: string, most: number): string {
  const sentence = text.split(/(?:;|\.(?=\s+[A-Z]|\s*$))/)[0]?.trim() ?? ''
  if (sentence.length <= most) return sentence
  const ends = (mark: string) =>
    Array.from(sentence, (_, at) => at).filter((at) => sentence.startsWith(mark, at) && isBalanced(sentence.slice(0, at)))
  const colon = ends(': ').findLast((at) => at >= 0.2 * most && at <= most)
  const comma = ends(', ').findLast((at) => at >= 0.65 * most && at <= most)
  return sentence.slice(0, colon ?? comma ?? ends(', ').find((at) => at > most))
}

function isBalanced(text: string): boolean {
  return text.split('(').length === text.split(')').length
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
}

/** Shorter schemas are repeated instead of shared. */
const SHARED_CHARS_MIN = 120

/** Moves object schemas that occur more than once to `$defs`. */
function shareParts(schema: JsonSchema): { schema: JsonSchema; $defs: Record<string, unknown> } {
  const counts = new Map<string, number>()
  const isShared = (one: JsonSchema) => one['type'] === 'object' && JSON.stringify(one).length >= SHARED_CHARS_MIN
  rewrite(schema, (one) => {
    if (isShared(one)) counts.set(JSON.stringify(one), (counts.get(JSON.stringify(one)) ?? 0) + 1)
    return one
  })
  const names = new Map([...counts].filter(([, count]) => count > 1).map(([text], index) => [text, `part_${index + 1}`]))
  const replaced = rewrite(schema, (one) => {
    const name = names.get(JSON.stringify(one))
    return name === undefined ? one : { $ref: `#/$defs/${name}` }
  })
  return { schema: replaced, $defs: Object.fromEntries([...names].map(([text, name]) => [name, JSON.parse(text) as unknown])) }
}

/**
 * Schema of the structured answer of a tool: the members of the result, what is required of it, and the members of the objects in it, without
 * descriptions and bounds. Members in `same` are only named. /v1/tools/{id} has the whole schema, /openapi.json also that of receipt, settlement and allowance.
 */
export function answerSchema(result: JsonSchema, same: readonly string[] = []): JsonSchema & { type: 'object' } {
  const listed = rewrite(result, (one) => {
    const kept = without(withChoices(withoutBounds(one), OUTPUT_CHOICES_MAX), 'description')
    return 'const' in kept ? { const: kept['const'] } : kept
  })
  const { $defs, ...bare } = listed
  const { required: needed, properties, ...shown } = outline(bare, OUTPUT_LEVELS)
  const named = (shape: JsonSchema) => Object.fromEntries(same.filter((name) => name in shape).map((name) => [name, SAME[name]]))
  const members = isObject(properties) ? { properties: { ...properties, ...named(properties) } } : {}
  const shared = shareParts({ ...shown, ...members })
  // References such as #/$defs/x start at the root, so the definitions move there.
  const definitions = { ...($defs as Record<string, unknown> | undefined), ...shared.$defs }
  return {
    $schema: DIALECT,
    type: 'object',
    properties: { result: { ...shared.schema, ...(needed === undefined ? {} : { required: needed }) }, receipt: { type: 'object' } },
    // Clients of the 2025 revisions also validate payment terms against this schema; those have no result.
    dependentRequired: { result: ['receipt', 'tier', 'settlement', 'allowance'] },
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}

/** Members that are the same in many tools, such as `scope` of every result, and so are not outlined. The names of a pack are as those of ofac-sdn-check. */
const SAME: Readonly<Record<string, JsonSchema>> = { scope: { type: 'object' }, names: { type: ['object', 'null'] } }

/** Objects of a result whose members are listed: the result itself and those directly in it. */
const OUTPUT_LEVELS = 2

/** Cuts objects below so many levels to their type; only the outermost keeps what it requires. */
function outline(schema: JsonSchema, levels: number): JsonSchema {
  const inner = (value: unknown, left: number) => {
    return isObject(value) ? without(outline(value, left), 'required') : value
  }
  const { properties, ...rest } = schema
  const parts = Object.entries(rest).map(([key, value]): [string, unknown] => {
    if (key === 'items' || key === 'additionalProperties') return [key, inner(value, levels)]
    if ((key === 'anyOf' || key === 'oneOf' || key === 'allOf') && Array.isArray(value))
      return [key, value.map((one: unknown) => inner(one, levels))]
    return [key, value]
  })
  if (!isObject(properties)) return mergedTypes(Object.fromEntries(parts))
  const members = Object.entries(properties).map(([name, value]): [string, unknown] => [name, inner(value, levels - 1)])
  return mergedTypes(Object.fromEntries(levels === 0 ? parts : [...parts, ['properties', Object.fromEntries(members)]]))
}
