/**
 * Types the commands of README.md, docs/tour.md and docs/verify-without-us.md in order, as a reader of a fresh clone does: `npm start` in a first terminal, all others in
 * one shell. The clone is a copy of this checkout with the packages that are installed already, and the port is a free one; nothing else differs.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { asMembers } from '../support/documents.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const ORIGIN = 'http://127.0.0.1:8402'
const TIMEOUT_MS = 600_000

/** Commands that are not typed here: they run this test, or take longer than all of it. Each must be a script of package.json. */
const NOT_TYPED = new Set(['npm test', 'npm run test:full', 'npm run check', 'npm run bench', 'npm run pack:npm'])
const PAYING_PACKAGES = 'npm install --prefix var/buyer @x402/fetch @x402/evm viem'

/** Every shell block of the README, then of the tour and of the page that verifies without assay's software. */
const TOUR = ['docs/tour.md', 'docs/verify-without-us.md'].map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n')
const BLOCKS = [...`${README}\n${TOUR}`.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

/** Commands of a block without comments; a here-document and a continued line are one command. */
function commandsOf(block: string): string[] {
  const commands: string[] = []
  let open = false
  for (const line of block.trimEnd().split('\n')) {
    if (open) commands.push(`${commands.pop() ?? ''}\n${line}`)
    else if (line.trim() !== '') commands.push(line.replace(/\s+#\s.*$/, ''))
    open = open ? line !== 'END' && (line.endsWith('\\') || (commands.at(-1) ?? '').includes("<<'END'")) : /\\$|<<'END'$/.test(line)
  }
  return commands
}

const children = new Set<ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'assay-readme-'))
const clone = join(folder, 'assay')
after(async () => {
  for (const child of children) await stopped(child)
  rmSync(folder, { recursive: true, force: true })
})

/** A copy of this checkout as a clone has it: no packages, data or history of its own. */
function makeClone(): void {
  const left_out = new Set(['node_modules', 'var', 'dist', '.git', '.cache'])
  cpSync(ROOT, clone, {
    recursive: true,
    filter: (source) =>
      !relative(ROOT, source)
        .split('/')
        .some((part) => left_out.has(part)),
  })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
}

/** The environment of a reader: no settings of this service, and the Node.js that `npm` installs. */
function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const machine = Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_') && !name.startsWith('NODE_TEST'))
  return { ...Object.fromEntries(machine), PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`, ...settings }
}

/** A process group of its own, so that `npm` and what it started end together, as Ctrl-C ends them in a terminal. */
function shell(command: string, settings: Record<string, string> = {}): ChildProcess {
  const options: SpawnOptions = { cwd: clone, env: environment(settings), detached: true, stdio: ['ignore', 'pipe', 'pipe'] }
  const child = spawn('bash', ['-c', command], options)
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
  await closed
}

/** The first terminal: resolves with the address once the service says where it listens. */
async function terminal(command: string): Promise<{ url: string; child: ChildProcess }> {
  const child = shell(command, { ASSAY_PORT: '0', ASSAY_ADMIN_PORT: 'off' })
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
      const found = /listens on (http\S+)/.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('close', () => reject(new Error(`${command} ended: ${said}`)))
  })
  return { url, child }
}

interface Typed {
  command: string
  code: number
  output: string
}

/** What one terminal keeps between commands, also while the service is started again. */
const ALIASES = BLOCKS.flatMap(commandsOf).filter((command) => command.startsWith('alias '))

/** The second terminal: types all commands into one shell, and says what each wrote and how it ended. */
async function typed(commands: readonly string[], url: string): Promise<Typed[]> {
  const mark = '== end of command'
  const script = commands.map((command) => `${command.replaceAll(ORIGIN, url)}\nprintf '\\n${mark} %s\\n' "$?"`).join('\n')
  const child = shell(['shopt -s expand_aliases', 'exec 2>&1', ...ALIASES, script].join('\n'))
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(child, 'close')
  const outputs = Buffer.concat(chunks)
    .toString()
    .split(new RegExp(`\\n${mark} (\\d+)\\n`))
  return commands.map((command, at) => ({ command, output: outputs[2 * at] ?? '', code: Number(outputs[2 * at + 1] ?? -1) }))
}

function outputOf(all: readonly Typed[], part: string): string {
  const found = all.find(({ command }) => command.includes(part))
  assert.ok(found !== undefined, `the documents have no command with ${part}`)
  return found.output
}

test('the README begins with npm start and npm test, and is short', () => {
  assert.ok(README.split('\n').length <= 150)
  assert.match(README, /^# assay\n\n```sh\nnpm start .*\nnpm test .*\nnpm run demo .*\n```\n/)
})

test('every command of the README and the tour works when it is typed in order', { timeout: TIMEOUT_MS }, async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const commands = BLOCKS.flatMap(commandsOf)
  const starts = commands.flatMap((command, at) => (command.endsWith('npm start') ? [at] : []))
  assert.equal(starts.length, 2, 'the README starts the service, then the tour starts it again without free calls')
  for (const command of commands.filter((one) => NOT_TYPED.has(one))) assert.ok(command.replace(/^npm (run )?/, '') in scripts, command)
  makeClone()
  const all: Typed[] = []
  for (const [turn, start] of starts.entries()) {
    const service = await terminal(commands[start] ?? '')
    const rest = commands.slice(start + 1, starts[turn + 1]).filter((command) => !NOT_TYPED.has(command))
    for (const command of rest) {
      if (command !== PAYING_PACKAGES) continue
      // The packages are those that the tests of official clients installed.
      mkdirSync(join(clone, 'var/buyer'), { recursive: true })
      symlinkSync(join(ROOT, 'test/official-clients/node_modules'), join(clone, 'var/buyer/node_modules'))
    }
    all.push(
      ...(await typed(
        rest.filter((command) => command !== PAYING_PACKAGES),
        service.url,
      )),
    )
    await stopped(service.child)
  }
  assert.deepEqual(
    all.filter(({ code }) => code !== 0),
    [],
  )
  assertSaid(all)
})

/** What the text around the commands promises of them. */
function assertSaid(all: readonly Typed[]): void {
  assert.match(outputOf(all, 'npm run demo'), /That was all of it/)
  const calls = ['iban-check/call', 'lei-check/call', 'block-info/call'].map((part) => asMembers(JSON.parse(outputOf(all, part))))
  assert.deepEqual(
    calls.map(({ result }) => asMembers(result)['valid']),
    [true, false, true],
  )
  // No call of the tour meets an exhausted allowance.
  assert.match(outputOf(all, '"method":"tools/call"'), /"valid":true/)
  assert.match(outputOf(all, 'WEST 1234 5698 7654 33'), /"verdict":"invalid"/)
  assert.equal(readFileSync(join(clone, 'results.jsonl'), 'utf8').trim().split('\n').length, 2)
  assert.match(outputOf(all, 'verify answer.json --keys keys.json --text'), /^● verified {2}iban-check/)
  assert.match(outputOf(all, 'replay answer.json'), /"outcome":"agrees"/)
  assert.match(outputOf(all, '/api/invoice/create'), /"status":"ISSUED"/)
  assert.match(outputOf(all, '--log proof'), /^● verified[\s\S]*Log {2,}/)
  assert.match(outputOf(all, 'assay preflight'), /^● passes/)
  assert.match(outputOf(all, 'node var/buyer/pay.mjs'), /^200 [\s\S]*tier: 'paid'/)
  assert.match(outputOf(all, 'node var/buyer/verify.mjs'), /^(?:yes .*\n){5}$/)
  assert.match(outputOf(all, 'bin/node var/buyer/client.mjs'), /^valid paid \d+\n/)
}
