import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Completes the lockfiles after `npm install` on a machine whose registry is not the public one:
 * - each package gets its `resolved` address on the public registry, which npm replaces with the registry of its settings (`replace-registry-host`);
 * - package-lock.json gets the packages of other platforms, which npm leaves out where the registry does not carry them, and without which
 *   `npm ci` refuses the lockfile. They are named by their dependants, with exact versions, and have no checksum until npm meets them.
 */

interface Entry {
  version?: string
  resolved?: string
  /** The package's own name where it is installed under another. */
  name?: string
  optional?: boolean
  dev?: boolean
  os?: string[]
  cpu?: string[]
  optionalDependencies?: Record<string, string>
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

const REGISTRY = 'https://registry.npmjs.org'

type Packages = Record<string, Entry>

for (const folder of ['.', 'bench', 'test/official-clients']) {
  const path = new URL(`../${folder}/package-lock.json`, import.meta.url)
  const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Packages }
  const missing = folder === '.' ? otherPlatforms(lock.packages) : []
  const entries = [...Object.entries(lock.packages), ...missing].toSorted(([a], [b]) => (a < b ? -1 : 1))
  lock.packages = Object.fromEntries(entries.map(([place, entry]) => [place, place === '' ? entry : withAddress(place, entry)]))
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
  process.stdout.write(`${folder}: ${entries.length - 1} packages, ${missing.length} of other platforms added\n`)
}

function withAddress(place: string, given: Entry): Entry {
  const { name, version = '', resolved: _, ...entry } = given
  const published = name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const resolved = `${REGISTRY}/${published}/-/${published.slice(published.indexOf('/') + 1)}-${version}.tgz`
  return { ...(name === undefined ? {} : { name }), version, resolved, ...entry }
}

function otherPlatforms(packages: Packages): [string, Entry][] {
  return Object.entries(packages).flatMap(([place, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !resolves(packages, place, name))
      .map(([name, version]): [string, Entry] => [`node_modules/${name}`, entryOf(name, version, entry.dev === true)]),
  )
}

/** Returns true when the lockfile has the package where Node would find it from `place`. */
function resolves(packages: Packages, place: string, name: string): boolean {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true
    if (folder === '') return false
  }
}

function entryOf(name: string, version: string, dev: boolean): Entry {
  // Rust's packagers say amd64 where Node says x64.
  const words = name.split(/[/-]/).map((word) => (word === 'amd64' ? 'x64' : word))
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor))
  if (!/^\d+\.\d+\.\d+$/.test(version) || os.length !== 1 || cpu.length !== 1)
    throw new Error(`${name} ${version} is not a package of a single platform`)
  return { version, cpu, ...(dev ? { dev } : {}), optional: true, os }
}
