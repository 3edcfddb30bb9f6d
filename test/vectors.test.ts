import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal, type Tool } from '../src/service/catalogue/define.ts'
import { loadCatalogue } from '../src/service/catalogue/load.ts'
import { fixedSources } from './support/sources.ts'
import { subsetFault } from './support/subset.ts'
import { collectResults, compareResults, recordedResults, writeResults, type RecordedResults } from './support/tool-results.ts'
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

test('a tool whose result differs from the recorded one has another version', (context) => {
  const recorded = recordedResults()
  const { changed, next, missing } = compareResults(recorded, results.all())
  const advice =
    'Raise the version of the tool, say in CHANGELOG.md what changed, and run: RECORD_RESULTS=1 node scripts/test.ts test/vectors.test.ts'
  assert.deepEqual(changed, [], `Results changed without a version: ${changed.join(', ')}. ${advice}`)
  if (process.env['RECORD_RESULTS'] === '1') writeResults(next)
  else if (missing > 0) context.diagnostic(`${missing} results are not recorded. RECORD_RESULTS=1 records them.`)
})

test('the comparison of recorded results bites', () => {
  const tool = { version: '1.0.0', results: { aa: '11', bb: '22' } }
  const compared = (now: RecordedResults[string]) => compareResults({ x: tool }, { x: now })
  assert.deepEqual(compared({ version: '1.0.0', results: { aa: '11', bb: '33' } }).changed, ['x 1.0.0: 1 result'])
  assert.deepEqual(compared({ version: '1.0.1', results: { aa: '11', bb: '33' } }).changed, [])
  // A vector was added, another removed: neither is a change of the tool.
  assert.deepEqual(compared({ version: '1.0.0', results: { aa: '11', cc: '44' } }), {
    changed: [],
    next: { x: { version: '1.0.0', results: { aa: '11', cc: '44' } } },
    missing: 1,
  })
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
