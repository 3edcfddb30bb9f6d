import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { fixedSources } from './support/sources.ts'
import { subsetFault } from './support/subset.ts'
import { readVectors } from './support/vectors.ts'

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)

for (const tool of tools) {
  test(`${tool.id} answers its vectors`, async () => {
    const file = readVectors(tool)
    assert.ok(file !== null, `vectors/${tool.family}/${tool.id}.json is missing`)
    const faults: string[] = []
    for (const vector of file.cases) {
      const read = tool.input.safeParse(vector.in)
      const fault = read.success ? subsetFault(await tool.execute(read.data, sources), vector.out) : 'the input does not fit the schema'
      if (fault !== null) faults.push(`${vector.name}: ${fault}`)
    }
    assert.deepEqual(faults, [])
  })
}

test('the comparison bites', () => {
  const actual = { a: 1, list: [{ b: 2, c: 3 }], nothing: null }
  for (const held of [{}, { a: 1 }, { list: [{ b: 2 }] }, { nothing: null }]) assert.equal(subsetFault(actual, held), null)
  const broken: unknown[] = [
    { a: 2 },
    { a: '1' },
    { z: 1 },
    { list: [] },
    { list: [{ b: 2 }, {}] },
    { list: [{ c: 4 }] },
    { list: {} },
    { nothing: {} },
    [],
  ]
  for (const expected of broken) assert.notEqual(subsetFault(actual, expected), null, JSON.stringify(expected))
})
