import type { Sources, Tool } from '../../service/catalogue/define.ts'
import type { AppDeps } from '../deps.ts'

/** The free calls of a day, as far as this tool is concerned. */
export function freeWords(deps: AppDeps, tool: Tool): string {
  if (tool.price === 'free') return 'without limit'
  const own = Object.hasOwn(deps.free.overrides, tool.id) ? deps.free.overrides[tool.id] : undefined
  return own === undefined ? `${deps.free.free_daily} a day` : `${own} a day, counted apart`
}

/** What the tool answers to its own example; null where the answer would have to be fetched or would leave a trace. */
export function exampleResult(tool: Tool, sources: Sources): Record<string, unknown> | null {
  if (!tool.annotations.read_only || tool.annotations.open_world) return null
  const result = tool.execute(tool.input.parse(tool.example), sources)
  return result instanceof Promise ? null : result
}
