import { execFileSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { join } from 'node:path'

/** Programs of a Patroni cluster, and the system user that runs them. */
export interface ClusterPrograms {
  patroni: string
  etcd: string
  /** Folder of `initdb`, `postgres` and `pg_rewind`. */
  postgres_folder: string
  /** Undefined: the user of this process. PostgreSQL refuses to run as root. */
  user: { uid: number; gid: number } | undefined
}

/** Without the caller's search path, in which another Python may come first. */
export const PROGRAM_ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
/** Folders that a search path without `sbin` leaves out are searched too. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(':'), '/usr/bin', '/usr/local/bin']
/** Debian keeps the server programs of each major version in a separate folder. */
const SERVER_FOLDERS = '/usr/lib/postgresql/*/bin'

/** Returns the programs, or a sentence that names what is missing and how to install it. */
export function clusterPrograms(): ClusterPrograms | string {
  const patroni = find('patroni', isComplete)
  const etcd = find('etcd')
  const postgres_folder = globSync(SERVER_FOLDERS)
    .toSorted((one, other) => majorOf(other) - majorOf(one))
    .find((folder) => isProgram(join(folder, 'postgres')) && isProgram(join(folder, 'pg_rewind')))
  const user = process.getuid?.() === 0 ? systemUser('postgres') : undefined
  if (patroni !== undefined && etcd !== undefined && postgres_folder !== undefined && user !== null) {
    return { patroni, etcd, postgres_folder, user }
  }
  const missing = [
    ...(patroni === undefined ? ['patroni'] : []),
    ...(etcd === undefined ? ['etcd'] : []),
    ...(postgres_folder === undefined ? [`PostgreSQL in ${SERVER_FOLDERS}`] : []),
    ...(user === null ? ['the system user postgres'] : []),
  ]
  return `Missing: ${missing.join(', ')}. On Debian: apt-get install --no-install-recommends patroni etcd-server postgresql`
}

function majorOf(folder: string): number {
  return Number(folder.split('/').at(-2))
}

function find(name: string, isUsable = isProgram): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isUsable)
}

/** Patroni is written in Python, so the program may be there without its packages. */
function isComplete(path: string): boolean {
  if (!isProgram(path)) return false
  try {
    execFileSync(path, ['--version'], { stdio: 'ignore', env: PROGRAM_ENVIRONMENT })
    return true
  } catch {
    return false
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Null: there is no such user. */
function systemUser(name: string): { uid: number; gid: number } | null {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString())
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return null
  }
}
