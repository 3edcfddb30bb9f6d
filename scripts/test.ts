import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

/**
 * Runs the tests: `npm test` with seeded, reduced counts, `--full` with all counts and the suites under test/full. Files named on the
 * command line are run alone.
 */
const full = process.argv.includes('--full')
const named = process.argv.slice(2).filter((argument) => argument !== '--full')
const all = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).filter((file) => full || !file.startsWith('test/full/'))
const files = named.length > 0 ? named : all.toSorted()

// Settings of the machine must not reach the services that tests start.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')))
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], {
  stdio: 'inherit',
  env: { ...environment, TEST_FULL: full ? '1' : '0' },
})
process.exitCode = status ?? 1
