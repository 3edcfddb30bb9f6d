/** The published types of the tools are those of the registry. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { clientTypes } from '../../scripts/support/client-types.ts'
import { createTypeWriter } from '../../scripts/support/schema-types.ts'

test('the types of the client library are up to date: node scripts/generate-client-types.ts writes them', async () => {
  const files = await clientTypes()
  for (const [path, text] of files) assert.equal(await readFile(path, 'utf8').catch(() => ''), text, `${path} is out of date`)
  const found = globSync('src/client/tools/**/*.ts').map((path) => path.replaceAll('\\', '/'))
  assert.deepEqual(
    found.filter((path) => !files.has(path)),
    [],
    'no types are left of tools that are gone',
  )
})

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
