import { FAMILIES, type Family, type SourceName, type Tool } from '../service/catalogue/define.ts'
import { type Catalogue, loadCatalogue } from '../service/catalogue/load.ts'
import { priceRange, priceWords, shellWord } from '../service/catalogue/text.ts'
import { unknownName, type Exit } from './errors.ts'
import { toolSchemas } from '../service/catalogue/wire-schemas.ts'
import type { Invocation } from './commands.ts'
import { paint, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'

/** Command line that calls the tool with its example. */
export function exampleCall(tool: Tool): string {
  return `assay call ${tool.id} ${shellWord(JSON.stringify(tool.example))}`
}

/** `assay tools [family | tool]`: lists all tools or a family, or shows one tool. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [name] = invocation.words
  const catalogue = await loadCatalogue()
  const json = wantsJson(invocation)
  const tool = name === undefined ? undefined : catalogue.find(name)
  if (tool !== undefined) say(json ? JSON.stringify(wholeTool(tool)) : describe(tool))
  else say(list(chosen(catalogue, name), json))
  return 'ok'
}

function chosen(catalogue: Catalogue, family: string | undefined): readonly Tool[] {
  if (family === undefined) return catalogue.tools
  if (Object.hasOwn(FAMILIES, family)) return catalogue.tools.filter((tool) => tool.family === family)
  const names = [...Object.keys(FAMILIES), ...catalogue.tools.map((tool) => tool.id)]
  throw unknownName('tool or family', family, names, 'Run "assay tools" to list both.')
}

function list(tools: readonly Tool[], json: boolean): string {
  if (json) return JSON.stringify({ count: tools.length, tools: tools.map(briefTool) })
  const [id_chars, price_chars] = [(tool: Tool) => tool.id.length, (tool: Tool) => priceWords(tool).length].map((length) =>
    Math.max(...tools.map(length)),
  )
  const row = (tool: Tool) => [tool.id.padEnd(id_chars ?? 0), priceWords(tool).padEnd(price_chars ?? 0), tool.title]
  const families = (Object.keys(FAMILIES) as Family[]).map((family) => ({
    family,
    members: tools.filter((tool) => tool.family === family),
  }))
  const blocks = families
    .filter(({ members }) => members.length > 0)
    .flatMap(({ family, members }) => [paint('strong', `${FAMILIES[family]} (${family})`), ...table(members.map(row)), ''])
  return [...blocks, '"assay tools <tool>" shows one with its inputs.'].join('\n')
}

function describe(tool: Tool): string {
  const width = terminalWidth()
  const { properties, required } = toolSchemas(tool).input as { properties?: Record<string, { description?: string }>; required?: string[] }
  const inputs = Object.entries(properties ?? {}).map(([name, { description }]) => [
    `  ${name}`,
    required?.includes(name) === true ? 'required' : 'optional',
    description ?? '',
  ])
  return [
    `${paint('strong', tool.id)} ${tool.version}  ${tool.title}`,
    ...wrap(tool.description, width),
    '',
    paint('strong', 'Input'),
    ...table(inputs, width),
    '',
    ...table(
      [
        ['Checked', tool.scope.checked.join('; ')],
        ['Not checked', tool.scope.not_checked.join('; ')],
        ['Price', priceWords(tool)],
        ['Network', networkWords(tool)],
      ],
      width,
      ['muted'],
    ),
    '',
    paint('strong', 'Example'),
    `  ${exampleCall(tool)}`,
  ].join('\n')
}

/** Sources that a call on this machine reads over the network in live mode. */
const NETWORK: Partial<Record<SourceName, string>> = {
  chain: 'the RPC endpoints of the chain',
  transfers: 'the RPC endpoints of the chain',
  prices: 'public sources of prices and exchange rates',
  registrations: 'registries of domains (RDAP)',
}

function networkWords({ sources }: Tool): string {
  const read = new Set(sources.flatMap((source) => NETWORK[source] ?? []))
  return read.size === 0 ? 'none' : [...read].join('; ')
}

function briefTool(tool: Tool) {
  const { id, title, family, version, description } = tool
  return { id, title, family, version, price: priceRange(tool), description }
}

function wholeTool(tool: Tool) {
  const { input, output } = toolSchemas(tool)
  const { scope, annotations, sources, bounds, example } = tool
  return { ...briefTool(tool), scope, annotations, sources, bounds, input_schema: input, output_schema: output, example }
}
