/** `npm run bench:peers`: everybody that does a part of the same work, in one sitting, as one table on standard output. */
import { parseArgs } from 'node:util'
import { installPeers } from './install-peers.ts'
import { PEER_HEADER, peerCells, type PeerRow } from './peer-row.ts'
import { circumstances, loadText, markdown, table, type RunOptions, type SuiteReport } from './report.ts'
import { pinned } from './server-process.ts'

const USAGE = `usage: npm run bench:peers -- [--rounds=3] [--seconds=10]
About twelve minutes. Runs shorter than ten seconds say little about p99.
`

const TURNS_A_ROUND = 5

const asked = readArguments()
if (asked === null) {
  process.stderr.write(USAGE)
  process.exitCode = 64
} else if (installPeers()) await compare(asked)
else process.exitCode = 1

function readArguments(): RunOptions | null {
  try {
    const string = (fallback: string) => ({ type: 'string', default: fallback }) as const
    const { values } = parseArgs({ options: { rounds: string('3'), seconds: string('10') } })
    const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
    return Number.isInteger(rounds) && rounds > 0 && Number.isInteger(seconds) && seconds > 0 ? { rounds, seconds, generator: 'own' } : null
  } catch {
    return null
  }
}

async function compare(options: RunOptions): Promise<void> {
  // Read once the peers are installed, and one after the other.
  const { servers, freeCallOnAllCores } = await import('./peer-servers.ts')
  const { libraries } = await import('./peer-libraries.ts')
  const { start } = await import('./start.ts')
  const { idle } = await import('./idle.ts')
  print(['# Benchmarks compared with peers', ...circumstances(new Date()).map((line) => `- ${line}`)].join('\n'))
  const rows: PeerRow[] = []
  const notes: string[] = []
  const part = async (name: string, run: () => Promise<{ rows: PeerRow[]; notes: string[] }>) => {
    process.stderr.write(`bench: ${name}\n`)
    try {
      const found = await run()
      rows.push(...found.rows)
      notes.push(...found.notes, `Load average after ${name}: ${loadText()}`)
    } catch (error) {
      notes.push(failed(name, error))
    }
  }
  await part('servers', () => servers(options))
  await part('the free call on all cores', () => freeCallOnAllCores(options))
  await part('libraries', async () => ({ rows: await libraries(options.rounds * TURNS_A_ROUND), notes: [] }))
  print([...method(options), table(PEER_HEADER, rows.map(peerCells)), notes.map((note) => `- ${note}`).join('\n')].join('\n\n'))
  const suites: Record<string, () => Promise<SuiteReport>> = { start, idle }
  for (const [name, suite] of Object.entries(suites)) print(await suite().then(markdown, (error: unknown) => failed(name, error)))
  print(`Load average at the end: ${loadText()}`)
}

/** One part that does not run leaves the others their figures. */
function failed(name: string, error: unknown): string {
  process.exitCode = 1
  return `${name} did not run: ${error instanceof Error ? error.message : String(error)}`
}

function method({ rounds, seconds }: RunOptions): string[] {
  const cores = pinned ? 'server on core 0, generator on core 1, unless a row says otherwise' : 'not pinned to cores (no taskset)'
  return [
    `Servers: ${rounds} rounds, all in turn, medians of the rounds; ${seconds} s a run behind a warm-up; 64 keep-alive connections in a closed loop, 10,000 client addresses, generator of this folder, ${cores}. Libraries: median of ${rounds * TURNS_A_ROUND} turns of 60 ms in one process, all in turn.`,
    'Ratios above 1 say that the service does more a second or needs less processor time. CPU is user and system time of the whole process, on a machine with other work the number to trust.',
  ]
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}
