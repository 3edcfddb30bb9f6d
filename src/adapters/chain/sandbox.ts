import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { anvilBinary, SandboxChainError } from './sandbox-binary.ts'
import {
  isOwnRecord,
  readRecord,
  removeRecord,
  sandboxFiles,
  takeLock,
  thisMachine,
  writeRecord,
  type ChainRecord,
  type SandboxFiles,
} from './sandbox-files.ts'
import { keepRunning, type SandboxRun } from './sandbox-keeper.ts'
import { place, type Placement } from './sandbox-place.ts'
import { launchAnvil, saveState, type AnvilProcess, type Keeping } from './sandbox-process.ts'
import { rpcBatch } from './sandbox-rpc.ts'

export interface SandboxOptions extends Placement {
  /** Folder of the chain's state, made when missing. */
  directory: string
  chain_id: number
  /** Guarded wherever there is a POSIX shell. */
  keeping?: Keeping
}

export interface SandboxChain {
  rpc_url: string
  /** False when another service on the same folder runs the chain, and will end it. */
  owned: boolean
  /** How an owned chain stands; null for another's. */
  run(): SandboxRun | null
  /** Ends an owned chain, keeping its state, and leaves another's alone. */
  stop(): Promise<void>
}

const WAIT_MS = 25_000
const LOOK_MS = 20

/**
 * A local EVM chain with a worthless USDC, a funded payer and a funded gas wallet. The first service on a folder starts it, others join;
 * it ends with the service that started it, however that ends, and goes on from its last block at the next start. Rejects with a
 * SandboxChainError when there is no anvil for this machine or it does not start.
 */
export async function startSandboxChain(options: SandboxOptions): Promise<SandboxChain> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  const files = sandboxFiles(options.directory)
  const deadline = performance.now() + WAIT_MS
  while (performance.now() < deadline) {
    const lock = takeLock(files.lock)
    if (lock !== null) return own(options, files, lock.release)
    // The holder is starting its chain, ending it, or running it.
    const record = readRecord(files.record)
    if (record?.chain_id === options.chain_id && (await answers(record))) {
      return { rpc_url: record.rpc_url, owned: false, run: () => null, stop: () => Promise.resolve() }
    }
    await delay(LOOK_MS)
  }
  throw new SandboxChainError(`Another service holds ${files.lock}, but its chain does not answer as chain ${options.chain_id}.`)
}

async function own(options: SandboxOptions, files: SandboxFiles, release: () => void): Promise<SandboxChain> {
  try {
    await outlive(options.directory, files)
    const keeping = options.keeping ?? (process.platform === 'win32' ? 'bare' : 'guarded')
    // Loads Node's HTTP client while anvil starts, which takes about as long.
    void fetch('data:,')
    const launch = async (port: number) => {
      const anvil = await launchAnvil({ binary: anvilBinary(), files, chain_id: options.chain_id, keeping, port })
      await settleIn(options, files, anvil).catch(async (error: unknown) => {
        await anvil.stop()
        throw error
      })
      return anvil
    }
    const first = await launch(0)
    const port = Number(new URL(first.rpc_url).port)
    // On the same port, so that whoever knows the chain by its address finds it again.
    const keeper = keepRunning({ first, state_file: files.state, again: () => launch(port) })
    let stopping: Promise<void> | null = null
    const end = async () => {
      try {
        await keeper.stop()
        rmSync(files.record, { force: true })
      } finally {
        release()
      }
    }
    return { rpc_url: first.rpc_url, owned: true, run: () => keeper.run(), stop: () => (stopping ??= end()) }
  } catch (error) {
    release()
    throw error
  }
}

/** What stands between a listening anvil and a sandbox; the record comes last, so that whoever joins finds everything in its place. */
async function settleIn(options: SandboxOptions, files: SandboxFiles, { rpc_url, pid, guard_pid }: AnvilProcess): Promise<void> {
  const [metadata] = await rpcBatch(rpc_url, [
    { method: 'anvil_metadata', params: [] },
    // Otherwise every request is written to the log.
    { method: 'anvil_setLoggingEnabled', params: [false] },
  ])
  const { instanceId } = metadata as { instanceId: string }
  await place(rpc_url, options)
  const place_of = { machine: thisMachine(), folder: realpathSync(options.directory) }
  writeRecord(files.record, { pid, guard_pid, rpc_url, chain_id: options.chain_id, instance_id: instanceId, ...place_of })
}

/**
 * Waits until the chain of a dead owner is gone, so that its last state is found. Ends it where nothing else would. The chain that the record
 * of a copied folder names belongs to the service of the first folder and is left alone.
 */
async function outlive(directory: string, files: SandboxFiles): Promise<void> {
  const record = readRecord(files.record)
  if (record === null || !isOwnRecord(record, directory)) return rmSync(files.record, { force: true })
  const deadline = performance.now() + WAIT_MS
  while (performance.now() < deadline && readRecord(files.record)?.pid === record.pid && guarded(record, files)) await delay(LOOK_MS)
  // An answer with the recorded instance id proves that the pid is still that anvil's and nobody else's.
  if (readRecord(files.record)?.pid === record.pid && (await answers(record))) {
    await saveState(record.rpc_url, files.state)
    process.kill(record.pid, 'SIGKILL')
  }
  removeRecord(files.record, record.pid)
}

function guarded({ guard_pid }: ChainRecord, files: SandboxFiles): boolean {
  if (guard_pid === null) return false
  const command_line = `/proc/${guard_pid}/cmdline`
  // After a restart of the machine the number may be another process's, which would never go away.
  if (existsSync('/proc/self/cmdline')) return existsSync(command_line) && readFileSync(command_line, 'utf8').includes(files.record)
  try {
    return process.kill(guard_pid, 0)
  } catch {
    return false
  }
}

async function answers({ rpc_url, instance_id }: ChainRecord): Promise<boolean> {
  try {
    const [metadata] = await rpcBatch(rpc_url, [{ method: 'anvil_metadata', params: [] }])
    return (metadata as { instanceId: string }).instanceId === instance_id
  } catch {
    return false
  }
}
