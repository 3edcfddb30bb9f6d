/**
 * `npm run bench -- gate`: fails where the hot path costs more processor time, relative to a peer of the same run, than `baseline.json` allows.
 * Ratios of processor time do not move with the load of the machine as answers per second do; what is worse is measured once more before
 * the run fails.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { newPayers } from '../test/support/bulk-payments.ts'
import { callBody, PASTED_IBANS } from './call-requests.ts'
import { assertAllAnswered, cpuRatio, duel, type Standing } from './duel.ts'
import { promotedBytes } from './garbage.ts'
import { MCP_PEER, MCP_REQUEST, mcpBodies } from './mcp.ts'
import { payingContender, PAYERS, startPaid } from './paid-call.ts'
import { HONO_PEER } from './payment-challenge.ts'
import { CALL } from './payments.ts'
import { figures, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, startEcho, startServer, withFolder } from './server-process.ts'

const BASELINE = fileURLToPath(new URL('baseline.json', import.meta.url))

/** Share by which a figure may be worse than the baseline. */
const TOLERANCE = 0.15

/** Payments that are signed for each second of a run: more than either server takes. */
const PAID_PER_S = 4_000
const PEER_PER_S = 1_500

/** The figures: a ratio of processor times is better when larger; bytes are better when fewer. */
const MEASURES = {
  free_echo: 'free call, against the echo',
  challenge_hono: '402, against @x402/hono',
  paid_hono: 'paid call, against @x402/hono with its facilitator in process',
  mcp_sdk: 'MCP tools/call, against the SDK with 67 tools',
  standard_brief: 'free call, against the same with X-Detail: brief',
  promoted_bytes: 'bytes of a free call that outlive a young collection',
} as const

type Measure = keyof typeof MEASURES
type Found = Record<Measure, number>

interface Baseline {
  /** Day of the figures. */
  date: string
  figures: Found
}

/** Measures, and once more what is worse than the baseline. `raise` writes figures that are better into the baseline. */
export async function gate(given: RunOptions): Promise<SuiteReport> {
  const options = { ...given, generator: 'own' } as const
  const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline
  const first = await measureAll(options)
  const is_worse = worseThan(baseline, first).length > 0
  const found = is_worse ? better(first, await measureAll(options)) : first
  const worse = worseThan(baseline, found)
  if (worse.length > 0) process.exitCode = 1
  if (options.raise === true) raise(baseline, found)
  return {
    title: 'Gate of the hot path',
    method: [
      `Ratios of processor time per call, medians of ${options.rounds} alternating rounds of ${options.seconds} s; larger is better, but for bytes. A figure that is more than ${TOLERANCE * 100} % worse than bench/baseline.json fails the run.`,
    ],
    header: ['measure', 'baseline', 'now', ''],
    rows: measures().map((one) => [
      MEASURES[one],
      figures(baseline.figures[one]),
      figures(found[one]),
      worse.includes(one) ? 'WORSE' : 'holds',
    ]),
    gates: [],
    notes: is_worse ? ['A figure was worse at first, so everything was measured twice; the better of both counts.'] : [],
  }
}

function measures(): Measure[] {
  return Object.keys(MEASURES) as Measure[]
}

/** Returns the factor by which `found` is better than `than`; below 1, it is worse. */
function gain(one: Measure, found: Found, than: Found): number {
  return one === 'promoted_bytes' ? than[one] / found[one] : found[one] / than[one]
}

function worseThan({ figures: than }: Baseline, found: Found): Measure[] {
  return measures().filter((one) => !(gain(one, found, than) >= 1 - TOLERANCE))
}

function better(one: Found, other: Found): Found {
  const pick = (measure: Measure) => (gain(measure, one, other) >= 1 ? one[measure] : other[measure])
  return Object.fromEntries(measures().map((measure) => [measure, pick(measure)])) as Found
}

function raise(baseline: Baseline, found: Found): void {
  const raised = better(baseline.figures, found)
  const rounded = Object.fromEntries(measures().map((one) => [one, Number(raised[one].toPrecision(3))])) as Found
  const next: Baseline = { date: new Date().toISOString().slice(0, 10), figures: rounded }
  writeFileSync(BASELINE, `${JSON.stringify(next, null, 2)}\n`)
}

async function measureAll(options: RunOptions): Promise<Found> {
  const ratios = await withFolder((folder) => measureRatios(folder, options))
  return { ...ratios, promoted_bytes: await promotedBytes(options.seconds) }
}

async function measureRatios(folder: string, options: RunOptions): Promise<Omit<Found, 'promoted_bytes'>> {
  const servers = {
    echo: await startEcho(),
    free: await startAssay(join(folder, 'free')),
    unpaid: await startAssay(join(folder, 'unpaid'), { ASSAY_FREE_DAILY: '0' }),
    paid: await startPaid(join(folder, 'paid')),
    hono: await startServer([HONO_PEER], {}),
    sdk: await startServer([MCP_PEER], {}),
  }
  try {
    const payers = await newPayers(PAYERS)
    const call = { ...CALL, bodies: PASTED_IBANS.map(callBody) }
    const brief = { ...call, headers: { ...call.headers, 'x-detail': 'brief' } }
    const all = await duel(
      [
        { name: 'echo', server: servers.echo, request: call },
        { name: 'free call', server: servers.free, request: call },
        { name: 'free call, brief', server: servers.free, request: brief },
        { name: '@x402/hono, 402', server: servers.hono, request: CALL, status: 402 },
        { name: '402', server: servers.unpaid, request: CALL, status: 402 },
        payingContender('@x402/hono, paid', servers.hono, payers, join(folder, 'of-hono'), PEER_PER_S),
        payingContender('paid call', servers.paid, payers, join(folder, 'of-assay'), PAID_PER_S),
        {
          name: 'SDK, 67 tools',
          server: servers.sdk,
          request: { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban, note: '' })) },
        },
        { name: 'MCP', server: servers.free, request: { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban })) } },
      ] as const,
      options,
    )
    assertAllAnswered(all)
    const [echo, free, brief_call, hono_402, unpaid, hono_paid, paid, sdk, mcp] = all
    return {
      free_echo: ratio(echo, free),
      challenge_hono: ratio(hono_402, unpaid),
      paid_hono: ratio(hono_paid, paid),
      mcp_sdk: ratio(sdk, mcp),
      standard_brief: ratio(free, brief_call),
    }
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  }
}

function ratio(peer: Standing, own: Standing): number {
  const found = cpuRatio([peer, own])
  if (found === null) throw new Error('The processor time of a server process cannot be read here (it needs /proc).')
  return found
}
