import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { once } from '../../pure/once.ts'
import { FAMILIES, type Family, type Tool } from '../../service/catalogue/define.ts'
import type { SchemaList } from '../../service/catalogue/json-schema.ts'
import { toolList } from './list.ts'
import { createFinder, SMALL_LIST, type Finder } from './small.ts'

/** What one client is shown of the tools. It shortens the list, not the reach: a tool that is not listed can be called all the same. */
export interface View {
  listed: ListedTool[]
  /** Set where two tools stand for all others. */
  finder: Finder | null
}

/** What a client asked to see, as it wrote it. */
export interface ViewAsked {
  /** Families, parted by commas; null for all. */
  family: string | null
  small: boolean
}

export type ViewRead = { ok: true; view: View } | { ok: false; message: string }

/** Views over one catalogue; the whole list is derived once, when it is first asked for. */
export function createViews(tools: readonly Tool[], schemas: SchemaList): (asked: ViewAsked) => ViewRead {
  const derived = once(() => toolList(tools, schemas))
  return ({ family, small }) => {
    const families = family === null ? null : readFamilies(family)
    if (family !== null && families === null)
      return { ok: false, message: `Families are ${Object.keys(FAMILIES).join(', ')}, parted by commas.` }
    if (small) return { ok: true, view: { listed: SMALL_LIST, finder: createFinder(tools, schemas, families) } }
    const whole = derived()
    const listed = families === null ? whole : whole.filter((_, index) => isIn(families, tools[index]))
    return { ok: true, view: { listed, finder: null } }
  }
}

function isIn(families: ReadonlySet<Family>, tool: Tool | undefined): boolean {
  return tool !== undefined && families.has(tool.family)
}

const FAMILY_CHARS = 400

function readFamilies(text: string): ReadonlySet<Family> | null {
  if (text.length > FAMILY_CHARS) return null
  const named = text.split(',').map((name) => name.trim())
  return named.every((name): name is Family => Object.hasOwn(FAMILIES, name)) ? new Set(named) : null
}
