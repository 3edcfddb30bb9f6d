import {
  describeChoices,
  expectType,
  expectItems,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectPresent,
  expectUnique,
  expectItemTypes,
  expectArrayIfPresent,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import { expectInteger } from '../kit/money.ts'
import { isDate, readDateTime, readDateVersion } from '../kit/dates.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { expectUriIfPresent, readUrl, isUri } from '../kit/url.ts'
import type { RuleTable, ReportFinding, FindingReporter } from '../protocol.ts'
import { MCP_TYPES, MCP_VERSIONS, objectsWithIcons, asksForInput, type McpView, LIFECYCLE, mcpSpec } from './view.ts'

/** One variable of an expression: a name, a prefix length or an explode mark (RFC 6570, 2.3 and 2.4). */
const VARIABLE = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\*)?$/

/** Returns whether a text is a URI template (RFC 6570). Operators that are reserved there are refused. */
export function isUriTemplate(text: string): boolean {
  if (text === '' || text.length > 8_192) return false
  for (const [index, part] of text.split('{').entries()) {
    const end = part.indexOf('}')
    const literal = index === 0 ? part : part.slice(end + 1)
    if (/[\s<>"}|\\^`]/.test(literal)) return false
    if (index === 0) continue
    if (end === -1 || !isExpression(part.slice(0, end))) return false
  }
  return true
}

function isExpression(expression: string): boolean {
  const variables = expression.replace(/^[+#./;?&]/, '')
  return variables.split(',').every((variable) => variable.length <= 256 && VARIABLE.test(variable))
}

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

/** MCP-011…017, 040, 041: common members of results, handshake, discovery, completions, pagination. */
export const MCP_RESULT_RULES: RuleTable<McpView> = {
  'MCP-011': {
    severity: 'both',
    types: MCP_TYPES.filter((type) => type !== 'initialize' && type !== 'error' && type !== 'batch'),
    since: '2026-07-28',
    why: 'By the type a client distinguishes the result from a request for input.',
    spec: RESULTS,
    hint: 'Send "resultType": "complete", or "input_required".',
    good: { resultType: 'complete', tools: [] },
    bad: { tools: [] },
    check({ error, warning }, { results }) {
      for (const result of results) {
        const type = result.get('resultType')
        if (expectType(error, type, 'string')) expectOneOf(warning, type, ['complete', 'input_required'])
      }
    },
  },
  'MCP-012': {
    types: ['input_required'],
    why: 'A client that is asked for input must know what to send.',
    spec: RESULTS,
    hint: 'Send inputRequests, each with method and params, or a requestState to come back with.',
    good: { resultType: 'input_required', requestState: 'opaque' },
    bad: { resultType: 'input_required' },
    check({ error }, { results }) {
      for (const result of results) {
        const [requests, state] = [result.get('inputRequests'), result.get('requestState')]
        if (asksForInput(result) && !requests.present && !state.present) error(result, 'has neither inputRequests nor requestState')
        expectTypeIfPresent(error, state, 'string')
        if (expectTypeIfPresent(error, requests, 'object')) for (const request of requests.members()) checkInputRequest(error, request)
      }
    },
  },
  'MCP-013': {
    types: ['tools_list', 'resources_list', 'resource_templates_list', 'prompts_list', 'resource_contents', 'discover'],
    since: '2026-07-28',
    why: 'Caches between client and server go by these members; a wrong scope shows data of one user to another.',
    spec: mcpSpec('schema', 'CacheableResult'),
    hint: 'Send ttlMs in whole milliseconds from 0 on, and cacheScope public or private.',
    good: { ttlMs: 60_000, cacheScope: 'private' },
    bad: { ttlMs: -1 },
    check({ error }, { results }) {
      for (const result of results) {
        if (asksForInput(result) || !CACHEABLE.some((name) => result.has(name))) continue
        const [ttl, scope] = [result.get('ttlMs'), result.get('cacheScope')]
        if (expectPresent(error, ttl)) expectInteger(error, ttl, { min: 0n })
        if (expectPresent(error, scope)) expectOneOf(error, scope, ['public', 'private'])
      }
    },
  },
  'MCP-014': {
    severity: 'both',
    why: 'The version decides how everything after it is read.',
    spec: LIFECYCLE,
    hint: 'Name the date of a published version; servers of 2026-07-28 answer server/discover instead of initialize.',
    good: { protocolVersion: '2025-11-25' },
    bad: { protocolVersion: '1.0' },
    check({ error, warning }, { results, context }) {
      for (const result of results) {
        const cursor = result.get('protocolVersion')
        if (context.type === 'initialize' && !expectPresent(error, cursor)) continue
        if (!expectTypeIfPresent(error, cursor, 'string') || cursor.redacted) continue
        const read = readDateVersion(cursor.text(), MCP_VERSIONS)
        if (read.kind === 'unparsable') error(cursor, 'is not a date', { expected: describeChoices(MCP_VERSIONS) })
        else if (read.kind !== 'known') warning(cursor, 'is not a known published version', { expected: describeChoices(MCP_VERSIONS) })
        else if (read.version === '2026-07-28' && result.has('serverInfo'))
          warning(cursor, 'is a version without a handshake', { expected: 'an older version, or a result of server/discover' })
      }
    },
  },
  'MCP-015': {
    types: ['initialize', 'discover', 'batch'],
    why: 'A client uses only what the capabilities declare, and names the server in its logs.',
    spec: LIFECYCLE,
    hint: 'Send capabilities, even when empty, and serverInfo with name and version.',
    good: { capabilities: { tools: {} }, serverInfo: { name: 'weather', version: '1.4.0' } },
    bad: { capabilities: [], serverInfo: { name: '' } },
    check({ error }, { results, context }) {
      for (const result of results) {
        if (context.type === 'batch' && !result.has('serverInfo')) continue
        if (expectType(error, result.get('capabilities'), 'object')) checkCapabilities(error, result.get('capabilities'))
        const info = result.get('serverInfo')
        if (context.type === 'discover' ? expectTypeIfPresent(error, info, 'object') : expectType(error, info, 'object'))
          checkImplementation(error, info)
        expectTypeIfPresent(error, result.get('instructions'), 'string')
      }
    },
  },
  'MCP-016': {
    severity: 'both',
    types: ['discover'],
    why: 'A client picks its version from this list.',
    spec: DISCOVER,
    hint: 'List the dates of all versions that you speak, and name the server in _meta.',
    good: { supportedVersions: ['2026-07-28'], _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weather', version: '1.4.0' } } },
    bad: { supportedVersions: [] },
    check({ error, warning }, { results }) {
      for (const result of results) {
        for (const item of expectItems(error, result.get('supportedVersions'))) {
          const text = item.text()
          if (expectTypeIfPresent(error, item, 'string') && text !== null && !isDate(text))
            error(item, 'is not a date', { expected: 'such as 2026-07-28' })
        }
        const info = result.get('_meta', 'io.modelcontextprotocol/serverInfo')
        if (!info.present)
          warning(info, 'is missing, so nothing names the server', { expected: 'io.modelcontextprotocol/serverInfo in _meta' })
        else if (expectTypeIfPresent(error, info, 'object')) checkImplementation(error, info)
      }
    },
  },
  'MCP-017': {
    severity: 'warning',
    types: ['initialize', 'discover', 'batch'],
    why: 'A client of this version does not look for other capabilities.',
    spec: LIFECYCLE,
    hint: 'Declare what the version knows; put the rest under experimental, or under extensions from 2026-07-28 on.',
    good: { capabilities: { tools: { listChanged: true } } },
    bad: { capabilities: { toolz: {} } },
    check({ warning }, { results, context }) {
      const known = new Set(['experimental', 'logging', 'prompts', 'resources', 'tools'])
      if (context.atLeast('2025-03-26')) known.add('completions')
      if (context.version === '2025-11-25') known.add('tasks')
      if (context.atLeast('2026-07-28')) known.add('extensions')
      for (const result of results)
        for (const member of result.members('capabilities'))
          if (!known.has(member.key)) warning(member, 'is not a capability of this version', { expected: describeChoices([...known]) })
    },
  },
  'MCP-040': {
    types: ['completion', 'batch'],
    why: 'Clients show at most a hundred suggestions and refuse more.',
    spec: mcpSpec('server/utilities/completion', 'Completion Results'),
    hint: 'Send at most 100 texts in values, and say by hasMore that there are others.',
    good: { completion: { values: ['Oslo', 'Osaka'], total: 2, hasMore: false } },
    bad: { completion: { values: 'Oslo' } },
    check({ error }, { results }) {
      for (const result of results) {
        const completion = result.get('completion')
        if (!expectObjectIfPresent(error, completion)) continue
        const values = completion.get('values')
        if (expectType(error, values, 'array')) expectItemTypes(error, values, 'string')
        if (values.items().length > 100) error(values, 'has more than 100 items', { expected: 'at most 100 items' })
        expectInteger(error, completion.get('total'))
        expectTypeIfPresent(error, completion.get('hasMore'), 'boolean')
      }
    },
  },
  'MCP-041': {
    severity: 'both',
    why: 'Clients ask for pages until there is no cursor: an empty one makes them ask for ever, and for null they refuse the whole list.',
    spec: mcpSpec('server/utilities/pagination', 'Response Format'),
    hint: 'Send a text, and leave the member out on the last page.',
    good: { tools: [], nextCursor: 'cGFnZTI' },
    bad: { tools: [], nextCursor: 2 },
    check({ error, warning }, { results }) {
      for (const result of results) {
        const cursor = result.get('nextCursor')
        if (cursor.kind === 'null') error(cursor, 'is null, and must be left out', { expected: 'a string, or nothing on the last page' })
        else if (expectTypeIfPresent(error, cursor, 'string') && cursor.text() === '')
          warning(cursor, 'is an empty text, and should be left out')
      }
    },
  },
  'MCP-045': {
    types: [...Object.keys(TYPE_MEMBERS), 'error', 'other'],
    why: 'Clients read the member that gives a result its type; without it there is nothing to read.',
    spec: mcpSpec('schema', 'Common Types'),
    hint: 'Send the member, with an empty list where there is nothing to list.',
    good: { document_type: 'tools_list', document: { tools: [] } },
    bad: { document_type: 'tools_list', document: {} },
    check({ error }, { context, document, messages }) {
      if (context.type === 'error') return void expectPresent(error, document.get('error'), { expected: 'an object' })
      for (const { result } of context.type === 'other' ? messages : []) reportMissingList(error, result)
      const [name, ...others] = TYPE_MEMBERS[context.type] ?? []
      if (name === undefined) return
      for (const { result } of messages)
        if (![name, ...others].some((one) => result.has(one)))
          error(result.get(name), 'is missing', { expected: 'the member of this type' })
    },
  },
}

/** A cursor to the next page, or a time to keep the result, belongs to a list that is not there. */
function reportMissingList(error: ReportFinding, result: JsonCursor): void {
  const mark = ['nextCursor', 'ttlMs', 'cacheScope'].find((name) => result.has(name))
  if (mark !== undefined && !result.has('tasks'))
    error(result, `has ${mark} and none of the lists that it belongs to`, {
      expected: 'tools, resources, resourceTemplates, prompts or contents',
    })
}

const ASKED = ['sampling/createMessage', 'roots/list', 'elicitation/create'] as const

function checkInputRequest(error: ReportFinding, request: JsonCursor): void {
  if (!expectObjectIfPresent(error, request)) return
  const method = request.get('method')
  if (expectPresent(error, method)) expectOneOf(error, method, ASKED)
  expectTypeIfPresent(error, request.get('params'), 'object')
}

/** Checks name and version of a program; MCP-042 checks its icons. */
function checkImplementation(error: ReportFinding, info: JsonCursor): void {
  if (info.redacted) return
  expectText(error, info.get('name'))
  expectText(error, info.get('version'))
  for (const name of ['title', 'description']) expectTypeIfPresent(error, info.get(name), 'string')
  expectUriIfPresent(error, info.get('websiteUrl'))
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

function checkCapabilities(error: ReportFinding, capabilities: JsonCursor): void {
  for (const capability of capabilities.members()) {
    if (!DEFINED.has(capability.key) || !expectTypeIfPresent(error, capability, 'object')) continue
    if (['tools', 'prompts', 'resources'].includes(capability.key))
      for (const flag of FLAGS) expectTypeIfPresent(error, capability.get(flag), 'boolean')
    if (capability.key === 'experimental' || capability.key === 'extensions')
      for (const member of capability.members()) expectTypeIfPresent(error, member, 'object')
    if (capability.key === 'tasks') checkTaskCapability(error, capability)
  }
}

function checkTaskCapability(error: ReportFinding, tasks: JsonCursor): void {
  const requests = tasks.get('requests')
  const tools = requests.get('tools')
  for (const cursor of [tasks.get('list'), tasks.get('cancel'), requests, tools, tools.get('call')])
    expectTypeIfPresent(error, cursor, 'object')
}

/** MCP-038, 039, 042: resources, prompts, metadata, icons and annotations. */
export const MCP_DATA_RULES: RuleTable<McpView> = {
  'MCP-038': {
    why: 'Resources are read by their URI, templates are filled in, and arguments go by name.',
    spec: mcpSpec('server/resources', 'Data Types'),
    hint: 'Send absolute URIs and names, each once; templates as RFC 6570 has them; messages of user and assistant.',
    hint_by_case: true,
    good: { resources: [{ uri: 'file:///readme.md', name: 'readme' }] },
    bad: { resources: [{ uri: 'readme.md', name: 'readme' }] },
    check({ error }, view) {
      const { results, resources, templates, prompts, prompt_messages } = view
      for (const result of results) checkLists(error, result)
      expectEntryNames(error, [...resources, ...templates])
      for (const resource of resources) {
        expectUri(error, resource.get('uri'))
        expectInteger(error, resource.get('size'))
      }
      for (const result of results) {
        const own = result.objects('resources').map((resource) => resource.get('uri'))
        expectUnique(error, own, 'the URI of another resource')
      }
      for (const template of templates) {
        const cursor = template.get('uriTemplate')
        if (expectType(error, cursor, 'string') && !cursor.redacted && !isUriTemplate(cursor.text() ?? ''))
          error(cursor, 'is not a URI template', { expected: 'a template of RFC 6570' })
      }
      for (const prompt of prompts) checkPrompt(error, prompt)
      for (const message of prompt_messages) {
        if (!message.has('role')) error(message.get('role'), 'is missing')
        expectOneOf(error, message.get('role'), ['user', 'assistant'])
      }
    },
  },
  'MCP-039': {
    severity: 'both',
    why: 'Metadata of many parties share one object; only their names keep them apart.',
    spec: mcpSpec('basic', 'General fields, _meta'),
    hint: 'Name keys like com.example/name, with a prefix of your own.',
    good: { _meta: { 'com.example/trace': 'a1' } },
    bad: { _meta: { 'com.example/': 1, '-trace': 1 } },
    check(report, view) {
      for (const meta of listMetadata(view)) checkMeta(report, meta, view.context.atLeast('2025-06-18'))
    },
  },
  'MCP-042': {
    severity: 'both',
    why: 'Hosts load icons and sort content by priority; other schemes of URLs can carry code or leak who looks.',
    spec: mcpSpec('schema', 'Icon and Annotations'),
    hint: 'Send icons by https or data URLs, priorities from 0 to 1, and dates of RFC 3339.',
    hint_by_case: true,
    good: { icons: [{ src: 'https://example.com/icon.png' }], annotations: { priority: 0.5 } },
    bad: { icons: [{ src: 'icon.png' }], annotations: { priority: 5 } },
    check(report, view) {
      for (const holder of objectsWithIcons(view)) {
        const icons = holder.get('icons')
        if (!expectTypeIfPresent(report.error, icons, 'array')) continue
        for (const icon of icons.items()) if (expectObjectIfPresent(report.error, icon)) checkIcon(report, icon)
      }
      const { resources, templates, blocks } = view
      const others = blocks.filter((block) => block.text('type') !== 'resource_link')
      for (const holder of [...resources, ...templates, ...others]) checkAnnotations(report.error, holder.get('annotations'))
    },
  },
}

/** An entry of a list must have a name that says something. */
function expectEntryNames(error: ReportFinding, entries: readonly JsonCursor[]): void {
  for (const entry of entries) {
    expectType(error, entry.get('name'), 'string')
    for (const name of ['title', 'description', 'mimeType']) expectTypeIfPresent(error, entry.get(name), 'string')
  }
}

/** Lists of other things than tools. */
function checkLists(error: ReportFinding, result: JsonCursor): void {
  for (const name of ['contents', 'resources', 'resourceTemplates', 'prompts', 'messages']) {
    const list = result.get(name)
    expectArrayIfPresent(error, list, 'object')
  }
  if (result.has('messages')) expectTypeIfPresent(error, result.get('description'), 'string')
}

function expectUri(error: ReportFinding, cursor: JsonCursor): void {
  if (expectType(error, cursor, 'string') && !cursor.redacted && !isUri(cursor.text() ?? ''))
    error(cursor, 'is not an absolute URI', { expected: 'a URI with a scheme' })
}

function checkPrompt(error: ReportFinding, prompt: JsonCursor): void {
  expectText(error, prompt.get('name'))
  for (const name of ['title', 'description']) expectTypeIfPresent(error, prompt.get(name), 'string')
  const list = prompt.get('arguments')
  if (!expectTypeIfPresent(error, list, 'array')) return
  for (const item of list.items()) {
    if (!expectObjectIfPresent(error, item)) continue
    expectText(error, item.get('name'))
    for (const name of ['title', 'description']) expectTypeIfPresent(error, item.get(name), 'string')
    expectTypeIfPresent(error, item.get('required'), 'boolean')
  }
  expectUnique(
    error,
    list.objects().map((item) => item.get('name')),
    'the name of another argument',
  )
}

function listMetadata({ results, tools, resources, templates, prompts, blocks, contents }: McpView): JsonCursor[] {
  // Resource links are listed with the resources already.
  const others = blocks.filter((block) => block.text('type') !== 'resource_link')
  const holders = [...results, ...tools.map(({ cursor }) => cursor), ...resources, ...templates, ...prompts, ...others, ...contents]
  return holders.map((holder) => holder.get('_meta'))
}

/** Keys under the own prefix that the versions define. */
const DEFINED_META_KEYS: ReadonlySet<string> = new Set(
  [
    'related-task',
    'serverInfo',
    'subscriptionId',
    'protocolVersion',
    'clientInfo',
    'clientCapabilities',
    'logLevel',
    'model-immediate-response',
  ].map((name) => `io.modelcontextprotocol/${name}`),
)
const PREFIX = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

function checkMeta({ error, warning }: FindingReporter, meta: JsonCursor, has_grammar: boolean): void {
  if (!expectTypeIfPresent(error, meta, 'object') || !has_grammar) return
  for (const member of meta.members()) {
    const { key } = member
    const slash = key.indexOf('/')
    const prefix = slash === -1 ? null : key.slice(0, slash)
    if ((prefix !== null && !PREFIX.test(prefix)) || !NAME.test(key.slice(slash + 1)))
      error(member, 'has a name that metadata keys may not have')
    else if (/^(?:mcp|modelcontextprotocol)$/i.test(prefix?.split('.')[1] ?? '') && !DEFINED_META_KEYS.has(key))
      warning(member, 'has a prefix that is reserved for MCP')
  }
}

function checkIcon({ error, warning }: FindingReporter, icon: JsonCursor): void {
  const src = icon.get('src')
  const url = readUrl(src.text())
  if (expectType(error, src, 'string') && !src.redacted) {
    if (url === null) error(src, 'is not an absolute URL', { expected: 'an https or data URL' })
    else if (url.protocol !== 'https:' && url.protocol !== 'data:') warning(src, 'is neither an https nor a data URL')
  }
  expectTypeIfPresent(error, icon.get('mimeType'), 'string')
  expectArrayIfPresent(error, icon.get('sizes'), 'string')
  expectOneOf(error, icon.get('theme'), ['light', 'dark'])
}

function checkAnnotations(error: ReportFinding, cursor: JsonCursor): void {
  if (!expectTypeIfPresent(error, cursor, 'object')) return
  const [audience, priority, modified] = [cursor.get('audience'), cursor.get('priority'), cursor.get('lastModified')]
  if (expectTypeIfPresent(error, audience, 'array')) for (const role of audience.items()) expectOneOf(error, role, ['user', 'assistant'])
  const value = priority.number()
  if (expectTypeIfPresent(error, priority, 'number') && value !== null && !(value >= 0 && value <= 1)) error(priority, 'is not from 0 to 1')
  if (expectTypeIfPresent(error, modified, 'string') && modified.text() !== null && readDateTime(modified.text()) === null)
    error(modified, 'is not a date and time with an offset', { expected: 'a time such as 2026-01-12T15:00:58Z' })
}
