import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'

/**
 * Hashes of results that the tools gave, by version: no expectation of what is right, which is in the vectors, but of what a version means. A
 * receipt names the version, and a replay of the same version must give the same result.
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

/** Tools of the same version with another result for a recorded input; the new records; the number of results without a record. */
export function compareResults(recorded: RecordedResults, now: RecordedResults) {
  const changed: string[] = []
  let missing = 0
  for (const [id, { version, results }] of Object.entries(now)) {
    const before = recorded[id]?.version === version ? recorded[id].results : {}
    const known = Object.entries(results).filter(([input]) => before[input] !== undefined)
    const different = known.filter(([input, result]) => before[input] !== result).length
    if (different > 0) changed.push(`${id} ${version}: ${different} ${different === 1 ? 'result' : 'results'}`)
    missing += Object.keys(results).length - known.length
  }
  return { changed, next: now, missing }
}
