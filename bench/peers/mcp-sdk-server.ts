/**
 * The peer of the `mcp` suite: a stateless MCP server as the official SDK 1.x documents it. Express with its JSON reader; for each request
 * a new McpServer with 67 tools and a new transport without sessions that answers in JSON. The called tool checks an IBAN in the shortest
 * way. It counts nothing, signs nothing and logs nothing. The shapes are built once, which spares the peer some work.
 */
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'
import { z } from 'zod'

const TOOLS = 67
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

/** About as much text as the echo of the `free-call` suite answers. */
const PADDING = '.'.repeat(500)

function checkIban({ iban, note }: { iban: string; note: string }) {
  const normalized = iban.replaceAll(' ', '')
  const result = { valid: isIban(normalized), iban: normalized, country: normalized.slice(0, 2), note, padding: PADDING }
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }] }
}

function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(text)) return false
  let remainder = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}

const listener = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`peer listens on http://127.0.0.1:${(listener.address() as AddressInfo).port}\n`)
})
