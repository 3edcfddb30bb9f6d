import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Instances } from '../../ports/instances.ts'
import { StoreUnavailableError } from './errors.ts'
import { fault, isBusy, makeFile } from './sqlite-file.ts'

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Other processes look into a new file for an instant, and remove it when they find it unlocked. */
const JOIN_ATTEMPTS = 10

/**
 * Instances on one SQLite file. Each holds the exclusive lock of an empty database file beside it: the operating system drops that lock
 * with the process, in containers that share nothing but the folder as well, where process ids say nothing.
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
    throw new StoreUnavailableError('The lock file of this process could not be made beside the store.')
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
