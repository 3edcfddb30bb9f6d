import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, closeSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { rename, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { DatabaseSync } from 'node:sqlite'
import {
  anvilBinary,
  rpcBatch,
  SandboxChainError,
  rpcRequest,
  readRecord,
  sandboxFiles,
  thisMachine,
  type ChainRecord,
  type SandboxFiles,
} from './sandbox-process.ts'
import { type Placement, placeContracts } from './sandbox-contracts.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

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
  /** State of an owned chain; null for a chain of another service. */
  run(): SandboxRun | null
  /** Ends an owned chain, keeping its state, and leaves another's alone. */
  stop(): Promise<void>
}

const WAIT_MS = 25_000
const LOOK_MS = 20

/** Returns true when the record was written on this machine for this folder. */
function isOwnRecord({ machine, folder }: Pick<ChainRecord, 'machine' | 'folder'>, directory: string): boolean {
  return machine === thisMachine() && folder === realpathSync(directory)
}

/** Removes the record unless another chain has taken its place. */
function removeRecord(path: string, pid: number): void {
  if (readRecord(path)?.pid === pid) rmSync(path, { force: true })
}

interface Lock {
  release(): void
}

/**
 * Takes the lock, or returns null when another service, or another chain of this one, holds it. It is a lock of the operating system on
 * an SQLite file, so it ends with its holder, however that dies; a file that merely exists would outlive it.
 */
function takeLock(path: string): Lock | null {
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

/**
 * A local EVM chain with a worthless USDC, a funded payer and a funded gas wallet. The first service on a folder starts it, others join;
 * it ends with the service that started it, in any case, and continues from its last block at the next start. Rejects with a
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
    // On the same port, so that clients that know the address find the chain again.
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

/** Turns a listening anvil into a sandbox. The record is written last, so that joining services find everything in place. */
async function settleIn(options: SandboxOptions, files: SandboxFiles, { rpc_url, pid, guard_pid }: AnvilProcess): Promise<void> {
  const [metadata] = await rpcBatch(rpc_url, [
    { method: 'anvil_metadata', params: [] },
    // Otherwise every request is written to the log.
    { method: 'anvil_setLoggingEnabled', params: [false] },
  ])
  const { instanceId } = metadata as { instanceId: string }
  await placeContracts(rpc_url, options)
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
  // An answer with the recorded instance id proves that the pid still belongs to this anvil.
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

/** `pid` comes first and on the only line: the guard looks for it there. */
export function writeRecord(path: string, { pid, ...rest }: ChainRecord): void {
  replaceFile(path, `${JSON.stringify({ pid, ...rest })}\n`)
}

/** Readers see the old content or the new, never half of it. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, content, { mode: 0o600 })
  renameSync(draft, path)
}

/** Guard that ends anvil with its service: a shell that waits next to it, or none where there is no such shell. */
type Keeping = 'guarded' | 'bare'

interface AnvilProcess {
  pid: number
  guard_pid: number | null
  rpc_url: string
  /** Resolves when the processes have ended, for any reason. */
  gone: Promise<void>
  /** Ends the chain, keeping its state; resolves when the processes are gone. */
  stop(): Promise<void>
}

interface Launch {
  binary: string
  files: SandboxFiles
  chain_id: number
  keeping: Keeping
  /** 0 for any that is free. */
  port: number
}

const START_MS = 20_000
const LISTEN_LOOK_MS = 4
/** Seconds that anvil has for writing its state before it is killed. */
const GRACE_S = 10

/**
 * Waits on a pipe that only the service has open. When the pipe ends, because the service closed it or died, the shell ends anvil. The
 * state that anvil then writes replaces the old one atomically, only after an orderly end, and only while the record still names this
 * anvil; so the file is never a partial or an older state. While the outer shell lives, the process number of anvil cannot be reused. $1
 * record, $2 state, $3 new state, $4 log, $5 grace; then the command.
 */
const GUARD = `
record=$1 state=$2 draft=$3 log=$4 grace=$5
shift 5
exec 3<&0 </dev/null
"$@" >"$log" 2>&1 3<&- &
anvil=$!
echo "$anvil"
exec >/dev/null 2>&1
{
  while read -r _; do :; done
  nap=
  kill -0 "$$" || grace=0
  trap 'kill "$nap"; exit' TERM
  kill -TERM "$anvil"
  sleep "$grace" & nap=$!
  wait "$nap"
  kill -0 "$$" && kill -KILL "$anvil"
} <&3 &
guard=$!
exec 3<&-
wait "$anvil"
code=$?
kill -TERM "$guard"
if grep -q "\\"pid\\":$anvil," "$record"; then
  [ "$code" -eq 0 ] && [ -s "$draft" ] && mv -f "$draft" "$state"
  rm -f "$record"
fi
rm -f "$draft"
`

/** Starts anvil on a free port and resolves when it listens. Rejects with a SandboxChainError that carries its last words. */
export async function launchAnvil(launch: Launch): Promise<AnvilProcess> {
  rmSync(launch.files.log, { force: true })
  return launch.keeping === 'guarded' ? launchGuarded(launch) : launchBare(launch)
}

/** No accounts: the keys that anvil publishes hold nothing. No CORS: a page in a browser has no business here. */
function anvilArguments({ files, chain_id, port }: Launch): string[] {
  const fixed = ['--host', '127.0.0.1', '--port', String(port), '--accounts', '0', '--no-cors', '--color', 'never']
  const stored = existsSync(files.state) ? ['--load-state', files.state] : []
  // Two blocks later a block counts as final; with the default it would take sixty-four payments.
  return [...fixed, '--chain-id', String(chain_id), '--slots-in-an-epoch', '1', ...stored]
}

async function launchGuarded(launch: Launch): Promise<AnvilProcess> {
  const { record, state, log } = launch.files
  const draft = `${state}.${process.pid}.next`
  const command = [launch.binary, ...anvilArguments(launch), '--dump-state', draft]
  // Detached, so that an interrupt at the keyboard does not end the chain before the service has stopped.
  const shell = spawn('sh', ['-c', GUARD, 'sandbox-guard', record, state, draft, log, String(GRACE_S), ...command], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const gone = ended(shell)
  const stop = async () => {
    shell.stdin.end()
    shell.ref()
    await gone
  }
  try {
    const [line] = await Promise.race([once(createInterface(shell.stdout), 'line'), gone.then(() => [''])])
    const rpc_url = await listening(launch.files.log, shell)
    shell.unref()
    return { pid: Number(line), guard_pid: shell.pid ?? null, rpc_url, gone, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without a guard the state is fetched before anvil is killed: not every system can ask a process to end. */
async function launchBare(launch: Launch): Promise<AnvilProcess> {
  const log = openSync(launch.files.log, 'w', 0o600)
  const child = spawn(launch.binary, anvilArguments(launch), { stdio: ['ignore', log, log], windowsHide: true, detached: true })
  closeSync(log)
  const gone = ended(child)
  const kill = async () => {
    child.ref()
    child.kill('SIGKILL')
    await gone
  }
  try {
    const rpc_url = await listening(launch.files.log, child)
    child.unref()
    const stop = async () => {
      try {
        // One that has ended by itself has nothing more to say.
        if (child.exitCode === null && child.signalCode === null) await saveState(rpc_url, launch.files.state)
      } finally {
        await kill()
      }
    }
    return { pid: child.pid ?? 0, guard_pid: null, rpc_url, gone, stop }
  } catch (error) {
    await kill()
    throw error
  }
}

/** Fetches the state of a running chain and puts it where the next start looks. */
async function saveState(rpc_url: string, path: string): Promise<void> {
  const dump = String(await rpcRequest(rpc_url)('anvil_dumpState'))
  replaceFile(path, gunzipSync(Buffer.from(dump.slice(2), 'hex')))
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
}

/** The URL that anvil writes down once its port is bound: with a port chosen beforehand, another process could be the one that answers. */
async function listening(log: string, child: ChildProcess): Promise<string> {
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : ''
    const address = /^Listening on (127\.0\.0\.1:\d+)\s/m.exec(text)?.[1]
    if (address !== undefined) return `http://${address}`
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      throw new SandboxChainError(`The sandbox chain did not start: ${text.trim().slice(-400) || 'anvil said nothing'}`)
    }
    await delay(LISTEN_LOOK_MS)
  }
  throw new SandboxChainError(`The sandbox chain did not start within ${START_MS} ms.`)
}

/** Interval between two checks for a new block, whose state is then saved. */
const WATCH_MS = 1_000
/** Saving may take one of so many parts of the time: the state of a long chain takes seconds. */
const SAVING_PARTS = 50
/** Waits before each new try to start the chain; after the last one it stays down. */
const PAUSES_MS = [0, 500, 2_000, 5_000, 15_000]
/** A chain that ran for so long begins with the first pause again. */
const STEADY_MS = 600_000

/** State of the sandbox chain. */
interface SandboxRun {
  running: boolean
  /** Number of restarts after it ended unexpectedly. */
  restarts: number
  /** Time of the last of them, RFC 3339; null before. */
  restarted_at: string | null
  /** Why it stays down; null while it runs or is started again. */
  stopped_because: string | null
}

interface Keeper {
  run(): SandboxRun
  /** Ends the chain, keeping its state, and starts it no more. */
  stop(): Promise<void>
}

interface KeeperParts {
  first: AnvilProcess
  /** File of the state from which the next start of the chain continues. */
  state_file: string
  /** Starts the chain again on the port of the first, ready for use. */
  again(): Promise<AnvilProcess>
}

const unpacked = promisify(gunzip)

/**
 * Restarts the chain when it ends unexpectedly, from the state of about a second before: payments of that second are settled again, as
 * after a reorganisation. A state that takes long to save is saved less often.
 */
function keepRunning(parts: KeeperParts): Keeper {
  const keeper = new ChainKeeper(parts)
  const watching = keeper.watch()
  return {
    run: () => ({ ...keeper.run }),
    async stop() {
      await keeper.stop()
      await watching
    },
  }
}

class ChainKeeper {
  readonly run: SandboxRun = { running: true, restarts: 0, restarted_at: null, stopped_because: null }
  readonly #parts: KeeperParts
  readonly #timer: NodeJS.Timeout
  #anvil: AnvilProcess
  #stopping = false
  #wake = (): void => undefined
  #saving: Promise<void> = Promise.resolve()
  #saved_head: unknown = null
  #save_from_ms = 0

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#anvil = parts.first
    this.#timer = setInterval(() => {
      // A chain that does not answer has ended, or is asked again.
      if (this.run.running && performance.now() >= this.#save_from_ms)
        this.#saving = this.#saving.then(() => this.#save()).catch(() => undefined)
    }, WATCH_MS)
    this.#timer.unref()
  }

  async #save(): Promise<void> {
    const request = rpcRequest(this.#anvil.rpc_url)
    const head = await request('eth_blockNumber')
    if (head === this.#saved_head) return
    const before_ms = performance.now()
    const dump = String(await request('anvil_dumpState'))
    const draft = `${this.#parts.state_file}.${process.pid}.saved`
    await writeFile(draft, await unpacked(Buffer.from(dump.slice(2), 'hex')), { mode: 0o600 })
    // The chain may have ended meanwhile and left a newer state itself.
    if (!this.#stopping && this.run.running) await rename(draft, this.#parts.state_file)
    else await rm(draft, { force: true })
    this.#saved_head = head
    this.#save_from_ms = performance.now() + SAVING_PARTS * (performance.now() - before_ms)
  }

  async watch(): Promise<void> {
    let since_ms = performance.now()
    let attempt = 0
    for (;;) {
      await this.#anvil.gone
      if (this.#stopping) return
      this.run.running = false
      if (performance.now() - since_ms >= STEADY_MS) attempt = 0
      const started = await this.#again(attempt)
      if (started === null) return
      attempt = started
      since_ms = performance.now()
    }
  }

  /** The attempt that the next one begins with; null when it was stopped meanwhile, or every try failed. */
  async #again(first_attempt: number): Promise<number | null> {
    let why = ''
    for (let attempt = first_attempt; attempt < PAUSES_MS.length; attempt++) {
      await this.#pause(PAUSES_MS[attempt] ?? 0)
      if (this.#stopping) return null
      try {
        this.#anvil = await this.#parts.again()
        if (this.#stopping) {
          await this.#anvil.stop()
          return null
        }
        this.run.running = true
        this.run.restarts++
        this.run.restarted_at = new Date(performance.timeOrigin + performance.now()).toISOString()
        return attempt + 1
      } catch (error) {
        why = error instanceof Error ? error.message : String(error)
      }
    }
    this.run.stopped_because =
      `The sandbox chain ended ${PAUSES_MS.length} times within ten minutes; stop and start the service. ${why}`.trim()
    return null
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, ms).unref()
    })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearInterval(this.#timer)
    this.#wake()
    await this.#saving
    await this.#anvil.stop()
  }
}
