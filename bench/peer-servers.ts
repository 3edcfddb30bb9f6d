import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assertAnswers, publishedKeys } from './call-requests.ts'
import { assertAllAnswered, duel, limitNotes, samplesOf, type Contender, type Standing } from './duel.ts'
import { peerName } from './install-peers.ts'
import { assertPeerAnswers, MCP_PEER, MCP_REQUEST, mcpBodies, structured } from './mcp.ts'
import { assertPaid, FACILITATOR, OWN_PER_S, PAYERS, payingContender, PEER_PER_S, startPaid } from './paid-call.ts'
import { HONO_PEER } from './payment-challenge.ts'
import { newPayers } from '../test/support/bulk-payments.ts'
import { CALL } from './payments.ts'
import type { PeerRow } from './peer-row.ts'
import type { RunOptions } from './report.ts'
import { startAssay, startEcho, startServer, withFolder, type Core, type ServerProcess } from './server-process.ts'

const EXPRESS_PEER = fileURLToPath(new URL('peers/x402-express-server.ts', import.meta.url))

export interface Contest {
  rows: PeerRow[]
  notes: string[]
}

/** Contenders by key, in the order of a round. */
type Field = Record<string, Contender>

/** All servers, ours among them, one after the other on one core, round after round. */
export function servers(options: RunOptions): Promise<Contest> {
  return withFolder(async (folder) => {
    const running: ServerProcess[] = []
    const up = async (server: Promise<ServerProcess>) => {
      const started = await server
      running.push(started)
      return started
    }
    try {
      const field = await fieldOf(folder, up)
      // No payment may be sent twice, and only the generator of this folder can do that: so it loads everybody.
      const standings = await fight(field, { ...options, generator: 'own' })
      const verified = await assertRight(field, standings)
      return {
        rows: serverRows(standings),
        notes: [`${verified} answers of the service were verified.`, ...limitNotes([...standings.values()])],
      }
    } finally {
      await Promise.all(running.map((server) => server.stop()))
    }
  })
}

type Up = (server: Promise<ServerProcess>) => Promise<ServerProcess>

async function fieldOf(folder: string, up: Up): Promise<Field> {
  const payers = await newPayers(PAYERS)
  const assay = await up(startAssay(join(folder, 'free')))
  const [hono, express] = [await up(startServer([HONO_PEER], {})), await up(startServer([EXPRESS_PEER], {}))]
  const mcp = { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban, note: '' })) }
  const sdk = async (tools: string) => ({
    name: `MCP SDK, ${tools === '1' ? '1 tool' : `${tools} tools`}`,
    server: await up(startServer([MCP_PEER], { TOOLS: tools })),
    request: mcp,
  })
  const unpaid = (name: string, server: ServerProcess) => ({ name, server, request: CALL, status: 402 })
  const paid = (name: string, server: ServerProcess, per_s: number) =>
    payingContender(name, server, payers, join(folder, 'payments'), per_s)
  const facilitator = await up(startServer([FACILITATOR], {}, 'generator'))
  const remote = { FACILITATOR_URL: `http://127.0.0.1:${facilitator.port}` }
  return {
    echo: { name: 'bare echo', server: await up(startEcho()), request: CALL },
    free: { name: 'assay, free call', server: assay, request: CALL },
    sdk_one: await sdk('1'),
    sdk_all: await sdk('67'),
    mcp: { name: 'assay, tools/call', server: assay, request: { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban })) } },
    hono_402: unpaid('@x402/hono, 402', hono),
    express_402: unpaid('@x402/express, 402', express),
    unpaid: unpaid('assay, 402', await up(startAssay(join(folder, 'unpaid'), { ASSAY_FREE_DAILY: '0' }))),
    hono_paid: paid('@x402/hono, paid', hono, PEER_PER_S),
    express_paid: paid('@x402/express, paid', express, PEER_PER_S),
    remote_paid: paid('@x402/hono, paid, facilitator over HTTP', await up(startServer([HONO_PEER], remote)), PEER_PER_S),
    paid: paid('assay, paid', await up(startPaid(join(folder, 'paid'))), OWN_PER_S),
  }
}

async function fight(field: Field, options: RunOptions): Promise<Map<string, Standing>> {
  const found = await duel(Object.values(field), options)
  assertAllAnswered(found)
  const keys = Object.keys(field)
  return new Map(found.map((one, index) => [keys[index] ?? '', one]))
}

/** Throws unless the answers taken out of the load are right. Returns how many of ours were read. */
async function assertRight(field: Field, standings: ReadonlyMap<string, Standing>): Promise<number> {
  const samples = async (key: string) => samplesOf(of(field, key), standing(standings, key))
  for (const peer of ['sdk_one', 'sdk_all']) assertPeerAnswers(await samples(peer))
  const paid = await samples('paid')
  paid.forEach(assertPaid)
  const keys = async (key: string) => publishedKeys(of(field, key).server.port)
  const read = (text: string) => JSON.parse(text) as unknown
  return (
    assertAnswers(await samples('free'), read, await keys('free')) +
    assertAnswers(await samples('mcp'), structured, await keys('mcp')) +
    assertAnswers(paid, read, await keys('paid'))
  )
}

function serverRows(standings: ReadonlyMap<string, Standing>): PeerRow[] {
  const row = (work: string, ours: string, theirs: string, peer: string) =>
    standingRow(work, peer, standing(standings, ours), standing(standings, theirs))
  const [hono, express, sdk] = [
    peerName('@x402/hono'),
    peerName('@x402/express'),
    `MCP SDK ${peerName('@modelcontextprotocol/sdk').split(' ')[1] ?? ''}`,
  ]
  return [
    row('free call, counted and signed', 'free', 'echo', 'bare node:http echo'),
    row('402 with terms', 'unpaid', 'hono_402', hono),
    row('402 with terms', 'unpaid', 'express_402', express),
    row('paid call, chain left out', 'paid', 'hono_paid', `${hono}, facilitator in process (viem)`),
    row('paid call, chain left out', 'paid', 'express_paid', `${express}, facilitator in process (viem)`),
    row('paid call, chain left out', 'paid', 'remote_paid', `${hono}, facilitator over HTTP (viem)`),
    row('MCP tools/call, counted and signed', 'mcp', 'sdk_one', `${sdk}, 1 tool`),
    row('MCP tools/call, counted and signed', 'mcp', 'sdk_all', `${sdk}, 67 tools`),
  ]
}

/** The free call again, with servers and generator on all cores, so that the signing thread can have its own. */
export function freeCallOnAllCores(options: RunOptions): Promise<Contest> {
  const core: Core = 'any'
  return withFolder(async (folder) => {
    const [echo, assay] = [await startEcho(core), await startAssay(folder, {}, core)]
    try {
      const [bare, free] = await duel(
        [
          { name: 'bare echo, all cores', server: echo, request: CALL },
          { name: 'assay, free call, all cores', server: assay, request: CALL },
        ],
        options,
      )
      assertAllAnswered([bare, free])
      return { rows: [standingRow('free call, no core set apart', 'bare node:http echo', free, bare)], notes: [] }
    } finally {
      await Promise.all([echo.stop(), assay.stop()])
    }
  })
}

function standingRow(work: string, peer: string, ours: Standing, theirs: Standing): PeerRow {
  return {
    work,
    peer,
    unit: 'answers',
    ours_per_s: ours.answers_per_s,
    theirs_per_s: theirs.answers_per_s,
    ours_cpu_us: ours.cpu_us,
    theirs_cpu_us: theirs.cpu_us,
    p99_ms: { ours: ours.p99_ms, theirs: theirs.p99_ms },
  }
}

function standing(standings: ReadonlyMap<string, Standing>, key: string): Standing {
  return of(Object.fromEntries(standings), key)
}

function of<Value>(from: Readonly<Record<string, Value>>, key: string): Value {
  const found = from[key]
  if (found === undefined) throw new Error(`nothing was measured under ${key}`)
  return found
}
