import type { Tool } from '../../src/service/catalogue/define.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { createTypeWriter } from './schema-types.ts'

/**
 * Declarations that take the place of src/client/tools.ts in the published package: what each tool takes and answers with. The same registry
 * always gives the same text.
 */
export async function clientTypes(): Promise<string> {
  const { tools } = await loadCatalogue()
  const writer = createTypeWriter()
  const schemas = tools.map((tool) => ({ tool, ...toolSchemas(tool) }))
  for (const { input, output } of schemas) {
    writer.look(input)
    writer.look(output)
  }
  const declared = schemas.map(({ tool, input, output }) => {
    const name = typeName(tool)
    return [
      `/** ${tool.title}. */\nexport interface ${name}Input {\n${indented(writer.members(input))}\n}`,
      `export interface ${name}Output {\n${indented(writer.members(output))}\n}`,
    ].join('\n\n')
  })
  const map = (part: 'Input' | 'Output') =>
    `export interface Tool${part}s {\n${indented(tools.map((tool) => `'${tool.id}': ${typeName(tool)}${part}`).join('\n'))}\n}`
  return [
    ...writer.shared().map(({ name, text }) => `type ${name} = ${text}`),
    ...declared,
    `/** What each tool takes, by its id. */\n${map('Input')}`,
    `/** What each tool answers with, by its id. */\n${map('Output')}`,
    '/** Id of a tool. */\nexport type ToolId = keyof ToolInputs\n',
  ].join('\n\n')
}

function typeName({ id }: Tool): string {
  return id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function indented(lines: string): string {
  return lines.replace(/^(?=.)/gm, '  ')
}
