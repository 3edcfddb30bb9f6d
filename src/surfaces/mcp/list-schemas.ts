import { isObject } from '../../pure/is-object.ts'
import type { JsonSchema } from '../../service/catalogue/wire-schemas.ts'

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
export function listedInput(full: JsonSchema): JsonSchema & { type: 'object' } {
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
export function listedDescription(description: string): string {
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
