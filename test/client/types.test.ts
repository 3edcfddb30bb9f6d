/** How the published package writes a schema as a type; what it publishes is compiled in package.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTypeWriter } from '../../scripts/support/schema-types.ts'

test('a schema becomes the type of its values', () => {
  const writer = createTypeWriter()
  const properties = {
    text: { type: 'string', maxLength: 3, description: 'A text.' },
    count: { type: ['integer', 'null'] },
    word: { enum: ['a', "it's"] },
    one: { const: true },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
    many: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    map: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'boolean' } },
    'x-any': {},
  }
  const members = writer.members({ type: 'object', properties, required: ['text', 'x-any'] })
  assert.deepEqual(members.split('\n'), [
    '/** A text. */',
    'text: string',
    'count?: number | null',
    "word?: 'a' | 'it\\'s'",
    'one?: true',
    'pair?: readonly [string, number]',
    'many?: readonly (string | null)[]',
    'map?: Readonly<Record<string, boolean>>',
    "'x-any': unknown",
  ])
})
