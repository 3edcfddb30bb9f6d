import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../src/pure/documents/json-schema/keywords.ts'
import { runGroups, runSuite, type SuiteGroup } from '../support/json-schema-suite.ts'
import { DYNAMIC, NAMES, RECURSIVE } from './json-schema-cases.ts'
import { DOCUMENTS, IDENTIFIERS, LOOKED_AT, OTHERS, SEVENTH } from './json-schema-cases-refs.ts'

const OWN: [string, Draft, SuiteGroup[]][] = [
  ['dynamic references', '2020-12', DYNAMIC],
  ['recursive references', '2019-09', RECURSIVE],
  ['names', '2020-12', NAMES],
  ['identifiers', '2020-12', IDENTIFIERS],
  ['identifiers in 2019-09', '2019-09', IDENTIFIERS],
  ['other documents', '2020-12', OTHERS],
  ['draft-07', 'draft-07', SEVENTH],
  ['what was looked at', '2020-12', LOOKED_AT],
]

for (const [name, draft, groups] of OWN) {
  test(`cases worked out by hand: ${name}`, () => {
    assert.deepEqual(runGroups(name, groups, draft, DOCUMENTS).failures, [])
  })
}

/** The required tests that may come out otherwise, by name, each with its reason. */
const KNOWN: Record<Draft, readonly string[]> = { '2020-12': [], '2019-09': [], 'draft-07': [] }

const GATES: [string, Draft, number][] = [
  ['draft2020-12', '2020-12', 0.99],
  ['draft2019-09', '2019-09', 0.99],
  ['draft7', 'draft-07', 0.995],
]

// The official suite is no package of any registry; a checkout of json-schema-org/JSON-Schema-Test-Suite is named by this variable.
const SUITE = process.env['JSON_SCHEMA_TEST_SUITE']

if (SUITE !== undefined) {
  for (const [folder, draft, gate] of GATES) {
    test(`the official suite: ${folder}`, (context) => {
      const { tests, failures } = runSuite(SUITE, folder, draft)
      context.diagnostic(`${folder}: ${tests - failures.length} of ${tests}`)
      assert.ok(tests > 500, `only ${tests} tests were found`)
      assert.ok(1 - failures.length / tests >= gate, failures.join('\n'))
      const unknown = failures.filter((failure) => !KNOWN[draft].some((name) => failure.startsWith(name)))
      assert.deepEqual(unknown, [], 'a failure that is not named')
    })
  }
}
