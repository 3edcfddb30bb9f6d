import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Tool } from '../../service/catalogue/define.ts'
import type { SchemaList } from '../../service/catalogue/json-schema.ts'
import { answerSchema } from './answer-schema.ts'

/** The answer to `tools/list`, derived once from the catalogue. */
export function toolList(tools: readonly Tool[], schemas: SchemaList): ListedTool[] {
  return tools.map((tool) => {
    const own = schemas.get(tool.id)
    if (own === undefined) throw new Error(`no schemas were derived for ${tool.id}`)
    return {
      name: tool.id,
      title: tool.title,
      description: tool.description,
      inputSchema: { ...own.input, type: 'object' },
      outputSchema: answerSchema(own.output),
      annotations: {
        readOnlyHint: tool.annotations.read_only,
        destructiveHint: tool.annotations.destructive,
        idempotentHint: tool.annotations.idempotent,
        openWorldHint: tool.annotations.open_world,
      },
    }
  })
}
