import { join } from 'node:path'
import { query, startPostgres } from '../test/support/postgres.ts'
import { callBody, PASTED_IBANS } from './call-requests.ts'
import { load } from './generators.ts'
import type { LoadResult } from './load-spec.ts'
import { atMost, figures, medianOf, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, withFolder, type ServerProcess } from './server-process.ts'

const PATH = '/v1/tools/iban-check/call'
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }
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
      const rounds: Record<'one' | 'two', Round[]> = { one: [], two: [] }
      for (let round = 0; round < options.rounds; round++) {
        rounds.one.push(await runOver(servers.slice(0, 1), options))
        rounds.two.push(await runOver(servers, options))
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

async function runOver(servers: readonly ServerProcess[], { seconds }: RunOptions): Promise<Round> {
  process.stderr.write(`  ${servers.length} of the instances\n`)
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
        connections: CONNECTIONS / servers.length,
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

function report({ one, two }: Record<'one' | 'two', Round[]>, { rounds, seconds }: RunOptions, in_store: number): SuiteReport {
  const answered = [...one, ...two].reduce((sum, { calls }) => sum + calls, 0)
  if (in_store !== answered) throw new Error(`${answered} calls were answered, but ${in_store} are counted in the store.`)
  const cpu = (of: readonly Round[]) => medianOf(of.map(({ cpu_us }) => cpu_us))
  const [single, double] = [cpu(one), cpu(two)]
  const ratio = single === null || double === null ? null : double / single
  const row = (name: string, of: readonly Round[]) => [
    name,
    String(Math.round(medianOf(of.map(({ answers_per_s }) => answers_per_s)) ?? Number.NaN)),
    figures(cpu(of)),
    figures(medianOf(of.map(({ p99_ms }) => p99_ms))),
  ]
  return {
    title: 'Two instances over one PostgreSQL against one',
    method: [
      `${rounds} rounds of ${seconds} s behind ${WARM_UP_S} s of warm-up, one and two instances in turn; medians. ${CONNECTIONS} keep-alive connections in all, closed loop; the instances share a core. Processor time is that of the instances, without PostgreSQL.`,
    ],
    header: ['instances', 'answers/s', 'CPU µs/call', 'p99 ms'],
    rows: [row('one', one), row('two', two)],
    gates: [atMost('CPU per call, two instances to one', ratio, RATIO_MAX, 'x')],
    notes: [`The database counts ${in_store} calls, as many as were answered.`],
  }
}
