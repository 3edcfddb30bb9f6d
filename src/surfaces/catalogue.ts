import { z } from 'zod'
import { unknownToolProblem } from '../service/calls/refusals.ts'
import { FAMILIES, type Tool } from '../service/catalogue/define.ts'
import { publicAllowance } from '../service/payments/allowance.ts'
import type { PricesNow } from '../service/payments/price-book.ts'
import type { AppDeps } from './deps.ts'
import { component, endpointsOf } from './endpoint.ts'
import { pricesNow, publicPrice } from './health.ts'
import { jsonReply, rateLimitHeaders } from './http/reply.ts'

const defineEndpoint = endpointsOf<AppDeps>()

/** Prices change every ten seconds, so they are not cached. */
const LIVE = { 'cache-control': 'no-store' }

const anyValue = (description: string) => z.unknown().describe(description)

const listTools = defineEndpoint({
  id: 'list-tools',
  method: 'get',
  path: '/v1/tools',
  summary: 'List all tools with their prices.',
  answers: {
    200: {
      description: 'The catalogue.',
      json: z.looseObject({
        count: z.int().describe('Number of tools.'),
        families: anyValue('Families by id.'),
        tools: anyValue('The tools.'),
      }),
    },
  },
  async run(_, deps) {
    const prices = await pricesNow(deps)
    const tools = deps.call.catalogue.tools.map((tool) => summary(deps, tool, prices))
    return jsonReply(200, JSON.stringify({ count: tools.length, families: FAMILIES, tools }), LIVE)
  },
})

const describeTool = defineEndpoint({
  id: 'describe-tool',
  method: 'get',
  path: '/v1/tools/{tool}',
  summary: 'One tool with its schemas, its price now and an example.',
  parts: { tool: z.string().meta({ example: 'iban-check' }).describe('Id of the tool.') },
  answers: {
    200: {
      description: 'The tool.',
      json: z.looseObject({
        id: z.string().describe('Id of the tool.'),
        input_schema: anyValue('JSON Schema of the input.'),
        output_schema: anyValue('JSON Schema of the result.'),
        price: anyValue('Price now, floor and cap in minor units of USDC.'),
        example: anyValue('The body of a call that runs.'),
      }),
    },
  },
  problems: ['TOOL_NOT_FOUND'],
  async run({ parts }, deps) {
    const { catalogue } = deps.call
    const tool = catalogue.find(parts.tool)
    if (tool === undefined) return unknownToolProblem(catalogue, parts.tool)
    return jsonReply(200, JSON.stringify(describeFully(deps, tool, await pricesNow(deps))), LIVE)
  },
})

/** Tool id that does not exist: reads the allowance that all tools share. */
const NO_TOOL = ''

const readAllowance = defineEndpoint({
  id: 'allowance',
  method: 'get',
  path: '/v1/allowance',
  summary: 'Free calls that this client has left today, shared by all tools. Reading it does not use one.',
  answers: { 200: { description: 'The allowance.', json: component('allowance') } },
  problems: ['STORE_UNAVAILABLE'],
  async run({ caller }, deps) {
    const state = await deps.call.allowance.peek(NO_TOOL, caller)
    return jsonReply(200, JSON.stringify(publicAllowance(state)), rateLimitHeaders(state))
  },
})

export const CATALOGUE_ENDPOINTS = [listTools, describeTool, readAllowance]

function summary(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
  return {
    id: tool.id,
    title: tool.title,
    description: tool.description,
    family: tool.family,
    version: tool.version,
    price: publicPrice(tool, prices),
    call_url: `${deps.origins.api_url}/v1/tools/${tool.id}/call`,
  }
}

function describeFully(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
  const schemas = deps.schemas.get(tool.id)
  return {
    ...summary(deps, tool, prices),
    scope: tool.scope,
    annotations: tool.annotations,
    sources: tool.sources,
    free_daily: tool.price === 'free' ? null : (deps.free.overrides[tool.id] ?? deps.free.free_daily),
    bounds: tool.bounds,
    input_schema: schemas?.input,
    output_schema: schemas?.output,
    example: { input: tool.example },
  }
}
