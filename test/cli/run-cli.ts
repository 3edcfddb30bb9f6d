import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface CliOptions {
  input?: string | Uint8Array
  settings?: Record<string, string>
  /** Modules that Node loads first, as URLs. */
  imports?: readonly string[]
}

/** A stream that says it is a terminal of this many columns: colours are then decided as on a real one. */
export function terminal(columns: number, ...names: ('stdout' | 'stderr')[]): string {
  const one = (name: string) =>
    `Object.assign(process.${name}, { isTTY: true, columns: ${columns}, getColorDepth: WriteStream.prototype.getColorDepth })`
  return `data:text/javascript,import { WriteStream } from 'node:tty';${names.map(one).join(';')}`
}

export function spawnCli(args: readonly string[], { settings = {}, imports = [] }: Omit<CliOptions, 'input'> = {}): ChildProcess {
  // Only what a shell of any machine has: names such as CI or COLORTERM decide about colours.
  const machine = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|TMPDIR|LANG|SystemRoot)$/.test(name))
  const env = { ...Object.fromEntries(machine), TERM: 'xterm-256color', ...settings }
  return spawn(process.execPath, [...imports.flatMap((url) => ['--import', url]), CLI, ...args], { env, stdio: 'pipe' })
}

/** Runs the command line as a shell would. */
async function runCli(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
  const child = spawnCli(args, options)
  const read = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk: Buffer) => read[name].push(chunk))
  // A command that refuses early closes its input.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: Buffer.concat(read.stdout).toString(), stderr: Buffer.concat(read.stderr).toString() }
}

export interface Desk {
  /** The settings of a deployment of its own. */
  settings: Record<string, string>
  run(args: readonly string[], options?: CliOptions): Promise<Ended>
  /** Writes a file and returns its path. */
  file(name: string, content: unknown): Promise<string>
  clear(): Promise<void>
}

/** A folder for a test's own deployment and files. */
export async function openDesk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-cli-'))
  const settings = { ASSAY_DATA_DIR: join(folder, 'data') }
  return {
    settings,
    run: (args, options = {}) => runCli(args, { ...options, settings: { ...settings, ...options.settings } }),
    file: async (name, content) => {
      const path = join(folder, name)
      await writeFile(path, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content))
      return path
    },
    clear: () => rm(folder, { recursive: true, force: true }),
  }
}

/** JSON that a command printed. */
export function parsed(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>
}
