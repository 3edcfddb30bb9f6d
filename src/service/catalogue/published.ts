import type { PublishedSchemas, Tool } from './define.ts'
import { toolSchemas, type JsonSchema } from './json-schema.ts'

/** The output schemas of these tools, each derived when it is first asked for. */
export function publishedSchemas(tools: () => readonly Tool[]): PublishedSchemas {
  const derived = new Map<string, JsonSchema>()
  return {
    output(id) {
      const tool = tools().find((known) => known.id === id)
      if (tool === undefined) return null
      const schema = derived.get(id) ?? toolSchemas(tool).output
      derived.set(id, schema)
      return { version: tool.version, schema }
    },
  }
}
