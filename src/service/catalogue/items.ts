import { decodeInput } from './decode.ts'
import type { ItemAnswer, ItemCatalogue, Sources, Tool } from './define.ts'

/** The single-value checks of a list of tools, as batch-validate runs them. Only pure, synchronous tools can be among them. */
export function itemCatalogue(tools: () => readonly Tool[]): ItemCatalogue {
  let permitted: Map<string, Tool> | null = null
  const byId = () =>
    (permitted ??= new Map(
      tools()
        .filter(isItemTool)
        .map((tool) => [tool.id, tool]),
    ))
  return {
    get permitted() {
      return [...byId().keys()]
    },
    check(id, value) {
      const tool = byId().get(id) ?? byId().get(id.replaceAll('_', '-'))
      return tool === undefined ? notPermitted([...byId().keys()]) : checkItem(tool, value)
    },
  }
}

function isItemTool(tool: Tool): boolean {
  return tool.batch_field !== undefined
}

function checkItem(tool: Tool, value: string): ItemAnswer {
  const decoded = decodeInput(tool, { [tool.batch_field ?? '']: value })
  if (!decoded.ok) return { ok: false, code: 'input_invalid', message: decoded.problem.errors[0]?.message ?? decoded.problem.detail }
  try {
    const result = tool.execute(decoded.input, NO_SOURCES)
    return result instanceof Promise ? failed() : { ok: true, result }
  } catch {
    // One broken item must not take the others with it; the answer says which one failed.
    return failed()
  }
}

/** Item tools are pure: they are never handed a source. */
const NO_SOURCES = {} as Sources

function notPermitted(permitted: readonly string[]): ItemAnswer {
  return { ok: false, code: 'not_permitted', message: `This tool cannot be an item of a batch. Those that can: ${permitted.join(', ')}.` }
}

function failed(): ItemAnswer {
  return { ok: false, code: 'failed', message: 'The check of this item failed by our fault.' }
}
