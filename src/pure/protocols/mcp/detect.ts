import { declaredVersion } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import type { Detection } from '../rule.ts'

/** Newest first. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

export const MCP_TYPES = [
  'initialize',
  'discover',
  'tools_list',
  'tool_result',
  'resources_list',
  'resource_templates_list',
  'resource_contents',
  'prompts_list',
  'prompt',
  'completion',
  'input_required',
  'error',
  'other',
  'batch',
] as const

type McpType = (typeof MCP_TYPES)[number]

type Version = Omit<Detection, 'type'>

const META = 'io.modelcontextprotocol/'

/** Whether a document is a JSON-RPC message, right or wrong, rather than the bare result of one. */
export function isEnvelope(document: Place): boolean {
  return ['jsonrpc', 'result', 'error', 'method'].some((name) => document.has(name))
}

/** What a message answers with; a document that is no message is its own result. */
export function resultOf(message: Place): Place {
  return isEnvelope(message) ? message.get('result') : message
}

/** Whether a document can be of no other protocol: a message that carries none of their bodies, or a result by its own members. */
export function isMcp(document: Place): boolean {
  if (document.kind === 'array') return document.items().some((item) => item.has('jsonrpc'))
  if (document.has('jsonrpc')) return !isOfAgents(document.get('result'))
  const first = (name: string) => document.get(name).items()[0]
  if (document.has('protocolVersion') && document.has('serverInfo')) return true
  if (document.get('supportedVersions').kind === 'array' && document.has('capabilities')) return true
  if (first('tools')?.has('inputSchema') === true || first('resourceTemplates')?.has('uriTemplate') === true) return true
  if (document.has('structuredContent') || first('content')?.has('type') === true) return true
  return first('messages')?.has('role') === true || document.down('completion', 'values').present
}

/** Cards, tasks and messages of A2A also travel in JSON-RPC. Tasks of MCP have their status as a text. */
function isOfAgents(result: Place): boolean {
  if (result.has('supportedInterfaces') || (result.has('skills') && result.has('url'))) return true
  const isOld = ['task', 'message'].includes(result.get('kind').text() ?? '')
  return isOld || result.down('task', 'status').kind === 'object' || result.down('message', 'messageId').present
}

export function detectMcp(document: Place): Detection {
  if (document.kind === 'array') return { type: 'batch', ...versionOfBatch(document) }
  const result = resultOf(document)
  if (document.has('error') && !document.has('result')) return { type: 'error', ...versionOfError(document.get('error')) }
  return { type: typeOf(result), ...versionOf(result) }
}

function typeOf(result: Place): McpType {
  const has = (...names: string[]) => names.some((name) => result.has(name))
  if (result.get('resultType').text() === 'input_required' || has('inputRequests')) return 'input_required'
  if (has('supportedVersions')) return 'discover'
  if (has('serverInfo')) return 'initialize'
  const [, type] = BY_MEMBER.find(([name]) => has(name)) ?? []
  if (type !== undefined) return type
  if (has('protocolVersion')) return 'initialize'
  return has('capabilities') ? (isNewest(result) ? 'discover' : 'initialize') : 'other'
}

const BY_MEMBER: readonly [string, McpType][] = [
  ['tools', 'tools_list'],
  ['content', 'tool_result'],
  ['structuredContent', 'tool_result'],
  ['isError', 'tool_result'],
  ['contents', 'resource_contents'],
  ['resources', 'resources_list'],
  ['resourceTemplates', 'resource_templates_list'],
  ['prompts', 'prompts_list'],
  ['messages', 'prompt'],
  ['completion', 'completion'],
]

/** What only 2026-07-28 has. */
function isNewest(result: Place): boolean {
  const meta = result.get('_meta')
  const names = ['resultType', 'ttlMs', 'cacheScope', 'supportedVersions', 'inputRequests', 'requestState']
  return names.some((name) => result.has(name)) || meta.has(`${META}serverInfo`) || meta.has(`${META}subscriptionId`)
}

/** What 2025-11-25 brought. */
function isNovember(result: Place): boolean {
  const entries = ['tools', 'resources', 'resourceTemplates', 'prompts'].flatMap((name) => result.get(name).items().slice(0, 100))
  return result.has('task') || entries.some((entry) => entry.has('icons') || entry.has('execution'))
}

/** A result says its version when it answers the handshake; elsewhere it may, and then it is believed. */
function declaredIn(result: Place): Version | null {
  const said = result.get('protocolVersion')
  const text = (said.present ? said : result.get('_meta').get(`${META}protocolVersion`)).text()
  const declared = declaredVersion(text, MCP_VERSIONS)
  // The handshake went with 2025-11-25; an answer to it follows the rules of a version that has one.
  if (declared?.version === '2026-07-28' && typeOf(result) === 'initialize')
    return { version: '2025-11-25', version_source: 'inferred', declared: text ?? '' }
  return declared
}

function versionOf(result: Place): Version {
  if (result.has('supportedVersions')) return versionOfDiscover(result.get('supportedVersions'))
  const declared = declaredIn(result)
  if (declared !== null) return declared
  if (isNewest(result)) return { version: '2026-07-28', version_source: 'inferred' }
  // Results of 2026-07-28 say their type; the newest that does not ask for it is the one before.
  return { version: '2025-11-25', version_source: isNovember(result) ? 'inferred' : 'assumed' }
}

/** Discovery came with 2026-07-28, whatever else the server speaks. */
function versionOfDiscover(versions: Place): Version {
  const isListed = versions.items().some((item) => item.text() === '2026-07-28')
  return { version: '2026-07-28', version_source: isListed ? 'declared' : 'inferred' }
}

/** Codes tell versions apart: three came with 2026-07-28, two went with it. */
function versionOfError(error: Place): Version {
  const declared = declaredIn(error.get('data'))
  if (declared !== null) return declared
  const code = error.get('code').number() ?? 0
  if ((code <= -32020 && code >= -32022) || isNewest(error.get('data'))) return { version: '2026-07-28', version_source: 'inferred' }
  if (code === -32002 || code === -32042) return { version: '2025-11-25', version_source: 'inferred' }
  return { version: '2026-07-28', version_source: 'assumed' }
}

/** Only 2025-03-26 has batches. */
function versionOfBatch(document: Place): Version {
  for (const item of document.items()) {
    const result = resultOf(item)
    const declared = declaredIn(result)
    if (declared !== null) return declared
    if (isNewest(result)) return { version: '2026-07-28', version_source: 'inferred' }
  }
  return { version: '2025-03-26', version_source: 'inferred' }
}
