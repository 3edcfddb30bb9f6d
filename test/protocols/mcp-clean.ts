import type { CleanDocument } from './harness.ts'

/** Right documents of MCP, built by hand from the published schemas of its five versions. */

type Version = '2026-07-28' | '2025-11-25' | '2025-06-18' | '2025-03-26' | '2024-11-05'

const VERSIONS: readonly Version[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

const ICONS = [{ src: 'https://weather.example.com/icon.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'light' }]
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

const answered = (result: object, id: string | number = 1) => ({ jsonrpc: '2.0', id, result })
/** What a version has, from that version on. */
const from = (version: Version, since: Version, members: object) => (version >= since ? members : {})
const isNewest = (version: Version) => version === '2026-07-28'
const complete = (version: Version) => (isNewest(version) ? { resultType: 'complete' } : {})
const cached = (version: Version) => (isNewest(version) ? { ttlMs: 60_000, cacheScope: 'private' } : {})

const serverInfo = (version: Version) => ({
  name: 'weather',
  version: '1.4.0',
  ...from(version, '2025-06-18', { title: 'Weather' }),
  ...from(version, '2025-11-25', { icons: ICONS, websiteUrl: 'https://weather.example.com', description: 'Tells the weather' }),
})

const capabilities = (version: Version) => ({
  logging: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: false },
  tools: { listChanged: true },
  experimental: { 'com.example/units': {} },
  ...from(version, '2025-03-26', { completions: {} }),
  ...(version === '2025-11-25' ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
  ...(isNewest(version) ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {}),
})

const input = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Name of a city' }, days: { $ref: '#/$defs/days' } },
  required: ['city'],
  $defs: { days: { type: 'integer', minimum: 1, maximum: 7 } },
  additionalProperties: false,
}
const marked = {
  ...input,
  properties: { ...input.properties, place: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } },
}
const output = { type: 'object', properties: { celsius: { type: 'number' }, sky: { type: 'string' } }, required: ['celsius'] }

const UNIT = { type: 'object', properties: { unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } } }

const tools = (version: Version) => [
  {
    name: 'get_weather',
    description: 'Tells the weather of the next days at a place.',
    inputSchema: isNewest(version) ? marked : input,
    ...from(version, '2025-03-26', { annotations: { title: 'Weather', readOnlyHint: true, openWorldHint: true } }),
    ...from(version, '2025-06-18', { title: 'Weather', outputSchema: output, _meta: { 'com.example/cost': 2, plain: true } }),
    ...from(version, '2025-11-25', { icons: ICONS }),
    ...(version === '2025-11-25' ? { execution: { taskSupport: 'optional' } } : {}),
  },
  {
    name: 'list.stations',
    description: 'Lists all stations.',
    inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
  },
]

const audience = { audience: ['user', 'assistant'], priority: 0.9 }
const data = { celsius: 4.5, sky: 'grey' }
const link = (version: Version) => ({
  type: 'resource_link',
  uri: 'file:///stations/oslo.json',
  name: 'oslo.json',
  mimeType: 'application/json',
  size: 2_048,
  annotations: { ...audience, lastModified: '2026-01-12T15:00:58Z' },
  ...from(version, '2025-11-25', { icons: ICONS }),
})
const content = (version: Version) => [
  { type: 'text', text: 'Grey, four and a half degrees.', annotations: audience },
  { type: 'text', text: '{ "sky": "grey", "celsius": 4.50 }' },
  { type: 'image', data: PIXEL, mimeType: 'image/png' },
  { type: 'resource', resource: { uri: 'file:///stations/oslo.txt', mimeType: 'text/plain', text: 'Oslo' } },
  { type: 'resource', resource: { uri: 'file:///stations/oslo.png', mimeType: 'image/png', blob: PIXEL } },
  ...(version >= '2025-03-26' ? [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }] : []),
  ...(version >= '2025-06-18' ? [link(version)] : []),
]
const result = (version: Version) => ({
  ...complete(version),
  content: content(version),
  isError: false,
  ...from(version, '2025-06-18', { structuredContent: data }),
})

const resource = (version: Version) => ({
  uri: 'https://weather.example.com/stations/oslo',
  name: 'oslo',
  description: 'The station at Oslo',
  mimeType: 'text/plain',
  size: 812,
  annotations: audience,
  ...from(version, '2025-11-25', { icons: ICONS, title: 'Oslo' }),
})

const lists = (version: Version): Record<string, [type: string, result: object]> => ({
  tools: ['tools_list', { ...complete(version), ...cached(version), tools: tools(version), nextCursor: 'cGFnZTI' }],
  call: ['tool_result', result(version)],
  resources: [
    'resources_list',
    { ...complete(version), ...cached(version), resources: [resource(version), { uri: 'db:stations', name: 'stations' }] },
  ],
  templates: [
    'resource_templates_list',
    {
      ...complete(version),
      ...cached(version),
      resourceTemplates: [{ uriTemplate: 'https://weather.example.com/{+path}{?from,to*,unit:3}', name: 'history', annotations: audience }],
    },
  ],
  contents: [
    'resource_contents',
    {
      ...complete(version),
      ...cached(version),
      contents: [
        { uri: 'file:///a.txt', mimeType: 'text/plain', text: '' },
        { uri: 'file:///a.bin', blob: 'AAEC' },
      ],
    },
  ],
  prompts: [
    'prompts_list',
    {
      ...complete(version),
      ...cached(version),
      prompts: [{ name: 'report', description: 'Writes a report', arguments: [{ name: 'city', description: 'Where', required: true }] }],
    },
  ],
  prompt: [
    'prompt',
    {
      ...complete(version),
      description: 'A report',
      messages: [
        { role: 'user', content: { type: 'text', text: 'How is the weather in Oslo?' } },
        { role: 'assistant', content: { type: 'resource', resource: { uri: 'file:///oslo.txt', text: 'Grey.' } } },
      ],
    },
  ],
  completion: ['completion', { ...complete(version), completion: { values: ['Oslo', 'Osaka'], total: 2, hasMore: false } }],
})

/** Which source of the version a right document of a kind has: only 2026-07-28 and 2025-11-25 show in some results. */
function sourceOf(version: Version, name: string): CleanDocument['version_source'] {
  if (isNewest(version)) return 'inferred'
  if (version !== '2025-11-25') return 'declared'
  return name === 'tools' || name === 'resources' ? 'inferred' : 'assumed'
}

function ofVersion(version: Version): Record<string, CleanDocument> {
  const year = version.slice(2)
  // Other versions do not show in a result; one that says which it follows is believed.
  const said = isNewest(version) || version === '2025-11-25' ? {} : { _meta: { 'io.modelcontextprotocol/protocolVersion': version } }
  const needed = 'protocolVersion' in said ? [] : ['/result/_meta/io.modelcontextprotocol~1protocolVersion']
  const clean = Object.entries(lists(version)).map(([name, [type, body]]): [string, CleanDocument] => [
    `${name} ${year}`,
    { document: answered({ ...body, ...said }), type, version, version_source: sourceOf(version, name), needed },
  ])
  return Object.fromEntries(clean)
}

const initialize = (version: Version): CleanDocument => ({
  document: answered({
    protocolVersion: version,
    capabilities: capabilities(version),
    serverInfo: serverInfo(version),
    ...from(version, '2025-03-26', { instructions: 'Ask for one city at a time.' }),
  }),
  type: 'initialize',
  version,
  version_source: 'declared',
  needed: ['/result/protocolVersion'],
})

const failed = (error: object, more: object = { id: 3 }) => ({ jsonrpc: '2.0', ...more, error })
const newest = { version: '2026-07-28', version_source: 'inferred' as const }
const unsure = { version: '2026-07-28', version_source: 'assumed' as const }

const challenge = {
  x402Version: 2,
  error: 'payment required',
  resource: { url: 'mcp://tool/get_weather', description: 'Weather', mimeType: 'application/json' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
}

const SPECIAL: Readonly<Record<string, CleanDocument>> = {
  discover: {
    document: answered({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'public',
      supportedVersions: ['2026-07-28', '2025-11-25'],
      capabilities: capabilities('2026-07-28'),
      instructions: 'Ask for one city at a time.',
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo('2026-07-28') },
    }),
    type: 'discover',
    version: '2026-07-28',
    version_source: 'declared',
  },
  'input required': {
    document: answered({
      resultType: 'input_required',
      requestState: 'b3BhcXVl',
      inputRequests: { unit: { method: 'elicitation/create', params: { mode: 'form', message: 'Which unit?', requestedSchema: UNIT } } },
    }),
    type: 'input_required',
    ...newest,
  },
  error: { document: failed({ code: -32602, message: 'Unknown tool', data: { tool: 'x' } }), type: 'error', ...unsure },
  'own error': { document: failed({ code: -32001, message: 'Session gone' }), type: 'error', ...unsure },
  'unread error': { document: failed({ code: -32700, message: 'Parse error' }, {}), type: 'error', ...unsure },
  'version error': {
    document: failed({ code: -32022, message: 'Unsupported', data: { requested: '2099-01-01', supported: ['2026-07-28'] } }),
    type: 'error',
    ...newest,
  },
  'capability error': {
    document: failed({ code: -32021, message: 'Needed', data: { requiredCapabilities: { elicitation: {} } } }),
    type: 'error',
    ...newest,
  },
  'old error': {
    document: failed({ code: -32002, message: 'Resource not found' }),
    type: 'error',
    version: '2025-11-25',
    version_source: 'inferred',
  },
  empty: { document: answered({}), type: 'other', version: '2025-11-25', version_source: 'assumed' },
  'bare tools': {
    document: { tools: tools('2025-11-25') },
    type: 'tools_list',
    version: '2025-11-25',
    version_source: 'inferred',
    warnings: ['MCP-002'],
  },
  batch: {
    document: [
      answered({ tools: tools('2025-03-26') }),
      answered(result('2025-03-26'), 'two'),
      failed({ code: -32601, message: 'Method not found' }),
    ],
    type: 'batch',
    version: '2025-03-26',
    version_source: 'inferred',
  },
  'tool and answer': {
    document: answered({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      tools: tools('2026-07-28').slice(0, 1),
      ...result('2026-07-28'),
    }),
    type: 'tools_list',
    ...newest,
  },
  payment: {
    document: answered({ isError: true, structuredContent: challenge, content: [{ type: 'text', text: JSON.stringify(challenge) }] }),
    type: 'tool_result',
    version: '2025-11-25',
    version_source: 'assumed',
    expected_payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  },
}

export const MCP_CLEAN: Readonly<Record<string, CleanDocument>> = Object.assign(
  {},
  ...VERSIONS.map(ofVersion),
  ...VERSIONS.filter((version) => !isNewest(version)).map((version) => ({ [`initialize ${version.slice(2)}`]: initialize(version) })),
  SPECIAL,
) as Record<string, CleanDocument>
