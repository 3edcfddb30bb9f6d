import type { Hono } from 'hono'
import { FAMILIES, type Tool } from '../service/catalogue/define.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import type { Env } from './http/env.ts'
import { priceShown } from './health.ts'
import { problemReply } from './http/reply.ts'

/** `GET /v1/tools` and `GET /v1/tools/{tool}`: the catalogue, and one tool with its schemas, its price now and an example. */
export function catalogueRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  app.get('/v1/tools', (context) =>
    context.json({ count: catalogue.tools.length, families: FAMILIES, tools: catalogue.tools.map((tool) => summary(deps, tool)) }),
  )
  app.get('/v1/tools/:tool', (context) => {
    const tool = catalogue.find(context.req.param('tool'))
    if (tool !== undefined) return context.json(whole(deps, tool))
    const reply = problemReply(
      problem('TOOL_NOT_FOUND', 'No tool has this id. GET /v1/tools lists them all.'),
      context.env.request_id,
      deps.origins,
    )
    return context.body(reply.body, 404, reply.headers)
  })
}

function summary(deps: AppDeps, tool: Tool) {
  return {
    id: tool.id,
    title: tool.title,
    description: tool.description,
    family: tool.family,
    version: tool.version,
    price: priceShown(tool),
    call_url: `${deps.origins.api_url}/v1/tools/${tool.id}/call`,
  }
}

function whole(deps: AppDeps, tool: Tool) {
  const schemas = deps.schemas.get(tool.id)
  return {
    ...summary(deps, tool),
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
