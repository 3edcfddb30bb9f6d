import { z } from 'zod'
import type { Tool } from './define.ts'

export type JsonSchema = Record<string, unknown>

export interface ToolSchemas {
  input: JsonSchema
  output: JsonSchema
}

/** The JSON Schema 2020-12 of a tool's input and output; meant to be derived once, at start. */
export function toolSchemas(tool: Tool): ToolSchemas {
  return { input: derive(tool.input, 'input'), output: derive(tool.output, 'output') }
}

function derive(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io })
}
