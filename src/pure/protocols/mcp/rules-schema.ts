import schemas from '../../../../data/protocol-schemas/mcp.json' with { type: 'json' }
import { reportBySchema, schemaRef, schemaSet, type PublishedSchemas } from '../kit/published-schemas.ts'
import type { RuleTable } from '../protocol.ts'
import { asksForInput, mcpSpec, type McpView } from './view.ts'

const PUBLISHED: PublishedSchemas = schemas

const SET = schemaSet(PUBLISHED, [])

/** Definitions of results by the type that was detected. */
const DEFINITIONS: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  discover: 'DiscoverResult',
  tools_list: 'ListToolsResult',
  tool_result: 'CallToolResult',
  resources_list: 'ListResourcesResult',
  resource_templates_list: 'ListResourceTemplatesResult',
  resource_contents: 'ReadResourceResult',
  prompts_list: 'ListPromptsResult',
  prompt: 'GetPromptResult',
  completion: 'CompleteResult',
  input_required: 'InputRequiredResult',
}

/** MCP-046: everything in the published schema that no other rule reads. */
export const MCP_SCHEMA_RULES: RuleTable<McpView> = {
  'MCP-046': {
    types: Object.keys(DEFINITIONS),
    why: 'Clients that validate results refuse what the published schema of the version refuses.',
    spec: mcpSpec('schema', 'Common Types'),
    hint: 'Compare this member with the schema of the version.',
    good: { description: 'Oslo', messages: [] },
    bad: { description: ['Oslo'], messages: [] },
    check({ error }, { context, results }) {
      const { type, version } = context
      const key = 'definitions' in Object(PUBLISHED[version]?.['schema.json']) ? 'definitions' : '$defs'
      for (const result of results) {
        const name = asksForInput(result) ? DEFINITIONS['input_required'] : DEFINITIONS[type]
        reportBySchema(error, context, result, SET, schemaRef(`schema.json#/${key}/${name}`))
      }
    },
  },
}
