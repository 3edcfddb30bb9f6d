// Installs what package-lock.json asks for, when that is not there yet. Plain JavaScript that runs on Node 20: it is what a fresh
// clone meets first, before the Node of this project is installed. When all is there it reads two files and is done.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages of a lockfile, or null when there is none. */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(`${root}${path}`, 'utf8')).packages
  } catch {
    return null
  }
}

/** What is missing or of another version; packages for other systems may be absent. */
function firstDifference(wanted, installed) {
  if (installed === null || !existsSync(`${root}node_modules/node/bin/node`)) return 'nothing is installed yet'
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue
    const found = installed[path]
    if (found === undefined && !entry.optional) return `${path} is missing`
    if (found !== undefined && found.version !== entry.version) return `${path} is not the version of the lockfile`
  }
  return null
}

const difference = firstDifference(packagesOf('package-lock.json') ?? {}, packagesOf('node_modules/.package-lock.json'))
if (difference !== null) {
  process.stderr.write(`assay: installing packages with npm ci (${difference}); this takes about a minute and happens once\n`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.stderr.write('assay: npm ci failed; the lines above say why\n')
  process.exitCode = status ?? 1
}
