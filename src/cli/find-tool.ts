import type { Tool } from '../service/catalogue/define.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { shellWord } from '../service/catalogue/text.ts'
import { unknownName } from './unknown-name.ts'

/** The tool of this id, hyphens or underscores; throws a CliError that names the one that may be meant. */
export function findTool(catalogue: Catalogue, id: string): Tool {
  const tool = catalogue.find(id)
  if (tool !== undefined) return tool
  const ids = catalogue.tools.map((known) => known.id)
  throw unknownName('tool', id.replaceAll('_', '-'), ids, 'Run "assay tools" to list the tools.')
}

/** How the tool is called, with its own example. */
export function exampleCall(tool: Tool): string {
  return `assay call ${tool.id} ${shellWord(JSON.stringify(tool.example))}`
}
