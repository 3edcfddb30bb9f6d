import { markedName, modeMark, SUMMARY } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { toolList } from '../mcp/list.ts'
import { PREFLIGHT_METHOD } from '../mcp/preflight-message.ts'
import { HANDSHAKE_VERSIONS, STATELESS_VERSION } from '../mcp/versions.ts'

/** `/.well-known/mcp.json`: where the MCP endpoint is, what it offers, and which key signs its receipts. */
export function mcpManifest(deps: AppDeps) {
  const receipt_signing_address = deps.call.stamp.signer.address
  return {
    name: 'assay',
    version: deps.version,
    description: SUMMARY,
    mode: deps.mode,
    notice: modeMark(deps),
    endpoint: `${deps.origins.mcp_url}/mcp`,
    transport: 'streamable-http',
    protocol_versions: [...HANDSHAKE_VERSIONS.toReversed(), STATELESS_VERSION],
    receipt_signing_address,
    receipts: { receipt_spec: 'XDR-1', receipt_signing_address, keys_url: `${deps.origins.api_url}/.well-known/xdr-1.json` },
    methods: [
      {
        name: PREFLIGHT_METHOD,
        description: 'Free, no receipt: checks a document of an agent-commerce protocol. params are the body of POST /v1/protocols/check.',
        documentation: `${deps.origins.base_url}/v1/protocols/openapi.json`,
      },
    ],
    // Output schemas are in tools/list; here they would double the size.
    tools: toolList(deps.call.catalogue.tools, deps.schemas).map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      title,
      description,
      inputSchema,
      annotations,
    })),
  }
}

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
