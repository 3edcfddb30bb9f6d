import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { callBody, PASTED_IBANS } from './call-requests.ts'
import { atMost, figures, median, type SuiteReport } from './report.ts'
import { startRpcStub } from './rpc-stub.ts'
import { plainEnvironment, ROOT, START_ARGUMENTS, withFolder } from './server-process.ts'

const STARTS = 5
const POLL_MS = 5
const START_MS_MAX = 30_000
const GATE_S = 1.5

/** Start and end of Node itself. */
const BARE = '`node -e 0`, for comparison'

interface Way {
  name: string
  command: [program: string, ...args: string[]]
  /** With a new data folder and nothing in the compile cache, as right after the install. */
  first: boolean
  /** Live settings with a replacement for the chain; otherwise the sandbox, whose chain must start. */
  live?: boolean
}

const NPM: Way['command'] = ['npm', 'start']
const NODE: Way['command'] = [process.execPath, ...START_ARGUMENTS]

const WAYS: Way[] = [
  { name: '`npm start`, the first time', command: NPM, first: true },
  { name: '`npm start`, again', command: NPM, first: false },
  { name: 'its command without npm, the first time', command: NODE, first: true },
  { name: 'its command without npm, again', command: NODE, first: false },
  { name: 'the same with live settings, again', command: NODE, first: false, live: true },
]

const LIVE_S = 0.3

/** A service in its own process group would outlive this process. */
const ENDED_BY = ['SIGINT', 'SIGTERM'] as const

/** Test network and fictitious payee; the facilitator is queried only for payments. */
const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_CHAIN_ID: '84532',
  ASSAY_PAY_TO: '0x0000000000000000000000000000000000008402',
  ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9/',
}

/** From the command to the first answer of a call. */
export function start(): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const found = new Map([BARE, ...WAYS.map(({ name }) => name)].map((name): [string, number[]] => [name, []]))
    const [old, old_live] = [join(folder, 'old'), join(folder, 'live')]
    const rpc = await startRpcStub()
    const live = { ...LIVE, ASSAY_RPC_URLS: rpc.url }
    await firstAnswerS(NODE, old, {})
    await firstAnswerS(NODE, old_live, live)
    for (let round = 0; round < STARTS; round++) {
      found.get(BARE)?.push(bareStartS())
      for (const [index, way] of WAYS.entries()) {
        process.stderr.write(`  start ${round + 1} of ${STARTS}: ${way.name}\n`)
        const place = way.first ? join(folder, `${round}-${index}`) : way.live === true ? old_live : old
        found.get(way.name)?.push(await firstAnswerS(way.command, place, way.live === true ? live : {}))
      }
    }
    await rpc.stop()
    return report([...found])
  })
}

function report(found: readonly (readonly [name: string, seconds: number[]])[]): SuiteReport {
  return {
    title: 'Start to first answer',
    method: [
      `Seconds from spawning the command in the installed tree to the first 200 of a call, asked for every ${POLL_MS} ms; ${STARTS} starts each, all ways in turn. ` +
        'The first time: a new data folder and an empty compile cache, as right after the install (the files themselves may lie in the page cache). Again: both are there.',
    ],
    header: ['command', 'median s', 'longest s'],
    rows: found.map(([name, seconds]) => [name, figures(median(seconds)), figures(Math.max(...seconds))]),
    gates: [
      ...found.filter(([name]) => name.startsWith('`npm')).map(([name, seconds]) => atMost(name, median(seconds), GATE_S, ' s')),
      ...found.filter(([name]) => name.includes('live')).map(([name, seconds]) => atMost(name, median(seconds), LIVE_S, ' s')),
    ],
    notes: ['With live settings no sandbox chain starts; a server in this process replaces the RPC endpoint, and a facilitator is named.'],
  }
}

function bareStartS(): number {
  const begin_ms = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return (performance.now() - begin_ms) / 1000
}

async function firstAnswerS([program, ...args]: Way['command'], folder: string, more: Record<string, string>): Promise<number> {
  const port = await freePort()
  const settings = {
    ASSAY_DATA_DIR: join(folder, 'data'),
    ASSAY_PORT: String(port),
    ASSAY_ADMIN_PORT: '0',
    ASSAY_FREE_DAILY: '1000',
    NODE_COMPILE_CACHE: join(folder, 'cache'),
    ...more,
  }
  const begin_ms = performance.now()
  // Separate process group, because npm starts a shell around the service.
  const child = spawn(program, args, { cwd: ROOT, env: { ...plainEnvironment(), ...settings }, stdio: 'ignore', detached: true })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const interrupted = () => {
    stopGroup(child)
    process.exit(130)
  }
  for (const signal of ENDED_BY) process.once(signal, interrupted)
  try {
    while (!(await answers(port))) {
      if (performance.now() - begin_ms > START_MS_MAX || child.exitCode !== null)
        throw new Error(`${program} ${args.join(' ')} gives no answer`)
      await pause(POLL_MS)
    }
    return (performance.now() - begin_ms) / 1000
  } finally {
    for (const signal of ENDED_BY) process.off(signal, interrupted)
    stopGroup(child)
    await ended
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const body = callBody(PASTED_IBANS[0] ?? '')
    const response = await fetch(`http://127.0.0.1:${port}/v1/tools/iban-check/call`, { method: 'POST', body })
    const { result } = (await response.json()) as { result?: { valid?: unknown } }
    if (response.status !== 200 || result?.valid !== true) throw new Error('wrong answer')
    return true
  } catch (error) {
    // Until the service listens, fetch fails with a TypeError; anything else is a wrong answer.
    if (error instanceof TypeError) return false
    throw error
  }
}

function stopGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGTERM')
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
