import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem, type } from 'node:os'
import { ROOT } from './server-process.ts'

/** Result of a suite. */
export interface SuiteReport {
  title: string
  /** Description of the measurement, in sentences. */
  method: string[]
  header: string[]
  rows: string[][]
  gates: Gate[]
  /** Facts that are needed to interpret the numbers. */
  notes: string[]
}

/** A bound that the project has set itself. It is reported, never enforced: a busy machine must not fail a run. */
export interface Gate {
  claim: string
  measured: string
  /** Null where it could not be measured. */
  passed: boolean | null
}

export interface RunOptions {
  generator: 'wrk' | 'own'
  rounds: number
  /** Measured time of one run under load. */
  seconds: number
  /** Of the gate: writes better figures into the baseline. */
  raise?: boolean
  /** Of the `hostile` suite, by their numbers; all when absent. */
  attacks?: readonly string[]
}

export function atLeast(what: string, found: number | null, bound: number, unit = ''): Gate {
  return gate(`${what} ≥ ${bound}${unit}`, found, unit, (value) => value >= bound)
}

export function atMost(what: string, found: number | null, bound: number, unit = ''): Gate {
  return gate(`${what} ≤ ${bound}${unit}`, found, unit, (value) => value <= bound)
}

function gate(claim: string, found: number | null, unit: string, holds: (value: number) => boolean): Gate {
  return { claim, measured: found === null ? 'not measured' : `${figures(found)}${unit}`, passed: found === null ? null : holds(found) }
}

/** A number to three figures, without a trail of zeros. */
export function figures(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–'
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const high = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The median of what was measured; null when it never was. */
export function medianOf(values: readonly (number | null)[]): number | null {
  const measured = values.filter((value) => value !== null)
  return measured.length === 0 ? null : median(measured)
}

/** Machine and date, for the head of a report. */
export function circumstances(date: Date): string[] {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return [
    `Date: ${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `Machine: ${type()}, ${model}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.version}; service ${revision()}; load average before: ${loadText()}`,
  ]
}

export function loadText(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')
}

function revision(): string {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string }
  try {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
    return `${version} (${commit.toString().trim()})`
  } catch {
    return version
  }
}

export function markdown({ title, method, header, rows, gates, notes }: SuiteReport): string {
  const gateRows = gates.map(({ claim, measured, passed }) => [claim, measured, passed === null ? '–' : passed ? 'pass' : 'FAIL'])
  return [
    `## ${title}`,
    ...method,
    table(header, rows),
    ...(gates.length === 0 ? [] : [table(['gate', 'measured', ''], gateRows)]),
    ...(notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join('\n')]),
  ].join('\n\n')
}

/** The first column holds words, the others numbers. */
export function table(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
