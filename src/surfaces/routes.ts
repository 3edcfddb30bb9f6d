import { Hono, type Context } from 'hono'
import type { ObservedCalls } from '../service/calls/observed.ts'
import { problem } from '../service/problems.ts'
import { a2aRoutes } from './a2a/routes.ts'
import { badgeRoutes } from './badge.ts'
import { catalogueRoutes } from './catalogue.ts'
import { creditRoutes } from './credits/routes.ts'
import type { AppDeps } from './deps.ts'
import { discoveryRoutes } from './discovery/routes.ts'
import { healthRoutes } from './health.ts'
import type { Env } from './http/env.ts'
import { bodyOfRequest } from './http/fetch-body.ts'
import { unwrapInput } from './http/json-body.ts'
import type { Handlers } from './http/node-server.ts'
import { corsPreflight, problemReply, response, type Reply } from './http/reply.ts'
import { insuranceRoutes } from './insurance.ts'
import { invoiceRoutes } from './invoices/routes.ts'
import { logRoutes } from './log/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { pageRoutes } from './pages/routes.ts'
import { paymentRoutes } from './payment-routes.ts'
import { preflightRoutes } from './preflight/routes.ts'
import { createPreflightDesk } from './preflight/serve.ts'
import { restCall, unwrapReceipt, type CallExchange, type RestCalls, type Unwrap } from './rest.ts'

/** What all routes share with the call route, which is served without them. */
export interface Shared extends Pick<Handlers, 'headers' | 'callerAddress' | 'fault'> {
  calls: Pick<ObservedCalls, 'on' | 'turn'>
  rest: RestCalls
}

/** Every surface over one set of dependencies. */
export function createRoutes(deps: AppDeps, { calls, rest, headers, callerAddress, fault }: Shared): Hono<Env> {
  const http = new Hono<Env>()
  commonRoutes(http, deps, headers, fault)
  const caller = (context: Context<Env>) => callerAddress(context.env.peer, context.req.header('x-forwarded-for') ?? null)
  const serve = async (context: Context<Env>, tool: string, unwrap: Unwrap) =>
    response(await restCall(rest, exchangeOf(context, tool, caller(context)), unwrap))
  http.post('/v1/tools/:tool/call', (context) => serve(context, context.req.param('tool'), unwrapInput))
  http.post('/v1/receipt/verify', (context) => serve(context, 'receipt-verify', unwrapReceipt))
  catalogueRoutes(http, deps, caller)
  healthRoutes(http, deps)
  badgeRoutes(http)
  paymentRoutes(http, deps, rest.words)
  invoiceRoutes(http, deps, rest.words, caller)
  creditRoutes(http, deps, caller)
  pageRoutes(http, deps)
  discoveryRoutes(http, deps)
  const turn = () => calls.turn('reads')
  const desk = createPreflightDesk(deps, turn)
  preflightRoutes(http, deps, desk, caller)
  insuranceRoutes(http, deps, caller)
  logRoutes(http, deps, caller)
  mcpRoutes(http, deps, { serve: calls.on('mcp'), turn }, caller, desk)
  a2aRoutes(http, deps, { serve: calls.on('a2a'), turn: calls.turn }, caller)
  return http
}

/** What holds for every route: headers, CORS, and problems where nothing matches. */
function commonRoutes(
  http: Hono<Env>,
  deps: AppDeps,
  everywhere: Readonly<Record<string, string>>,
  fault: (error: unknown, request_id: string) => Reply,
): void {
  http.use(async (context, next) => {
    await next()
    const { headers } = context.res
    for (const [name, value] of Object.entries(everywhere)) if (!headers.has(name)) headers.set(name, value)
    headers.set('x-request-id', context.env.request_id)
  })
  http.options('*', () => response(corsPreflight('GET, POST, OPTIONS')))
  http.notFound((context) => {
    const allowed = ['GET', 'POST'].filter((method) => takes(http, method, context.req.path))
    const wrong = allowed.length > 0 && !allowed.includes(context.req.method)
    const found = wrong
      ? problem('METHOD_NOT_ALLOWED', `This address takes ${allowed.join(' and ')}.`)
      : problem('NOT_FOUND', 'Start at / or at /v1/tools.')
    return response(problemReply(found, context.env.request_id, deps.origins, wrong ? { allow: [...allowed, 'OPTIONS'].join(', ') } : {}))
  })
  http.onError((error, context) => response(fault(error, context.env.request_id)))
}

/** Whether a route beside the one that holds everywhere serves this method. */
function takes(http: Hono<Env>, method: string, path: string): boolean {
  return http.router.match(method, path)[0].length > 1
}

function exchangeOf(context: Context<Env>, tool: string, address: string): CallExchange {
  const header = (name: string) => context.req.header(name) ?? null
  return { tool, address, header, request_id: context.env.request_id, body: bodyOfRequest(context.req.raw) }
}
