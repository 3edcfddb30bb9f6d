import { z } from 'zod'
import type { Tool } from './define.ts'
import type { Catalogue } from './load.ts'

export type JsonSchema = Record<string, unknown>

export interface ToolSchemas {
  input: JsonSchema
  output: JsonSchema
}

/** The schemas of tools by their ids. */
export type SchemaList = Pick<ReadonlyMap<string, ToolSchemas>, 'get'>

/** The schemas of each tool, derived when they are first asked for. */
export function schemasOf(catalogue: Catalogue): SchemaList {
  const derived = new Map<string, ToolSchemas>()
  return {
    get(id) {
      const tool = catalogue.find(id)
      if (tool === undefined) return undefined
      const schemas = derived.get(tool.id) ?? toolSchemas(tool)
      derived.set(tool.id, schemas)
      return schemas
    },
  }
}

/** The JSON Schema 2020-12 of a tool's input and output; a costly derivation. */
export function toolSchemas(tool: Tool): ToolSchemas {
  return { input: derive(tool.input, 'input'), output: derive(tool.output, 'output') }
}

function derive(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io })
}

/** The same schema without its descriptions: it validates alike. A property that is named `description` stays, since its schema is no text. */
export function withoutWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withoutWords(one))
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string')
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutWords(inner)]))
}
