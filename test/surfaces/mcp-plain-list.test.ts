import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPlainLists, createProtocol } from '../../src/surfaces/mcp/routes.ts'
import type { McpExchange } from '../../src/surfaces/mcp/tool-call.ts'
import type { ToolView } from '../../src/surfaces/mcp/tool-list.ts'
import { runs, SEED } from '../support/counts.ts'
import { MCP_VERSIONS, mcpRequest } from '../support/mcp.ts'
import { openJsonBody } from '../../src/surfaces/http/body.ts'

/** `tools/list` as it was written once, against the official package, which writes it anew for each message. */

const IDENTITY = { name: 'assay', title: 'assay', version: '1.2.3', websiteUrl: 'http://127.0.0.1:1' }
const viewOf = (...names: string[]): ToolView => ({
  listed: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
  find: null,
  page: 100,
})
const VIEWS = [viewOf('iban-check', 'é"\u2028'), viewOf()]

function ways() {
  const calls = {
    catalogue: { find: () => undefined },
    schemas: new Map(),
    serve: assert.fail,
    api_url: 'http://127.0.0.1:1',
    words: assert.fail as never,
    onFault: assert.fail,
  }
  const official = createProtocol({ identity: IDENTITY, instructions: 'none', tools: [], calls })
  let asked = 0
  const counted: typeof official = (request, exchange) => {
    asked++
    return official(request, exchange)
  }
  return { official, plain: createPlainLists(counted), asked: () => asked }
}

function exchangeOf(message: unknown, headers: Record<string, string>, view?: ToolView): { request: Request; exchange: McpExchange } {
  const body = JSON.stringify(message)
  const request = new Request('http://127.0.0.1:1/mcp', { method: 'POST', headers, body })
  const bounds = { depth: 65, nodes: 20_256, unsafe_numbers: 'refuse' } as const
  const bytes = new TextEncoder().encode(body)
  const read = { kind: 'whole', value: message, body_bytes: bytes.length, json: openJsonBody(bytes, [bounds]) } as const
  const seen = view === undefined ? {} : { view }
  return {
    request,
    exchange: { message: read, request_id: 'r', address: '198.51.100.1', header: (name) => request.headers.get(name), ...seen },
  }
}

async function shown(response: Response) {
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('each list of each version is written once, and sent with the id of each message', async () => {
  const { official, plain, asked } = ways()
  for (const version of Object.keys(MCP_VERSIONS)) {
    for (const view of VIEWS) {
      for (const id of [1, 0, -7, 'a"b', 2]) {
        const { message, headers } = mcpRequest(version, 'tools/list', {}, id)
        const { request, exchange } = exchangeOf(message, headers, view)
        const short = await plain(request, exchange)
        assert.ok(short !== null)
        const again = exchangeOf(message, headers, view)
        assert.deepEqual(await shown(short), await shown(await official(again.request, again.exchange)), `${version} ${id}`)
      }
    }
  }
  // Two lists, two eras of the protocol.
  assert.equal(asked(), 4)
})

const VALUE = fc.constantFrom(undefined, null, true, 1, 1.5, '', 'x', '2026-07-28', 'tools/list', 'tools/call', [], {}, { cursor: 'x' })
const KEY = fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'extra')
const PARAM = fc.constantFrom('cursor', '_meta', 'name', 'extra')
const HEADER = fc.constantFrom('accept', 'mcp-name', 'mcp-method', 'mcp-protocol-version')

test('a message that is unusual in any way is left to the official package, or answered just as it does', async () => {
  const { official, plain } = ways()
  const change = fc.oneof(
    fc.record({ place: fc.constant('message' as const), key: KEY, value: VALUE }),
    fc.record({ place: fc.constant('params' as const), key: PARAM, value: VALUE }),
    fc.record({ place: fc.constant('headers' as const), key: HEADER, value: VALUE }),
  )
  let taken = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(MCP_VERSIONS)),
      fc.constantFrom(...VIEWS, undefined),
      fc.array(change, { maxLength: 2 }),
      async (version, view, changes) => {
        const made = mcpRequest(version, 'tools/list')
        const message: Record<string, unknown> = structuredClone(made.message)
        const places = {
          message,
          params: message['params'] as Record<string, unknown>,
          headers: { ...made.headers } as Record<string, unknown>,
        }
        for (const { place, key, value } of changes) {
          if (value === undefined || (place === 'headers' && typeof value !== 'string')) delete places[place][key]
          else places[place][key] = value
        }
        const headers = places.headers as Record<string, string>
        const { request, exchange } = exchangeOf(message, headers, view)
        const short = await plain(request, exchange)
        if (short === null) return
        taken++
        const again = exchangeOf(message, headers, view)
        assert.deepEqual(await shown(short), await shown(await official(again.request, again.exchange)))
      },
    ),
    { numRuns: runs(400, 10_000), seed: SEED },
  )
  assert.ok(taken > runs(400, 10_000) / 10, `only ${taken} took the plain way`)
})
