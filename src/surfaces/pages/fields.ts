import type { Tool } from '../../service/catalogue/define.ts'
import type { JsonSchema, ToolSchemas } from '../../service/catalogue/json-schema.ts'

/** What a form asks for, and how. */
export interface Field {
  name: string
  /**
   * `line` is a text of one line, `long` of many, `document` one that may come from a file; `number` is typed and sent as it is typed;
   * `choice` has a list of literals; `json` stands for all else.
   */
  kind: 'line' | 'long' | 'document' | 'number' | 'choice' | 'json'
  /** Left out of the call when nothing is typed. */
  optional: boolean
  description: string
  /** The example, as it stands in the field. */
  value: string
  /** The literals of a choice, with the words for each. */
  choices: readonly [literal: string, words: string][]
  /** A value of the right shape to start from, for JSON; null where the example says it all. */
  template: string | null
  /** The value is an array, and the template one item of it. */
  list: boolean
  /** Longest text in characters; null where the schema names none. */
  most_chars: number | null
}

/** Texts up to this length are asked for in one line. */
const LINE_CHARS = 256
/** Texts beyond this length are documents. */
const LONG_CHARS = 20_000
/** Members that a template names, where none is required. */
const TEMPLATE_MEMBERS = 8

/** The fields of a tool's input, from its JSON Schema and its example. */
export function fieldsOf(schema: ToolSchemas['input'], example: Tool['example']): Field[] {
  const properties = schema['properties'] as Record<string, JsonSchema>
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return Object.entries(properties).map(([name, property]) => {
    const optional = !required.has(name)
    const kind = kindOf(property)
    const given = example[name]
    return {
      name,
      kind,
      optional,
      description: typeof property['description'] === 'string' ? property['description'] : '',
      value: given === undefined ? '' : literalOf(given, kind),
      choices: kind === 'choice' ? choicesOf(property, optional) : [],
      list: property['type'] === 'array',
      template: kind === 'json' && (given === undefined || property['type'] === 'array') ? templateOf(property) : null,
      most_chars: typeof property['maxLength'] === 'number' ? property['maxLength'] : null,
    }
  })
}

function kindOf(property: JsonSchema): Field['kind'] {
  if (Array.isArray(property['enum'])) return 'choice'
  switch (property['type']) {
    case 'string': {
      const most = typeof property['maxLength'] === 'number' ? property['maxLength'] : Number.POSITIVE_INFINITY
      return most <= LINE_CHARS ? 'line' : most <= LONG_CHARS ? 'long' : 'document'
    }
    case 'boolean':
      return 'choice'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return takesText(property) ? 'line' : 'json'
  }
}

/** Text or a number, such as an amount: the text says it exactly. */
function takesText(property: JsonSchema): boolean {
  const types = alternatives(property).map(({ type }) => type)
  return types.includes('string') && types.every((type) => type === 'string' || type === 'number' || type === 'integer')
}

function alternatives({ anyOf }: JsonSchema): JsonSchema[] {
  return Array.isArray(anyOf) ? (anyOf as JsonSchema[]) : []
}

/** A value as it stands in its field: text bare where text is asked for, else as JSON. */
function literalOf(value: unknown, kind: Field['kind']): string {
  return typeof value === 'string' && kind !== 'json' && kind !== 'choice' ? value : JSON.stringify(value, null, 2)
}

function choicesOf(property: JsonSchema, optional: boolean): [string, string][] {
  const values: unknown[] = Array.isArray(property['enum']) ? property['enum'] : [true, false]
  const named = values.map((value): [string, string] => [
    JSON.stringify(value),
    value === true ? 'yes' : value === false ? 'no' : typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return optional ? [['', 'not said'], ...named] : named
}

/** For an array, one item of it; null where nothing can be said of the shape. */
function templateOf(property: JsonSchema): string | null {
  const item = property['type'] === 'array' ? property['items'] : property
  if (typeof item !== 'object' || item === null) return null
  const shape = shapeOf(item as JsonSchema, 0)
  return typeof shape === 'object' && shape !== null && Object.keys(shape).length > 0 ? JSON.stringify(shape, null, 2) : null
}

function shapeOf(schema: JsonSchema, depth: number): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const first = alternatives(schema)[0]
  if (first !== undefined) return shapeOf(first, depth)
  switch (schema['type']) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'array':
      return []
    case 'object':
      return depth > 3 ? {} : membersOf(schema, depth)
    default:
      return null
  }
}

function membersOf({ properties, required }: JsonSchema, depth: number): Record<string, unknown> {
  const all = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
  const needed = Array.isArray(required) && required.length > 0 ? all.filter(([name]) => required.includes(name)) : all
  return Object.fromEntries(needed.slice(0, TEMPLATE_MEMBERS).map(([name, schema]) => [name, shapeOf(schema, depth + 1)]))
}
