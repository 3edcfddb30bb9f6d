import { optional, unique } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { headersIn } from './headers.ts'
import { WITH_TOOLS } from './rules-tools.ts'
import type { ToolSchema } from './schemas.ts'
import { jsonSchema, mcpSpec } from './spec.ts'
import type { McpView } from './view.ts'

const TOOL = mcpSpec('schema', 'Tool')

/** MCP-021…028, 031: the schemas of tools. */
export const SCHEMA_RULES = [
  rule<McpView>(
    {
      code: 'MCP-021',
      severity: 'error',
      types: WITH_TOOLS,
      why: 'One tool without it makes strict clients drop all tools of the server.',
      spec: TOOL,
      hint: 'Send {"type": "object"}, with properties where the tool takes any.',
      good: { inputSchema: { type: 'object', properties: {} } },
      bad: { inputSchema: {} },
    },
    ({ error }, { tools }) => {
      for (const { place } of tools) {
        const schema = place.get('inputSchema')
        const isObject = schema.kind === 'object'
        if (!isObject && !schema.redacted)
          error(schema, schema.present ? 'is not an object' : 'is missing', { expected: '{"type": "object"}' })
        if (isObject) rootType(error, schema)
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-022',
      severity: 'error',
      types: WITH_TOOLS,
      why: 'A schema that does not compile leaves every call of the tool unchecked, or refused.',
      spec: mcpSpec('basic', 'JSON Schema Usage'),
      hint: 'Hold the schema against the metaschema of its dialect; without $schema that is 2020-12.',
      good: { type: 'object', properties: { city: { type: 'string' } } },
      bad: { type: 'object', properties: { city: { type: 'text' } } },
    },
    ({ error }, { tools }) => {
      for (const { input } of tools) if (input !== null) malformed(error, input)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-023',
      severity: 'error',
      types: WITH_TOOLS,
      why: 'A list such as required inside properties declares a property of that name, and no valid schema for it.',
      spec: jsonSchema('core', '10.3.2.1'),
      hint: 'Send an object whose members are schemas, and required beside it.',
      good: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      bad: { type: 'object', properties: { city: { type: 'string' }, required: ['city'] } },
    },
    ({ error }, view) => {
      for (const { place } of schemasOf(view).flatMap(({ properties }) => properties)) {
        const strays = place.members().filter(({ kind }) => kind !== 'object' && kind !== 'boolean')
        for (const stray of strays) error(stray, 'is a property without a schema', { expected: 'an object, or true or false' })
        if (strays.length === 0) error(place, 'is not an object of schemas')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-024',
      severity: 'both',
      types: WITH_TOOLS,
      why: 'A required name that no property describes leaves the model to guess its value.',
      spec: jsonSchema('validation', '6.5.3'),
      hint: 'Send different names, each of which stands in properties.',
      good: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      bad: { type: 'object', properties: { city: { type: 'string' } }, required: ['town'] },
    },
    ({ error, warning }, view) => {
      for (const schema of schemasOf(view)) {
        for (const { place } of schema.required) error(place, 'is not a list of different names', { expected: 'unique texts' })
        if (schema.required.length === 0 && !COMPOSING.some((name) => schema.place.has(name))) undescribed(warning, schema.place)
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-025',
      severity: 'error',
      types: WITH_TOOLS,
      why: 'Clients must not fetch what a schema refers to, so such a reference leads nowhere.',
      spec: mcpSpec('basic', 'JSON Schema Usage'),
      hint: 'Put the schema under $defs, and refer to it by #/$defs/….',
      good: { $ref: '#/$defs/city' },
      bad: { $ref: 'https://example.com/city.json' },
    },
    ({ error }, view) => {
      for (const { place } of schemasOf(view).flatMap(({ references }) => references)) {
        const isLocal = place.text()?.startsWith('#') === true
        error(place, isLocal ? 'refers to nothing in the schema' : 'refers to another document, which nobody fetches')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-026',
      severity: 'warning',
      types: WITH_TOOLS,
      why: 'MCP permits it since 2026-07-28; common interfaces of models refuse it, and with it all tools.',
      spec: TOOL,
      hint: 'Describe the cases by properties of one object.',
      good: { type: 'object', properties: { id: { type: 'string' } } },
      bad: { type: 'object', anyOf: [{ required: ['id'] }, { required: ['name'] }] },
    },
    ({ warning }, { tools }) => {
      for (const { place } of tools)
        for (const name of ['oneOf', 'anyOf', 'allOf']) {
          const keyword = place.get('inputSchema').get(name)
          if (keyword.present) warning(keyword, 'stands at the top of the schema, where common models do not take it')
        }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-027',
      severity: 'warning',
      types: WITH_TOOLS,
      why: 'A client need know 2020-12 only; a schema in another dialect is not checked here either.',
      spec: mcpSpec('basic', 'JSON Schema Usage'),
      hint: 'Leave $schema out, or name 2020-12, 2019-09 or draft-07.',
      good: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
      bad: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
    },
    ({ warning }, view) => {
      for (const { place, is_known_dialect } of schemasOf(view))
        if (!is_known_dialect)
          warning(place.get('$schema'), 'is a dialect that is not read here', { expected: '2020-12, 2019-09 or draft-07' })
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-028',
      severity: 'both',
      types: WITH_TOOLS,
      why: 'Clients hold the structured content against it; those up to 2025-11-25 know objects only.',
      spec: mcpSpec('server/tools', 'Output Schema'),
      hint: 'Send a valid schema with "type": "object".',
      good: { outputSchema: { type: 'object', properties: { celsius: { type: 'number' } } } },
      bad: { outputSchema: { type: 'string' } },
    },
    (report, view) => {
      for (const { place, output } of view.tools) outputSchema(report, view, place.get('outputSchema'), output)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-031',
      severity: 'both',
      types: WITH_TOOLS,
      since: '2026-07-28',
      why: 'Clients copy these arguments into headers, where proxies read and log them; a wrong mark voids the tool.',
      spec: mcpSpec('basic/transports/streamable-http', 'Custom Headers from Tool Parameters'),
      hint: 'Mark texts, integers and booleans under plain properties, each by a token of its own, and no secrets.',
      good: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      bad: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'my region' } } },
    },
    (report, { tools }) => {
      for (const { input } of tools) if (input !== null) headers(report, input.place)
    },
  ),
]

function schemasOf({ tools }: McpView): ToolSchema[] {
  return tools.flatMap(({ input, output }) => [input, output]).filter((schema) => schema !== null)
}

function rootType(say: Say, schema: Place): boolean {
  const type = schema.get('type')
  if (type.text() === 'object' || type.redacted) return true
  say(type, type.present ? 'is not "object"' : 'is missing', { expected: '"object"' })
  return false
}

/** What no other rule speaks of. The type at the root is one that does. */
function malformed(error: Say, { others }: ToolSchema): void {
  for (const { place, keyword, depth } of others)
    if (depth !== 1 || keyword !== 'type') error(place, 'is not what its dialect of JSON Schema asks for')
}

/** Keywords by which a schema may describe a property elsewhere. */
const COMPOSING = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas']

function undescribed(warning: Say, schema: Place): void {
  const properties = schema.get('properties')
  if (schema.get('additionalProperties').kind === 'object') return
  for (const name of schema.get('required').items()) {
    const text = name.text()
    if (text !== null && !properties.has(text)) warning(name, 'names a property that properties does not describe')
  }
}

function outputSchema({ error, warning }: Report, { context }: McpView, place: Place, schema: ToolSchema | null): void {
  if (!optional(error, place, 'object') || place.redacted) return
  if (schema !== null) for (const fault of schema.others) error(fault.place, 'is not what its dialect of JSON Schema asks for')
  const isTypeMalformed = schema?.others.some(({ keyword, depth }) => keyword === 'type' && depth === 1) === true
  if (!isTypeMalformed) rootType(context.atLeast('2026-07-28') ? warning : error, place)
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const SECRET_NAME = /(?:password|passwd|secret|token|credential|api_?-?key|private_?-?key)s?$|^key$/i

function headers({ error, warning }: Report, schema: Place): void {
  const found = headersIn(schema)
  for (const { place, mark, is_reachable } of found) {
    const text = mark.text()
    if (text === null || !TOKEN.test(text)) error(mark, 'is no name of a header', { expected: 'a token, such as Region' })
    else if (!is_reachable) error(mark, 'does not stand on a property that plain properties lead to')
    else if (!['string', 'integer', 'boolean'].includes(place.get('type').text() ?? ''))
      error(mark, 'is not on a text, an integer or a boolean')
    if (SECRET_NAME.test(place.key) || (text !== null && SECRET_NAME.test(text))) warning(mark, 'would put a secret into a header')
  }
  const marks = found.map(({ mark }) => mark)
  unique(error, marks, 'the header of another property', (text) => text.toLowerCase())
}
