import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
  type Implementation,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
import { callTool, type McpExchange, type ResultMeta, type ToolCalls, type ToolReply } from './tool-call.ts'
import { HANDSHAKE_VERSIONS } from './versions.ts'

/** How long a client of 2026-07-28 may keep what it was told of the service: it changes only with a new release. */
const CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const

export interface ProtocolParts {
  identity: Implementation
  instructions: string
  tools: ListedTool[]
  calls: ToolCalls
}

/** Answers one message by the official package, both eras of the protocol, without a session: each message meets a server of its own. */
export function createProtocol(parts: ProtocolParts): (request: Request, exchange: McpExchange) => Promise<Response> {
  const exchanges = new WeakMap<Request, McpExchange>()
  const serverFor = (request: Request | undefined) => createServer(parts, request && exchanges.get(request))
  const stateless = createMcpHandler(({ requestInfo }) => serverFor(requestInfo), { legacy: 'reject' })
  return async (request, exchange) => {
    const { value } = exchange.message
    exchanges.set(request, exchange)
    // Batches ended with 2025-06-18, the oldest revision served here; the stateless handler refuses them.
    const handshake = !Array.isArray(value) && (await isLegacyRequest(request, value))
    return handshake ? answerHandshakeEra(serverFor(request), request, value) : stateless.fetch(request, { parsedBody: value })
  }
}

/** One JSON answer instead of an event stream: nothing is ever sent before the result. */
async function answerHandshakeEra(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

function createServer({ identity, instructions, tools, calls }: ProtocolParts, exchange: McpExchange | undefined): Server {
  const server = new Server(identity, {
    capabilities: { tools: {} },
    instructions,
    // The stateless revision is added by the package's handler for it.
    supportedProtocolVersions: HANDSHAKE_VERSIONS,
    cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
  })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    if (exchange === undefined) throw new Error('a server was asked without its exchange')
    return toolResult(await callTool(calls, params, exchange))
  })
  return server
}

/** Clients that drop structured content, as payment wrappers do, read the same answer, receipt included, from the text. */
function toolResult(reply: ToolReply): CallToolResult {
  switch (reply.kind) {
    case 'answer':
      return withMeta(reply.meta, {
        content: [{ type: 'text', text: reply.text }],
        structuredContent: JSON.parse(reply.text) as Record<string, unknown>,
      })
    case 'problem':
      // No structured content: older clients hold it against the output schema even when the result is an error.
      return withMeta(reply.meta, { content: [{ type: 'text', text: reply.text }], isError: true })
    case 'error':
      throw new ProtocolError(reply.error.code, reply.error.message, reply.error.data)
  }
}

function withMeta(meta: ResultMeta | null, result: CallToolResult): CallToolResult {
  return meta === null ? result : { ...result, _meta: meta }
}
