import { html } from '../html.ts'
import type { Markup } from '../layout.ts'
import { code, inline, table } from './parts.ts'

/** A JSON Schema as people read it: one row a member, nested ones under their path. */

type Schema = Readonly<Record<string, unknown>>

/** Finds what a `$ref` points at; null when nothing is there. */
export type Resolve = (ref: string) => Schema | null

/** Members deeper than this are left to the document itself. */
const DEPTH = 4
const ROWS = 250

interface SchemaRow {
  path: string
  type: string
  required: boolean
  words: string
}

/** The members of an object schema as a table; null when it has none. */
export function schemaTable(caption: string, schema: Schema, resolve: Resolve): Markup | null {
  const rows = membersOf(schema, '', DEPTH, resolve).slice(0, ROWS)
  if (rows.length === 0) return null
  return table(
    caption,
    ['member', 'type', 'there', 'meaning'],
    rows.map(({ path, type, required, words }) => [
      code(path),
      html`<span class="type">${type}</span>`,
      required ? 'always' : 'may be absent',
      inline(words),
    ]),
  )
}

function membersOf(schema: Schema, above: string, depth: number, resolve: Resolve): SchemaRow[] {
  const { properties, required } = flat(schema, resolve)
  return Object.entries(properties).flatMap(([name, member]): SchemaRow[] => {
    const path = above === '' ? name : `${above}.${name}`
    const own = target(member, resolve)
    const row = { path, type: typeText(own, resolve), required: required.has(name), words: wordsOf(member, own) }
    return [row, ...(depth <= 1 ? [] : below(own, path, depth - 1, resolve))]
  })
}

/** Members of what a member holds: of an object, of the items of a list, of each form that it may have. */
function below(schema: Schema, path: string, depth: number, resolve: Resolve): SchemaRow[] {
  const forms = formsOf(schema)
  if (forms.length > 0) return forms.flatMap((form) => below(target(form, resolve), path, depth, resolve))
  if (isSchema(schema['items'])) return below(target(schema['items'], resolve), `${path}[]`, depth, resolve)
  return membersOf(schema, path, depth, resolve)
}

/** The members that an object has by itself and by all that it must also be. */
function flat(schema: Schema, resolve: Resolve): { properties: Record<string, Schema>; required: Set<string> } {
  const parts = [...(Array.isArray(schema['allOf']) ? schema['allOf'].filter(isSchema).map((part) => target(part, resolve)) : []), schema]
  const properties = Object.assign({}, ...parts.map((part) => (isSchema(part['properties']) ? part['properties'] : {}))) as Record<
    string,
    Schema
  >
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'].map(String) : []))
  return { properties, required: new Set(required) }
}

export function target(schema: Schema, resolve: Resolve): Schema {
  const ref = schema['$ref']
  return typeof ref === 'string' ? (resolve(ref) ?? {}) : schema
}

function formsOf(schema: Schema): Schema[] {
  const forms = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(forms) ? forms.filter(isSchema) : []
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const CHOICES = 24

/** Type and bounds in words. */
function typeText(schema: Schema, resolve: Resolve): string {
  const forms = formsOf(schema)
  if (forms.length > 0) return [...new Set(forms.map((form) => typeText(target(form, resolve), resolve)))].join(', or ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  const choices = schema['enum']
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, CHOICES).map((choice) => JSON.stringify(choice))
    return `one of ${shown.join(', ')}${choices.length > CHOICES ? ` and ${choices.length - CHOICES} more` : ''}`
  }
  const { type } = schema
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
  const items = isSchema(schema['items']) ? ` of ${typeText(target(schema['items'], resolve), resolve)}` : ''
  return [`${name}${items}`, ...boundsOf(schema)].join(', ')
}

const BOUNDS = [
  ['minLength', (bound: string) => `at least ${bound} characters`],
  ['maxLength', (bound: string) => `at most ${bound} characters`],
  ['minimum', (bound: string) => `at least ${bound}`],
  ['maximum', (bound: string) => `at most ${bound}`],
  ['minItems', (bound: string) => `at least ${bound}`],
  ['maxItems', (bound: string) => `at most ${bound}`],
] as const

const PATTERN_CHARS = 80

function boundsOf(schema: Schema): string[] {
  const bounds = BOUNDS.flatMap(([name, words]) => (typeof schema[name] === 'number' ? [words(String(schema[name]))] : []))
  const { pattern } = schema
  return typeof pattern === 'string' && pattern.length <= PATTERN_CHARS ? [...bounds, `matching ${pattern}`] : bounds
}

/** Returns the description next to a reference if there is one, else the description of the schema that it refers to. */
function wordsOf(member: Schema, own: Schema): string {
  const words = member['description'] ?? own['description']
  return typeof words === 'string' ? words : ''
}
