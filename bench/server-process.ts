import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ECHO = fileURLToPath(new URL('echo-server.ts', import.meta.url))

const SERVER_CORE = 0
const GENERATOR_CORE = 1
const START_MS_MAX = 20_000
const FAULT_CHARS = 2_000

/** True if server and generator can have a core each; otherwise they share all cores. */
export const pinned = availableParallelism() >= 2 && spawnSync('taskset', ['-c', String(GENERATOR_CORE), 'true']).status === 0

/** Core of a process: that of the servers, that of the generator, or any. */
export type Core = 'server' | 'generator' | 'any'

/** A command that runs on one core, where that can be had. */
export function onCore(core: Core, command: string, args: readonly string[]): [command: string, args: string[]] {
  const number = core === 'server' ? SERVER_CORE : GENERATOR_CORE
  return pinned && core !== 'any' ? ['taskset', ['-c', String(number), command, ...args]] : [command, [...args]]
}

/** The environment of this process without anything that changes what is measured. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME, TMPDIR } = process.env
  // npm puts the Node of this project in front; a newcomer's shell does not.
  const path = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { PATH: path.join(delimiter), HOME, TMPDIR }
}

export interface ServerProcess {
  pid: number
  core: Core
  /** Ports in the start message; null without an operator port. */
  port: number
  operator_port: number | null
  stop(): Promise<void>
}

export function startEcho(core: Core = 'server'): Promise<ServerProcess> {
  return startServer([ECHO], {}, core)
}

/** Arguments of Node in `npm start`: flags and entry point. */
export const START_ARGUMENTS = (
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start
  .split(' ')
  .slice(1)

/** The service as `npm start` runs it, with its own complete store; only the limits per client are lifted. */
export async function startAssay(data_dir: string, settings: Record<string, string> = {}, core: Core = 'server'): Promise<ServerProcess> {
  return startServer(START_ARGUMENTS, { ...assaySettings(data_dir), ...settings }, core)
}

/** The same with a further flag of V8, whose lines on standard output are read. */
export function startTraced(data_dir: string, flag: string, onLine: (line: string) => void): Promise<ServerProcess> {
  return startServer([flag, ...START_ARGUMENTS], assaySettings(data_dir), 'server', onLine)
}

function assaySettings(data_dir: string): Record<string, string> {
  return { ASSAY_DATA_DIR: data_dir, ASSAY_PORT: '0', ASSAY_TRUSTED_PROXIES: '127.0.0.1', ASSAY_FREE_DAILY: '1000000000' }
}

/** Starts a server that says on standard error where it listens; its standard output goes to /dev/null, unless its lines are read. */
export async function startServer(
  script: readonly string[],
  settings: Record<string, string>,
  core: Core = 'server',
  onLine?: (line: string) => void,
): Promise<ServerProcess> {
  const [command, args] = onCore(core, process.execPath, script)
  const output = onLine === undefined ? 'ignore' : 'pipe'
  const child = spawn(command, args, { cwd: ROOT, env: { ...plainEnvironment(), ...settings }, stdio: ['ignore', output, 'pipe'] })
  if (child.stdout !== null && onLine !== undefined) createInterface({ input: child.stdout }).on('line', onLine)
  const ports = await portsOf(child, script.join(' '))
  return { pid: child.pid ?? 0, core, ...ports, stop: () => stop(child) }
}

function portsOf(child: ChildProcess, script: string): Promise<Pick<ServerProcess, 'port' | 'operator_port'>> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = (what: string) => {
      child.kill()
      reject(new Error(`${script} ${what}\n${said.slice(-FAULT_CHARS)}`))
    }
    const timer = setTimeout(() => fail('does not say where it listens'), START_MS_MAX)
    child.once('exit', () => fail('ended before it listened'))
    child.stderr?.on('data', (chunk: Buffer) => {
      if (said.length > FAULT_CHARS * 10) return
      said += chunk.toString()
      const [, port, operator_port] = /listens on http:\/\/[\w.]+:(\d+)(?: \(operator: http:\/\/[\w.]+:(\d+)\))?/.exec(said) ?? []
      if (port === undefined) return
      clearTimeout(timer)
      resolve({ port: Number(port), operator_port: operator_port === undefined ? null : Number(operator_port) })
    })
  })
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

/** Runs the work with a folder that is gone afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
