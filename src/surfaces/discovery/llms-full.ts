import type { Tool } from '../../service/catalogue/define.ts'
import type { JsonSchema, ToolSchemas } from '../../service/catalogue/json-schema.ts'
import { byFamily, callUrl, llmsHead, priceWords } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import type { Examples } from './examples.ts'

/** Examples that take more are cut out: the catalogue has them whole. */
const EXAMPLE_CHARS = 4_000

/** `/llms-full.txt`: what llms.txt says, with every tool whole: reach, price, fields, and an example that runs. */
export function llmsFullText(deps: AppDeps, examples: Examples): string {
  const { tools } = deps.call.catalogue
  const sections = byFamily(tools).map((group) =>
    [`## ${group.title}`, ...group.tools.map((tool) => toolText(deps, tool, deps.schemas.get(tool.id), examples.get(tool.id)))].join(
      '\n\n',
    ),
  )
  return [...llmsHead(deps, tools), ...sections].join('\n\n').concat('\n')
}

function toolText(deps: AppDeps, tool: Tool, schemas: ToolSchemas | undefined, answer: Record<string, unknown> | undefined): string {
  const { id, title, description, scope, version } = tool
  return [
    `### ${id}: ${title}`,
    description,
    [
      `- Call: POST ${callUrl(deps, tool)}`,
      `- Price: ${priceWords(tool)}`,
      `- Version: ${version}`,
      `- Checked: ${scope.checked.join('; ')}`,
      `- Not checked: ${scope.not_checked.join('; ')}`,
    ].join('\n'),
    ['Input:', '', ...fields(schemas?.input)].join('\n'),
    ['Result:', '', ...fields(schemas?.output)].join('\n'),
    example('Example input', tool.example),
    ...(answer === undefined ? [] : [example('Its result', answer)]),
  ].join('\n\n')
}

function example(title: string, value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > EXAMPLE_CHARS ? `${title}: too long for this page.` : `${title}:\n\n\`\`\`json\n${text}\n\`\`\``
}

/** One line a field; what lies within a field of several parts is told by its own words. */
function fields(schema: JsonSchema | undefined): string[] {
  const required = Array.isArray(schema?.['required']) ? (schema['required'] as unknown[]) : []
  return Object.entries(members(schema?.['properties'])).map(([name, field]) => {
    const { description } = members(field)
    const optional = required.includes(name) ? '' : ', optional'
    return `- \`${name}\` (${kindOf(members(field))}${optional})${typeof description === 'string' ? `: ${description}` : ''}`
  })
}

const LISTED = 12

/** The type of a field in a few words. */
function kindOf(field: Record<string, unknown>): string {
  const { type, anyOf, oneOf, enum: choices, const: only, items } = field
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(choices))
    return choices.length > LISTED ? `one of ${choices.length} words` : choices.map((one) => JSON.stringify(one)).join(' | ')
  if (type === 'array') return `list of ${kindOf(members(items))}`
  if (Array.isArray(type)) return type.join(' | ')
  if (typeof type === 'string') return type
  const kinds = [anyOf, oneOf].find((one) => Array.isArray(one))
  return Array.isArray(kinds) ? [...new Set(kinds.map((one) => kindOf(members(one))))].join(' | ') : 'any'
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
