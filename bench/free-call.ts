import { assertAnswers, callBody, countedCalls, PASTED_IBANS, publishedKeys } from './call-requests.ts'
import {
  answersRatio,
  assertAllAnswered,
  cpuRatio,
  duel,
  DUEL_HEADER,
  duelMethod,
  duelRows,
  limitNotes,
  samplesOf,
  type Standing,
  type Standings,
} from './duel.ts'
import { atLeast, atMost, figures, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, startEcho, withFolder } from './server-process.ts'

const PATH = '/v1/tools/iban-check/call'
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/** Processor time of the echo server when the project's limits were set. */
const SET_AT_US = 21

/** A free call, with durable count and signed receipt, against a bare echo on node:http. */
export function freeCall(options: RunOptions): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const [echo, assay] = [await startEcho(), await startAssay(folder)]
    try {
      const request = { path: PATH, headers: HEADERS, bodies: PASTED_IBANS.map(callBody) }
      const contenders = [
        { name: 'bare node:http echo', server: echo, request },
        { name: 'assay, free call of iban-check', server: assay, request },
      ] as const
      const standings = await duel(contenders, options)
      assertAllAnswered(standings)
      const verified = assertAnswers(
        await samplesOf(contenders[1], standings[1]),
        (text) => JSON.parse(text),
        await publishedKeys(assay.port),
      )
      await assay.stop()
      const counted = assertCounted(standings[1], countedCalls(folder))
      return report(standings, options, [
        `${verified} answers were verified: verdict, receipt, published key, input and output hashes, distinct nonces.`,
        counted,
      ])
    } finally {
      await Promise.all([echo.stop(), assay.stop()])
    }
  })
}

/** Throws when the store knows of fewer calls than were answered. */
function assertCounted(assay: Standing, counted: number): string {
  const { runs } = assay
  const exact = runs.every(({ answers_ever }) => answers_ever !== null)
  const answered = runs.reduce((sum, { answers, answers_ever }) => sum + (answers_ever ?? answers), 0)
  if (counted < answered || (exact && counted !== answered))
    throw new Error(`${answered} calls were answered, but ${counted} are counted in the store.`)
  return `The store, opened after the stop, counts ${counted} calls; ${answered} were answered${exact ? '' : ' within the measured times'}.`
}

function report(standings: Standings, options: RunOptions, notes: string[]): SuiteReport {
  const [echo, assay] = standings
  return {
    title: 'Free call against a bare node:http echo',
    method: [
      duelMethod(options),
      'Bodies have 307 bytes. The service runs as `npm start` runs it: log at its default level to /dev/null, SQLite with synchronous FULL, every call counted and signed.',
    ],
    header: DUEL_HEADER,
    rows: duelRows(standings),
    gates: [
      atLeast('answers/s, ratio to echo', answersRatio(standings), 0.17),
      atLeast('CPU per call, ratio to echo', cpuRatio(standings), 0.17),
      atMost('p99', assay.p99_ms, 40, ' ms'),
      atMost('RSS, highest', assay.rss_mb, 200, ' MB'),
    ],
    notes: [
      ...notes,
      `The bounds on p99 and RSS were set on a machine whose echo needed ${SET_AT_US} µs of CPU a call; here it needs ${figures(echo.cpu_us)}.`,
      ...limitNotes(standings),
    ],
  }
}
