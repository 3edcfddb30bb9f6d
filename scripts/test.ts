import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

/**
 * Runs the tests. `npm test` runs those of every day, properties with few cases; `npm run test:full` runs all of them with all cases, over
 * both stores. Files named on the command line are run alone.
 */

/**
 * Code without I/O: its tests share one process, in which each module is loaded once. A file with hooks runs in a separate process,
 * as hooks outside a suite apply to every file of a process, and a hook that fails there fails them all.
 */
const IN_ONE_PROCESS = ['test/*.test.ts', 'test/{checks,differential,documents,protocols,receipts,rulebooks,service}/*.test.ts']

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

const full = process.argv.includes('--full')
const named = process.argv.slice(2).filter((argument) => argument !== '--full')
const found = (patterns: string[]) =>
  new Set(globSync(patterns, { exclude: ['**/node_modules/**'] }).filter((file) => file.endsWith('.test.ts')))
const left_out = full ? new Set<string>() : found(ONLY_FULL)
const chosen = named.length > 0 ? named : [...found(['test/**/*.test.ts'])].filter((file) => !left_out.has(file)).toSorted()
const shared = [...found(IN_ONE_PROCESS)].filter((file) => !/^(before|after)(Each)?\(/m.test(readFileSync(file, 'utf8')))

// Settings of the machine must not reach the services that tests start.
const machine = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
const env = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled'), ...machine, TEST_FULL: full ? '1' : '0' }

function start(files: string[], stdout: 'inherit' | 'pipe', ...options: string[]) {
  return spawn(process.execPath, ['--test', ...options, ...files], { stdio: ['ignore', stdout, 'inherit'], env })
}

async function succeeds(child: ChildProcess): Promise<boolean> {
  return ((await once(child, 'close')) as [number | null])[0] === 0
}

async function runInOneProcess(files: string[]): Promise<boolean> {
  if (files.length === 0) return true
  const child = start(files, 'pipe', '--test-isolation=none')
  const [output, ok] = await Promise.all([child.stdout === null ? '' : text(child.stdout), succeeds(child)])
  process.stdout.write(output)
  // Failures are repeated at the end of the output.
  if (!ok) process.once('exit', () => process.stdout.write(output.slice(output.indexOf('✖ failing tests:'))))
  return ok
}

async function runInTheirOwn(files: string[]): Promise<boolean> {
  const concurrency = `--test-concurrency=${full ? 2 : 3}`
  // One browser and one PostgreSQL for a whole run; a few files start what they need.
  const options = full || named.length === 0 ? [concurrency, '--test-global-setup=test/support/shared-parts.ts'] : [concurrency]
  return files.length === 0 || succeeds(start(files, 'inherit', ...options))
}

const one = chosen.filter((file) => shared.includes(file))
const others = chosen.filter((file) => !shared.includes(file))
const passed = await Promise.all([runInOneProcess(one), runInTheirOwn(others)])
process.exitCode = passed.every(Boolean) ? 0 : 1
