import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'

/**
 * Hashes of results that the tools of the last release gave for their vectors: no expectation of what is right, which is in the vectors, but of
 * what a version means. A receipt names the version, and a replay of the same version must give the same result.
 */
export type RecordedResults = Record<string, { version: string; results: Record<string, string> }>

/** A line for each tool: id, version, and pairs of the hashes of an input and its result. */
const FILE = new URL('tool-results.txt', import.meta.url)

export function recordedResults(): RecordedResults {
  const lines = readFileSync(FILE, 'utf8').split('\n').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const [id = '', version = '', ...pairs] = line.split(' ')
      return [id, { version, results: Object.fromEntries(pairs.map((pair) => pair.split(':'))) as Record<string, string> }]
    }),
  )
}

export function writeResults(results: RecordedResults): void {
  const lines = Object.entries(results).map(([id, { version, results: pairs }]) =>
    [id, version, ...Object.entries(pairs).map(([input, result]) => `${input}:${result}`)].join(' '),
  )
  writeFileSync(FILE, `${lines.toSorted().join('\n')}\n`)
}

export function collectResults() {
  const all: RecordedResults = {}
  return {
    add({ id, version }: Pick<Tool, 'id' | 'version'>, input: unknown, result: unknown): void {
      const one = (all[id] ??= { version, results: {} })
      one.results[hashOf(input)] = hashOf(result)
    },
    all: () => all,
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalText(value)).digest('hex').slice(0, 8)
}

/** Tools that have the version of the release and another result than it had for an input. */
export function changedResults(released: RecordedResults, now: RecordedResults): string[] {
  return Object.entries(now).flatMap(([id, { version, results }]) => {
    const before = released[id]?.version === version ? released[id].results : {}
    const different = Object.entries(results).filter(([input, result]) => (before[input] ?? result) !== result).length
    return different === 0 ? [] : [`${id} ${version}: ${different} ${different === 1 ? 'result' : 'results'}`]
  })
}
