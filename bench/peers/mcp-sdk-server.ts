/**
 * The peer of MCP: a stateless server as the official SDK 1.x documents it. Express with its JSON reader; for each request a new McpServer
 * with 67 tools, or as many as TOOLS says, and a new transport without sessions that answers in JSON. The called tool checks an IBAN in the
 * shortest way. It counts nothing, signs nothing and logs nothing. The shapes are built once, which spares the peer some work.
 */
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'
import { z } from 'zod'
import { ibanAnswer } from './iban.ts'

const TOOLS = Number(process.env['TOOLS'] ?? '67')
const SHAPE = { iban: z.string().describe('The IBAN.'), note: z.string().describe('Anything.') }
const CONFIG = { title: 'Check an IBAN', description: 'Checks country, length and check digits of an IBAN.', inputSchema: SHAPE }

const app = express()
app.use(express.json())
app.post('/mcp', async (request, response) => {
  const server = new McpServer({ name: 'peer', version: '1.0.0' })
  for (let number = 0; number < TOOLS; number++) server.registerTool(number === 0 ? 'iban-check' : `tool-${number}`, CONFIG, checkIban)
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on('close', () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
})

function checkIban({ iban, note }: { iban: string; note: string }) {
  return { content: [{ type: 'text' as const, text: JSON.stringify({ ...ibanAnswer(iban), note }) }] }
}

const listener = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`peer listens on http://127.0.0.1:${(listener.address() as AddressInfo).port}\n`)
})
