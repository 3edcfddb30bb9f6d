/**
 * Ids, inputs and results of the tools. In this repository they are any; the published package has the types of each tool in this place,
 * generated from the schemas of the registry when it is built (scripts/support/client-types.ts).
 */
export type ToolId = string
export type ToolInputs = Readonly<Record<ToolId, object>>
export type ToolOutputs = Readonly<Record<ToolId, ToolResult>>

/** Members of a result by name. */
interface ToolResult {
  readonly [member: string]: unknown
}
