import { load } from './generators.ts'
import type { LoadResult, LoadSpec, Sample } from './load-spec.ts'
import { peakRssMb } from '../test/support/process-usage.ts'
import { pinned, type ServerProcess } from './server-process.ts'
import { figures, medianOf, type RunOptions } from './report.ts'

/** A server and what is sent to it. */
export interface Contender {
  name: string
  server: ServerProcess
  request: Pick<LoadSpec, 'path' | 'headers' | 'bodies'>
  /** Expected status; 200 by default. */
  status?: number
  /** CONNECTIONS by default. */
  connections?: number
  /** Makes what only one run may send, just before that run; needs the generator of this folder. */
  renew?(run_s: number): Promise<LoadSpec['each']>
}

/** Medians over the rounds, unless it says otherwise. */
export interface Standing {
  name: string
  answers_per_s: number
  /** User and system time of the whole server process. */
  cpu_us: number | null
  p50_ms: number
  p99_ms: number
  /** The most of all rounds. */
  max_ms: number
  rss_mb: number | null
  /** The sum of all rounds, warm-ups included. */
  wrong: number
  /** Shares of a core that server and generator were busy. */
  server_busy: number | null
  generator_busy: number
  runs: LoadResult[]
}

/** The yardstick first. */
export type Standings = readonly [Standing, Standing]

/** One for each contender, in their order. */
type StandingsOf<All extends readonly Contender[]> = { readonly [One in keyof All]: Standing }

const CONNECTIONS = 64
const CLIENTS = 10_000
const WARM_UP_S = 2
/** Node compiles its hot code during the first seconds of load. */
const FIRST_WARM_UP_S = 4

export const DUEL_HEADER = [
  'server',
  'answers/s',
  'ratio',
  'CPU µs/call',
  'CPU ratio',
  'p50 ms',
  'p99 ms',
  'max ms',
  'RSS MB',
  'wrong',
  'server busy',
  'generator busy',
]

/** Lets the contenders run one after the other, round after round, so that a change of the machine's mood meets all of them. */
export async function duel<const All extends readonly Contender[]>(contenders: All, options: RunOptions): Promise<StandingsOf<All>> {
  const runs = contenders.map((): LoadResult[] => [])
  for (let round = 1; round <= options.rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      process.stderr.write(`  round ${round} of ${options.rounds}: ${contender.name}\n`)
      runs[index]?.push(await runOnce(contender, round === 1 ? FIRST_WARM_UP_S : WARM_UP_S, options))
    }
  }
  return contenders.map((contender, index) => standing(contender, runs[index] ?? [])) as unknown as StandingsOf<All>
}

async function runOnce(contender: Contender, warm_up_s: number, { generator, seconds }: RunOptions) {
  const { server, request, status = 200, connections = CONNECTIONS, renew } = contender
  const each = (await renew?.(warm_up_s + seconds)) ?? null
  const target = { ...request, each, status, rest_ms: 0, port: server.port, server_pid: server.pid }
  const spec = { ...target, clients: CLIENTS, connections, warm_up_s, measured_s: seconds }
  return load(generator, spec, server.core === 'any' ? 'any' : 'generator')
}

function standing({ name, server }: Contender, runs: LoadResult[]): Standing {
  const middle = (of: (run: LoadResult) => number) => medianOf(runs.map(of)) ?? Number.NaN
  const middleCpu = (per: (run: LoadResult) => number) =>
    medianOf(runs.map((run) => (run.server_cpu_s === null ? null : run.server_cpu_s / per(run))))
  return {
    name,
    answers_per_s: middle((run) => run.answers / run.seconds),
    cpu_us: middleCpu((run) => run.answers / 1e6),
    p50_ms: middle((run) => run.p50_ms),
    p99_ms: middle((run) => run.p99_ms),
    max_ms: Math.max(...runs.map((run) => run.max_ms)),
    rss_mb: peakRssMb(server.pid),
    wrong: runs.reduce((sum, run) => sum + run.wrong, 0),
    server_busy: middleCpu((run) => run.seconds),
    generator_busy: middle((run) => run.generator_cpu_s / run.seconds),
    runs,
  }
}

/** One row a contender; ratios are to the first. */
export function duelRows(standings: readonly [Standing, ...Standing[]]): string[][] {
  const [first] = standings
  return standings.map((one) => [
    one.name,
    String(Math.round(one.answers_per_s)),
    figures(one.answers_per_s / first.answers_per_s),
    figures(one.cpu_us),
    figures(cpuRatio([first, one])),
    figures(one.p50_ms),
    figures(one.p99_ms),
    figures(one.max_ms),
    figures(one.rss_mb),
    String(one.wrong),
    percent(one.server_busy),
    percent(one.generator_busy),
  ])
}

/** Processor time per call of the first contender divided by that of the second. */
export function cpuRatio([first, second]: Standings): number | null {
  return first.cpu_us === null || second.cpu_us === null ? null : first.cpu_us / second.cpu_us
}

/** Answers per second of the second contender divided by those of the first. */
export function answersRatio([first, second]: Standings): number {
  return second.answers_per_s / first.answers_per_s
}

/** Description of the measurement in one sentence. */
export function duelMethod({ rounds, seconds, generator }: RunOptions): string {
  const turns = rounds === 1 ? '1 round' : `${rounds} rounds in one sitting, all in turn; medians of the rounds`
  const cores = pinned ? 'server on core 0, generator on core 1' : 'not pinned to cores (no taskset)'
  return `${turns}. Each run lasts ${seconds} s behind ${WARM_UP_S} s of warm-up (${FIRST_WARM_UP_S} s in the first round). ${CONNECTIONS} keep-alive connections, closed loop, ${CLIENTS} client addresses; generator: ${generator}; ${cores}.`
}

function percent(share: number | null): string {
  return share === null || Number.isNaN(share) ? '–' : `${Math.round(share * 100)} %`
}

/** Explanation of the two columns about load. */
export function limitNotes(standings: readonly Standing[]): string[] {
  return standings.flatMap(({ name, server_busy, generator_busy }) => {
    if (generator_busy > 0.95) return [`${name}: the generator was the limit; trust CPU µs/call, not answers/s.`]
    if (server_busy !== null && server_busy < 0.9)
      return [`${name}: the server had its core only ${percent(server_busy)} of the time; trust CPU µs/call, not answers/s.`]
    return []
  })
}

/** Throws unless every answer had the right status. */
export function assertAllAnswered(standings: readonly Standing[]): void {
  const bad = standings.filter(({ wrong }) => wrong > 0)
  if (bad.length > 0)
    throw new Error(
      bad.map(({ name, wrong, runs }) => `${name}: ${wrong} wrong answers or broken connections; ${firstWrong(runs)}`).join('\n'),
    )
}

/** The first wrong answer of some runs. */
export function firstWrong(runs: readonly LoadResult[]): string {
  return `the first: ${runs.find(({ first_wrong }) => first_wrong !== null)?.first_wrong ?? 'not kept'}`
}

/** Answers that the generator took out of the load; where it keeps none, one answer a body, asked for now. */
export async function samplesOf({ request, server }: Contender, { runs }: Standing): Promise<Sample[]> {
  const kept = runs.flatMap(({ samples }) => samples)
  const { path, headers, bodies } = request
  const url = `http://127.0.0.1:${server.port}${path}`
  const ask = async (text: string, body: number) => ({
    body,
    carried: null,
    answer: await (await fetch(url, { method: 'POST', headers, body: text })).text(),
  })
  return kept.length > 0 ? kept : Promise.all(bodies.map(ask))
}
