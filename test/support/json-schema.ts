import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../src/service/catalogue/wire-schemas.ts'

/** JSON Schema 2020-12 by an implementation that is not ours, in its strict mode. */
export function newAjv(): Ajv2020 {
  // Derived tuples fix their length by items: false, which strictTuples does not see; unions of types are legal and meant.
  return new Ajv2020({ strict: true, strictTuples: false, allowUnionTypes: true })
}

/** A schema and the JSON pointer to it. */
export interface SubSchema {
  pointer: string
  schema: JsonSchema
  /** It describes a property of an object, so it should carry a description. */
  property: boolean
}

/** A schema and all schemas inside it. */
export function subSchemas(schema: JsonSchema, pointer = '', property = false): SubSchema[] {
  const found: SubSchema[] = [{ pointer, schema, property }]
  const inner = (value: unknown, step: string, named = false) => {
    if (isSchema(value)) found.push(...subSchemas(value, `${pointer}/${step}`, named))
  }
  for (const [name, value] of Object.entries(asObject(schema['properties']))) inner(value, name, true)
  for (const key of ['items', 'additionalProperties', 'propertyNames', 'not']) inner(schema[key], key)
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const list = schema[key]
    if (Array.isArray(list)) list.forEach((value, index) => inner(value, `${key}/${index}`))
  }
  return found
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asObject(value: unknown): Record<string, unknown> {
  return isSchema(value) ? value : {}
}
