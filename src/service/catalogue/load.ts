import { readdir } from 'node:fs/promises'
import { FAMILIES, type Family, type Tool } from './define.ts'

/** The one list of tools: everything that names a tool is derived from it. */
export interface Catalogue {
  /** In the order of the families, then of the ids. */
  readonly tools: readonly Tool[]
  /** By id; underscores are read as hyphens. */
  find(id: string): Tool | undefined
}

const TOOLS_FOLDER = new URL('../../tools/', import.meta.url)
/** `.ts` in a checkout, `.js` in the package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

/** Walks the folder `tools/`; a file that defines no tool, or one under another name, stops the start. */
export async function loadCatalogue(folder: URL = TOOLS_FOLDER): Promise<Catalogue> {
  const families = Object.keys(FAMILIES) as Family[]
  const perFamily = await Promise.all(families.map((family) => loadFamily(family, new URL(`${family}/`, folder))))
  return catalogueOf(perFamily.flat())
}

/** A catalogue of exactly these tools. */
export function catalogueOf(tools: readonly Tool[]): Catalogue {
  const byId = new Map<string, Tool>()
  for (const tool of tools) {
    if (byId.has(tool.id)) throw new Error(`two tools are named ${tool.id}`)
    byId.set(tool.id, tool)
    byId.set(tool.id.replaceAll('-', '_'), tool)
  }
  return Object.freeze({ tools: Object.freeze([...tools]), find: (id: string) => byId.get(id) })
}

async function loadFamily(family: Family, folder: URL): Promise<Tool[]> {
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => name.endsWith(EXTENSION)).toSorted()
  return Promise.all(files.map((name) => loadTool(family, name, folder)))
}

async function loadTool(family: Family, name: string, folder: URL): Promise<Tool> {
  const module: { default?: Tool } = await import(new URL(name, folder).href)
  const tool = module.default
  if (tool?.id === undefined) throw new Error(`tools/${family}/${name} has no tool as its default export`)
  if (`${tool.id}${EXTENSION}` !== name) throw new Error(`tools/${family}/${name} defines ${tool.id}: file and id must agree`)
  if (tool.family !== family) throw new Error(`tools/${family}/${name} says it belongs to ${tool.family}`)
  return tool
}
