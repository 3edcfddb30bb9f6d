import type { Form } from './keywords.ts'
import { isRecord, members } from './json.ts'

/** Whether a keyword's value has its form; schemas inside are for the walk to look at, only their places are checked here. */
export function hasForm(value: unknown, form: Form): boolean {
  switch (form) {
    case 'any':
      return true
    case 'schema':
      return isSchema(value)
    case 'schema_list':
      return isSchemaList(value)
    case 'schema_map':
      return isRecord(value) && members(value).every(([, one]) => isSchema(one))
    case 'schema_or_list':
      return isSchema(value) || isSchemaList(value)
    case 'dependencies':
      return isRecord(value) && members(value).every(([, one]) => isSchema(one) || isTextSet(one))
    case 'list':
      return Array.isArray(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'boolean_map':
      return isRecord(value) && members(value).every(([, one]) => typeof one === 'boolean')
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'number':
      return typeof value === 'number'
    case 'number_above_zero':
      return typeof value === 'number' && value > 0
    case 'text':
      return typeof value === 'string'
    case 'text_set':
      return isTextSet(value)
    case 'text_set_map':
      return isRecord(value) && members(value).every(([, one]) => isTextSet(one))
    case 'type':
      return isType(value)
    case 'identifier':
      return typeof value === 'string' && new RegExp(IDENTIFIER_PATTERN).test(value)
    case 'anchor':
      return typeof value === 'string' && new RegExp(ANCHOR_PATTERN).test(value)
    case 'anchor_2019':
      return typeof value === 'string' && new RegExp(ANCHOR_2019_PATTERN).test(value)
  }
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const

const IDENTIFIER_PATTERN = '^[^#]*#?$'
const ANCHOR_PATTERN = '^[A-Za-z_][-A-Za-z0-9._]*$'
const ANCHOR_2019_PATTERN = '^[A-Za-z][-A-Za-z0-9.:_]*$'

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isRecord(value)
}

function isSchemaList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema)
}

function isTextSet(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') && new Set(value).size === value.length
}

function isType(value: unknown): boolean {
  const known = (one: unknown) => (TYPES as readonly unknown[]).includes(one)
  return known(value) || (Array.isArray(value) && value.length > 0 && value.every(known) && new Set(value).size === value.length)
}

/** What a message says of the form that was expected. */
export const FORM_WORDS: Readonly<Record<Form, string>> = {
  schema: 'a schema: an object or a boolean',
  schema_list: 'a list of at least one schema',
  schema_map: 'an object whose values are schemas',
  schema_or_list: 'a schema, or a list of at least one schema',
  dependencies: 'an object whose values are schemas or lists of different names',
  any: 'any value',
  list: 'a list',
  boolean: 'true or false',
  boolean_map: 'an object whose values are true or false',
  count: 'a whole number, zero or more',
  number: 'a number',
  number_above_zero: 'a number greater than zero',
  text: 'a text',
  text_set: 'a list of different names',
  text_set_map: 'an object whose values are lists of different names',
  type: 'the name of a type, or a list of different ones',
  identifier: 'a reference without fragment',
  anchor: 'a name of letters, digits, dots, hyphens and underscores',
  anchor_2019: 'a name of letters, digits, dots, colons, hyphens and underscores',
}

const TEXT_SET = { type: 'array', items: { type: 'string' }, uniqueItems: true }

/** The form as a schema; `self` refers to the metaschema itself. */
export function formSchema(form: Form, self: Readonly<Record<string, string>>): unknown {
  const list = { type: 'array', minItems: 1, items: self }
  switch (form) {
    case 'any':
      return true
    case 'schema':
      return self
    case 'schema_list':
      return list
    case 'schema_map':
      return { type: 'object', additionalProperties: self }
    case 'schema_or_list':
      return { anyOf: [self, list] }
    case 'dependencies':
      return { type: 'object', additionalProperties: { anyOf: [self, TEXT_SET] } }
    case 'list':
      return { type: 'array' }
    case 'boolean':
      return { type: 'boolean' }
    case 'boolean_map':
      return { type: 'object', additionalProperties: { type: 'boolean' } }
    case 'count':
      return { type: 'integer', minimum: 0 }
    case 'number':
      return { type: 'number' }
    case 'number_above_zero':
      return { type: 'number', exclusiveMinimum: 0 }
    case 'text':
      return { type: 'string' }
    case 'text_set':
      return TEXT_SET
    case 'text_set_map':
      return { type: 'object', additionalProperties: TEXT_SET }
    case 'type':
      return { anyOf: [{ enum: [...TYPES] }, { type: 'array', items: { enum: [...TYPES] }, minItems: 1, uniqueItems: true }] }
    case 'identifier':
      return { type: 'string', pattern: IDENTIFIER_PATTERN }
    case 'anchor':
      return { type: 'string', pattern: ANCHOR_PATTERN }
    case 'anchor_2019':
      return { type: 'string', pattern: ANCHOR_2019_PATTERN }
  }
}
