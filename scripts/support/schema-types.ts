/** TypeScript types from the JSON Schemas of the registry: the subset that zod derives there. What a type cannot say, such as bounds, is left out. */

type Schema = Readonly<Record<string, unknown>>

interface NamedType {
  name: string
  text: string
}

export interface TypeWriter {
  /** Counts what occurs in a schema. All schemas are looked at before the first is written. */
  look(schema: Schema): void
  /** Members of an object type with their descriptions. A type that occurs more than once, in any schema, is referred to by name. */
  members(schema: Schema): string
  /** Named types so far, in alphabetical order. */
  shared(): NamedType[]
}

/** Minimum length of a repeated type that gets a name. */
const SHARED_CHARS = 60

type Inner = (value: unknown, hint: string) => string

export function createTypeWriter(): TypeWriter {
  const seen = new Map<string, number>()
  const named = new Map<string, NamedType>()
  const expand: Inner = (value) => typeText(asSchema(value), '', expand)
  const count: Inner = (value) => {
    const text = typeText(asSchema(value), '', count)
    seen.set(text, (seen.get(text) ?? 0) + 1)
    return text
  }
  const write: Inner = (value, hint) => {
    const schema = asSchema(value)
    const whole = expand(schema, hint)
    const nameable = schema['type'] === 'object' || Array.isArray(schema['enum'])
    if (!nameable || whole.length < SHARED_CHARS || (seen.get(whole) ?? 0) < 2) return typeText(schema, hint, write)
    const known = named.get(whole)
    if (known !== undefined) return known.name
    const name = freeName(hint, [...named.values()])
    // Before what is inside, so that the outer type gets the plain name.
    named.set(whole, { name, text: '' })
    named.set(whole, { name, text: typeText(schema, hint, write) })
    return name
  }
  return {
    look: (schema) => void count(schema, ''),
    members: (schema) => membersOf(schema, write).join('\n'),
    shared: () => [...named.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  }
}

function freeName(hint: string, taken: readonly NamedType[]): string {
  const base = hint
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}${number}`
    if (taken.every((one) => one.name !== name)) return name
  }
}

/** One member a line, each after its description. */
function membersOf(schema: Schema, inner: Inner): string[] {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(asSchema(schema['properties'])).flatMap(([name, value]) => {
    const { description } = asSchema(value)
    const words = typeof description === 'string' ? [`/** ${description.replaceAll('*/', '* /')} */`] : []
    return [...words, member(name, required.includes(name), inner(value, name))]
  })
}

function member(name: string, required: boolean, type: string): string {
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)}${required ? '' : '?'}: ${type}`
}

function typeText(schema: Schema, hint: string, inner: Inner): string {
  const { type, anyOf, const: only, items, prefixItems } = schema
  if (only !== undefined) return literal(only)
  if (Array.isArray(schema['enum'])) return schema['enum'].map(literal).join(' | ')
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map((one) => inner(one, hint)))].join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one }, hint, inner)).join(' | ')
  switch (type) {
    case 'array':
      if (Array.isArray(prefixItems)) return `readonly [${prefixItems.map((one) => inner(one, hint)).join(', ')}]`
      return `readonly (${inner(items, singular(hint))})[]`
    case 'object':
      return objectText(schema, inner)
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return type
    default:
      return 'unknown'
  }
}

function objectText(schema: Schema, inner: Inner): string {
  const { properties, additionalProperties } = schema
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const fields = Object.entries(asSchema(properties))
  if (fields.length > 0) return `{ ${fields.map(([name, value]) => member(name, required.includes(name), inner(value, name))).join('; ')} }`
  return `Readonly<Record<string, ${additionalProperties === false ? 'never' : inner(additionalProperties, 'value')}>>`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}
