import type { Hono } from 'hono'
import { FAMILIES, type Tool } from '../service/catalogue/define.ts'
import type { PricesNow } from '../service/payments/price.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import type { Env } from './http/env.ts'
import { pricesNow, priceShown } from './health.ts'
import { problemReply } from './http/reply.ts'

/** A price is shown that holds for ten seconds at most. */
const LIVE = { 'cache-control': 'no-store' }

/** `GET /v1/tools` and `GET /v1/tools/{tool}`: the catalogue, and one tool with its schemas, its price now and an example. */
export function catalogueRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  app.get('/v1/tools', async (context) => {
    const prices = await pricesNow(deps)
    const tools = catalogue.tools.map((tool) => summary(deps, tool, prices))
    return context.json({ count: tools.length, families: FAMILIES, tools }, 200, LIVE)
  })
  app.get('/v1/tools/:tool', async (context) => {
    const tool = catalogue.find(context.req.param('tool'))
    if (tool !== undefined) return context.json(whole(deps, tool, await pricesNow(deps)), 200, LIVE)
    const reply = problemReply(
      problem('TOOL_NOT_FOUND', 'No tool has this id. GET /v1/tools lists them all.'),
      context.env.request_id,
      deps.origins,
    )
    return context.body(reply.body, 404, reply.headers)
  })
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
