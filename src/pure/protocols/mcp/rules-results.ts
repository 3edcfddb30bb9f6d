import { listed, need, needItems, needText, oneOf, optional, present } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import { isDate } from '../kit/dates.ts'
import { readDateVersion } from '../kit/versions.ts'
import type { Place } from '../place.ts'
import { optionalUri } from '../kit/url.ts'
import { rule, type Say } from '../rule.ts'
import { MCP_TYPES, MCP_VERSIONS } from './detect.ts'
import { LIFECYCLE, mcpSpec } from './spec.ts'
import { isAsking, type McpView } from './view.ts'

const RESULTS = mcpSpec('schema', 'Common Types')
const DISCOVER = mcpSpec('schema', 'server/discover')
/** Members by which results of a type are known, the one that is asked for first. A result can lack it only where the caller states its type. */
const TYPE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  tools_list: ['tools'],
  tool_result: ['content', 'structuredContent', 'isError'],
  resources_list: ['resources'],
  resource_templates_list: ['resourceTemplates'],
  resource_contents: ['contents'],
  prompts_list: ['prompts'],
  prompt: ['messages'],
  completion: ['completion'],
}

const CACHEABLE = ['tools', 'resources', 'resourceTemplates', 'prompts', 'contents', 'supportedVersions'] as const

/** MCP-011…017, 040, 041: what all results share, the handshake, discovery, completions, pages. */
export const RESULT_RULES = [
  rule<McpView>(
    {
      code: 'MCP-011',
      severity: 'both',
      types: MCP_TYPES.filter((type) => type !== 'initialize' && type !== 'error' && type !== 'batch'),
      since: '2026-07-28',
      why: 'The type tells a client whether this is the result or a question on the way to it.',
      spec: RESULTS,
      hint: 'Send "resultType": "complete", or "input_required".',
      good: { resultType: 'complete', tools: [] },
      bad: { tools: [] },
    },
    ({ error, warning }, { results }) => {
      for (const result of results) {
        const type = result.get('resultType')
        if (need(error, type, 'string')) oneOf(warning, type, ['complete', 'input_required'])
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-012',
      severity: 'error',
      types: ['input_required'],
      why: 'A client that is asked for input must be told what to send.',
      spec: RESULTS,
      hint: 'Send inputRequests, each with method and params, or a requestState to come back with.',
      good: { resultType: 'input_required', requestState: 'opaque' },
      bad: { resultType: 'input_required' },
    },
    ({ error }, { results }) => {
      for (const result of results) {
        const [requests, state] = [result.get('inputRequests'), result.get('requestState')]
        if (isAsking(result) && !requests.present && !state.present) error(result, 'has neither inputRequests nor requestState')
        optional(error, state, 'string')
        if (optional(error, requests, 'object')) for (const request of requests.members()) inputRequest(error, request)
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-013',
      severity: 'error',
      types: ['tools_list', 'resources_list', 'resource_templates_list', 'prompts_list', 'resource_contents', 'discover'],
      since: '2026-07-28',
      why: 'Caches between client and server go by these members; a wrong scope shows data of one user to another.',
      spec: mcpSpec('schema', 'CacheableResult'),
      hint: 'Send ttlMs in whole milliseconds from 0 on, and cacheScope public or private.',
      good: { ttlMs: 60_000, cacheScope: 'private' },
      bad: { ttlMs: -1 },
    },
    ({ error }, { results }) => {
      for (const result of results) {
        if (isAsking(result) || !CACHEABLE.some((name) => result.has(name))) continue
        const [ttl, scope] = [result.get('ttlMs'), result.get('cacheScope')]
        if (present(error, ttl)) integer(error, ttl, { min: 0n })
        if (present(error, scope)) oneOf(error, scope, ['public', 'private'])
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-014',
      severity: 'both',
      why: 'The version decides how everything after it is read.',
      spec: LIFECYCLE,
      hint: 'Name the date of a published version; servers of 2026-07-28 answer server/discover instead of initialize.',
      good: { protocolVersion: '2025-11-25' },
      bad: { protocolVersion: '1.0' },
    },
    ({ error, warning }, { results, context }) => {
      for (const result of results) {
        const place = result.get('protocolVersion')
        if (context.type === 'initialize' && !present(error, place)) continue
        if (!optional(error, place, 'string') || place.redacted) continue
        const read = readDateVersion(place.text(), MCP_VERSIONS)
        if (read.kind === 'unparsable') error(place, 'is not a date', { expected: listed(MCP_VERSIONS) })
        else if (read.kind !== 'known') warning(place, 'is no published version that is known here', { expected: listed(MCP_VERSIONS) })
        else if (read.version === '2026-07-28' && result.has('serverInfo'))
          warning(place, 'is a version that has no handshake any more', { expected: 'an older version, or a result of server/discover' })
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-015',
      severity: 'error',
      types: ['initialize', 'discover', 'batch'],
      why: 'A client uses only what the capabilities declare, and names the server in its logs.',
      spec: LIFECYCLE,
      hint: 'Send capabilities, even when empty, and serverInfo with name and version.',
      good: { capabilities: { tools: {} }, serverInfo: { name: 'weather', version: '1.4.0' } },
      bad: { capabilities: [], serverInfo: { name: '' } },
    },
    ({ error }, { results, context }) => {
      for (const result of results) {
        if (context.type === 'batch' && !result.has('serverInfo')) continue
        if (need(error, result.get('capabilities'), 'object')) capabilityShapes(error, result.get('capabilities'))
        const info = result.get('serverInfo')
        if (context.type === 'discover' ? optional(error, info, 'object') : need(error, info, 'object')) implementation(error, info)
        optional(error, result.get('instructions'), 'string')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-016',
      severity: 'both',
      types: ['discover'],
      why: 'A client picks its version from this list.',
      spec: DISCOVER,
      hint: 'List the dates of all versions that you speak, and name the server in _meta.',
      good: { supportedVersions: ['2026-07-28'], _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weather', version: '1.4.0' } } },
      bad: { supportedVersions: [] },
    },
    ({ error, warning }, { results }) => {
      for (const result of results) {
        for (const item of needItems(error, result.get('supportedVersions'))) {
          const text = item.text()
          if (optional(error, item, 'string') && text !== null && !isDate(text))
            error(item, 'is not a date', { expected: 'such as 2026-07-28' })
        }
        const info = result.get('_meta').get('io.modelcontextprotocol/serverInfo')
        if (!info.present)
          warning(info, 'is missing, so nothing names the server', { expected: 'io.modelcontextprotocol/serverInfo in _meta' })
        else if (optional(error, info, 'object')) implementation(error, info)
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-017',
      severity: 'warning',
      types: ['initialize', 'discover', 'batch'],
      why: 'A client of this version does not look for other capabilities.',
      spec: LIFECYCLE,
      hint: 'Declare what the version knows; put the rest under experimental, or under extensions from 2026-07-28 on.',
      good: { capabilities: { tools: { listChanged: true } } },
      bad: { capabilities: { toolz: {} } },
    },
    ({ warning }, { results, context }) => {
      const known = new Set(['experimental', 'logging', 'prompts', 'resources', 'tools'])
      if (context.atLeast('2025-03-26')) known.add('completions')
      if (context.version === '2025-11-25') known.add('tasks')
      if (context.atLeast('2026-07-28')) known.add('extensions')
      for (const result of results)
        for (const member of result.get('capabilities').members())
          if (!known.has(member.key)) warning(member, 'is no capability of this version', { expected: listed([...known]) })
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-040',
      severity: 'error',
      types: ['completion', 'batch'],
      why: 'Clients show at most a hundred suggestions and refuse more.',
      spec: mcpSpec('server/utilities/completion', 'Completion Results'),
      hint: 'Send at most 100 texts in values, and say by hasMore that there are others.',
      good: { completion: { values: ['Oslo', 'Osaka'], total: 2, hasMore: false } },
      bad: { completion: { values: 'Oslo' } },
    },
    ({ error }, { results }) => {
      for (const result of results) {
        const completion = result.get('completion')
        if (!optional(error, completion, 'object') || completion.redacted) continue
        const values = completion.get('values')
        if (need(error, values, 'array')) for (const item of values.items()) optional(error, item, 'string')
        if (values.items().length > 100) error(values, 'has more than 100 items', { expected: 'at most 100 items' })
        integer(error, completion.get('total'))
        optional(error, completion.get('hasMore'), 'boolean')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-041',
      severity: 'both',
      why: 'Clients ask for pages until there is no cursor; one that is empty or null makes them ask for ever or stop early.',
      spec: mcpSpec('server/utilities/pagination', 'Response Format'),
      hint: 'Send a text, and leave the member out on the last page.',
      good: { tools: [], nextCursor: 'cGFnZTI' },
      bad: { tools: [], nextCursor: 2 },
    },
    ({ error, warning }, { results }) => {
      for (const result of results) {
        const cursor = result.get('nextCursor')
        if (cursor.kind === 'null') warning(cursor, 'is null, and should be left out')
        else if (optional(error, cursor, 'string') && cursor.text() === '') warning(cursor, 'is an empty text, and should be left out')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-045',
      severity: 'error',
      types: [...Object.keys(TYPE_MEMBERS), 'error'],
      why: 'Clients read the member that gives a result its type; without it there is nothing to read.',
      spec: mcpSpec('schema', 'Common Types'),
      hint: 'Send the member, with an empty list where there is nothing to list.',
      good: { document_type: 'tools_list', document: { tools: [] } },
      bad: { document_type: 'tools_list', document: {} },
    },
    ({ error }, { context, document, messages }) => {
      if (context.type === 'error') return void present(error, document.get('error'), { expected: 'an object' })
      const [name, ...others] = TYPE_MEMBERS[context.type] ?? []
      if (name === undefined) return
      for (const { result } of messages)
        if (![name, ...others].some((one) => result.has(one)))
          error(result.get(name), 'is missing', { expected: 'the member of this type' })
    },
  ),
]

const ASKED = ['sampling/createMessage', 'roots/list', 'elicitation/create'] as const

function inputRequest(error: Say, request: Place): void {
  if (!optional(error, request, 'object') || request.redacted) return
  const method = request.get('method')
  if (present(error, method)) oneOf(error, method, ASKED)
  optional(error, request.get('params'), 'object')
}

/** Name and version of a program; icons have a rule of their own. */
function implementation(error: Say, info: Place): void {
  if (info.redacted) return
  needText(error, info.get('name'))
  needText(error, info.get('version'))
  for (const name of ['title', 'description']) optional(error, info.get(name), 'string')
  optionalUri(error, info.get('websiteUrl'))
}

const FLAGS = ['listChanged', 'subscribe'] as const

/** Capabilities that one of the versions defines, all of them objects; of others no schema says anything. */
const DEFINED: ReadonlySet<string> = new Set([
  'experimental',
  'extensions',
  'logging',
  'completions',
  'prompts',
  'resources',
  'tools',
  'tasks',
])

function capabilityShapes(error: Say, capabilities: Place): void {
  for (const capability of capabilities.members()) {
    if (!DEFINED.has(capability.key) || !optional(error, capability, 'object')) continue
    if (['tools', 'prompts', 'resources'].includes(capability.key))
      for (const flag of FLAGS) optional(error, capability.get(flag), 'boolean')
    if (capability.key === 'experimental' || capability.key === 'extensions')
      for (const member of capability.members()) optional(error, member, 'object')
    if (capability.key === 'tasks') taskShapes(error, capability)
  }
}

function taskShapes(error: Say, tasks: Place): void {
  const requests = tasks.get('requests')
  const tools = requests.get('tools')
  for (const place of [tasks.get('list'), tasks.get('cancel'), requests, tools, tools.get('call')]) optional(error, place, 'object')
}
