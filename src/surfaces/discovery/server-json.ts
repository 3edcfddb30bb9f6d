import { markedName } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** `/.well-known/server.json`: the entry of the MCP registry for this deployment, in the registry's format of 2025-12-11. */
export function serverJson(deps: AppDeps) {
  const { mcp_url, site_url } = deps.origins
  return {
    $schema: SCHEMA,
    name: `${reverseDomain(mcp_url)}/assay`,
    title: markedName(deps),
    // The registry takes at most 100 characters.
    description: 'Deterministic identifier and document checks with signed receipts that verify offline.',
    version: deps.version,
    websiteUrl: site_url,
    remotes: [{ type: 'streamable-http', url: `${mcp_url}/mcp` }],
  }
}

/** The namespace under which the owner of a host may publish; a host without a domain has none, and gets one that nobody can own. */
export function reverseDomain(origin: string): string {
  const host = new URL(origin).hostname
  // The last label of a domain is never a number, so this leaves out addresses.
  return /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(host) ? host.split('.').toReversed().join('.') : 'localhost'
}
