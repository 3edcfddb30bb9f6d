import type { Tool } from '../service/catalogue/define.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { shellWord } from '../service/catalogue/text.ts'
import { nearest } from '../service/nearest.ts'
import { CliError } from './exit-codes.ts'

/** The tool of this id, hyphens or underscores; throws a CliError that names the one that may be meant. */
export function findTool(catalogue: Catalogue, id: string): Tool {
  const tool = catalogue.find(id)
  if (tool !== undefined) return tool
  const near = nearest(
    id.replaceAll('_', '-'),
    catalogue.tools.map((known) => known.id),
  )
  throw new CliError('usage', `No tool has this id${near === null ? '; "assay tools" lists them' : `; did you mean ${near}`}.`)
}

/** How the tool is called, with its own example. */
export function exampleCall(tool: Tool): string {
  return `assay call ${tool.id} ${shellWord(JSON.stringify(tool.example))}`
}
