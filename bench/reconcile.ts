import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, figures, type SuiteReport } from './report.ts'
import type { ChildReport } from './reconcile-child.ts'
import { writeInstructions, writeStatement } from './reconcile-files.ts'

const COUNT = 1_000_000
const MEGABYTE = 1_048_576
/** By how the statement is written: 2 % of the entries name another id, and of the rest 10 % have another amount. */
const LEAST_SETTLED = 0.85
const TAIL_BYTES = 65_536
const CHILD = fileURLToPath(new URL('reconcile-child.ts', import.meta.url))

/** A million instructions against a million entries, from two files to all rows in a third. */
export async function reconcile(): Promise<SuiteReport> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const [asked, told, rows] = [join(folder, 'pain.xml'), join(folder, 'camt.xml'), join(folder, 'rows.jsonl')]
    writeInstructions(asked, COUNT)
    writeStatement(told, COUNT)
    const bare = await run(rows, ['bare', asked, told])
    const whole = await run(rows, ['reconcile', '--instructions', asked, '--statement', told, '--jsonl'])
    return reportOf({ bytes: statSync(asked).size + statSync(told).size, bare, whole, settled: settledIn(rows) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One process, its standard output in a file. */
async function run(out: string, args: readonly string[]): Promise<ChildReport> {
  const file = openSync(out, 'w')
  try {
    const child = fork(CHILD, args, { stdio: ['ignore', file, 'inherit', 'ipc'] })
    const reported = once(child, 'message')
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`${args[0]} ended with ${code}`)
    const [report] = (await reported) as [ChildReport]
    return report
  } finally {
    closeSync(file)
  }
}

/** The settled instructions of the summary, which is the last line. */
function settledIn(path: string): number {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(TAIL_BYTES)
    const start = Math.max(0, statSync(path).size - TAIL_BYTES)
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, TAIL_BYTES, start)).trimEnd()
    const last = JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as { counts: Record<string, number> }
    return last.counts['SETTLED'] ?? 0
  } finally {
    closeSync(file)
  }
}

interface Measured {
  bytes: number
  bare: ChildReport
  whole: ChildReport
  settled: number
}

function reportOf({ bytes, bare, whole, settled }: Measured): SuiteReport {
  if (settled < COUNT * LEAST_SETTLED) throw new Error(`only ${settled} instructions are settled`)
  const row = (name: string, { cpu_ms, wall_ms, most_bytes }: ChildReport) => [
    name,
    figures(cpu_ms / 1_000),
    figures(wall_ms / 1_000),
    figures(bytes / MEGABYTE / (cpu_ms / 1_000)),
    figures(most_bytes / MEGABYTE),
  ]
  return {
    title: 'Reconciliation of a million instructions with a million entries',
    method: [
      `A pain.001.001.09 and a camt.053.001.08 of ${figures(bytes / MEGABYTE)} MB together, read, reconciled and written as JSON lines by the command line, ` +
        'against a process that only parses them with saxes. CPU time of all threads of a process.',
    ],
    header: ['process', 'CPU s', 'wall s', 'MB/s of CPU', 'most resident MB'],
    rows: [row('saxes alone', bare), row('assay reconcile', whole)],
    gates: [
      atLeast('speed as a part of bare parsing', bare.cpu_ms / whole.cpu_ms, 0.7),
      atMost('most resident memory', whole.most_bytes / MEGABYTE, 400, ' MB'),
    ],
    notes: [`${settled} instructions are settled.`],
  }
}
