import type { Server } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { limits } from '../../service/limits.ts'
import { readJsonBody, type OpenJson } from '../http/json-body.ts'
import type { Message } from '../json-rpc.ts'
import type { CallParams } from './tool-call.ts'

/**
 * MCP over standard input and output, one message a line, both eras of the protocol. Nothing else may be written to standard output
 * meanwhile. Resolves when the other side has closed its end.
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
 * The params of a call as a message that is read like any other: written out once more and held against the bounds of the tool. What the
 * package's own reader has merged by then, a key that stood twice, is not seen.
 */
export function messageOf(params: CallParams): Message {
  const value = { params }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const within: OpenJson['within'] = (bounds) => readJsonBody(bytes, bounds)
  return { kind: 'whole', value, body_bytes: bytes.length, json: { text: '', within } }
}
