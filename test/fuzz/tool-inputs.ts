import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { readVectors } from '../support/vectors.ts'
import { hostileText, spoiled } from './hostile-text.ts'
import type { Random } from './random.ts'

/** Inputs of the registered tools, and what a stranger might send in their place. */

export const { tools: TOOLS } = await loadCatalogue()

/** Good and not so good inputs of a tool: its example, and those of its vectors. */
const KNOWN = new Map(TOOLS.map((tool) => [tool.id, [tool.example, ...(readVectors(tool)?.cases ?? []).map((one) => one.in)]]))

export function knownInput(random: Random, tool: Tool): Record<string, unknown> {
  return random.pick(KNOWN.get(tool.id) ?? [])
}

/** An input with the shape of a known one and hostile texts inside. Short enough to be read; all of it is JSON. */
export function hostileInput(random: Random, tool: Tool): Record<string, unknown> {
  return replaced(random, knownInput(random, tool)) as Record<string, unknown>
}

function replaced(random: Random, value: unknown): unknown {
  if (typeof value === 'string')
    return random.chance(0.5) ? spoiled(random, value.slice(0, 2_000)) : hostileText(random, random.pick([8, 40, 300]))
  if (Array.isArray(value)) return value.map((item) => (random.chance(0.7) ? replaced(random, item) : item))
  if (typeof value !== 'object' || value === null)
    return random.chance(0.7) ? value : random.pick([null, true, -1, 0.5, '', [], {}, 2 ** 53 - 1])
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, random.chance(0.8) ? replaced(random, item) : item]))
}
