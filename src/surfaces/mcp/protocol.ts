import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type Implementation,
  type Server,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
import { callTool, type McpExchange, type ToolCalls } from './tool-call.ts'
import { createToolServer } from './tool-server.ts'

export interface ProtocolParts {
  identity: Implementation
  instructions: string
  /** What is listed where an exchange has no view of its own. */
  tools?: ListedTool[]
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

function createServer({ identity, instructions, tools = [], calls }: ProtocolParts, exchange: McpExchange | undefined): Server {
  return createToolServer({
    identity,
    instructions,
    listed: () => exchange?.view?.listed ?? tools,
    call(params) {
      if (exchange === undefined) throw new Error('a server was asked without its exchange')
      return callTool(calls, params, exchange)
    },
  })
}
