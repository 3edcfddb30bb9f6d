// Installs what the lockfiles of the named folders ask for, when that is not there yet; "." is the project itself. Plain JavaScript that
// runs on Node 20: it is what a fresh clone meets first, before the Node of this project is installed. When all is there it reads two
// files a folder and is done.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages of a lockfile, or null when there is none. */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return null
  }
}

/** What is missing or of another version; packages for other systems may be absent. */
function firstDifference(wanted, installed, probe) {
  if (installed === null || !existsSync(probe)) return 'nothing is installed yet'
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue
    const found = installed[path]
    if (found === undefined && !entry.optional) return `${path} is missing`
    if (found !== undefined && found.version !== entry.version) return `${path} is not the version of the lockfile`
  }
  return null
}

/** Exit code; 0 as well when there was nothing to do. */
function install(folder) {
  const here = folder === '.' ? root : `${root}${folder}/`
  const probe = folder === '.' ? `${root}node_modules/node/bin/node` : `${here}node_modules`
  const wanted = packagesOf(`${here}package-lock.json`) ?? {}
  const difference = firstDifference(wanted, packagesOf(`${here}node_modules/.package-lock.json`), probe)
  if (difference === null) return 0
  const what = folder === '.' ? 'packages' : `the packages of ${folder}`
  process.stderr.write(`assay: installing ${what} with npm ci (${difference}); this takes about a minute and happens once\n`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.stderr.write('assay: npm ci failed; the lines above say why\n')
  return status ?? 1
}

const folders = process.argv.slice(2)
for (const folder of folders.length === 0 ? ['.'] : folders) process.exitCode ||= install(folder)
