import type { Context, Hono } from 'hono'
import { FAMILIES, type Tool } from '../service/catalogue/define.ts'
import { unknownTool } from '../service/calls/refusals.ts'
import { allowanceShown } from '../service/payments/allowance.ts'
import type { PricesNow } from '../service/payments/price.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import type { Env } from './http/env.ts'
import { pricesNow, priceShown } from './health.ts'
import { jsonReply, problemReply, rateLimitHeaders, response, type Reply } from './http/reply.ts'

/** A price is shown that holds for ten seconds at most. */
const LIVE = { 'cache-control': 'no-store' }

/** `GET /v1/tools` and `GET /v1/tools/{tool}`: the catalogue, and one tool with its schemas, its price now and an example; `GET /v1/allowance`. */
export function catalogueRoutes(app: Hono<Env>, deps: AppDeps, caller: (context: Context<Env>) => string): void {
  const { catalogue } = deps.call
  app.get('/v1/tools', async (context) => {
    const prices = await pricesNow(deps)
    const tools = catalogue.tools.map((tool) => summary(deps, tool, prices))
    return context.json({ count: tools.length, families: FAMILIES, tools }, 200, LIVE)
  })
  app.get('/v1/tools/:tool', async (context) => {
    const tool = catalogue.find(context.req.param('tool'))
    if (tool !== undefined) return context.json(whole(deps, tool, await pricesNow(deps)), 200, LIVE)
    return response(problemReply(unknownTool(catalogue, context.req.param('tool')), context.env.request_id, deps.origins))
  })
  app.get('/v1/allowance', async (context) => response(await allowanceReply(deps, caller(context), context.env.request_id)))
}

/** No tool has this name, so it is the common allowance that is read. */
const NO_TOOL = ''

/** What a client has left today of the free calls that all tools share. Reading it counts nothing. */
async function allowanceReply(deps: AppDeps, address: string, request_id: string): Promise<Reply> {
  try {
    const state = await deps.call.allowance.peek(NO_TOOL, address)
    return jsonReply(200, JSON.stringify(allowanceShown(state)), rateLimitHeaders(state))
  } catch (error) {
    deps.call.onFault(error, 'allowance')
    const found = problem('STORE_UNAVAILABLE', 'Ask again shortly.', { retry_after_s: limits.store_retry_s })
    return problemReply(found, request_id, deps.origins)
  }
}

function summary(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
  return {
    id: tool.id,
    title: tool.title,
    description: tool.description,
    family: tool.family,
    version: tool.version,
    price: priceShown(tool, prices),
    call_url: `${deps.origins.api_url}/v1/tools/${tool.id}/call`,
  }
}

function whole(deps: AppDeps, tool: Tool, prices: PricesNow | null) {
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
