import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Instances } from '../../ports/store.ts'
import { fault, isBusy, StoreUnavailableError } from './errors.ts'

/** Only its owner may read the file: it holds who called how often, if only as keyed hashes. SQLite gives its side files the same mode. */
export function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    // Exclusive, because closing any descriptor of an existing file would drop the locks of this process's other connections to it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Other processes look into a new file for an instant, and remove it when they find it unlocked. */
const JOIN_ATTEMPTS = 10

/**
 * Processes that share one SQLite file. Each locks an empty database file next to it exclusively. The operating system releases the lock
 * with the process, also in containers that share only the folder, where process ids are not comparable.
 */
export class InstanceFiles implements Instances {
  readonly #store: string
  #own: { id: string; lock: DatabaseSync } | null = null

  constructor(store: string) {
    this.#store = store
  }

  async join(): Promise<string> {
    try {
      this.#own ??= this.#create()
      return this.#own.id
    } catch (error) {
      throw fault(error)
    }
  }

  async isRunning(instance: string): Promise<boolean> {
    if (instance === this.#own?.id) return true
    try {
      return ID.test(instance) && this.#isLocked(this.#file(instance))
    } catch (error) {
      throw fault(error)
    }
  }

  leave(): void {
    if (this.#own === null) return
    this.#own.lock.close()
    rmSync(this.#file(this.#own.id), { force: true })
    this.#own = null
  }

  #create(): { id: string; lock: DatabaseSync } {
    this.#removeEnded()
    for (let attempt = 0; attempt < JOIN_ATTEMPTS; attempt++) {
      const id = crypto.randomUUID()
      const file = this.#file(id)
      makeFile(file)
      const lock = new DatabaseSync(file, { timeout: 0 })
      if (takeLock(lock) && existsSync(file)) return { id, lock }
      lock.close()
      rmSync(file, { force: true })
    }
    throw new StoreUnavailableError(
      'The lock file of this process could not be created next to the store. Check that its folder is writable.',
    )
  }

  /** Files of processes that were killed. */
  #removeEnded(): void {
    const prefix = basename(this.#file(''))
    for (const name of readdirSync(dirname(this.#store))) {
      if (name.startsWith(prefix) && ID.test(name.slice(prefix.length))) this.#isLocked(join(dirname(this.#store), name))
    }
  }

  /** Removes a file that no process holds. */
  #isLocked(file: string): boolean {
    if (!existsSync(file)) return false
    const lock = new DatabaseSync(file, { timeout: 0 })
    try {
      if (!takeLock(lock)) return true
      rmSync(file, { force: true })
      return false
    } finally {
      lock.close()
    }
  }

  #file(id: string): string {
    return `${this.#store}-instance-${id}`
  }
}

/** Takes the exclusive lock of the file without waiting; false when another connection has it. */
function takeLock(database: DatabaseSync): boolean {
  try {
    database.exec('begin exclusive')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}
