import { join } from 'node:path'
import { query, startPostgres } from '../test/support/postgres.ts'
import { callBody, PASTED_IBANS } from './call-requests.ts'
import { load } from './generators.ts'
import type { LoadResult } from './load-spec.ts'
import { atMost, figures, medianOf, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, withFolder, type ServerProcess } from './server-process.ts'

const PATH = '/v1/tools/iban-check/call'
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }
/** Of one instance alone, and of two together; and of each of two, which shows what fewer calls in one statement cost. */
const CONNECTIONS = 64
const CLIENTS = 10_000
const WARM_UP_S = 3
const RATIO_MAX = 1.2

/** One round of some instances that share the connections. */
interface Round {
  calls: number
  answers_per_s: number
  cpu_us: number | null
  p99_ms: number
}

type Rounds = Record<'one' | 'two' | 'full', Round[]>

/** Processor time a free call with one and with two instances over one PostgreSQL. */
export function twoInstances(options: RunOptions): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const postgres = await startPostgres()
    const servers: ServerProcess[] = []
    try {
      const store = await postgres.createDatabase('bench')
      // A first start makes the keys and the secret that instances share.
      await (await startAssay(folder)).stop()
      for (const number of [0, 1]) servers.push(await startAssay(join(folder, `instance-${number}`), shared(folder, store)))
      const rounds: Rounds = { one: [], two: [], full: [] }
      for (let round = 0; round < options.rounds; round++) {
        rounds.one.push(await runOver(servers.slice(0, 1), CONNECTIONS, options))
        rounds.two.push(await runOver(servers, CONNECTIONS / 2, options))
        rounds.full.push(await runOver(servers, CONNECTIONS, options))
      }
      return report(rounds, options, await counted(store))
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
      await postgres.stop()
    }
  })
}

function shared(folder: string, store: string): Record<string, string> {
  return {
    ASSAY_STORE: store,
    ASSAY_RECEIPT_KEY_FILE: join(folder, 'receipt-keys.json'),
    ASSAY_SECRET_FILE: join(folder, 'secret.key'),
  }
}

async function counted(store: string): Promise<number> {
  const [row] = await query(store, `select sum(used) as used from allowance where bucket = 'general'`)
  return Number(row?.['used'])
}

async function runOver(servers: readonly ServerProcess[], connections: number, { seconds }: RunOptions): Promise<Round> {
  process.stderr.write(`  ${servers.length} of the instances, ${connections} connections each\n`)
  const results = await Promise.all(
    servers.map(({ port, pid }) =>
      load('own', {
        port,
        path: PATH,
        headers: HEADERS,
        each: null,
        status: 200,
        bodies: PASTED_IBANS.map(callBody),
        clients: CLIENTS,
        connections,
        rest_ms: 0,
        warm_up_s: WARM_UP_S,
        measured_s: seconds,
        server_pid: pid,
      }),
    ),
  )
  const wrong = results.find((result) => result.wrong > 0)
  if (wrong !== undefined)
    throw new Error(`${wrong.wrong} wrong answers or broken connections; the first: ${wrong.first_wrong ?? 'not kept'}`)
  return roundOf(results)
}

function roundOf(results: readonly LoadResult[]): Round {
  const sum = (of: (result: LoadResult) => number) => results.reduce((total, result) => total + of(result), 0)
  const answers = sum((result) => result.answers)
  const measured = results.every(({ server_cpu_s }) => server_cpu_s !== null)
  return {
    calls: sum(({ answers_ever }) => answers_ever ?? 0),
    answers_per_s: sum((result) => result.answers / result.seconds),
    cpu_us: measured ? (sum(({ server_cpu_s }) => server_cpu_s ?? 0) / answers) * 1e6 : null,
    p99_ms: Math.max(...results.map(({ p99_ms }) => p99_ms)),
  }
}

function report({ one, two, full }: Rounds, { rounds, seconds }: RunOptions, in_store: number): SuiteReport {
  const answered = [...one, ...two, ...full].reduce((sum, { calls }) => sum + calls, 0)
  if (in_store !== answered) throw new Error(`${answered} calls were answered, but ${in_store} are counted in the store.`)
  const cpu = (of: readonly Round[]) => medianOf(of.map(({ cpu_us }) => cpu_us))
  const ratio = (of: readonly Round[]) => {
    const [alone, found] = [cpu(one), cpu(of)]
    return alone === null || found === null ? null : found / alone
  }
  const row = (name: string, of: readonly Round[]) => [
    name,
    String(Math.round(medianOf(of.map(({ answers_per_s }) => answers_per_s)) ?? Number.NaN)),
    figures(cpu(of)),
    figures(medianOf(of.map(({ p99_ms }) => p99_ms))),
  ]
  return {
    title: 'Two instances over one PostgreSQL against one',
    method: [
      `${rounds} rounds of ${seconds} s behind ${WARM_UP_S} s of warm-up, all in turn; medians. Keep-alive connections in a closed loop; the instances share a core. Processor time is that of the instances, without PostgreSQL.`,
    ],
    header: ['instances', 'answers/s', 'CPU µs/call', 'p99 ms'],
    rows: [row(`one, ${CONNECTIONS} connections`, one), row(`two, ${CONNECTIONS / 2} each`, two), row(`two, ${CONNECTIONS} each`, full)],
    gates: [
      atMost('CPU per call, two instances to one', ratio(two), RATIO_MAX, 'x'),
      atMost('the same with as many connections each as one has', ratio(full), RATIO_MAX, 'x'),
    ],
    notes: [
      `The database counts ${in_store} calls, as many as were answered.`,
      'With half of the connections an instance has fewer calls in a turn, and so more statements for as many calls.',
    ],
  }
}
