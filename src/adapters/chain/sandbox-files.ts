import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Files of the sandbox chain in its directory. */
export interface SandboxFiles {
  /** Blocks, transactions, receipts and accounts, as of the last orderly end of the chain or about a second ago. */
  state: string
  /** Names the running chain. */
  record: string
  /** Output of anvil at its start. */
  log: string
  /** Held for as long as a service owns the chain. */
  lock: string
}

export function sandboxFiles(directory: string): SandboxFiles {
  return {
    state: join(directory, 'chain-state.json'),
    record: join(directory, 'anvil.json'),
    log: join(directory, 'anvil.log'),
    lock: join(directory, 'anvil.lock'),
  }
}

export interface ChainRecord {
  pid: number
  /** The process that ends anvil when its service dies; null where there is none. */
  guard_pid: number | null
  rpc_url: string
  chain_id: number
  /** Drawn by each anvil at its start: a chain that answers with it is the very process that the record names. */
  instance_id: string
  /** Machine and folder that it was started for: a copy of the folder names a chain that is another's. */
  machine: string
  folder: string
}

/** Name of the machine and, where the system provides it, of its current boot. */
export function thisMachine(): string {
  try {
    return `${hostname()} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`
  } catch {
    return hostname()
  }
}

/** Returns true when the record was written on this machine for this folder. */
export function isOwnRecord({ machine, folder }: Pick<ChainRecord, 'machine' | 'folder'>, directory: string): boolean {
  return machine === thisMachine() && folder === realpathSync(directory)
}

/** Null when there is no record, or half of one. */
export function readRecord(path: string): ChainRecord | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ChainRecord
  } catch {
    return null
  }
}

/** `pid` comes first and on the only line: the guard looks for it there. */
export function writeRecord(path: string, { pid, ...rest }: ChainRecord): void {
  replaceFile(path, `${JSON.stringify({ pid, ...rest })}\n`)
}

/** Readers see the old content or the new, never half of it. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, content, { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes the record unless another chain has taken its place. */
export function removeRecord(path: string, pid: number): void {
  if (readRecord(path)?.pid === pid) rmSync(path, { force: true })
}

export interface Lock {
  release(): void
}

/**
 * Takes the lock, or returns null when another service, or another chain of this one, holds it. It is a lock of the operating system on
 * an SQLite file, so it ends with its holder, however that dies; a file that merely exists would outlive it.
 */
export function takeLock(path: string): Lock | null {
  const database = new DatabaseSync(path)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw error
  }
  return { release: () => database.close() }
}

const SQLITE_BUSY = 5
