import type { ComponentProps } from 'preact'
import { NETWORKS } from '../../pure/networks.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import { labelOf } from '../../service/catalogue/answer-view.ts'
import type { Sources, Tool } from '../../service/catalogue/define.ts'
import { CHECK_HEADLINES } from '../../service/catalogue/headlines.ts'
import { priceWords } from '../../service/catalogue/text.ts'
import type { JsonSchema, ToolSchemas } from '../../service/catalogue/wire-schemas.ts'
import { priceOf, type PricesNow } from '../../service/payments/price-book.ts'
import type { AppDeps } from '../deps.ts'
import type { FormField } from './components/form-fields.ts'
import type { PaymentWays } from './components/pay-panel.ts'
import type { ToolDesk } from './components/tool-desk.ts'

/** Props of the desk of a tool, with the answer to its example. */
export async function deskProps(deps: AppDeps, tool: Tool): Promise<ComponentProps<typeof ToolDesk>> {
  const schemas = deps.schemas.get(tool.id)
  const { api_url, mcp_url } = deps.origins
  return {
    title: tool.title,
    target: { tool: tool.id, api_url, mcp_url },
    fields: fieldsOf(schemas?.input ?? { properties: {} }, tool.example),
    example: await exampleResult(tool, deps.call.sources),
    reading: {
      headlines: tool.headlines === CHECK_HEADLINES ? null : tool.headlines,
      order: Object.keys(schemas?.output?.['properties'] ?? {}),
    },
    ways: paymentWays(deps),
  }
}

/** Payment options that a page offers for a call. */
export function paymentWays(deps: AppDeps): PaymentWays {
  const states = deps.paymentNetworks?.() ?? []
  const ids = new Set([deps.chain_id, ...states.map(({ network }) => Number(network.replace('eip155:', '')))])
  const tokens = NETWORKS.filter(({ chain_id }) => ids.has(chain_id)).flatMap(({ chain_id, name: network_name, usdc, eurc }) => {
    const place = { chain_id, network_name }
    const euro = eurc === null ? [] : [{ ...place, currency: 'EURC', asset: eurc.address }]
    return [{ ...place, currency: 'USDC', asset: usdc.address }, ...euro]
  })
  return { takes_payments: deps.takes_payments, sandbox: deps.sandbox !== null, tokens }
}

/** The free calls of a day for this tool. */
export function freeWords(deps: AppDeps, tool: Tool): string {
  if (tool.price === 'free') return 'without limit'
  const own = ownAllowance(deps, tool)
  return own === undefined ? `${deps.free.free_daily} a day, all tools together` : `${own} a day, counted separately`
}

/** The free calls of a tool that is counted separately. */
export function ownAllowance(deps: AppDeps, tool: Tool): number | undefined {
  return Object.hasOwn(deps.free.overrides, tool.id) ? deps.free.overrides[tool.id] : undefined
}

/** The current price, or its bounds while it is unknown; for a price by the item that of the smallest batch. */
export function priceNowWords(tool: Pick<Tool, 'price'>, prices: PricesNow | null): string {
  if (tool.price === 'free' || prices === null) return priceWords(tool)
  return `${tool.price === 'batch' ? 'from ' : ''}${usdcDecimal(priceOf(tool.price, null, prices).amount_minor)} USDC`
}

/** The answer to the example of a tool; null where it would have to be fetched or would be stored. */
async function exampleResult(tool: Tool, sources: Sources): Promise<Record<string, unknown> | null> {
  const known = results.get(tool)
  if (known !== undefined) return known
  if (!tool.annotations.read_only || tool.annotations.open_world) return null
  const result = await tool.execute(tool.input.parse(tool.example), sources)
  // A tool without sources always answers the same.
  if (tool.sources.length === 0) results.set(tool, result)
  return result
}

const results = new WeakMap<Tool, Record<string, unknown>>()

/** Texts up to this length are asked for in one line. */
const LINE_CHARS = 400
/** Texts beyond this length are documents. */
const LONG_CHARS = 20_000
/** Members that a template names, where none is required. */
const TEMPLATE_MEMBERS = 8

/** The fields of a tool's input, from its JSON Schema and its example. */
function fieldsOf(schema: ToolSchemas['input'], example: Tool['example']): FormField[] {
  const properties = schema['properties'] as Record<string, JsonSchema>
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return Object.entries(properties).map(([name, property]) => {
    const optional = !required.has(name)
    const kind = kindOf(property)
    const given = example[name]
    return {
      name,
      label: labelOf(name),
      kind,
      optional,
      description: typeof property['description'] === 'string' ? property['description'] : '',
      value: given === undefined ? '' : literalOf(given, kind),
      choices: kind === 'choice' ? choicesOf(property, optional) : [],
      list: property['type'] === 'array',
      template: kind === 'json' && (given === undefined || property['type'] === 'array') ? templateOf(property) : null,
      most_chars: typeof property['maxLength'] === 'number' ? property['maxLength'] : null,
    }
  })
}

function kindOf(property: JsonSchema): FormField['kind'] {
  if (Array.isArray(property['enum'])) return 'choice'
  switch (property['type']) {
    case 'string': {
      if (property['format'] === 'date') return 'date'
      const most = typeof property['maxLength'] === 'number' ? property['maxLength'] : Number.POSITIVE_INFINITY
      return most <= LINE_CHARS ? 'line' : most <= LONG_CHARS ? 'long' : 'document'
    }
    case 'boolean':
      return 'choice'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return takesText(property) ? 'line' : 'json'
  }
}

/** Text or a number, such as an amount: the text says it exactly. */
function takesText(property: JsonSchema): boolean {
  const types = alternatives(property).map(({ type }) => type)
  return types.includes('string') && types.every((type) => type === 'string' || type === 'number' || type === 'integer')
}

function alternatives({ anyOf }: JsonSchema): JsonSchema[] {
  return Array.isArray(anyOf) ? (anyOf as JsonSchema[]) : []
}

/** Returns the text of a value in its form field: strings unquoted in text fields, else JSON. */
function literalOf(value: unknown, kind: FormField['kind']): string {
  return typeof value === 'string' && kind !== 'json' && kind !== 'choice' ? value : JSON.stringify(value, null, 2)
}

function choicesOf(property: JsonSchema, optional: boolean): [string, string][] {
  const values: unknown[] = Array.isArray(property['enum']) ? property['enum'] : [true, false]
  const named = values.map((value): [string, string] => [JSON.stringify(value), choiceLabel(value)])
  return optional ? [['', 'not set'], ...named] : named
}

function choiceLabel(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value)
}

/** For an array, one item of it; null where nothing can be said of the shape. */
function templateOf(property: JsonSchema): string | null {
  const item = property['type'] === 'array' ? property['items'] : property
  if (typeof item !== 'object' || item === null) return null
  const shape = shapeOf(item as JsonSchema, 0)
  return typeof shape === 'object' && shape !== null && Object.keys(shape).length > 0 ? JSON.stringify(shape, null, 2) : null
}

function shapeOf(schema: JsonSchema, depth: number): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const first = alternatives(schema)[0]
  if (first !== undefined) return shapeOf(first, depth)
  switch (schema['type']) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'array':
      return []
    case 'object':
      return depth > 3 ? {} : membersOf(schema, depth)
    default:
      return null
  }
}

function membersOf({ properties, required }: JsonSchema, depth: number): Record<string, unknown> {
  const all = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
  const needed = Array.isArray(required) && required.length > 0 ? all.filter(([name]) => required.includes(name)) : all
  return Object.fromEntries(needed.slice(0, TEMPLATE_MEMBERS).map(([name, schema]) => [name, shapeOf(schema, depth + 1)]))
}
