import type { SpecReference } from '../rule.ts'

type Page =
  | 'basic'
  | 'basic/transports/streamable-http'
  | 'schema'
  | 'server/tools'
  | 'server/resources'
  | 'server/prompts'
  | 'server/utilities/completion'
  | 'server/utilities/pagination'

/** A heading of a page of the specification as published for 2026-07-28. */
export function mcpSpec(page: Page, section: string): SpecReference {
  return { url: `https://modelcontextprotocol.io/specification/2026-07-28/${page}`, section }
}

/** A page of the newest version that still had the handshake. */
export const LIFECYCLE: SpecReference = {
  url: 'https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle',
  section: 'Initialization',
}

export const BATCHES: SpecReference = {
  url: 'https://modelcontextprotocol.io/specification/2025-03-26/basic',
  section: 'Batching',
}

export const CHANGES: SpecReference = {
  url: 'https://modelcontextprotocol.io/specification/2025-06-18/changelog',
  section: 'Major changes',
}

export const JSON_RPC: SpecReference = { url: 'https://www.jsonrpc.org/specification', section: '5' }

export function jsonSchema(part: 'core' | 'validation', section: string): SpecReference {
  return { url: `https://json-schema.org/draft/2020-12/json-schema-${part}`, section }
}

export const X402_OVER_MCP: SpecReference = {
  url: 'https://github.com/coinbase/x402/blob/main/specs/transports-v2/mcp.md',
  section: 'Payment Required Signaling',
}

/** Versions before the schema had a page of its own. */
const WITHOUT_SCHEMA_PAGE: ReadonlySet<string> = new Set(['2025-03-26', '2024-11-05'])

/** The same page as published for another version. Pages about the change of one version stay as they are. */
export function mcpSpecAt(spec: SpecReference, version: string): SpecReference {
  const { url, section } = spec
  if (url === LIFECYCLE.url && version < '2025-11-25') return { url: url.replace('2025-11-25', version), section }
  if (!url.includes('/specification/2026-07-28/') || version === '2026-07-28') return spec
  if (url.endsWith('/schema') && WITHOUT_SCHEMA_PAGE.has(version))
    return { url: `https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/${version}/schema.ts`, section }
  return { url: url.replace('2026-07-28', version).replace('/transports/streamable-http', '/transports'), section }
}
