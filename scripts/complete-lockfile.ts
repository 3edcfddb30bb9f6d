import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Completes package-lock.json with the packages of other platforms. Run it after `npm install` where the registry in use does not carry
 * them all: npm then leaves them out of the lockfile, and `npm ci` refuses a lockfile that lacks any. The entries are named by their
 * dependants, with exact versions; they hold no checksum, which npm adds when it meets the packages.
 */

interface Entry {
  version?: string
  optional?: boolean
  dev?: boolean
  os?: string[]
  cpu?: string[]
  optionalDependencies?: Record<string, string>
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Entry> }
const missing = Object.entries(lock.packages).flatMap(([place, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name]) => !resolves(place, name))
    .map(([name, version]) => [`node_modules/${name}`, entryOf(name, version, entry.dev === true)] as const),
)
lock.packages = Object.fromEntries([...Object.entries(lock.packages), ...missing].toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${missing.length} packages of other platforms were added\n`)

/** Whether the lockfile has the package where Node would find it from `place`. */
function resolves(place: string, name: string): boolean {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in lock.packages) return true
    if (folder === '') return false
  }
}

function entryOf(name: string, version: string, dev: boolean): Entry {
  // Rust's packagers say amd64 where Node says x64.
  const words = name.split(/[/-]/).map((word) => (word === 'amd64' ? 'x64' : word))
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor))
  if (!/^\d+\.\d+\.\d+$/.test(version) || os.length !== 1 || cpu.length !== 1)
    throw new Error(`${name} ${version} is no package of one platform`)
  return { version, cpu, ...(dev ? { dev } : {}), optional: true, os }
}
