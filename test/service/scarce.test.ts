/** The register of scarce resources: complete, with bounds that say something, and with no second list of its numbers. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { SCARCE_RESOURCES } from '../../src/service/scarce/register.ts'
import { readSources } from '../support/source.ts'

const sources = readSources('src/**/*.ts').map(({ path, text }) => ({ path: path.replace(/^src\//, ''), text }))

/** Whatever makes or draws on a budget: one of these words. */
const BUDGET =
  /\b(?:createRateGuard|createRoundTrips|createFailureCount|createMinuteCounts|createSlots|createLanes|createBodies)\(|\bbucket: ['`]/

/** Files that make budgets for others, and those whose memory is filled by the operator, or by one entry for each call under way. */
const MAKERS: ReadonlySet<string> = new Set(['ports/store.ts'])

test('every file that makes or draws on a budget belongs to a row', () => {
  const listed = new Set(SCARCE_RESOURCES.flatMap(({ files }) => files))
  const found = sources.filter(({ path, text }) => BUDGET.test(withoutDefinitions(text)) && !MAKERS.has(path)).map(({ path }) => path)
  assert.ok(found.length > 10)
  assert.deepEqual(
    found.filter((path) => !listed.has(path)),
    [],
  )
})

function withoutDefinitions(text: string): string {
  return text.replaceAll(/^(?:export )?function \w+\([^\n]*$/gm, '')
}

test('every file of a row exists', () => {
  for (const { id, files } of SCARCE_RESOURCES) {
    assert.ok(files.length > 0, id)
    for (const file of files) assert.ok(existsSync(`src/${file}`), `${id}: ${file}`)
  }
})

test('ids are unique, and every row has a bound, and a smaller party the smaller one', () => {
  assert.equal(new Set(SCARCE_RESOURCES.map(({ id }) => id)).size, SCARCE_RESOURCES.length)
  for (const { id, bounds } of SCARCE_RESOURCES) {
    const { client, network, wide_network, all } = bounds
    const rising = [client, network, wide_network, all].filter((bound) => bound !== undefined)
    assert.ok(rising.length > 0 || bounds.owner !== undefined, id)
    for (const bound of rising) assert.ok(Number.isFinite(bound) && bound > 0, id)
    assert.deepEqual(
      rising,
      rising.toSorted((one, other) => one - other),
      id,
    )
  }
})

test('a number of a row is a limit of the code, not one of its own', () => {
  const rows = sources.filter(({ path }) => /^service\/scarce\/(?!resource|register)/.test(path))
  assert.ok(rows.length > 0)
  for (const { path, text } of rows) {
    for (const [, bounds = ''] of text.matchAll(/bounds: \{([^}]*)\}/g))
      assert.doesNotMatch(bounds.replaceAll(/\b60 \* /g, ''), /[:*/+-] *\d/, path)
  }
})
