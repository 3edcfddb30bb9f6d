import { readPointer } from '../../documents/json-schema/json.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { isJsonRpcRequest, type RuleContext, type Detection, type SpecReference, type DocumentReader } from '../protocol.ts'
import { declaredVersion, isDate } from '../kit/dates.ts'
import { isA2aExchange, isA2aRequest } from '../kit/a2a-messages.ts'
import { parseJsonText } from '../kit/json-text.ts'
import { containsRedaction } from '../kit/expect.ts'
import { inspectSchema } from '../kit/schema.ts'

/** One message, or a bare result. */
interface Message {
  cursor: JsonCursor
  /** True if it is a JSON-RPC message. */
  is_envelope: boolean
  result: JsonCursor
}

interface Tool {
  cursor: JsonCursor
  /** null if there is no object, something in it is redacted, or it is beyond a bound. */
  input: ToolSchema | null
  output: ToolSchema | null
}

/** The answer to a call of a tool. */
export interface ToolCall {
  cursor: JsonCursor
  structured: JsonCursor
  /** Content that is text. */
  texts: JsonCursor[]
  /** The JSON in each of them; absent where it is none. */
  values: JsonCursor[]
}

/** Parts of an answer that the rules of MCP read, collected once. */
export interface McpView {
  context: RuleContext
  document: JsonCursor
  messages: Message[]
  /** Results that are objects. */
  results: JsonCursor[]
  tools: Tool[]
  calls: ToolCall[]
  /** Content of answers and prompts: objects only. */
  blocks: JsonCursor[]
  /** Contents of resources, listed or embedded in content blocks. */
  contents: JsonCursor[]
  resources: JsonCursor[]
  templates: JsonCursor[]
  prompts: JsonCursor[]
  prompt_messages: JsonCursor[]
  /** Those who describe a server. */
  implementations: JsonCursor[]
}

/** Objects that may have icons. */
export function objectsWithIcons({ tools, resources, templates, prompts, implementations }: McpView): JsonCursor[] {
  return [...tools.map(({ cursor }) => cursor), ...resources, ...templates, ...prompts, ...implementations]
}

function collectMcpView(context: RuleContext): McpView {
  const { document } = context
  const messages = (document.kind === 'array' ? document.objects() : [document]).map((cursor) => ({
    cursor,
    is_envelope: document.kind === 'array' || isEnvelope(cursor),
    result: unwrapResult(cursor),
  }))
  const results = messages.map(({ result }) => result).filter(({ kind }) => kind === 'object')
  const listed = (name: string) => results.flatMap((result) => result.objects(name))
  const prompt_messages = listed('messages')
  const content = [...listed('content'), ...prompt_messages.map((message) => message.get('content'))]
  const blocks = content.filter(({ kind }) => kind === 'object')
  return {
    context,
    document,
    messages,
    results,
    tools: listed('tools').map((tool) => readTool(context, tool)),
    calls: results.filter(isCall).map(readCall),
    blocks,
    contents: [...listed('contents'), ...blocks.map((block) => block.get('resource')).filter(({ kind }) => kind === 'object')],
    resources: [...listed('resources'), ...blocks.filter((block) => block.text('type') === 'resource_link')],
    templates: listed('resourceTemplates'),
    prompts: listed('prompts'),
    prompt_messages,
    implementations: results
      .flatMap((result) => [result.get('serverInfo'), result.get('_meta', 'io.modelcontextprotocol/serverInfo')])
      .filter(({ kind }) => kind === 'object'),
  }
}

function readTool(context: RuleContext, cursor: JsonCursor): Tool {
  return { cursor, input: readSchema(context, cursor.get('inputSchema')), output: readSchema(context, cursor.get('outputSchema')) }
}

function isCall(result: JsonCursor): boolean {
  return !asksForInput(result) && ['content', 'structuredContent', 'isError'].some((name) => result.has(name))
}

/** Returns whether a result asks for input first. */
export function asksForInput(result: JsonCursor): boolean {
  return result.text('resultType') === 'input_required'
}

function readCall(cursor: JsonCursor): ToolCall {
  const blocks = cursor.objects('content').filter((block) => block.text('type') === 'text')
  const texts = blocks.map((block) => block.get('text'))
  return { cursor, structured: cursor.get('structuredContent'), texts, values: texts.map(parseJsonText) }
}

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

/** Returns whether a document is a JSON-RPC message, valid or not, rather than a bare result. */
function isEnvelope(document: JsonCursor): boolean {
  return ['jsonrpc', 'result', 'error', 'method'].some((name) => document.has(name))
}

/** The result of a message; a document that is not a message is its own result. */
function unwrapResult(message: JsonCursor): JsonCursor {
  return isEnvelope(message) ? message.get('result') : message
}

/** Returns whether a document can only be of MCP: a message without a body of another protocol, or a result with MCP's members. */
function isMcpDocument(document: JsonCursor): boolean {
  if (document.kind === 'array') return document.items().some((item) => item.has('jsonrpc'))
  if (document.has('jsonrpc')) return !isA2aDocument(document)
  const first = (name: string) => document.items(name)[0]
  if (document.has('protocolVersion') && document.has('serverInfo')) return true
  if (document.get('supportedVersions').kind === 'array' && document.has('capabilities')) return true
  if (first('tools')?.has('inputSchema') === true || first('resourceTemplates')?.has('uriTemplate') === true) return true
  if (document.has('structuredContent') || first('content')?.has('type') === true) return true
  return first('messages')?.has('role') === true || document.get('completion', 'values').present
}

/** Cards, tasks and messages of A2A also travel in JSON-RPC. */
function isA2aDocument(document: JsonCursor): boolean {
  const result = document.get('result')
  if (result.has('supportedInterfaces') || (result.has('skills') && result.has('url'))) return true
  return isA2aRequest(document) || isA2aExchange(result)
}

function detectMcp(document: JsonCursor): Detection {
  if (document.kind === 'array') {
    const isUnknown = document.items().some((item) => isUnknownResult(unwrapResult(item)))
    return { type: 'batch', ...detectBatchVersion(document), ...(isUnknown ? UNKNOWN : {}) }
  }
  const result = unwrapResult(document)
  if (document.has('error') && !document.has('result')) return { type: 'error', ...detectErrorVersion(document.get('error')) }
  return { type: detectType(result), ...detectVersion(result), ...(isUnknownResult(result) ? UNKNOWN : {}) }
}

const UNKNOWN = { outside: 'unknown' } as const

/** Members of every result, and of results about tasks, which no rule checks further. */
const GENERAL: ReadonlySet<string> = new Set(['_meta', 'resultType'])
const OF_TASKS = ['task', 'tasks', 'taskId']
/** Members that only lists and other cacheable results have; MCP-045 reports the missing list. */
const OF_LISTS = ['nextCursor', 'ttlMs', 'cacheScope']

/** Returns whether a result has members, and none by which results of any request are known. Extensions define further types of results. */
function isUnknownResult(result: JsonCursor): boolean {
  if (result.kind !== 'object' || detectType(result) !== 'other') return false
  const isExtension = !['complete', null].includes(result.text('resultType'))
  if (isExtension || [...OF_TASKS, ...OF_LISTS].some((name) => result.has(name))) return false
  return result.members().some(({ key }) => !GENERAL.has(key))
}

/** The first result of unknown shape; the document itself if there is none. */
function unknownResult(document: JsonCursor): JsonCursor {
  const messages = document.kind === 'array' ? document.items() : [document]
  return messages.map(unwrapResult).find(isUnknownResult) ?? document
}

/** Answers of clients to requests of servers: their roots, a sampled message, what a person entered. */
function isClientResult(document: JsonCursor): boolean {
  const result = unwrapResult(document)
  if (result.get('roots').kind === 'array' || (result.has('role') && result.has('content'))) return true
  return ['accept', 'decline', 'cancel'].includes(result.text('action') ?? '')
}

function isMcpRequest(document: JsonCursor): boolean {
  return isJsonRpcRequest(document) && !isA2aRequest(document)
}

function detectType(result: JsonCursor): McpType {
  const has = (...names: string[]) => names.some((name) => result.has(name))
  if (result.text('resultType') === 'input_required' || has('inputRequests')) return 'input_required'
  if (has('supportedVersions')) return 'discover'
  if (has('serverInfo')) return 'initialize'
  const [, type] = BY_MEMBER.find(([name]) => has(name)) ?? []
  if (type !== undefined) return type
  if (has('protocolVersion')) return 'initialize'
  return has('capabilities') ? (hasMembersOf202607(result) ? 'discover' : 'initialize') : 'other'
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

/** Returns whether a result has members that only 2026-07-28 has. */
function hasMembersOf202607(result: JsonCursor): boolean {
  const meta = result.get('_meta')
  const names = ['resultType', 'ttlMs', 'cacheScope', 'supportedVersions', 'inputRequests', 'requestState']
  return names.some((name) => result.has(name)) || meta.has(`${META}serverInfo`) || meta.has(`${META}subscriptionId`)
}

/** Returns whether a result has members that came with 2025-11-25. */
function hasMembersOf202511(result: JsonCursor): boolean {
  const entries = ['tools', 'resources', 'resourceTemplates', 'prompts'].flatMap((name) => result.items(name).slice(0, 100))
  return result.has('task') || entries.some((entry) => entry.has('icons') || entry.has('execution'))
}

/** A result says its version when it answers the handshake; elsewhere it may, and then it is believed. */
function readDeclaredVersion(result: JsonCursor): Version | null {
  const said = result.get('protocolVersion')
  const text = (said.present ? said : result.get('_meta').get(`${META}protocolVersion`)).text()
  const declared = declaredVersion(text, MCP_VERSIONS)
  // The handshake went with 2025-11-25; an answer to it follows the rules of a version that has one.
  if (declared?.outside === 'future' && detectType(result) === 'initialize') return { ...declared, version: '2025-11-25' }
  if (declared?.version === '2026-07-28' && detectType(result) === 'initialize')
    return { version: '2025-11-25', version_source: 'inferred', declared: text ?? '' }
  return declared
}

function detectVersion(result: JsonCursor): Version {
  if (result.has('supportedVersions')) return detectDiscoverVersion(result.get('supportedVersions'))
  const declared = readDeclaredVersion(result)
  if (declared !== null) return declared
  if (hasMembersOf202607(result)) return { version: '2026-07-28', version_source: 'inferred' }
  // Results of 2026-07-28 say their type; the newest that does not ask for it is the one before.
  return { version: '2025-11-25', version_source: hasMembersOf202511(result) ? 'inferred' : 'assumed' }
}

/** Discovery exists only since 2026-07-28, even if the server also supports older versions. */
function detectDiscoverVersion(versions: JsonCursor): Version {
  const texts = versions.items().map((item) => item.text())
  const isListed = texts.includes('2026-07-28')
  const newer = texts.find((text) => text !== null && isDate(text) && text > '2026-07-28')
  if (!isListed && newer !== undefined && newer !== null)
    return { version: '2026-07-28', version_source: 'declared', declared: newer, outside: 'future' }
  return { version: '2026-07-28', version_source: isListed ? 'declared' : 'inferred' }
}

/** Infers the version from the code: 2026-07-28 added three codes and removed two. */
function detectErrorVersion(error: JsonCursor): Version {
  const declared = readDeclaredVersion(error.get('data'))
  if (declared !== null) return declared
  const code = error.number('code') ?? 0
  if ((code <= -32020 && code >= -32022) || hasMembersOf202607(error.get('data')))
    return { version: '2026-07-28', version_source: 'inferred' }
  if (code === -32002 || code === -32042) return { version: '2025-11-25', version_source: 'inferred' }
  return { version: '2026-07-28', version_source: 'assumed' }
}

/** Only 2025-03-26 has batches. */
function detectBatchVersion(document: JsonCursor): Version {
  for (const item of document.items()) {
    const result = unwrapResult(item)
    const declared = readDeclaredVersion(result)
    if (declared !== null) return declared
    if (hasMembersOf202607(result)) return { version: '2026-07-28', version_source: 'inferred' }
  }
  return { version: '2025-03-26', version_source: 'inferred' }
}

/** A keyword that is invalid in its draft, with its position. */
interface SchemaFault {
  cursor: JsonCursor
  keyword: string
  /** Steps from the root of the schema. */
  depth: number
}

/** The schema of a tool, and what is wrong with it by itself, sorted by the rule that speaks of it. */
export interface ToolSchema {
  cursor: JsonCursor
  /** `properties` that is not a map of schemas. */
  properties: SchemaFault[]
  /** `required` that is not a list of distinct names. */
  required: SchemaFault[]
  /** References to nothing within the schema. */
  references: SchemaFault[]
  /** Other invalid keywords. */
  others: SchemaFault[]
  /** True if the dialect is supported. */
  is_known_dialect: boolean
}

/** Checks a schema without data. null if it is not an object, contains redacted values or exceeds a bound. */
function readSchema(context: RuleContext, cursor: JsonCursor): ToolSchema | null {
  if (cursor.kind !== 'object') return null
  if (containsRedaction(cursor)) {
    context.addNotChecked('schemas with redacted parts')
    return null
  }
  const check = inspectSchema(context, cursor)
  if (check === null) return null
  const schema: ToolSchema = { cursor, properties: [], required: [], references: [], others: [], is_known_dialect: true }
  for (const { schema_path, keyword } of check.findings) {
    const fault = makeFault(cursor, schema_path, keyword)
    if (keyword === 'properties') schema.properties.push(fault)
    else if (keyword === 'required') schema.required.push(fault)
    else schema.others.push(fault)
  }
  for (const { code, schema_path, keyword } of check.unsupported) {
    if (code === 'ref_unresolvable') schema.references.push(makeFault(cursor, schema_path, keyword))
    else if (code === 'pattern_invalid') schema.others.push(makeFault(cursor, schema_path, keyword))
    else if (code === 'dialect_unknown' || code === 'vocabulary_unknown') schema.is_known_dialect = false
    else context.addNotChecked('schemas, and patterns in them, that are beyond the reader')
  }
  return schema
}

function makeFault(schema: JsonCursor, pointer: string, keyword: string | null): SchemaFault {
  const steps = readPointer(pointer)
  let cursor = schema
  for (const key of steps) {
    cursor = (cursor.kind === 'array' ? cursor.items()[Number(key)] : undefined) ?? cursor.get(key)
  }
  return { cursor, keyword: keyword ?? '', depth: steps.length }
}

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

/** Versions without a schema page. */
const WITHOUT_SCHEMA_PAGE: ReadonlySet<string> = new Set(['2025-03-26', '2024-11-05'])

/** The same page as published for another version. Pages about the change of one version stay as they are. */
function mcpSpecAt(spec: SpecReference, version: string): SpecReference {
  const { url, section } = spec
  if (url === LIFECYCLE.url && version < '2025-11-25') return { url: url.replace('2025-11-25', version), section }
  if (!url.includes('/specification/2026-07-28/') || version === '2026-07-28') return spec
  if (url.endsWith('/schema') && WITHOUT_SCHEMA_PAGE.has(version))
    return { url: `https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/${version}/schema.ts`, section }
  return { url: url.replace('2026-07-28', version).replace('/transports/streamable-http', '/transports'), section }
}

export const MCP_READER: DocumentReader<McpView> = {
  versions: MCP_VERSIONS,
  types: MCP_TYPES,
  uncovered: [
    { type: 'request', recognises: (document) => isMcpRequest(document) && document.has('id') },
    { type: 'notification', recognises: (document) => isMcpRequest(document) && !document.has('id') },
    { type: 'client_result', recognises: isClientResult },
  ],
  members: [...BY_MEMBER.map(([name]) => name), 'serverInfo', 'protocolVersion', 'capabilities', 'supportedVersions', 'inputRequests'],
  body: unknownResult,
  recognises: isMcpDocument,
  detect: detectMcp,
  specForVersion: mcpSpecAt,
  view: collectMcpView,
}
