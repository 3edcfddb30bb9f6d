import type { Server } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { limits } from '../../service/limits.ts'
import { readJsonBody, type OpenJson } from '../http/body.ts'
import type { Message } from '../json-rpc.ts'
import type { CallParams } from './tool-call.ts'

/**
 * MCP over standard input and output, one message per line, both protocol eras. Nothing else may be written to standard output meanwhile.
 * Resolves when the client closes its end.
 */
export async function serveOverStdio(server: () => Server, onFault: (error: Error) => void): Promise<void> {
  const closed = Promise.withResolvers<void>()
  process.stdin.once('close', closed.resolve)
  process.stdin.once('end', closed.resolve)
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: 2 * limits.document_body_bytes })
  const handle = serveStdio(server, { transport, onerror: onFault })
  await closed.promise
  await handle.close()
}

/**
 * Converts the params of a call to a message: serialized again, so that the limits of the tool apply. A duplicate key is not detected,
 * because the SDK's parser has already merged it.
 */
export function messageOf(params: CallParams): Message {
  const value = { params }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const within: OpenJson['within'] = (bounds) => readJsonBody(bytes, bounds)
  return { kind: 'whole', value, body_bytes: bytes.length, json: { text: '', within } }
}
