import type { Sources, Tool } from '../../service/catalogue/define.ts'

/** What each tool answers to its own example, by tool id. */
export type Examples = ReadonlyMap<string, Record<string, unknown>>

/**
 * Runs the examples, so that no document shows an answer that the service would not give. Each has a turn of the event loop: the first run
 * of a tool loads what it needs.
 */
export async function runExamples(tools: readonly Tool[], sources: Sources): Promise<Examples> {
  const answers: [string, Record<string, unknown>][] = []
  for (const tool of tools.filter(({ annotations }) => annotations.read_only && !annotations.open_world)) {
    answers.push([tool.id, await tool.execute(tool.input.parse(tool.example), sources)])
    await new Promise((resolve) => void setImmediate(resolve))
  }
  return new Map(answers)
}
