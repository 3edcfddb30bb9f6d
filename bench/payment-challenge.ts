import { fileURLToPath } from 'node:url'
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
  type Standings,
} from './duel.ts'
import type { Sample } from './load-spec.ts'
import { CALL, termsOf } from './payments.ts'
import { atLeast, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, startServer, withFolder } from './server-process.ts'

export const HONO_PEER = fileURLToPath(new URL('peers/x402-hono-server.ts', import.meta.url))

/** A call without a payment, answered 402 with its terms, compared with the x402 payment middleware on hono. */
export function paymentChallenge(options: RunOptions): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const [peer, assay] = [await startServer([HONO_PEER], {}), await startAssay(folder, { ASSAY_FREE_DAILY: '0' })]
    try {
      const contenders = [
        { name: '@x402/hono, answering 402', server: peer, request: CALL, status: 402 },
        { name: 'assay, answering 402', server: assay, request: CALL, status: 402 },
      ] as const
      await assertSamePrice(peer.port, assay.port)
      const standings = await duel(contenders, options)
      assertAllAnswered(standings)
      const read = assertTerms(await samplesOf(contenders[1], standings[1]))
      return report(standings, options, read)
    } finally {
      await Promise.all([peer.stop(), assay.stop()])
    }
  })
}

/** Throws unless both ask the same of the caller. */
async function assertSamePrice(peer: number, assay: number): Promise<void> {
  const [one, other] = [await termsOf(peer), await termsOf(assay)].map(({ accepts: [{ network, amount, asset }] }) =>
    [network, amount, asset.toLowerCase()].join(' '),
  )
  if (one !== other) throw new Error(`The peer asks for ${one}, the service for ${other}.`)
}

/** Throws unless each answer is the problem with the terms of version 1 in it. Returns how many were read. */
function assertTerms(samples: readonly Sample[]): number {
  for (const { answer } of samples) {
    const { code, x402Version, accepts } = JSON.parse(answer) as {
      code?: unknown
      x402Version?: unknown
      accepts?: { maxAmountRequired?: unknown }[]
    }
    if (code !== 'PAYMENT_REQUIRED' || x402Version !== 1 || accepts?.[0]?.maxAmountRequired === undefined)
      throw new Error(`An answer does not ask for the payment: ${answer.slice(0, 500)}`)
  }
  return samples.length
}

function report(standings: Standings, options: RunOptions, read: number): SuiteReport {
  return {
    title: 'Asking for payment against the x402 middleware on hono',
    method: [
      duelMethod(options),
      'The service runs as `npm start` runs it in the sandbox, with no free calls: it reads the body, holds it against the schema of the tool, asks the store for the allowance, and answers 402 with the price of the moment. Peer: @x402/hono 2.27.0 with one route and a fixed price; it does not read the body. Both ask for the same amount of the same token on the same network.',
    ],
    header: DUEL_HEADER,
    rows: duelRows(standings),
    gates: [
      atLeast('answers/s, ratio to @x402/hono', answersRatio(standings), 2),
      atLeast('CPU per answer, ratio to @x402/hono', cpuRatio(standings), 2),
    ],
    notes: [
      `${read} answers of the service were read and carry the terms of both versions of x402; the peer sends those of version 2.`,
      ...limitNotes(standings),
    ],
  }
}
