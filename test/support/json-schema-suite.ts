import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Draft } from '../../src/pure/documents/json-schema/keywords.ts'
import { validateJsonSchema } from '../../src/pure/documents/json-schema/validate.ts'

/** One group of tests in the form of the JSON-Schema-Test-Suite. */
export interface SuiteGroup {
  description: string
  schema: unknown
  tests: { description: string; data: unknown; valid: boolean }[]
}

/** What came out of a suite: how many were tried, and those that were not answered as expected, by name. */
export interface SuiteResult {
  tests: number
  failures: string[]
}

/** Runs groups of one draft; `documents` are what the suite serves to those who fetch. */
export function runGroups(name: string, groups: readonly SuiteGroup[], draft: Draft, documents: Record<string, unknown>): SuiteResult {
  const tests = groups.flatMap((group) => group.tests.map((one) => ({ ...one, group })))
  const failures = tests.flatMap(({ group, description, data, valid }) => {
    const { outcome } = validateJsonSchema(group.schema, data, { draft, documents })
    const expected = valid ? 'valid' : 'invalid'
    return outcome === expected ? [] : [`${name}: ${group.description}: ${description} (${outcome})`]
  })
  return { tests: tests.length, failures }
}

/** The required tests of a draft in a checkout of the suite. */
export function runSuite(folder: string, name: string, draft: Draft): SuiteResult {
  const documents = readRemotes(folder)
  const path = join(folder, 'tests', name)
  const results = readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .map((file) => runGroups(file, JSON.parse(readFileSync(join(path, file), 'utf8')) as SuiteGroup[], draft, documents))
  return { tests: results.reduce((sum, { tests }) => sum + tests, 0), failures: results.flatMap(({ failures }) => failures) }
}

/** The suite's remote documents under the address from which its tests expect them. */
function readRemotes(folder: string): Record<string, unknown> {
  const root = join(folder, 'remotes')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  return Object.fromEntries(
    files.map((file) => [
      `http://localhost:1234/${file.replaceAll('\\', '/')}`,
      JSON.parse(readFileSync(join(root, file), 'utf8')) as unknown,
    ]),
  )
}
