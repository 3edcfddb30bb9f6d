import { format, type FormatConfig } from 'oxfmt'
import { readFile } from 'node:fs/promises'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { toolSchemas } from '../../src/service/catalogue/json-schema.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { createTypeWriter } from './schema-types.ts'

/** Longest file, in lines; more are refused, so that somebody divides it. */
const LINES_MAX = 300
const NOTICE = '// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.'
const FOLDER = 'src/client/tools'

/** The types of all tools, as files by their path in the project. The same registry always gives the same text. */
export async function clientTypes(): Promise<Map<string, string>> {
  const { tools } = await loadCatalogue()
  const writer = createTypeWriter()
  const schemas = new Map(tools.map((tool) => [tool.id, toolSchemas(tool)]))
  for (const { input, output } of schemas.values()) {
    writer.look(input)
    writer.look(output)
  }
  const files = new Map<string, string[]>([['src/client/tools.ts', indexOf(tools)]])
  const declared = tools.map((tool) => {
    const { input = {}, output = {} } = schemas.get(tool.id) ?? {}
    const name = typeName(tool)
    return [
      `/** ${tool.title}. */\nexport interface ${name}Input {\n${writer.members(input)}\n}`,
      `export interface ${name}Output {\n${writer.members(output)}\n}`,
    ]
  })
  const shared = writer.shared()
  const used = new Set(declared.flatMap((texts) => usedIn(texts, shared)))
  files.set(
    `${FOLDER}/shapes.ts`,
    shared.map(({ name, text }) => `${used.has(name) ? 'export ' : ''}type ${name} = ${text}`),
  )
  for (const [index, { family, id }] of tools.entries()) {
    const own = declared[index] ?? []
    files.set(`${FOLDER}/${family}/${id}.ts`, [importsOf(own, shared), ...own])
  }
  return new Map(await Promise.all([...files].map(async ([path, texts]) => [path, await formatted(path, texts)] as const)))
}

function typeName({ id }: Tool): string {
  return id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function importsOf(texts: readonly string[], shared: readonly { name: string }[]): string {
  const used = usedIn(texts, shared)
  return used.length === 0 ? '' : `import type { ${used.join(', ')} } from '../shapes.ts'`
}

/** The shared types that stand in these texts. */
function usedIn(texts: readonly string[], shared: readonly { name: string }[]): string[] {
  const code = texts.join('\n').replace(/^\/\*\*.*$/gm, '')
  // A type follows a colon, a bracket or a bar; texts in quotes do not.
  return shared.filter(({ name }) => new RegExp(`[:(|,<] ?${name}\\b`).test(code)).map(({ name }) => name)
}

function indexOf(tools: readonly Tool[]): string[] {
  const imports = tools.map((tool) => {
    const name = typeName(tool)
    return `import type { ${name}Input, ${name}Output } from './tools/${tool.family}/${tool.id}.ts'`
  })
  const map = (part: 'Input' | 'Output') =>
    `export interface Tool${part}s {\n${tools.map((tool) => `'${tool.id}': ${typeName(tool)}${part}`).join('\n')}\n}`
  return [
    imports.join('\n'),
    `/** What each tool takes, by its id. */\n${map('Input')}`,
    `/** What each tool answers with, by its id. */\n${map('Output')}`,
    '/** Id of a tool. */\nexport type ToolId = keyof ToolInputs',
  ]
}

async function formatted(path: string, texts: readonly string[]): Promise<string> {
  const options = JSON.parse(await readFile(new URL('../../.oxfmtrc.json', import.meta.url), 'utf8')) as FormatConfig
  const { code, errors } = await format(path, [NOTICE, ...texts.filter((text) => text !== '')].join('\n\n'), options)
  if (errors.length > 0) throw new Error(`${path} cannot be formatted: ${errors[0]?.message ?? ''}`)
  const lines = code.split('\n').length - 1
  if (lines > LINES_MAX) throw new Error(`${path} has ${lines} lines: divide it`)
  return code
}
