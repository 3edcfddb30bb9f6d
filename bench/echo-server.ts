/**
 * The yardstick: what Node's own HTTP server needs for the bare minimum of a call. Reads a JSON body from plain events, parses it, builds
 * an answer of about 652 bytes around a value of it, and sends it with its length. No routing, no checks, no store, no signature.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const [first] = chunks
    const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
    const body = answer(JSON.parse(bytes.toString()) as { input?: { iban?: string } })
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})

function answer(given: { input?: { iban?: string } }): string {
  const iban = given.input?.iban ?? ''
  return JSON.stringify({
    valid: true,
    iban,
    country: iban.slice(0, 2),
    length: iban.length,
    parts: { check: iban.slice(2, 4), bank: iban.slice(4, 8), account: iban.slice(8) },
    findings: [],
    tier: 'free',
    allowance: { limit: 3, remaining: 2, resets_at: '2026-01-01T00:00:00Z' },
    padding: PADDING,
  })
}

/** Brings the answer to its size for an IBAN of 22 characters. */
const PADDING = '.'.repeat(384)

server.listen(0, '127.0.0.1', () => process.stderr.write(`echo listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
