import fc from 'fast-check'
import type { Draft } from '../../src/pure/documents/json-schema/keywords.ts'
import { THEN } from './json-schema-cases.ts'

/** Random schemas and data that know of each other: the same few names, texts and numbers. */

const NAMES = ['a', 'b', 'foo', 'x/y', '1']
const LEAVES = [null, true, false, 0, 1, -1, 1.5, 2, 3, 1e20, '', 'a', 'ab', 'foo', 'é', '🐲']

const name = fc.constantFrom(...NAMES)
const leaf = fc.constantFrom<unknown>(...LEAVES)

export const DATA: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const count = fc.integer({ min: 0, max: 3 })

/** Keywords that every draft has and that need no schema inside. */
const SIMPLE: Record<string, fc.Arbitrary<unknown>> = {
  type: fc.oneof(
    fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'boolean', 'null'),
    fc.uniqueArray(fc.constantFrom('object', 'array', 'string', 'integer'), { minLength: 1 }),
  ),
  enum: fc.array(leaf, { minLength: 1, maxLength: 4 }).map((values) => [...new Set(values)]),
  const: DATA,
  multipleOf: fc.constantFrom(1, 2, 0.5),
  maximum: count,
  exclusiveMaximum: count,
  minimum: count,
  exclusiveMinimum: count,
  maxLength: count,
  minLength: count,
  pattern: fc.constantFrom('^a', 'b$', '^[a-f]*$', '.', String.raw`^\w+$`),
  maxItems: count,
  minItems: count,
  uniqueItems: fc.boolean(),
  maxProperties: count,
  minProperties: count,
  required: fc.uniqueArray(name, { maxLength: 2 }),
}

type Inside = (schema: fc.Arbitrary<unknown>) => Record<string, fc.Arbitrary<unknown>>

const list = (schema: fc.Arbitrary<unknown>) => fc.array(schema, { minLength: 1, maxLength: 3 })
const map = (schema: fc.Arbitrary<unknown>) => fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true })

const joined: Inside = (schema) => ({
  allOf: list(schema),
  anyOf: list(schema),
  oneOf: list(schema),
  not: schema,
  if: schema,
  [THEN]: schema,
  else: schema,
  properties: map(schema),
  patternProperties: fc.dictionary(fc.constantFrom('^a', 'o', '^.$'), schema, { maxKeys: 2, noNullPrototype: true }),
  additionalProperties: schema,
  propertyNames: schema,
  contains: schema,
  items: schema,
})

const since2019: Inside = (schema) => ({
  ...joined(schema),
  dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
  dependentSchemas: map(schema),
  minContains: count,
  maxContains: count,
  unevaluatedProperties: schema,
})

const INSIDE: Record<Draft, Inside> = {
  'draft-07': (schema) => ({
    ...joined(schema),
    items: fc.oneof(schema, list(schema)),
    additionalItems: schema,
    dependencies: fc.dictionary(name, fc.oneof(schema, fc.uniqueArray(name, { maxLength: 2 })), { maxKeys: 2, noNullPrototype: true }),
  }),
  '2019-09': (schema) => ({
    ...since2019(schema),
    items: fc.oneof(schema, list(schema)),
    additionalItems: schema,
    unevaluatedItems: schema,
  }),
  '2020-12': (schema) => ({ ...since2019(schema), prefixItems: list(schema), unevaluatedItems: schema }),
}

const definitions = (draft: Draft) => (draft === 'draft-07' ? 'definitions' : '$defs')

/** A few keywords out of a table. */
function some(table: Record<string, fc.Arbitrary<unknown>>, maxLength: number): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .uniqueArray(fc.constantFrom(...Object.keys(table)), { minLength: 1, maxLength })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, table[key] ?? fc.constant(null)])), { noNullPrototype: true }))
}

/** Schemas of a draft with two named ones that they refer to. */
export function randomSchema(draft: Draft): fc.Arbitrary<Record<string, unknown>> {
  const reference = fc.constantFrom('p', 'q').map((one) => ({ $ref: `#/${definitions(draft)}/${one}` }))
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof({ weight: 1, arbitrary: fc.boolean() }, { weight: 1, arbitrary: reference }, { weight: 5, arbitrary: some(SIMPLE, 2) }),
      some(INSIDE[draft](tie('schema')), 3),
    ),
  }))
  const named = fc.record({ p: schema, q: some(SIMPLE, 2) }, { noNullPrototype: true })
  return fc.tuple(some(INSIDE[draft](schema), 3), named).map(([root, inside]) => ({ ...root, [definitions(draft)]: inside }))
}

/** A schema in which any keyword may have any value. */
export function looseSchema(draft: Draft): fc.Arbitrary<Record<string, unknown>> {
  const table = Object.fromEntries(
    Object.keys({ ...SIMPLE, ...INSIDE[draft](fc.boolean()) }).map((key) => [key, fc.oneof(DATA, fc.constant({}))]),
  )
  return fc.tuple(some(table, 2), randomSchema(draft)).map(([loose, schema]) => ({ ...schema, ...loose }))
}
