import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal, type Tool } from '../src/service/catalogue/define.ts'
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
      const fault = read.success ? subsetFault(await answerOf(tool, read.data), vector.out) : 'the input does not fit the schema'
      if (fault !== null) faults.push(`${vector.name}: ${fault}`)
    }
    assert.deepEqual(faults, [])
  })
}

/** The result; of a call that is refused uncharged, the problem and the faults of the input. */
async function answerOf(tool: Tool, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  try {
    return await tool.execute(input, sources)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { problem: error.problem, ...error.details.extra, errors: error.details.errors ?? [] }
  }
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
