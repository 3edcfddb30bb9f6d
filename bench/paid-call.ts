import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assertAnswers, publishedKeys } from './call-requests.ts'
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
  type Contender,
  type Standing,
} from './duel.ts'
import type { Sample } from './load-spec.ts'
import { HONO_PEER } from './payment-challenge.ts'
import { newPayers, type Payers } from '../test/support/bulk-payments.ts'
import { authorizationIn, CALL, writePayments } from './payments.ts'
import { atLeast, type RunOptions, type SuiteReport } from './report.ts'
import { START_ARGUMENTS, startServer, withFolder, type ServerProcess } from './server-process.ts'

const PAID_SERVER = fileURLToPath(new URL('paid-server.ts', import.meta.url))
export const FACILITATOR = fileURLToPath(new URL('peers/x402-facilitator-server.ts', import.meta.url))

export const PAYERS = 1_000
/** Signed for each second of a run: more than a server of the kind answers. */
export const PEER_PER_S = 1_500
export const OWN_PER_S = 7_500

type Three = readonly [Standing, Standing, Standing]

/** A paid call up to its receipt, with the chain left out on all sides, against the payment middleware of x402 on hono. */
export function paidCall(given: RunOptions): Promise<SuiteReport> {
  // No payment may be sent twice, and only the generator of this folder can do that.
  const options = { ...given, generator: 'own' } as const
  return withFolder(async (folder) => {
    const servers = await startAll(folder)
    const { inside, remote, assay } = servers
    try {
      const payers = await newPayers(PAYERS)
      const contenders = [
        payingContender('@x402/hono, facilitator in process', inside, payers, join(folder, 'inside'), PEER_PER_S),
        payingContender('@x402/hono, facilitator over HTTP', remote, payers, join(folder, 'remote'), PEER_PER_S),
        payingContender('assay, paid call of iban-check', assay, payers, join(folder, 'assay'), OWN_PER_S),
      ] as const
      const standings = await duel(contenders, options)
      assertAllAnswered(standings)
      const samples = await samplesOf(contenders[2], standings[2])
      const verified = assertAnswers(samples, (text) => JSON.parse(text), await publishedKeys(assay.port))
      samples.forEach(assertPaid)
      await assay.stop()
      return report(standings, options, [
        `${verified} answers of the service were verified: verdict, receipt, published key, input and output hashes, and that each receipt names payer, nonce and amount of the payment that was sent.`,
        assertSettled(standings[2], settledRows(folder)),
      ])
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()))
    }
  })
}

/** The facilitator runs on the core of the generator, since it would not run on that of the service it serves. */
async function startAll(folder: string) {
  const facilitator = await startServer([FACILITATOR], {}, 'generator')
  return {
    facilitator,
    inside: await startServer([HONO_PEER], {}),
    remote: await startServer([HONO_PEER], { FACILITATOR_URL: `http://127.0.0.1:${facilitator.port}` }),
    assay: await startPaid(folder),
  }
}

/** The service with its chain left out. */
export function startPaid(folder: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const settings = { ASSAY_DATA_DIR: folder, ASSAY_TRUSTED_PROXIES: '127.0.0.1', ASSAY_FREE_DAILY: '0', ...more }
  return startServer([...START_ARGUMENTS.slice(0, -1), PAID_SERVER], settings)
}

/** Prices move, so payments are signed just before each run, to the terms of that moment. */
export function payingContender(name: string, server: ServerProcess, payers: Payers, file: string, per_s: number): Contender {
  return { name, server, request: CALL, renew: (run_s) => writePayments(file, payers, server.port, Math.ceil(run_s * per_s)) }
}

export function assertPaid({ carried, answer }: Sample): void {
  const { receipt, tier, settlement } = JSON.parse(answer) as {
    receipt: { payer?: unknown; nonce?: unknown; amount?: unknown; recipient?: unknown }
    tier?: unknown
    settlement?: { transaction?: unknown }
  }
  const { from, to, value, nonce } = authorizationIn(carried ?? '')
  const told = [tier, receipt.payer, receipt.recipient, receipt.amount, receipt.nonce, settlement?.transaction]
  if (told.join(' ') !== ['paid', from, to.toLowerCase(), value, nonce, nonce].join(' '))
    throw new Error(`A receipt is not that of the payment that was sent: ${answer.slice(0, 800)}`)
}

/** Rows of a stopped service by their state. */
function settledRows(folder: string): Record<string, number> {
  const database = new DatabaseSync(join(folder, 'assay.sqlite'), { readOnly: true })
  try {
    const rows = database
      .prepare('select state, count(*) as found from payment p join payment_answer a on a.payment = p.number group by state')
      .all()
    return Object.fromEntries(rows.map((row) => [String(row['state']), Number(row['found'])]))
  } finally {
    database.close()
  }
}

/** Throws unless the store holds one settled row with its answer for each call that was answered, and nothing else. */
function assertSettled({ runs }: Standing, rows: Record<string, number>): string {
  const answered = runs.reduce((sum, { answers_ever }) => sum + (answers_ever ?? Number.NaN), 0)
  const told = JSON.stringify(rows)
  if (told !== JSON.stringify({ settled: answered })) throw new Error(`${answered} paid calls were answered, but the store holds ${told}.`)
  return `The store, opened after the stop, holds ${answered} settled payments with their sealed answers, as many as were answered, and no other.`
}

function report(standings: Three, options: RunOptions, notes: string[]): SuiteReport {
  const [inside, remote, assay] = standings
  return {
    title: 'Paid call, without the chain, against the x402 middleware on hono',
    method: [
      duelMethod(options),
      `Stubbed on all sides: simulation and settlement on chain. Left in the service: EIP-3009 digest and recovery of the payer, replay lookup, claim that binds the payment to its request, sealed answer and state moves stored in SQLite with synchronous FULL (claimed, prepared, settling, settled: four durable writes a call), sale counted for the price, receipt signed. ${PAYERS} payers; every payment has a unique nonce, is signed just before its run and sent once.`,
      'Peers: @x402/hono 2.27.0 before a handler that checks an IBAN in six lines. Their facilitator verifies the signature with viem and settles by saying so; in the second row it is another process on the core of the generator, asked through HTTPFacilitatorClient, and its own processor time is not counted. They bind nothing, store nothing, and sign no receipt.',
    ],
    header: DUEL_HEADER,
    rows: duelRows(standings),
    gates: [
      atLeast('answers/s, ratio to the facilitator in process', answersRatio([inside, assay]), 10),
      atLeast('CPU per call, ratio to the facilitator in process', cpuRatio([inside, assay]), 10),
      atLeast('answers/s, ratio to the facilitator over HTTP', answersRatio([remote, assay]), 4),
      atLeast('CPU per call, ratio to the facilitator over HTTP', cpuRatio([remote, assay]), 4),
    ],
    notes: [...notes, ...limitNotes(standings)],
  }
}
