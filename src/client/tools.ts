/**
 * Ids, inputs and results of the tools. In this repository any tool is accepted; the published package replaces this file by the types of
 * each tool, generated from the registry at build time (scripts/support/client-types.ts).
 */
export type ToolId = string
export type ToolInputs = Readonly<Record<ToolId, object>>
export type ToolOutputs = Readonly<Record<ToolId, ToolResult>>

/** Members of a result by name. */
interface ToolResult {
  readonly [member: string]: unknown
}
