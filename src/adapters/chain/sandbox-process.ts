import { closeSync, existsSync, openSync, readFileSync, rmSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'

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
function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, content, { mode: 0o600 })
  renameSync(draft, path)
}

/** Platforms for which @foundry-rs/anvil carries a binary, as Node names them, and the package that holds it. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** The sandbox chain cannot run here, or did not start; the message says why and what helps. */
export class SandboxChainError extends Error {
  override name = 'SandboxChainError'
}

/** Path of the anvil binary for this machine. Throws a SandboxChainError when there is none. */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = PACKAGES[`${platform}-${arch}`]
  if (name === undefined) {
    const known = Object.keys(PACKAGES).join(', ')
    throw new SandboxChainError(`The sandbox chain runs on ${known}, not on ${platform}-${arch}; use ASSAY_MODE=live with an RPC URL.`)
  }
  const path = binaryIn(name, platform)
  if (path === null) {
    throw new SandboxChainError(
      `The sandbox chain needs the optional package ${name}, which is not installed; run "npm ci" in a checkout, or "npm install @foundry-rs/anvil".`,
    )
  }
  return path
}

function binaryIn(name: string, platform: string): string | null {
  // The package exports nothing, so its folder is found on the path that Node would search.
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const file = platform === 'win32' ? 'anvil.exe' : 'anvil'
  return folders.map((folder) => `${folder}/${name}/bin/${file}`).find((path) => existsSync(path)) ?? null
}

/** JSON-RPC to the local node, in one round trip for any number of questions. viem would cost more to load than the chain to start. */

export interface SandboxRpcCall {
  method: string
  params: readonly unknown[]
}

export type RpcRequest = (method: string, params?: readonly unknown[]) => Promise<unknown>

/** Longest wait for one answer of the local node. */
const ANSWER_MS = 10_000

interface RpcAnswer {
  id: number
  result?: unknown
  error?: { message: string }
}

/** Returns the results in the order of the calls. Rejects without an answer, or with the node's message when it rejects one of them. */
export async function rpcBatch(rpc_url: string, calls: readonly SandboxRpcCall[]): Promise<unknown[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const answers = (await response.json()) as RpcAnswer[]
  return calls.map(({ method }, id) => {
    const answer = answers.find((one) => one.id === id)
    if (answer === undefined || answer.error !== undefined) throw new Error(`${method}: ${answer?.error?.message ?? 'no answer'}`)
    return answer.result
  })
}

/** One question at a time, for callers that need no more. */
export function rpcRequest(rpc_url: string): RpcRequest {
  return async (method, params = []) => (await rpcBatch(rpc_url, [{ method, params }]))[0]
}

/** Guard that ends anvil with its service: a shell that waits next to it, or none where there is no such shell. */
export type Keeping = 'guarded' | 'bare'

export interface AnvilProcess {
  pid: number
  guard_pid: number | null
  rpc_url: string
  /** Resolves when the processes have ended, for any reason. */
  gone: Promise<void>
  /** Ends the chain, keeping its state; resolves when the processes are gone. */
  stop(): Promise<void>
}

export interface Launch {
  binary: string
  files: SandboxFiles
  chain_id: number
  keeping: Keeping
  /** 0 for any that is free. */
  port: number
}

const START_MS = 20_000
const LOOK_MS = 4
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
export async function saveState(rpc_url: string, path: string): Promise<void> {
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
    await delay(LOOK_MS)
  }
  throw new SandboxChainError(`The sandbox chain did not start within ${START_MS} ms.`)
}

/** A sandbox head older than this is followed by a new block before anything is read from it. */
const SANDBOX_HEAD_MS = 5_000

export type EnsureFresh = () => Promise<void>

/**
 * A chain that mines only on payments has no new blocks without them, and the time that contracts see would not advance. This mines a
 * block when the head is over 5 s old by the service's clock. Sends at most one request in 5 s, which concurrent callers share. Errs
 * towards stale by the blocks that a revert of the chain removed since the last request.
 */
export function freshener(request: RpcRequest, clock: Clock): EnsureFresh {
  let fresh_until_ms = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    const head = (await request('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    const now_ms = clock.now_ms()
    // A head from the future must not spare the question for long.
    fresh_until_ms = Math.min(Number(head.timestamp) * 1_000, now_ms) + SANDBOX_HEAD_MS
    if (now_ms <= fresh_until_ms) return
    await request('evm_mine')
    fresh_until_ms = Math.floor(now_ms / 1_000) * 1_000 + SANDBOX_HEAD_MS
  }

  return () => {
    if (clock.now_ms() <= fresh_until_ms) return Promise.resolve()
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
}
