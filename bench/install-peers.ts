import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/**
 * Installs the peers from their own lockfile; they are not dependencies of the service. Returns false, with a message on standard error,
 * if that fails.
 */
export function installPeers(): boolean {
  if (isCurrent()) return true
  process.stderr.write('bench: installing the peers with npm ci in bench/; this happens once\n')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: HERE, stdio: ['ignore', 2, 2] })
  if (status !== 0) process.stderr.write('bench: npm ci failed; the lines above say why\n')
  return status === 0
}

function isCurrent(): boolean {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => `${HERE}${file}`)
  if (wanted === undefined || installed === undefined || !existsSync(installed)) return false
  const versions = (path: string) => {
    const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version?: string }> }
    return JSON.stringify(
      Object.entries(packages)
        .filter(([name]) => name !== '')
        .map(([name, { version }]) => [name, version]),
    )
  }
  return versions(wanted) === versions(installed)
}

/** The version of a peer as it is installed, with its name; what is not in bench/ comes with the tests of the project. */
export function peerName(name: string): string {
  const folder = [HERE, `${HERE}../`].map((base) => `${base}node_modules/${name}/package.json`).find((path) => existsSync(path))
  return folder === undefined ? name : `${name} ${(JSON.parse(readFileSync(folder, 'utf8')) as { version: string }).version}`
}
