import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { SandboxChainError } from './sandbox-binary.ts'
import { replaceFile, type SandboxFiles } from './sandbox-files.ts'
import { rpcRequest } from './sandbox-rpc.ts'

/** How anvil is kept from outliving its service: by a shell that waits beside it, or, where there is no such shell, not at all. */
export type Keeping = 'guarded' | 'bare'

export interface AnvilProcess {
  pid: number
  guard_pid: number | null
  rpc_url: string
  /** Resolves when the processes are gone, for whatever reason. */
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
 * Waits on a pipe that only the service holds. When the pipe ends, because the service closed it or died in whatever way, anvil is told to
 * end. The state that anvil then leaves replaces the old one in one step and only after an orderly end, and only while the record still
 * names this anvil; so it is never half a state, nor an older one. As long as the outer shell lives, the number of anvil's process cannot
 * have passed to another. $1 record, $2 state, $3 new state, $4 log, $5 grace; then the command.
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
