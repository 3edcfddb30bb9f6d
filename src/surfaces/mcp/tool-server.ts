import { ProtocolError, Server, type CallToolResult, type Implementation, type Tool as ListedTool } from '@modelcontextprotocol/server'
import type { CallParams, ResultMeta, ToolReply } from './tool-call.ts'
import { HANDSHAKE_VERSIONS } from './versions.ts'

/** How long a client of 2026-07-28 may keep what it was told of the service: it changes only with a new release. */
const CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const

/** JSON-RPC 2.0, 5.1. */
const INVALID_PARAMS = -32602

/** A server of tools, whatever carries its messages. */
export interface ToolServerParts {
  identity: Implementation
  instructions: string
  listed(): ListedTool[]
  call(params: CallParams & { readonly arguments?: unknown }): Promise<ToolReply>
}

export function createToolServer({ identity, instructions, listed, call }: ToolServerParts): Server {
  const server = new Server(identity, {
    capabilities: { tools: {} },
    instructions,
    // The stateless revision is added by the package's handler for it.
    supportedProtocolVersions: HANDSHAKE_VERSIONS,
    cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
  })
  server.setRequestHandler('tools/list', ({ params }) => {
    // MCP, pagination, error handling: a cursor that nobody handed out.
    if (params?.cursor !== undefined) throw new ProtocolError(INVALID_PARAMS, 'The list is one page: ask for it without a cursor.')
    return { tools: listed() }
  })
  server.setRequestHandler('tools/call', async ({ params }) => toolResult(await call(params)))
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
      // Older clients hold structured content against the output schema even when the result is an error; that schema admits terms alone.
      return withMeta(reply.meta, {
        content: [{ type: 'text', text: reply.text }],
        ...(reply.has_terms === true ? { structuredContent: JSON.parse(reply.text) as Record<string, unknown> } : {}),
        isError: true,
      })
    case 'error':
      throw new ProtocolError(reply.error.code, reply.error.message, reply.error.data)
  }
}

function withMeta(meta: ResultMeta | null, result: CallToolResult): CallToolResult {
  return meta === null ? result : { ...result, _meta: meta }
}
