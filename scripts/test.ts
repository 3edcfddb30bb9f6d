import { fork, type ChildProcess } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, normalize, resolve } from 'node:path'
import { globalSetup, globalTeardown } from '../test/support/shared-parts.ts'
import type { Ended } from './support/test-process.ts'

/**
 * Runs the tests. `npm test` runs those of every day, properties with few cases; `npm run test:full` runs all of them with all cases, over
 * both stores. Files named on the command line are run alone.
 */

/** Faults, floods, fuzz, growth, other programs, browsers and packages: what only the full suite runs. */
const ONLY_FULL = [
  'test/full/**',
  'test/{chain,conformance,contracts-solidity,differential,faults,fuzz,official-clients,sandbox}/**',
  'test/attacks/{admission,advisory,cancellations,identities,insurance,machine,pollution,replay,resends,transport}.test.ts',
  'test/cli/{bundle,call,call-paid,data,doctor-payments,doctor,insurers,invoice-service,json-bytes,jsonl,keys-rotate-drill,mcp,migrate-store,refresh-scripts,refused-settings,replay,sign}.test.ts',
  'test/client/{hostile,package,python,python-client}.test.ts',
  'test/contracts/{chain-facts,chain-rpc-faults,chain-uses,heavy-work,payment-store-races,signer,store-faults,store-processes,two-services-postgres}.test.ts',
  'test/credits/{kill,pilot}.test.ts',
  'test/deploy/{production,refused-start,secret,upgrades}.test.ts',
  'test/documents/{json-schema-ajv,markdown-growth,reconcile-properties}.test.ts',
  'test/invoices/{bank-statement,deposits,events,faults,two-services}.test.ts',
  'test/log/log.test.ts',
  'test/pages/{browser,budgets,credits,docs,merchant,pay,pay-call,pay-page,preflight,reconcile,samples,status,tool-page,verify}.test.ts',
  'test/paying/{assured,at-rest,disputes,no-charge,problems,store-faults,waiting,wrapped}.test.ts',
  'test/payments/settlement-{batch,crash,facilitator,keys,node,reconcile,replace,rpc}.test.ts',
  'test/protocols/fuzz.test.ts',
  'test/surfaces/{back-pressure,discovery-live,discovery-openapi,discovery-payments,lifecycle,mcp-plain-call,mcp-small,token-counts}.test.ts',
]

/** Attacks on a service that must answer in time all the same: they run first, one on each processor. */
const ATTACKS = ['test/full/attacks/*.test.ts']

/** Files with a separate process: they put it under load, measure what it uses or end it. All others share a few processes. */
const ALONE = [...ATTACKS, 'test/{faults,fuzz}/*.test.ts', 'test/attacks/{machine,pollution}.test.ts', 'test/contracts/heavy-work.test.ts']

const full = process.argv.includes('--full')
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const with_names = named.length > 0 || process.argv.includes('--names')
const found = (patterns: string[]) =>
  new Set(globSync(patterns.map(normalize), { exclude: ['**/node_modules/**'] }).filter((file) => file.endsWith('.test.ts')))
const only_full = found(ONLY_FULL)
const chosen = named.length > 0 ? [...found(named)] : [...found(['test/**/*.test.ts'])].filter((file) => full || !only_full.has(file))
const missing = named.filter((name) => found([name]).size === 0)
if (missing.length > 0) throw new Error(`No test file is named ${missing.join(', ')}`)

const alone = found(ALONE)

/** Duration of each file in the last run, in milliseconds: the longest go first, so that no processor waits for one at the end. */
const TIMES = `node_modules/.cache/test-times-${full ? 'full' : 'everyday'}.json`
const times = readTimes()
// A file that has not run yet is taken to be as long as its text, or a multiple of that.
const expected_ms = (file: string) => times[file] ?? statSync(file).size * (alone.has(file) ? 40 : only_full.has(file) ? 10 : 1)
const ordered = chosen
  .map((file) => ({ file, ms: expected_ms(file) }))
  .toSorted((a, b) => b.ms - a.ms)
  .map(({ file }) => file)

const failures: string[] = []
let passed = 0
let skips = 0

function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}

/** Runs files in so many processes at a time, the first files first. */
async function runFiles(files: readonly string[], processes: number, env: NodeJS.ProcessEnv): Promise<void> {
  const waiting = [...files]
  await Promise.all(Array.from({ length: Math.min(files.length, processes) }, () => runProcess(waiting, env)))
}

/** Runs files in one process until none waits. Resolves when the process has ended. */
async function runProcess(waiting: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = fork('scripts/support/test-process.ts', [], {
    env,
    execArgv: ['--test-reporter=./scripts/support/test-process.ts', '--max-semi-space-size=32'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let running: string | undefined
  let failed = false
  let lines: string[] = []
  const next = () => {
    running = running !== undefined && alone.has(running) ? undefined : takeFile(waiting, running === undefined)
    lines = []
    // A process that has just died says so by its end.
    child.send(running ?? '', () => undefined)
  }
  child.on('message', (ended: Ended) => {
    failed ||= ended.fault !== undefined
    lines.push(...report(ended))
    if (ended.path.length > 0) return
    process.stdout.write(`${lines.join('\n')}\n`)
    next()
  })
  next()
  const code = await exitOf(child)
  if (running !== undefined) report({ file: running, path: [], ms: 0, fault: `its process ended with ${code}` })
  else if (code !== 0 && !failed) failures.push(`A process that had run its files ended with ${code}`)
  if (waiting.length > 0) await runProcess(waiting, env)
}

/** A file that is to be alone is taken by a process that has run none. */
function takeFile(waiting: string[], fresh: boolean): string | undefined {
  const index = waiting.findIndex((file) => fresh || !alone.has(file))
  return index === -1 ? undefined : waiting.splice(index, 1)[0]
}

function report({ file, path, ms, fault, skipped }: Ended): string[] {
  if (skipped !== undefined) {
    skips += 1
    return [`﹣ ${[file, ...path].join(' › ')}: skipped. ${skipped}`]
  }
  const line = `${fault === undefined ? '✔' : '✖'} ${[file, ...path].join(' › ')} (${Math.round(ms)} ms)`
  if (path.length === 0) times[file] = Math.round(ms)
  else if (fault === undefined) passed += 1
  if (fault !== undefined && fault !== '') failures.push(`${line}\n${fault}`)
  return path.length === 0 || with_names || fault !== undefined ? [line, ...(fault ? [fault] : [])] : []
}

async function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolved) => child.once('close', (code, signal) => resolved(code ?? signal)))
}

async function runAll(): Promise<void> {
  // One browser and one PostgreSQL for a whole run; a few files start what they need.
  const sharing = full || named.length === 0
  if (sharing) await globalSetup(full)
  try {
    // Settings of the machine must not reach the services that tests start.
    const machine = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
    const tier = { TEST_FULL: full ? '1' : '0', ...(!full && named.length === 0 && { TEST_STORES: 'sqlite' }) }
    const env = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled'), ...machine, ...tier }
    const processors = availableParallelism()
    const attacks = found(ATTACKS)
    await runFiles(
      ordered.filter((file) => attacks.has(file)),
      processors,
      env,
    )
    // One process more than processors: files wait for blocks, leases and pauses.
    await runFiles(
      ordered.filter((file) => !attacks.has(file)),
      processors + 1,
      env,
    )
  } finally {
    if (sharing) await globalTeardown()
  }
}

const started = performance.now()
await runAll()
mkdirSync(dirname(TIMES), { recursive: true })
writeFileSync(TIMES, JSON.stringify(times))
process.stdout.write(`\n${failures.map((failure) => `${failure}\n\n`).join('')}`)
process.stdout.write(`${chosen.length} files, ${skips} tests skipped, ${Math.round((performance.now() - started) / 1_000)} s\n`)
// The plain line that continuous integration counts.
process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
process.exitCode = failures.length === 0 ? 0 : 1
