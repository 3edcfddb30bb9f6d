import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal, type Tool } from '../src/service/catalogue/define.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { fixedSources } from './support/sources.ts'
import { subsetFault } from './support/subset.ts'
import { changedResults, collectResults, recordedResults, writeResults } from './support/tool-results.ts'
import { readVectors } from './support/vectors.ts'

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)
const results = collectResults()

for (const tool of tools) {
  test(`${tool.id} answers its vectors`, async () => {
    const file = readVectors(tool)
    assert.ok(file !== null, `vectors/${tool.family}/${tool.id}.json is missing`)
    const faults: string[] = []
    for (const vector of file.cases) {
      const read = tool.input.safeParse(vector.in)
      const answer = read.success ? await answerOf(tool, read.data) : null
      const fault = answer === null ? 'the input does not fit the schema' : subsetFault(answer, vector.out)
      if (fault !== null) faults.push(`${vector.name}: ${fault}`)
      results.add(tool, vector.in, answer)
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

test('a tool with another result than in the last release has another version', () => {
  // At a release, when the versions have moved.
  if (process.env['RECORD_RESULTS'] === '1') writeResults(results.all())
  const released = recordedResults()
  assert.ok(Object.keys(released).length > 50)
  const advice = 'Raise the version of the tool, and say in CHANGELOG.md what changed.'
  assert.deepEqual(changedResults(released, results.all()), [], `Results changed without a version. ${advice}`)
})

test('the comparison with the last release bites', () => {
  const released = { x: { version: '1.0.0', results: { aa: '11', bb: '22' } } }
  const changed = (version: string, now: Record<string, string>) => changedResults(released, { x: { version, results: now } })
  assert.deepEqual(changed('1.0.0', { aa: '11', bb: '33' }), ['x 1.0.0: 1 result'])
  assert.deepEqual(changed('1.0.1', { aa: '11', bb: '33' }), [])
  // A vector was added, another removed: neither is a change of the tool.
  assert.deepEqual(changed('1.0.0', { aa: '11', cc: '44' }), [])
})

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
