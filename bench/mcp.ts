import { fileURLToPath } from 'node:url'
import { assertAnswers, PASTED_IBANS, publishedKeys } from './call-requests.ts'
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
import { atLeast, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, startServer, withFolder } from './server-process.ts'

export const MCP_PEER = fileURLToPath(new URL('peers/mcp-sdk-server.ts', import.meta.url))

export const MCP_REQUEST = {
  path: '/mcp',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
}

/** `tools/call` over HTTP, without a session, against a server of the official SDK 1.x with 67 tools. */
export function mcp(options: RunOptions): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const [peer, assay] = [await startServer([MCP_PEER], {}), await startAssay(folder)]
    try {
      const contenders = [
        {
          name: 'SDK 1.x, 67 tools, iban-check by hand',
          server: peer,
          request: { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban, note: '' })) },
        },
        { name: 'assay, tools/call of iban-check', server: assay, request: { ...MCP_REQUEST, bodies: mcpBodies((iban) => ({ iban })) } },
      ] as const
      const standings = await duel(contenders, options)
      assertAllAnswered(standings)
      assertPeerAnswers(await samplesOf(contenders[0], standings[0]))
      const verified = assertAnswers(await samplesOf(contenders[1], standings[1]), structured, await publishedKeys(assay.port))
      return report(standings, options, verified)
    } finally {
      await Promise.all([peer.stop(), assay.stop()])
    }
  })
}

export function mcpBodies(argumentsFor: (iban: string) => Record<string, string>): string[] {
  return PASTED_IBANS.map((iban) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'iban-check', arguments: argumentsFor(iban) } }),
  )
}

interface ToolAnswer {
  result?: { isError?: boolean; content?: { text?: string }[]; structuredContent?: unknown }
}

export function structured(text: string): unknown {
  return (JSON.parse(text) as ToolAnswer).result?.structuredContent
}

export function assertPeerAnswers(samples: readonly Sample[]): void {
  for (const { answer } of samples) {
    const { result } = JSON.parse(answer) as ToolAnswer
    const text = result?.content?.[0]?.text ?? '{}'
    if (result?.isError === true || (JSON.parse(text) as { valid?: unknown }).valid !== true)
      throw new Error(`The peer answers wrongly: ${answer.slice(0, 300)}`)
  }
}

function report(standings: Standings, options: RunOptions, verified: number): SuiteReport {
  return {
    title: 'MCP tools/call against the official SDK 1.x',
    method: [
      duelMethod(options),
      'Peer: express, for each request a new McpServer with 67 tools and a new transport (stateless, JSON answer), as the SDK documents it. It neither counts nor signs; the service does both.',
    ],
    header: DUEL_HEADER,
    rows: duelRows(standings),
    gates: [
      atLeast('answers/s, ratio to the SDK', answersRatio(standings), 2.5),
      atLeast('CPU per call, ratio to the SDK', cpuRatio(standings), 2.5),
    ],
    notes: [
      `${verified} answers of the service and as many of the peer were read and are right; the receipts verify.`,
      ...limitNotes(standings),
    ],
  }
}
