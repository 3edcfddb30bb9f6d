import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client'

/** The protocol versions that the service speaks, and how the official client is made to speak each. */
export const MCP_VERSIONS: Record<string, { mode: VersionNegotiationMode; known: string[] }> = {
  '2025-06-18': { mode: 'legacy', known: ['2025-06-18'] },
  '2025-11-25': { mode: 'legacy', known: ['2025-11-25', '2025-06-18'] },
  '2026-07-28': { mode: { pin: '2026-07-28' }, known: ['2026-07-28', '2025-11-25'] },
}

/** The official client, connected. */
export async function connectMcp(url: string, version: string, headers: Record<string, string> = {}, by = fetch): Promise<Client> {
  const { mode, known } = MCP_VERSIONS[version] ?? { mode: 'auto', known: [version] }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, supportedProtocolVersions: known })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers }, fetch: by }))
  return client
}

export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const META = 'io.modelcontextprotocol/'

/** What a message of 2026-07-28 says of its client. */
const ENVELOPE = {
  [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientInfo`]: { name: 'test', version: '1.0.0' },
  [`${META}clientCapabilities`]: {},
}

/** A message and its headers as a version wants them. */
export function mcpRequest(version: string, method: string, params: Record<string, unknown> = {}, id: string | number = 1) {
  const headers = { ...JSON_HEADERS, 'mcp-protocol-version': version }
  if (version !== '2026-07-28') return { headers, message: { jsonrpc: '2.0', id, method, params } }
  const meta = { ...ENVELOPE, ...(params['_meta'] as Record<string, unknown> | undefined) }
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  return {
    headers: { ...headers, 'mcp-method': method, ...name },
    message: { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
  }
}

export interface RawAnswer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

/** One POST as it stands. */
export async function postMcp(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_HEADERS,
): Promise<RawAnswer> {
  const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  }
}

/** The status of a POST with a Host of its own, which `fetch` would not send. */
export function statusForHost(url: string, host: string, headers: Record<string, string> = {}): Promise<number> {
  const { message } = mcpRequest('2025-11-25', 'ping')
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method: 'POST', headers: { ...JSON_HEADERS, ...headers, host } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(message))
  })
}

/** Names written as one text, parted by spaces. */
export function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
