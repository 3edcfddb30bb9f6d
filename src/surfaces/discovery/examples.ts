import type { Sources, Tool } from '../../service/catalogue/define.ts'

/** What each tool answers to its own example, by tool id. */
export type Examples = ReadonlyMap<string, Record<string, unknown>>

/** Runs the examples, so that no document shows an answer that the service would not give. */
export async function runExamples(tools: readonly Tool[], sources: Sources): Promise<Examples> {
  const shown = tools.filter(({ annotations }) => annotations.read_only && !annotations.open_world)
  const answers = shown.map(async (tool) => [tool.id, await tool.execute(tool.input.parse(tool.example), sources)] as const)
  return new Map(await Promise.all(answers))
}
